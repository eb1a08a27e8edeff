"""Where the token rule comes from, with the laws at hand: what each ancestor wastes, and what each step saves.

In: a `State`. Out: numbers of rejection sampling, of the token rule on the same draws, of blocks. Pure and cached.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from draftproof.economics.survival import survival, tokens_per_pass
from draftproof.errors import ContractError
from draftproof.explorer.results import laws_of
from draftproof.explorer.state import State
from draftproof.noise import PassNoise, PhiloxNoise
from draftproof.rules.base import pick
from draftproof.rules.rejection import acceptance, envelope, kept_share, retrying_law, run
from draftproof.rules.token import TokenRule
from draftproof.types import Array, Probs, Purpose

__all__ = ["DRAWN", "LENGTHS", "SameDraws", "blocks_of", "classic_of", "retried", "same_draws"]

DRAWN = 40
"""Proposals that both samplers are given."""
LENGTHS = range(1, 9)
START = 1
"""The passes of window 4 begin after a prompt of one token: these are their random numbers."""


@dataclass(frozen=True)
class SameDraws:
    """The same proposals and uniforms, by two samplers."""

    proposals: NDArray[np.int64]
    """(n,) tokens drawn from q."""
    uniforms: Array
    """(n,) those of the tests."""
    classic: NDArray[np.bool_]
    """(n,) which rejection sampling keeps; of the others nothing comes."""
    kept: NDArray[np.bool_]
    """(n,) which the token rule keeps."""
    emitted: NDArray[np.int64]
    """(n,) what the token rule emits."""

    @property
    def classic_tokens(self) -> int:
        """How many tokens rejection sampling emits."""
        return int(np.count_nonzero(self.classic))

    @property
    def kept_tokens(self) -> int:
        """How many of its tokens the token rule kept; the others are the residual's."""
        return int(np.count_nonzero(self.kept))


@dataclass(frozen=True)
class _Passes:
    """The random numbers of the first passes of a seed, as a batch: see `Draws`."""

    noises: tuple[PassNoise, ...]

    def uniforms(self, purpose: Purpose, count: int, first: int = 0) -> Array:
        """See `Draws.uniforms`."""
        return np.stack([noise.uniforms(purpose, count, first) for noise in self.noises])

    def exponentials(self, depth: int, vocab_size: int) -> Array:
        """See `Draws.exponentials`."""
        return np.stack([noise.exponentials(depth, vocab_size) for noise in self.noises])


def classic_of(state: State) -> tuple[float, float, Array]:
    """Return M, 1/M and the chance (V,) with which rejection sampling keeps each token."""
    p, q = laws_of(state)
    return float(envelope(p, q)), float(kept_share(p, q)), acceptance(p, q)


def retried(state: State) -> Probs | None:
    """Return the law (V,) of keeping with min(1, p/q) and then retrying; None if nothing is ever kept."""
    try:
        return retrying_law(*laws_of(state))
    except ContractError:
        return None


def same_draws(state: State) -> SameDraws:
    """Return what both samplers make of the first proposals of the seed: those of the draws of window 4."""
    p, q = laws_of(state)
    return _same_draws(tuple(p.tolist()), tuple(q.tolist()), state.seed)


@lru_cache(maxsize=64)
def _same_draws(p_entries: tuple[float, ...], q_entries: tuple[float, ...], seed: int) -> SameDraws:
    p, q = np.array(p_entries), np.array(q_entries)
    draws = _Passes(tuple(PassNoise(PhiloxNoise(seed, i), START) for i in range(DRAWN)))
    drafted = pick(np.broadcast_to(q, (DRAWN, 1, len(q))), draws.uniforms(Purpose.DRAFT, 1))
    laws = np.broadcast_to(p, (DRAWN, 2, len(p)))
    verdict = TokenRule().verify(laws, np.broadcast_to(q, (DRAWN, 1, len(q))), drafted, draws)
    proposals, uniforms, kept = drafted[:, 0], draws.uniforms(Purpose.ACCEPT, 1)[:, 0], verdict.accepted == 1
    return SameDraws(
        proposals, uniforms, run(p, q, proposals, uniforms), kept, np.where(kept, proposals, verdict.token)
    )


def blocks_of(state: State) -> list[tuple[int, float, float]]:
    """Return for K = 1.. how many tokens a pass emits by the token rule, and by the block rule."""
    p, q = laws_of(state)
    return list(_blocks(tuple(p.tolist()), tuple(q.tolist())))


@lru_cache(maxsize=64)
def _blocks(p_entries: tuple[float, ...], q_entries: tuple[float, ...]) -> tuple[tuple[int, float, float], ...]:
    p, q = np.array(p_entries), np.array(q_entries)
    token, block = (survival(rule, p, q, LENGTHS[-1]) for rule in ("token", "block"))
    # A longer block keeps its first tokens as often as a shorter one does its own, by either rule.
    return tuple((k, tokens_per_pass(token[:k]), tokens_per_pass(block[:k])) for k in LENGTHS)
