"""The tokens drawn so far for what is set on the page, and the work that brings more. In: a bench. Out: tokens."""

from typing import Any

import numpy as np

from draftproof.explorer.bench import Bench
from draftproof.explorer.counting import PORTION, counted
from draftproof.explorer.results import laws_of
from draftproof.explorer.state import State

__all__ = ["Tally"]


class Tally:
    """The tokens drawn so far, for one setting of the page, and the work that brings more."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.tokens, self.failed = bench, np.empty(0, dtype=np.int64), ""
        self._of: tuple[Any, ...] = ()
        self._asked = False

    def follow(self) -> None:
        """Forget the tokens if they belong to another engine or other laws, and ask for more if more are wanted."""
        state = self.bench.state
        if self._of != _drawn_from(state):
            self._of, self.tokens, self._asked, self.failed = _drawn_from(state), self.tokens[:0], False, ""
        if len(self.tokens) > state.draws:
            self.tokens = self.tokens[: state.draws]
        wanted = min(PORTION, state.draws - len(self.tokens))
        if wanted > 0 and not self._asked and not self.failed:
            self._asked, key = True, self._of
            self.bench.work(
                counted, state, len(self.tokens), wanted, then=lambda found: self._take(key, found), process=True
            )

    def _take(self, key: tuple[Any, ...], found: Any) -> None:
        if key != self._of:
            return
        self._asked = False
        if isinstance(found, str):
            self.failed = found
        else:
            self.tokens = np.concatenate([self.tokens, found])
        self.bench.refresh()


def _drawn_from(state: State) -> tuple[Any, ...]:
    laws = tuple(tuple(law.tolist()) for law in laws_of(state))
    return (*laws, state.rule, state.tamper, state.num_speculative_tokens, state.seed)
