"""After how many tokens faults like some tampers were convicted in simulations. In: a name. Out: tokens, or None.

From simulated engines on laws of the same kind (32 tokens, four drafts a pass, evidence of a million to one; typical
acceptance on laws over 1000 tokens), as medians of some ten runs. They say which order of magnitude to expect, and no
more: single runs scatter by a factor of two, and other laws by more.
"""

__all__ = ["EXPECTED", "expected"]

EXPECTED = {
    "replacement drawn from the target": 387,
    "replacement drawn from the draft": 75,
    "replacement drawn from |p - q|": 135,
    "bonus token drawn from the draft": 760,
    "draft truncated, tested as if it were not": 701,
    "one random number for test and replacement": 1130,
    "acceptance 13 % too likely": 4150,
    "greedy draft, tested as if it were drawn": 328,
    "typical acceptance": 134,
}
"""By fault."""
_FAULTS = {
    "residual-is-the-target": "replacement drawn from the target",
    "residual-is-the-draft": "replacement drawn from the draft",
    "residual-absolute": "replacement drawn from |p - q|",
    "bonus-of-the-draft": "bonus token drawn from the draft",
    "drawn-from-the-nucleus": "draft truncated, tested as if it were not",
    "residual-shares-the-coin": "one random number for test and replacement",
    "lenience-nine-tenths": "acceptance 13 % too likely",
    "greedy-draft-tested-as-drawn": "greedy draft, tested as if it were drawn",
    "typical-acceptance": "typical acceptance",
}


def expected(tamper: str) -> int | None:
    """Return what to expect of the tamper with that name, if there is a figure."""
    fault = _FAULTS.get(tamper)
    return None if fault is None else EXPECTED[fault]
