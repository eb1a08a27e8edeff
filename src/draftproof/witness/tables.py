"""Small worlds in which every law is a table of fractions: the settings in which whole texts are integrated exactly.

In: nothing. Out: `World`s: a target, a draft, sampling settings, a draft length and where the text stops. Together they
hold what hides a fault elsewhere: laws that depend on the context, zeros, equal laws, one-hot laws, every sampling
control, stops and limits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from draftproof.drafters.model import ModelDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.models.table import TableModel
from draftproof.rules.base import Rule
from draftproof.warpers.base import Step
from draftproof.warpers.bias import LogitBias
from draftproof.warpers.masks import AllowedTokens, BadWords, MinTokens
from draftproof.warpers.min_p import MinP
from draftproof.warpers.penalties import FrequencyPenalty, PresencePenalty, RepetitionPenalty
from draftproof.warpers.pipeline import Pipeline
from draftproof.warpers.temperature import Temperature
from draftproof.warpers.top_k import TopK
from draftproof.warpers.top_p import TopP
from draftproof.warpers.typical_p import TypicalP
from draftproof.witness.alternation import END, Alternation
from draftproof.witness.base import Subject

__all__ = ["PROMPT", "WORLDS", "World", "rule_of", "scattered"]

PROMPT = (0,)
"""One token, since a model reads before it speaks."""

DEEPEST_TREE = 2
"""A tree of this depth has every kind of place; deeper ones have too many paths."""

LawOf = Callable[[tuple[int, ...]], Sequence[Fraction]]


@dataclass(frozen=True)
class World:
    """A setting: everything that an engine needs but its rule."""

    name: str
    target: LawOf
    draft: LawOf
    vocab_size: int
    num_speculative_tokens: int
    stop: Stop
    pipeline: Pipeline = Pipeline()

    def engine(self, rule: Rule, branching: tuple[int, ...] = ()) -> Engine:
        """Return the honest engine of this world."""
        target, draft = (TableModel(law_of, self.vocab_size) for law_of in (self.target, self.draft))
        drafter, length = ModelDrafter(draft, self.pipeline), self.num_speculative_tokens
        depth = min(length, DEEPEST_TREE) if branching else length
        return Engine(target, drafter, rule, self.pipeline, FixedLength(depth), branching)


def scattered(seed: int, vocab_size: int, *, zeros: bool, order: int | None = None) -> LawOf:
    """Return laws of small integer weights that depend on the context, or on its last `order` tokens.

    Args:
        seed: another seed, other laws.
        vocab_size: V.
        zeros: whether about a third of the weights is 0.
        order: how many tokens back a law looks; all of them if not given.
    """

    def law_of(context: tuple[int, ...]) -> list[Fraction]:
        seen = context if order is None else context[-order:]
        state = seed
        weights: list[int] = []
        for token in (*seen, *range(vocab_size)):
            state = (state * 131 + token * 7 + 17) % 10007
            weights.append(max(0, state % 7 - 2) if zeros else state % 7 + 1)
        weights = weights[-vocab_size:]
        weights[len(seen) % vocab_size] += int(zeros)
        return [Fraction(weight, sum(weights)) for weight in weights]

    return law_of


def _fixed(*weights: int) -> LawOf:
    return lambda context: [Fraction(weight, sum(weights)) for weight in weights]


_P, _Q = scattered(1, 3, zeros=False), scattered(2, 3, zeros=False)
_P0, _Q0 = scattered(3, 3, zeros=True), scattered(5, 3, zeros=True)
_P2, _Q2 = scattered(6, 2, zeros=False), scattered(7, 2, zeros=False)
_SHORT = Stop(3)
_HALF = Fraction(1, 2)
PIECES = ("ab", "ca")
"""How the tokens of worlds with stop strings are written."""


def _spelling() -> Callable[[int], str]:
    return lambda token: PIECES[token]


def _set(name: str, *steps: Step, size: int = 2, stop: Stop = _SHORT) -> World:
    """Return a world with these settings."""
    target, draft = (_P, _Q) if size > 2 else (_P2, _Q2)
    return World(name, target, draft, size, 2, stop, Pipeline(steps))


_CONTROLLED = (
    _set("min-p", MinP(_HALF), size=3, stop=Stop(2)),
    _set("typical-p", TypicalP(_HALF), size=3, stop=Stop(2)),
    _set("bias and presence penalised", LogitBias(((1, Fraction(3)),)), PresencePenalty(_HALF)),
    _set("repetition penalised, the prompt's too", RepetitionPenalty(2)),
    _set("a bad word of two tokens", BadWords(((1, 0),)), stop=Stop(4)),
    _set("a bad word from the prompt on", BadWords(((0, 1, 1), (1, 1, 1)))),
    _set("no end before the third token", MinTokens(2, frozenset({1})), size=3, stop=Stop(3, tokens=frozenset({1}))),
    _set("some tokens only", AllowedTokens(frozenset({0, 2})), BadWords(((2, 2),)), size=3),
    _set("a grammar", Alternation(), size=3, stop=Stop(4, tokens=frozenset({END}))),
    _set("stop strings over two tokens", stop=Stop(3, strings=("bc", "aa"), spelling=_spelling)),
    _set("a stop string from the second token on", stop=Stop(3, strings=("b",), spelling=_spelling, min_tokens=2)),
)

WORLDS = (
    World("two tables", _P, _Q, 3, 2, _SHORT),
    World("laws with zeros", _P0, _Q0, 3, 2, _SHORT),
    World("a stop inside a block", _P2, _Q2, 2, 2, Stop(4, tokens=frozenset({1}))),
    World("one draft a pass, many passes", _P2, _Q2, 2, 1, Stop(4)),
    World("deep blocks", scattered(8, 2, zeros=False), scattered(9, 2, zeros=False), 2, 3, Stop(4)),
    World("draft equal to target", _P, _P, 3, 2, _SHORT),
    World("greedy", _P, _Q, 3, 2, _SHORT, Pipeline((Temperature(0),))),
    World("a tie at temperature 0", _fixed(2, 3, 3), _fixed(1, 1, 1), 3, 2, _SHORT, Pipeline((Temperature(0),))),
    World("top-k", _P, _Q, 3, 2, _SHORT, Pipeline((TopK(2),))),
    World(
        "temperature 1/2 and top-p",
        _P,
        _Q,
        3,
        2,
        _SHORT,
        Pipeline((Temperature(Fraction(1, 2)), TopP(Fraction(3, 4)))),
    ),
    World("repetition penalised", _P2, _Q2, 2, 2, _SHORT, Pipeline((FrequencyPenalty(Fraction(1, 2)),))),
    World("a full context", _P2, _Q2, 2, 2, Stop(50, context_limit=len(PROMPT) + 3)),
    *_CONTROLLED,
    World("an unlike draft", _fixed(4, 1, 3), _fixed(1, 6, 2), 3, 1, Stop(2)),
    World("a weak prefix", _fixed(5, 3, 4), _fixed(1, 1, 10), 3, 2, _SHORT),
)


def rule_of(subject: Subject) -> Any:
    """Return the rule that a subject shows once it is assembled, in the first world; None if it shows none."""
    return getattr(subject.assemble(WORLDS[0].engine(subject.rule, subject.branching)), "rule", None)
