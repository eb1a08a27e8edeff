"""An engine that differs from the reference even without speculation: does speculation add to that, and how much?

In: the evidence of both arms, of which that of the control arm is enough to convict. Out: which arm has to go on, or a
verdict. Other numbers than ours (16 bits) are no fault of speculation; nor is a setting that is ignored.
"""

import math
from dataclasses import replace

from draftproof.audit.evidence import Evidence
from draftproof.audit.greedy import Greedy
from draftproof.audit.outcome import Cause, Outcome
from draftproof.audit.sampled import Sampled
from draftproof.witness.average_tube import AverageTube, margins
from draftproof.witness.verdict import Limits, Verdict

__all__ = ["compared", "judged", "more_control", "more_speculative"]

NUMERIC = 0.5
"""Nats by which 16-bit numbers may move two scores apart, and no more: several times what was seen."""
OF_CONTROL = 1 / 3
"""So much of the budget goes to measuring what the engine does without speculation."""


def compared(control: Evidence, limits: Limits) -> Sampled | None:
    """Return new evidence of a speculative arm that is compared with a control arm; None if it cannot be."""
    if not isinstance(control, Sampled) or control.state.violation is not None:
        return None
    return Sampled(tube=AverageTube(margins(control.state, limits.delta)))


def more_control(mine: Evidence, theirs: Evidence, most: int) -> bool:
    """Return whether the control arm has to go on, so that margins become narrow before anything is compared."""
    if not isinstance(mine, Sampled) or not isinstance(theirs, Sampled) or mine.tube is not None:
        return False
    return theirs.state.violation is None and theirs.tokens < OF_CONTROL * most


def more_speculative(mine: Evidence, theirs: Evidence, limits: Limits) -> bool:
    """Return whether the speculative arm has to go on."""
    if isinstance(theirs, Sampled) and theirs.state.violation is not None:
        return False
    if not isinstance(mine, Sampled):
        return mine.tokens < limits.fewest
    if mine.tube is None or mine.tokens < limits.fewest:
        return True
    return not _adds(mine, limits) and mine.bound(limits.delta) > limits.target


def judged(told: Outcome, mine: Evidence, theirs: Evidence, limits: Limits) -> Outcome:
    """Return the verdict."""
    without = theirs.opinion(limits).reason
    if isinstance(mine, Greedy) and isinstance(theirs, Greedy):
        if mine.tokens and mine.largest_gap <= theirs.largest_gap <= NUMERIC:
            reason = (
                f"only numerics: both arms leave the best token, where it leads by less than {theirs.largest_gap:.2g} "
                f"nats; --eta {theirs.largest_gap:.1g} allows for that"
            )
            return replace(told, verdict=Verdict.INCONCLUSIVE, cause=Cause.NUMERICS, reason=reason)
    elif isinstance(mine, Sampled) and mine.tube is not None:
        if _adds(mine, limits):
            odds = f"evidence 10^{mine.tube.highest / math.log(10):.1f} : 1 after {mine.tokens:,} tokens"
            reason = f"speculation changes the law: {odds} for more drift than without it; without it: {without}"
            return replace(told, verdict=Verdict.DRIFT, cause=Cause.LAW, reason=reason)
        if mine.tokens >= limits.fewest and mine.bound(limits.delta) <= limits.target:
            small = f"the drift is at most {mine.bound(limits.delta):.2%}, and speculation adds nothing that is seen"
            reason = f"only numerics: {small}; the engine's numbers are not the reference's, for without it: {without}"
            return replace(told, verdict=Verdict.LOSSLESS, cause=Cause.NUMERICS, reason=reason)
    differs = f"the engine differs from the reference even without speculation: {without}"
    reason = f"{differs}; what speculation adds cannot be told from that"
    return replace(told, verdict=Verdict.INCONCLUSIVE, cause=Cause.REFERENCE, reason=reason)


def _adds(mine: Sampled, limits: Limits) -> bool:
    return mine.tube is not None and mine.tube.highest >= -math.log(limits.alpha)
