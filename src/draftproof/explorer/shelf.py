"""The stored measurements as the page offers them: for each drafter the newest that still holds, in plain passes.

In: the folder that `draftproof measure` fills. Out: costs by drafter and rule, and in words why they may not hold. The
folder is read when it is looked at, not whenever a number is shown.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from draftproof.economics.costs import pass_seconds, plain_seconds, usual_context
from draftproof.economics.predict import Costs
from draftproof.economics.samples import Samples
from draftproof.economics.store import fingerprints, read, samples_of, stale
from draftproof.errors import UsageError
from draftproof.explorer.prospect import costs_by_hand
from draftproof.explorer.state import State
from draftproof.records import Measurement

__all__ = ["Shelf", "Stored", "measured_costs"]

LEAST = 0.01
"""Plain passes: less than this a pass cannot take beside its draft steps, whatever noise says."""


@dataclass(frozen=True)
class Stored:
    """What a measurement says of one drafter."""

    about: str
    """Of which target and temperature."""
    costs: dict[str, Costs]
    """By rule."""
    stale: tuple[str, ...]
    """In what machine and models differ by now; nothing if the measurement holds."""


class Shelf:
    """What was measured, by drafter, as the folder was when it was last looked at."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._wanted = folder, ""
        self.stored: dict[str, Stored] = {}
        self.look()

    def look(self) -> None:
        """Read the folder again; files that did not change are remembered."""
        dated = [(path.stat().st_mtime_ns, path) for path in self._folder.glob("*.json")]
        every = [pair for when, path in sorted(dated, reverse=True) for pair in _drafters(path, when)]
        every.sort(key=lambda pair: bool(pair[1].stale))
        self.stored = dict(reversed(every))

    def costs_of(self, state: State) -> Costs:
        """Return the costs that the state asks for: measured ones if there are, else those set by hand."""
        if state.measured != self._wanted:
            self._wanted = state.measured
            self.look()
        found = self.stored.get(state.measured)
        return costs_by_hand(state) if found is None else found.costs.get(state.rule, next(iter(found.costs.values())))


def measured_costs(measurement: Measurement, samples: Samples, drafter: str, rule: str) -> Costs:
    """Return what a measurement says of a drafter and a rule, in plain passes.

    The curve is what passes of 1, 2, .. rows took beside their draft steps: the target's rows, the rule and all else,
    which grow with the length too. So each pass costs here what it was measured to cost.
    """
    context = usual_context(samples, list(samples.texts))
    passes = pass_seconds(samples, drafter, rule, context).mean(axis=0) / plain_seconds(samples, context).mean()
    draft = measurement.values[f"{drafter}: draft step / plain token"]
    beside = [max(LEAST, float(cost) - length * draft) for length, cost in enumerate(passes)]
    return Costs(draft, (1.0, *beside[1:]))


def _drafters(path: Path, when: int) -> Iterator[tuple[str, Stored]]:
    try:
        measurement, samples = _read(path, when)
    except UsageError:  # of another version, or damaged: as good as none
        return
    subject = measurement.subject
    reasons = tuple(stale(measurement, fingerprints(list(subject["fingerprints"]))))
    about = f"{subject['target']} at temperature {subject['temperature']:g}"
    for drafter, rules in samples.passes.items():
        yield (
            drafter,
            Stored(about, {rule: measured_costs(measurement, samples, drafter, rule) for rule in rules}, reasons),
        )


@lru_cache(maxsize=16)
def _read(path: Path, _when: int) -> tuple[Measurement, Samples]:
    """Return what is in a file that was written at `_when`, so that a file written again is read again."""
    found = read(path)
    return found, samples_of(found)
