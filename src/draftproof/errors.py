"""Errors, by whose fault they are. In: nothing. Out: exception classes, each a single clear line when printed."""

__all__ = ["ContractError", "DraftproofError", "MissingExtraError", "UsageError"]


class DraftproofError(Exception):
    """Anything this package raises on purpose."""


class UsageError(DraftproofError):
    """The caller asked for something that cannot be: the message says what came, what is allowed, what to do.

    Args:
        message: one line.
        setting: the name of the setting at fault, as a Python caller writes it (`top_k`), where it is one.
    """

    def __init__(self, message: str, setting: str | None = None) -> None:
        super().__init__(message if setting is None else f"{setting}: {message}")
        self.message, self.setting = message, setting


class MissingExtraError(UsageError):
    """A library is not installed: the message names the extra that brings it."""


class ContractError(DraftproofError):
    """A part broke its promise, for example a model that returned NaN: the fault is in that part, not in the caller."""
