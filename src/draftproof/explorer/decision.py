"""One pass of the engine that is switched on, with the laws of the page at every position, told step by step.

In: a `State`. Out: what was emitted, and the steps by which the shipped rule gets there with the same random numbers.
"""

from dataclasses import dataclass
from functools import lru_cache

from draftproof.engine.passes import Pass
from draftproof.engine.stop import Stop
from draftproof.errors import UsageError
from draftproof.explorer.results import laws_of, subject_of
from draftproof.explorer.state import State
from draftproof.noise import PhiloxNoise
from draftproof.rules.catalogue import rule_named
from draftproof.witness.account import Step, account, difference
from draftproof.witness.flat import PROMPT, flat

__all__ = ["Decision", "decision_of"]


@dataclass(frozen=True)
class Decision:
    """What happened in a pass."""

    done: Pass | None
    """None if the engine broke down."""
    steps: tuple[Step, ...]
    """By the shipped rule; none for rules that take a tree."""
    difference: str | None
    """What the engine first did otherwise than the rule says."""
    broke: str = ""

    @property
    def last(self) -> int:
        """How many steps there are to show."""
        return len(self.steps)


@lru_cache(maxsize=64)
def decision_of(state: State) -> Decision:
    """Return the pass whose random numbers are those of (seed, sequence `draw`)."""
    subject, noise = subject_of(state), PhiloxNoise(state.seed, state.draw)
    p, q = laws_of(state)
    length = state.num_speculative_tokens
    try:
        engine = subject.assemble(flat(subject.rule, p, q, length, subject.branching[:length]))
        done = next(iter(engine.decode(PROMPT, Stop(length + 1), noise)))
    except Exception as error:  # noqa: BLE001  whatever an examined engine does wrong is its fault
        return Decision(None, (), None, f"{type(error).__name__}: {error}")
    try:
        steps = account(done, rule_named(subject.rule.name), noise)
    except UsageError:
        return Decision(done, (), None)
    return Decision(done, steps, difference(done, steps))
