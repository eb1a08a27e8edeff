"""Laws of texts on the small model of the fixtures: from an engine, pass after pass, and as an enumeration found them.

The enumeration drafts GAMMA tokens in every pass and cuts the text after it, so a pass gets room for them here.
"""

from collections import defaultdict
from fractions import Fraction
from itertools import product

from conftest import exact_answers, fractions
from draftproof.drafters.model import ModelDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.models.table import TableModel, markov
from draftproof.warpers.pipeline import Pipeline
from draftproof.witness.forking import exact_law
from draftproof.witness.tables import PROMPT

MODEL = exact_answers("sequence_order2.json")[0]
TEXTS = exact_answers("tampers_sequence.json")
GAMMA, WHOLE = TEXTS["gamma"], TEXTS["L"]


def engine_on_the_model(tamper, branching, length):
    tables = [
        {tuple(int(token) for token in text.split(",") if token): fractions(row) for text, row in MODEL[whose].items()}
        for whose in "PQ"
    ]
    target, draft = (TableModel(markov(table, MODEL["order"], skip=len(PROMPT)), MODEL["V"]) for table in tables)
    honest = Engine(target, ModelDrafter(draft), tamper.rule, Pipeline(), FixedLength(length), branching)
    return tamper.apply(honest)


def text_law(decoder, length, token_by_token):
    """The law of the first `length` tokens, pass after pass: the random numbers of a pass are its own."""
    growing, law = {(): Fraction(1)}, defaultdict(Fraction)
    while growing:
        longer = defaultdict(Fraction)
        for text, chance in growing.items():
            stop = Stop(1 + (min(GAMMA, length - len(text)) if token_by_token else GAMMA))
            one_pass = exact_law(lambda noise, text=text, stop=stop: first_emitted(decoder, text, stop, noise))
            for emitted, part in one_pass.items():
                whole = (*text, *emitted)[:length]
                (law if len(whole) == length else longer)[whole] += chance * part
        growing = longer
    return law


def first_emitted(decoder, text, stop, noise):
    return next(decoder.decode((*PROMPT, *text), stop, noise)).emitted


def known_text_law(fixture, length):
    answer = next(answer["law"] for answer in TEXTS["tampers"] if answer["id"] == fixture)
    law = defaultdict(Fraction)
    for text, chance in zip(product(range(MODEL["V"]), repeat=WHOLE), answer, strict=True):
        law[text[:length]] += Fraction(chance)
    return law
