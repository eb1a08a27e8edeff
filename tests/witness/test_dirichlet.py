"""Evidence from counts: values computed elsewhere, and its mean under the law, listed exactly."""

import json
import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from draftproof.witness.dirichlet import log_evidence

FIXTURE = json.loads((Path(__file__).parents[1] / "fixtures" / "witness_multinomial.json").read_text())


@pytest.mark.parametrize("case", range(len(FIXTURE["cases"])))
def test_the_evidence_is_what_it_should_be(case):
    given = FIXTURE["cases"][case]
    found = log_evidence(np.array(given["counts"]), np.array(FIXTURE["p0"]), FIXTURE["kappas"])
    assert found == pytest.approx(given["log_bf"], abs=1e-8)  # sums of lgamma(1e6) round at 1e-9


def test_over_all_counts_the_evidence_is_one_on_average():
    law, draws = np.array([0.5, 0.3, 0.2, 0.0]), 6
    mean = 0.0
    for counts in product(range(draws + 1), repeat=3):
        if sum(counts) == draws:
            ways = math.factorial(draws) / math.prod(map(math.factorial, counts))
            chance = ways * math.prod(p**n for p, n in zip(law, counts, strict=False))
            mean += chance * math.exp(log_evidence(np.array([*counts, 0]), law))
    assert mean == pytest.approx(1, abs=1e-9)


def test_what_cannot_happen_is_a_proof():
    assert log_evidence(np.array([1, 0, 0, 1]), np.array([0.5, 0.3, 0.2, 0.0])) == math.inf
