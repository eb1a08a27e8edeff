"""The figures on real models as they are measured: kept after every prompt, so that an interruption loses one at most.

In: groups of arms. Out: seconds by group, prompt and arm, in benchmarks/results/real.json; medians of ratios. In a
round all arms of a group write one text, every other round backwards; ratios are of texts of one round.
"""

import json
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from draftproof.records import Measurement
from real_arms import Arm, Done

QUESTION = "How fast are real models beside the engines that people use?"
FILE = Path(__file__).parent / "results" / "real.json"
WARMING = 4
"""Tokens of the text with which each arm is warmed up."""
CONFIDENCE = 0.95


class Table:
    """All that was measured so far, on one machine.

    Args:
        machine: what must be the same for figures to stand side by side.
        file: where they are kept.
        again: begin anew.
    """

    def __init__(self, machine: dict[str, str], file: Path = FILE, *, again: bool = False) -> None:
        self.machine, self.file = machine, file
        self.rounds: dict[str, dict[str, dict[str, Any]]] = {}
        """group -> prompt number -> arm -> `Done` as a list, and `tokens`."""
        self.facts: dict[str, Any] = {}
        """Plans, tuned lengths, overheads: by name."""
        if file.exists() and not again:
            kept = json.loads(file.read_text())
            if kept["machine"] == machine:
                self.rounds, self.facts = kept["samples"]["rounds"], kept["samples"]["facts"]
            else:
                print(f"{file.name} is of another machine or other versions: everything is measured anew")

    def fact(self, name: str, found: Callable[[], Any]) -> Any:
        """Return what is known under a name; it is found out once."""
        if name not in self.facts:
            self.facts[name] = found()
            self.save()
        return self.facts[name]

    def measure(self, group: "Group", said: Callable[[str], None]) -> None:
        """Measure the rounds of a group that are not there."""
        kept = self.rounds.setdefault(group.name, {})
        missing = [i for i in range(len(group.prompts)) if not self._has(group, i)]
        for i in missing:
            kept.pop(str(i), None)
        if not missing:
            return
        for arm in group.arms.values():
            arm(group.prompts[missing[0]], WARMING, 0)
        for i in missing:
            names = list(group.arms)
            found: dict[str, Any] = {"tokens": group.tokens}
            for name in reversed(names) if i % 2 else names:
                said(f"{group.name}: text {i + 1} of {len(group.prompts)}, {name}")
                found[name] = list(group.arms[name](group.prompts[i], group.tokens, i))
            kept[str(i)] = found
            self.save()

    def _has(self, group: "Group", number: int) -> bool:
        kept = self.rounds[group.name].get(str(number), {})
        return kept.keys() == {"tokens", *group.arms} and kept["tokens"] == group.tokens

    def ratios(self, group: str, slow: str, fast: str, *, decoding: bool = False) -> list[float]:
        """Return seconds(slow) / seconds(fast) of each text; only what followed the first tokens if `decoding`."""
        rounds = [(Done(*kept[slow]), Done(*kept[fast])) for kept in self.rounds[group].values()]
        return [_seconds(one, decoding) / _seconds(other, decoding) for one, other in rounds]

    def save(self) -> None:
        """Write everything; what was there stays whole until it is replaced."""
        values = {name: round(value, 5) for row in self.rows() for name, value in row.values().items()}
        samples = {"rounds": self.rounds, "facts": self.facts, "rows": [asdict(row) for row in self.rows()]}
        record = Measurement(QUESTION, self.machine, values, samples=samples)
        self.file.parent.mkdir(exist_ok=True)
        part = self.file.with_suffix(".part")
        part.write_text(json.dumps(record.to_json(), indent=1) + "\n")
        part.replace(self.file)

    def rows(self) -> list["Row"]:
        """Return the lines of the table: every arm against every arm that it is to be compared with."""
        found = []
        for group, rounds in self.rounds.items():
            arms = [name for name in next(iter(rounds.values()), {}) if name != "tokens"]
            for slow, fast in COMPARED:
                pairs = [(a, b) for a in arms for b in arms if a.startswith(slow) and b.startswith(fast)]
                found += [self._row(group, a, b) for a, b in pairs if a != b]
        return found

    def _row(self, group: str, slow: str, fast: str) -> "Row":
        whole, decoding = self.ratios(group, slow, fast), self.ratios(group, slow, fast, decoding=True)
        predicted = self.facts.get(f"{group}: predicted", {}).get(fast) if slow == "plain" else None
        middle, ends = statistics.median(whole), interval(whole)
        return Row(group, fast, slow, len(whole), middle, ends, statistics.median(decoding), predicted)


COMPARED = (
    ("plain", "ours"),
    ("transformers", "plain"),
    ("assisted", "ours"),
    ("lookup", "ours"),
    ("plain", "assisted"),
    ("plain", "lookup"),
)
"""(slower, faster), by how the names of arms begin."""


@dataclass(frozen=True)
class Row:
    """How many times as fast one arm is as another."""

    group: str
    arm: str
    beside: str
    texts: int
    ratio: float
    interval: tuple[float, float]
    decoding: float
    """The ratio without the time until the first tokens."""
    predicted: tuple[float, float, float] | None
    """What the plan says for arms beside plain decoding: speed-up, and the ends of its 90 % interval."""

    def values(self) -> Mapping[str, float]:
        name = f"{self.group}: {self.arm} / {self.beside}"
        found = {name: self.ratio, f"{name} (low)": self.interval[0], f"{name} (high)": self.interval[1]}
        found[f"{name} (decoding)"] = self.decoding
        return found if self.predicted is None else found | {f"{name} (predicted)": self.predicted[0]}


@dataclass(frozen=True)
class Group:
    """What is compared on the same prompts.

    Args:
        name: for people.
        arms: by name.
        prompts: token ids.
        tokens: of each text.
    """

    name: str
    arms: Mapping[str, Arm]
    prompts: Sequence[Sequence[int]]
    tokens: int


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return order statistics between which the median lies with 95 % confidence; of few values, the outermost.

    >>> interval([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    (1.0, 8.0)
    >>> interval([float(i) for i in range(1, 21)])
    (6.0, 15.0)
    """
    ordered, count, outside, rank = sorted(values), len(values), 0.0, 0
    while rank < (count - 1) // 2:
        outside += math.comb(count, rank) / 2 ** (count - 1)
        if outside > 1 - CONFIDENCE:
            break
        rank += 1
    rank = max(0, rank - 1)
    return ordered[rank], ordered[-1 - rank]


def _seconds(done: Done, decoding: bool) -> float:
    return done.seconds - done.first if decoding else done.seconds
