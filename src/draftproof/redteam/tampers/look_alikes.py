"""Controls: rules that look wrong and are not. A witness that calls one of them LOSSY is itself at fault.

In: an honest engine. Out: another that emits the same law, at times with fewer drafts kept.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from draftproof.arrays import array_namespace
from draftproof.drafters.model import ModelDrafter
from draftproof.engine.loop import Engine
from draftproof.engine.passes import Pass
from draftproof.engine.stop import Stop
from draftproof.redteam.altered import AlteredToken, AlteredWalk, drawn_from, greedily, matched, picked, ruled, won
from draftproof.redteam.base import Tamper
from draftproof.rules.base import Rule, normalised, surplus
from draftproof.rules.block import BlockRule
from draftproof.rules.coupled import CoupledRule
from draftproof.rules.match import MatchRule
from draftproof.rules.node import without
from draftproof.rules.token import TokenRule, acceptance_probabilities
from draftproof.types import Draws, Noise, Probs, Purpose
from draftproof.warpers.pipeline import Pipeline
from draftproof.warpers.top_p import TopP
from draftproof.witness.base import Decoder, as_shipped

__all__ = ["TAMPERS"]

TOKEN, MATCH, COUPLED = TokenRule(), MatchRule(), CoupledRule()


def _rescaled(p: Probs, q: Probs, guess: int, draws: Draws, depth: int) -> tuple[bool, int]:
    """After a rejection, which u >= r was, draw with (u - r) / (1 - r), which is uniform again."""
    coin, kept = draws.uniforms(Purpose.ACCEPT, 1, depth)[0, ...], acceptance_probabilities(p, q)[guess]
    if coin < kept:
        return True, guess
    cumulative = array_namespace(p).cumulative_sum(surplus(p, q))
    total = cumulative[-1]
    reached = (j for j, mass in enumerate(cumulative) if coin < kept + (1 - kept) * mass / total or mass >= total)
    return False, next(reached)


def _from_above(p: Probs, q: Probs, guess: int, draws: Draws, depth: int) -> tuple[bool, int]:
    """Keep the draft if the coin is among the upper values: as likely, and another outcome for the same coin."""
    coin = draws.uniforms(Purpose.ACCEPT, 1, depth)[0, ...]
    if not coin < 1 - acceptance_probabilities(p, q)[guess]:
        return True, guess
    return False, picked(surplus(p, q), draws, depth)


def _from_the_last(p: Probs, q: Probs, guess: int, draws: Draws, depth: int) -> tuple[bool, int]:
    if draws.uniforms(Purpose.ACCEPT, 1, depth)[0, ...] * q[guess] < p[guess]:
        return True, guess
    return False, len(p) - 1 - picked(array_namespace(p).flip(surplus(p, q)), draws, depth)


def _one_hot(law: Probs) -> Probs:
    xp = array_namespace(law)
    return xp.where(xp.arange(law.shape[-1]) == xp.argmax(law), xp.ones_like(law), xp.zeros_like(law))


def _nucleus(law: Probs) -> Probs:
    return normalised(TopP(Fraction(7, 10) if law.dtype == object else 0.7)(law))


def _sharpened(law: Probs) -> Probs:
    return normalised(law * law)


def _unfiltered_draft(engine: Engine) -> Engine:
    drafter = engine.drafter
    if isinstance(drafter, ModelDrafter):
        drafter = replace(drafter, pipeline=Pipeline())
    return replace(engine, drafter=drafter)


@dataclass(frozen=True)
class _TakingTurns:
    """The token rule after an even number of emitted tokens, the block rule after an odd one."""

    engine: Engine

    def decode(self, prompt: Sequence[int], stop: Stop, noise: Noise) -> Iterator[Pass]:
        """See `Engine.decode`; each pass is one of an engine of its own, which goes on with the text."""
        session, reason = self.engine.start(prompt), None
        while reason is None and stop.room(len(prompt), len(session.text)) > 0:
            emitted = len(session.text) - len(prompt)
            engine = replace(self.engine, rule=BlockRule() if emitted % 2 else TOKEN)
            done = next(iter(engine.go_on(session, stop, noise)))
            reason = done.finish_reason
            yield done


def _control(
    name: str,
    story: str,
    seen_in: str,
    apply: Callable[[Engine], Decoder],
    fixture: str | None = None,
    rule: Rule = TOKEN,
) -> Tamper:
    return Tamper(name, "look-alike", story, seen_in, apply, rule, harmless=True, fixture=fixture)


TAMPERS = (
    _control("nothing-replaced", "Is the engine as it is shipped.", "the control of the controls", as_shipped, "S00"),
    _control(
        "one-uniform-rescaled",
        "Draws the residual with the uniform of the test, rescaled to what the rejection left of it.",
        "looks like A50, vllm PR #54282",
        ruled(AlteredWalk(TOKEN, _rescaled, picked)),
        "S07b",
    ),
    _control(
        "draft-not-filtered",
        "Filters the target by top-k and top-p and leaves the draft as it is.",
        "looks like A29, vllm #9834",
        _unfiltered_draft,
        "S11g",
    ),
    _control(
        "draft-filtered-further",
        "Draws from the nucleus of q and tests with that nucleus; nobody else knows of it.",
        "looks like A06, transformers #47932",
        ruled(AlteredToken(draw=drawn_from(_nucleus), sees=_nucleus)),
        "S11h",
    ),
    _control(
        "draft-sharper-than-the-target",
        "Draws and tests at half the temperature of the draft.",
        "looks like A24, lattice #388",
        ruled(AlteredToken(draw=drawn_from(_sharpened), sees=_sharpened)),
    ),
    _control(
        "greedy-draft-taken-for-certain",
        "Drafts the most probable token and tests it with a q of 1.",
        "looks like A01, jaymody/speculative-sampling #3",
        ruled(AlteredToken(draw=greedily, sees=_one_hot)),
        "S12b",
    ),
    _control(
        "drawn-draft-taken-for-certain",
        "Draws from q and tests with a q of 1: right, and wasteful, since fewer drafts are kept.",
        "A14, vllm #40149",
        ruled(AlteredToken(lambda p, q: p, lambda p, q, rejected: without(p, rejected))),
        "S12d",
    ),
    _control(
        "residual-three-times-as-large",
        "Multiplies the residual by 3 before it is drawn from, which normalises anyway.",
        "derived",
        ruled(TokenRule(lambda p, q: 3 * surplus(p, q))),
    ),
    _control(
        "coin-read-from-above",
        "Keeps a draft if u is not below 1 - p / q.",
        "derived",
        ruled(AlteredWalk(TOKEN, _from_above, picked)),
    ),
    _control(
        "residual-searched-from-the-last-token",
        "Looks for the drawn token from the end of the vocabulary.",
        "derived",
        ruled(AlteredWalk(TOKEN, _from_the_last, picked)),
    ),
    _control(
        "rules-take-turns",
        "Changes between token and block rule by the parity of the number of emitted tokens.",
        "derived",
        _TakingTurns,
    ),
    _control(
        "match-in-the-place-of-the-ratio",
        "Emits a sample of the target at each position and goes on while it equals the draft.",
        "A22, mlx-swift-lm PR #459 and z-lab/dflash #74 call it biased",
        ruled(MATCH),
    ),
    _control(
        "match-draft-shares-the-draw",
        "Drafts with the uniform that the target uses at the same position.",
        "looks like A50, vllm PR #54282",
        ruled(AlteredWalk(MATCH, matched(picked), picked, lambda law, place: [picked(law, place.draws, place.depth)])),
        rule=MATCH,
    ),
    _control(
        "coupled-draft-one-position-ahead",
        "Runs the draft's race with the noise of the next position, which the target will use there.",
        "looks like match-draft-knows-the-next-draw",
        ruled(AlteredWalk(COUPLED, matched(won), won, lambda law, place: [won(law, place.draws, place.depth + 1)])),
        rule=COUPLED,
    ),
)
