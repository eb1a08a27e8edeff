"""What target and draft say along texts that the target writes: acceptance, without drafting a token.

In: a pair, prompts. Out: `Text`. The text is drawn by plain decoding, so it has the target's own law.
"""

import time
from collections.abc import Callable, Sequence

import numpy as np

from draftproof.arrays import beside
from draftproof.drafters.base import Drafter
from draftproof.economics.along import Along
from draftproof.economics.pace import QUICK, Pace
from draftproof.economics.pair import Pair
from draftproof.economics.reach import certain, reaches
from draftproof.economics.samples import Text
from draftproof.economics.texts import written
from draftproof.models.base import Model
from draftproof.rules.coupled import same_winner
from draftproof.types import Probs, Tokens
from draftproof.types import Text as Prefix

__all__ = ["score_texts"]

HOST = np.empty(0)
"""Laws are looked at in main memory, wherever a model keeps its own."""
FLOOR = 1e-12
"""The least weight of a token that was drawn. A text is scored in one piece, which may round otherwise than when it was
drawn, and so leave a token at the edge of a filter with none."""


def score_texts(
    pair: Pair, prompts: Sequence[Tokens], seed: int, advance: Callable[[str], None], pace: Pace = QUICK
) -> Text:
    """Return what the models say along one text of the target after each prompt; `advance` is told of each."""
    firsts, steady = list[float](), list[float]()
    reads: dict[str, list[float]] = {drafter: [] for drafter in pair.drafters}
    said: dict[str, list[Along]] = {drafter: [] for drafter in pair.drafters}
    for i, (prompt, (text, seconds)) in enumerate(zip(prompts, written(pair, prompts, seed, pace), strict=True)):
        firsts.append(seconds)
        steady.append(_first_pass(pair.target.steady(), prompt) if "coupled" in pair.rules else seconds)
        prefixes = [Prefix([*prompt, *text[:k]], len(prompt)) for k in range(len(text))]
        laws = _laws(pair, prefixes)
        for name, drafter in pair.drafters.items():
            along, first = _said(drafter, laws, prefixes, text)
            said[name].append(along)
            reads[name].append(first)
        advance(f"text {i + 1} of {len(prompts)}")
    return Text(
        np.array([len(prompt) for prompt in prompts]),
        {name: _stacked(alongs) for name, alongs in said.items()},
        np.array(firsts),
        np.array(steady),
        {name: np.array(read) for name, read in reads.items()},
    )


def _laws(pair: Pair, prefixes: Sequence[Prefix]) -> Probs:
    """Return (L, V) the target's laws after each prefix, from one reading of the longest; in main memory."""
    rows = pair.target.fresh().extend(prefixes[-1], len(prefixes))
    return beside(pair.pipeline.laws(rows, pair.target.row_kind, prefixes), HOST)


def _first_pass(model: Model, prompt: Tokens) -> float:
    """Return the seconds in which a model reads a prompt, the second time: nothing is then done for the first time."""
    model.fresh().extend(prompt, 1)
    again = model.fresh()
    began = time.perf_counter()
    again.extend(prompt, 1)
    return time.perf_counter() - began


def _said(drafter: Drafter, laws: Probs, prefixes: list[Prefix], text: list[int]) -> tuple[Along, float]:
    """Return what is said along one text, (1, L), and the seconds of the draft's first step."""
    drafter = drafter.fresh()
    began = time.perf_counter()
    drafter.law(prefixes[0])
    first = time.perf_counter() - began
    along: list[tuple[float, float, float]] = []
    proposals: list[tuple[bool, bool]] = []
    for p, prefix, token in zip(laws, prefixes, text, strict=True):
        q = drafter.law(prefix)
        drawn = max(float(p[token]), FLOOR)
        if q is None:
            along.append((drawn, 0.0, 0.0))
        else:
            q = beside(q, HOST)
            along.append((drawn, float(q[token]), float(same_winner(p, q, token))))
        proposals.append((q is not None, q is not None and certain(q) is not None))
    target, draft, coupled = (np.array([values]) for values in zip(*along, strict=True))
    return Along(target, draft, coupled, np.array([reaches(drafter, prefixes, proposals)])), first


def _stacked(alongs: list[Along]) -> Along:
    return Along(**{name: np.concatenate([getattr(along, name) for along in alongs]) for name in vars(alongs[0])})
