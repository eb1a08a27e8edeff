"""A tamper before the statistical witness: after how many tokens it is convicted, in one setting after another.

In: a tamper, how many tokens it may take. Out: trials, plain and frozen, that turn into JSON. The witness gets tokens
and laws read anew, as it would from anybody's engine, and never the story.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from draftproof.noise import PhiloxNoise
from draftproof.redteam.base import Tamper
from draftproof.redteam.bettable import SETTINGS, Setting
from draftproof.redteam.expected import expected
from draftproof.witness.base import Decoder
from draftproof.witness.eprocess import EProcess
from draftproof.witness.stream import stream

__all__ = ["ALARM", "WATCH", "Trial", "Tried", "tried"]

WATCH = 1e-3
"""How probable it may be that an honest engine is taken for a suspect, in a setting."""
ALARM = 1e-6
"""How probable it may be that it is convicted there."""
COMPARED = 4
"""Texts after which an engine whose tokens are all those of the honest one is not bet on any longer."""
EMPTY = 16
"""So many texts without a token end a trial."""


@dataclass(frozen=True)
class Trial:
    """What a setting showed."""

    setting: str
    tokens: int
    """How many were looked at."""
    log_evidence: float
    """The largest against the engine, in nats."""
    suspected_at: int | None
    """The token at which evidence reached 1 / `WATCH`."""
    convicted_at: int | None
    """The token at which it reached 1 / `ALARM`, or which could not be."""
    how: str
    """`evidence`, `impossible token`, `broke down: ..`; `same tokens` as the honest engine's; or `nothing`."""

    @property
    def seen(self) -> bool:
        """Whether the engine was convicted."""
        return self.how not in {"same tokens", "nothing"}


@dataclass(frozen=True)
class Tried:
    """A tamper and its trials; the last one convicted it, if any did."""

    name: str
    family: str
    harmless: bool
    trials: tuple[Trial, ...]

    @property
    def seen(self) -> bool:
        """Whether it was convicted."""
        return self.trials[-1].seen

    @property
    def same(self) -> bool:
        """Whether it emits the honest engine's tokens for the same random numbers, in every setting."""
        return all(trial.how == "same tokens" for trial in self.trials)

    @property
    def tokens(self) -> int:
        """How many were looked at, in all settings."""
        return sum(trial.tokens for trial in self.trials)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object; tokens to conviction are counted in the setting that convicted."""
        last, highest = self.trials[-1], max(trial.log_evidence for trial in self.trials)
        return {
            "name": self.name,
            "family": self.family,
            "harmless": self.harmless,
            "seen": self.seen,
            "same_tokens": self.same,
            "setting": last.setting if self.seen else None,
            "how": last.how if self.seen else None,
            "tokens_to_1e-3": last.suspected_at if self.seen else None,
            "tokens_to_1e-6": last.convicted_at if self.seen else None,
            "expected_tokens": expected(self.name),
            "tokens": self.tokens,
            "log_evidence": highest if math.isfinite(highest) else "Infinity",
        }


def tried(tamper: Tamper, most: int, settings: Sequence[Setting] = SETTINGS) -> Tried:
    """Return the trials of a tamper, which end when it is convicted.

    Args:
        tamper: what is bet against.
        most: tokens that it may take, of all settings; each has its share.
        settings: one is tried after another.
    """
    trials: list[Trial] = []
    for setting in settings:
        honest = setting.engine(tamper.rule, tamper.branching)
        trials.append(_Trying(setting, tamper).trial(tamper.apply(honest), math.ceil(setting.share * most)))
        if trials[-1].seen:
            break
    return Tried(tamper.name, tamper.family, tamper.harmless, tuple(trials))


class _Trying:
    """A tamper in a setting."""

    def __init__(self, setting: Setting, tamper: Tamper) -> None:
        self._setting, self._honest = setting, setting.engine(tamper.rule, tamper.branching)
        self._state = EProcess()
        self._suspected_at: int | None = None
        self._same, self._empty = True, 0

    def trial(self, decoder: Decoder, most: int) -> Trial:
        """Bet on text after text."""
        for number in count():
            try:
                if found := self._text(decoder, number):
                    return found
            except Exception as error:  # noqa: BLE001 (whatever an engine does wrong is a finding)
                return self._ended(None, f"broke down: {type(error).__name__}: {error}")
            known = self._same and number + 1 >= COMPARED
            if known or self._state.tokens >= most or self._empty >= EMPTY:
                break
        return self._ended(None, "same tokens" if self._same else "nothing")

    def _text(self, decoder: Decoder, number: int) -> Trial | None:
        """Bet on a text; return the trial if it convicts."""
        asked = self._setting.prompts[number % len(self._setting.prompts)], self._setting.stop, PhiloxNoise(number)
        passes = list(decoder.decode(*asked))
        tokens = [token for done in passes for token in done.emitted]
        if self._same and number < COMPARED:
            right = [token for done in self._honest.decode(*asked) for token in done.emitted]
            shorter = min(len(tokens), len(right))
            self._same = tokens[:shorter] == right[:shorter]
        if not tokens:
            self._empty += 1
            return None
        self._empty, before = 0, self._state.tokens
        trace = self._state.add(stream(self._honest, asked[0], passes))
        if self._suspected_at is None:
            self._suspected_at = _first(trace, before, WATCH)
        if self._state.violation is not None:
            return self._ended(self._state.violation, "impossible token")
        convicted_at = _first(trace, before, ALARM)
        return None if convicted_at is None else self._ended(convicted_at, "evidence")

    def _ended(self, convicted_at: int | None, how: str) -> Trial:
        state = self._state
        return Trial(self._setting.name, state.tokens, state.highest, self._suspected_at, convicted_at, how)


def _first(trace: NDArray[np.float64], before: int, level: float) -> int | None:
    """Return the token at which log-wealth reaches 1 / level, after so many that were there before."""
    reached = np.flatnonzero(trace >= -math.log(level))
    return before + int(reached[0]) + 1 if len(reached) else None
