"""Controls that remember: a least length and a grammar whose state is that of another text.

In: an honest engine. Out: the same, one of whose steps reads another text. It must never touch the draft.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from draftproof.engine.loop import Engine, Pass
from draftproof.engine.stop import Stop
from draftproof.errors import ContractError
from draftproof.redteam.base import Tamper
from draftproof.redteam.stepped import Reading, Retext, as_output, frozen, grammar_changed, reading, stepped
from draftproof.types import Noise, Text
from draftproof.warpers.base import output_of
from draftproof.warpers.masks import MinTokens
from draftproof.witness.base import Decoder

__all__ = ["TAMPERS"]

FAMILY = "states"


def _refusing_ended(ends: frozenset[int]) -> Retext:
    def retext(texts: list[Text]) -> list[Text]:
        if any(set(output_of(text)) & ends for text in texts):
            raise ContractError("the matcher was asked for a mask after its end")
        return texts

    return retext


@dataclass(frozen=True)
class _Told:
    """An engine whose texts are retold by what came out of the passes before.

    Args:
        engine: an honest one.
        change: (engine, retext) -> the engine that reads the texts so.
        moved: (state, pass) -> the output as it is remembered after the pass.
    """

    engine: Engine
    change: Callable[[Retext], Callable[[Engine], Engine]]
    moved: Callable[[list[int], Pass], list[int]]

    def decode(self, prompt: Sequence[int], stop: Stop, noise: Noise) -> Iterator[Pass]:
        """See `Engine.decode`."""
        state: list[int] = []

        def retext(texts: list[Text]) -> list[Text]:
            return [Text([*prompt, *state, *text[len(texts[0]) :]], len(prompt)) for text in texts]

        for done in self.change(retext)(self.engine).decode(prompt, stop, noise):
            state[:] = self.moved(state, done)
            yield done


@dataclass(frozen=True)
class _Ending:
    """An engine whose grammar cannot be asked once a text has ended."""

    engine: Engine

    def decode(self, prompt: Sequence[int], stop: Stop, noise: Noise) -> Iterator[Pass]:
        """See `Engine.decode`."""
        engine = grammar_changed(lambda step: Reading(step, _refusing_ended(stop.tokens)))(self.engine)
        return engine.decode(prompt, stop, noise)


def _tamper(name: str, story: str, seen_in: str, apply: Callable[[Engine], Decoder]) -> Tamper:
    return Tamper(name, FAMILY, story, seen_in, apply, caught_by=("sequence",))


TAMPERS = (
    _tamper(
        "end-forbidden-a-row-too-long",
        "Masks the end of the text in one row more than was asked for.",
        "A40, vllm #41758",
        stepped(MinTokens, lambda step: replace(step, count=step.count + 1)),
    ),
    _tamper(
        "end-forbidden-for-the-block",
        "Masks the end in all rows of a block that begins before the least length.",
        "A40, vllm #41758",
        reading(MinTokens, frozen),
    ),
    _tamper(
        "least-length-with-the-prompt",
        "Counts the tokens of the prompt towards the least length.",
        "derived",
        reading(MinTokens, as_output),
    ),
    _tamper(
        "least-length-in-passes",
        "Counts passes towards the least length: the better the draft, the later the end.",
        "A32, sglang PR #33643",
        lambda engine: _Told(engine, lambda retext: reading(MinTokens, retext), lambda state, _: [*state, 0]),
    ),
    _tamper(
        "grammar-frozen-for-the-block",
        "Masks all rows of a block by the state before it.",
        "A42, vllm #9423; A44, vllm #31858",
        grammar_changed(lambda step: Reading(step, frozen)),
    ),
    _tamper(
        "grammar-moved-by-rejected-drafts",
        "Advances the one state of a grammar by every draft that is read, and never takes a rejected one back.",
        "A48, lmstudio-ai/mlx-engine PR #112; A40, vllm #41758",
        lambda engine: _Told(
            engine,
            lambda retext: grammar_changed(lambda step: Reading(step, retext)),
            lambda state, done: [*state, *done.drafted, done.emitted[-1]],
        ),
    ),
    _tamper(
        "grammar-asked-after-its-end",
        "Asks the matcher what may follow a drafted end, which it refuses.",
        "A45, openvinotoolkit/openvino.genai #4081",
        _Ending,
    ),
)
