"""Which evidence an audit collects, by its options. In: options, a reference. Out: none so far, of the right kind."""

from draftproof.audit.evidence import Evidence
from draftproof.audit.greedy import Greedy
from draftproof.audit.options import Options
from draftproof.audit.reference import Reference
from draftproof.audit.replayed import Replayed
from draftproof.audit.requests import Requests
from draftproof.audit.sampled import Sampled

__all__ = ["evidence_for"]

LEVEL = 1e-4
"""Log-probabilities of two implementations in float32 differ by 1e-5; ten times that is level."""


def evidence_for(options: Options, reference: Reference, requests: Requests) -> Evidence:
    """Return the evidence of an arm before any token came."""
    if options.greedy:
        return Greedy(max(options.eta, LEVEL))
    if options.replay:
        return Replayed.of(reference, [requests.prompt(number) for number in range(options.replay[0])])
    return Sampled()
