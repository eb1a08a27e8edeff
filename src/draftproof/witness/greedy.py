"""The greedy witness: at temperature 0 every token must be the best of plain decoding, unless rounding made a tie.

In: runs at temperature 0 of an assembled engine on a real model. Out: findings. A divergence counts as a tie flip only
if the plain model's gap at that place is within the rounding that this machine shows on this text; else it is LOSSY.
Where a wrong cache would change no token by more than that, nothing can be said.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from draftproof.arrays import array_namespace
from draftproof.drafters.model import ModelDrafter
from draftproof.engine import plain
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.noise import PhiloxNoise
from draftproof.records import Conclusion, Finding
from draftproof.warpers.pipeline import Pipeline
from draftproof.warpers.temperature import Temperature
from draftproof.witness.adversaries import Misled
from draftproof.witness.base import Subject
from draftproof.witness.readings import Readings, faulty_rows, readings
from draftproof.witness.rescoring import Run
from draftproof.witness.rounding import behind, margin_rounding

__all__ = ["Greedy", "at_temperature_zero"]

GREEDY = Pipeline((Temperature(0),))


def at_temperature_zero(engine: Engine) -> Engine:
    """Return the engine with a greedy target and, where a model drafts, a greedy draft."""
    drafter = engine.drafter
    if isinstance(drafter, ModelDrafter | Misled):
        drafter = replace(drafter, pipeline=GREEDY)
    return replace(engine, pipeline=GREEDY, drafter=drafter)


class Greedy:
    """See `Witness`: one finding for each run.

    Args:
        runs: generations to examine; their temperature is set to 0.
        name: what findings are filed under.
    """

    def __init__(self, runs: Iterable[Run], name: str = "greedy") -> None:
        self.name = name
        self.runs = [replace(run, engine=at_temperature_zero(run.engine)) for run in runs]
        self._texts = dict[tuple[int, tuple[int, ...], Stop], list[int]]()

    def examine(self, subject: Subject) -> Iterator[Finding]:
        """See `Witness.examine`."""
        for run in self.runs:
            emitted = [token for done in run.passes(subject, run.seeds[0]) for token in done.emitted]
            yield self._judge(f"{subject.name}, {run.name}", run, emitted)

    def _judge(self, about: str, run: Run, emitted: list[int]) -> Finding:
        wanted = self._plain_text(run)
        if emitted == wanted:
            reason = f"the text of {len(wanted)} tokens is that of plain decoding"
            return Finding(self.name, about, Conclusion.LOSSLESS, 0.0, reason)
        shared = next((i for i, (a, b) in enumerate(zip(emitted, wanted, strict=False)) if a != b), None)
        if shared is None:
            where = f"token {min(len(emitted), len(wanted)) + 1}"
            reason = f"the text has {len(emitted)} tokens, plain decoding emits {len(wanted)}"
            return Finding(self.name, about, Conclusion.LOSSY, None, reason, None, where)
        return self._divergence(about, run, emitted)

    def _plain_text(self, run: Run) -> list[int]:
        """Return the text of plain decoding; runs that differ in their drafts share it."""
        key = id(run.engine.target), run.prompt, run.stop
        if key not in self._texts:
            parts = run.engine.target, run.engine.pipeline, run.prompt, run.stop, PhiloxNoise(0)
            self._texts[key] = list(plain.decode(*parts))
        return self._texts[key]

    def _divergence(self, about: str, run: Run, emitted: list[int]) -> Finding:
        """Read the emitted text as plain decoding does: each token must be its best, or level with it."""
        width = run.engine.length.begin().next(0) + 1
        read = readings(run.engine.target, run.prompt, emitted, (width,))
        rounding = margin_rounding(read)
        gaps = [behind(row, token) for row, token in zip(read.plain, emitted, strict=True)]
        worst = max(gaps)
        if worst > rounding:
            at = next(i for i, gap in enumerate(gaps) if gap > rounding)
            reason = f"token {at + 1} is {gaps[at]:.3g} below the plain model's best; rounding here is {rounding:.2g}"
            return Finding(self.name, about, Conclusion.LOSSY, 1.0, reason, None, f"token {at + 1}")
        if hidden := _hidden(run, emitted, read, rounding):
            reason = f"tie flips at most, but rounding here is {rounding:.2g}, so that {hidden[0]} could hide"
            return Finding(self.name, about, Conclusion.UNDECIDED, None, reason)
        reason = f"tie flips only: at most {worst:.2g} below the best, where rounding is {rounding:.2g}"
        return Finding(self.name, about, Conclusion.LOSSLESS, 0.0, reason)


def _hidden(run: Run, emitted: list[int], read: Readings, rounding: float) -> list[str]:
    """Return the faults whose best tokens would all be level with the plain model's; any, where none was tried."""
    faults = faulty_rows(run.engine.target, run.prompt, emitted, read.plain)
    if not faults:
        return ["any fault"]
    xp = array_namespace(read.plain)
    return [
        name
        for name, (rows, right) in faults.items()
        if all(behind(row, int(best)) <= rounding for row, best in zip(right, xp.argmax(rows, axis=-1), strict=True))
    ]
