"""How many drafts of a block stay, counted wrongly: past the first rejection, one too many, one too few.

In: what the test says of each position. Out: tokens of a block that should have ended earlier or later.
"""

from draftproof.redteam.base import Tamper
from draftproof.redteam.rewritten import Block, Written, written

__all__ = ["TAMPERS"]

FAMILY = "counts"
SEEN = ("sequence",)


def _first_rejection_replaced(block: Block) -> Written:
    kept, accepted = block.kept(), block.accepted()
    rest = [block.final(accepted)]
    for i in range(accepted + 1, len(kept)):
        if not kept[i]:
            return accepted, [*rest, block.final(i, i)]
        rest.append(block.tokens[i])
    return accepted, rest


def _rejected_skipped(block: Block) -> Written:
    kept, accepted = block.kept(), block.accepted()
    later = [token for token, stays in zip(block.tokens[accepted:], kept[accepted:], strict=True) if stays]
    return accepted, [*later, block.final(len(kept))]


def _up_to_the_last_kept(block: Block) -> Written:
    accepted = max((i + 1 for i, stays in enumerate(block.kept()) if stays), default=0)
    return accepted, [block.final(accepted)]


def _as_many_as_pass(block: Block) -> Written:
    accepted = sum(block.kept())
    return accepted, [block.final(accepted)]


def _bonus_after_a_rejection(block: Block) -> Written:
    accepted = block.accepted()
    rest = [block.final(accepted)]
    return accepted, rest if accepted == len(block.tokens) else [*rest, block.drawn(block.laws[-1], 1)]


def _rejected_emitted(block: Block) -> Written:
    accepted = block.accepted()
    return accepted, [*block.tokens[accepted : accepted + 1], block.final(accepted)]


def _one_too_few(block: Block) -> Written:
    fewer = max(0, block.accepted() - 1)
    return fewer, [block.final(fewer)]


def _final_thrown_away(block: Block) -> Written:
    accepted = block.accepted()
    return accepted, [] if 0 < accepted < len(block.tokens) else [block.final(accepted)]


def _all_or_nothing(block: Block) -> Written:
    accepted = block.accepted() if all(block.kept()) else 0
    return accepted, [block.final(accepted)]


TAMPERS = (
    Tamper(
        "first-rejection-replaced",
        FAMILY,
        "Replaces the first rejected draft and goes on with the drafts behind it, which followed another token.",
        "derived",
        written(_first_rejection_replaced),
        fixture="Q15a",
        caught_by=SEEN,
    ),
    Tamper(
        "rejected-draft-skipped",
        FAMILY,
        "Leaves rejected drafts out and emits all that pass their own test.",
        "A97, vllm PR #2658",
        written(_rejected_skipped),
        fixture="Q15b",
        caught_by=SEEN,
    ),
    Tamper(
        "up-to-the-last-kept",
        FAMILY,
        "Keeps everything up to the last draft that passes its own test, rejected ones before it included.",
        "A97, vllm PR #2658",
        written(_up_to_the_last_kept),
        fixture="Q15c",
        caught_by=SEEN,
    ),
    Tamper(
        "as-many-as-pass",
        FAMILY,
        "Counts all positions that pass, and keeps so many from the front: a sum where a cumulative product belongs.",
        "A97 and C20, vllm PR #2658",
        written(_as_many_as_pass),
        caught_by=SEEN,
    ),
    Tamper(
        "bonus-after-a-rejection",
        FAMILY,
        "Appends a token from the last row of the window even if a draft was rejected.",
        "derived",
        written(_bonus_after_a_rejection),
        fixture="Q16",
        caught_by=SEEN,
    ),
    Tamper(
        "rejected-draft-emitted",
        FAMILY,
        "Emits the rejected draft as well as its replacement: the count of kept tokens is one too high.",
        "derived",
        written(_rejected_emitted),
        fixture="Q17",
        caught_by=SEEN,
    ),
    Tamper(
        "one-kept-draft-too-few",
        FAMILY,
        "Takes the last kept draft back and draws from the residual of its position: the count is one too low.",
        "derived",
        written(_one_too_few),
        caught_by=SEEN,
    ),
    Tamper(
        "final-token-thrown-away",
        FAMILY,
        "Emits the kept drafts without the token that replaces the rejected one, and drafts again from there.",
        "derived",
        written(_final_thrown_away),
        caught_by=SEEN,
    ),
    Tamper(
        "all-drafts-or-none",
        FAMILY,
        "Keeps a block only if all of it passes; otherwise draws from the residual of its first position.",
        "derived",
        written(_all_or_nothing),
        caught_by=SEEN,
    ),
)
