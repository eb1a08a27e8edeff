"""Operations, traffic and memory: speculation saves time, not work."""

import pytest

from draftproof import load
from draftproof.economics.survival import iid_survival, tokens_per_pass
from draftproof.economics.work import memory, operations, traffic
from draftproof.models.base import Size


def tokens(acceptance, length):
    return tokens_per_pass(iid_survival(acceptance, length))


@pytest.mark.parametrize(
    ("acceptance", "length", "known"),
    [(0.6, 2, 1.53), (0.7, 3, 1.58), (0.8, 2, 1.23), (0.8, 5, 1.63), (0.9, 2, 1.11), (0.9, 10, 1.60)],
)
def test_the_operations_of_the_paper_come_out(acceptance, length, known):
    assert operations(length, tokens(acceptance, length), 0.0) == pytest.approx(known, abs=0.005)


def test_the_draft_s_operations_count_too():
    a, length, ratio = 0.7, 4, 0.1
    formula = (1 - a) * (length * ratio + length + 1) / (1 - a ** (length + 1))
    assert operations(length, tokens(a, length), ratio) == pytest.approx(formula)


def test_a_perfect_free_draft_reads_the_weights_once_for_all_its_tokens():
    assert traffic(3, 4.0, Size(1000), Size(0)) == pytest.approx(1 / 4)


def test_a_long_context_makes_the_cache_of_the_draft_count():
    target, draft = Size(1000, 10), Size(100, 10)
    assert traffic(4, 3.4, target, draft, context=1000) > traffic(4, 3.4, target, draft)


def test_plain_decoding_reads_what_it_reads():
    assert traffic(0, 1.0, Size(7, 1), Size(3), context=5) == 1
    assert operations(0, 1.0, 0.5) == 1


def test_memory_is_both_models_and_their_caches_with_the_block():
    assert memory(3, Size(100, 2), Size(10, 1), context=6) == 110 + 10 * 3


def test_the_embedded_pair_knows_its_size():
    target, draft = load("tiny:target", "target").model, load("tiny:draft", "drafter").model
    assert target.size.weights > 10 * draft.size.weights > 0
    grown = target.fresh()
    grown.extend([5] * 300)
    cache = grown._cache._keys.nbytes + grown._cache._values.nbytes
    assert target.size.per_token * 300 <= cache  # it has room for more
    assert cache / target.size.per_token == pytest.approx(grown._cache._keys.shape[-1], rel=1e-9)
