"""The door of the rules checks many rows a few at a time, and still names the one that is no law."""

import numpy as np
import pytest

from draftproof.errors import ContractError
from draftproof.rules.contract import CACHED, check_laws

ROWS, SIZE = 7, CACHED // 3 + 5  # two rows at a time, and one is left
SPOILS = {
    "NaN": (np.nan, "entry is nan"),
    "negative": (-0.5, "entry is -0.5"),
    "too much": (1.0, "sums to 1.9999"),
    "infinity": (np.inf, "sums to inf"),
}


@pytest.mark.parametrize("spoil", SPOILS)
@pytest.mark.parametrize("row", range(ROWS))
def test_the_row_that_is_no_law_is_named(spoil, row):
    laws = np.full((ROWS, SIZE), 1 / SIZE)
    check_laws(laws, "target")
    value, found = SPOILS[spoil]
    laws[row, -1] = value
    with pytest.raises(ContractError, match=f"target row {row} is no law: .*({found})"):
        check_laws(laws, "target")


def test_of_a_batch_the_row_is_counted_within_its_own_block():
    laws = np.full((2, ROWS, SIZE), 1 / SIZE)
    laws[1, 3] = 0
    with pytest.raises(ContractError, match="row 3 is no law: it sums to 0"):
        check_laws(laws, "draft")
