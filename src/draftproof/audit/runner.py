"""The audit: two arms of an engine sampled in turn until there is a verdict, which is looked for after every batch.

In: options. Out: an `Outcome`. After each batch all that was learned is on disk, so that an interrupted audit goes on.
"""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from draftproof.audit.arm import Arm
from draftproof.audit.base import Answer
from draftproof.audit.checked import check as check_answers
from draftproof.audit.checked import check_seeds, identified
from draftproof.audit.judgement import CONTROL, SPECULATIVE, Judgement
from draftproof.audit.kinds import evidence_for
from draftproof.audit.options import Options
from draftproof.audit.outcome import Cause, Outcome
from draftproof.audit.prepared import Prepared
from draftproof.audit.process import SubjectFailureError
from draftproof.audit.reference import Reference
from draftproof.audit.report import Drawn
from draftproof.audit.requests import ARMS, ASIDE, Requests
from draftproof.audit.sampler import Batch, Sampler
from draftproof.audit.saved import Saved
from draftproof.audit.suspects import suspect
from draftproof.errors import MissingExtraError
from draftproof.witness.verdict import Limits, Verdict

__all__ = ["Audit"]

Watch = Callable[[str, Arm], None]
"""(arm, its state) after every batch."""


@dataclass
class Audit:
    """An engine under audit.

    Args:
        options: what was asked.
    """

    options: Options
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
        self._prepared = Prepared.of(self.options)
        self.options, pair, chosen = self._prepared.options, self._prepared.pair, self._prepared.chosen
        if self.options.greedy and importlib.util.find_spec("scipy") is None:
            raise MissingExtraError("an audit at 0 needs scipy: pip install 'draftproof[audit]'", "temperature")
        self.reference = Reference(pair, self.options, drafted=self.options.method in chosen.member.DRAFTED)
        model, tokenizer = self.reference.loaded
        self.requests = Requests(self.options, tokenizer, model.vocab_size, model.context_limit)
        self._saved = Saved.of(self.options, pair)
        self.judgement = self._judgement()

    def _judgement(self) -> Judgement:
        """Return both arms as they were left, or new ones."""
        limits, found = Limits(target=self.options.eps), self._saved.read()
        new = [Arm(evidence_for(self.options, self.reference, self.requests), limits.delta) for _ in ARMS]
        arms = dict(zip(ARMS, new, strict=True))
        try:
            arms |= {name: Arm.from_json(found[name], type(arms[name].evidence)) for name in ARMS if found.get(name)}
        except (ValueError, KeyError, TypeError):  # a damaged file
            arms = dict(zip(ARMS, new, strict=True))
        most = self.options.replay[0] * self.options.replay[1] if self.options.replay else None
        return Judgement(limits, self.options.max_tokens_total, arms[SPECULATIVE], arms[CONTROL], completions=most)

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

    def drawn(self) -> Drawn:
        """Return what a report draws."""
        control, spec = self.judgement.control, self.judgement.speculative
        arms = {CONTROL: control, SPECULATIVE: spec}
        curves = {name: arm.curve for name, arm in arms.items() if arm is not None}
        delta = self.judgement.limits.delta
        return Drawn(self.judgement.limits, curves, spec.growth, spec.evidence.events(delta), self.judgement.missing)

    def _state(self) -> dict[str, Any]:
        arms = {CONTROL: self.judgement.control, SPECULATIVE: self.judgement.speculative}
        return {name: None if arm is None else arm.to_json() for name, arm in arms.items()}

    def _sample(self, arm: str, watch: Watch) -> None:
        """Sample an arm until it is the other one's turn."""
        if arm == SPECULATIVE:
            self.judgement.begin()
        state = self.judgement.speculative if arm == SPECULATIVE else self.judgement.control
        if state is None:
            return
        sampler = self._prepared.sampler(arm, self.requests)
        if isinstance(sampler, str):
            self.judgement.control, self.judgement.missing = None, sampler
            return
        with sampler:
            self.versions |= sampler.versions
            if not self.notes and not self.options.greedy:
                self._try_seeds(sampler, arm)
            for batch in sampler.batches(state.batches):
                self._check(batch)
                state.add(self.reference, *batch)
                self._saved.write(self._state())
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
            settings=self.options.to_json() | {"pair": vars(self._prepared.pair)},
            versions=self.versions,
        )


def _summary(arm: Arm) -> dict[str, object]:
    return {
        "tokens": arm.tokens,
        "log_evidence": arm.evidence.log_evidence,
        "drift_bound": arm.bound if arm.tokens else None,
        "drafted": arm.drafted,
    }
