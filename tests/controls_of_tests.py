"""Every sampling control twice: as the step that ships, and by hand on a list of numbers; worlds where it matters."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from draftproof.drafters.model import ModelDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.models.table import TableModel
from draftproof.rules.catalogue import RULES
from draftproof.warpers.base import Step, nothing, output_of
from draftproof.warpers.bias import LogitBias
from draftproof.warpers.masks import AllowedTokens, BadWords, MinTokens
from draftproof.warpers.min_p import MinP
from draftproof.warpers.penalties import FrequencyPenalty, PresencePenalty, RepetitionPenalty
from draftproof.warpers.pipeline import Pipeline
from draftproof.warpers.temperature import Temperature
from draftproof.warpers.top_k import TopK
from draftproof.warpers.top_p import TopP
from draftproof.warpers.typical_p import TypicalP
from draftproof.witness.tables import scattered
from engines_of_tests import PROMPT, RAW

HALF, TENTH, END = Fraction(1, 2), Fraction(1, 10), 2
ByHand = Callable[[list[Fraction], tuple[int, ...]], list[Fraction]]
"""(law, output so far) -> weights."""


@dataclass(frozen=True)
class StandIn:
    """A stand-in for a grammar: a pure function of the output, which says what may follow."""

    follows: Callable[[tuple[int, ...]], set[int]]
    reads_text = True

    def warp(self, rows, kind, texts):
        masked = rows.copy()
        for row, text in zip(masked, texts, strict=True):
            row[sorted({*range(len(row))} - self.follows(tuple(output_of(text))))] = nothing(kind)
        return masked, kind


def alternating(output):
    """(01)*; anything after what begins no such text: only drafts do that, and they will be rejected."""
    if any(token != i % 2 for i, token in enumerate(output)):
        return {0, 1, END}
    return {1} if len(output) % 2 else {0, END}


def no_1_twice(output):
    return {0, END} if output[-1:] == (1,) else {0, 1, END}


@dataclass(frozen=True)
class Control:
    """A setting, and the least world in which it matters."""

    step: Step
    by_hand: ByHand
    vocab_size: int = 2
    stop: Stop = Stop(3)


def allowing(allowed):
    """By hand: keep a token if allowed(token, output), where the output begins with the prompt."""
    return lambda law, output: [p if allowed(token, (*PROMPT, *output)) else p * 0 for token, p in enumerate(law)]


def times(factor):
    return lambda law, output: [p * factor(token, output) for token, p in enumerate(law)]


def squared_if(wanted):
    return lambda law, output: [p**2 if wanted(token, output) else p for token, p in enumerate(law)]


def with_mass_before(goal, worth):
    """By hand: keep a token while the mass of those before it, by worth(law), is below the goal."""

    def kept(law, _):
        worths = [worth(law, p, token) for token, p in enumerate(law)]
        before = [sum(q for q, w in zip(law, worths, strict=True) if w < mine) for mine in worths]
        return [p if mass < goal else p * 0 for p, mass in zip(law, before, strict=True)]

    return kept


def atypical(law, p, _):
    """How far a surprise is from the expected one."""
    entropy = -sum(float(q) * math.log(q) for q in law if q)
    return abs(-math.log(p) - entropy) if p else math.inf


def top_p(goal):
    return Control(TopP(goal), with_mass_before(goal, lambda _, p, token: (-p, token)), 3)


def typical_p(goal):
    return Control(TypicalP(goal), with_mass_before(goal, atypical), 3)


def min_p(share):
    return Control(MinP(share), lambda law, _: [p if p >= share * max(law) else p * 0 for p in law], 3)


def bad_words(*words, vocab_size):
    def allowed(token, text):
        return not any((*text, token)[-len(word) :] == word for word in words)

    return Control(BadWords(words), allowing(allowed), vocab_size)


def min_tokens(count, stop_token, vocab_size):
    step = MinTokens(count, frozenset({stop_token}))
    allowed = allowing(lambda token, text: token != stop_token or len(text) - len(PROMPT) >= count)
    return Control(step, allowed, vocab_size, Stop(4, tokens=frozenset({stop_token})))


def allowed_tokens(*tokens, vocab_size):
    return Control(AllowedTokens(frozenset(tokens)), allowing(lambda token, _: token in tokens), vocab_size)


def grammar(follows):
    by_hand = allowing(lambda token, text: token in follows(text[len(PROMPT) :]))
    return Control(StandIn(follows), by_hand, 3, Stop(4, tokens=frozenset({END})))


def top_k(k):
    return Control(TopK(k), lambda law, _: [p if p >= sorted(law)[-k] else p * 0 for p in law], 3)


def logit_bias(factor):
    return Control(LogitBias(((1, factor),)), times(lambda token, _: factor if token == 1 else 1))


def presence_penalty(factor):
    return Control(PresencePenalty(factor), times(lambda token, output: factor if token in output else 1))


def frequency_penalty(factor):
    return Control(FrequencyPenalty(factor), times(lambda token, output: factor ** output.count(token)))


CONTROLS = {
    "logit bias": logit_bias(Fraction(3)),
    "repetition penalty": Control(RepetitionPenalty(2), squared_if(lambda token, output: token in {*PROMPT, *output})),
    "presence penalty": presence_penalty(HALF),
    "frequency penalty": frequency_penalty(HALF),
    "a bad word of one token": bad_words((1,), vocab_size=3),
    "a bad word of two tokens": bad_words((1, 0), vocab_size=2),
    "a bad word that begins in the prompt": bad_words((0, 1), vocab_size=3),
    "min tokens": min_tokens(2, 1, vocab_size=2),
    "allowed tokens": allowed_tokens(0, 2, vocab_size=3),
    "grammar": grammar(alternating),
    "temperature": Control(Temperature(HALF), squared_if(lambda *_: True)),
    "greedy": Control(Temperature(0), lambda law, _: [p * (i == law.index(max(law))) for i, p in enumerate(law)], 3),
    "top-k": top_k(2),
    "top-p": top_p(1 - 2 * TENTH),
    "min-p": min_p(HALF),
    "typical-p": typical_p(HALF),
}
MILD = 1 - TENTH / 2
TOGETHER = (
    logit_bias(Fraction(5, 4)), CONTROLS["repetition penalty"], presence_penalty(MILD), frequency_penalty(MILD),
    bad_words((0, 2), vocab_size=4), min_tokens(1, END, 4), allowed_tokens(0, 1, END, vocab_size=4),
    grammar(no_1_twice), CONTROLS["temperature"], top_k(3), top_p(MILD), min_p(TENTH), typical_p(MILD),
)  # fmt: skip
"""All of them at once, in the default order."""


def flat(context):
    """Laws of four tokens that are all about as probable: what is left of them is not one token only."""
    return [(p + 1) / 5 for p in scattered(2, 4, zeros=False)(context)]


def one_of_two(context):
    """A draft of four tokens that knows two at a time; one of them may never come."""
    return [Fraction(3, 4), 0, 0, Fraction(1, 4)] if len(context) % 2 else [0, HALF, HALF, 0]


def engine_of(controls, rule="token", draft="warped", number=Fraction):
    """An engine with these controls; the draft goes through them too, or stays raw. Its laws hold such numbers."""
    pipeline = Pipeline(tuple(control.step for control in controls))
    size = max(control.vocab_size for control in controls)
    laws = (flat, one_of_two) if size > 3 else [scattered(seed, size, zeros=False) for seed in (1, 2)]
    target, other = (TableModel(lambda text, law=law: [number(p) for p in law(text)], size) for law in laws)
    small = size == 2 and rule != "tree-k-seq"
    branching = () if not RULES[rule].branches else (2, 1) if small else (2,)
    drafter = ModelDrafter(other, pipeline if draft == "warped" else RAW)
    return Engine(target, drafter, RULES[rule], pipeline, FixedLength(len(branching) or 2), branching)


def stop_of(controls):
    return max((control.stop for control in controls), key=lambda stop: (stop.max_tokens, len(stop.tokens)))


def law_by_hand(controls, target, stop):
    """The product law from the definitions; laws are normalised in between."""
    law: dict[tuple[int, ...], Fraction] = {}
    growing: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
    while growing:
        text, chance = growing.popitem()
        if len(text) == stop.max_tokens or {*text[-1:]} & stop.tokens:
            law[text] = chance
            continue
        row = list(target.law_of((*PROMPT, *text)))
        for control in controls:
            weights = control.by_hand(row, text)
            row = [weight / sum(weights) for weight in weights]
        growing |= {(*text, token): chance * part for token, part in enumerate(row) if part}
    return law
