"""What part of a generation is no forward pass of a model: warpers, rule, draws, bookkeeping; and the live certificate.

In: an engine of two models, prompts. Out: shares of the whole time, each the median over the prompts.
"""

import statistics
import time
from collections.abc import Sequence
from dataclasses import replace

from draftproof import Certificate, Engine, PhiloxNoise, Stop
from draftproof.drafters.model import ModelDrafter
from draftproof.economics.rehearsal import STAGES, Timed, rehearse


def overhead(engine: Engine, prompts: Sequence[Sequence[int]], tokens: int) -> dict[str, float]:
    """Return the shares without and with the certificate, taking turns, and of each stage by the stopwatch of plans."""
    share(engine, prompts[0], tokens, 0, certified=True)  # warm-up
    found = {False: [], True: []}
    for i, prompt in enumerate(prompts):
        for certified in (i % 2 == 0, i % 2 == 1):
            found[certified].append(share(engine, prompt, tokens, i, certified=certified))
    return {
        "certificate off": statistics.median(found[False]),
        "certificate on": statistics.median(found[True]),
        **stages(engine, prompts, tokens),
    }


def share(engine: Engine, prompt: Sequence[int], tokens: int, seed: int, *, certified: bool) -> float:
    """Return the share of one text."""
    drafter: ModelDrafter = engine.drafter  # a lookup has no forward pass
    target, draft = Timed(engine.target, ("extend",)), Timed(drafter.model, ("extend",))
    timed = replace(engine, target=target, drafter=replace(drafter, model=draft))
    certificate = Certificate(engine.rule)
    began = time.perf_counter()
    for done in timed.decode(prompt, Stop(tokens), PhiloxNoise(seed)):
        if certified:
            certificate.add(done)
    total = time.perf_counter() - began
    return 1 - (target.clock[0] + draft.clock[0]) / total


def stages(engine: Engine, prompts: Sequence[Sequence[int]], tokens: int) -> dict[str, float]:
    """Return the share of each stage of a pass; draft steps count with their warpers."""
    length = engine.length.begin().next(0)
    coming = iter([prompts[i % len(prompts)] for i in range(tokens)])
    passes = [done for done in rehearse(engine, coming, [length] * tokens, tokens, 0) if done]
    spent = [sum(done.seconds[i] for done in passes) for i in range(len(STAGES))]
    return {f"stage {name}": one / sum(spent) for name, one in zip(STAGES, spent, strict=True)}
