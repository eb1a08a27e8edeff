"""What `generate --witness` shows: how the bets stand while texts come, and the verdict. In: a watch. Out: lines.

A bound takes some ten milliseconds; so it is looked at less often than the bets, and takes a tenth of the time at most.
"""

import time
from contextlib import nullcontext, suppress
from typing import Any

from rich.text import Text

from draftproof.cli.audited import STYLES, odds
from draftproof.cli.live import LiveScreen
from draftproof.cli.screen import Screen
from draftproof.engine.passes import Pass
from draftproof.engine.setup import Run
from draftproof.witness.case import Case
from draftproof.witness.verdict import Verdict
from draftproof.witness.watch import Watch

__all__ = ["Watched", "status_of", "verdict_line"]

SELDOM = 10
"""After a look at the bound, so many times what it took goes by before the next."""


class Watched:
    """A generation under watch.

    Args:
        run: what generates.
        screen: where the bets are shown as they stand, if anywhere.
    """

    def __init__(self, run: Run, screen: Screen | None) -> None:
        self._watch = Watch(run.engine, run.prompt)
        self._screen = screen if isinstance(screen, LiveScreen) else None
        self._found = self._watch.live
        self._bound, self._again = "", 0.0

    def add(self, done: Pass, sample: int) -> None:
        """Bet on a pass, and show how it stands."""
        self._watch.add(done, sample)
        if self._screen is not None and self._screen.is_watched:
            self._screen.line(self._standing())

    def finish(self) -> None:
        """Read the finished texts anew; if Ctrl-C does not let them be read, what was seen so far is all."""
        waiting = nullcontext() if self._screen is None else self._screen.waiting("reading the text anew")
        with suppress(KeyboardInterrupt), waiting:
            self._found = self._watch.finished()

    @property
    def status(self) -> int:
        """The exit status that the verdict asks for."""
        return status_of(self._found)

    def told(self) -> dict[str, Any]:
        """Return what the report of a generation says."""
        return self._found.to_json()

    def verdict(self) -> Text:
        """Return the last line."""
        return verdict_line(self._found)

    def _standing(self) -> Text:
        live, began = self._watch.live, time.monotonic()
        if began >= self._again:
            bound = live.opinion().bound
            self._bound = "" if bound is None else f"drift at most {bound:.1%}   "
            now = time.monotonic()
            self._again = now + SELDOM * (now - began)
        evidence = odds(live.state.log_wealth)
        return Text(f"witness: evidence {evidence}   {self._bound}{live.tokens:,} tokens", "dim")


def verdict_line(found: Case) -> Text:
    """Return the verdict in its colour and what it rests on."""
    said = found.opinion()
    evidence = "" if said.verdict is Verdict.DRIFT else f"evidence {odds(found.state.highest)}; "
    return Text.assemble((str(said.verdict), STYLES[said.verdict]), f"  {evidence}{said.reason}")


def status_of(found: Case) -> int:
    """Return the exit status that a verdict asks for."""
    return int(found.opinion().verdict is Verdict.DRIFT)
