"""A drafter that may fail: what it cannot propose is not drafted, and the text goes on with the target alone.

In: a drafter. Out: the same, silent where it raises or returns no law, with a count of that. Falling silent is lossless
(tests/laws/test_faults_law.py): whether a token is drafted may depend on all that is known before it is drawn. A token
that was drawn stays drafted.
"""

import logging
from dataclasses import dataclass
from typing import Self

from draftproof.drafters.base import Drafter
from draftproof.rules.contract import check_laws
from draftproof.types import Probs, Tokens

__all__ = ["Guarded"]

_LOG = logging.getLogger("draftproof")


@dataclass
class Guarded:
    """See `Drafter`: the law of `drafter`, or None where it fails.

    Args:
        drafter: what may fail.
        vocab_size: V; a law of another length is none.
    """

    drafter: Drafter
    vocab_size: int
    faults: int = 0
    """How often it failed."""
    fault: str | None = None
    """What happened last, since somebody last asked; see `take_fault`."""

    def law(self, context: Tokens) -> Probs | None:
        """See `Drafter.law`; never raises (but for Ctrl-C) and returns nothing that is no law."""
        try:
            law = self.drafter.law(context)
            if law is None:
                return None
            if tuple(law.shape) != (self.vocab_size,):
                self._note(f"a law of the shape {tuple(law.shape)}; the target has {self.vocab_size} tokens")
                return None
            check_laws(law[None], "draft")
        except Exception as error:  # noqa: BLE001 (whatever a drafter raises, the target goes on)
            self._note(f"{type(error).__name__}: {error}")
            self._renew()
            return None
        return law

    def rewind(self, length: int) -> None:
        """See `Drafter.rewind`; one that cannot is begun anew."""
        try:
            self.drafter.rewind(length)
        except Exception as error:  # noqa: BLE001 (see `law`)
            self._note(f"{type(error).__name__}: {error}")
            self._renew()

    def fresh(self) -> Self:
        """See `Drafter.fresh`."""
        return type(self)(self.drafter.fresh(), self.vocab_size)

    def take_fault(self) -> str | None:
        """Return what went wrong since this was last asked, or None."""
        fault, self.fault = self.fault, None
        return fault

    def _note(self, what: str) -> None:
        if self.faults == 0:
            _LOG.warning("the drafter failed (%s); the text goes on with the target alone where it does", what)
        self.faults += 1
        self.fault = what

    def _renew(self) -> None:
        """Begin with an empty drafter: nobody knows what one that raised has read."""
        try:
            self.drafter = self.drafter.fresh()
        except Exception:  # noqa: BLE001 (it is asked again in the next pass, and counted again)
            self.fault = f"{self.fault}, and it cannot be begun anew"
