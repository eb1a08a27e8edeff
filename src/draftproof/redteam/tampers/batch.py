"""A rule that decides several rows at once and lets them leak into each other; single rows are decided right.

In: the arguments of `Rule.verify` with a leading axis. Out: a verdict on all rows.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from draftproof.engine.loop import Engine
from draftproof.redteam.base import Tamper
from draftproof.rules.base import Place, Rule, Verdict
from draftproof.types import Array, Draws, Probs, Purpose, Tree, Uniform

__all__ = ["TAMPERS"]

FAMILY = "batch"
SEEN = ("rows",)

Decide = Callable[[Rule, Probs, Probs, Array, Draws], Verdict]


@dataclass(frozen=True)
class _Batched:
    """A rule that decides batches in a way of its own, and single rows as the honest rule does."""

    honest: Rule
    decide: Decide

    name = property(lambda self: self.honest.name)
    lossless = property(lambda self: self.honest.lossless)
    branches = property(lambda self: self.honest.branches)

    def children(self, law: Probs, place: Place) -> list[int]:
        """See `Rule.children`."""
        return self.honest.children(law, place)

    def verify(self, target: Probs, draft: Probs, drafted: Array, draws: Draws) -> Verdict:
        """See `Rule.verify`."""
        if target.ndim == 2:
            return self.honest.verify(target, draft, drafted, draws)
        return self.decide(self.honest, target, draft, drafted, draws)

    def identity(self, target: Probs, draft: Probs, drafted: Array | Tree) -> tuple[Probs, Probs]:
        """See `Rule.identity`."""
        return self.honest.identity(target, draft, drafted)

    def expected_accepted(self, target: Probs, draft: Probs, drafted: Array | Tree, accepted: int) -> float | None:
        """See `Rule.expected_accepted`."""
        return self.honest.expected_accepted(target, draft, drafted, accepted)


@dataclass(frozen=True)
class _Drawn:
    """Draws of a batch, changed."""

    draws: Draws
    change: Callable[[Array], Array]
    purposes: tuple[Purpose, ...]

    def uniforms(self, purpose: Purpose, count: int, first: int = 0) -> Uniform:
        """See `Draws.uniforms`."""
        found = self.draws.uniforms(purpose, count, first)
        return self.change(found) if purpose in self.purposes else found

    def exponentials(self, depth: int, vocab_size: int) -> Array:
        """See `Draws.exponentials`."""
        return self.draws.exponentials(depth, vocab_size)


def _first_for_all(rows: Array) -> Array:
    return np.broadcast_to(rows[:1], rows.shape)


def _last_missing(rows: Array) -> Array:
    return np.concatenate([rows[:-1], rows[-1:] * 0])


def _last_place_missing(rows: Array) -> Array:
    return np.concatenate([rows[..., :-1], rows[..., -1:] * 0], axis=-1)


def _backwards(rows: Array) -> Array:
    return rows[::-1]


def _batched(decide: Decide) -> Callable[[Engine], Engine]:
    return lambda engine: replace(engine, rule=_Batched(engine.rule, decide))


def _with_draws(change: Callable[[Array], Array], *purposes: Purpose) -> Callable[[Engine], Engine]:
    concerned = purposes or tuple(Purpose)
    return _batched(lambda rule, p, q, drafted, draws: rule.verify(p, q, drafted, _Drawn(draws, change, concerned)))


def _with_target(change: Callable[[Array], Array]) -> Callable[[Engine], Engine]:
    return _batched(lambda rule, p, q, drafted, draws: rule.verify(change(p), q, drafted, draws))


def _with_counts(change: Callable[[Array], Array]) -> Callable[[Engine], Engine]:
    def decide(rule: Rule, p: Probs, q: Probs, drafted: Array, draws: Draws) -> Verdict:
        found = rule.verify(p, q, drafted, draws)
        return found._replace(accepted=np.broadcast_to(change(found.accepted), found.accepted.shape))

    return _batched(decide)


def _bonus_of_the_first(p: Array) -> Array:
    return np.concatenate([p[:, :-1], _first_for_all(p[:, -1:])], axis=1)


def _answers_backwards(rule: Rule, p: Probs, q: Probs, drafted: Array, draws: Draws) -> Verdict:
    found = rule.verify(p, q, drafted, draws)
    return Verdict(found.accepted[::-1], found.token[::-1])


TAMPERS = (
    Tamper(
        "answers-in-another-order",
        FAMILY,
        "Hands the verdicts of a batch out in another order than the rows came in.",
        "A86, vllm PR #14645",
        _batched(_answers_backwards),
        caught_by=SEEN,
    ),
    Tamper(
        "target-rows-of-another-request",
        FAMILY,
        "Tests the drafts of one row against the target's laws of another.",
        "A98, allover326/deepseek-v4-cmp170hx #9",
        _with_target(_backwards),
        caught_by=SEEN,
    ),
    Tamper(
        "bonus-of-the-first-request",
        FAMILY,
        "Draws the bonus of every row from the last law of the first one.",
        "derived; A98, allover326/deepseek-v4-cmp170hx #9, reads foreign slots",
        _with_target(_bonus_of_the_first),
        caught_by=SEEN,
    ),
    Tamper(
        "batch-cut-to-the-shortest",
        FAMILY,
        "Keeps in every row as many drafts as the row keeps that keeps fewest, each with its own last token.",
        "C10, transformers #32165",
        _with_counts(np.min),
        caught_by=SEEN,
    ),
    Tamper(
        "batch-kept-to-the-longest",
        FAMILY,
        "Moves all rows on by the largest count; rows that kept less keep what was rejected.",
        "A88, Blaizzy/mlx-vlm #1144",
        _with_counts(np.max),
        caught_by=SEEN,
    ),
    Tamper(
        "batch-counted-by-the-first-row",
        FAMILY,
        "Keeps in every row as many drafts as in the first.",
        "A88, Blaizzy/mlx-vlm #1144",
        _with_counts(lambda accepted: accepted[0]),
        caught_by=SEEN,
    ),
    Tamper(
        "one-stream-for-the-batch",
        FAMILY,
        "Draws one set of numbers and uses it for all rows: each row is right by itself, all move together.",
        "derived",
        _with_draws(_first_for_all),
        caught_by=SEEN,
    ),
    Tamper(
        "noise-missing-in-the-last-row",
        FAMILY,
        "Writes the numbers of the last row into a copy, so that the row is decided with zeros.",
        "A53, vllm #9441",
        _with_draws(_last_missing),
        caught_by=SEEN,
    ),
    Tamper(
        "padding-counted-as-kept",
        FAMILY,
        "Takes the last place of every block of a batch for padding, which passes every test, and counts it.",
        "derived; A96, 1CatAI/1Cat-vLLM #656, and A88, Blaizzy/mlx-vlm #1144, pad alike",
        _with_draws(_last_place_missing, Purpose.ACCEPT),
        caught_by=SEEN,
    ),
    Tamper(
        "seed-depends-on-the-batch",
        FAMILY,
        "Hands the streams out by place in the batch from the end, so that a seed alone and in company differ.",
        "A52, vllm #6038",
        _with_draws(_backwards),
        caught_by=SEEN,
    ),
)
