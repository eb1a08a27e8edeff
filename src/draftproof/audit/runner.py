"""The audit: two arms of an engine sampled in turn until there is a verdict, which is looked for after every batch.

In: options. Out: an `Outcome`. After each batch all that was learned is on disk, so that an interrupted audit goes on.
"""

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from draftproof.audit.arm import Arm
from draftproof.audit.base import Answer
from draftproof.audit.catalogue import Chosen, chosen
from draftproof.audit.checked import check as check_answers
from draftproof.audit.checked import check_seeds, identified
from draftproof.audit.environments import python_for
from draftproof.audit.judgement import CONTROL, SPECULATIVE, Judgement
from draftproof.audit.options import NEUTRAL, Options
from draftproof.audit.options import check as check_options
from draftproof.audit.outcome import Cause, Outcome
from draftproof.audit.pair import Pair, pair_for
from draftproof.audit.process import SubjectFailureError
from draftproof.audit.reference import Reference
from draftproof.audit.requests import Requests
from draftproof.audit.sampler import Batch, Sampler
from draftproof.audit.saved import Saved
from draftproof.audit.suspects import suspect
from draftproof.errors import MissingExtraError, UsageError
from draftproof.witness.verdict import Limits, Verdict

__all__ = ["Audit"]

NO_CONTROL = "NoControlArmError"
"""The class of the error with which a subject says that it has no control arm."""
NOT_FOUND = {"ModuleNotFoundError", "ImportError", "AttributeError"}
"""What Python says where a user's function is not what its name says."""
ASIDE = 2**29
"""The number of the batch with which seeds are tried out, far from all others."""
Watch = Callable[[str, Arm], None]
"""(arm, its state) after every batch."""


