"""All tampers by name, family by family; the source's own comes first. In: nothing. Out: values."""

from draftproof.redteam.base import Tamper

__all__ = ["TAMPERS"]

TAMPERS: dict[str, Tamper] = {}
"""What `draftproof attack` runs."""
