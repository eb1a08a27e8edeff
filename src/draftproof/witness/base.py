"""What every witness promises, and what it examines: an engine, assembled from honest parts that the witness chose.

In: a `Subject`. Out: findings. A witness never learns what was done to the engine; it sees what the engine does.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from draftproof.engine.loop import Engine
from draftproof.engine.passes import Pass
from draftproof.engine.stop import Stop
from draftproof.records import Conclusion, Finding
from draftproof.rules.base import Rule
from draftproof.types import Noise

__all__ = ["Decoder", "Subject", "Witness", "as_shipped", "guarded"]


class Decoder(Protocol):
    """Anything that generates like `Engine`."""

    def decode(self, prompt: Sequence[int], stop: Stop, noise: Noise) -> Iterator[Pass]:
        """See `Engine.decode`."""
        ...


def as_shipped(engine: Engine) -> Decoder:
    """Return the engine as it is."""
    return engine


@dataclass(frozen=True)
class Subject:
    """What is examined.

    Args:
        name: for people.
        rule: the rule whose promise is examined.
        branching: see `Engine`; for tree rules.
        assemble: from an engine of honest parts, models and drafter by the witness, to the engine under examination.
    """

    name: str
    rule: Rule
    branching: tuple[int, ...] = ()
    assemble: Callable[[Engine], Decoder] = as_shipped


class Witness(Protocol):
    """Examines one side of losslessness."""

    @property
    def name(self) -> str:
        """What a user reads in the first column."""
        ...

    def examine(self, subject: Subject) -> Iterator[Finding]:
        """Yield findings, the quickest to reach first; none if this witness cannot say anything about the subject."""
        ...


def guarded(witness: Witness, subject: Subject) -> Iterator[Finding]:
    """Yield what `witness` finds; an engine that breaks down is a finding too: it does not emit the target's law."""
    try:
        yield from witness.examine(subject)
    except Exception as error:  # noqa: BLE001  whatever an examined engine does wrong is its fault, not the witness'
        reason = f"broke down: {type(error).__name__}: {error}"
        yield Finding(witness.name, subject.name, Conclusion.LOSSY, None, reason)
