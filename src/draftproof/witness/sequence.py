"""The sequence witness: the joint law of whole texts, over all random numbers, against the product of target laws.

In: an assembled engine. Out: findings with exact total variations. What happens between passes (caches, positions,
stops, seeds) shows here and in no test of a single position.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from fractions import Fraction

from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.records import Conclusion, Finding
from draftproof.types import Noise, Text
from draftproof.witness.base import Decoder, Subject
from draftproof.witness.exact import total_variation
from draftproof.witness.forking import exact_law
from draftproof.witness.tables import PROMPT, WORLDS, World

__all__ = ["Sequence", "emitted_law", "first_difference", "product_law"]

TextLaw = dict[tuple[int, ...], Fraction]


def emitted_law(decoder: Decoder, stop: Stop) -> TextLaw:
    """Return the exact law of the text that a decoder emits after `PROMPT`."""

    def program(noise: Noise) -> tuple[int, ...]:
        return tuple(token for done in decoder.decode(PROMPT, stop, noise) for token in done.emitted)

    return {text: chance for text, chance in exact_law(program).items() if chance}


def product_law(engine: Engine, stop: Stop) -> TextLaw:
    """Return the law of plain decoding from its definition: the product of the target's warped rows, cut at stops."""
    law: TextLaw = {}
    growing: TextLaw = {(): Fraction(1)}
    while growing:
        longer: TextLaw = {}
        for text, chance in growing.items():
            whole = Text((*PROMPT, *text), len(PROMPT))
            room = stop.room(len(PROMPT), len(whole))
            if room <= 0 or _ends(text, stop):
                law[text] = chance
                continue
            rows = engine.target.fresh().extend(whole, 1)
            row = engine.pipeline.laws(rows, engine.target.row_kind, [whole])[0]
            longer |= {(*text, token): chance * part for token, part in enumerate(row) if part}
        growing = longer
    return law


def _ends(text: tuple[int, ...], stop: Stop) -> bool:
    """Return whether the last token of an output ends it: a stop token, or one in which a stop string is complete."""
    if not text or text[-1] in stop.tokens:
        return bool(text)
    if not stop.strings or not stop.spelling or len(text) < stop.min_tokens:
        return False
    pieces = [*map(stop.spelling(), text)]
    written, seen = "".join(pieces), len("".join(pieces[:-1]))
    ends = range(seen + 1, len(written) + 1)
    return any(written[:end].endswith(string) for end in ends for string in stop.strings)


def first_difference(one: TextLaw, other: TextLaw) -> int:
    """Return the first length at which the laws of the text so far differ, 0 if they never do."""
    for length in range(1, 1 + max((len(text) for text in {*one, *other}), default=0)):
        if _prefixes(one, length) != _prefixes(other, length):
            return length
    return 0


def _prefixes(law: TextLaw, length: int) -> TextLaw:
    found: defaultdict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for text, chance in law.items():
        found[text[:length]] += chance
    return dict(found)


class Sequence:
    """See `Witness`: one finding for each world."""

    name = "sequence"

    def __init__(self, worlds: Iterable[World] = WORLDS) -> None:
        self.worlds = tuple(worlds)

    def examine(self, subject: Subject) -> Iterator[Finding]:
        """See `Witness.examine`."""
        for world in self.worlds:
            engine = world.engine(subject.rule, subject.branching)
            emitted = emitted_law(subject.assemble(engine), world.stop)
            yield self._finding(f"{subject.name}, {world.name}", emitted, product_law(engine, world.stop))

    def _finding(self, subject: str, emitted: TextLaw, wanted: TextLaw) -> Finding:
        distance = total_variation(emitted, wanted)
        if distance == 0:
            reason = f"the exact law of the text, {len(wanted)} texts, equals the product law"
            return Finding(self.name, subject, Conclusion.LOSSLESS, 0.0, reason, 0.0)
        largest = max(abs(emitted.get(text, 0) - wanted.get(text, 0)) for text in {*emitted, *wanted})
        where = f"token {first_difference(emitted, wanted)}"
        reason = f"total variation {distance}, first at {where}"
        return Finding(self.name, subject, Conclusion.LOSSY, float(largest), reason, float(distance), where)
