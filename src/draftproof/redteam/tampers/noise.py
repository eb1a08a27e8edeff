"""Random numbers used twice, from the wrong stream, or not at all: which unknown answers to which address.

In: an honest engine. Out: the same, whose questions for random numbers are answered otherwise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from draftproof.engine.loop import Engine
from draftproof.engine.proposal import Proposal
from draftproof.redteam.base import Tamper
from draftproof.redteam.handed import readdressed, rebuilt
from draftproof.rules.base import Verdict
from draftproof.rules.block import BlockRule
from draftproof.types import Array, Draws, Probs, Purpose, Uniform

__all__ = ["TAMPERS"]

FAMILY = "noise"
SEEN = ("exact", "sequence")


@dataclass(frozen=True)
class _FinalFrom:
    """The draws of a pass whose last draw is given."""

    draws: Draws
    final: Uniform

    def uniforms(self, purpose: Purpose, count: int, first: int = 0) -> Uniform:
        """See `Draws.uniforms`."""
        return self.final if purpose == Purpose.FINAL else self.draws.uniforms(purpose, count, first)

    def exponentials(self, depth: int, vocab_size: int) -> Array:
        """See `Draws.exponentials`."""
        return self.draws.exponentials(depth, vocab_size)


@dataclass(frozen=True)
class _Mirrored:
    """scale * (1 - uniform), for a uniform that answers comparisons only."""

    uniform: Any
    scale: Any = 1

    def __mul__(self, factor: Any) -> "_Mirrored":
        return _Mirrored(self.uniform, self.scale * factor)

    def __lt__(self, bound: Any) -> bool:
        return not self.uniform < 1 - bound / self.scale if self.scale > 0 else bound > 0


def _mirrored(uniforms: Uniform) -> Uniform:
    if uniforms.dtype != object:
        return 1 - uniforms
    return np.array([_Mirrored(uniform) for uniform in uniforms], dtype=object)


def _as_it_is(uniforms: Uniform) -> Uniform:
    return uniforms


@dataclass(frozen=True)
class _SharedResidual(Engine):
    """Draws the token after a rejection with a number that this position has already used."""

    purpose: Purpose = Purpose.ACCEPT
    change: Callable[[Uniform], Uniform] = _as_it_is

    def verify(self, laws: Probs, proposal: Proposal, draws: Draws) -> Verdict:
        """See `Engine.verify`."""
        undrawn = draws.uniforms(Purpose.FINAL, 1) * 0
        accepted = int(super().verify(laws, proposal, _FinalFrom(draws, undrawn)).accepted)
        if accepted == len(proposal.tree.tokens):
            return super().verify(laws, proposal, draws)
        used = self.change(draws.uniforms(self.purpose, 1, accepted))
        return super().verify(laws, proposal, _FinalFrom(draws, used))


TAMPERS = (
    Tamper(
        "residual-shares-the-coin",
        FAMILY,
        "Draws the token after a rejection with the number that decided the rejection: one number a position.",
        "A50, vllm-project/vllm PR #54282",
        rebuilt(_SharedResidual),
        fixture="S07a",
        caught_by=SEEN,
    ),
    Tamper(
        "residual-mirrors-the-coin",
        FAMILY,
        "Draws the token after a rejection with one minus the number that decided it, which looks like another number.",
        "derived",
        rebuilt(_SharedResidual, change=_mirrored),
        fixture="S07c",
        caught_by=SEEN,
    ),
    Tamper(
        "coin-shares-the-draft-number",
        FAMILY,
        "Tests a draft with the number that drew it: draft and verifier seed their generators alike.",
        "A50, vllm-project/vllm PR #54282",
        readdressed(lambda purpose, start, n: (Purpose.DRAFT if purpose == Purpose.ACCEPT else purpose, start, n)),
        fixture="Q36",
        caught_by=SEEN,
    ),
    Tamper(
        "residual-shares-the-draft-number",
        FAMILY,
        "Draws the token after a rejection with the number that drew the rejected draft.",
        "A50, vllm-project/vllm PR #54282",
        rebuilt(_SharedResidual, purpose=Purpose.DRAFT),
        fixture="Q37",
        caught_by=SEEN,
    ),
    Tamper(
        "one-coin-for-a-block",
        FAMILY,
        "Tests all drafts of a block with one number, drawn once for speed.",
        "derived",
        readdressed(lambda purpose, start, n: (purpose, start, 0 if purpose == Purpose.ACCEPT else n)),
        fixture="Q35",
        caught_by=("sequence",),
    ),
    Tamper(
        "coin-draws-the-next-draft",
        FAMILY,
        "Tests a draft with the number that drew the draft after it: one stream, read from two places.",
        "derived",
        readdressed(
            lambda purpose, start, n: (
                (Purpose.DRAFT, start, n + 1) if purpose == Purpose.ACCEPT else (purpose, start, n)
            )
        ),
        caught_by=("sequence",),
    ),
    Tamper(
        "seeded-anew-every-pass",
        FAMILY,
        "Seeds the generator again in every pass, so that each pass draws the numbers of the first.",
        "derived",
        readdressed(lambda purpose, start, n: (purpose, 0, n)),
        caught_by=("sequence",),
    ),
    Tamper(
        "drafts-seeded-anew-every-pass",
        FAMILY,
        "Seeds the draft's generator again in every pass; the verifier's goes on.",
        "derived",
        readdressed(lambda purpose, start, n: (purpose, 0 if purpose == Purpose.DRAFT else start, n)),
        caught_by=("sequence",),
    ),
    Tamper(
        "one-final-number-for-all-passes",
        FAMILY,
        "Draws the last token of every pass with the same number, which is keyed by the request alone.",
        "A24, lattice #388",
        readdressed(lambda purpose, start, n: (purpose, 0 if purpose == Purpose.FINAL else start, n)),
        caught_by=("sequence",),
    ),
    Tamper(
        "block-keyed-by-position-alone",
        FAMILY,
        "Keys every number by the position in the text, without the pass: right for the token rule, not for blocks.",
        "derived; a key that public engines use",
        readdressed(lambda purpose, start, n: (purpose, 0, start + n)),
        rule=BlockRule(),
        fixture="rng_keying",
        caught_by=("sequence",),
    ),
)