@dataclass
class Audit:
    """An engine under audit.

    Args:
        options: what was asked.
    """

    options: Options
    chosen: Chosen = field(init=False)
    python: str = field(init=False)
    pair: Pair = field(init=False)
    reference: Reference = field(init=False)
    requests: Requests = field(init=False)
    judgement: Judgement = field(init=False)
    versions: dict[str, str] = field(default_factory=dict[str, str])
    notes: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        """Refuse what can be refused before an engine is started.

        Raises:
            UsageError: naming the option.
            MissingExtraError: if the engine is not installed.
        """
        check_options(self.options)
        if self.options.greedy and importlib.util.find_spec("scipy") is None:
            raise MissingExtraError("an audit at 0 needs scipy: pip install 'draftproof[audit]'", "temperature")
        self.chosen = chosen(self.options.subject)
        self.options = replace(self.options, method=_method(self.chosen, self.options.method))
        _check_claims(self.chosen, self.options.settings)
        self.python = python_for(self.chosen, self.options.python)
        self.pair = pair_for(self.options, self.chosen, self.python)
        if self.options.target and not self.options.drafter and self._drafts:
            raise UsageError(f"{self.chosen.name} needs a draft model to speculate by {self.options.method}", "drafter")
        self.reference = Reference(self.pair, self.options, drafted=self.options.method in self.chosen.member.DRAFTED)
        model, tokenizer = self.reference.loaded
        self.requests = Requests(self.options, tokenizer, model.vocab_size, model.context_limit)
        self._saved = Saved.of(self.options, self.pair)
        limits = Limits(target=self.options.eps)
        arms = self._saved.arms(limits.delta)
        self.judgement = Judgement(limits, self.options.max_tokens_total, arms[SPECULATIVE], arms[CONTROL])

    @property
    def _drafts(self) -> bool:
        """Whether the engine is to be given a draft model."""
        return self.options.method in self.chosen.member.DRAFTED and bool(self.chosen.member.LIBRARY)

    def run(self, watch: Watch) -> Outcome:
        """Sample until there is a verdict; Ctrl-C leaves what was learned on disk."""
        try:
            while (arm := self.judgement.next_arm()) is not None:
                self._sample(arm, watch)
        except SubjectFailureError as error:
            return self._told(self._failed(error))
        self._saved.forget()
        return self._told(self.judgement.outcome())

    def so_far(self) -> Outcome:
        """Return what can be said now."""
        return self._told(self.judgement.outcome())

    def _sample(self, arm: str, watch: Watch) -> None:
        """Sample an arm until it is the other one's turn."""
        if arm == SPECULATIVE:
            self.judgement.begin()
        state = self.judgement.speculative if arm == SPECULATIVE else self.judgement.control
        if state is None:
            return
        try:
            sampler = Sampler(self.options, self.chosen, self.python, self.pair, arm, self.requests)
        except SubjectFailureError as error:
            if self.chosen.name == "python" and error.name in NOT_FOUND:
                raise UsageError(f"got {self.options.subject!r}; {error}", "subject") from None
            if arm != CONTROL or error.name != NO_CONTROL:
                raise
            self.judgement.control, self.judgement.missing = None, str(error).rpartition(": ")[2]
            return
        with sampler:
            self.versions |= sampler.versions
            if not self.notes and not self.options.greedy:
                self._try_seeds(sampler, arm)
            for batch in sampler.batches(state.batches):
                self._check(batch)
                state.add(self.reference, *batch)
                self._saved.write(self.judgement)
                watch(arm, state)
                if self.judgement.next_arm() != arm:
                    return

    def _check(self, batch: Batch) -> None:
        model, tokenizer = self.reference.loaded
        identified(batch.answers, tokenizer)
        check_answers(batch.asked, batch.answers, model.vocab_size, tokenizer.eos)

    def _try_seeds(self, sampler: Sampler, arm: str) -> None:
        """Ask one prompt three times, twice with the same seed."""
        first = self.requests.numbered(arm, ASIDE)
        other = self.requests.numbered(arm, ASIDE + 1)
        other["prompt"] = first["prompt"]
        answers: list[Answer] = []
        for request in (first, first, other):
            batch = sampler.ask([request])
            self._check(batch)
            answers += batch.answers
        emitted = self.reference.scored(first["prompt"], answers[0]["tokens"], None).emitted
        chance = float(emitted.at_tokens(emitted.target).prod())
        self.notes.append(check_seeds(answers[:2], answers[2], chance) or "seeds are honoured")

    def _failed(self, error: SubjectFailureError) -> Outcome:
        found = self.judgement.outcome()
        if found.verdict is Verdict.DRIFT:
            return replace(found, notes=(*found.notes, str(error)))
        return replace(found, verdict=Verdict.INCONCLUSIVE, cause=Cause.FAILURE, reason=str(error))

    def _told(self, found: Outcome) -> Outcome:
        """Add what does not depend on the verdict, and look for the setting that is to blame where one is."""
        control, spec = self.judgement.control, self.judgement.speculative
        if found.cause is Cause.REFERENCE and control is not None:
            named = suspect(control, self.reference, self.options.settings)
            if named is not None:
                found = replace(found, reason=f"{found.reason}. Its tokens fit another law: {named.what}")
        return replace(
            found,
            notes=(*found.notes, *self.notes),
            control=None if control is None else _summary(control),
            shapes=spec.evidence.shapes() if found.verdict is Verdict.DRIFT else [],
            slots=spec.evidence.slots(spec.delta),
            settings=self.options.to_json() | {"pair": vars(self.pair)},
            versions=self.versions,
        )


def _summary(arm: Arm) -> dict[str, object]:
    return {
        "tokens": arm.tokens,
        "log_evidence": arm.evidence.log_evidence,
        "drift_bound": arm.bound if arm.tokens else None,
        "drafted": arm.drafted,
    }


def _check_claims(chosen: Chosen, settings: Mapping[str, float]) -> None:
    """Refuse settings that the engine does not say it honours."""
    for name, value in settings.items():
        if value != NEUTRAL[name] and name not in chosen.member.CLAIMS:
            claims = ", ".join(chosen.member.CLAIMS)
            raise UsageError(f"got {value:g}; with speculation {chosen.name} has {claims}", name)


def _method(chosen: Chosen, given: str) -> str:
    methods = chosen.member.METHODS
    if given and given not in methods:
        raise UsageError(f"got {given!r}; {chosen.name} has {', '.join(methods)}", "method")
    return given or methods[0]
