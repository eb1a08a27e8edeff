"""The door of every rule: what comes in must be laws, and tokens that can have been drawn from them.

In: the arguments of `Rule.verify`. Out: nothing, or a `ContractError` that names the row. No token is ever emitted from
something that is no law.
"""

from fractions import Fraction

import numpy as np

from draftproof.arrays import array_namespace, is_numpy_array
from draftproof.errors import ContractError
from draftproof.rules.base import entries_at
from draftproof.rules.draft_laws import Few
from draftproof.types import Array, Probs, Tree

__all__ = ["check_chain", "check_laws", "check_tree"]

SLACK = 1e-6
"""How far a row's sum may be from 1: rows normalised in float32 are within 1e-7 * log V, logits nowhere near."""
EXACT = {Fraction, int}
CACHED = 2**17
"""So many entries are checked at a time, whole rows: each is read from memory once."""


def check_laws(laws: Probs, whose: str) -> None:
    """Check rows (..., N, V): finite, non-negative, summing to 1.

    Raises:
        ContractError: naming the first row that is no law, and what it holds.
    """
    if 0 in laws.shape or (_few(laws) and _proper(laws)) or _exact(laws):
        return
    xp, rows = array_namespace(laws), laws.reshape(-1, laws.shape[-1])
    step = max(1, CACHED // rows.shape[-1]) if is_numpy_array(laws) else len(rows)
    for first in range(0, len(rows), step):
        some = _without_zeros(rows[first : first + step, :])
        with np.errstate(over="ignore", invalid="ignore"):  # a sum that is infinite or none at all is refused below
            totals, lowest = xp.sum(some, axis=-1), xp.min(some, axis=-1)
        proper = (lowest >= 0) & (totals >= 1 - SLACK) & (totals <= 1 + SLACK)  # false for NaN
        if not bool(xp.all(xp.astype(proper, xp.bool))):
            at = [bool(fine) for fine in proper].index(False)
            found = f"it sums to {totals[at]}" if lowest[at] >= 0 else f"its smallest entry is {lowest[at]}"
            row = (first + at) % laws.shape[-2]
            raise ContractError(f"{whose} row {row} is no law: {found}; laws are non-negative and sum to 1")


def _few(laws: Probs) -> bool:
    """Return whether these are rows of NumPy, in floats, few enough to be looked at as they are."""
    return is_numpy_array(laws) and laws.dtype.kind == "f" and laws.size <= CACHED


def _exact(laws: Probs) -> bool:
    """Return whether these are fractions and laws to the last bit; comparing fractions with floats takes long."""
    if not is_numpy_array(laws) or laws.dtype.kind != "O":
        return False
    rows = laws.reshape(-1, laws.shape[-1]).tolist()
    return {type(entry) for row in rows for entry in row} <= EXACT and all(
        min(row) >= 0 and sum(row) == 1 for row in rows
    )


def _without_zeros(rows: Probs) -> Probs:
    """Return a row (1, V) of NumPy, where few of its entries are not zero, as these alone; others as they are."""
    if len(rows) != 1:
        return rows
    few = Few.of(rows[0])
    return rows if few is None or not len(few.ids) else few.entries[None]


def _proper(laws: Probs) -> bool:
    """Return whether all rows are laws, in two calls: most passes have few rows, and every call costs."""
    with np.errstate(over="ignore", invalid="ignore"):
        totals = np.add.reduce(laws, axis=-1)
    largest, smallest = (totals.max(), totals.min()) if totals.ndim else (totals, totals)
    return bool(np.minimum.reduce(laws, axis=None) >= 0 and smallest >= 1 - SLACK and largest <= 1 + SLACK)


def check_chain(target: Probs, draft: Probs, tokens: Array) -> None:
    """Check a block of K drafted tokens: K draft rows and K + 1 target rows of one length, tokens with mass.

    Raises:
        ContractError: naming the row or token at fault.
    """
    count = tokens.shape[-1]
    _check_shapes(target, draft, count + 1, range(count, count + 1))
    check_laws(target, "target")
    check_laws(draft, "draft")
    if count:
        _check_tokens(tokens.reshape(-1).tolist(), target.shape[-1], count)
        _check_mass(entries_at(draft, tokens), tokens)


def check_tree(target: Probs, draft: Probs, tree: Tree) -> None:
    """Check a drafted tree: a target row after the text and each node, a law for each node that has children.

    Raises:
        ContractError: naming the row or node at fault.
    """
    inner = sorted({parent + 1 for parent in tree.parents})
    fewest = inner[-1] + 1 if inner else 0
    _check_shapes(target, draft, len(tree.tokens) + 1, range(fewest, len(tree.tokens) + 2))
    check_laws(target, "target")
    _check_tokens(list(tree.tokens), target.shape[-1], len(tree.tokens))
    for row in inner:
        check_laws(draft[row : row + 1, :], f"draft (numbered {row})")
    for node, (token, parent) in enumerate(zip(*tree, strict=True)):
        if not -1 <= parent < node:
            raise ContractError(f"node {node} has parent {parent}; parents come before their children")
        if not draft[parent + 1, token] > 0:
            raise ContractError(f"draft row {parent + 1} gives token {token} (node {node}) no mass: not drawn from it")


def _check_shapes(target: Probs, draft: Probs, target_rows: int, draft_rows: range) -> None:
    if target.shape[-2] != target_rows or draft.shape[-2] not in draft_rows:
        raise ContractError(
            f"{target_rows - 1} drafted tokens need {target_rows} target rows and {draft_rows[0]} draft rows; "
            f"got {target.shape[-2]} and {draft.shape[-2]}"
        )
    if draft.shape[-2] and target.shape[-1] != draft.shape[-1]:
        raise ContractError(
            f"target rows have {target.shape[-1]} entries and draft rows {draft.shape[-1]}: one vocabulary is needed"
        )


def _check_tokens(tokens: list[int], vocab_size: int, count: int) -> None:
    for i, token in enumerate(tokens):
        if not 0 <= token < vocab_size:
            raise ContractError(f"drafted token {i % count} is {token}; allowed are 0 to {vocab_size - 1}")


def _check_mass(masses: Array, tokens: Array) -> None:
    flat = masses.reshape(-1).tolist()
    for i, mass in enumerate(flat):
        if not mass > 0:
            count = tokens.shape[-1]
            token = tokens.reshape(-1).tolist()[i]
            raise ContractError(f"draft row {i % count} gives token {token} no mass: it was not drawn from it")
