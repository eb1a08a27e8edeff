"""Tampers of the block rule: its weights, its coins, and the residual that belongs to the place where it stops.

In: the laws of a block and its tokens. Out: another decision. It must never touch the drafting.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from draftproof.arrays import array_namespace
from draftproof.redteam.altered import each_row, ruled
from draftproof.redteam.base import Tamper
from draftproof.rules.base import Place, Verdict, drawn, pick, surplus
from draftproof.rules.block import BlockRule, prefix_weights, stopping_probability
from draftproof.types import Array, Draws, Probs, Purpose

__all__ = ["TAMPERS"]

Coins: TypeAlias = Callable[[Probs, Probs, Array, Array], Sequence[Array]]
"""(target, draft, tokens, weights) -> the probabilities of the coins of 1 .. K kept tokens."""


def _coins(target: Probs, draft: Probs, tokens: Array, weights: Array) -> list[Array]:
    inner = range(1, len(tokens))
    return [*(stopping_probability(target[i, :], draft[i, :], weights[..., i]) for i in inner), weights[..., -1]]


def _last_success(fell: Sequence[bool]) -> int:
    return max((i for i, success in enumerate(fell, 1) if success), default=0)


def _first_failure(fell: Sequence[bool]) -> int:
    return next((i for i, success in enumerate(fell) if not success), len(fell))


@dataclass(frozen=True)
class AlteredBlock:
    """The block rule, of which one part or another is replaced.

    Args:
        weights: see `prefix_weights`.
        coins: what decides, for each number of kept tokens.
        kept: which coins fell -> how many tokens stay.
        weighted: whether the residual is that of weight * p.
        shared: whether all coins are one.
    """

    weights: Callable[[Probs, Probs, Array], Array] = prefix_weights
    coins: Coins = _coins
    kept: Callable[[Sequence[bool]], int] = _last_success
    weighted: bool = True
    shared: bool = False
    name = BlockRule.name
    lossless = True
    branches = False

    def children(self, law: Probs, place: Place) -> list[int]:
        """See `Rule.children`."""
        return drawn(law, place)

    def verify(self, target: Probs, draft: Probs, drafted: Array, draws: Draws) -> Verdict:
        """See `Rule.verify`."""
        return each_row(self._verify, target, draft, drafted, draws)

    def _verify(self, target: Probs, draft: Probs, drafted: Array, draws: Draws) -> Verdict:
        count, final = len(drafted), draws.uniforms(Purpose.FINAL, 1)[0, ...]
        weights = self.weights(target, draft, drafted)
        uniforms = draws.uniforms(Purpose.ACCEPT, count)
        coins = self.coins(target, draft, drafted, weights) if count else []
        kept = self.kept([bool(uniforms[0 if self.shared else i] < coin) for i, coin in enumerate(coins)])
        p = target[kept, :]
        if kept == count:
            return Verdict(kept, pick(p, final))
        left = surplus(weights[..., kept] * p if self.weighted else p, draft[kept, :])
        return Verdict(kept, pick(left if array_namespace(p).sum(left) > 0 else p, final))

    def identity(self, target: Probs, draft: Probs, drafted: Array) -> tuple[Probs, Probs]:
        """See `Rule.identity`: the honest one."""
        return BlockRule().identity(target, draft, drafted)

    def expected_accepted(self, target: Probs, draft: Probs, drafted: Array, accepted: int) -> float:
        """See `Rule.expected_accepted`: the honest one."""
        return BlockRule().expected_accepted(target, draft, drafted, accepted)


def _uncapped(target: Probs, draft: Probs, tokens: Array) -> Array:
    xp = array_namespace(target, draft)
    weights = [xp.ones_like(target[0, 0])]
    for i, token in enumerate(tokens.tolist()):
        weights.append(weights[-1] * target[i, token] / draft[i, token])
    return xp.stack(weights)


def _last_ratio(target: Probs, draft: Probs, tokens: Array, weights: Array) -> list[Array]:
    last = prefix_weights(target[-2:, :], draft[-1:, :], tokens[-1:])
    return [*_coins(target, draft, tokens, weights)[:-1], last[..., -1]]


def _tamper(name: str, story: str, rule: AlteredBlock, fixture: str) -> Tamper:
    seen = ("sequence",)  # with one drafted token the block rule is the token rule, and so are these
    return Tamper(name, "block", story, "derived", ruled(rule), BlockRule(), fixture=fixture, caught_by=seen)


TAMPERS = (
    _tamper(
        "block-residual-without-weight",
        "Emits from max(0, p - q) where the block stops, as the token rule does, instead of max(0, w p - q).",
        AlteredBlock(weighted=False),
        "Q19",
    ),
    _tamper(
        "block-weights-uncapped",
        "Multiplies the ratios p / q along the block without ever cutting the product at 1.",
        AlteredBlock(_uncapped),
        "Q20",
    ),
    _tamper(
        "block-stops-at-first-failure",
        "Walks up the block and stops at the first coin that fails, the habit of the token rule.",
        AlteredBlock(kept=_first_failure),
        "Q21",
    ),
    _tamper(
        "block-coins-are-weights",
        "Takes the weight of a prefix for the probability of its coin, also where the block could go on.",
        AlteredBlock(coins=lambda target, draft, tokens, weights: list(weights)[1:]),
        "Q22",
    ),
    _tamper(
        "block-last-coin-is-the-ratio",
        "Tests the last drafted token by its own ratio p / q, not by the weight of the whole block.",
        AlteredBlock(coins=_last_ratio),
        "Q22b",
    ),
    _tamper(
        "block-shares-one-coin",
        "Compares one uniform with the coins of all positions, to save random numbers.",
        AlteredBlock(shared=True),
        "Q22c",
    ),
)
