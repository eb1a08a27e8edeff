"""Stop strings: looked for in too little, in too much, or with too much of the block let out.

In: an honest engine. Out: the same, handed another idea of a stop. It must never touch a law.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from draftproof.engine.loop import Engine, Pass
from draftproof.engine.stop import Ending, FinishReason, Stop
from draftproof.redteam.base import Tamper
from draftproof.redteam.handed import stopped
from draftproof.types import Noise
from draftproof.witness.base import Decoder

__all__ = ["TAMPERS"]

FAMILY = "stop strings"
Cut = tuple[list[int], FinishReason | None]


class _OneBlock(Ending):
    """Forgets at each pass what was written before."""

    def cut(self, block: Sequence[int], room: int) -> Cut:
        """See `Ending.cut`."""
        self.tail = ""
        return super().cut(block, room)


class _OneToken(Ending):
    """Looks at each token alone."""

    def sees_end(self, token: int) -> bool:
        """See `Ending.sees_end`."""
        self.tail = ""
        return super().sees_end(token)


class _WholeBlock(Ending):
    """Cuts what is shown at the string, and lets the ids of the block out to their end."""

    def cut(self, block: Sequence[int], room: int) -> Cut:
        """See `Ending.cut`."""
        kept, reason = super().cut(block, room)
        return (list(block[:room]) if reason == "stop" else kept), reason


class _AWhile(Ending):
    """Remembers everything, and ends a long enough text for a string that was complete before."""

    early = False

    def sees_end(self, token: int) -> bool:
        """See `Ending.sees_end`."""
        asked, self.stop = self.stop, replace(self.stop, min_tokens=0)
        self.early = super().sees_end(token) or self.early
        self.stop = asked
        return self.early and self.emitted >= asked.min_tokens


def _watched(kind: type[Ending]) -> Callable[[Engine], Decoder]:
    """Return what hands an engine a stop whose texts are watched in another way."""

    class Watched(Stop):
        """See `Stop`."""

        def begin(self, emitted: Sequence[int] = ()) -> Ending:
            """See `Stop.begin`."""
            return kind(**vars(super().begin(emitted)))

    return stopped(lambda stop: Watched(**vars(stop)))


@dataclass(frozen=True)
class _FromThePrompt:
    """An engine that looks for stop strings in the prompt too."""

    engine: Engine

    def decode(self, prompt: Sequence[int], stop: Stop, noise: Noise) -> Iterator[Pass]:
        """See `Engine.decode`."""

        class Watched(Stop):
            """See `Stop`."""

            def begin(self, emitted: Sequence[int] = ()) -> Ending:
                """See `Stop.begin`."""
                return replace(super().begin([*prompt, *emitted]), emitted=len(emitted))

        return self.engine.decode(prompt, Watched(**vars(stop)), noise)


def _tamper(name: str, story: str, seen_in: str, apply: Callable[[Engine], Decoder]) -> Tamper:
    return Tamper(name, FAMILY, story, seen_in, apply, caught_by=("sequence",))


TAMPERS = (
    _tamper(
        "string-inside-one-block-only",
        "Looks for a stop string in what a pass emits, and misses one that began in the pass before.",
        "derived; A105, vllm PR #47616",
        _watched(_OneBlock),
    ),
    _tamper(
        "string-inside-one-token-only",
        "Looks for a stop string in each token by itself.",
        "A100, openvino.genai PR #1951",
        _watched(_OneToken),
    ),
    _tamper(
        "ids-past-the-stop-string",
        "Cuts the text that is shown at the stop string; ids and log-probabilities go on to the end of the block.",
        "A105, vllm PR #47616",
        _watched(_WholeBlock),
    ),
    _tamper(
        "string-begun-in-the-prompt",
        "Takes a stop string for one that began in the prompt.",
        "derived",
        _FromThePrompt,
    ),
    _tamper(
        "strings-never-seen",
        "Compares ids with stop tokens and forgets the strings.",
        "A100, openvino.genai PR #1951",
        stopped(lambda stop: replace(stop, strings=())),
    ),
    _tamper(
        "strings-before-the-least-length",
        "Lets a stop string end a text that is shorter than was asked for.",
        "A40, vllm #41758, in the mask; for strings derived",
        stopped(lambda stop: replace(stop, min_tokens=0)),
    ),
    _tamper(
        "string-remembered-until-the-least-length",
        "Ends the text at the least length for a string that was complete before.",
        "derived",
        _watched(_AWhile),
    ),
)
