"""From two arms to one verdict: what speculation changes, and what the engine does without it.

In: the arms. Out: which arm has to go on, or an `Outcome`. It sees sums, never tokens.
"""

import math
from dataclasses import dataclass, replace

from draftproof.audit.arm import Arm
from draftproof.audit.outcome import Cause, Outcome
from draftproof.audit.requests import ARMS
from draftproof.witness.verdict import Limits, Opinion, Verdict, judge

__all__ = ["Judgement"]

CONTROL, SPECULATIVE = ARMS


@dataclass
class Judgement:
    """Both arms as far as they have come.

    Args:
        limits: when what is said.
        most: tokens of both arms together that may be asked for.
        speculative: the arm that is judged.
        control: the same engine without speculation; None if it cannot be asked that.
        missing: why there is no control arm.
    """

    limits: Limits
    most: int
    speculative: Arm
    control: Arm | None
    missing: str = ""

    @property
    def opinion(self) -> Opinion:
        """What the speculative arm shows, alone."""
        return judge(self.speculative.state, self.limits)

    @property
    def alarmed(self) -> bool:
        """Whether the control arm is convicted."""
        return self.control is not None and judge(self.control.state, self.limits).verdict is Verdict.DRIFT

    def next_arm(self) -> str | None:
        """Return which arm has to go on; None if a verdict is reached or the budget is spent."""
        spent = self.speculative.tokens + (self.control.tokens if self.control else 0)
        if spent >= self.most:
            return None
        if self.control is not None and self.control.tokens < self.limits.fewest and not self.alarmed:
            return CONTROL
        found = self.opinion.verdict
        if found is Verdict.LOSSLESS or self._idle:
            return None
        if found is Verdict.INCONCLUSIVE:
            return SPECULATIVE
        control = self.control
        return None if control is None or self.alarmed or control.tokens >= self.speculative.tokens else CONTROL

    def outcome(self) -> Outcome:
        """Return the verdict as far as it can be told now."""
        found, spec = self.opinion, self.speculative
        told = Outcome(
            found.verdict, Cause.MORE, found.reason, self._notes(), spec.state.highest, spec.tokens, found.bound
        )
        if self._idle:
            return _undecided(
                told, Cause.INACTIVE, f"speculation was not active: nothing was drafted in {spec.tokens:,} tokens"
            )
        if found.verdict is Verdict.DRIFT:
            return self._convicted(told)
        if found.verdict is Verdict.LOSSLESS:
            return replace(told, cause=Cause.LOGPROBS if spec.reported.wrong else Cause.NOTHING)
        return told

    @property
    def _idle(self) -> bool:
        return self.speculative.drafted == 0 and self.speculative.tokens >= self.limits.fewest

    def _convicted(self, told: Outcome) -> Outcome:
        """Say whose fault it is that tokens do not come from the reference's law."""
        if self.control is None:
            reason = f"{told.reason}. There was no control arm ({self.missing}), so the model or its settings may be it"
            return replace(told, cause=Cause.LAW, reason=reason)
        if not self.alarmed:
            without = f"without speculation {self.control.tokens:,} tokens show nothing"
            return replace(told, cause=Cause.LAW, reason=f"speculation changes the law: {told.reason}; {without}")
        return _undecided(
            told,
            Cause.REFERENCE,
            f"the engine differs from the reference even without speculation: {_alarm(self.control)}; what speculation "
            "adds cannot be told from that",
        )

    def _notes(self) -> tuple[str, ...]:
        arms = ((CONTROL, self.control), (SPECULATIVE, self.speculative))
        notes = [f"{name} arm: {arm.reported.wrong}" for name, arm in arms if arm is not None and arm.reported.wrong]
        if self.speculative.drafted is None and self.speculative.tokens:
            notes.append("the engine reports no counters: whether it drafted anything is not known")
        return tuple(notes)


def _undecided(told: Outcome, cause: Cause, reason: str) -> Outcome:
    return replace(told, verdict=Verdict.INCONCLUSIVE, cause=cause, reason=reason)


def _alarm(arm: Arm) -> str:
    if arm.state.violation is not None:
        return f"its token {arm.state.violation:,} has probability 0"
    return f"evidence 10^{arm.state.highest / math.log(10):.1f} : 1 after {arm.tokens:,} tokens"
