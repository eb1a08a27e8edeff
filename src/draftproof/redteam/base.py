"""What a tamper is: an engine with one part replaced, its story, and the witnesses that must see it.

In: an honest engine. Out: the same with one part replaced. A tamper is a value: it patches nothing, and the part that
it replaces is real code that runs.
"""

from collections.abc import Callable
from dataclasses import dataclass

from draftproof.engine.loop import Engine
from draftproof.rules.base import Rule
from draftproof.rules.token import TokenRule
from draftproof.witness.base import Decoder, Subject

__all__ = ["Tamper"]


@dataclass(frozen=True)
class Tamper:
    """One way to break an engine, or (harmless) one that only looks like it.

    Args:
        name: what a user types, words with hyphens.
        family: which part of the engine it is in.
        story: one sentence: what is done, and why it looks reasonable.
        seen_in: where such a thing was seen in public, or why it is here.
        apply: from an honest engine to the tampered one.
        rule: the rule that it pretends to be.
        branching: see `Engine`; for tampers of tree rules.
        harmless: True for a control, which no witness may call LOSSY.
        fixture: the id of the exact answer in the fixtures, where there is one.
        caught_by: names of the witnesses that must see it.
    """

    name: str
    family: str
    story: str
    seen_in: str
    apply: Callable[[Engine], Decoder]
    rule: Rule = TokenRule()
    branching: tuple[int, ...] = ()
    harmless: bool = False
    fixture: str | None = None
    caught_by: tuple[str, ...] = ()

    @property
    def subject(self) -> Subject:
        """What the witnesses get to see: an engine, and nothing of the story."""
        return Subject(self.name, self.rule, self.branching, self.apply)
