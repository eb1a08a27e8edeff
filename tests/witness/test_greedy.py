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
    """Scores of four tokens; the second best gains `noise` when several tokens are read at once.

    It is `gap` below the best after the prompt, which is one token, and `later` after the others.
    """

    gap: float
    noise: float
    later: float = 0.5
    length: int = 0
    row_kind: str = "logits"
    vocab_size: int = 4
    context_limit: int = 64

    def extend(self, tokens, rows=None, parents=None):
        gaps = [self.later if place else self.gap for place in range(self.length, self.length + len(tokens))]
        self.length += len(tokens)
        scores = np.array([[0.0, 1.0 + gap, 1.0, -1.0] for gap in gaps])
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


def judged(gap, noise, assemble, later=0.5):
    engine = Engine(Rounding(gap, noise, later), NoDrafter(), RULES["token"], Pipeline(), FixedLength(0))
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


def test_where_most_tokens_are_level_nothing_can_be_said():
    found = judged(1e-3, 2e-3, second_best, later=1e-3)
    assert found.verdict == "UNDECIDED"
    assert "all is a tie" in found.reason


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
