"""Texts do not depend on how many processes make them; a process that fails is one clear error."""

import multiprocessing

import pytest

from draftproof import UsageError, generate
from draftproof.api.workers import in_processes
from draftproof.engine.options import Options
from draftproof.errors import ContractError, DraftproofError

PROMPTS = ["And the king said", "Blessed", "", "Now these are the names", "In the beginning"]
SETTINGS = {"max_tokens": 12, "seed": 4, "n": 2, "logprobs": 1}


def test_two_processes_generate_what_one_does():
    one = generate(PROMPTS, batch_size=4, **SETTINGS)
    two = generate(PROMPTS, batch_size=4, workers=2, **SETTINGS)
    assert [found.prompt for found in two] == PROMPTS
    for ours, theirs in zip(one, two, strict=True):
        for mine, other in zip(ours.samples, theirs.samples, strict=True):
            assert (mine.token_ids, mine.text) == (other.token_ids, other.text)
            ours_told, theirs_told = ([each.logprob for each in sample.logprobs] for sample in (mine, other))
            # logits of float32 that are read in other company differ by 1e-6 at most; where bits agree (AVX-512) by 0
            assert ours_told == pytest.approx(theirs_told, abs=1e-5)


def test_a_prompt_that_fails_alone_is_told_and_the_others_go_on():
    options = [Options("And", max_tokens=3), Options("a " * 3000), Options("Now", max_tokens=3)]
    found = dict(in_processes(options, 2, 2))
    assert sorted(found) == [0, 1, 2]
    assert isinstance(found[1], DraftproofError)
    assert "context" in str(found[1])
    assert len(found[2].token_ids) == 3


def test_a_process_that_is_killed_is_an_error_and_the_others_are_ended():
    work = in_processes([Options("And", max_tokens=900, ignore_eos=True)] * 4, 2, 2)
    multiprocessing.active_children()

    def killed():
        for number, _ in enumerate(work):
            if number == 0:
                multiprocessing.active_children()[0].kill()

    with pytest.raises(ContractError, match="ended with status -9"):
        killed()
    assert not multiprocessing.active_children()


def test_work_that_is_left_leaves_no_process_behind():
    work = in_processes([Options("And", max_tokens=2), Options("And", max_tokens=900, ignore_eos=True)], 2, 2)
    next(work)
    work.close()
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"workers": 0}, "workers: got 0; allowed are 1 to 64"),
        ({"workers": 2, "processors": [print]}, "workers: got 2 with processors"),
    ],
)
def test_workers_that_cannot_be_are_refused(settings, message):
    with pytest.raises(UsageError, match=message):
        generate(["a"], **settings)
