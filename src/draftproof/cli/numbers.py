"""Reads numbers from the command line. In: a word. Out: a number, or a refusal that repeats the word."""

from reprlib import repr as shortened

import typer

__all__ = ["length", "number", "whole"]


def whole(word: str | int) -> int:
    """Return the whole number that `word` writes."""
    try:
        return int(word)
    except ValueError:
        raise typer.BadParameter(f"got {shortened(word)}; allowed are whole numbers") from None


def number(word: str | float) -> float:
    """Return the number that `word` writes; whether it is finite and in range is judged by whoever uses it."""
    try:
        return float(word)
    except ValueError:
        raise typer.BadParameter(f"got {shortened(word)}; allowed are numbers") from None


def length(word: str | int) -> int | str:
    """Return the draft length that `word` writes."""
    try:
        return word if word == "auto" else int(word)
    except ValueError:
        raise typer.BadParameter(f"got {shortened(word)}; allowed are whole numbers and auto") from None
