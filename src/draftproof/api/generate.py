"""`generate` and `stream`: text from the target's own law, in one call.

In: a prompt and settings. Out: a `Generated`, or pieces of text as they come. The law is that of the target under the
settings, with speculation and without; settings that do not go together are refused before a model is loaded.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Unpack, overload

from draftproof.api.auto import Auto
from draftproof.api.samples import Generated
from draftproof.api.settings import Settings, options_of
from draftproof.api.workers import check_workers, generated, in_processes
from draftproof.engine.logprobs import Scored, scored
from draftproof.engine.setup import Run, check_options, prepare
from draftproof.errors import DraftproofError, UsageError
from draftproof.warpers.base import Warper

__all__ = ["Piece", "check_logprobs", "generate", "stream"]

MOST_ALTERNATIVES = 1024


@overload
def generate(  # pyright: ignore[reportOverlappingOverload] (a text is a sequence of texts too)
    prompt: str, *, logprobs: int | None = None, processors: Sequence[Warper] = (), **settings: Unpack[Settings]
) -> Generated: ...
@overload
def generate(
    prompt: Sequence[str],
    *,
    batch_size: int = 8,
    workers: int = 1,
    logprobs: int | None = None,
    processors: Sequence[Warper] = (),
    **settings: Unpack[Settings],
) -> list[Generated]: ...
def generate(
    prompt: str | Sequence[str], *, batch_size: int = 8, workers: int = 1, logprobs: int | None = None,
    processors: Sequence[Warper] = (), **settings: Any,
) -> Generated | list[Generated]:  # fmt: skip
    """Return what follows a prompt, or each of several, which are then decoded together.

    Args:
        prompt: one text or several.
        batch_size: how many texts are decoded at a time; it changes the speed, not the texts.
        workers: how many processes share them, each with models of its own; a program that asks for more than one must
            be importable (`if __name__ == "__main__":`), and have no processors.
        logprobs: asks for log-probabilities, with so many alternatives beside each token (0 or more).
        processors: further warpers, such as `draftproof.warpers.processor`'s, before the temperature.
        settings: see `Settings`.

    Raises:
        UsageError: naming the first setting that cannot be honoured.

    >>> generate("And the king said", max_tokens=3, seed=2).samples[0].finish_reason
    'length'
    """
    check_logprobs(logprobs)
    prompts = [prompt] if isinstance(prompt, str) else list(prompt)
    options = [options_of(text, settings) for text in prompts]
    for each in options:
        check_options(each)
    check_workers(workers)
    if workers > 1 and processors:
        raise UsageError(f"got {workers} with processors, which stay in the process that made them; give 1", "workers")
    if workers > 1:
        coming = in_processes(options, workers, batch_size, logprobs)
    else:
        coming = generated(options, batch_size, logprobs, processors)
    found = {number: _whole(each) for number, each in coming}
    return found[0] if isinstance(prompt, str) else [found[number] for number in range(len(prompts))]


def _whole(found: Generated | DraftproofError) -> Generated:
    if isinstance(found, DraftproofError):
        raise found
    for sample in found.samples:
        if sample.error is not None:
            raise UsageError(f"a text ended after {len(sample.token_ids)} tokens: {sample.error}")
    return found


class Piece(NamedTuple):
    """What one pass of the target added to a text."""

    text: str
    """The characters that are complete with it; a character of several tokens comes with the last of them."""
    token_ids: tuple[int, ...]
    from_draft: tuple[bool, ...]
    """For each token whether it was drafted and kept."""
    logprobs: tuple[Scored, ...] | None
    finish_reason: str | None
    """`stop` or `length` with the last piece, else None."""
    stop_reason: str | int | None


def stream(
    prompt: str, *, logprobs: int | None = None, processors: Sequence[Warper] = (), **settings: Unpack[Settings]
) -> Iterator[Piece]:
    """Yield what follows a prompt, a piece for each pass of the target; memory stays flat however long it gets.

    Args:
        prompt: the text to go on from.
        logprobs: see `generate`.
        processors: see `generate`.
        settings: see `Settings`; `n` is 1.

    Raises:
        UsageError: naming the first setting that cannot be honoured, before anything is yielded.

    >>> "".join(piece.text for piece in stream("And the king said", max_tokens=3, temperature=0))
    ' unto him,'
    """
    check_logprobs(logprobs)
    options = options_of(prompt, settings)
    if options.n != 1:
        raise UsageError(f"got {options.n}; a stream is one text, so 1 is allowed; `generate` takes more", "n")
    return _pieces(prepare(options, decide=Auto().of(options), processors=processors), logprobs)


def _pieces(run: Run, logprobs: int | None) -> Iterator[Piece]:
    spell, kind = run.tokenizer.stream(), run.engine.target.row_kind
    for done in run.engine.decode(run.prompt, run.stop, run.noise):
        text = "".join(spell(token) for token in done.emitted)
        from_draft = tuple(i < len(done.path) for i in range(len(done.emitted)))
        scores = None if logprobs is None else tuple(scored(done, kind, logprobs))
        yield Piece(text, done.emitted, from_draft, scores, done.finish_reason, done.stopped_by)


def check_logprobs(logprobs: int | None) -> None:
    """Refuse numbers of alternatives that cannot be.

    Raises:
        UsageError: if the number is out of range.
    """
    if logprobs is not None and not 0 <= logprobs <= MOST_ALTERNATIVES:
        raise UsageError(f"got {logprobs}; allowed are 0 to {MOST_ALTERNATIVES}", "logprobs")
