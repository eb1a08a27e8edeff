import numpy as np
import pytest

from conftest import exact_answers
from draftproof.errors import UsageError
from draftproof.noise import PassNoise, PhiloxNoise
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


WORDS = exact_answers("coupled.json")["philox_golden"]


def test_the_words_are_those_of_an_independent_philox():
    # coupled.json holds words of counter (0, position, 0, 0): the noise of a position of the text.
    for case in WORDS:
        key = np.array([int(case["seed"]), case["seq"]], dtype=np.uint64)
        generator = np.random.Philox(key=key, counter=[0, case["pos"], case["stream"], 0])
        assert [str(word) for word in generator.random_raw(5)] == case["raw_u64"]


@pytest.mark.parametrize("case", WORDS, ids=lambda case: f"{case['seed']} {case['seq']} {case['pos']}")
def test_the_exponentials_of_a_position_are_minus_log_of_the_golden_uniforms(case):
    uniforms = np.array([float.fromhex(uniform) for uniform in case["uniform"]])
    assert np.array_equal(PhiloxNoise(int(case["seed"]), case["seq"]).exponentials(case["pos"], 5), -np.log(uniforms))


def test_the_exponential_of_a_token_does_not_depend_on_the_size_of_the_vocabulary():
    noise = PhiloxNoise(4, 2)
    assert np.array_equal(noise.exponentials(9, 3), noise.exponentials(9, 150_000)[:3])


def test_exponentials_have_mean_one_and_no_end():
    # The mean of 40,000 is off by more than 0.0258 with probability 1e-7 (normal, s.e. 0.005).
    drawn = PhiloxNoise(5).exponentials(0, 40_000)
    assert drawn.min() > 0
    assert drawn.max() < 54 * np.log(2)
    assert abs(drawn.mean() - 1) < 0.0258
    assert abs((drawn**1.2).mean() - 1) > 0.0258  # the control: a bent law is seen


def test_positions_share_no_exponential_with_each_other_or_with_any_uniform():
    # 3,000 numbers of 53 bits collide by chance with probability 1e-9.
    noise = PhiloxNoise(6)
    drawn = [value for position in range(100) for value in np.exp(-noise.exponentials(position, 20))]
    drawn += [value for purpose in Purpose for start in range(20) for value in noise.uniforms(purpose, start, 15)]
    assert len({round(value * 2**50) for value in drawn}) == len(drawn)  # exp and log lose the last bits


@pytest.mark.parametrize("purpose", Purpose)
def test_a_uniform_can_be_asked_for_alone_by_its_number(purpose):
    noise = PhiloxNoise(8)
    together = noise.uniforms(purpose, 4, 6)
    assert [noise.uniforms(purpose, 4, 1, number)[0] for number in range(6)] == together.tolist()
    assert noise.uniforms(purpose, 4, 3, 2).tolist() == together[2:5].tolist()
    assert noise.uniforms(purpose, 4, 0).shape == (0,)


def test_the_numbers_of_a_pass_are_those_of_its_start():
    noise = PhiloxNoise(9)
    draws = PassNoise(noise, 12)
    assert np.array_equal(draws.uniforms(Purpose.ACCEPT, 3, 1), noise.uniforms(Purpose.ACCEPT, 12, 3, 1))
    assert np.array_equal(draws.exponentials(2, 7), noise.exponentials(14, 7))


def test_two_passes_share_no_uniform_even_at_the_same_place_of_the_text():
    one, other = (PassNoise(PhiloxNoise(10), start) for start in (5, 6))
    for purpose in Purpose:
        assert not set(one.uniforms(purpose, 8)) & set(other.uniforms(purpose, 8))
    assert np.array_equal(one.exponentials(3, 9), other.exponentials(2, 9))  # which belong to the place alone


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
