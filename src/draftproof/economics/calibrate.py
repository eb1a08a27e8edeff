"""What passes cost here, found out in a moment by running the real parts before a text: what `Adaptive` needs.

In: an engine and a prompt. Out: `Costs`. Passes are timed where they run, in short runs of
equal ones, since that is how they come in a text; between passes of other lengths they take up to a tenth longer.
"""

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from draftproof.economics.insisting import insisting
from draftproof.economics.measure import in_rounds
from draftproof.economics.pace import Pace
from draftproof.economics.policy import MOST, Costs
from draftproof.economics.rehearsal import STAGES, rehearse
from draftproof.economics.samples import Floats
from draftproof.engine.batch import Request, decode
from draftproof.engine.length import ListedLengths
from draftproof.engine.loop import Engine
from draftproof.engine.passes import Pass
from draftproof.engine.stop import Stop
from draftproof.errors import UsageError
from draftproof.noise import PhiloxNoise
from draftproof.types import TokenId, Tokens

__all__ = ["calibrate", "costs_of"]

RUN = 3
"""So many passes of each length come in a row, of which the first does not count; all lengths rise, and fall again."""
MOST_PROMPT, SHORT_PROMPT = 256, 64
"""So many tokens of the prompt, its last ones, are read for it; and if passes are slow."""
PROBED = 4
"""So many plain passes tell first whether passes are slow; the first reads the last `PROBE` tokens of the prompt."""
PROBE = 8


def calibrate(
    engine: Engine,
    prompt: Sequence[TokenId],
    most: int = MOST,
    batch: int = 1,
    known: Callable[[], Costs | None] = lambda: None,
) -> Costs:
    """Return what passes of this engine cost that draft up to `most` tokens (of a tree: levels).

    It takes as long as 6 * (most + 1) passes and a reading of the prompt: of the embedded pair a third of a second. If
    passes are slow there are `2 * (log2(most) + 2)`, of some lengths; what the others cost lies between.

    Args:
        engine: whose `length` does not matter.
        prompt: token ids, at least one.
        most: 1 or more.
        batch: so many texts are decoded together; the costs are each text's part of it then, of a `batch` of 1.
        known: returns costs that were measured before, if there are any; it is asked where passes are slow.

    Raises:
        UsageError: if the target's context has no room for it.
    """
    room = engine.target.context_limit - most - 2
    if room < 2 or most < 1:
        fitting = engine.target.context_limit - 4
        raise UsageError(f"got {most}; allowed are whole numbers from 1 to {fitting}", "num_speculative_tokens")
    engine = insisting(engine)
    pace = _pace(engine, prompt[-min(PROBE, room // 2) :])
    if pace.hurried and (found := known()):
        return found
    end = list(prompt[-min(SHORT_PROMPT if pace.hurried else MOST_PROMPT, room // 2) :])
    lengths = pace.calibration(most, RUN)
    if batch > 1:
        return _together(engine, end, lengths, batch)
    tokens = min(sum(lengths) + len(lengths), room - len(end))
    timed = rehearse(engine, itertools.repeat(end), lengths, tokens, seed=0)
    settled = [before == length for before, length in itertools.pairwise([None, *lengths])]
    counted = [done if again or pace.hurried else None for again, done in zip(settled, timed, strict=True)]
    passes = [replace(done, drafted=length) for length, done in zip(lengths, counted, strict=True) if done]
    return costs_of(in_rounds([passes], most).seconds[0])


def _pace(engine: Engine, prompt: Sequence[TokenId]) -> Pace:
    """Return what can be afforded, by the fastest of a few passes: a busy machine changes nothing."""
    passes = rehearse(engine, itertools.repeat(prompt), [0] * PROBED, PROBED, seed=0)
    return Pace(min(sum(done.seconds) for done in passes if done))


def _together(engine: Engine, prompt: Tokens, lengths: Sequence[int], batch: int) -> Costs:
    """Return each text's part of passes that several texts make together: all of it, in `target`.

    A pass of the batch ends when the last text is done with it; the first ones, which read the prompt, do not count.
    """
    stop = Stop(sum(lengths) + len(lengths), engine.target.context_limit)
    noises = tuple(PhiloxNoise(0, sample) for sample in range(batch))
    happened = decode([Request(replace(engine, length=ListedLengths(lengths)), prompt, stop, noises)], batch)
    by_length: list[list[float]] = [[] for _ in range(max(lengths) + 1)]
    began = 0.0
    for i, length in enumerate(lengths):
        passes = list(itertools.islice(happened, batch))
        if not all(isinstance(done.what, Pass) for done in passes):
            break  # the context is full
        ended = time.perf_counter()
        if i and lengths[i - 1] == length:
            by_length[length].append(ended - began)
        began = ended
    happened.close()  # pyright: ignore[reportAttributeAccessIssue]
    seen = [length for length, seconds in enumerate(by_length) if seconds]
    seconds = np.interp(range(len(by_length)), seen, [np.median(by_length[length]) for length in seen]) / batch
    return Costs(0.0, tuple(map(float, seconds)))


def costs_of(seconds: Floats) -> Costs:
    """Return costs from (most + 1, stages) seconds; what draft steps take unevenly counts to the pass's own."""
    draft, target = (seconds[:, STAGES.index(stage)] for stage in ("draft", "target"))
    steps = range(len(seconds))
    step = float(draft.sum()) / sum(steps)
    own = [max(0.0, float(seconds[k].sum() - target[k] - k * step)) for k in steps]
    return Costs(step, tuple(map(float, target)), tuple(own))
