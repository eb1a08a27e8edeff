"""A drafted block and the laws it was drawn from, inseparable.

In: a drafter, a context, uniforms. Out: a `Proposal`. There is no other way to make one: "the q in the test is not the
law the token was drawn from" is the commonest loss of exactness in public engines, so it cannot be written down here.
"""

from collections.abc import Sequence
from dataclasses import InitVar, dataclass
from typing import Self

from array_api_compat import array_namespace

from draftproof.drafters.base import Drafter
from draftproof.errors import ContractError
from draftproof.rules.base import pick
from draftproof.types import Noise, Probs, Purpose

__all__ = ["Proposal"]

_DRAWN = object()


@dataclass(frozen=True)
class Proposal:
    """K drafted tokens and the (K, V) laws they were drawn from; laws is None when K is 0."""

    tokens: tuple[int, ...]
    laws: Probs | None
    made_by: InitVar[object] = None

    def __post_init__(self, made_by: object) -> None:
        if made_by is not _DRAWN:
            raise ContractError("a Proposal is made by Proposal.draw only, from the laws its tokens are drawn from")

    @classmethod
    def draw(cls, drafter: Drafter, context: Sequence[int], length: int, noise: Noise) -> Self:
        """Ask `drafter` for up to `length` laws, drawing a token from each before asking for the next.

        Uniforms consumed: one DRAFT uniform a position, keyed by the pass start len(context).
        """
        text, laws = list(context), []
        uniforms = noise.uniforms(Purpose.DRAFT, len(context), length)
        for i in range(length):
            law = drafter.law(text)
            if law is None:
                break
            laws.append(law)
            text.append(int(pick(law, uniforms[i, ...])))
        tokens = tuple(text[len(context) :])
        return cls(tokens, array_namespace(*laws).stack(laws) if laws else None, _DRAWN)
