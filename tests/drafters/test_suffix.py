"""The drafter of suffixes against its definition, written out; and nothing of what was taken back remains."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftproof.drafters import suffix
from draftproof.drafters.suffix import SuffixDrafter, Suffixes

STEPS = st.lists(st.tuples(st.integers(0, 40), st.lists(st.integers(0, 2), max_size=12)), max_size=8)
CORPORA = st.lists(st.integers(0, 2), max_size=15)


def match(text, context):
    """The longest ending of `context` that a token followed in `text`, and which one most often, then the latest."""
    for n in range(min(len(context), suffix.LONGEST), 0, -1):
        ending = context[len(context) - n :]
        followers = [text[i] for i in range(n, len(text)) if text[i - n : i] == ending]
        if followers:
            counts = Counter(followers)
            return n, max(reversed(followers), key=counts.__getitem__)
    return 0, None


def by_definition(context, corpus):
    return max(match(context, context), match(corpus, context), key=lambda found: found[0])[1]


def read(tokens):
    found = Suffixes()
    found.extend(tokens)
    return found


def proposed(drafter, context):
    law = drafter.law(context)
    return None if law is None else law.tolist().index(1)


def written(node):
    """All that a tree knows."""
    if isinstance(node, int):
        return node
    children = {token: written(child) for token, child in node.children.items()}
    return node.depth, node.place, node.made_at, children, dict(node.followers), node.best


def nodes(node):
    return 0 if isinstance(node, int) else 1 + sum(map(nodes, node.children.values()))


def followers(node):
    return 0 if isinstance(node, int) else len(node.followers) + sum(map(followers, node.children.values()))


@pytest.mark.parametrize("longest", [1, 2, 3, 32])
@given(steps=STEPS, corpus=CORPORA)
@settings(max_examples=150)
def test_it_proposes_what_the_definition_says_through_growth_and_rewinds(longest, steps, corpus):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suffix, "LONGEST", longest)
        drafter, text = SuffixDrafter(3, read(corpus)), []
        for back, tokens in steps:
            del text[max(0, len(text) - back) :]
            drafter.rewind(len(text))
            text += tokens
            assert proposed(drafter, text) == by_definition(text, corpus)


@pytest.mark.parametrize(
    ("context", "corpus", "token"),
    [
        ([1, 2, 3, 1, 2, 4, 1, 2], [], 4),  # once each: the latest
        ([1, 2, 3, 1, 2, 3, 1, 2, 4, 1, 2], [], 3),  # twice against once
        ([5, 1, 9, 6, 1, 8, 7, 1, 8, 5, 1], [], 9),  # the longest match, though another token follows 1 more often
        ([7, 7], [], 7),  # it may overlap itself
        ([7], [], None),
        ([], [1, 2], None),
        ([4, 1], [0, 1, 2], 2),
        ([1, 3, 1], [0, 1, 2], 3),  # as long in the context as in the corpus: the context
        ([1, 3, 0, 1], [0, 1, 2], 2),  # longer in the corpus
        ([1, 1], [1, 2], 1),  # where texts begin they have nothing in common: one token matches in either
        ([1, 2], [0, 1, 2], None),  # at its end the corpus has nothing that followed
    ],
)
def test_cases_worked_out_by_hand(context, corpus, token):
    assert proposed(SuffixDrafter(10, read(corpus)), context) == token


def test_a_token_that_the_target_lacks_is_not_proposed():
    assert SuffixDrafter(5).law([1, 5, 1]) is None


@given(kept=st.lists(st.integers(0, 2), max_size=20), more=st.lists(st.integers(0, 2), max_size=20))
@settings(max_examples=300)
def test_what_is_taken_back_leaves_nothing_behind(kept, more):
    found = read([*kept, *more])
    found.rewind(len(kept) + 1)
    assert written(found._root) == written(read(kept)._root)
    assert (found.text, found._undo) == (read(kept).text, read(kept)._undo)


@given(text=st.lists(st.integers(0, 2), max_size=80))
@settings(max_examples=100)
def test_a_token_adds_at_most_one_node_and_three_counts(text):
    root = read(text)._root
    assert nodes(root) <= 1 + len(text)
    assert followers(root) <= 3 * (len(text) + 1)


@pytest.mark.parametrize("text", [[1] * 300, [1, 2] * 150, list(range(60)) * 5], ids=["one", "two", "sixty"])
def test_a_token_costs_a_bounded_number_of_steps(text, monkeypatch):
    counted = Counter()
    count = suffix._Node.count
    monkeypatch.setattr(suffix._Node, "count", lambda node, token: (counted.update(["steps"]), count(node, token))[1])
    found = read(text)
    before = counted["steps"]
    found.extend([1])
    assert counted["steps"] - before <= suffix.LONGEST + 1


def test_drafters_with_one_corpus_do_not_disturb_each_other():
    corpus = read([0, 1, 2, 0, 1, 1])
    before = written(corpus._root)
    one = SuffixDrafter(3, corpus)
    other = one.fresh()
    one.law([0, 1, 2, 2, 2])
    assert proposed(other, [2, 0]) == 1
    assert written(corpus._root) == before
