"""The engine on models of every kind of cache: full, a ring of the last tokens, a state; as target and as draft.

A probe knows nothing but what its cache holds, so an entry too many, too few, or a state that was not taken back, is
another text. Greedy texts are the published ones; sampled texts are integrated whole, in fractions.
"""

from fractions import Fraction
from itertools import product

import pytest

from draftproof.drafters.model import ModelDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.models import probes
from draftproof.models.snapshots import Snapshots
from draftproof.noise import PhiloxNoise
from draftproof.rules.catalogue import RULES
from draftproof.witness.forking import exact_law
from draftproof.witness.probes import PROBE_PROMPT, ProbeDrafter, SweptLength
from engines_of_tests import RAW, without_zeros

AMOUNTS = {"full": probes.weighted_sum, "window": probes.window, "state": probes.recurrence}
TEXTS = {
    "full": (6, 8, 4, 6, 4, 3, 8, 0, 0, 0),
    "window": (6, 8, 4, 1, 5, 6, 1, 0, 9, 0),
    "state": (3, 8, 10, 0, 4, 1, 10, 2, 0, 10),
}
AFTER_THREE = SweptLength((3, 3, 3, 3, 0, 2))
"""Three drafts, and none in the pass after three were kept: vllm 39273 read the state of another slot there."""
LENGTHS = {str(length): FixedLength(length) for length in range(7)} | {
    "swept": SweptLength(),
    "none after three": AFTER_THREE,
    "every second": SweptLength((2, 0)),
}
every_rule = pytest.mark.parametrize("rule", ["token", "block", "coupled", "traversal"])
every_kind = pytest.mark.parametrize("kind", AMOUNTS)
every_length = pytest.mark.parametrize("length", LENGTHS)
SHORT = 4


def model(kind, law_of=probes.one_hot):
    if kind == "full":
        return probes.sum_probe(law_of)
    return Snapshots(probes.RecurrentProbe(law_of) if kind == "state" else probes.WindowProbe(law_of))


def coin(residue):
    """A law on two tokens, another one for each residue: texts of a probe that can be integrated."""
    return [Fraction(1 + residue, 13), Fraction(12 - residue, 13), *[Fraction(0)] * (probes.VOCABULARY - 2)]


def other_coin(residue):
    return coin((7 * residue + 3) % probes.VOCABULARY)


def engine(target, drafter, rule, length):
    return Engine(target, drafter, RULES[rule], RAW, LENGTHS[length], (2,) if RULES[rule].branches else ())


def text_of(passes):
    return tuple(token for done in passes for token in done.emitted)


@every_rule
@every_kind
@every_length
def test_a_greedy_text_is_the_known_one_whatever_is_drafted(length, kind, rule):
    for right in range(5):
        tested = engine(model(kind), ProbeDrafter(AMOUNTS[kind], right), rule, length)
        assert text_of(tested.decode(PROBE_PROMPT, Stop(10), PhiloxNoise(0))) == TEXTS[kind]


@every_rule
@every_kind
@every_length
def test_the_same_model_as_its_own_draft_has_everything_kept(length, kind, rule):
    tested = engine(model(kind), ModelDrafter(model(kind), RAW), rule, length)
    passes = list(tested.decode(PROBE_PROMPT, Stop(10), PhiloxNoise(0)))
    assert text_of(passes) == TEXTS[kind]
    assert all(len(done.path) == done.proposal.depth for done in passes)


@every_rule
@pytest.mark.parametrize("draft", AMOUNTS)
@every_kind
@pytest.mark.parametrize("length", ["2", "none after three", "every second"])
def test_a_sampled_text_has_the_targets_law_whichever_caches_meet(length, kind, draft, rule):
    tested = engine(model(kind, coin), ModelDrafter(model(draft, other_coin), RAW), rule, length)
    law = exact_law(lambda noise: text_of(tested.decode(PROBE_PROMPT, Stop(SHORT), noise)))
    assert without_zeros(law) == product_of(AMOUNTS[kind])


def product_of(amount):
    law = {}
    for text in product(range(2), repeat=SHORT):
        law[text] = Fraction(1)
        for i, token in enumerate(text):
            law[text] *= coin(amount((*PROBE_PROMPT, *text[:i])))[token]
    return law


def test_a_state_that_is_not_taken_back_is_caught():
    class Sticky(probes.RecurrentProbe):
        """Says that it went back, and did not: mlx-lm 846."""

        def try_rewind(self, length):
            self.length = length
            return True

    tested = engine(Snapshots(Sticky()), ProbeDrafter(probes.recurrence, 1), "token", "3")
    assert text_of(tested.decode(PROBE_PROMPT, Stop(10), PhiloxNoise(0))) != TEXTS["state"]
