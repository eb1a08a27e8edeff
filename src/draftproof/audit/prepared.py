"""An audit made ready: what can be refused is refused before an engine is started.

In: options. Out: the engine, its interpreter and its models, and its arms when they are asked for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from draftproof.audit.catalogue import Chosen, chosen
from draftproof.audit.environments import python_for
from draftproof.audit.options import NEUTRAL, Options, check
from draftproof.audit.pair import Pair, pair_for
from draftproof.audit.process import SubjectFailureError
from draftproof.audit.requests import ARMS, Numbered
from draftproof.audit.sampler import Sampler
from draftproof.errors import UsageError

__all__ = ["Prepared"]

NO_CONTROL = "NoControlArmError"
"""The class of the error with which a subject says that it has no control arm."""
NOT_FOUND = {"ModuleNotFoundError", "ImportError", "AttributeError"}
"""What Python says where a user's function is not what its name says."""

UNDRAFTED = 2
"""Of a replay only the first tokens count; so many besides the drafts, and a pass drafts as much as it ever does."""


@dataclass(frozen=True)
class Prepared:
    """What an audit needs."""

    options: Options
    """With the method by name."""
    chosen: Chosen
    python: str
    pair: Pair

    @classmethod
    def of(cls, options: Options) -> Self:
        """Return it.

        Raises:
            UsageError: naming the option.
            MissingExtraError: if the engine is not installed.
        """
        check(options)
        subject = chosen(options.subject)
        options = replace(options, method=_method(subject, options.method))
        if options.replay:
            options = replace(options, max_tokens=options.num_speculative_tokens + UNDRAFTED)
        _check_claims(subject, options.settings)
        python = python_for(subject, options.python)
        pair = pair_for(options, subject, python)
        drafts = options.method in subject.member.DRAFTED and bool(subject.member.LIBRARY)
        if drafts and options.target and not options.drafter:
            raise UsageError(f"{subject.name} needs a draft model to speculate by {options.method}", "drafter")
        return cls(options, subject, python, pair)

    def sampler(self, arm: str, requests: Numbered) -> Sampler | str:
        """Return an arm that was started; if the engine cannot be asked that one, why.

        Raises:
            UsageError: if a function of the user's is not where it was said to be.
            SubjectFailureError: if the engine does not start.
        """
        try:
            return Sampler(self.options, self.chosen, self.python, self.pair, arm, requests)
        except SubjectFailureError as error:
            if self.chosen.name == "python" and error.name in NOT_FOUND:
                raise UsageError(f"got {self.options.subject!r}; {error}", "subject") from None
            if arm != ARMS[0] or error.name != NO_CONTROL:
                raise
            return str(error).rpartition(": ")[2]


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
