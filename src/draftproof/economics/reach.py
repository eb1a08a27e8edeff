"""How many tokens in a row a drafter proposes from each place of a text. In: a drafter, a text. Out: numbers.

A drafter that looks texts up is silent at many places, and a pass costs what it drafted: the row of each token is read,
kept or not. The text alone does not tell how many these are, since a drafter follows its own proposals past their first
error; so they are made here once more.
"""

from collections.abc import Sequence

from draftproof.drafters.base import Drafter
from draftproof.economics.pair import LONGEST
from draftproof.types import Probs, Text, TokenId

__all__ = ["certain", "reaches"]


def certain(law: Probs) -> TokenId | None:
    """Return the token that a law (V,) is sure of, None if it leaves a choice."""
    token = int(law.argmax())
    return token if law[token] == law.sum() else None


def reaches(drafter: Drafter, prefixes: Sequence[Text], along: Sequence[tuple[bool, bool]]) -> list[int]:
    """Return for each prefix of a text how many tokens in a row are proposed after it, `LONGEST` at most.

    A drafter that was never silent along the text is taken to be never silent. Where proposals are certain they are
    followed; where they are drawn, the drafter is asked what it said along the text instead.

    Args:
        drafter: it may have read the text.
        prefixes: of the text, each one token longer than the one before.
        along: for each of them whether the drafter proposes a law, and whether that is certain.
    """
    silent = [i for i, (proposed, _) in enumerate(along) if not proposed]
    if not silent:
        return [LONGEST] * len(along)
    found: list[int] = []
    for i, (prefix, (proposed, sure)) in enumerate(zip(prefixes, along, strict=True)):
        if proposed and sure:
            found.append(_followed(drafter, prefix))
        else:
            found.append(min(LONGEST, next((at for at in silent if at >= i), i + LONGEST) - i))
    return found


def _followed(drafter: Drafter, prefix: Text) -> int:
    """Return how many tokens are proposed after `prefix`; once they are drawn, as many as are asked for."""
    text, start = Text(prefix, prefix.prompt_length), len(prefix)
    drafter.rewind(start)
    try:
        while len(text) - start < LONGEST:
            law = drafter.law(text)
            if law is None:
                break
            token = certain(law)
            if token is None:
                return LONGEST
            text.append(token)
        return len(text) - start
    finally:
        drafter.rewind(start)
