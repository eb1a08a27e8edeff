"""Passes and whole texts for tests: given random numbers, small tables, and exact laws of what comes out."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np

from draftproof.drafters.model import ModelDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.models.table import TableModel, markov
from draftproof.noise import PassNoise
from draftproof.types import Array, Purpose, Tree
from draftproof.warpers.pipeline import Pipeline
from draftproof.witness.forking import exact_law

PROMPT = (0,)
RAW = Pipeline()


@dataclass(frozen=True)
class Given:
    """The random numbers of a pass, or of a batch of passes, written down beforehand."""

    accept: Array = field(default_factory=lambda: np.zeros(0))
    final: Array = field(default_factory=lambda: np.zeros(0))
    draft: Array = field(default_factory=lambda: np.zeros(0))
    times: Array = None
    """(..., positions, V): the exponentials."""

    def uniforms(self, purpose, count, first=0):
        written = {Purpose.ACCEPT: self.accept, Purpose.FINAL: self.final, Purpose.DRAFT: self.draft}[purpose]
        assert first + count <= written.shape[-1], f"{purpose.name} {first + count - 1} was not written down"
        return written[..., first : first + count]

    def exponentials(self, depth, vocab_size):
        assert vocab_size == self.times.shape[-1]
        return self.times[..., depth, :]


def verdict_law(rule, target, draft, drafted):
    """The exact law of what a rule decides about a given draft: {(accepted or path, token): chance}."""

    def program(noise):
        verdict = rule.verify(target, draft, drafted, PassNoise(noise, 1))
        kept = int(verdict.accepted) if verdict.path is None else verdict.path
        return kept, int(verdict.token)

    return exact_law(program)


def seen_law(rule, target, draft, branching, view):
    """The exact law of view(pass) for the first pass of an engine whose rows depend on nothing but the depth."""
    models = [TableModel(lambda text, laws=laws: laws[len(text) - 1], laws.shape[-1]) for laws in (target, draft)]
    engine = Engine(models[0], ModelDrafter(models[1]), rule, RAW, FixedLength(len(draft)), branching)
    return exact_law(lambda noise: view(next(engine.decode(PROMPT, Stop(len(target)), noise))))


def mean(law, value):
    """The exact mean of value(outcome)."""
    return sum((value(outcome) * chance for outcome, chance in law.items()), Fraction(0))


def text_law(engine, stop, view=lambda passes: tuple(token for done in passes for token in done.emitted)):
    """The exact law of the whole text, or of view(passes)."""
    return exact_law(lambda noise: view(list(engine.decode(PROMPT, stop, noise))))


def one_pass(engine, text, room):
    """The exact law of what the next pass emits after `text`, when `room` tokens are still wanted."""
    prompt = (*PROMPT, *text)
    return exact_law(lambda noise: next(engine.decode(prompt, Stop(room), noise)).emitted)


def composed(engine, length):
    """The law of (text, number of passes) for texts of `length`, put together from single passes from every text."""

    @cache
    def after(text):
        room = length - len(text)
        if room == 0:
            return {((), 0): Fraction(1)}
        law = {}
        for emitted, chance in one_pass(engine, text, room).items():
            for (rest, passes), share in after(text + emitted).items():
                outcome = (emitted + rest, passes + 1)
                law[outcome] = law.get(outcome, Fraction(0)) + chance * share
        return law

    return after(())


def product_law(engine, length, stops=()):
    """The law of plain decoding, from its definition: the product of the warped rows along a text, cut at a stop."""
    law = {}
    for text in product(range(engine.target.vocab_size), repeat=length):
        ends = [i + 1 for i, token in enumerate(text) if token in stops]
        kept = text[: ends[0]] if ends else text
        rows = engine.pipeline.laws(engine.target.fresh().extend([*PROMPT, *kept[:-1]]), "laws")
        law[kept] = Fraction(1)
        for row, token in zip(rows, kept, strict=True):
            law[kept] *= row[token]
    return {text: chance for text, chance in law.items() if chance}


def without_zeros(law):
    return {outcome: chance for outcome, chance in law.items() if chance}


def order_table(written, order=2):
    """A model of the fixtures: tables keyed "a,b" by the last tokens of a text that begins empty."""
    table = {
        tuple(int(token) for token in key.split(",") if token): [Fraction(entry) for entry in row]
        for key, row in written.items()
    }
    return TableModel(markov(table, order, skip=len(PROMPT)), len(table[()]))


class Coin:
    """An ACCEPT uniform that does as it is told, and notes the probability with which it would have fallen."""

    def __init__(self, node, falls, noted, scale=1):
        self.node, self.falls, self.noted, self.scale = node, falls, noted, scale

    def __mul__(self, factor):
        return Coin(self.node, self.falls, self.noted, self.scale * factor)

    __rmul__ = __mul__

    def __lt__(self, bound):
        self.noted.append((self.node, min(Fraction(1), Fraction(bound) / self.scale)))
        return self.node == self.falls


@dataclass(frozen=True)
class Told:
    """Random numbers of which only the coin of node `falls` falls; the final draw is left open."""

    noise: object
    falls: int | None
    noted: list

    def uniforms(self, purpose, count, first=0):
        if purpose == Purpose.ACCEPT:
            coins = np.empty(count, dtype=object)
            coins[:] = [Coin(first + i, self.falls, self.noted) for i in range(count)]
            return coins
        assert purpose == Purpose.FINAL
        return self.noise.uniforms(purpose, 1, count, first)


def told(rule, target, draft, tree, falls):
    """What happens if only the coin of one node falls: {(path, token): chance}, and the coins' [(node, chance)]."""
    noted = []

    def program(noise):
        noted.clear()
        verdict = rule.verify(target, draft, tree, Told(noise, falls, noted))
        return verdict.path, int(verdict.token)

    return exact_law(program), noted


def grown(nested):
    """The tree of [[token, children], ...], siblings numbered one after another, and the text before each row."""
    tokens, parents, texts = [], [], [()]

    def grow(children, node):
        first = len(tokens)
        for token, _ in children:
            tokens.append(token)
            parents.append(node)
            texts.append((*texts[node + 1], token))
        for i, (_, grandchildren) in enumerate(children):
            grow(grandchildren, first + i)

    grow(nested, -1)
    return Tree(tuple(tokens), tuple(parents)), texts


def rows_of(model, texts):
    """A model's law after each text."""
    return np.array([model.law_of((*PROMPT, *text)) for text in texts], dtype=object)
