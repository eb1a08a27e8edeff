"""Oracles: cheap runs whose right outcome is known beforehand: probes under every kind of draft, and the self-draft.

In: an assembled engine. Out: findings. On a probe any draft must leave the text as it is; the target as its own draft
must have every token kept that the honest rule keeps.
"""

from collections.abc import Iterator
from dataclasses import replace

from draftproof.drafters.model import ModelDrafter
from draftproof.engine.length import DraftLength, FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.proposal import common_length
from draftproof.engine.stop import Stop
from draftproof.models.table import TableModel
from draftproof.noise import PhiloxNoise
from draftproof.records import Conclusion, Finding
from draftproof.warpers.pipeline import Pipeline
from draftproof.witness.base import Decoder, Subject
from draftproof.witness.probes import (
    PROBE_PROMPT,
    PROBE_VOCABULARY,
    PROBES,
    ProbeDrafter,
    SweptLength,
    one_hot,
    plain_text,
)
from draftproof.witness.tables import PROMPT, WORLDS

__all__ = ["Oracles"]

TOKENS, SEEDS, SELF_TOKENS = 14, 4, 24
LENGTHS: tuple[DraftLength, ...] = (FixedLength(3), SweptLength())


class Oracles:
    """See `Witness`: one finding for each probe, one for the self-draft."""

    name = "oracles"

    def examine(self, subject: Subject) -> Iterator[Finding]:
        """See `Witness.examine`."""
        for name in PROBES:
            yield self._probe(subject, name)
        yield self._self_draft(subject)

    def _probe(self, subject: Subject, name: str) -> Finding:
        following = PROBES[name]
        wanted, about = plain_text(following, TOKENS), f"{subject.name}, {name}"
        for right in range(4):
            for length in LENGTHS:
                model, drafter = TableModel(one_hot(following), PROBE_VOCABULARY), ProbeDrafter(following, right)
                honest = Engine(model, drafter, subject.rule, Pipeline(), length, subject.branching)
                emitted = _text(subject.assemble(honest), PROBE_PROMPT, TOKENS, 0)
                if emitted != wanted:
                    where = f"token {common_length(emitted, wanted) + 1}"
                    reason = f"with drafts right for {right} tokens the greedy text changes at {where}"
                    return Finding(self.name, about, Conclusion.LOSSY, 1.0, reason, 1.0, where)
        reason = f"any draft leaves the text of {TOKENS} tokens as it is"
        return Finding(self.name, about, Conclusion.LOSSLESS, 0.0, reason)

    def _self_draft(self, subject: Subject) -> Finding:
        world, about = WORLDS[0], f"{subject.name}, self-draft"
        engine = replace(world.engine(subject.rule, subject.branching), length=FixedLength(3))
        honest = replace(engine, drafter=ModelDrafter(TableModel(world.target, world.vocab_size)))
        kept, expected = (_accepted(decoder) for decoder in (subject.assemble(honest), honest))
        if kept < expected:
            reason = f"of its own drafts {kept} were kept, {expected} could be"
            return Finding(self.name, about, Conclusion.WASTEFUL, None, reason)
        return Finding(self.name, about, Conclusion.LOSSLESS, 0.0, f"{kept} of its own drafts were kept, as expected")


def _text(decoder: Decoder, prompt: tuple[int, ...], count: int, seed: int) -> tuple[int, ...]:
    passes = decoder.decode(prompt, Stop(count), PhiloxNoise(seed))
    return tuple(token for done in passes for token in done.emitted)


def _accepted(decoder: Decoder) -> int:
    """Return how many drafted tokens are kept in a few texts of fixed length."""
    runs = (decoder.decode(PROMPT, Stop(SELF_TOKENS), PhiloxNoise(seed)) for seed in range(SEEDS))
    return sum(len(done.path) for passes in runs for done in passes)
