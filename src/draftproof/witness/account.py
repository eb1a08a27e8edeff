"""One pass of an engine told step by step, as the shipped rule does it: tokens, laws, random numbers, bounds.

In: a pass that an engine made, the rule it claims to follow, its noise. Out: steps, and where the engine left them. The
laws are taken as the pass used them; whether they are right is for `replay`. It must never hold a formula: what it
tells comes from the rule's own parts. Checked in tests/witness/test_account.py.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from draftproof.engine.passes import Pass
from draftproof.errors import ContractError, UsageError
from draftproof.noise import PassNoise
from draftproof.rules.base import Place, Rule, Verdict
from draftproof.rules.block import BlockRule, prefix_weights, stopping_probability
from draftproof.rules.coupled import CoupledRule
from draftproof.rules.match import MatchRule
from draftproof.rules.token import TokenRule, acceptance_probabilities, residual_law
from draftproof.types import Array, Draws, Noise, Probs, Purpose, TokenId, Uniform

__all__ = ["Act", "Asked", "Listening", "Step", "account", "agrees", "difference"]

Act = Literal["draft", "test", "residual", "bonus", "own"]


class Asked(NamedTuple):
    """A question to a noise and its answer. Of exponentials: no purpose, the position of the text, the tokens' ids."""

    purpose: Purpose | None
    start: int
    numbers: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Listening:
    """A `Noise` that passes every question on, and keeps what was asked and answered, in order."""

    noise: Noise
    asked: list[Asked] = field(default_factory=list[Asked])

    def uniforms(self, purpose: Purpose, start: int, count: int, first: int = 0) -> Uniform:
        """See `Noise.uniforms`."""
        values = self.noise.uniforms(purpose, start, count, first)
        self.asked.append(Asked(purpose, start, tuple(range(first, first + count)), tuple(values.tolist())))
        return values

    def exponentials(self, position: int, vocab_size: int) -> Array:
        """See `Noise.exponentials`."""
        values = self.noise.exponentials(position, vocab_size)
        self.asked.append(Asked(None, position, tuple(range(vocab_size)), tuple(values.tolist())))
        return values


@dataclass(frozen=True, eq=False)
class Step:
    """One act of a pass. The last step of an account is the one whose token is emitted without having been drafted.

    Args:
        act: `draft`: a token is drawn from the draft's law. `test`: a uniform decides on a drafted token. `residual`: a
            token follows a rejection. `bonus`: one follows when all was kept. `own`: the target draws where a token was
            drafted; if it is another one, that is the rejection.
        depth: 0..K, how many drafted tokens come before this token.
        token: what is drafted, tested or emitted.
        uniform: the number in [0, 1) that decides; None where a race does.
        law: (V,) what the token is drawn from; None for a test.
        bound: what the uniform of a test must stay below, up to the rounding of its division; None for other acts.
        passed: of `test`, whether the uniform does; of `own`, whether the token is the drafted one; else None.
        exponentials: (V,) those of the race that decides; None where a uniform does.
    """

    act: Act
    depth: int
    token: TokenId
    uniform: float | None = None
    law: Probs | None = None
    bound: float | None = None
    passed: bool | None = None
    exponentials: Array | None = None


def account(done: Pass, rule: Rule, noise: Noise) -> tuple[Step, ...]:
    """Return what `rule` does in a pass: all drafts, then the tests up to the one that decides, then the last token.

    The block rule has every drafted token tested, since the longest prefix wins. Drafts are those that the draft's laws
    give; what is tested is what the engine drafted. If the rule refuses the pass at its door (a draft that cannot come
    from its law, a row that is no law), the account ends with the drafts.

    Args:
        done: a pass of any engine, in floats.
        rule: the shipped rule that the engine claims to follow, one for a chain.
        noise: what the engine was given.

    Raises:
        UsageError: if the rule is none for a chain.
    """
    if rule.name not in _DECISIONS:
        raise UsageError(f"got {rule.name!r}; step by step can be told {', '.join(_DECISIONS)}", "rule")
    draws = PassNoise(noise, done.start)
    drafts = [_draft(rule, law, draws, depth) for depth, law in enumerate(done.draft)]
    try:
        verdict = rule.verify(done.target, done.draft, done.proposal.chain, draws)
    except ContractError:
        return tuple(drafts)
    return (*drafts, *_DECISIONS[rule.name](done, verdict, draws))


def agrees(done: Pass, steps: Sequence[Step]) -> bool:
    """Return whether the engine drafted, kept and emitted what its account says."""
    return difference(done, steps) is None


