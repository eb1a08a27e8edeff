"""Settings in which tampers are bet on: two large tables of laws, and the sampling controls that some are about.

In: nothing. Out: `Setting`s. Laws are of the kind that the figures in `expected.py` were simulated with: much is
possible, and the draft is wrong a third of the time. Which law stands where depends on every token of the text, so that
a cache that is wrong anywhere leads to another law.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from draftproof.drafters.model import ModelDrafter
from draftproof.engine.length import DraftLength, FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.models.table import TableModel
from draftproof.rules.base import Rule
from draftproof.warpers.pipeline import Pipeline, sampling
from draftproof.witness.alternation import END, Alternation
from draftproof.witness.probes import SweptLength

__all__ = ["MODELS", "SETTINGS", "Setting"]

VOCABULARY, LAWS, FLATNESS, NOISE = 32, 512, 0.3, 1.0
"""Laws are drawn from a Dirichlet distribution; the draft's have normal noise on their logarithms."""
CONTEXT = 512
STOP = 12
MODELS = f"two tables of {LAWS} laws over {VOCABULARY} tokens, chosen by the whole text"

LawOf = Callable[[tuple[int, ...]], Any]


@dataclass(frozen=True)
class Setting:
    """Models, sampling settings, draft lengths, and where texts begin and end.

    Args:
        name: for people.
        share: of all tokens that a tamper may take, those that it may take here.
    """

    name: str
    share: float
    target: TableModel
    draft: TableModel
    pipeline: Pipeline
    length: DraftLength
    stop: Stop
    prompts: tuple[tuple[int, ...], ...] = ((3, 1), (4, 1, 5), (9, 2), (6, 8, 10))

    def engine(self, rule: Rule, branching: tuple[int, ...] = ()) -> Engine:
        """Return the honest engine of this setting."""
        drafter = ModelDrafter(self.draft, self.pipeline)
        return Engine(self.target, drafter, rule, self.pipeline, self.length, branching)


@cache
def _pool() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    random = np.random.default_rng(0)
    target = np.maximum(random.dirichlet(np.full(VOCABULARY, FLATNESS), LAWS), 1e-12)
    draft = target * np.exp(random.normal(0, NOISE, target.shape))
    return target / target.sum(axis=-1, keepdims=True), draft / draft.sum(axis=-1, keepdims=True)


def _target(context: tuple[int, ...]) -> NDArray[np.float64]:
    return _pool()[0][crc32(bytes(context)) % LAWS]


def _draft(context: tuple[int, ...]) -> NDArray[np.float64]:
    return _pool()[1][crc32(bytes(context)) % LAWS]


def _mirrored(context: tuple[int, ...]) -> NDArray[np.float64]:
    """Return a law whose best token has an equal."""
    law = _target(context)
    return (law + law[::-1]) / 2


def _few(law_of: LawOf) -> LawOf:
    """Return the laws over the three tokens of the grammar."""
    return lambda context: law_of(context)[: END + 1] + 1 / VOCABULARY


def _models(target: LawOf, draft: LawOf, size: int = VOCABULARY) -> tuple[TableModel, TableModel]:
    return TableModel(target, size, CONTEXT), TableModel(draft, size, CONTEXT)


_CONTROLS = sampling(
    0.8, 16, 0.9, min_p=0.05, typical_p=0.95, repetition_penalty=1.3, presence_penalty=0.5, frequency_penalty=0.3,
    logit_bias={3: 2, 5: -1}, bad_words=[(2,), (3, 3), (4, 6), (1, 7), (8, 9), (10, 11)], min_tokens=6,
    stop_tokens={STOP}, allowed_tokens=range(1, VOCABULARY),
)  # fmt: skip

SETTINGS = (
    Setting("plain sampling", 0.75, *_models(_target, _draft), Pipeline(), FixedLength(4), Stop(128, CONTEXT)),
    Setting(
        "every control", 0.1875, *_models(_target, _draft), _CONTROLS, SweptLength(),
        Stop(64, CONTEXT, frozenset({STOP})),
    ),
    Setting(
        "temperature 0", 0.03125, *_models(_mirrored, _draft), sampling(0), SweptLength(),
        Stop(64, CONTEXT, frozenset({STOP})),
    ),
    Setting(
        "a grammar", 0.03125, *_models(_few(_target), _few(_draft), END + 1), Pipeline((Alternation(),)),
        FixedLength(3), Stop(32, CONTEXT, frozenset({END})), ((0,), (1,)),
    ),
)  # fmt: skip
"""In the order in which they are tried; the controls come with draft lengths that change, passes without one too."""
