"""How far a chain of guesses runs along tokens that are drawn one after another. In: guesses, draws. Out: a verdict.

Shared by the rules that emit the target's own draws (`match`, `coupled`); rows past the first miss are not drawn.
"""

from collections.abc import Callable

from draftproof.arrays import array_namespace
from draftproof.rules.base import Verdict, pick
from draftproof.types import Array, Draws, Probs, Purpose

__all__ = ["bonus_alone", "run_of_matches"]


def run_of_matches(drafted: Array, draw: Callable[[int], Array]) -> Verdict:
    """Return how many of drafted (..., K) equal the drawn tokens before the first that does not, and the token there.

    Args:
        drafted: (..., K) token ids.
        draw: i -> (...) token ids drawn at row i; asked for 0, 1, .. until no row of the batch still matches.
    """
    xp = array_namespace(drafted)
    token = draw(0)
    accepted = xp.zeros(drafted.shape[:-1], dtype=xp.int64, device=drafted.device)
    if drafted.shape[-1] == 0:
        return Verdict(accepted, token)
    alive = accepted == 0
    for i in range(drafted.shape[-1]):
        alive = alive & (token == drafted[..., i])
        if not bool(xp.any(alive)):
            break
        accepted = accepted + xp.astype(alive, xp.int64)
        token = xp.where(alive, draw(i + 1), token)
    return Verdict(accepted, token)


def bonus_alone(target: Probs, drafted: Array, draws: Draws) -> Verdict:
    """Return the verdict on nothing drafted (..., 0): a token of the only row (..., 1, V). One FINAL uniform.

    Rules with residuals would say the same; a pass of plain decoding should not cost what they do.
    """
    return run_of_matches(drafted, lambda _: pick(target[..., 0, :], draws.uniforms(Purpose.FINAL, 1)[..., 0]))