def difference(done: Pass, steps: Sequence[Step]) -> str | None:
    """Return what the engine first did otherwise than its account says; None if nothing.

    It need not be a loss: an engine may emit the right law by another path. A text may end inside a pass at a stop.
    """
    drafts = [step.token for step in steps if step.act == "draft"]
    for token, right in zip(done.drafted, drafts, strict=False):
        if token != right:
            return f"drafts token {token} where the draft's law gives {right}"
    if len(drafts) == len(steps):
        return "decides where the rule refuses the laws"
    kept = steps[-1].depth
    if len(done.path) != kept:
        return f"keeps {len(done.path)} where the rule keeps {kept}"
    wanted = (*done.drafted[:kept], steps[-1].token)
    for token, right in zip(done.emitted, wanted, strict=False):
        if token != right:
            return f"emits token {token} where the rule emits token {right}"
    if len(done.emitted) > len(wanted) or (len(done.emitted) < len(wanted) and done.finish_reason is None):
        return f"emits {len(done.emitted)} in all where the rule emits {len(wanted)}"
    return None


def _draft(rule: Rule, law: Probs, draws: Draws, depth: int) -> Step:
    (token,) = rule.children(law, Place(draws, depth, depth, (depth,)))
    if rule.name == CoupledRule.name:
        return Step("draft", depth, token, law=law, exponentials=draws.exponentials(depth, law.shape[-1]))
    return Step("draft", depth, token, _uniform(draws, Purpose.DRAFT, depth), law)


def _by_token(done: Pass, verdict: Verdict, draws: Draws) -> Iterator[Step]:
    for i, token in enumerate(done.drafted[: int(verdict.accepted) + 1]):
        bound, passed = acceptance_probabilities(done.target[i], done.draft[i])[token], i < int(verdict.accepted)
        yield Step("test", i, token, _uniform(draws, Purpose.ACCEPT, i), bound=float(bound), passed=passed)
    yield _last(done, verdict, draws, 1)


def _by_block(done: Pass, verdict: Verdict, draws: Draws) -> Iterator[Step]:
    weights = prefix_weights(done.target, done.draft, done.proposal.chain)
    for i, token in enumerate(done.drafted):
        bound = weights[i + 1, ...]  # of the last prefix its weight; of others also the coin
        if i + 1 < len(done.drafted):
            bound = min(bound, stopping_probability(done.target[i + 1], done.draft[i + 1], bound))
        uniform = _uniform(draws, Purpose.ACCEPT, i)
        yield Step("test", i, token, uniform, bound=float(bound), passed=bool(uniform < bound))
    yield _last(done, verdict, draws, weights[int(verdict.accepted)])


def _by_match(done: Pass, verdict: Verdict, draws: Draws) -> Iterator[Step]:
    for step in _own(done, verdict):
        yield replace(step, uniform=_uniform(draws, Purpose.FINAL, step.depth))


def _by_race(done: Pass, verdict: Verdict, draws: Draws) -> Iterator[Step]:
    for step in _own(done, verdict):
        yield replace(step, exponentials=draws.exponentials(step.depth, done.target.shape[-1]))


def _own(done: Pass, verdict: Verdict) -> Iterator[Step]:
    """Yield the target's own tokens: those before the last are the drafted ones."""
    accepted = int(verdict.accepted)
    for i, token in enumerate((*done.drafted[:accepted], int(verdict.token))):
        if i < len(done.drafted):
            yield Step("own", i, token, law=done.target[i], passed=i < accepted)
        else:
            yield Step("bonus", i, token, law=done.target[i])


def _last(done: Pass, verdict: Verdict, draws: Draws, weight: Array) -> Step:
    """Return the step after the tests: the bonus, or a token from the residual of `weight` times the target's law."""
    accepted, token, uniform = int(verdict.accepted), int(verdict.token), _uniform(draws, Purpose.FINAL, 0)
    p = done.target[accepted]
    if accepted == len(done.drafted):
        return Step("bonus", accepted, token, uniform, p)
    return Step("residual", accepted, token, uniform, residual_law(weight * p, done.draft[accepted]))


def _uniform(draws: Draws, purpose: Purpose, number: int) -> float:
    return float(draws.uniforms(purpose, 1, number)[0])


_DECISIONS = {
    TokenRule.name: _by_token,
    BlockRule.name: _by_block,
    MatchRule.name: _by_match,
    CoupledRule.name: _by_race,
}
