"""The instrument itself: programs with known laws."""

from fractions import Fraction

import numpy as np

from draftproof.rules.base import pick
from draftproof.types import Purpose
from draftproof.witness.forking import exact_law


def uniform(noise, purpose=Purpose.DRAFT, start=0):
    return noise.uniforms(purpose, start, 1)[0]


def test_a_coin_has_its_probability():
    assert exact_law(lambda noise: uniform(noise) < Fraction(1, 3)) == {True: Fraction(1, 3), False: Fraction(2, 3)}


def test_a_draw_has_its_law():
    law = np.array([Fraction(1, 2), Fraction(0), Fraction(1, 3), Fraction(1, 6)], dtype=object)
    drawn = exact_law(lambda noise: int(pick(law, np.asarray(uniform(noise)))))
    assert drawn == {0: Fraction(1, 2), 2: Fraction(1, 3), 3: Fraction(1, 6)}


def test_one_address_is_one_unknown():
    both = exact_law(lambda noise: (uniform(noise) < Fraction(1, 2), uniform(noise) < Fraction(1, 4)))
    assert both == {(True, True): Fraction(1, 4), (True, False): Fraction(1, 4), (False, False): Fraction(1, 2)}


def test_two_addresses_are_independent():
    both = exact_law(lambda noise: (uniform(noise) < Fraction(1, 2), uniform(noise, start=1) < Fraction(1, 4)))
    assert both[True, True] == Fraction(1, 8)
    assert sum(both.values()) == 1


def test_a_shared_uniform_gives_the_drift_that_was_published():
    # L1 of the public reports: draft draw and acceptance share one uniform: (7/10, 3/10, 0) instead of p.
    from draftproof.rules.token import TokenRule
    from draftproof.witness.exact import rationals

    p, q = rationals([["1/2", "3/10", "1/5"], ["1/5", "3/10", "1/2"]])

    def program(noise):
        class Shared:
            def uniforms(self, purpose, count, first=0):
                return noise.uniforms(Purpose.DRAFT if purpose == Purpose.ACCEPT else purpose, 0, count, first)

        token = np.array([pick(q, np.asarray(uniform(noise)))])
        verdict = TokenRule().verify(np.stack([p, p]), q[None], token, Shared())
        return int(token[0]) if verdict.accepted else int(verdict.token)

    assert exact_law(program) == {0: Fraction(7, 10), 1: Fraction(3, 10)}
