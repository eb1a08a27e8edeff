"""Tampers of the proposal: the q in the test is not the law that the token was drawn from.

In: the drafter's law. Out: a draw from another, or a test with another. A drafter cannot do this here, since the engine
draws and keeps what it drew from; a rule that draws its own children can.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from draftproof.arrays import array_namespace
from draftproof.engine.loop import Engine
from draftproof.redteam.altered import AlteredToken, drawn_from, greedily, ruled
from draftproof.redteam.altered_tree import at_each_node
from draftproof.redteam.base import Tamper
from draftproof.rules.base import Place, drawn, normalised, pick, surplus
from draftproof.rules.multidraft import RecursiveRejection
from draftproof.rules.node import Choice, without
from draftproof.rules.token import TokenRule, acceptance_probabilities
from draftproof.rules.tree import TopDown
from draftproof.types import Array, Probs, Purpose
from draftproof.warpers.pipeline import Pipeline
from draftproof.warpers.top_p import TopP

__all__ = ["TAMPERS"]

FAMILY, SEEN = "proposal", ("exact", "sequence")
TOGETHER = TopDown("tree-with-replacement", RecursiveRejection(replacement=True))


def _nucleus(law: Probs) -> Probs:
    return normalised(TopP(Fraction(7, 10) if law.dtype == object else 0.7)(law))


def _sharpened(law: Probs) -> Probs:
    return normalised(law * law)


def _bfloat16(law: Probs) -> Array:
    """Return the entries with 8 significant bits, rounded to nearest."""
    if law.dtype != object:
        wide = law * (2.0**45 + 1)
        return wide - (wide - law)
    steps = [Fraction(2) ** (math.frexp(entry)[1] - 8) for entry in law]
    return np.array([round(entry / step) * step for entry, step in zip(law, steps, strict=True)], dtype=object)


def _drawn_then_summed(law: Probs, place: Place) -> list[int]:
    """Draw by inverse CDF in the memory of the law, which afterwards holds the CDF."""
    tokens = drawn(law, place)
    law[...] = array_namespace(law).cumulative_sum(law, axis=-1)
    return tokens


def _best_of_all(p: Probs, q: Probs, tokens: list[int], place: Place) -> Choice:
    """Test only the sibling with the largest p / q, as if it were the only one drawn."""
    best = max(range(len(tokens)), key=lambda i: p[tokens[i]] / q[tokens[i]] if q[tokens[i]] > 0 else 0)
    if place.each(Purpose.ACCEPT)[0] * q[tokens[best]] < p[tokens[best]]:
        return Choice(best, tokens[best])
    return Choice(None, int(pick(surplus(p, q), place.final())))


def _unfiltered(rule_for: Callable[[Callable[[Probs], Array]], AlteredToken | TokenRule]) -> Callable[[Engine], Engine]:
    """Return what gives a rule the target's rows before top-k and top-p, and those filters for its own use."""

    def apply(engine: Engine) -> Engine:
        filters = Pipeline(tuple(filter(callable, engine.pipeline.steps)))
        rest = tuple(step for step in engine.pipeline.steps if not callable(step))
        return replace(engine, pipeline=Pipeline(rest), rule=rule_for(lambda law: filters.laws(law, "laws")))

    return apply


def _tamper(
    name: str,
    story: str,
    seen_in: str,
    apply: Callable[[Engine], Engine],
    fixture: str | None = None,
    caught_by: tuple[str, ...] = SEEN,
) -> Tamper:
    return Tamper(name, FAMILY, story, seen_in, apply, fixture=fixture, caught_by=caught_by)


