"""How many passes a measurement can afford. In: the seconds of one. Out: how many of which lengths, in what order.

Many passes of one length come in a row because of the caches of the processor: what another length left there costs
the first ones up to a third more. That is about passes of milliseconds, whose weights fit into a cache or nearly. A
model of gigabytes, whose pass takes a quarter of a second, reads all its weights from memory in any case: its second
pass is like its twelfth, while 24 passes of 17 lengths would take minutes, in every round and for every rule.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from draftproof.economics.pair import LONGEST

__all__ = ["QUICK", "Pace"]

SLICE = 0.4
"""Seconds that the plain passes of one length may take in a round."""
REPEATED, FEWEST = 24, 3
"""Passes of one length in a row, the first half of which does not count; and if they are slow. After other lengths a
pass over four rows of the embedded target was seen to cost 7.0 ms at first, 5.6 after eight of them, and 5.3 from the
twelfth on."""
ALL = tuple(range(LONGEST + 1))
SOME = (0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16)
"""Draft lengths that are timed if passes are slow; what others cost lies between their neighbours'."""
FEW = (0, 1, 2, 4, 8)
"""Draft lengths that are timed before a text, if passes are slow; and the longest one that is asked for."""
PLAIN = 4
"""Plain passes of a round for each one of a length, if they are slow: what everything is compared with."""


@dataclass(frozen=True)
class Pace:
    """What a measurement can afford.

    Args:
        seconds: of a pass of the target over one row.
    """

    seconds: float

    @property
    def repeated(self) -> int:
        """Passes of one length in a row."""
        return max(FEWEST, min(REPEATED, int(SLICE / self.seconds)))

    @property
    def settling(self) -> int:
        """How many of these, the first ones, do not count."""
        return self.repeated // 2

    @property
    def hurried(self) -> bool:
        """Whether passes are so slow that there are fewer of them than usual."""
        return self.repeated < REPEATED

    @property
    def lengths(self) -> tuple[int, ...]:
        """The draft lengths that are timed in a round."""
        return SOME if self.hurried else ALL

    def schedule(self, lengths: Sequence[int], silent: bool) -> list[int]:
        """Return the draft lengths of the passes of a round, `repeated` for each length.

        A drafter that is silent at times has passes over one row between its others, as they come in its texts, as long
        as it is worth to be so careful.
        """
        if silent and not self.hurried:
            return [drafted for length in lengths for drafted in [length, 0] * (self.repeated // 2)]
        return [length for length in lengths for _ in range(self.repeated)]

    def plain(self, tokens: int) -> int:
        """Return how many of a text's tokens plain decoding makes in a round for each setting."""
        return min(tokens, PLAIN * self.repeated) if self.hurried else tokens

    def calibration(self, most: int, run: int) -> Sequence[int]:
        """Return the draft lengths of the passes that find costs in a moment, equal ones in a row.

        Where it can be afforded there are `run` of each in a row, all lengths rise, and fall again; else there are two
        of some lengths. The first ones read the prompt.
        """
        if not self.hurried:
            return [length for length in [0, *range(most + 1), *range(most, -1, -1)] for _ in range(run)]
        few = sorted({*(length for length in FEW if length < most), most})
        return [0, *(length for length in few for _ in range(2))]


QUICK = Pace(SLICE / REPEATED)
"""Of models whose passes can be repeated as often as is useful."""
