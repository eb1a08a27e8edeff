"""The replay witness: every row that the engine used, scored anew from the text alone, and every log-probability.

In: runs of an assembled engine. Out: findings. It catches stale caches, wrong positions, settings applied to other rows
than they belong to (`Replay`), and reports that do not belong to the text (`Report`).
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from draftproof.engine.passes import Pass
from draftproof.records import Conclusion, Finding
from draftproof.types import Text
from draftproof.witness.base import Subject
from draftproof.witness.rescoring import Run, fresh_laws, runs_on_tables

__all__ = ["Replay", "Report"]

REPORT_ROUNDING = 1e-12
"""exp(log(p)) of a float64 differs from p by a few units in the last place."""


Gap = Callable[[Run, Pass, Sequence[int]], float]


class Replay:
    """See `Witness`: one finding for each run, about the rows of the target.

    Args:
        runs: generations to examine beside those on tables, which are compared exactly.
    """

    name = "replay"

    def __init__(self, runs: Iterable[Run] = ()) -> None:
        self.runs = (*runs_on_tables(), *runs)

    def examine(self, subject: Subject) -> Iterator[Finding]:
        """See `Witness.examine`."""
        for run in self.runs:
            gap, where = _largest(run, subject, _row_gap, run.slack)
            yield _finding(self.name, f"{subject.name}, {run.name}", gap, where, "rows")


class Report:
    """See `Witness`: one finding for each run, about what is reported of it: log-probabilities and counts.

    Args:
        runs: generations to examine beside those on tables.
    """

    name = "report"

    def __init__(self, runs: Iterable[Run] = ()) -> None:
        self.runs = (*runs_on_tables(), *runs)

    def examine(self, subject: Subject) -> Iterator[Finding]:
        """See `Witness.examine`."""
        for run in self.runs:
            gap, where = _largest(run, subject, _report_gap, max(run.slack, REPORT_ROUNDING))
            yield _finding(self.name, f"{subject.name}, {run.name}", gap, where, "log-probabilities")


def _largest(run: Run, subject: Subject, gap_of: Gap, slack: float) -> tuple[float, str | None]:
    """Return the largest gap over all passes, and where one first exceeds `slack`."""
    largest, where = 0.0, None
    for seed in run.seeds:
        text = Text(run.prompt, len(run.prompt))
        for done in run.passes(subject, seed):
            gap = gap_of(run, done, text)
            if gap > slack and where is None:
                where = f"token {len(text) - len(run.prompt) + 1}"
            largest = max(largest, gap)
            text += done.emitted
    return largest, where


def _row_gap(run: Run, done: Pass, text: Sequence[int]) -> float:
    """Return the largest distance between the rows of a pass and the rows it should have used."""
    prefixes = done.proposal.prefixes(text)
    if done.start != len(text) or len(done.target) != len(prefixes):
        return math.inf
    largest = float(abs(done.target - fresh_laws(run.engine, prefixes)).max())
    return largest if math.isfinite(largest) else math.inf


def _report_gap(run: Run, done: Pass, text: Sequence[int]) -> float:
    """Return the largest distance between the reported probability of a token and its probability."""
    record = done.record()
    if len(done.logprobs) != len(done.emitted) or not 0 <= record.accepted <= len(record.drafted):
        return math.inf
    if not done.emitted:
        return 0.0
    prompt_length = len(run.prompt)
    prefixes = [Text([*text, *done.emitted[:i]], prompt_length) for i in range(len(done.emitted))]
    laws = fresh_laws(run.engine, prefixes)
    right = [float(row[token]) for row, token in zip(laws, done.emitted, strict=True)]
    return max(abs(math.exp(said) - chance) for said, chance in zip(done.logprobs, right, strict=True))


def _finding(witness: str, subject: str, gap: float, where: str | None, what: str) -> Finding:
    if where is None:
        return Finding(
            witness, subject, Conclusion.LOSSLESS, gap, f"all {what} are those of a fresh reading of the text"
        )
    reason = f"{what} differ from a fresh reading of the text, by up to {gap:.2g}, first at {where}"
    return Finding(witness, subject, Conclusion.LOSSY, gap, reason, None, where)
