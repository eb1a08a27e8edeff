"""Races of unknown exponentials: every probability is the known one, exactly."""

from fractions import Fraction

import numpy as np

from draftproof.rules.coupled import winner
from draftproof.witness.forking import exact_law


def law_of(*weights):
    return np.array([Fraction(weight, sum(weights)) for weight in weights], dtype=object)


def test_the_winner_has_the_law_it_ran_with():
    for law in (law_of(1, 2, 3), law_of(0, 1, 4), law_of(1, 1), law_of(1, 2, 3, 4), law_of(0, 1, 0)):
        emitted = exact_law(lambda noise, law=law: int(winner(law, noise.exponentials(0, len(law)))))
        assert [emitted.get(token, 0) for token in range(len(law))] == law.tolist()


def test_two_positions_are_independent():
    p = law_of(1, 2)
    both = exact_law(lambda noise: tuple(int(winner(p, noise.exponentials(t, 2))) for t in (0, 1)))
    assert both == {(i, j): p[i] * p[j] for i in (0, 1) for j in (0, 1)}


def test_one_position_asked_twice_gives_one_answer():
    p = law_of(1, 2, 3)
    both = exact_law(lambda noise: tuple(int(winner(p, noise.exponentials(0, 3))) for _ in (0, 1)))
    assert all(one == other for one, other in both)


def test_two_laws_in_one_race_agree_as_often_as_published():
    # (1/2, 1/3, 1/6) and uniform: 11/14, and the joint law of the published example.
    p, q = law_of(3, 2, 1), law_of(1, 1, 1)
    joint = exact_law(lambda noise: tuple(int(winner(law, noise.exponentials(0, 3))) for law in (q, p)))
    assert sum(chance for (one, other), chance in joint.items() if one == other) == Fraction(11, 14)
    assert joint[1, 0] == Fraction(1, 21)
    assert joint[2, 0] == Fraction(5, 42)


def test_three_laws_in_one_race_keep_their_own_laws():
    laws = law_of(3, 2, 1), law_of(1, 1, 1), law_of(1, 5, 2)
    joint = exact_law(lambda noise: tuple(int(winner(law, noise.exponentials(0, 3))) for law in laws))
    for i, law in enumerate(laws):
        alone = [sum(chance for won, chance in joint.items() if won[i] == token) for token in range(3)]
        assert alone == law.tolist()
