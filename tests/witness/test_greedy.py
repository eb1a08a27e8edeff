"""The greedy witness tells a tie flip from a fault by the gap of the plain model."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from draftproof.drafters.none import NoDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.rules.catalogue import RULES
from draftproof.warpers.pipeline import Pipeline
from draftproof.witness.base import Subject
from draftproof.witness.embedded import embedded_run
from draftproof.witness.greedy import Greedy
from draftproof.witness.rescoring import Run


@dataclass
class Rounding:
    """Scores of four tokens; the second best, token 2, gains `noise` when several tokens are read at once.

    The best is token 1 and token 3 in turn, by `gap` after the prompt, which is one token, and by 0.5 afterwards.
    """

    gap: float
    noise: float
    length: int = 0
    row_kind: str = "logits"
    vocab_size: int = 4
    context_limit: int = 64

    def extend(self, tokens, rows=None, parents=None):
        places = range(self.length, self.length + len(tokens))
        self.length += len(tokens)
        scores = np.array([[0.0, -1.0, 1.0, -1.0] for _ in places])
        for row, place in zip(scores, places, strict=True):
            row[1 + 2 * (place % 2)] = 1.0 + (0.5 if place else self.gap)
        if len(tokens) > 1:
            scores[:, 2] += self.noise
        return scores[-(rows or len(tokens)) :]

    def keep(self, length, path):
        self.length = length + len(path)

    def rewind(self, length):
        self.length = length

    def fresh(self):
        return replace(self, length=0)

    def steady(self):
        return self.fresh()


def judged(gap, noise, assemble):
    engine = Engine(Rounding(gap, noise), NoDrafter(), RULES["token"], Pipeline(), FixedLength(0))
    run = Run("rounding", engine, (0,), Stop(4))
    return next(iter(Greedy([run]).examine(Subject("model", RULES["token"], assemble=assemble))))


def second_best(engine):
    """An engine whose first token is the second best, since its scores rounded otherwise."""

    class Wrong:
        def decode(self, prompt, stop, noise):
            for i, done in enumerate(engine.decode(prompt, stop, noise)):
                yield replace(done, emitted=(2,)) if i == 0 else done

    return Wrong()


def test_a_text_like_plain_decoding_is_lossless():
    assert judged(0.5, 0.0, lambda engine: engine).verdict == "LOSSLESS"


def test_a_flip_within_the_rounding_of_this_model_is_a_tie():
    found = judged(1e-3, 2e-3, second_best)
    assert found.verdict == "LOSSLESS"
    assert "tie flips only" in found.reason


def test_where_a_wrong_cache_would_be_taken_for_rounding_nothing_can_be_said():
    found = judged(0.15, 3.0, second_best)
    assert found.verdict == "UNDECIDED"
    assert "could hide" in found.reason


@pytest.mark.parametrize("noise", [0.0, 2e-3])
def test_a_flip_beyond_the_rounding_is_a_fault(noise):
    found = judged(0.15, noise, second_best)
    assert (found.verdict, found.where) == ("LOSSY", "token 1")


def test_a_text_that_ends_early_is_a_fault():
    def short(engine):
        class Short:
            def decode(self, prompt, stop, noise):
                return engine.decode(prompt, replace(stop, max_tokens=stop.max_tokens - 1), noise)

        return Short()

    found = judged(0.5, 0.0, short)
    assert (found.verdict, found.where) == ("LOSSY", "token 4")


def test_the_embedded_pair_is_greedy_under_every_chain_rule():
    for name in ("token", "block", "match", "coupled"):
        found = next(iter(Greedy([embedded_run()]).examine(Subject(name, RULES[name]))))
        assert found.verdict == "LOSSLESS", found.reason
