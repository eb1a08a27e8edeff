"""The seeds witness: a request with a seed gives the same text whatever was served before it, and other seeds others.

In: an assembled engine. Out: a finding. An engine that remembers a stream, a cache or a count from one request to the
next can have the right law in every single request and still not be what was promised.
"""

from collections.abc import Iterator

from draftproof.engine.stop import Stop
from draftproof.noise import PhiloxNoise
from draftproof.records import Conclusion, Finding
from draftproof.witness.base import Decoder, Subject
from draftproof.witness.tables import PROMPT, WORLDS

__all__ = ["Seeds"]

TOKENS = 24
"""Two independent texts of a three-token vocabulary agree with a chance of about 0.4 ** 24, below 1e-9."""


class Seeds:
    """See `Witness`: one finding."""

    name = "seeds"

    def examine(self, subject: Subject) -> Iterator[Finding]:
        """See `Witness.examine`."""
        decoder = subject.assemble(WORLDS[0].engine(subject.rule, subject.branching))
        first, other, again = (_text(decoder, seed) for seed in (1, 2, 1))
        sequence = _text(decoder, 1, sequence=1)
        alone = _text(subject.assemble(WORLDS[0].engine(subject.rule, subject.branching)), 1)
        if not first == again == alone:
            reason = "the text of a seed depends on what was served before"
        elif first in (other, sequence):
            reason = "another seed or sample gives the same text"
        else:
            reason = "a seed gives the same text first, after another request and on a fresh engine; other seeds others"
            yield Finding(self.name, subject.name, Conclusion.LOSSLESS, 0.0, reason)
            return
        yield Finding(self.name, subject.name, Conclusion.LOSSY, None, reason)


def _text(decoder: Decoder, seed: int, sequence: int = 0) -> tuple[int, ...]:
    passes = decoder.decode(PROMPT, Stop(TOKENS), PhiloxNoise(seed, sequence))
    return tuple(token for done in passes for token in done.emitted)
