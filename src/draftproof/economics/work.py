"""What speculation costs in operations, memory traffic and memory: it saves time, not work.

In: survival, sizes in bytes. Out: ratios and bytes. Pure.
"""

from collections.abc import Sequence

from draftproof.economics.survival import tokens_per_pass
from draftproof.models.base import Size

__all__ = ["memory", "operations", "traffic"]


def operations(survival: Sequence[float], operations_ratio: float) -> float:
    """Return the operations for a token as a multiple of plain decoding's.

    Args:
        survival: of the K drafted tokens.
        operations_ratio: of the draft for a token, to the target's for a token.

    Source: `leviathan2023` theorem 3.11: (1 - a) (K c + K + 1) / (1 - a^(K + 1)) with i.i.d. acceptance.
    """
    length = len(survival)
    return (length * operations_ratio + length + 1) / tokens_per_pass(survival)


def traffic(survival: Sequence[float], target: Size, draft: Size, context: int = 0) -> float:
    """Return the bytes read for a token as a multiple of plain decoding's, with `context` tokens in both caches.

    A pass of the target reads weights and cache once for all rows; each draft step reads those of the draft.
    """
    plain = target.weights + context * target.per_token
    step = draft.weights + context * draft.per_token
    return (plain + len(survival) * step) / (tokens_per_pass(survival) * plain)


def memory(length: int, target: Size, draft: Size, context: int) -> int:
    """Return the bytes that both models take, with `context` tokens of text and a block of `length` in the caches."""
    tokens = context + length + 1
    return target.weights + draft.weights + tokens * (target.per_token + draft.per_token)
