"""A witness that runs for months: it forgets, on the side, how long an engine was right before it went wrong.

In: emitted tokens. Out: wealth. Bets that were lost while all was well must be won back before a late fault shows. So
part of the wealth waits: a fresh copy of all bets begins with token 1, 2, 4, 8 .., and they share the wealth. What a
copy would have, the sums of the one state tell: those now, less those when it began.
"""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from draftproof.witness import mixture
from draftproof.witness.emitted import Emitted
from draftproof.witness.eprocess import EProcess
from draftproof.witness.mixture import BLOCKS

__all__ = ["Restarts"]

Logs = dict[str, NDArray[np.float64]]


@dataclass
class Restarts:
    """A state, and where copies of it began. Log-wealth is in nats.

    The j-th copy has 1 / ((j + 1)(j + 2)) of the wealth; all these add up to 1, and what has not begun is kept. If the
    engine is lossless, wealth is a martingale that begins at 1, as that of `EProcess` is.
    """

    state: EProcess = field(default_factory=EProcess)
    starts: list[Logs] = field(default_factory=list[Logs])
    """The logarithms of all bets before token 1, 2, 4, 8 .."""
    highest: float = 0.0
    """The largest log-wealth at any look; there is one after each batch."""

    @property
    def log_wealth(self) -> float:
        """The natural logarithm of the wealth now; infinite once a token was impossible."""
        if self.state.violation is not None:
            return float("inf")
        count, now = len(self.starts), _logs(self.state)
        copies = [mixture.mixed({name: now[name] - start[name] for name in BLOCKS}) for start in self.starts]
        shares = [1 / ((j + 1) * (j + 2)) for j in range(count)]
        return float(mixture.mean(np.array([*copies, 0.0]), np.array([*shares, 1 / (count + 1)])))

    def add(self, emitted: Emitted) -> float:
        """Bet on the next tokens; return the log-wealth after them."""
        done = 0
        while done < len(emitted):
            following = 2 ** len(self.starts)  # with which token the next copy begins
            before = following - 1 - self.state.tokens
            if before == 0:
                self.starts.append(_logs(self.state))
                continue
            part = emitted[done : done + before]
            self.state.add(part)
            done += len(part)
            if self.state.violation is not None:
                break
        self.highest = max(self.highest, self.log_wealth)
        return self.log_wealth

    def to_json(self) -> dict[str, Any]:
        """Return the state in lists and numbers; `from_json` makes the same of it."""
        starts = [{name: logs.tolist() for name, logs in start.items()} for start in self.starts]
        return {"state": self.state.to_json(), "starts": starts, "highest": self.highest}

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Self:
        """Return the state that was saved."""
        starts = [{name: np.array(logs) for name, logs in start.items()} for start in saved["starts"]]
        return cls(EProcess.from_json(saved["state"]), starts, saved["highest"])


def _logs(state: EProcess) -> Logs:
    return {name: np.array(getattr(state, name)) for name in BLOCKS}
