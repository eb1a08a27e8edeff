"""The statistical witness beside a generation: it bets on every pass as it comes, and judges the finished texts.

In: an honest engine, the passes of the one at work. Out: evidence that grows, and a `Case` at the end.

Both times the laws come from models that share no cache with the engine. While a text grows, a second instance of the
target reads it forward, pass by pass, and never goes back: that shows a cache that keeps what was rejected, or a
position that is off afterwards, for the price of one pass more a pass. But it goes on from a cache of its own, as the
engine does, and a fault of going on would be in both. So what it says is for the eye. The verdict rests on the
finished texts, each read from its first token on by an instance that has read nothing: one reading at once, which takes
a part of what generating took. To read it all again every so many tokens would do for both, and cost the square of it.
"""

from draftproof.engine.loop import Engine
from draftproof.engine.passes import Pass
from draftproof.types import Tokens
from draftproof.witness.case import Case
from draftproof.witness.stream import Reader, Telling, begun

__all__ = ["Watch"]


class Watch:
    """Watches the samples of a prompt.

    Args:
        honest: the engine that should be at work.
        prompt: token ids.
    """

    def __init__(self, honest: Engine, prompt: Tokens) -> None:
        self._honest, self._prompt = honest, prompt
        self._readers: dict[int, Reader] = {}
        self._texts: dict[int, Telling] = {}
        self.live = Case()
        """Evidence so far; of several samples, in the order in which their passes came."""

    def add(self, done: Pass, sample: int = 0) -> None:
        """Bet on the tokens of a pass."""
        text = self._texts.setdefault(sample, Telling())
        told = text.add(done)
        if not told.tokens:
            return
        if sample not in self._readers:
            self._readers[sample] = Reader(self._honest, begun(self._prompt))
        reader = self._readers[sample]
        self.live.take(self._honest, reader, reader.read(told))
        if done.finish_reason:
            del self._readers[sample]

    def finished(self) -> Case:
        """Return the evidence of all texts as they are now, sample by sample, each read from its beginning."""
        self._readers.clear()
        found = Case()
        for _, text in sorted(self._texts.items()):
            found.add(self._honest, self._prompt, text.told)
        return found
