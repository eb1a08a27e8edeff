"""What `generate` shows: the text as it comes, coloured by where each token came from, and the summary.

In: passes, a trace. Out: text on standard output; the summary on standard error, so that `> file` keeps the text alone.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

from rich.console import Console
from rich.table import Table
from rich.text import Text

from draftproof.engine.passes import Pass
from draftproof.models.tokenizer import Tokenizer
from draftproof.records import Conclusion, Finding, Trace

__all__ = ["VERDICT_STYLES", "Screen", "note"]

ACCEPTED, RESIDUAL, BONUS = "green", "bold underline yellow", "bold magenta"
VERDICT_STYLES = {
    Conclusion.LOSSLESS: "bold green",
    Conclusion.LOSSY: "bold red",
    Conclusion.WASTEFUL: "yellow",
    Conclusion.UNDECIDED: "bold yellow",
}


class _Pipe(Console):
    """A console for which a closed pipe (`| head -1`) is the end of the work, not an error."""

    def on_broken_pipe(self) -> NoReturn:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0)


class Screen:
    """Prints tokens and a summary.

    Args:
        tokenizer: writes tokens as text.
        streams: whether one text is shown as it comes; several are shown when they are over.
    """

    def __init__(self, tokenizer: Tokenizer, *, streams: bool = True) -> None:
        self._streams = streams
        self._text = _Pipe(highlight=False)
        self._notes = Console(stderr=True, highlight=False)
        self._piece = tokenizer.stream()
        self._shown = 0

    @contextmanager
    def begun(self, prompt: str) -> Iterator[None]:
        """Print the prompt, where a person is watching; whatever happens then, the terminal is left as it was."""
        if self._text.is_terminal:
            self.write(prompt, "dim")
        yield

    def write(self, piece: str, style: str | None) -> None:
        """Print the next part of a text."""
        self._text.out(piece, style=style, end="", highlight=False)

    def end(self, rest: str) -> None:
        """Print the last part of a text."""
        self._text.out(rest, highlight=False)

    def show(self, done: Pass) -> None:
        """Print what a pass emitted."""
        if not self._streams:
            return
        for i, token in enumerate(done.emitted):
            style = ACCEPTED if i < len(done.path) else BONUS if done.bonus else RESIDUAL
            piece = self._piece(token)
            self._shown += len(piece)
            self.write(piece, style if done.drafted else None)
        sys.stdout.flush()

    def finish(self, texts: Sequence[str]) -> None:
        """Print what is not shown yet: of one text, bytes that never became a character; else all, under headings."""
        if self._streams:
            self.end(texts[0][self._shown :])
            return
        for number, text in enumerate(texts, 1):
            self._text.out(f"--- sample {number} of {len(texts)} ---", style="dim", highlight=False)
            self._text.out(text, highlight=False)

    def summary(
        self, trace: Trace, plain: float | None, certificate: Finding, *, auto: bool, witness: Text | None = None
    ) -> None:
        """Print what the generation amounted to.

        Args:
            trace: of the text; of several samples, all passes.
            plain: tokens a second of plain decoding, if it was timed.
            certificate: what the witness of the rule says.
            auto: whether the draft length was chosen in each pass.
            witness: what the statistical witness says.
        """
        table = Table.grid(padding=(0, 2))
        lines = self._lines(trace, plain, certificate, auto=auto)
        for name, value in [*lines, *([] if witness is None else [("witness", witness)])]:
            table.add_row(Text(name, style="dim"), value)
        self._notes.print(table)

    def _lines(self, trace: Trace, plain: float | None, certificate: Finding, *, auto: bool) -> list[tuple[str, Text]]:
        emitted, passes = len(trace.token_ids), max(1, len(trace.passes))
        per_pass = f"{emitted} in {len(trace.passes)} target passes = {emitted / passes:.2f} a pass"
        lines = [("tokens", Text(f"{per_pass} ({trace.finish_reason})"))]
        if trace.num_drafts:
            lines += [("colours", _legend(trace)), ("acceptance", Text(_acceptance(trace)))]
        else:
            lines.append(("speculation", Text("off: nothing was drafted")))
        if trace.num_drafter_faults:
            lines.append(("drafter", Text(_faults(trace), style="yellow")))
        if auto:
            lines.append(("draft length", Text(_course(trace))))
        speed = emitted / trace.seconds if trace.seconds else 0.0
        against = f", plain decoding {plain:.0f}: {speed / plain:.2f}x" if plain else ""
        lines.append(("speed", Text(f"{speed:.0f} tokens a second{against}")))
        lines.append(("certificate", _judgement(certificate)))
        return lines


def note(text: str) -> None:
    """Print a dim line on standard error, as long as it is."""
    Console(stderr=True).out(text, style="dim", highlight=False)


def _judgement(finding: Finding) -> Text:
    """Return a finding's verdict in its colour, its largest deviation and its reason, on one line."""
    largest = "" if finding.max_deviation is None else f"  max |P_emit - p| = {finding.max_deviation:.1e}"
    return Text.assemble((str(finding.verdict), VERDICT_STYLES[finding.verdict]), largest, f"  {finding.reason}")


def _acceptance(trace: Trace) -> str:
    accepted, drafted = trace.num_accepted_tokens, trace.num_draft_tokens
    expected = trace.expected_acceptance
    from_laws = "" if expected is None else f", expected from the laws {expected:.1%}"
    return f"{accepted} of {drafted} drafted tokens = {accepted / drafted:.1%}{from_laws}"


def _faults(trace: Trace) -> str:
    """Return how often the drafter failed, and how it did last."""
    count, faults = trace.num_drafter_faults, [record.fault for record in trace.passes if record.fault]
    failed = f"failed in {count} of {len(trace.passes)} passes ({faults[-1]})"
    return f"{failed}; the target went on alone there"


def _course(trace: Trace) -> str:
    """Return how the chosen draft length went."""
    depths, reasons = [record.depth for record in trace.passes], [record.why for record in trace.passes if record.why]
    if not depths:
        return "auto: nothing to choose"
    if min(depths) == max(depths):
        return f"auto: {depths[0]} in every pass"
    course = f"auto: {min(depths)} to {max(depths)}, {sum(depths) / len(depths):.1f} on average"
    return course + (f"; {len(reasons)} changes, the last {reasons[-1]}" if reasons else "")


def _legend(trace: Trace) -> Text:
    bonus = sum(1 for record in trace.passes if record.drafted and record.bonus)
    return Text.assemble(
        ("accepted draft", ACCEPTED), f" {trace.num_accepted_tokens}   ",
        ("residual", RESIDUAL), f" {trace.num_drafts - bonus}   ",
        ("bonus", BONUS), f" {bonus}",
    )  # fmt: skip
