"""The draft length that follows the text: each pass drafts as many tokens as its past says are worth their time.

In: what passes cost (`calibrate.py`), and what earlier passes drafted and kept. Out: K, and why it changed. It reads no
clock, no row and no random number, so that a text can be made again, and stays the target's own
(tests/laws/test_adaptive_law.py). How far it falls behind the best fixed length: tests/economics/test_policy.py.
"""

from dataclasses import dataclass
from itertools import pairwise

from draftproof.economics.acceptance import Acceptance
from draftproof.errors import UsageError

__all__ = ["MOST", "Adapting", "Adaptive", "Costs"]

MOST = 8
"""The longest block, where nothing else is said."""
MARGIN = 0.01
"""A length gives way to another that is faster by more than this: near the best one lengths differ little."""
FIRST_REST, LONGEST_REST = 4, 64
"""Plain passes after a failed try; each further failure doubles them, until a length that promised more keeps
something."""
DEAREST = 0.02
"""Tries may cost this part of plain decoding; after a dear one the rest is longer."""


@dataclass(frozen=True)
class Costs:
    """What the parts of a pass take, in seconds.

    Args:
        draft: a draft step.
        target: passes of the target over 1, 2, .. rows; over more rows than these, in proportion to the last.
        own: all else of passes that draft 0, 1, .. tokens: warpers, rule, loop; of longer ones, as of the last.
        batch: B texts decoded together: a pass over n rows of each has B n rows, and each text takes its part of it.

    Raises:
        UsageError: if a number is out of range; it names the setting.
    """

    draft: float
    target: tuple[float, ...]
    own: tuple[float, ...] = (0.0,)
    batch: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.draft < float("inf"):
            raise UsageError(f"got {self.draft}; allowed are finite numbers from 0 up", "draft")
        if not self.target or not all(0 < seconds < float("inf") for seconds in self.target):
            raise UsageError(f"got {self.target}; allowed are one or more finite numbers above 0", "target")
        if not self.own or not all(0 <= seconds < float("inf") for seconds in self.own):
            raise UsageError(f"got {self.own}; allowed are one or more finite numbers from 0 up", "own")
        if self.batch < 1:
            raise UsageError(f"got {self.batch}; allowed are whole numbers from 1 up", "batch")

    def of_pass(self, drafted: int) -> float:
        """Return the seconds that a pass takes for each text, if it drafts so many tokens."""
        rows, measured = self.batch * (drafted + 1), len(self.target)
        seconds = self.target[min(rows, measured) - 1] * max(1.0, rows / measured)
        return drafted * self.draft + seconds / self.batch + self.own[min(drafted, len(self.own) - 1)]


@dataclass(frozen=True)
class Adaptive:
    """Draft between 0 and `most` tokens, whatever promises most tokens a second: a `DraftLength`.

    Args:
        costs: of passes; only their ratios matter.
        most: the longest block, 1 or more.
    """

    costs: Costs
    most: int = MOST

    def __post_init__(self) -> None:
        if self.most < 1:
            raise UsageError(f"got {self.most}; allowed are whole numbers from 1 up", "num_speculative_tokens")

    def begin(self) -> "Adapting":
        """See `DraftLength`."""
        return Adapting(tuple(self.costs.of_pass(drafted) for drafted in range(self.most + 1)))


class Adapting:
    """See `Lengths`: the choices of one generation.

    A length is kept until another promises more. Where none promises more than plain decoding, it decodes plainly and
    tries the least bad one now and then: at once again after a success, after twice as long a rest after a failure.

    Args:
        seconds: of passes that draft 0, 1, .. tokens.
    """

    def __init__(self, seconds: tuple[float, ...]) -> None:
        self.why: str | None = None
        self._seconds, self._acceptance = seconds, Acceptance(len(seconds) - 1)
        self._rest, self._next_rest = 0, FIRST_REST
        self._trying = False
        self._last: int | None = None
        ideal = max((1 + length) / cost for length, cost in enumerate(seconds))
        self._futile = ideal * seconds[0] <= 1 + MARGIN

    def next(self, emitted: int) -> int:
        """See `Lengths`."""
        length, reason = self._choose()
        if self._last is None:
            self.why = f"{length} to begin with: {reason}"
        else:
            self.why = f"{self._last} -> {length}: {reason}" if length != self._last else None
        self._last = length
        return length

    def learn(self, drafted: int, accepted: int) -> None:
        """See `Lengths`."""
        if not self._last:
            return
        self._acceptance.add(self._last, drafted, accepted)
        if accepted and not self._trying:
            self._next_rest = FIRST_REST
        if self._trying and accepted < drafted:
            price = self._seconds[drafted] / self._seconds[0] - 1
            self._rest = max(self._next_rest, round(price / DEAREST))
            self._next_rest = min(2 * self._next_rest, LONGEST_REST)

    def _choose(self) -> tuple[int, str]:
        """Return the length and the reason for it."""
        self._trying = False
        if self._futile:
            return 0, "no draft pays, not even if all of it is kept"
        if self._rest:
            self._rest -= 1
            self._acceptance.age()
            return 0, f"a try failed; {self._rest + 1} plain passes"
        gains = self._gains()
        best = max(range(len(gains)), key=gains.__getitem__)
        if self._last and gains[best] <= gains[self._last] * (1 + MARGIN):
            best = self._last
        if best == 0:
            self._trying = True
            best = max(range(1, len(gains)), key=gains.__getitem__)
            return best, f"a try; {self._kept(best)}"
        return best, f"{self._kept(best)}; {gains[best]:.2f}x expected"

    def _gains(self) -> list[float]:
        """Return for each length the tokens a second that it promises, in those of plain decoding."""
        plain, reached, drafted = self._seconds[0], 1.0, 1.0
        tokens, seconds, gains = 1.0, plain, [1.0]
        for position, (before, after) in zip(self._acceptance.positions(), pairwise(self._seconds), strict=True):
            drafted *= position.drafted
            reached *= position.drafted * position.kept
            tokens += reached
            seconds += drafted * (after - before)
            gains.append(tokens * plain / seconds)
        return gains

    def _kept(self, length: int) -> str:
        shares = [f"{position.kept:.2f}" for position in self._acceptance.positions()]
        return f"positions kept {' '.join(shares[:length])}"
