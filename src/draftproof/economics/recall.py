"""What passes cost, from a measurement that is kept: what `calibrate.py` need not find out again.

In: models and settings, and where measurements are. Out: `Costs`, or None where nothing that holds was measured.
"""

from pathlib import Path
from typing import Any

from draftproof.economics.calibrate import costs_of
from draftproof.economics.policy import MOST, Costs
from draftproof.economics.store import find, fingerprints, samples_of, stale

__all__ = ["recall"]


def recall(folder: Path, settings: dict[str, Any], drafter: str, rule: str, most: int = MOST) -> Costs | None:
    """Return what passes cost by the newest measurement that holds on this machine.

    Args:
        folder: where measurements are kept.
        settings: `target`, `temperature`, `top_k`, `top_p`, as a measurement is found by them.
        drafter: its SPEC.
        rule: a chain rule; the passes of trees are not measured.
        most: the longest block that is asked for, 16 at most.
    """
    for _, found in find(folder, settings, [drafter]):
        rounds = samples_of(found).passes[drafter].get(rule)
        if rounds is not None and not stale(found, fingerprints(list(found.subject["fingerprints"]))):
            return costs_of(rounds.seconds.mean(axis=0)[: most + 1])
    return None
