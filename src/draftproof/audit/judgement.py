"""From two arms to one verdict: what speculation changes, and what the engine does without it.

In: the arms. Out: which arm has to go on, or an `Outcome`. It sees sums, never tokens.
"""

import math
from dataclasses import dataclass, replace

from draftproof.audit.arm import Arm
from draftproof.audit.differing import compared, judged, more_control, more_speculative
from draftproof.audit.evidence import Evidence
from draftproof.audit.greedy import Greedy
from draftproof.audit.outcome import Cause, Outcome
from draftproof.audit.requests import ARMS
from draftproof.audit.sampled import Sampled
from draftproof.witness.verdict import Limits, Opinion, Verdict

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
        completions: of the speculative arm, that may be asked for; None if it is only tokens that are counted.
    """

    limits: Limits
    most: int
    speculative: Arm
    control: Arm | None
    missing: str = ""
    completions: int | None = None

    @property
    def opinion(self) -> Opinion:
        """What the speculative arm shows, alone."""
        found = self.speculative.evidence.opinion(self.limits)
        return found if found.verdict is Verdict.DRIFT else self._leaning() or found

    @property
    def alarmed(self) -> bool:
        """Whether the control arm is convicted."""
        return self.control is not None and self._without.verdict is Verdict.DRIFT

    def next_arm(self) -> str | None:
        """Return which arm has to go on; None if a verdict is reached or the budget is spent."""
        spent = self.speculative.tokens + (self.control.tokens if self.control else 0)
        if spent >= self.most or self._visited:
            return None
        if self.control is not None and self.alarmed:
            return self._next_of_differing(self.speculative.evidence, self.control.evidence)
        if self.control is not None and self.control.tokens < self.limits.fewest:
            return CONTROL
        found = self.opinion.verdict
        if found is Verdict.LOSSLESS or self._idle:
            return None
        if found is Verdict.INCONCLUSIVE:
            return SPECULATIVE
        control = self.control
        return None if control is None or control.tokens >= self.speculative.tokens else CONTROL

    def begin(self) -> None:
        """Prepare for more tokens of the speculative arm: if both arms differ, they are compared from here on."""
        mine = self.speculative.evidence
        if self.control is None or not self.alarmed or not isinstance(mine, Sampled) or mine.tube is not None:
            return
        evidence = compared(self.control.evidence, self.limits)
        if evidence is not None:
            self.speculative = Arm(evidence, self.limits.delta, batches=self.speculative.batches)

    def outcome(self) -> Outcome:
        """Return the verdict as far as it can be told now."""
        found, spec = self.opinion, self.speculative
        told = Outcome(
            found.verdict, Cause.MORE, found.reason, self._notes(), spec.evidence.log_evidence, spec.tokens, found.bound
        )
        if self._idle:
            return _undecided(
                told, Cause.INACTIVE, f"speculation was not active: nothing was drafted in {spec.tokens:,} tokens"
            )
        if self.control is not None and self.alarmed:
            return judged(told, spec.evidence, self.control.evidence, self.limits)
        if found.verdict is Verdict.DRIFT:
            return self._convicted(told)
        if found.verdict is Verdict.LOSSLESS:
            return replace(told, cause=Cause.LOGPROBS if spec.reported.wrong else Cause.NOTHING)
        return told

    def _next_of_differing(self, mine: Evidence, theirs: Evidence) -> str | None:
        if more_control(mine, theirs, self.most):
            return CONTROL
        return SPECULATIVE if not self._idle and more_speculative(mine, theirs, self.limits) else None

    @property
    def _without(self) -> Opinion:
        if self.control is None:
            return Opinion(Verdict.INCONCLUSIVE, self.missing, None)
        return self.control.evidence.opinion(self.limits)

    def _leaning(self) -> Opinion | None:
        """Return what near-ties show that fall as the draft has it, at temperature 0; None if nothing."""
        mine, theirs = self.speculative.evidence, self.control.evidence if self.control else None
        if not (isinstance(mine, Greedy) and isinstance(theirs, Greedy)):
            return None
        leaning = mine.against_draft(theirs, self.limits.delta)
        if leaning < -math.log(self.limits.watch):
            return None
        convicted = leaning >= -math.log(self.limits.alpha)
        reason = (
            f"where two tokens are nearly level the draft's comes {mine.flipped_drafted:,} times of "
            f"{mine.near_drafted:,}, more often than without speculation (evidence 10^{leaning / math.log(10):.1f} : 1)"
        )
        return Opinion(Verdict.DRIFT if convicted else Verdict.INCONCLUSIVE, reason, mine.bound(self.limits.delta))

    @property
    def _visited(self) -> bool:
        return self.completions is not None and self.speculative.completions >= self.completions

    @property
    def _idle(self) -> bool:
        return self.speculative.drafted == 0 and self.speculative.tokens >= self.limits.fewest

    def _convicted(self, told: Outcome) -> Outcome:
        """Say whose fault it is that tokens do not come from the reference's law."""
        if self.control is None:
            reason = f"{told.reason}. There was no control arm ({self.missing}), so the model or its settings may be it"
            return replace(told, cause=Cause.LAW, reason=reason)
        without = f"without speculation {self.control.tokens:,} tokens show nothing"
        return replace(told, cause=Cause.LAW, reason=f"speculation changes the law: {told.reason}; {without}")

    def _notes(self) -> tuple[str, ...]:
        arms = ((CONTROL, self.control), (SPECULATIVE, self.speculative))
        notes = [f"{name} arm: {arm.reported.wrong}" for name, arm in arms if arm is not None and arm.reported.wrong]
        if self.speculative.drafted is None and self.speculative.tokens:
            notes.append("the engine reports no counters: whether it drafted anything is not known")
        return tuple(notes)


def _undecided(told: Outcome, cause: Cause, reason: str) -> Outcome:
    return replace(told, verdict=Verdict.INCONCLUSIVE, cause=cause, reason=reason)
