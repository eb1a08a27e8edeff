"""Sample-and-match: draw from the target as if nothing had been drafted, keep drafting's work while it guessed right.

In: target rows, drafted tokens, draws. Out: a verdict. Every emitted token is the target's own draw, so no q matters:
right for drafts whose law is unknown. It keeps sum p q of the tokens, less than the ratio test's sum min(p, q).
"""

from dataclasses import dataclass

from draftproof.arrays import array_namespace
from draftproof.rules.base import Place, Verdict, drawn, pick
from draftproof.rules.contract import check_chain
from draftproof.rules.run import run_of_matches
from draftproof.types import Array, Draws, Probs, Purpose

__all__ = ["MatchRule"]


@dataclass(frozen=True)
class MatchRule:
    """Draw y from each target row in turn; emit it; go on while it is the drafted token."""

    name = "match"
    lossless = True
    branches = False

    def children(self, law: Probs, place: Place) -> list[int]:
        """See `Rule.children`: one DRAFT uniform a token."""
        return drawn(law, place)

    def verify(self, target: Probs, draft: Probs, drafted: Array, draws: Draws) -> Verdict:
        """See `Rule.verify`. Uniforms consumed: a FINAL for each row that is come to."""
        check_chain(target, draft, drafted)

        def draw(i: int) -> Array:
            return pick(target[..., i, :], draws.uniforms(Purpose.FINAL, 1, i)[..., 0])

        return run_of_matches(drafted, draw)

    def identity(self, target: Probs, draft: Probs, drafted: Array) -> tuple[Probs, Probs]:
        """See `Rule.identity`: what is emitted is drawn from the row itself, matched or not."""
        return target, target

    def expected_accepted(self, target: Probs, draft: Probs, drafted: Array, accepted: int) -> float:
        """See `Rule.expected_accepted`: sum p q, added over the positions that the rule came to."""
        xp = array_namespace(target, draft)
        return float(sum(xp.sum(target[:-1] * draft, axis=-1)[: accepted + 1]))
