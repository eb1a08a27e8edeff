"""Laws scored anew: from the text alone, by a model that has read nothing else and keeps nothing.

In: an honest engine, texts. Out: the laws it should have used, and how far honest rounding can move them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from draftproof.arrays import array_namespace
from draftproof.engine.loop import Engine
from draftproof.engine.passes import Pass
from draftproof.engine.stop import Stop
from draftproof.models.base import Model
from draftproof.noise import PhiloxNoise
from draftproof.rules.token import TokenRule
from draftproof.types import Array, Probs
from draftproof.witness.base import Subject
from draftproof.witness.tables import PROMPT, WORLDS

__all__ = ["Run", "chains", "fresh_laws", "fresh_rows", "joined", "runs_on_tables", "score_gap"]

TABLE_WORLDS = ("two tables", "laws with zeros", "repetition penalised", "top-k")
FLOAT_SLACK = 1e-5
"""Logits of float32, some 20 large, round by a few units of 2e-6, which moves a probability by a quarter of that over
the temperature: 1.5e-6 was seen where BLAS rounds by the number of rows, 6e-7 elsewhere. A wrong row is off by 1e-2."""


@dataclass(frozen=True)
class Run:
    """A generation to be examined: an honest engine of real or table models, and what to do with it."""

    name: str
    engine: Engine
    prompt: tuple[int, ...]
    stop: Stop
    seeds: tuple[int, ...] = (0,)

    def passes(self, subject: Subject, seed: int) -> Iterator[Pass]:
        """Return the passes of the engine under examination."""
        honest = replace(self.engine, rule=subject.rule, branching=subject.branching)
        return subject.assemble(honest).decode(self.prompt, self.stop, PhiloxNoise(seed))

    @property
    def slack(self) -> float:
        """How far two honest laws may lie apart: not at all in fractions."""
        return 0.0 if self.engine.target.row_kind == "laws" else FLOAT_SLACK


def runs_on_tables() -> list[Run]:
    """Return runs of a dozen tokens in some of the table worlds, three seeds each."""
    return [
        Run(world.name, world.engine(TokenRule()), PROMPT, Stop(12), (0, 1))
        for world in WORLDS
        if world.name in TABLE_WORLDS
    ]


def fresh_laws(engine: Engine, prefixes: Sequence[Sequence[int]]) -> Probs:
    """Return (n, V): the target's laws after each of n texts, each read from the beginning by a model of its own."""
    return engine.pipeline.laws(fresh_rows(engine.target, prefixes), engine.target.row_kind, prefixes)


def fresh_rows(target: Model, prefixes: Sequence[Sequence[int]]) -> Array:
    """Return (n, V): the rows of a model after each of n texts, each read from the beginning by a model of its own.

    Texts that begin with one another are read together.
    """
    return joined([target.fresh().extend(text, rows) for text, rows in chains(prefixes)])


def chains(prefixes: Sequence[Sequence[int]]) -> Iterator[tuple[Sequence[int], int]]:
    """Yield texts whose last so many rows are those of `prefixes`, in their order."""
    done = 0
    while done < len(prefixes):
        longest = done
        while longest + 1 < len(prefixes) and list(prefixes[longest + 1][:-1]) == list(prefixes[longest]):
            longest += 1
        yield prefixes[longest], longest - done + 1
        done = longest + 1


def joined(rows: Sequence[Array]) -> Array:
    """Return pieces (n, V) as one array of their library."""
    return rows[0] if len(rows) == 1 else array_namespace(*rows).concat(list(rows))


def score_gap(engine: Engine, text: Sequence[int], rows: int) -> float:
    """Return how far the last `rows` scores of a text move when tokens are read one at a time instead of at once."""
    together = engine.target.fresh().extend(text, rows)
    model = engine.target.fresh()
    alone = joined([model.extend([token], 1) for token in text])[-rows:]
    return float(array_namespace(together).max(abs(together - alone)))
