"""Our own laws for somebody's tokens, from a reading of each finished text that shares nothing with the engine.

In: prompts and completions. Out: `Emitted` for the statistical witness, or rows for a greedy audit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from draftproof.arrays import array_namespace, beside
from draftproof.audit.options import NEUTRAL, Options
from draftproof.audit.pair import Pair
from draftproof.drafters.base import Drafter
from draftproof.drafters.catalogue import load_drafter
from draftproof.drafters.model import ModelDrafter
from draftproof.errors import UsageError
from draftproof.models.backend import LoadedModel
from draftproof.models.catalogue import load
from draftproof.types import Array, Probs, Text
from draftproof.warpers.pipeline import Pipeline, sampling
from draftproof.witness.emitted import Emitted
from draftproof.witness.support import Support, support

__all__ = ["Reference", "Scored", "flags", "pipeline_of"]

CHOOSING = ("temperature", "top_k", "top_p", "min_p")
"""Settings that decide among tokens, where others change their scores."""
LOOKUP = "ngram"
"""What is taken for the drafter where the engine looks drafts up."""


@dataclass(frozen=True)
class Scored:
    """A completion and what the reference makes of it."""

    rows: Array
    """(n, V) scores of the target before each token."""
    texts: list[Text]
    """(n,) what came before each token."""
    emitted: Emitted


class Reference:
    """The model whose law is the right one, and what drafts for it."""

    def __init__(self, pair: Pair, options: Options, *, drafted: bool) -> None:
        self.loaded: LoadedModel = load(pair.reference, "reference" if options.reference else "target")
        self.pipeline = pipeline_of(options.settings)
        self._cuts = options.eta > 0 and any(options.settings[name] != NEUTRAL[name] for name in CHOOSING[1:])
        self._eta = options.eta
        self._unchosen = pipeline_of(options.settings | {name: NEUTRAL[name] for name in CHOOSING})
        self.pipeline.check(self.loaded.model.vocab_size)
        self._drafter: Drafter = load_drafter(
            pair.surrogate if drafted and pair.surrogate else LOOKUP, self.loaded, self.pipeline
        )

    def scored(self, prompt: Sequence[int], tokens: Sequence[int], rounds: Sequence[Sequence[int]] | None) -> Scored:
        """Return the laws of a completion.

        Args:
            prompt: token ids.
            tokens: n >= 1 token ids of the vocabulary.
            rounds: see `Answer`; None if the engine does not tell.
        """
        rows, texts = self.rows(prompt, tokens)
        target = self.pipeline.laws(rows, self.loaded.model.row_kind, texts)
        told = (None, None) if rounds is None else flags(rounds)
        emitted = Emitted(np.array(tokens, dtype=np.int64), target, self._draft_laws(texts, target), *told)
        return Scored(rows, texts, emitted)

    def rows(self, prompt: Sequence[int], tokens: Sequence[int]) -> tuple[Array, list[Text]]:
        """Return (n, V) the target's scores before each token, and what came before it."""
        text = [*prompt, *tokens]
        rows = self.loaded.model.fresh().extend(text[:-1], len(tokens))
        return rows, [Text(text[: len(prompt) + i], len(prompt)) for i in range(len(tokens))]

    def support(self, scored: Scored) -> Support | None:
        """Return what can come where numerics may be off a little; None where no setting takes tokens away."""
        if not self._cuts:
            return None
        return support(self.pipeline, scored.rows, self.loaded.model.row_kind, self._eta, scored.texts)

    def under(self, pipeline: Pipeline, scored: Scored) -> Emitted:
        """Return the same tokens under other sampling settings, without draft laws."""
        laws = pipeline.laws(scored.rows, self.loaded.model.row_kind, scored.texts)
        return Emitted(scored.emitted.tokens, laws)

    def scores(self, scored: Scored) -> NDArray[np.float64]:
        """Return (n, V) log-probabilities before anything that chooses among tokens: temperature, top-k, ..."""
        laws = self._unchosen.laws(scored.rows, self.loaded.model.row_kind, scored.texts)
        with np.errstate(divide="ignore"):
            return np.log(np.asarray(beside(laws, np.empty(0))))

    def drafted(self, scored: Scored) -> list[int]:
        """Return the token that the drafter likes best in each place."""
        laws = scored.emitted.target if scored.emitted.draft is None else scored.emitted.draft
        return np.asarray(beside(laws, np.empty(0))).argmax(axis=-1).tolist()

    def _draft_laws(self, texts: Sequence[Text], target: Probs) -> Probs:
        """Return the drafter's law before each token; the target's where it proposes nothing: no bet comes of that."""
        drafter = self._drafter
        if isinstance(drafter, ModelDrafter) and len(texts[-1]) <= drafter.model.context_limit:
            rows = drafter.model.fresh().extend(texts[-1], len(texts))
            return beside(drafter.pipeline.laws(rows, drafter.model.row_kind, texts), target)
        drafter, found = drafter.fresh(), list[Probs]()
        for text, law in zip(texts, target, strict=True):
            proposed = drafter.law(text)
            found.append(law if proposed is None else beside(proposed, law))
        xp = array_namespace(target)
        return xp.stack([xp.astype(law, target.dtype) for law in found])


def pipeline_of(settings: dict[str, float], order: Sequence[str] | None = None) -> Pipeline:
    """Return the warpers of sampling settings.

    Raises:
        UsageError: if one is out of range.
    """
    whole: dict[str, Any] = {**settings, "top_k": int(settings["top_k"])}
    if whole["top_k"] != settings["top_k"]:
        raise UsageError(f"got {settings['top_k']}; allowed are whole numbers", "top_k")
    return sampling(**whole) if order is None else sampling(**whole, order=order)


def flags(rounds: Sequence[Sequence[int]]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return for each token whether all drafts of its pass came before it, and whether it follows a replacement.

    The last pass may have been cut short, which looks like a rejection: no token follows it.
    """
    bonus, after = list[bool](), list[bool]()
    rejected = False
    for drafted, emitted in rounds:
        bonus += [drafted > 0 and i == drafted for i in range(emitted)]
        after += [rejected and i == 0 for i in range(emitted)]
        rejected = 0 < emitted <= drafted
    return np.array(bonus, dtype=bool), np.array(after, dtype=bool)
