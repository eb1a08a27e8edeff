"""What `generate` shows under watch: the text as ever, and a line that changes below it, where somebody watches.

In: passes, the line. Out: a terminal. A text that goes to a file or a pipe is as it always is; the line is then on
standard error alone.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

from rich.console import Group
from rich.live import Live
from rich.text import Text

from draftproof.cli.screen import Screen
from draftproof.models.tokenizer import Tokenizer

__all__ = ["LiveScreen"]

SPARE = 4
"""Lines of the screen that the end of a long paragraph leaves free."""


class LiveScreen(Screen):
    """See `Screen`. Where text and line share a terminal, the last paragraph is drawn anew with each line.

    Args:
        tokenizer: see `Screen`.
        streams: see `Screen`.
    """

    def __init__(self, tokenizer: Tokenizer, *, streams: bool = True) -> None:
        super().__init__(tokenizer, streams=streams)
        self._shares = streams and self._text.is_terminal
        self._paragraph = Text()
        console = self._text if self._shares else self._notes
        moving = Live(console=console, transient=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False)
        self._live = moving if console.is_terminal else None

    @property
    def is_watched(self) -> bool:
        """Whether somebody sees the line."""
        return self._live is not None

    @contextmanager
    def begun(self, prompt: str) -> Iterator[None]:
        """See `Screen.begun`."""
        if self._live is not None:
            self._live.start()
        try:
            with super().begun(prompt):
                yield
        finally:
            self._stop()

    def write(self, piece: str, style: str | None) -> None:
        """See `Screen.write`."""
        if not self._shares:
            super().write(piece, style)
            return
        *over, rest = piece.split("\n")
        for part in over:
            self._paragraph.append(part, style)
            self._text.print(self._paragraph, soft_wrap=True)
            self._paragraph = Text()
        self._paragraph.append(rest, style)

    def end(self, rest: str) -> None:
        """See `Screen.end`."""
        if self._shares:
            self.write(rest, None)
        self._stop()
        if not self._shares:
            super().end(rest)

    def finish(self, texts: Sequence[str]) -> None:
        """See `Screen.finish`."""
        if not self._streams:
            self._stop()
        super().finish(texts)

    def line(self, line: Text) -> None:
        """Show a line in the place of the last one."""
        if self._live is None:
            return
        line.no_wrap, line.overflow = True, "ellipsis"
        shown = self._paragraph.wrap(self._text, self._text.width, overflow="fold") if self._shares else []
        most = max(1, self._text.height - SPARE)
        self._live.update(Group(*shown[-most:], line), refresh=True)

    def waiting(self, what: str) -> AbstractContextManager[object]:
        """Say what is waited for."""
        return self._notes.status(Text(what, "dim")) if self._notes.is_terminal else nullcontext()

    def _stop(self) -> None:
        """Take the line away and leave the text."""
        if self._live is None or not self._live.is_started:
            return
        self._live.stop()
        if self._shares:
            self._text.print(self._paragraph, soft_wrap=True)