TAMPERS = (
    _tamper(
        "drawn-sharper-than-tested",
        "Draws drafts at half the temperature, so that they look better, and tests them with q.",
        "A24, lattice #388; A29, vllm #9834",
        ruled(AlteredToken(draw=drawn_from(_sharpened))),
        "S04c",
    ),
    _tamper(
        "tested-sharper-than-drawn",
        "Draws from q, and tests with q at half the temperature.",
        "A02, jaymody/speculative-sampling #9",
        ruled(AlteredToken(sees=_sharpened)),
        "S04b",
    ),
    _tamper(
        "drawn-from-the-nucleus",
        "Draws drafts from the nucleus of q and tests them with the whole q.",
        "A06, transformers #47932",
        ruled(AlteredToken(draw=drawn_from(_nucleus))),
        "S11a",
    ),
    _tamper(
        "tested-with-the-nucleus",
        "Draws from q, tests with its nucleus; a token outside counts as certain.",
        "A29, vllm #9834, the other way round",
        ruled(AlteredToken(sees=_nucleus)),
        "S11b",
    ),
    _tamper(
        "tested-with-the-nucleus-or-refused",
        "Draws from q, tests with its nucleus; a token outside is refused.",
        "derived",
        ruled(AlteredToken(lambda p, q: acceptance_probabilities(p, q) * (q > 0), sees=_nucleus)),
        "S11c",
    ),
    _tamper(
        "greedy-draft-tested-as-drawn",
        "Drafts the most probable token and tests it with q, as if q had drawn it.",
        "A01, jaymody/speculative-sampling #3; A05, transformers #32867",
        ruled(AlteredToken(draw=greedily)),
        "S12a",
    ),
    _tamper(
        "greedy-draft-tested-as-drawn-residual-of-a-certain-one",
        "Drafts the most probable token, tests it with q, and takes it out of p after a rejection.",
        "A09, apple/ml-recurrent-drafter #6",
        ruled(AlteredToken(rest=lambda p, q, rejected: without(p, rejected), draw=greedily)),
        "S12c",
    ),
    _tamper(
        "q-in-bfloat16",
        "Hands q to test and residual in bfloat16, as it comes.",
        "A16, deepseek-ai/DeepSpec #31",
        ruled(AlteredToken(sees=_bfloat16)),
        "S13a",
    ),
    _tamper(
        "q-in-bfloat16-normalised",
        "Hands q to test and residual in bfloat16, normalised again.",
        "A16, deepseek-ai/DeepSpec #31",
        ruled(AlteredToken(sees=lambda q: normalised(_bfloat16(q)))),
        "S13b",
    ),
    _tamper(
        "q-in-bfloat16-in-the-test",
        "Keeps q in bfloat16 for the test alone.",
        "A16, deepseek-ai/DeepSpec #31",
        ruled(AlteredToken(lambda p, q: acceptance_probabilities(p, _bfloat16(q)))),
        "S13c",
    ),
    _tamper(
        "q-overwritten-by-the-draw",
        "Draws by summing up q in place, so that the test gets the sums.",
        "A13, vllm PR #16952",
        ruled(AlteredToken(draw=_drawn_then_summed)),
    ),
    Tamper(
        "best-of-two-drafts",
        FAMILY,
        "Draws two drafts, keeps the one with the larger p / q, and tests it as if it were the only one.",
        "derived",
        ruled(at_each_node(TOGETHER, _best_of_all)),
        TOGETHER,
        (2,),
        fixture="S17",
        caught_by=SEEN,
    ),
    _tamper(
        "only-the-test-is-filtered",
        "Applies top-k and top-p to the target's law in the test, and emits residual and bonus from all of it.",
        "A29, vllm #9834",
        _unfiltered(lambda warp: AlteredToken(lambda p, q: acceptance_probabilities(warp(p), q))),
        "S11d",
        ("sequence", "replay", "report"),
    ),
    _tamper(
        "only-the-residual-is-filtered",
        "Applies top-k and top-p to the target's law in the residual only.",
        "A37, vllm #42744",
        _unfiltered(lambda warp: AlteredToken(rest=lambda p, q, rejected: surplus(warp(p), q))),
        "S11e",
        ("sequence", "replay", "report"),
    ),
    _tamper(
        "target-not-filtered",
        "Verifies against the target's whole law; top-k and top-p reach the draft alone.",
        "A29, vllm #9834",
        _unfiltered(lambda warp: TokenRule()),
        "S11f",
        ("sequence", "replay", "report"),
    ),
)
