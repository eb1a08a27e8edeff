"""One person's bench: what is set, the numbers that follow, the windows that show them. Nothing is shared with others.

In: changes. Out: every window refreshed from one state, and a link to it. A change that cannot be honoured is refused
in words, and nothing moves.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import Client, background_tasks, run, ui

from draftproof.errors import DraftproofError
from draftproof.explorer.results import Numbers, numbers_of
from draftproof.explorer.state import State, changed, query_of
from draftproof.records import Trace
from draftproof.redteam.scorecard import Score

__all__ = ["Bench"]

SETTLED = 0.4
"""Seconds without a change after which the address of the page follows; browsers count how often it does."""
FLUSH = 0.05
"""Seconds in which a browser learns that work has begun."""
LAWS = {f"{side}{part}" for side in "pq" for part in ("", "_temperature", "_top_k", "_top_p")}
"""What moves under a hand: draws are not counted anew with every step of a slider."""


@dataclass
class Bench:
    """A page in one browser.

    Args:
        state: what is set.
        client: the browser.
        measurements: folder of stored measurements.
        trace: a saved generation to show, if the page was opened with one.
    """

    state: State
    client: Client
    measurements: Path
    trace: Trace | None = None
    scores: dict[str, Score] = field(default_factory=dict[str, Score])
    """What the whole battery said, by tamper."""
    _refreshers: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    _working_shown: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    _address: asyncio.TimerHandle | None = None

    def __post_init__(self) -> None:
        self.numbers: Numbers = numbers_of(self.state)
        self.refusal, self.working = "", False

    def watch(self, refresh: Callable[[], None]) -> None:
        """Call `refresh` now and after every change."""
        self._refreshers.append(refresh)

    def change(self, **changes: Any) -> None:
        """Change what is set and show what follows; or say why it cannot be, and show what is still set."""
        was_working, self.working = self.working, False
        if LAWS & changes.keys():
            changes = {"draws": 0} | changes
        try:
            state = changed(self.state, **changes)
            if state == self.state and not self.refusal and not was_working:
                return  # a slider says its last word twice
            numbers = numbers_of(state)
        except DraftproofError as error:
            self.refusal = f"Refused: {error}"
        else:
            self.refusal, self.state, self.numbers = "", state, numbers
            self._follow()
        self.refresh()

    def switch(self, **changes: Any) -> None:
        """Change what may take a moment to follow; until it is there, `working` says so."""
        self.working = True
        for show in self._working_shown:
            show()
        asyncio.get_running_loop().call_later(FLUSH, self._tell, partial(self.change, **changes))

    def watch_work(self, show: Callable[[], None]) -> None:
        """Call `show` when `working` becomes true; when it no longer is, everything is refreshed."""
        self._working_shown.append(show)

    def attempt(self, make: Callable[[], dict[str, Any]]) -> None:
        """Change what `make` returns; a refusal while making it is shown like any other."""
        try:
            changes = make()
        except DraftproofError as error:
            self.refuse(str(error))
        else:
            self.change(**changes)

    def refuse(self, message: str) -> None:
        """Say why something cannot be."""
        self.refusal = f"Refused: {message}"
        self.refresh()

    def refresh(self) -> None:
        """Let every window show the numbers of the state."""
        for refresh in self._refreshers:
            refresh()

    def work(self, compute: Callable[..., Any], *arguments: Any, then: Callable[[Any], None], process: bool) -> None:
        """Compute aside, in another process or thread, and hand the result to `then` if the page is still open.

        The caller shows that it is busy, and checks in `then` that the question still stands.
        """

        async def wait() -> None:
            try:
                found = await (run.cpu_bound if process else run.io_bound)(compute, *arguments)
            except Exception as error:  # noqa: BLE001  a page that waits for ever is worse than any message
                self._tell(partial(self.refuse, f"{type(error).__name__}: {error}"))
            else:
                self._tell(partial(then, found))

        background_tasks.create(wait(), name=getattr(compute, "__name__", "work"))

    def _tell(self, show: Callable[[], None]) -> None:
        if self.client.id in Client.instances:
            with self.client:
                show()

    @property
    def link(self) -> str:
        """The address of this page: opened again, it shows the same."""
        query = query_of(self.state)
        return f"/?{query}" if query else "/"

    def _follow(self) -> None:
        if self._address is not None:
            self._address.cancel()
        self._address = asyncio.get_running_loop().call_later(SETTLED, self._tell, self._write_address)

    def _write_address(self) -> None:
        ui.navigate.history.replace(self.link)
