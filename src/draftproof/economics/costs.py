"""What a pass costs after a given amount of text, from the rounds of a measurement. In: `Samples`. Out: seconds."""

from collections.abc import Sequence

import numpy as np

from draftproof.economics.rehearsal import STAGES
from draftproof.economics.samples import Floats, Rounds, Samples

__all__ = ["growth", "pass_seconds", "pass_seconds_by_rule", "plain_seconds", "usual_context"]

SHARED = ("draft", "target", "warp")
"""Stages that do not depend on the rule, only on whether the target's rows are steady."""


def pass_seconds(samples: Samples, drafter: str, rule: str, context: float) -> Floats:
    """Return (R, LONGEST + 1) seconds of a pass by draft length; of what rules share, the mean over them."""
    seconds: Floats = pass_seconds_by_rule(samples, drafter, rule, context).mean(axis=0)
    return seconds


def pass_seconds_by_rule(samples: Samples, drafter: str, rule: str, context: float) -> Floats:
    """Return the same for each of the A rules that share stages with this one: (A, R, LONGEST + 1).

    What grows with the context is the reading of the caches, which is in stages that rules share.
    """
    rules = samples.passes[drafter]
    alike = [rounds for name, rounds in rules.items() if (name == "coupled") == (rule == "coupled")]
    shared = [STAGES.index(stage) for stage in SHARED]
    own = [i for i in range(len(STAGES)) if i not in shared]
    there = [one.seconds[..., shared].sum(axis=-1) + growth(one) * (context - one.contexts) for one in alike]
    seconds: Floats = np.stack(there) + rules[rule].seconds[..., own].sum(axis=-1)
    return seconds


def plain_seconds(samples: Samples, context: float) -> Floats:
    """Return (R,) seconds for a token of plain decoding after so much text."""
    plain = samples.plain
    seconds: Floats = plain.seconds + plain.slope[0] * (context - plain.contexts)
    return seconds


def usual_context(samples: Samples, workloads: Sequence[str]) -> float:
    """Return how much text there is before a pass, on average."""
    return float(np.concatenate([samples.texts[name].prompts for name in workloads]).mean()) + samples.tokens / 2


def growth(rounds: Rounds) -> Floats:
    """Return (LONGEST + 1,) seconds for each further token of context, by draft length."""
    slopes: Floats = rounds.slope[0] + rounds.slope[1] * np.arange(rounds.contexts.shape[-1])
    return slopes
