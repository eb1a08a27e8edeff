"""An engine of which nothing is known but what it writes: is that the same with speculation and without?

In: options. Out: an `Outcome`: DRIFT, or INCONCLUSIVE with how much was compared. Completions of one prompt are
compared in pairs, one of each arm. Arms are sampled in turn, many completions at a time, since an engine may take
minutes to start; those of the control arm wait for the other half of their pair.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from draftproof.audit.checked import check_count
from draftproof.audit.judgement import CONTROL, SPECULATIVE
from draftproof.audit.options import Options
from draftproof.audit.outcome import Cause, Outcome
from draftproof.audit.pairs import Pairs, Side, symbols
from draftproof.audit.prepared import Prepared
from draftproof.audit.process import SubjectFailureError
from draftproof.audit.report import Drawn
from draftproof.audit.requests import ASIDE, Numbered, Requests, Texts
from draftproof.audit.sampler import Sampler
from draftproof.audit.saved import Saved
from draftproof.errors import UsageError
from draftproof.models.catalogue import load
from draftproof.witness.verdict import Limits, Verdict

__all__ = ["BlackBox"]

AHEAD = 128
"""Completions of the control arm that are asked for at least before it is the other arm's turn."""
TRIES = 4
"""So many seeds must not all give one completion."""
Watch = Callable[[str, Side], None]
"""(arm, its state) after every batch."""


@dataclass
class BlackBox:
    """An engine under audit.

    Args:
        options: what was asked.
    """

    options: Options
    pairs: Pairs = field(init=False)
    versions: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        """Refuse what can be refused before an engine is started.

        Raises:
            UsageError: naming the option.
            MissingExtraError: if the engine is not installed.
        """
        self._prepared = Prepared.of(self.options)
        self.options, self.limits, self._tried = self._prepared.options, Limits(), set[str]()
        self.requests = _requests(self._prepared)
        self._saved = Saved.of(self.options, self._prepared.pair)
        try:
            self.pairs = Pairs.from_json(self._saved.read())
        except (ValueError, KeyError, TypeError):  # there is none, or it is damaged
            self.pairs = Pairs()

    def run(self, watch: Watch) -> Outcome:
        """Sample until there is a verdict; Ctrl-C leaves what was learned on disk."""
        try:
            while (arm := self._next()) is not None:
                self._sample(arm, watch)
        except SubjectFailureError as error:
            found = self.so_far()
            return found if found.verdict is Verdict.DRIFT else self._told(Cause.FAILURE, str(error))
        self._saved.forget()
        return self.so_far()

    def so_far(self) -> Outcome:
        """Return what can be said now."""
        tokens, odds = self._speculative.tokens, f"evidence 10^{self.pairs.bets.highest / math.log(10):.1f} : 1"
        if self._idle:
            return self._told(Cause.INACTIVE, f"speculation was not active: nothing was drafted in {tokens:,} tokens")
        if self._convicted:
            reason = (
                f"speculation changes what the engine writes: {odds} after {tokens:,} tokens of each arm. Which arm is "
                "the right one cannot be told without the target's weights"
            )
            return self._told(Cause.LAW, reason)
        reason = (
            f"no difference between speculation on and off was seen in {tokens:,} tokens of each arm ({odds}). A "
            "residual drawn from the draft takes some 16,000 of each to show, smaller faults hundreds of thousands; "
            "where the target's weights can be read here (--target), an audit without --black-box takes a hundredth"
        )
        return self._told(Cause.MORE, reason)

    def drawn(self) -> Drawn:
        """Return what a report draws."""
        return Drawn(self.limits, {SPECULATIVE: self.pairs.curve}, [], {}, "")

    @property
    def _speculative(self) -> Side:
        return self.pairs.sides[SPECULATIVE]

    @property
    def _spent(self) -> bool:
        """Whether the control arm has had its half of the budget."""
        return 2 * self.pairs.sides[CONTROL].tokens >= self.options.max_tokens_total

    @property
    def _convicted(self) -> bool:
        return self.pairs.bets.highest >= -math.log(self.limits.alpha)

    @property
    def _idle(self) -> bool:
        return self._speculative.drafted == 0 and self._speculative.tokens >= self.limits.fewest

    def _next(self) -> str | None:
        """Return which arm has to go on; None if there is a verdict or the budget is spent."""
        if self._convicted or self._idle:
            return None
        return SPECULATIVE if self.pairs.waiting else None if self._spent else CONTROL

    def _over(self, arm: str) -> bool:
        """Whether it is the other arm's turn, or nobody's; turns become longer."""
        if arm == SPECULATIVE:
            return self._next() != SPECULATIVE
        return self._spent or len(self.pairs.waiting) >= max(AHEAD, self._speculative.completions)

    def _sample(self, arm: str, watch: Watch) -> None:
        sampler = self._prepared.sampler(arm, self.requests)
        if isinstance(sampler, str):
            raise UsageError(f"it compares speculation on and off, and {sampler}", "black_box")
        with sampler:
            self.versions |= sampler.versions
            if arm not in self._tried:
                self._try_seeds(sampler, arm)
            for batch in sampler.batches(self.pairs.sides[arm].batches):
                check_count(batch.asked, batch.answers)
                if not self.pairs.add(arm, batch):
                    raise SubjectFailureError("unusable", "completions came without any token or text")
                self._saved.write(self.pairs.to_json())
                watch(arm, self.pairs.sides[arm])
                if self._over(arm):
                    return

    def _try_seeds(self, sampler: Sampler, arm: str) -> None:
        """Ask one prompt with several seeds.

        Raises:
            SubjectFailureError: if they all give one completion: then pairs say the same again and again.
        """
        told = list[list[int]]()
        for i in range(TRIES):
            request = self.requests.numbered(arm, ASIDE)
            request["seed"] = self.requests.numbered(arm, ASIDE + i)["seed"]
            told += [symbols(answer) for answer in sampler.ask([request]).answers]
        if all(one == told[0] for one in told):
            reason = f"{TRIES} seeds gave one completion: the engine ignores seeds, or its law is all but a point"
            raise SubjectFailureError("unusable", reason)
        self._tried.add(arm)

    def _told(self, cause: Cause, reason: str) -> Outcome:
        side, control = self._speculative, self.pairs.sides[CONTROL]
        return Outcome(
            verdict=Verdict.DRIFT if cause is Cause.LAW else Verdict.INCONCLUSIVE,
            cause=cause,
            reason=reason,
            log_evidence=side.log_evidence,
            tokens=side.tokens,
            control={"tokens": control.tokens, "log_evidence": None, "drift_bound": None, "drafted": control.drafted},
            settings=self.options.to_json() | {"pair": vars(self._prepared.pair)},
            versions=self.versions,
        )


def _requests(prepared: Prepared) -> Numbered:
    """Return requests by ids where the tokenizer is known here, else by texts."""
    if not prepared.pair.reference:
        return Texts(prepared.options)
    model, tokenizer = load(prepared.pair.reference, "reference")
    return Requests(prepared.options, tokenizer, model.vocab_size, model.context_limit)
