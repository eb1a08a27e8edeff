"""What a measurement found, as arrays: costs by round, laws along texts. In: arrays. Out: the same, and as JSON."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from draftproof.economics.along import Along

__all__ = ["Rounds", "Samples", "Text"]

Floats = NDArray[np.float64]
DIGITS = 9
"""Significant digits that are kept: far below any noise."""


@dataclass(frozen=True)
class Rounds:
    """What passes cost, in R rounds.

    Args:
        seconds: (R, ..) medians of a round.
        contexts: (R, ..) how many tokens there were before them, on average.
        slope: seconds for each further token of context, by draft length K: slope[0] + slope[1] * K.
    """

    seconds: Floats
    contexts: Floats
    slope: tuple[float, float]

    def to_json(self) -> dict[str, Any]:
        """Return the arrays as lists."""
        return {"seconds": _listed(self.seconds), "contexts": _listed(self.contexts), "slope": list(self.slope)}

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Self:
        """Return what `to_json` wrote."""
        return cls(np.array(found["seconds"]), np.array(found["contexts"]), (found["slope"][0], found["slope"][1]))


@dataclass(frozen=True)
class Text:
    """Texts of one workload, all of L tokens.

    Args:
        prompts: (N,) tokens of the prompts.
        along: for each drafter what target and draft say along the texts.
        first: (N,) seconds until the first token of plain decoding, the reading of the prompt included.
        steady_first: (N,) seconds of the first pass of a target with steady rows, as the coupled rule has it.
        draft_first: for each drafter (N,) seconds of its first step, the reading of the prompt included.
    """

    prompts: Floats
    along: dict[str, Along]
    first: Floats
    steady_first: Floats
    draft_first: dict[str, Floats]

    def to_json(self) -> dict[str, Any]:
        """Return the arrays as lists."""
        along = {name: {key: _listed(value) for key, value in vars(said).items()} for name, said in self.along.items()}
        reads = {name: _listed(read) for name, read in self.draft_first.items()}
        arrays = {name: _listed(getattr(self, name)) for name in ("prompts", "first", "steady_first")}
        return arrays | {"along": along, "draft_first": reads}

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Self:
        """Return what `to_json` wrote."""
        along = {
            name: Along(**{key: np.array(value) for key, value in said.items()})
            for name, said in found["along"].items()
        }
        reads = {name: np.array(read) for name, read in found["draft_first"].items()}
        prompts, first, steady = (np.array(found[name]) for name in ("prompts", "first", "steady_first"))
        return cls(prompts, along, first, steady, reads)


@dataclass(frozen=True)
class Samples:
    """A whole measurement of R rounds.

    Args:
        tokens: L, how long each text is.
        plain: seconds (R,) for a token of plain decoding.
        passes: drafter -> rule -> seconds (R, LONGEST + 1, stages), contexts (R, LONGEST + 1) by draft length.
        texts: by workload.
    """

    tokens: int
    plain: Rounds
    passes: dict[str, dict[str, Rounds]]
    texts: dict[str, Text]

    def to_json(self) -> dict[str, Any]:
        """Return the arrays as lists."""
        passes = {name: {rule: found.to_json() for rule, found in rules.items()} for name, rules in self.passes.items()}
        texts = {workload: text.to_json() for workload, text in self.texts.items()}
        return {"tokens": self.tokens, "plain": self.plain.to_json(), "passes": passes, "texts": texts}

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Self:
        """Return what `to_json` wrote."""
        passes = {
            name: {rule: Rounds.from_json(rows) for rule, rows in rules.items()}
            for name, rules in found["passes"].items()
        }
        texts = {workload: Text.from_json(text) for workload, text in found["texts"].items()}
        return cls(found["tokens"], Rounds.from_json(found["plain"]), passes, texts)


def _listed(array: Any) -> Any:
    """Return an array as nested lists of numbers with `DIGITS` significant digits."""
    if array.dtype.kind == "i":
        return array.tolist()
    return np.vectorize(lambda value: float(f"{value:.{DIGITS}g}"), otypes=[float])(array).tolist()
