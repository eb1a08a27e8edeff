"""From passes of an engine to what the statistical witness is shown: tokens, laws scored anew, and what came before.

In: an honest engine, a prompt, the passes of the engine under examination. Out: `Emitted`. The laws come from a reading
of the text that shares nothing with the engine: a wrong cache samples faithfully from wrong rows, and a witness who is
given these rows sees nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from draftproof.arrays import array_namespace, beside
from draftproof.drafters.model import ModelDrafter
from draftproof.engine.guarded import Guarded
from draftproof.engine.loop import Engine
from draftproof.engine.passes import Pass
from draftproof.types import Array, Probs, Text, Tokens
from draftproof.witness.emitted import Emitted

__all__ = ["Reader", "Telling", "Told", "begun", "readings_of", "stream"]

NOTHING = -1
"""No draft was rejected."""
TOGETHER = 2**24
"""Probabilities that are scored at a time: 128 MB, or 4096 tokens of a vocabulary as large."""


class Told(NamedTuple):
    """Tokens in order, and what was known before each was drawn; None where it is not."""

    tokens: Sequence[int]
    bonus: Sequence[bool] | None = None
    """See `Emitted`."""
    rejected: Sequence[int] | None = None
    """See `Emitted`."""

    def part(self, first: int, last: int) -> Self:
        """Return those from `first` up to `last`."""
        bonus = None if self.bonus is None else self.bonus[first:last]
        rejected = None if self.rejected is None else self.rejected[first:last]
        return type(self)(self.tokens[first:last], bonus, rejected)


class Telling:
    """Tells the tokens of one text, pass by pass."""

    def __init__(self) -> None:
        self._parts: list[tuple[list[int], list[bool], list[int]]] = []
        self._last = NOTHING

    @property
    def told(self) -> Told:
        """All tokens so far."""
        columns = zip(*self._parts, strict=True) if self._parts else ((), (), ())
        return Told(*([one for part in column for one in part] for column in columns))

    def add(self, done: Pass) -> Told:
        """Take in the next pass; return its tokens."""
        drafted, count = bool(done.drafted), len(done.emitted)
        bonus = [drafted and done.bonus and i == len(done.path) for i in range(count)]
        rejected = [self._last if i == 0 else NOTHING for i in range(count)]
        self._last = _rejected(done) if drafted and not done.bonus else NOTHING
        self._parts.append(([*done.emitted], bonus, rejected))
        return Told(*self._parts[-1])


class Reader:
    """Reads a text forward with models of its own, and scores what is appended; nothing is ever taken back.

    Args:
        honest: the engine that should have been at work.
        before: the text so far.
    """

    def __init__(self, honest: Engine, before: Text) -> None:
        self._honest, self.text = honest, Text(before, before.prompt_length)
        self._target, self._drafter = honest.target.fresh(), honest.drafter.fresh()
        self.rows: Array = None
        """(n, V) what the target returned for the tokens that were read last."""

    def read(self, told: Told) -> Emitted:
        """Append n >= 1 tokens and return them with the laws they should have been drawn from."""
        start, count, text = len(self.text), len(told.tokens), self.text
        text += told.tokens
        self.rows = self._target.extend(text[self._target.length : -1], count)
        target = _laws(self._honest.pipeline, self.rows, self._honest.target.row_kind, text, start)
        flags = {} if told.bonus is None or told.rejected is None or self._is_coupled else _flags(told)
        return Emitted(np.array(told.tokens, dtype=np.int64), target, self._draft(start, target), **flags)

    def before(self, last: int) -> tuple[Text, int]:
        """Return the text before its `last` token, counted from the end, and that token."""
        place = len(self.text) - last
        return Text(self.text[:place], self.text.prompt_length), self.text[place]

    @property
    def _is_coupled(self) -> bool:
        """Whether noise belongs to positions: then what became of a draft may tell of other tokens than its own.

        A draft that was raced with the noise of the next position says, once it is rejected, what will come there; the
        text has the right law all the same. So of these rules the text alone is looked at.
        """
        return "coupled" in self._honest.rule.name

    def _draft(self, start: int, target: Probs) -> Probs:
        """Return the draft's law after each text (n, V), the target's where it proposes nothing: no bet comes of that.

        It is asked anew after every text, and not taken from the passes: which law stands there, or that none does, may
        depend on how a pass ended, and so (by block verification) on the token that is bet on.
        """
        drafter, text = self._drafter, self.text
        if isinstance(drafter, ModelDrafter) and len(text) - 1 <= drafter.model.context_limit:
            try:
                rows = drafter.model.extend(text[drafter.model.length : -1], len(text) - start)
                laws = _laws(drafter.pipeline, rows, drafter.model.row_kind, text, start)
                return array_namespace(target).astype(beside(laws, target), target.dtype)
            except Exception:  # noqa: BLE001 (a drafter may fail, which costs the engine nothing and this less)
                self._drafter = drafter.fresh()
        return self._one_by_one(start, target)

    def _one_by_one(self, start: int, target: Probs) -> Probs:
        xp, rows = array_namespace(target), list[Probs]()
        drafter, context = Guarded(self._drafter, target.shape[-1]), Text(self.text[:start], self.text.prompt_length)
        for token, law in zip(self.text[start:], target, strict=True):
            found = drafter.law(context)
            rows.append(law if found is None else xp.astype(beside(found, law), target.dtype))
            context.append(token)
        self._drafter = drafter.drafter
        return xp.stack(rows)


def stream(honest: Engine, prompt: Tokens, passes: Iterable[Pass]) -> Emitted:
    """Return the tokens of a text that was begun with `prompt`, read anew at once."""
    telling = Telling()
    for done in passes:
        telling.add(done)
    return Reader(honest, begun(prompt)).read(telling.told)


def readings_of(honest: Engine, prompt: Tokens, told: Told) -> Iterator[tuple[Reader, Emitted]]:
    """Yield the tokens of a text as `stream` returns them, a part at a time, each read from the very beginning."""
    step = max(1, TOGETHER // honest.target.vocab_size)
    for first in range(0, len(told.tokens), step):
        reader = Reader(honest, begun(prompt, told.tokens[:first]))
        yield reader, reader.read(told.part(first, first + step))


def begun(prompt: Tokens, emitted: Sequence[int] = ()) -> Text:
    """Return a text that knows which part of it is its prompt."""
    return Text([*prompt, *emitted], len(prompt))


def _flags(told: Told) -> dict[str, Any]:
    rejected = np.array(told.rejected, dtype=np.int64)
    return {"bonus": np.array(told.bonus, dtype=bool), "after_reject": rejected != NOTHING, "rejected": rejected}


def _rejected(done: Pass) -> int:
    """Return the first draft that was rejected in the place of the pass's last token."""
    end = done.path[-1] if done.path else -1
    children = (token for token, parent in zip(*done.proposal.tree, strict=True) if parent == end)
    return next(children, NOTHING)


def _laws(pipeline: Any, rows: Array, kind: Any, text: Text, start: int) -> Probs:
    """Return laws of the rows after each part of a text that is at least `start` long, but for the whole of it."""
    if not pipeline.reads_text:
        return pipeline.laws(rows, kind)
    return pipeline.laws(rows, kind, [Text(text[:end], text.prompt_length) for end in range(start, len(text))])
