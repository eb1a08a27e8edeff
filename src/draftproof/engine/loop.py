"""The speculative loop, whole: draft, score in one pass of the target, verify, cut, forget, repeat.

In: a prompt, stops, noise. Out: one `Pass` after another. It must never look at a target row before drafting is done,
and never hand the rule anything but the laws the tokens were drawn from. Proven in tests/laws/test_loop_law.py.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from draftproof.drafters.base import Drafter
from draftproof.engine.length import DraftLength
from draftproof.engine.proposal import Proposal, common_length
from draftproof.engine.stop import FinishReason, Stop
from draftproof.errors import UsageError
from draftproof.models.base import Model
from draftproof.noise import PassNoise
from draftproof.records import PassRecord
from draftproof.rules.base import Rule, Verdict
from draftproof.types import Draws, Noise, Probs, Tokens, Tree
from draftproof.warpers.pipeline import Pipeline

__all__ = ["Engine", "Pass"]


@dataclass(frozen=True)
class Pass:
    """One forward of the target: what was drafted, what both models said, what was decided, what was emitted."""

    start: int
    """Length of prompt and output before this pass."""
    proposal: Proposal
    target: Probs
    """(N + 1, V) laws of the target, rows as in `Tree`."""
    path: tuple[int, ...]
    """The drafted nodes that the rule keeps, before the text is cut at a stop; for a chain 0, 1, 2, .."""
    emitted: tuple[int, ...]
    logprobs: tuple[float, ...]
    """Natural logarithm of each emitted token's probability under the target's law."""
    finish_reason: FinishReason | None
    expected_accepted: float | None
    """The rule's unbiased estimate of len(path)."""

    @property
    def drafted(self) -> tuple[int, ...]:
        """The drafted tokens."""
        return self.proposal.tree.tokens

    @property
    def draft(self) -> Probs:
        """The laws the drafted tokens were drawn from: for a chain (K, V)."""
        return self.target[:0] if self.proposal.laws is None else self.proposal.laws

    @property
    def bonus(self) -> bool:
        """Whether the rule kept a branch to its end, so that its last token is one more and replaces none."""
        return (self.path[-1] if self.path else -1) not in self.proposal.tree.parents

    def record(self) -> PassRecord:
        """Return the pass in numbers, without its laws."""
        depth = None if self.proposal.is_chain else self.proposal.depth
        decided = len(self.path), self.emitted, self.bonus, self.expected_accepted
        return PassRecord(self.start, self.drafted, *decided, depth)


@dataclass(frozen=True)
class Engine:
    """A target, a drafter, a rule, the target's warpers and a draft length: a value, so a variant is a `replace`.

    Args:
        branching: how many tokens are drafted after each node, from the text on; 1 where it says nothing. Only a rule
            that takes a tree may be given more than one.
    """

    target: Model
    drafter: Drafter
    rule: Rule
    pipeline: Pipeline
    length: DraftLength
    branching: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if any(width < 1 for width in self.branching):
            raise UsageError(f"got {self.branching}; allowed are whole numbers from 1 up", "tree")
        if any(width > 1 for width in self.branching) and not self.rule.branches:
            raise UsageError(f"the rule {self.rule.name} takes one draft after another; choose a tree rule", "tree")

    def decode(self, prompt: Sequence[int], stop: Stop, noise: Noise) -> Iterator[Pass]:
        """Yield passes until the text stops; the concatenation of their `emitted` is the output.

        After every pass the target's cache holds exactly the text without its last token, the drafter's that or less.
        Random numbers consumed: those of the rule, addressed by the length of the text at the start of each pass.
        """
        target, drafter = self.target.fresh(), self.drafter.fresh()
        tokens, accepted, drafted = list(prompt), 0, 0
        while (room := stop.room(len(prompt), len(tokens))) > 0:
            start, draws = len(tokens), PassNoise(noise, len(tokens))
            length = min(self.length(start - len(prompt), accepted, drafted), room - 1)
            proposal = self.propose(drafter, tokens, length, draws)
            laws = self.score(target, tokens, proposal)
            verdict = self.verify(laws, proposal, draws)
            path = _path(verdict)
            emitted, reason = stop.cut(self.emitted(proposal, verdict), room)
            tokens += emitted
            accepted, drafted = accepted + len(path), drafted + len(proposal.tree.tokens)
            self.forget(target, drafter, start, path[: len(emitted) - 1], proposal, tokens)
            expected = self._expected(laws, proposal, len(path))
            yield Pass(start, proposal, laws, path, tuple(emitted), _logprobs(laws, path, emitted), reason, expected)
            if reason:
                return

    def propose(self, drafter: Drafter, tokens: Sequence[int], length: int, draws: Draws) -> Proposal:
        """Draft up to `length` tokens in a row, or a tree of that depth."""
        widths = [*self.branching[:length], *[1] * (length - len(self.branching))]
        return Proposal.draw(drafter, tokens, widths, self.rule, draws)

    def score(self, target: Model, tokens: Sequence[int], proposal: Proposal) -> Probs:
        """Return the target's laws (N + 1, V) after the text and after each drafted token, from one pass."""
        tree = proposal.tree
        unread = [*tokens[target.length :], *tree.tokens]
        rows = target.extend(unread, len(tree.tokens) + 1, None if proposal.is_chain else tree.parents)
        texts = proposal.prefixes(tokens) if self.pipeline.reads_text else None
        return self.pipeline.laws(rows, target.row_kind, texts)

    def verify(self, laws: Probs, proposal: Proposal, draws: Draws) -> Verdict:
        """Return what the rule makes of the proposal."""
        draft = laws[:0] if proposal.laws is None else proposal.laws
        return self.rule.verify(laws, draft, self._drafted(proposal), draws)

    def emitted(self, proposal: Proposal, verdict: Verdict) -> list[int]:
        """Return the tokens that a verdict amounts to."""
        return [*(proposal.tree.tokens[node] for node in _path(verdict)), int(verdict.token)]

    def forget(
        self, target: Model, drafter: Drafter, start: int, path: Sequence[int], proposal: Proposal, tokens: Tokens
    ) -> None:
        """Leave in the caches the text up to `start` and the drafted nodes on `path`."""
        target.keep(start, path)
        drafter.rewind(min(common_length(proposal.context, tokens), len(tokens) - 1))

    def _drafted(self, proposal: Proposal) -> Tree | Probs:
        return proposal.tree if self.rule.branches else proposal.chain

    def _expected(self, laws: Probs, proposal: Proposal, accepted: int) -> float | None:
        if proposal.laws is None:
            return 0.0
        return self.rule.expected_accepted(laws, proposal.laws, self._drafted(proposal), accepted)


def _path(verdict: Verdict) -> tuple[int, ...]:
    return tuple(range(int(verdict.accepted))) if verdict.path is None else verdict.path


def _logprobs(laws: Probs, path: tuple[int, ...], emitted: Sequence[int]) -> tuple[float, ...]:
    rows = (0, *(node + 1 for node in path))
    chances = (laws[row, token] for row, token in zip(rows, emitted, strict=False))
    return tuple(math.log(chance) if chance > 0 else -math.inf for chance in chances)
