"""Exit statuses that several files need. In: nothing. Out: numbers; docs/reference/command-line.md has them all."""

__all__ = ["INTERRUPTED", "SOME_FAILED", "USAGE_ERROR"]

SOME_FAILED = 1
"""Of many prompts one failed, alone."""
USAGE_ERROR = 2
"""Something asked for cannot be."""
INTERRUPTED = 130
"""Ctrl-C."""
