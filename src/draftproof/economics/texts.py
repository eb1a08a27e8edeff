"""The texts along which a pair is measured: of the target's own law, by plain decoding.

In: a pair, prompts. Out: texts, each with the seconds until its first token. If passes are slow, the texts are written
together: a pass over a row of each takes hardly longer than one, and their law is the same.
"""

from collections.abc import Iterator, Sequence

from draftproof.drafters.none import NoDrafter
from draftproof.economics.pace import Pace
from draftproof.economics.pair import Pair
from draftproof.economics.rehearsal import plain_seconds
from draftproof.engine.batch import Request, decode
from draftproof.engine.gathered import gathered
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.passes import Pass
from draftproof.engine.stop import Stop
from draftproof.noise import PhiloxNoise
from draftproof.rules.catalogue import CHAIN_RULES
from draftproof.types import Tokens

__all__ = ["written"]

TOGETHER = 8
"""So many texts at a time."""


def written(pair: Pair, prompts: Sequence[Tokens], seed: int, pace: Pace) -> Iterator[tuple[list[int], float]]:
    """Yield a text after each prompt, and the seconds of its first token, which reads the prompt.

    Args:
        pair: whose target writes, `pair.tokens` tokens each.
        prompts: one or more.
        seed: of the first text; each has one of its own.
        pace: tells whether they are written together.
    """
    if not pace.hurried:
        for i, prompt in enumerate(prompts):
            text, seconds = plain_seconds(pair.target, pair.pipeline, prompt, pair.tokens, seed + i)
            yield text, seconds[0]
        return
    for first in range(0, len(prompts), TOGETHER):
        some = prompts[first : first + TOGETHER]
        for i, text in enumerate(_together(pair, some, seed + first)):
            yield text, plain_seconds(pair.target, pair.pipeline, some[i], 1, seed)[1][0]


def _together(pair: Pair, prompts: Sequence[Tokens], seed: int) -> list[list[int]]:
    target = gathered(pair.target, patient=True)
    engine = Engine(target, NoDrafter(), CHAIN_RULES["token"], pair.pipeline, FixedLength(0))
    stop = Stop(pair.tokens, target.context_limit)
    requests = [Request(engine, prompt, stop, (PhiloxNoise(seed + i),)) for i, prompt in enumerate(prompts)]
    texts: list[list[int]] = [[] for _ in prompts]
    for number, _, what in decode(requests, len(prompts)):
        if isinstance(what, Exception):
            raise what
        if isinstance(what, Pass):
            texts[number] += what.emitted
    return texts
