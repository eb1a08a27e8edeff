"""What `generate --json` prints, and several samples as one trace. In: samples and a certificate. Out: plain JSON."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from draftproof.api.samples import Sample, sample_json, usage
from draftproof.engine.setup import Run
from draftproof.records import Trace
from draftproof.witness.identity import Certificate

__all__ = ["merged", "report"]


def merged(samples: Sequence[Sample], seconds: float) -> Trace:
    """Return the passes of all samples as one trace, whose counts are theirs together."""
    if len(samples) == 1:
        return samples[0].trace
    passes = tuple(record for sample in samples for record in sample.trace.passes)
    reasons = Counter(sample.finish_reason for sample in samples)
    together = ", ".join(f"{count} {reason}" for reason, count in reasons.items())
    return Trace(samples[0].trace.prompt, passes, together, seconds)


def report(run: Run, samples: Sequence[Sample], seconds: float, certificate: Certificate) -> dict[str, Any]:
    """Return the report; text, tokens and reason are those of the first sample, the rest is of all together."""
    trace, finding = merged(samples, seconds), certificate.finding("this generation")
    counts = usage(len(run.prompt), samples)
    found = sample_json(samples[0]) | {"usage": counts, "speculation": _speculation(run, trace)}
    found["timing"] = {
        "seconds": seconds,
        "tokens_per_second": counts["completion_tokens"] / seconds if counts["completion_tokens"] else 0.0,
    }
    found["certificate"] = {
        "positions": certificate.positions,
        "max_deviation": finding.max_deviation,
        "verdict": finding.verdict,
    }
    return found | ({"samples": [sample_json(sample) for sample in samples]} if run.options.n > 1 else {})


def _speculation(run: Run, trace: Trace) -> dict[str, Any]:
    found: dict[str, Any] = {
        "rule": run.engine.rule.name,
        "num_drafts": trace.num_drafts,
        "num_draft_tokens": trace.num_draft_tokens,
        "num_accepted_tokens": trace.num_accepted_tokens,
        "acceptance_rate": trace.acceptance_rate,
        "mean_acceptance_length": trace.mean_acceptance_length,
        "acceptance_per_position": trace.acceptance_per_position,
        "expected_acceptance": trace.expected_acceptance,
        "target_passes": len(trace.passes),
        "num_drafter_faults": trace.num_drafter_faults,
    }
    if run.options.num_speculative_tokens == "auto":
        found["draft_lengths"] = _draft_lengths(trace)
    return found


def _draft_lengths(trace: Trace) -> list[dict[str, Any]]:
    """Return the first pass and every one in which another length was chosen: its number, what it drafted, and why."""
    return [
        {"pass": number, "drafted": record.depth, "why": record.why}
        for number, record in enumerate(trace.passes)
        if number == 0 or record.why is not None
    ]
