"""Where a text ends, together with speculation, in fractions: stop strings, stop tokens, limits, the least length.

The law of whole texts with speculation, for every rule and draft length, is that of plain decoding, and both are what
an enumeration makes of the definition: a text ends with the token after which it contains the string.
"""

from fractions import Fraction
from functools import cache
from itertools import product

import pytest

from draftproof.drafters.model import ModelDrafter
from draftproof.engine import plain
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.models.table import TableModel
from draftproof.rules.catalogue import RULES, TREE_RULES
from draftproof.warpers.masks import MinTokens
from draftproof.warpers.pipeline import Pipeline
from draftproof.witness.forking import exact_law
from draftproof.witness.tables import scattered
from engines_of_tests import PROMPT, text_law, without_zeros

PIECES = ("ab", "ca")
"""How the two tokens are written: `bc` spans two of them, `aba` too, and `caab` all but a block of three."""
LONGEST = 4
ENDS = frozenset({1})


def spelling():
    return lambda token: PIECES[token]


def stop(max_tokens=LONGEST, **parts):
    return Stop(max_tokens, **parts, spelling=spelling if "strings" in parts else None)


STOPS = {
    "no stop": stop(),
    "max tokens": stop(2),
    "one token": stop(1),
    "no token": stop(0),
    "a full context": stop(9, context_limit=len(PROMPT) + 3),
    "a stop token": stop(tokens=ENDS),
    "a string in one token": stop(strings=("ca",)),
    "a string over two tokens": stop(strings=("bc",)),
    "a string over three tokens": stop(strings=("baba",)),
    "two strings": stop(strings=("aa", "bab")),
    "a string that ends inside a token": stop(strings=("abc",)),
    "a string and the least length": stop(strings=("ba",), min_tokens=3),
    "a string that was complete too early": stop(strings=("b",), min_tokens=3),
    "a stop token and a string": stop(tokens=ENDS, strings=("bab",)),
    "a string at the limit": stop(3, strings=("abab", "caca")),
}
LEAST = Pipeline((MinTokens(2, ENDS),))
SETTINGS = {name: (one, Pipeline()) for name, one in STOPS.items()} | {
    "a stop token and the least length": (stop(tokens=ENDS), LEAST),
    "all of them": (stop(strings=("bab",), tokens=ENDS, min_tokens=2, context_limit=len(PROMPT) + 4), LEAST),
}

DEAR = {"tree-k-seq", "tree-with-replacement", "traversal-with-replacement"}
"""Siblings that may be alike take many more paths: they draft once a pass."""
CASES = [(rule, length) for rule in RULES for length in range(2 if rule in DEAR else 5)]


def engine(name, rule="token", length=0):
    _, pipeline = SETTINGS[name]
    target, draft = (TableModel(scattered(seed, 2, zeros=False), 2) for seed in (4, 9))
    branching = (2,) if rule in TREE_RULES and length else ()
    return Engine(target, ModelDrafter(draft, pipeline), RULES[rule], pipeline, FixedLength(length), branching)


def ends_here(text, ending):
    """Whether a text ends with its last token, from the definition."""
    if text[-1] in ending.tokens or len(text) == min(ending.max_tokens, ending.context_limit - len(PROMPT)):
        return True
    written, before = ("".join(PIECES[token] for token in part) for part in (text, text[:-1]))
    new = [i for s in ending.strings for i in range(len(written)) if written[: i + 1].endswith(s) and i >= len(before)]
    return bool(new) and len(text) >= ending.min_tokens


@cache
def enumerated(name):
    """The law of texts: of all sequences of tokens, cut where they end."""
    ending, pipeline = SETTINGS[name]
    room = min(ending.max_tokens, ending.context_limit - len(PROMPT))
    law: dict[tuple[int, ...], Fraction] = {} if room else {(): Fraction(1)}
    for whole in product(range(2), repeat=room):
        length = next((n for n in range(1, room + 1) if ends_here(whole[:n], ending)), None)
        if length is None or (text := whole[:length]) in law:
            continue
        law[text] = Fraction(1)
        for i, token in enumerate(text):
            row = list(scattered(4, 2, zeros=False)((*PROMPT, *text[:i])))
            if pipeline == LEAST and i < 2:
                row = [row[0] / row[0], Fraction(0)]
            law[text] *= row[token]
    return without_zeros(law)


@pytest.mark.parametrize("name", SETTINGS)
def test_plain_decoding_has_the_law_of_the_enumeration(name):
    ending, pipeline = SETTINGS[name]
    target = engine(name).target
    law = exact_law(lambda noise: tuple(plain.decode(target, pipeline, PROMPT, ending, noise)))
    assert without_zeros(law) == enumerated(name)
    assert sum(enumerated(name).values()) == 1


@pytest.mark.parametrize(("rule", "length"), CASES)
@pytest.mark.parametrize("name", SETTINGS)
def test_a_text_ends_as_without_speculation(name, rule, length):
    assert without_zeros(text_law(engine(name, rule, length), SETTINGS[name][0])) == enumerated(name)


def test_most_stops_make_laws_of_their_own():
    assert len({frozenset(enumerated(name).items()) for name in SETTINGS}) >= len(SETTINGS) - 3


@pytest.mark.parametrize("rule", RULES)
def test_ids_log_probabilities_and_reason_end_with_the_string(rule):
    # A105, vllm PR 47616: the text was cut at the stop string, its ids and log-probabilities were not.
    ending = SETTINGS["a string over two tokens"][0]

    def seen(passes):
        assert all(len(done.emitted) == len(done.logprobs) for done in passes)
        written = "".join(PIECES[token] for done in passes for token in done.emitted)
        return "bc" in written, passes[-1].finish_reason, passes[-1].stopped_by

    outcomes = set(without_zeros(text_law(engine("a string over two tokens", rule, 2), ending, seen)))
    assert outcomes == {(True, "stop", "bc"), (False, "length", None)}
