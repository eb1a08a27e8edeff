"""The passes of a model that rounds, judged: are their rows those of a fresh reading, and is what is reported theirs?

In: an honest engine, a prompt, the passes that were made of it. Out: findings. Rows are compared as far as the rounding
that was measured on this text allows; the laws must be those of the rows, and the reports those of the laws, exactly.
"""

import math
from collections.abc import Sequence
from itertools import accumulate

from draftproof.arrays import array_namespace
from draftproof.engine.loop import Engine
from draftproof.engine.passes import Pass
from draftproof.models.base import Model
from draftproof.records import Conclusion, Finding
from draftproof.types import Array, Text
from draftproof.witness.readings import faulty_rows, read_alone, read_beside, read_in_pieces, readings
from draftproof.witness.rescoring import fresh_rows
from draftproof.witness.rounding import Rounding, row_gaps

__all__ = ["replayed", "reported", "rounding_of"]

EXACT = 1e-9
"""Laws are made of the same rows by the same lines, in float64; only sums may be ordered otherwise."""


def replayed(
    about: str, engine: Engine, prompt: Sequence[int], passes: Sequence[Pass], *, steady: bool = False
) -> Finding:
    """Return what fresh readings say about the rows and laws of all passes.

    Args:
        about: the subject of the finding.
        engine: an honest one.
        prompt: what the text begins with.
        passes: those of the engine under examination.
        steady: whether the target promises to round alike however it is read; then no gap is too small to be a fault.
    """
    if not any(done.emitted for done in passes):
        return Finding("replay", about, Conclusion.UNDECIDED, None, "nothing was emitted")
    gaps: list[float] = []
    deviation, pieces = 0.0, list[list[float]]()
    for done, text in _with_texts(prompt, passes):
        prefixes, where = done.proposal.prefixes(text), f"token {len(text) - len(prompt) + 1}"
        if done.start != len(text) or not len(done.target) == len(done.rows) == len(prefixes):
            reason = "the pass has other rows than its text and drafts"
            return Finding("replay", about, Conclusion.LOSSY, None, reason, None, where)
        if not _apart(done.target, engine.pipeline.laws(done.rows, engine.target.row_kind, prefixes)) <= EXACT:
            reason = "the laws are not those that the settings make of the model's rows after this text"
            return Finding("replay", about, Conclusion.LOSSY, None, reason, None, where)
        fresh = fresh_rows(engine.target, prefixes)
        gaps += row_gaps(done.rows, fresh)
        pieces.append(row_gaps(read_in_pieces(engine.target, prefixes), fresh))
        deviation = max(deviation, _apart(done.target, engine.pipeline.laws(fresh, engine.target.row_kind, prefixes)))
    rounding = rounding_of(engine.target, prompt, passes, [gap for some in pieces for gap in some])
    where = _place(prompt, passes, gaps, rounding.bound)
    if rounding.exceeded(gaps) and not steady and not rounding.clear(gaps):
        reason = f"rows are up to {max(gaps):.2g} from a fresh reading: more than rounding did, less than a fault would"
        return Finding("replay", about, Conclusion.UNDECIDED, deviation, reason, None, where)
    return _replay_finding(about, passes, gaps, deviation, rounding, where)


def rounding_of(target: Model, prompt: Sequence[int], passes: Sequence[Pass], measured: Sequence[float]) -> Rounding:
    """Measure how the rows of this text round, and what faults would do to them.

    Args:
        target: an honest model.
        prompt: of the text.
        passes: those that made the text.
        measured: gaps of the drafted tokens, which are no part of the text.
    """
    emitted = [token for done in passes for token in done.emitted]
    widths = [len(done.drafted) + 1 for done in passes]
    read = readings(target, prompt, emitted, widths)
    beside = ((read_beside(target, prompt, emitted, some), read.once) for some in ((1,), widths))
    pairs = (*read.pairs(), *beside, read_alone(target, prompt, emitted))
    gaps = (measured, *(row_gaps(one, other) for one, other in pairs))
    spread = float(array_namespace(read.once).mean(array_namespace(read.once).std(read.once, axis=-1)))
    faults = faulty_rows(target, prompt, emitted, read.once)
    return Rounding(gaps, spread, {name: row_gaps(rows, right) for name, (rows, right) in faults.items()})


