"""Which sampling settings an engine uses instead of those it was given, if its tokens do not fit these.

In: completions of the control arm. Out: the setting that it ignores, in words, with the evidence. Every rival is a
whole law, chosen before a token was seen, so the ratio of likelihoods is fair evidence; it is divided by their number.
"""

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from draftproof.audit.arm import Arm
from draftproof.audit.options import NEUTRAL
from draftproof.audit.reference import Reference, pipeline_of
from draftproof.errors import DraftproofError
from draftproof.warpers.pipeline import ORDER, Pipeline
from draftproof.witness.eprocess import EProcess

__all__ = ["Suspect", "suspect"]

DEFAULTS: dict[str, tuple[float, ...]] = {
    "temperature": (0.6, 0.7, 0.8), "top_k": (20, 40, 50), "top_p": (0.8, 0.9, 0.95), "min_p": (0.05, 0.1),
    "repetition_penalty": (1.05, 1.1),
}  # fmt: skip
"""What engines and model cards take where nothing is said."""
ENOUGH = math.log(1e6)
LATE = [*[name for name in ORDER if name != "temperature"], "temperature"]
"""As llama.cpp has it: what is kept is decided before the temperature changes the law."""


class Suspect(NamedTuple):
    """A law that fits the tokens where the right one does not."""

    what: str
    log_evidence: float
    """In nats, for it and against the right law; infinite if the right law rules a token out."""


def suspect(arm: Arm, reference: Reference, settings: Mapping[str, float]) -> Suspect | None:
    """Return the rival that fits the completions of an arm best; None if none fits."""
    rivals = list(_rivals(dict(settings)))
    states, logs = [EProcess() for _ in rivals], np.zeros(len(rivals))
    right = 0.0
    for prompt, tokens in arm.kept:
        scored = reference.scored(prompt, tokens, None)
        right += _log_chance(scored.emitted.at_tokens(scored.emitted.target))
        for i, (_, pipeline) in enumerate(rivals):
            if math.isfinite(logs[i]):
                emitted = reference.under(pipeline, scored)
                logs[i] += _log_chance(emitted.at_tokens(emitted.target))
                states[i].add(emitted)
    fitting = [i for i, state in enumerate(states) if state.highest < ENOUGH and math.isfinite(logs[i])]
    best = max(fitting, key=lambda i: logs[i], default=None)
    if best is None or logs[best] - right - math.log(len(rivals)) < ENOUGH:
        return None
    return Suspect(rivals[best][0], float(logs[best] - right - math.log(len(rivals))))


def _rivals(settings: dict[str, float]) -> Iterator[tuple[str, Pipeline]]:
    """Yield laws of other settings, and what it means if the engine has them."""
    asked = [name for name, value in settings.items() if value != NEUTRAL[name]]
    for name in asked:
        yield f"it ignores {name}", pipeline_of(settings | {name: NEUTRAL[name]})
    if len(asked) > 1:
        yield f"it ignores {', '.join(asked)}", pipeline_of(dict(NEUTRAL))
        yield "it applies the temperature last", pipeline_of(settings, LATE)
    for name, values in DEFAULTS.items():
        for value in values:
            if settings[name] != value and settings["temperature"] != 0:
                try:
                    yield (
                        f"it uses {name} {value:g} instead of {settings[name]:g}",
                        pipeline_of(settings | {name: value}),
                    )
                except DraftproofError:
                    continue


def _log_chance(chances: np.ndarray) -> float:
    with np.errstate(divide="ignore"):
        return float(np.log(chances).sum())
