"""Rows that are off by one: a token is tested against, or drawn from, the row of another position.

In: the laws of a pass. Out: tokens of the wrong row. It must never change how the number of kept drafts is counted.
"""

import numpy as np

from draftproof.redteam.base import Tamper
from draftproof.redteam.rewritten import Block, Written, written
from draftproof.rules.base import surplus

__all__ = ["TAMPERS"]

FAMILY = "positions"
SEEN = ("sequence",)


def _full(block: Block, accepted: int) -> bool:
    return 0 < len(block.tokens) == accepted


def _bonus_of_the_draft(block: Block) -> Written:
    accepted = block.accepted()
    law = block.next_draft_law() if _full(block, accepted) else None
    return accepted, [block.final(accepted) if law is None else block.drawn(law)]


def _bonus_of_the_row_before(block: Block) -> Written:
    accepted = block.accepted()
    return accepted, [block.drawn(block.laws[accepted - 1]) if _full(block, accepted) else block.final(accepted)]


def _residual_of_the_next_row(block: Block) -> Written:
    accepted = block.accepted()
    if accepted == len(block.tokens) or block.proposal.laws is None:
        return accepted, [block.final(accepted)]
    p, last = block.laws[accepted + 1], accepted + 1 == len(block.tokens)
    q = block.next_draft_law() if last else block.proposal.laws[accepted + 1]
    return accepted, [block.drawn(p if q is None else surplus(p, q))]


def _residual_of_the_first_row(block: Block) -> Written:
    accepted = block.accepted()
    return accepted, [block.final(accepted if accepted == len(block.tokens) else 0)]


def _test_of_the_token_before(block: Block) -> Written:
    if not block.tokens:
        return 0, [block.final(0)]
    first = block.laws[:1]
    if before := block.text[:-1]:
        target, pipeline = block.engine.target.fresh(), block.engine.pipeline
        first = pipeline.laws(target.extend(before, 1), target.row_kind, [before])
    late = block.tested_against(np.concatenate([first, block.laws[:-2], block.laws[-1:]]))
    return late.accepted(), [late.final(late.accepted())]


def _test_of_the_next_row(block: Block) -> Written:
    accepted = block.tested_against(np.concatenate([block.laws[1:], block.laws[-1:]])).accepted()
    return accepted, [block.final(accepted)]


def _residual_of_the_target(block: Block) -> Written:
    accepted = block.accepted()
    return accepted, [block.drawn(block.laws[accepted])]


TAMPERS = (
    Tamper(
        "bonus-of-the-draft",
        FAMILY,
        "Draws the token after a fully kept block from the draft's law, which is at hand.",
        "derived",
        written(_bonus_of_the_draft),
        fixture="Q08",
        caught_by=SEEN,
    ),
    Tamper(
        "bonus-of-the-row-before",
        FAMILY,
        "Draws the token after a fully kept block from the last row that tested a draft.",
        "derived; A04, transformers PR #28166, is an index of this kind",
        written(_bonus_of_the_row_before),
        fixture="Q09",
        caught_by=SEEN,
    ),
    Tamper(
        "residual-of-the-next-row",
        FAMILY,
        "Takes the residual from the laws of the position after the rejected draft.",
        "derived; A04, transformers PR #28166, is an index of this kind",
        written(_residual_of_the_next_row),
        fixture="Q09b",
        caught_by=SEEN,
    ),
    Tamper(
        "window-a-row-early",
        FAMILY,
        "Tests every draft against the row of the token before it; only the bonus has its own.",
        "derived; A04, transformers PR #28166, is an index of this kind",
        written(_test_of_the_token_before),
        fixture="Q09c",
        caught_by=SEEN,
    ),
    Tamper(
        "test-against-the-next-row",
        FAMILY,
        "Tests every draft against the row that follows it, and draws the residual from its own.",
        "A04, transformers PR #28166",
        written(_test_of_the_next_row),
        caught_by=SEEN,
    ),
    Tamper(
        "residual-of-the-first-row",
        FAMILY,
        "Takes every residual from the first position of the block, where the index was left.",
        "derived",
        written(_residual_of_the_first_row),
        caught_by=SEEN,
    ),
    Tamper(
        "no-residual-in-a-block",
        FAMILY,
        "Draws from the target's row after every rejection, as after a fully kept block.",
        "derived",
        written(_residual_of_the_target),
        fixture="Q17b",
        caught_by=("exact", "sequence"),
    ),
)