def reported(about: str, prompt: Sequence[int], passes: Sequence[Pass]) -> Finding:
    """Return whether what is told of the passes is true of their laws, whose rows `replayed` vouches for."""
    largest = 0.0
    for done, text in _with_texts(prompt, passes):
        where, record = f"token {len(text) - len(prompt) + 1}", done.record()
        prefixes, rows = done.proposal.prefixes(text), done.emitted_rows
        whole = len(done.logprobs) == len(done.emitted) == len(rows) and 0 <= record.accepted <= len(record.drafted)
        if not whole or any(prefixes[row] != [*text, *done.emitted[:i]] for i, row in enumerate(rows)):
            reason = "the counts, or the rows of the emitted tokens, are not those of the pass"
            return Finding("report", about, Conclusion.LOSSY, None, reason, None, where)
        chances = [float(done.target[row, token]) for row, token in zip(rows, done.emitted, strict=True)]
        gap = max((abs(math.exp(a) - b) for a, b in zip(done.logprobs, chances, strict=True)), default=0.0)
        largest = max(largest, gap)
        if not gap <= EXACT:
            reason = f"log-probabilities are not those of the laws, by up to {gap:.2g}"
            return Finding("report", about, Conclusion.LOSSY, gap, reason, None, where)
    return Finding("report", about, Conclusion.LOSSLESS, largest, "all log-probabilities are those of the laws")


def _with_texts(prompt: Sequence[int], passes: Sequence[Pass]) -> list[tuple[Pass, Text]]:
    """Return each pass with the text before it."""
    outputs = accumulate((done.emitted for done in passes), initial=())
    return [(done, Text([*prompt, *before], len(prompt))) for done, before in zip(passes, outputs, strict=False)]


def _apart(one: Array, other: Array) -> float:
    """Return the largest distance of two sets of laws."""
    return float(array_namespace(one, other).max(abs(one - other)))


def _place(prompt: Sequence[int], passes: Sequence[Pass], gaps: Sequence[float], bound: float) -> str:
    """Return where a gap first exceeds the bound; the beginning where none does by itself."""
    first = next((i for i, gap in enumerate(gaps) if gap > bound), 0)
    ends = accumulate(len(done.rows) for done in passes)
    done = next(done for done, end in zip(passes, ends, strict=True) if first < end)
    return f"token {done.start - len(prompt) + 1}"


def _replay_finding(
    about: str, passes: Sequence[Pass], gaps: Sequence[float], deviation: float, rounding: Rounding, where: str
) -> Finding:
    measured = f"reading in other pieces moves {rounding.rows} rows of this text by up to {rounding.largest:.2g}"
    if rounding.exceeded(gaps):
        reason = f"rows are up to {max(gaps):.2g} from a fresh reading; {measured}, allowed is {rounding.bound:.2g}"
        return Finding("replay", about, Conclusion.LOSSY, deviation, reason, None, where)
    if hidden := rounding.hidden():
        reason = f"rows are as a fresh reading, but {measured}, so that {hidden[0]} could hide"
        return Finding("replay", about, Conclusion.UNDECIDED, deviation, reason)
    if faults := [done.fault for done in passes if done.fault is not None]:
        reason = f"rows are as a fresh reading, but the drafter failed in {len(faults)} passes: {faults[0]}"
        return Finding("replay", about, Conclusion.UNDECIDED, deviation, reason)
    drafted, kept = sum(len(done.drafted) for done in passes), sum(len(done.path) for done in passes)
    rows = f"{len(gaps)} rows ({kept} of {drafted} drafts were kept)"
    reason = f"{rows} are at most {max(gaps):.2g} from a fresh reading; {measured}"
    return Finding("replay", about, Conclusion.LOSSLESS, deviation, reason)
