"""Evidence from the same few contexts again and again, which sees a deviation whose direction nobody has a name for.

In: completions of a few prompts. Out: evidence and a bound on the total variation, of these contexts alone. Contexts
are the prompts, and each of them with one of its likeliest tokens behind it: many engines draw the first token of a
completion without drafts. All are chosen by the reference's laws, before a token came. See `Evidence`.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from draftproof.arrays import beside
from draftproof.audit.reference import Reference, Scored
from draftproof.errors import UsageError
from draftproof.witness.drift import Drift
from draftproof.witness.revisits import Revisits
from draftproof.witness.verdict import Limits, Opinion, Verdict

__all__ = ["Replayed"]

LIKELIEST = 3
"""So many first tokens are followed by a context."""
DEPTH = 2
"""Tokens of a completion that are bet on."""


@dataclass
class Replayed:
    """See `Evidence`."""

    visits: Revisits
    places: dict[tuple[int, ...], int]
    """The number of each context."""
    log_wealth: float = 0.0
    """See `Evidence.log_wealth`."""
    tokens: int = 0
    """Those that were bet on."""

    @classmethod
    def of(cls, reference: Reference, prompts: Iterable[Sequence[int]]) -> Self:
        """Return no evidence. A context where rounding may decide what is possible is none.

        Raises:
            UsageError: if no context is left.
        """
        found = dict(_contexts(reference, prompts))
        if not found:
            reason = "got settings with which rounding may decide at every context what can come; change top-p or top-k"
            raise UsageError(reason, "replay")
        return cls(Revisits.of(np.stack(list(found.values()))), {text: i for i, text in enumerate(found)})

    @property
    def log_evidence(self) -> float:
        """See `Evidence.log_evidence`."""
        return math.inf if self.visits.impossible else self.visits.highest

    def add(self, scored: Sequence[Scored], reference: Reference) -> list[float]:
        """See `Evidence.add`."""
        del reference
        starts = np.cumsum([0, *(len(one.emitted) for one in scored)])
        gains = np.zeros(int(starts[-1]))
        for depth in range(DEPTH):
            known = [
                (int(start) + depth, self.places[text], int(one.emitted.tokens[depth]))
                for start, one in zip(starts, scored, strict=False)
                if len(one.emitted) > depth and (text := tuple(one.texts[depth])) in self.places
            ]
            if known:
                at, contexts, tokens = np.array(known).T
                gains[at] = self._bet(contexts, tokens) / len(known)
        return gains.tolist()

    def bound(self, delta: float) -> float:
        """See `Evidence.bound`: each context counts by its visits."""
        counts = self.visits.counts.sum(axis=-1)
        return float(self.visits.bounds(delta) @ counts / counts.sum()) if counts.any() else 1.0

    def opinion(self, limits: Limits) -> Opinion:
        """See `Evidence.opinion`."""
        bound = self.bound(limits.delta) if self.tokens else None
        told = f"evidence 10^{self.visits.highest / math.log(10):.1f} : 1"
        at = f"at {len(self.places)} contexts, {self.tokens:,} tokens"
        if self.visits.impossible:
            reason = "a token came that has probability 0 under the target's law; a lossless engine cannot emit it"
            return Opinion(Verdict.DRIFT, reason, bound)
        if self.visits.highest >= -math.log(limits.alpha):
            return Opinion(Verdict.DRIFT, f"{told} {at}; farthest off is {self._farthest()}", bound)
        if bound is None or self.tokens < limits.fewest:
            reason = f"{self.tokens:,} tokens are too few; {limits.fewest:,} is the least"
            return Opinion(Verdict.INCONCLUSIVE, reason, bound)
        if self.visits.highest >= -math.log(limits.watch):
            reason = f"{told} {at}: too much to call it lossless, too little to convict it; more visits decide"
            return Opinion(Verdict.INCONCLUSIVE, reason, bound)
        if bound > limits.target:
            reason = f"{at}, the law is off by at most {bound:.2%} so far; {limits.target:.2%} takes more visits"
            return Opinion(Verdict.INCONCLUSIVE, reason, bound)
        alone = self.visits.laws.shape[-1] - 1
        reason = (
            f"{at}, no alarm at {limits.alpha:g}; there the law is off by at most {bound:.2%} in total variation at "
            f"{1 - limits.delta:.1%}, in any direction, the {alone} likeliest tokens one by one"
        )
        return Opinion(Verdict.LOSSLESS, reason, bound)

    def shapes(self) -> list[dict[str, Any]]:
        """See `Evidence.shapes`: none has a name here."""
        return []

    def slots(self, delta: float) -> dict[str, Any]:
        """See `Evidence.slots`."""
        del delta
        return {}

    def events(self, delta: float) -> dict[str, Drift]:
        """See `Evidence.events`."""
        del delta
        return {}

    def to_json(self) -> dict[str, Any]:
        """See `Evidence.to_json`."""
        return vars(self) | {"visits": self.visits.to_json(), "places": [list(text) for text in self.places]}

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Self:
        """See `Evidence.from_json`."""
        places = {tuple(text): i for i, text in enumerate(saved["places"])}
        return cls(**saved | {"visits": Revisits.from_json(saved["visits"]), "places": places})

    def _bet(self, contexts: NDArray[np.int64], tokens: NDArray[np.int64]) -> float:
        """Return the log-wealth that came with tokens; nothing is said of what is infinite."""
        before, self.log_wealth = self.log_wealth, self.visits.add(contexts, tokens)
        self.tokens += len(tokens)
        gained = self.log_wealth - before
        return gained if math.isfinite(gained) else 0.0

    def _farthest(self) -> str:
        """Return in words which token came how often, where that is farthest from its law by chance's own measure."""
        counts, laws = self.visits.counts, self.visits.laws
        totals = counts.sum(axis=-1, keepdims=True)
        spread = np.sqrt(np.maximum(totals * laws * (1 - laws), 1e-12))
        place, cell = np.unravel_index(int(np.argmax(abs(counts - totals * laws) / spread)), counts.shape)
        tokens = np.flatnonzero(self.visits.numbers[place] == cell)
        name = f"token {tokens[0]}" if len(tokens) == 1 else f"the {len(tokens):,} less likely tokens together"
        text, total = list(self.places)[place], int(totals[place, 0])
        share, right = counts[place, cell] / total, laws[place, cell]
        return f"{name} after token {text[-1]}: {share:.2%} of {total:,}, not {right:.2%}"


def _contexts(
    reference: Reference, prompts: Iterable[Sequence[int]]
) -> Iterator[tuple[tuple[int, ...], NDArray[np.float64]]]:
    """Yield contexts and the laws there."""
    for prompt in prompts:
        _, law, sure = _at(reference, prompt, ())
        if sure:
            yield tuple(prompt), law
        for token in np.argsort(-law, kind="stable")[:LIKELIEST].tolist():
            if law[token] > 0 and token not in reference.loaded.tokenizer.eos:
                text, after, sure = _at(reference, prompt, (token,))
                if sure:
                    yield text, after


def _at(
    reference: Reference, prompt: Sequence[int], tokens: tuple[int, ...]
) -> tuple[tuple[int, ...], NDArray[np.float64], bool]:
    """Return a context, its law in main memory, and whether rounding cannot change what is possible there."""
    scored = reference.scored(prompt, [*tokens, 0], None)  # whichever token follows: it is not read
    found = reference.support(scored)
    law = np.asarray(beside(scored.emitted.target[-1, :], np.empty(0)))
    return (*prompt, *tokens), law, found is None or not bool(found.ambiguous[-1])
