"""Laws as a hand makes them: presets, random ones, one probability set, numbers typed.

In: words and numbers. Out: weights that have a law, or a refusal in one line. It knows no other room but the warpers.
"""

import re
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from draftproof.errors import ContractError, UsageError
from draftproof.noise import PhiloxNoise
from draftproof.types import Probs, Purpose
from draftproof.warpers.base import normalise

__all__ = [
    "LARGEST",
    "PRESETS",
    "SMALLEST",
    "Weights",
    "checked",
    "law_of",
    "one",
    "preset",
    "random_pair",
    "resized",
    "typed",
    "whole",
    "with_probability",
]

Weights = tuple[float, ...]
SMALLEST = 2
LARGEST = 12
"""Between these sizes a vocabulary fits the page."""


def checked(weights: Sequence[float], setting: str) -> Weights:
    """Return the weights, if they have a law.

    Raises:
        UsageError: if they are too few or many, negative, not finite, or all zero.
    """
    if not SMALLEST <= len(weights) <= LARGEST:
        raise UsageError(f"got {len(weights)} numbers; allowed are {SMALLEST} to {LARGEST}, one a token", setting)
    try:
        normalise(np.array(weights, dtype=np.float64))
    except ContractError:
        shown = ", ".join(f"{weight:g}" for weight in weights)
        raise UsageError(f"got {shown}, which is no law: numbers from 0 up, at least one above 0", setting) from None
    return tuple(float(weight) for weight in weights)


def typed(text: str, setting: str) -> Weights:
    """Return the weights that a text lists: decimals or fractions, with commas or spaces between them."""
    return checked([one(word, setting) for word in re.split(r"[,;\s]+", text.strip()) if word], setting)


def one(text: str, setting: str) -> float:
    """Return the number that a text is: a decimal or a fraction.

    Raises:
        UsageError: if it is none.
    """
    try:
        return float(Fraction(text.strip()))
    except (ValueError, ZeroDivisionError, OverflowError):
        raise UsageError(f"got {text!r}; allowed are numbers such as 0.5 or 1/3", setting) from None


def whole(text: str, setting: str) -> int:
    """Return the whole number that a text is.

    Raises:
        UsageError: if it is none.
    """
    try:
        return int(text.strip())
    except ValueError:
        raise UsageError(f"got {text!r}; allowed are whole numbers", setting) from None


def with_probability(weights: Sequence[float], token: int, probability: float, setting: str) -> Weights:
    """Return weights by which `token` has this probability, while the others keep their shares of the rest.

    Raises:
        UsageError: if the probability is none, or no other token has mass to share the rest.
    """
    if not 0 <= probability <= 1:  # false for NaN
        raise UsageError(f"got {probability:g} for token {token}; a probability is a number from 0 to 1", setting)
    law = normalise(np.array(weights, dtype=np.float64))
    others = law.copy()
    others[token] = 0
    rest = others.sum()
    if rest == 0 and probability < 1:
        raise UsageError(
            f"token {token} cannot have {probability:g}: no other token has mass to share what is left; "
            "raise another token first", setting,
        )  # fmt: skip
    changed = others / rest * (1 - probability) if rest > 0 else others
    changed[token] = probability
    return checked(changed.tolist(), setting)


def resized(weights: Sequence[float], size: int, setting: str) -> Weights:
    """Return weights of so many tokens: new ones have no mass, and of lost ones the mass is lost."""
    kept = [*weights[:size], *[0.0] * (size - len(weights))]
    return checked(kept if any(kept) else [1.0] * size, setting)


def preset(name: str, size: int) -> tuple[Weights, Weights]:
    """Return the target's and the draft's weights of a preset.

    Raises:
        UsageError: if there is none of that name.
    """
    if name not in PRESETS:
        raise UsageError(f"got {name!r}; allowed are {', '.join(PRESETS)}", "preset")
    target, draft = PRESETS[name](size)
    return checked(target, "p"), checked(draft, "q")


def random_pair(seed: int, size: int) -> tuple[Weights, Weights]:
    """Return two laws uniform on the simplex, target and draft. Uniforms consumed: one DRAFT each a token."""
    target, draft = (-np.log1p(-PhiloxNoise(seed, i).uniforms(Purpose.DRAFT, 0, size)) for i in (0, 1))
    return tuple(normalise(target).tolist()), tuple(normalise(draft).tolist())


def _falling(size: int) -> list[float]:
    return [float(size - i) for i in range(size)]


def _aligned(size: int) -> tuple[list[float], list[float]]:
    target = _falling(size)
    return target, [weight + (1.0 if i % 2 else -0.5) for i, weight in enumerate(target)]


def _disjoint(size: int) -> tuple[list[float], list[float]]:
    half = size // 2
    return [*_falling(half), *[0.0] * (size - half)], [*[0.0] * half, *_falling(size - half)]


def _zeros(size: int) -> tuple[list[float], list[float]]:
    target = _falling(size)
    return [0.0 if i == 1 else w for i, w in enumerate(target)], [0.0 if i == 0 else w for i, w in enumerate(target)]


PRESETS: dict[str, Callable[[int], tuple[list[float], list[float]]]] = {
    "unlike": lambda size: (_falling(size), _falling(size)[::-1]),
    "aligned": _aligned,
    "disjoint": _disjoint,
    "equal": lambda size: (_falling(size), _falling(size)),
    "one-hot": lambda size: ([1.0, *[0.0] * (size - 1)], _falling(size)),
    "zeros": _zeros,
    "uniform": lambda size: (_falling(size), [1.0] * size),
}
"""Maps a name and V to the weights of target and draft."""


def law_of(weights: Weights) -> Probs:
    """Return the law (V,) of weights."""
    return normalise(np.array(weights, dtype=np.float64))
