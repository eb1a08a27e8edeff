"""Drafters that are silent at times: what their passes draft and keep, against the whole loop, equal as fractions."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from drafters_of_tests import law_of, table
from draftproof.drafters.chain import ChainDrafter
from draftproof.drafters.model import ModelDrafter
from draftproof.drafters.ngram import NgramDrafter
from draftproof.drafters.suffix import SuffixDrafter, Suffixes
from draftproof.economics.along import Along, passes_of, survival_along
from draftproof.economics.pair import LONGEST
from draftproof.economics.reach import certain, reaches
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.models.table import TableModel
from draftproof.rules.catalogue import CHAIN_RULES
from draftproof.types import Text
from engines_of_tests import PROMPT, RAW, text_law

LENGTH = 5
TEXTS = list(product(range(2), repeat=LENGTH))
SILENT_AT_TIMES = {
    "ngram": NgramDrafter(2, 1, 2),
    "longer ngrams": NgramDrafter(2, 2, 3),
    "suffix": SuffixDrafter(2, Suffixes()),
    "chain": ChainDrafter((NgramDrafter(2, 3, 3), NgramDrafter(2, 2, 2))),
}


def target():
    """A law that leaves both tokens a chance everywhere."""
    return TableModel(lambda context: [(weight + 1) / 3 for weight in law_of(context, 2)], 2)


def along_of(drafter):
    """What target and drafter say along every text, as fractions."""
    rows = {"target": [], "draft": [], "reach": []}
    for text in TEXTS:
        prefixes = [Text([*PROMPT, *text[:i]], 1) for i in range(LENGTH)]
        p, asked = target().extend([*PROMPT, *text[:-1]]), drafter.fresh()
        laws = [asked.law(prefix) for prefix in prefixes]
        said = [(law is not None, law is not None and certain(law) is not None) for law in laws]
        rows["target"].append([p[i][token] for i, token in enumerate(text)])
        rows["draft"].append(
            [Fraction(0) if law is None else Fraction(int(law[token])) for law, token in zip(laws, text, strict=True)]
        )
        rows["reach"].append(reaches(asked, prefixes, said))
    p, q = (np.array(rows[name], dtype=object) for name in ("target", "draft"))
    return Along(p, q, q * 0, np.array(rows["reach"]))


def seen(rule, drafter, length):
    """For each text its chance and, by drafted tokens, how many passes it takes with the loop, weighted with it."""
    engine = Engine(target(), drafter, CHAIN_RULES[rule], RAW, FixedLength(length))

    def view(passes):
        return tuple(token for done in passes for token in done.emitted), tuple(len(done.drafted) for done in passes)

    found = {text: (Fraction(0), Counter()) for text in TEXTS}
    for (text, drafted), chance in text_law(engine, Stop(LENGTH), view).items():
        total, counts = found[text]
        for tokens in drafted:
            counts[tokens] += chance
        found[text] = total + chance, counts
    return found


@pytest.mark.parametrize("length", [1, 2, 4])
@pytest.mark.parametrize("name", SILENT_AT_TIMES)
@pytest.mark.parametrize("rule", ["token", "block", "match"])
def test_every_text_takes_passes_of_the_lengths_that_the_loop_drafts(rule, name, length):
    drafter = SILENT_AT_TIMES[name]
    along = along_of(drafter)
    assert not along.proposed.all()
    by_length = passes_of(survival_along(rule, along, length), along, length).by_length
    for i, (total, counts) in enumerate(seen(rule, drafter, length).values()):
        assert list(by_length[i]) == [Fraction(counts[tokens]) / total for tokens in range(length + 1)]


def test_the_text_alone_would_have_it_draft_too_little():
    along = along_of(SILENT_AT_TIMES["longer ngrams"])
    ends = LENGTH - np.arange(LENGTH)
    runs = np.array([[next((i for i in range(end) if not row[s + i]), LONGEST) for s, end in enumerate(ends)]
                     for row in along.proposed])  # fmt: skip
    assert (along.reach >= runs.clip(max=ends)).all()
    assert (along.reach > runs).any()


def test_a_drafter_that_never_was_silent_reaches_as_far_as_it_is_asked():
    assert reaches(ModelDrafter(table()), [Text([0])] * 3, [(True, False)] * 3) == [LONGEST] * 3


def test_where_proposals_are_drawn_the_next_silence_of_the_text_ends_them():
    said = [(True, False), (True, False), (False, False), (True, False)]
    assert reaches(ModelDrafter(table()), [Text([0])] * 4, said) == [2, 1, 0, LONGEST]


def test_a_chain_that_ends_in_a_model_is_followed_to_the_model():
    chain = ChainDrafter((NgramDrafter(3, 3, 3), ModelDrafter(table())))
    prefix = Text([0, 1, 2, 1, 0, 1, 2], 1)
    assert certain(chain.law(prefix)) == 1
    assert reaches(chain, [prefix, prefix], [(True, True), (False, False)]) == [LONGEST, 0]


def test_what_is_followed_is_forgotten():
    drafter = NgramDrafter(3, 1, 1)
    text = Text([0, 1, 2, 0], 1)
    assert reaches(drafter, [text, text], [(True, True), (False, False)]) == [LONGEST, 0]
    assert drafter.read == [0, 1, 2, 0]


@pytest.mark.parametrize(("law", "token"), [([0, 1, 0], 1), ([0.0, 0.0, 1.0], 2), ([0.5, 0.5, 0.0], None)])
def test_a_law_is_certain_if_it_has_one_token(law, token):
    assert certain(np.array(law)) == token
