"""Tampers before the statistical witness: convicted where laws move, the rest told apart, innocents left alone.

False alarms: an innocent would be convicted here with probability 1e-6 at most, in each setting.
"""

from dataclasses import replace

import numpy as np
import pytest

from draftproof.redteam.bets import bets
from draftproof.redteam.bettable import SETTINGS, Setting
from draftproof.redteam.betting import tried
from draftproof.redteam.expected import EXPECTED, expected
from draftproof.redteam.tampers.catalogue import TAMPERS
from draftproof.rules.token import TokenRule

MOST = 1600
ORDER = 3
"""Single runs scatter by a factor of two or so about a median, and these laws are others than those of the figures."""


@pytest.mark.parametrize(
    "name", ["residual-is-the-target", "residual-is-the-draft", "residual-absolute", "bonus-of-the-draft"]
)
def test_known_faults_are_convicted_after_as_many_tokens_as_expected(name):
    found = tried(TAMPERS[name], 2000)
    (trial,) = found.trials
    assert (trial.setting, trial.how) == ("plain sampling", "evidence")
    assert trial.suspected_at < trial.convicted_at <= trial.tokens
    assert expected(name) / ORDER < trial.convicted_at < expected(name) * ORDER


@pytest.mark.parametrize(
    ("name", "setting", "how"),
    [
        ("rejected-draft-stays", "plain sampling", "evidence"),
        ("filters-dropped", "every control", "impossible token"),
        ("idle-row-stays", "every control", "impossible token"),
        ("last-of-equals", "temperature 0", "impossible token"),
        ("grammar-frozen-for-the-block", "a grammar", "impossible token"),
        ("grammar-asked-after-its-end", "a grammar", "broke down: ContractError"),
    ],
)
def test_a_tamper_is_convicted_in_the_setting_that_it_is_about(name, setting, how):
    found = tried(TAMPERS[name], MOST)
    last = found.trials[-1]
    assert found.seen
    assert last.setting == setting
    assert last.how.startswith(how)
    assert [trial.how for trial in found.trials[:-1]] == ["same tokens"] * (len(found.trials) - 1)


@pytest.mark.parametrize("name", ["logprobs-zero", "batch-cut-to-the-shortest", "as-shipped"])
def test_what_moves_no_law_emits_the_honest_engines_tokens_and_is_told_so(name):
    found = tried(TAMPERS[name], MOST)
    assert (found.seen, found.same) == (False, True)
    assert len(found.trials) == len(SETTINGS)
    assert found.to_json()["same_tokens"] is True


@pytest.mark.parametrize(
    "name",
    ["one-uniform-rescaled", "drafts-always-wrong", "length-follows-acceptance", "draft-ids-renamed-with-their-law"],
)
def test_innocents_are_left_alone(name):
    found = tried(TAMPERS[name], MOST)
    assert not found.seen
    assert found.tokens >= MOST * 0.75
    told = found.to_json()
    assert (told["seen"], told["tokens_to_1e-6"], told["setting"]) == (False, None, None)
    assert told["log_evidence"] < np.log(1e6)


def test_a_draft_that_knows_the_noise_of_another_position_is_not_held_against_the_text():
    """Its rejected drafts tell what comes next, which convicts it by 10^196 : 1; so they are not looked at."""
    found = tried(TAMPERS["coupled-draft-one-position-ahead"], MOST)
    assert not found.seen
    assert found.trials[0].log_evidence < np.log(100)
    assert tried(TAMPERS["coupled-winner-after-a-rejection"], MOST).seen


def test_a_tamper_that_is_not_seen_within_its_tokens_is_not_called_seen():
    found = tried(TAMPERS["residual-of-another-temperature"], 400)
    assert (found.seen, found.same) == (False, False)
    assert found.trials[0].tokens >= 300


def test_an_engine_that_emits_nothing_ends_its_trial():
    silent = replace(TAMPERS["as-shipped"], apply=lambda engine: Silent())
    (trial,) = tried(silent, MOST, SETTINGS[:1]).trials
    assert (trial.tokens, trial.seen) == (0, False)


class Silent:
    def decode(self, prompt, stop, noise):
        return iter(())


def test_every_share_of_the_tokens_is_given_away_and_every_figure_belongs_to_a_tamper():
    assert sum(setting.share for setting in SETTINGS) == 1
    assert all(isinstance(setting, Setting) for setting in SETTINGS)
    told = [name for name in TAMPERS if expected(name) is not None]
    assert sorted(map(expected, told)) == sorted(EXPECTED.values())
    assert not any(TAMPERS[name].harmless for name in told)


def test_the_laws_are_of_the_kind_that_the_figures_are_about():
    engine = SETTINGS[0].engine(TokenRule())
    rows = [(engine.target.law_of((5, number)), engine.drafter.model.law_of((5, number))) for number in range(32)]
    overlap = np.mean([np.minimum(target, draft).sum() for target, draft in rows])
    assert 0.55 < overlap < 0.75
    assert all(law.sum() == pytest.approx(1) and law.min() > 0 for pair in rows for law in pair)


def test_bets_are_shared_out_and_come_back_by_name():
    names = ["residual-is-the-draft", "as-shipped"]
    found = {one.name: one for one in bets(names, 200, 2)}
    assert set(found) == set(names)
    assert found["residual-is-the-draft"] == tried(TAMPERS["residual-is-the-draft"], 200)


def test_who_stops_asking_stops_the_work():
    running = bets(["residual-is-the-draft", *[name for name in TAMPERS if TAMPERS[name].harmless][:6]], 10**6, 2)
    assert next(running).name
    running.close()  # were it waited for, this would take an hour
