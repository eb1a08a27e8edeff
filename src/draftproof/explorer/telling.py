"""One act of a pass in words: the random number, what it is compared with, what came of it. In: a step. Out: HTML.

It computes no law and no bound: those are the step's. Names of tokens are foreign words and get escaped here.
"""

from collections.abc import Callable, Sequence
from html import escape

import numpy as np

from draftproof.explorer.tables import number, term
from draftproof.types import Probs
from draftproof.witness.account import Step

__all__ = ["told", "told_all"]


def told_all(
    steps: Sequence[Step], target: Sequence[Probs], draft: Sequence[Probs], name_of: Callable[[int], str]
) -> str:
    """Return a list of all steps of a pass whose rows are `target` (K + 1, V) and `draft` (K, V)."""
    rows = [
        told(step, target[step.depth], draft[step.depth] if step.depth < len(draft) else None, name_of)
        for step in steps
    ]
    items = "".join(
        f'<li data-step="{i}" data-act="{step.act}">{row}</li>' for i, (step, row) in _numbered(steps, rows)
    )
    return f'<ol class="account">{items}</ol>'


def told(step: Step, target: Probs | None, draft: Probs | None, name_of: Callable[[int], str]) -> str:
    """Return a step as a sentence.

    Args:
        step: of an account.
        target: (V,) the target's law p at the step's depth; None to leave its number out.
        draft: (V,) the draft's law q there; None where nothing was drafted.
        name_of: from a token to its name, as plain text.
    """
    name = f"<b class='token'>{escape(name_of(step.token))}</b>"
    if step.act == "test":
        return _test(step, target, draft, name)
    return f"{_HEADS[step.act].format(depth=step.depth)} {name} {_drawn(step)}{_match(step)}"


_HEADS = {
    "draft": "<i>draft {depth}</i> from <span class='q'>q</span>:",
    "residual": "<i>residual</i>, after the rejection of draft {depth}:",
    "bonus": "<i>bonus</i>, from <span class='p'>p</span> after all {depth} drafted tokens:",
    "own": "<i>the target's own draw</i> {depth}, from <span class='p'>p</span>:",
}


def _test(step: Step, target: Probs | None, draft: Probs | None, name: str) -> str:
    laws = [
        f"{side} = {term(side, float(law[step.token]))}"
        for side, law in (("p", target), ("q", draft))
        if law is not None
    ]
    given = f" ({', '.join(laws)})" if laws else ""
    sign = "&lt;" if step.passed else "≥"
    came = "<b class='good'>✓ passes</b>" if step.passed else "<b class='bad'>✗ fails</b>"
    uniform, bound = float(step.uniform or 0), float(step.bound or 0)
    return f"<i>test {step.depth}</i> of {name}{given}: u = {term('u', uniform)} {sign} {term('bound', bound)}: {came}"


def _drawn(step: Step) -> str:
    if step.law is None:
        return ""
    chance = f"of probability {term('chance', float(step.law[step.token]))}"
    if step.uniform is not None:
        low, high = _share(step.law, step.token)
        where = f"in its share, {number(low)} to {number(high)}"
        return f"{chance}, since u = {term('u', step.uniform)} lies {where}"
    if step.exponentials is not None:
        noise = float(step.exponentials[step.token])
        return f"{chance}, whose noise is E = {term('noise', noise)}: of all tokens it has the largest probability / E"
    return chance


def _match(step: Step) -> str:
    if step.passed is None:
        return ""
    same, other = "<b class='good'>✓ the drafted one</b>", "<b class='bad'>✗ not the drafted one</b>"
    return f": {same if step.passed else other}"


def _share(law: Probs, token: int) -> tuple[float, float]:
    """Return where the token begins and ends when the law is laid out from 0 to 1."""
    ends = np.cumsum(law)
    return float(ends[token - 1]) if token else 0.0, float(ends[token])


def _numbered(steps: Sequence[Step], rows: Sequence[str]) -> list[tuple[int, tuple[Step, str]]]:
    return list(enumerate(zip(steps, rows, strict=True)))
