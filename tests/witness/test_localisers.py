"""Where a fault sits: streams whose right answers were computed elsewhere."""

import json
from pathlib import Path

import numpy as np
import pytest

from draftproof.witness.localisers import Localisers

FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.mark.parametrize("name", ["null", "resid_from_target"])
def test_the_evidence_is_what_it_should_be(name):
    stream = json.loads((FIXTURES / f"witness_localiser_{name}.json").read_text())
    found, places = Localisers.begin(), []
    for place, (context, token, *_, kind, drafted) in enumerate(stream["rows"]):
        if kind != "bonus":
            p, q = (np.array(stream["contexts"][context][law]) for law in "pq")
            found.add(p, q, drafted, token if kind == "recovered" else None)
            places.append(place)
    expected = stream["expected"]
    accepting, replacing = found.log_wealth()
    assert accepting == pytest.approx(expected["accept_log_wealth"], abs=1e-9)
    first = None if found.first_replaced is None else places[found.first_replaced] + 1
    assert (found.first_refused, first) == (expected["accept_first_hard"], expected["recover_first_hard"])
    assert replacing == pytest.approx(expected["recover_log_wealth"], abs=1e-9)
