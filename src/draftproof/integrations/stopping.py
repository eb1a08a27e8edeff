"""The stopping criteria of a transformers call as a draftproof `Stop`: asked after every token, in order, once.

In: a `StoppingCriteriaList`, a prompt. Out: a `Stop`. Tokens behind the first at which a criterion says stop are never
seen by anybody. Drafts are shown to no criterion.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import torch
from torch import Tensor
from transformers import EosTokenCriteria, MaxLengthCriteria, StoppingCriteria, StoppingCriteriaList

from draftproof.engine.stop import Ending, Stop
from draftproof.errors import UsageError
from draftproof.integrations.prompts import Prompt

__all__ = ["CriteriaStop", "stop_of"]


@dataclass(frozen=True)
class CriteriaStop(Stop):
    """A stop that also asks `criteria`.

    Args:
        criteria: each gets the ids so far as a batch of one, and no scores.
        before: (1, T) the row that is gone on with, padding included.
    """

    criteria: tuple[StoppingCriteria, ...] = ()
    before: Tensor = field(default_factory=lambda: torch.empty((1, 0), dtype=torch.long))

    def begin(self, emitted: Sequence[int] = ()) -> Ending:
        """See `Stop.begin`."""
        ending = _CriteriaEnding(self, None, ids=self.before)
        for token in emitted:
            ending.sees_end(token)
        return ending


@dataclass
class _CriteriaEnding(Ending):
    """See `Ending`: asks the criteria instead of looking for strings."""

    ids: Tensor = field(default_factory=lambda: torch.empty((1, 0), dtype=torch.long))

    def sees_end(self, token: int) -> bool:
        """Take in the next token, and return whether a criterion says stop."""
        assert isinstance(self.stop, CriteriaStop)  # noqa: S101 (it begins no other)
        if not self.stop.criteria:
            return False
        self.ids = torch.cat([self.ids, self.ids.new_tensor([[token]])], dim=-1)
        ids = cast("torch.LongTensor", self.ids)
        said = [criterion(ids, None) for criterion in self.stop.criteria]
        return any(bool(torch.as_tensor(answer).all()) for answer in said)


def stop_of(criteria: StoppingCriteriaList, prompt: Prompt, row: Tensor, context_limit: int) -> CriteriaStop:
    """Return where a text ends.

    Args:
        criteria: of the call.
        prompt: what is gone on with.
        row: (T,) its row.
        context_limit: of the target.

    Raises:
        UsageError: if the context is too short for the longest text that is asked for.
    """
    ends, lengths, others = set[int](), list[int](), list[StoppingCriteria]()
    for criterion in criteria:
        if type(criterion) is EosTokenCriteria:
            ends |= set(criterion.eos_token_id.tolist())
        elif type(criterion) is MaxLengthCriteria:
            lengths.append(criterion.max_length)
        else:
            others.append(criterion)
    most = max(1, min(lengths) - len(row)) if lengths else context_limit - len(prompt.ids)
    if len(prompt.ids) + most > context_limit:
        raise UsageError(
            f"got {most} after {len(prompt.ids)} tokens of prompt; the model's context holds {context_limit}",
            "max_new_tokens",
        )
    return CriteriaStop(most, context_limit, frozenset(ends), criteria=tuple(others), before=row[None])
