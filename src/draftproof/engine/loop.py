"""The speculative loop, whole: draft, score in one pass of the target, verify, cut, forget, repeat.

In: a prompt, stops, noise. Out: one `Pass` after another. It must never look at a target row before drafting is done,
and never hand the rule anything but the laws the tokens were drawn from. Proven in tests/laws/test_loop_law.py.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from draftproof.arrays import array_namespace, is_numpy_array
from draftproof.drafters.base import Drafter
from draftproof.engine.devices import draws_beside, refuse_without_doubles
from draftproof.engine.guarded import Guarded
from draftproof.engine.length import DraftLength
from draftproof.engine.passes import Pass
from draftproof.engine.proposal import Proposal, common_length
from draftproof.engine.session import Session
from draftproof.engine.stop import Stop
from draftproof.errors import ContractError, UsageError
from draftproof.models.base import Model
from draftproof.noise import PassNoise
from draftproof.rules.base import Rule, Verdict
from draftproof.rules.support import expected_accepted, verify
from draftproof.types import Array, Draws, Noise, Probs, Text, Tokens, Tree
from draftproof.warpers.pipeline import Pipeline

__all__ = ["Engine"]


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

    def decode(self, prompt: Tokens, stop: Stop, noise: Noise) -> Iterator[Pass]:
        """Yield passes until the text stops; the concatenation of their `emitted` is the output.

        After every pass the target's cache holds exactly the text without its last token, the drafter's that or less.
        Random numbers consumed: those of the rule, addressed by the length of the text at the start of each pass.
        """
        return self.go_on(self.start(prompt), stop, noise)

    def start(self, prompt: Tokens) -> Session:
        """Return a text that consists of its prompt, of which nothing is read yet."""
        text, drafter = Text(prompt, len(prompt)), Guarded(self.drafter.fresh(), self.target.vocab_size)
        return Session(text, self.target.fresh(), drafter, self.length.begin())

    def go_on(self, session: Session, stop: Stop, noise: Noise) -> Iterator[Pass]:
        """Yield passes that go on with the text of `session`, whether it was just begun, left or interrupted."""
        session.settle()
        text, target, drafter, lengths = session.text, session.target, session.drafter, session.lengths
        prompt_length = text.prompt_length
        ending = stop.begin(text[prompt_length:])
        while (room := stop.room(prompt_length, len(text))) > 0:
            start, draws = len(text), PassNoise(noise, len(text))
            length = min(lengths.next(start - prompt_length), room - 1)
            proposal = self.propose(drafter, text, length, draws)
            rows = self.read(target, text, proposal)
            laws = self.score(rows, text, proposal)
            proposal = proposal.beside(laws)
            verdict = self.verify(laws, proposal, draws)
            path = _path(verdict)
            emitted, reason = ending.cut(self.emitted(proposal, verdict), room)
            done = Pass(
                start, proposal, laws, path, tuple(emitted), _logprobs(laws, path, emitted), reason,
                self._expected(laws, proposal, len(path)), rows, drafter.take_fault(), lengths.why, ending.found,
            )  # fmt: skip
            lengths.learn(proposal.depth, len(path))
            kept = path[: len(emitted) - 1]
            self.forget(target, drafter, start, kept, proposal, emitted)
            text += emitted
            session.settled = start + len(kept)
            yield done
            if reason:
                return

    def propose(self, drafter: Drafter, tokens: Sequence[int], length: int, draws: Draws) -> Proposal:
        """Draft up to `length` tokens in a row, or a tree of that depth."""
        widths = [*self.branching[:length], *[1] * (length - len(self.branching))]
        return Proposal.draw(drafter, tokens, widths, self.rule, draws)

    def read(self, target: Model, tokens: Tokens, proposal: Proposal) -> Array:
        """Return the target's rows (N + 1, V) after the text and after each drafted token, from one pass."""
        tree = proposal.tree
        unread = [*tokens[target.length :], *tree.tokens]
        return target.extend(unread, len(tree.tokens) + 1, None if proposal.is_chain else tree.parents)

    def score(self, rows: Array, tokens: Tokens, proposal: Proposal) -> Probs:
        """Return the laws (N + 1, V) that the warpers make of the rows."""
        refuse_without_doubles(rows)
        texts = proposal.prefixes(tokens) if self.pipeline.reads_text else None
        return self.pipeline.laws(rows, self.target.row_kind, texts)

    def verify(self, laws: Probs, proposal: Proposal, draws: Draws) -> Verdict:
        """Return what the rule makes of the proposal."""
        return verify(self.rule, laws, proposal.draft, self._drafted(proposal), draws_beside(draws, laws))

    def emitted(self, proposal: Proposal, verdict: Verdict) -> list[int]:
        """Return the tokens that a verdict amounts to."""
        return [*(proposal.tree.tokens[node] for node in _path(verdict)), int(verdict.token)]

    def forget(
        self, target: Model, drafter: Drafter, start: int, path: Sequence[int], proposal: Proposal, emitted: Tokens
    ) -> None:
        """Leave in the caches the text up to `start` and the drafted nodes on `path`.

        Raises:
            ContractError: if the target says that it holds anything else: a cache that cannot forget would go on with
                rejected drafts.
        """
        target.keep(start, path)
        if target.length != start + len(path):
            raise ContractError(f"a model holds {target.length} tokens after it had to keep {start + len(path)}")
        shared = common_length(proposal.read, emitted)
        drafter.rewind(start + min(shared, len(emitted) - 1))

    def _drafted(self, proposal: Proposal) -> Tree | Probs:
        return proposal.tree if self.rule.branches else proposal.chain

    def _expected(self, laws: Probs, proposal: Proposal, accepted: int) -> float | None:
        if not proposal.tree.tokens:
            return 0.0
        return expected_accepted(self.rule, laws, proposal.draft, self._drafted(proposal), accepted)


def _path(verdict: Verdict) -> tuple[int, ...]:
    return tuple(range(int(verdict.accepted))) if verdict.path is None else verdict.path


def _logprobs(laws: Probs, path: tuple[int, ...], emitted: Sequence[int]) -> tuple[float, ...]:
    rows = (0, *(node + 1 for node in path))
    chances = [laws[row, token] for row, token in zip(rows, emitted, strict=False)]
    if not is_numpy_array(laws):
        chances = array_namespace(laws).stack(chances).tolist()  # one wait for the device, not one a token
    return tuple(math.log(chance) if chance > 0 else -math.inf for chance in chances)
