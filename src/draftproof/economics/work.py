"""What speculation costs in operations, memory traffic and memory: it saves time, not work.

In: draft length, tokens per pass, sizes in bytes. Out: ratios and bytes. Pure.
"""

from typing import NamedTuple

from draftproof.drafters.base import Drafter
from draftproof.drafters.chain import ChainDrafter
from draftproof.drafters.model import ModelDrafter
from draftproof.drafters.vocabulary import TranslatedDrafter
from draftproof.economics.costs import usual_context
from draftproof.economics.samples import Samples
from draftproof.models.base import Size
from draftproof.records import Candidate, Measurement

__all__ = ["Work", "memory", "operations", "size_of", "traffic", "work_of"]


class Work(NamedTuple):
    """What a candidate takes beside time.

    Args:
        operations: for a token, as a multiple of plain decoding's.
        traffic: bytes read for a token, as a multiple of plain decoding's.
        memory: bytes of both models and their caches.
        memory_plain: of the target alone.
    """

    operations: float
    traffic: float
    memory: float
    memory_plain: float


def size_of(drafter: Drafter) -> Size:
    """Return what a drafter reads for each token: of a model its weights, of layers theirs, of a text nothing.

    Of a chain it is what all its members read, as if each was asked.
    """
    match drafter:
        case ModelDrafter():
            return drafter.model.size
        case TranslatedDrafter():
            return size_of(drafter.drafter)
        case ChainDrafter():
            sizes = [size_of(member) for member in drafter.members]
            return Size(sum(size.weights for size in sizes), sum(size.per_token for size in sizes))
        case _:
            return Size(0)


def work_of(candidate: Candidate, measurement: Measurement, samples: Samples) -> Work:
    """Return the work of a measured candidate. A weight is taken to cost an operation for each token."""
    sizes: dict[str, list[int]] = measurement.subject["sizes"]
    target, draft = Size(*sizes[measurement.subject["target"]]), Size(*sizes[candidate.drafter])
    length, tokens = candidate.num_speculative_tokens, candidate.tokens_per_pass
    context = usual_context(samples, list(samples.texts))
    held = Size(0, draft.per_token) if candidate.drafter.startswith("early_exit:") else draft  # its layers are there
    return Work(
        operations(length, tokens, draft.weights / target.weights),
        traffic(length, tokens, target, draft, context),
        memory(length, target, held, context),
        memory(0, target, Size(0), context),
    )


def operations(length: int, tokens_per_pass: float, operations_ratio: float) -> float:
    """Return the operations for a token as a multiple of plain decoding's.

    Args:
        length: K, drafted tokens.
        tokens_per_pass: emitted tokens, 1 or more.
        operations_ratio: of the draft for a token, to the target's for a token.

    Source: `leviathan2023` theorem 3.11: (1 - a) (K c + K + 1) / (1 - a^(K + 1)) with i.i.d. acceptance.
    """
    return (length * operations_ratio + length + 1) / tokens_per_pass


def traffic(length: int, tokens_per_pass: float, target: Size, draft: Size, context: float = 0) -> float:
    """Return the bytes read for a token as a multiple of plain decoding's, with `context` tokens in both caches.

    A pass of the target reads weights and cache once for all rows; each draft step reads those of the draft.
    """
    plain = target.weights + context * target.per_token
    step = draft.weights + context * draft.per_token
    return (plain + length * step) / (tokens_per_pass * plain)


def memory(length: int, target: Size, draft: Size, context: float) -> float:
    """Return the bytes that both models take, with `context` tokens of text and a block of `length` in the caches."""
    tokens = context + length + 1
    return target.weights + draft.weights + tokens * (target.per_token + draft.per_token)
