"""A generation in progress: the shipped engine, or the tampered one, a few passes at a time; what it amounts to.

In: a `State`, or a kept trace. Out: passes, a certificate, a `Trace`. It belongs to one page, and whatever an engine
does wrong ends the generation in words, with what was emitted kept.
"""

import time
from dataclasses import dataclass, field, replace

from draftproof.engine.options import Options
from draftproof.engine.passes import Pass
from draftproof.engine.rerun import first_difference, settings_of
from draftproof.engine.setup import Run, prepare
from draftproof.explorer.results import tamper_of
from draftproof.explorer.state import State
from draftproof.records import Finding, PassRecord, Trace
from draftproof.redteam.base import Tamper
from draftproof.rules.base import Rule
from draftproof.witness.base import Decoder
from draftproof.witness.identity import Certificate

__all__ = ["Generation", "kept", "options_of_state", "prepared", "tokens_per_pass"]

PORTION = 0.04
"""Seconds of passes between two looks."""


@dataclass
class Generation:
    """A run on its way.

    Args:
        run: the honest parts.
        tamper: what is done to them.
        before: the trace that is run again.
    """

    run: Run
    tamper: Tamper | None = None
    before: Trace | None = None
    passes: list[Pass] = field(default_factory=list[Pass])
    records: list[PassRecord] = field(default_factory=list[PassRecord])
    seconds: float = 0.0
    """Of the engine alone."""
    reason: str = ""
    """Why it ended, as in a `Trace`; empty while it goes on."""
    trouble: str = ""
    """In one line what the engine broke down with."""
    unread: str = ""
    """In one line why the certificate could not read a pass."""

    def __post_init__(self) -> None:
        decoder: Decoder = self.run.engine
        if self.tamper is not None:
            try:
                decoder = self.tamper.apply(self.run.engine)
            except Exception as error:  # noqa: BLE001  whatever a tamper does is its fault, and is shown
                self._break_down(error)
        self._coming = decoder.decode(self.run.prompt, self.run.stop, self.run.noise)
        self.certificate = Certificate(getattr(decoder, "rule", self.rule))

    @property
    def rule(self) -> Rule:
        """The rule that the engine claims to follow."""
        return self.run.engine.rule

    @property
    def trace(self) -> Trace:
        """The generation so far in numbers."""
        return Trace(tuple(self.run.prompt), tuple(self.records), self.reason or "interrupted", self.seconds)

    @property
    def finding(self) -> Finding:
        """What the certificate says so far."""
        return self.certificate.finding("this generation")

    def go_on(self, seconds: float = PORTION) -> None:
        """Run passes for about so long, at least one; nothing once it has ended."""
        end = time.perf_counter() + seconds
        while not self.reason and self.step() and time.perf_counter() < end:
            pass

    def step(self) -> bool:
        """Run one pass; return whether there was one."""
        began = time.perf_counter()
        try:
            done = None if self._is_enough() else next(self._coming, None)
            record = done and done.record()
        except Exception as error:  # noqa: BLE001  whatever a tampered engine does is its fault, and is shown
            self._break_down(error)
            return False
        self.seconds += time.perf_counter() - began
        if done is None or record is None:
            self.reason = self.reason or self._end()
            return False
        self.passes.append(done)
        self.records.append(record)
        self._certify(done)
        return True

    def stop(self) -> None:
        """End it here; what was emitted stays."""
        self.reason = self.reason or "interrupted"

    def compared(self) -> str:
        """Return in words whether the kept trace came out the same, as far as it was run."""
        if self.before is None:
            return ""
        count, before = len(self.records), self.before
        stopped = self.reason == "interrupted" and count < len(before.passes)
        if stopped:
            before = replace(before, passes=before.passes[:count], finish_reason="interrupted")
        different = first_difference(before, iter(self.passes))
        if different is None:
            of = f"the first {count} of {len(self.before.passes)}" if stopped else f"all {count}"
            return f"replayed: {of} passes came out the same"
        return f"replayed: pass {different} came out otherwise than in the file"

    def _break_down(self, error: Exception) -> None:
        self.trouble, self.reason = f"broke down: {type(error).__name__}: {error}", "interrupted"

    def _is_enough(self) -> bool:
        """Return whether there can be no more passes: each emits a token, and one that was interrupted has an end."""
        stopped = self.before is not None and self.before.finish_reason == "interrupted"
        most = len(self.before.passes) if self.before is not None and stopped else self.run.stop.max_tokens
        return len(self.passes) >= most

    def _end(self) -> str:
        if self.before is not None and self.before.finish_reason == "interrupted":
            return "interrupted"
        return (self.passes[-1].finish_reason if self.passes else None) or "length"

    def _certify(self, done: Pass) -> None:
        if self.unread:
            return
        try:
            self.certificate.add(done)
        except Exception as error:  # noqa: BLE001  laws that do not fit together are the engine's fault
            self.unread = f"the certificate cannot read pass {len(self.passes) - 1}: {type(error).__name__}: {error}"


def options_of_state(state: State) -> Options:
    """Return the options of a generation that a state asks for; a tamper brings its own rule."""
    tamper = tamper_of(state)
    return Options(
        prompt=state.prompt,
        drafter=state.drafter,
        num_speculative_tokens=state.k,
        max_tokens=state.max_tokens,
        temperature=state.temperature,
        top_k=state.generation_top_k,
        top_p=state.generation_top_p,
        seed=state.generation_seed,
        rule=tamper.rule.name if tamper else state.generation_rule,
    )


def prepared(state: State) -> Generation:
    """Return the generation that a state asks for, with models of its own.

    Raises:
        UsageError: naming the setting that cannot be honoured.
    """
    run, tamper = prepare(options_of_state(state)), tamper_of(state)
    if tamper is not None:
        run = replace(run, engine=replace(run.engine, rule=tamper.rule, branching=tamper.branching))
    return Generation(run, tamper)


def kept(generation: Generation) -> Trace:
    """Return the trace of an honest generation as `generate --trace` keeps it."""
    return replace(generation.trace, settings=settings_of(generation.run))


def tokens_per_pass(trace: Trace) -> float | None:
    """Return how many tokens a pass of the target emitted on average; None before the first."""
    return len(trace.token_ids) / len(trace.passes) if trace.passes else None
