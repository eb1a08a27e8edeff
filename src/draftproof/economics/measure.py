"""Measures a pair on this machine: what passes cost, and what models say along texts that the target writes.

In: a pair. Out: `Samples`, with which `forecast.py` computes. Costs come in rounds, each a whole measurement, so that a
machine that drifts shows in the spread of the rounds.
"""

import itertools
import random
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from draftproof.economics.insisting import insisting
from draftproof.economics.pace import Pace
from draftproof.economics.pair import FEWEST_ROUNDS, LONGEST, Pair
from draftproof.economics.rehearsal import TimedPass, plain_seconds, rehearse
from draftproof.economics.samples import Floats, Rounds, Samples
from draftproof.economics.scoring import score_texts
from draftproof.economics.slope import slope
from draftproof.types import Tokens

__all__ = ["in_rounds", "measure", "steps"]

PROBED = 4
"""Plain passes that tell how many a measurement can afford; the first reads the prompt."""


def measure(
    pair: Pair,
    rounds: int,
    seed: int,
    advance: Callable[[str], None] = lambda _: None,
    between: Callable[[int], None] = lambda _: None,
) -> Samples:
    """Measure costs and texts.

    Args:
        pair: what is measured.
        rounds: 4 or more.
        seed: of texts and order.
        advance: told of every one of `steps(pair, rounds)`.
        between: called with its number after every round; what it does belongs to the same minutes as the costs.

    An interruption (Ctrl-C) after enough rounds for an interval ends the measurement with those that are whole.

    Raises:
        UsageError: if rounds or prompts are too few for an interval, or texts do not fit the context.
    """
    pair.check(rounds)
    pace = _pace(pair, seed)
    texts = {workload: score_texts(pair, prompts, seed, advance, pace) for workload, prompts in pair.prompts.items()}
    silent = {d for d in pair.drafters if not all(text.along[d].proposed.all() for text in texts.values())}
    found: dict[tuple[str, str], list[list[TimedPass]]] = {(d, rule): [] for d in pair.drafters for rule in pair.rules}
    plain: list[list[TimedPass]] = []
    order = random.Random(seed)  # noqa: S311 - the order of a measurement is no secret
    prompts = itertools.cycle(_mixed(pair))
    try:
        for i in range(rounds):
            alone = _round(pair, pace, silent, found, prompts, order, lambda i=i: advance(f"round {i + 1} of {rounds}"))
            between(i)
            plain.append(alone)
    except KeyboardInterrupt:
        if len(plain) < FEWEST_ROUNDS:
            raise
    passes = {d: {rule: in_rounds(found[d, rule][: len(plain)], LONGEST) for rule in pair.rules} for d in pair.drafters}
    rows = in_rounds(plain, 0)
    return Samples(pair.tokens, Rounds(rows.seconds[:, 0, 0], rows.contexts[:, 0], rows.slope), passes, texts)


def steps(pair: Pair, rounds: int) -> int:
    """Return how often `measure` tells `advance`."""
    return sum(map(len, pair.prompts.values())) + rounds * len(pair.drafters) * len(pair.rules)


def _pace(pair: Pair, seed: int) -> Pace:
    """Return what can be afforded, by the fastest of a few passes: a busy machine changes nothing."""
    prompt = next(iter(pair.prompts.values()))[0]
    return Pace(min(plain_seconds(pair.target, pair.pipeline, prompt, PROBED, seed)[1][1:]))


def _mixed(pair: Pair) -> list[Tokens]:
    """Return all prompts, the workloads in turn."""
    turns = itertools.zip_longest(*pair.prompts.values())
    return [prompt for turn in turns for prompt in turn if prompt is not None]


def _round(
    pair: Pair,
    pace: Pace,
    silent: set[str],
    found: dict[tuple[str, str], list[list[TimedPass]]],
    prompts: Iterator[Tokens],
    order: random.Random,
    done: Callable[[], None],
) -> list[TimedPass]:
    """Add the passes of a round to each setting in `found`; return those of plain decoding in between.

    Lengths rise for one setting and fall for the next, so that none follows a very different one, and a drift cancels.
    """
    alone = list[TimedPass]()
    rising, falling = pace.lengths, pace.lengths[::-1]
    for setting in order.sample(list(found), len(found)):
        alone += _plain(pair, pace, next(prompts), order.getrandbits(32))
        lengths = falling if sum(map(len, found.values())) % 2 else rising
        schedule = pace.schedule(lengths, setting[0] in silent)
        found[setting].append(_passes(pair, pace, setting, schedule, prompts, order.getrandbits(32)))
        done()
    return alone


def _plain(pair: Pair, pace: Pace, prompt: Tokens, seed: int) -> list[TimedPass]:
    """Return the passes of plain decoding of one text, without the first, which reads the prompt.

    Where the text is not made to its end, those that do not count among others do not count here.
    """
    seconds = plain_seconds(pair.target, pair.pipeline, prompt, pace.plain(pair.tokens), seed)[1]
    settling = pace.settling if pace.hurried else 0
    return [TimedPass(0, len(prompt) + i, (spent,)) for i, spent in enumerate(seconds) if i > settling]


def _passes(
    pair: Pair, pace: Pace, setting: tuple[str, str], schedule: Sequence[int], prompts: Iterator[Tokens], seed: int
) -> list[TimedPass]:
    """Return the passes of every draft length that count; a drafter that is silent at times drafts something then."""
    passes = rehearse(insisting(pair.engine(*setting, LONGEST)), prompts, schedule, pair.tokens, seed)
    return [done for i, done in enumerate(passes) if done is not None and i % pace.repeated >= pace.settling]


def in_rounds(rounds: Sequence[Sequence[TimedPass]], longest: int) -> Rounds:
    """Return the median seconds of the passes of each length in each round, and how they grow with the context."""
    medians = [_medians(passes, longest) for passes in rounds]
    seconds, contexts = (np.array([some[part] for some in medians]) for part in (0, 1))
    return Rounds(seconds, contexts, slope([done for passes in rounds for done in passes]))


def _medians(passes: Sequence[TimedPass], longest: int) -> tuple[Floats, Floats]:
    """Return (longest + 1, stages) seconds and (longest + 1,) contexts; of a length that never came, between others."""
    by_length: dict[int, list[TimedPass]] = {}
    for done in passes:
        by_length.setdefault(done.drafted, []).append(done)
    seen = sorted(by_length)
    seconds = np.array([np.median([done.seconds for done in by_length[length]], axis=0) for length in seen])
    contexts = [float(np.mean([done.context for done in by_length[length]])) for length in seen]
    lengths = range(longest + 1)
    filled = np.stack([np.interp(lengths, seen, stage) for stage in seconds.T], axis=1)
    return filled, np.interp(lengths, seen, contexts)
