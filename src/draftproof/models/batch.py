"""Reads what several models want to read, together where they can be. In: reads. Out: rows, in the order asked.

It must never know why they are read together.
"""

from collections.abc import Sequence
from typing import cast

from draftproof.models.base import BatchModel, Read
from draftproof.types import Array

__all__ = ["read_all"]


def read_all(reads: Sequence[Read]) -> list[Array]:
    """Return what `extend` would return for each read; every model occurs once at most.

    Models of one family are read together, all others one by one. The rows are those that each would have alone.
    """
    rows: list[Array] = [None] * len(reads)
    families: dict[int, tuple[BatchModel, list[int]]] = {}
    for place, (model, tokens, asked, parents) in enumerate(reads):
        if hasattr(model, "read_together"):  # to ask isinstance costs more than a draft step's share
            member = cast("BatchModel", model)
            families.setdefault(id(member.family), (member, []))[1].append(place)
        else:
            rows[place] = model.extend(tokens, asked, parents)
    for member, places in families.values():
        for place, found in zip(places, member.read_together([reads[place] for place in places]), strict=True):
            rows[place] = found
    return rows
