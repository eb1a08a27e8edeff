import numpy as np
import pytest

from conftest import exact_answers
from draftproof.errors import UsageError
from draftproof.noise import PhiloxNoise
from draftproof.types import Purpose

# Printed once by this code and frozen: a change of any of them changes every text anybody ever generated with a seed.
GOLDEN = {
    (0, 0, Purpose.DRAFT, 0, 0): "0x1.cfc83c8da53fcp-2",
    (0, 0, Purpose.ACCEPT, 5, 7): "0x1.012798703cc64p-1",
    (12345, 2, Purpose.FINAL, 100, 100): "0x1.5e9468aaed101p-1",
    (2**64 - 1, 2**64 - 1, Purpose.DRAFT, 1, 3): "0x1.49e092ede640ap-2",
}


@pytest.mark.parametrize("address", GOLDEN)
def test_an_address_gives_the_same_uniform_for_ever(address):
    seed, sequence, purpose, start, position = address
    uniforms = PhiloxNoise(seed, sequence).uniforms(purpose, start, position - start + 1)
    assert uniforms[-1].hex() == GOLDEN[address]


def test_the_words_are_those_of_an_independent_philox():
    # coupled.json holds words of counter (0, position, 0, 0); the coupled rule of a later room uses that address.
    for case in exact_answers("coupled.json")["philox_golden"]:
        key = np.array([int(case["seed"]), case["seq"]], dtype=np.uint64)
        generator = np.random.Philox(key=key, counter=[0, case["pos"], case["stream"], 0])
        assert [str(word) for word in generator.random_raw(5)] == case["raw_u64"]


def test_an_address_is_one_block_of_philox():
    key = np.array([2**64 - 1, 3], dtype=np.uint64)  # a key that a float64 on the way would damage
    word = np.random.Philox(key=key, counter=[0, 9, Purpose.ACCEPT, 8]).random_raw()
    assert PhiloxNoise(2**64 - 1, 3).uniforms(Purpose.ACCEPT, 7, 3)[2] == (word >> 11) * 2.0**-53


def test_the_order_of_questions_does_not_matter():
    noise = PhiloxNoise(7)
    alone = [noise.uniforms(Purpose.ACCEPT, 3, 5)[i] for i in (4, 0, 2)]
    noise.uniforms(Purpose.DRAFT, 9, 2)
    together = PhiloxNoise(7).uniforms(Purpose.ACCEPT, 3, 5)
    assert alone == [together[4], together[0], together[2]]


def test_no_two_addresses_share_a_uniform():
    # 4,500 draws of 53 bits collide by chance with probability 1e-9.
    drawn = [
        value
        for seed in (0, 1)
        for sequence in (0, 1)
        for purpose in Purpose
        for start in range(25)
        for value in PhiloxNoise(seed, sequence).uniforms(purpose, start, 15)
    ]
    assert len(set(drawn)) == len(drawn)


def test_uniforms_are_multiples_of_two_to_the_minus_53_below_one():
    uniforms = PhiloxNoise(1).uniforms(Purpose.DRAFT, 0, 1000)
    assert uniforms.min() >= 0
    assert uniforms.max() < 1
    assert np.all(uniforms * 2.0**53 == np.floor(uniforms * 2.0**53))


def test_uniforms_are_uniform():
    # Largest gap between empirical and true distribution, n = 4000: above 0.0308 with probability 1e-3 (Kolmogorov).
    uniforms = np.sort(PhiloxNoise(3).uniforms(Purpose.DRAFT, 0, 4000))
    gap = np.abs(uniforms - np.arange(4000) / 4000).max()
    assert gap < 0.0308
    assert np.abs(uniforms**1.2 - np.arange(4000) / 4000).max() > 0.0308  # the control: a bent law is seen


@pytest.mark.parametrize(("seed", "sequence", "name"), [(-1, 0, "seed"), (2**64, 0, "seed"), (0, -1, "sequence")])
def test_a_seed_outside_its_range_is_refused_by_name(seed, sequence, name):
    with pytest.raises(UsageError, match=name):
        PhiloxNoise(seed, sequence)
