"""Pictures on paper: a file that a viewer opens, of the kind that its name says."""

import pytest

from conftest import needs
from draftproof.economics.picture import picture_by_hand, picture_measured
from draftproof.economics.plan import plan_by_hand, plans_measured
from draftproof.economics.plots import check_path, draw
from draftproof.economics.predict import Costs
from draftproof.errors import UsageError
from samples_of_tests import samples


@pytest.mark.parametrize(("name", "begins"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml")])
def test_a_picture_is_written(tmp_path, name, begins):
    needs("matplotlib")
    some = samples(workloads=("copy", "code"))
    draw(picture_measured(plans_measured(some), some, []), tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(begins)


def test_one_by_hand_has_the_frontier_and_the_names(tmp_path):
    needs("matplotlib").rcParams["svg.fonttype"] = "none"
    costs = [Costs(0.1)]
    draw(picture_by_hand(plan_by_hand([(0.8, costs[0])], "token"), costs), tmp_path / "a.svg")
    written = (tmp_path / "a.svg").read_text()
    for words in ("break-even", "draft 1", "speed-up", "T(n)"):
        assert words in written


@pytest.mark.parametrize("name", ["a.jpeg", "a", "nowhere/a.png"])
def test_a_file_that_could_not_be_drawn_is_refused(tmp_path, name):
    with pytest.raises(UsageError, match="plot: got"):
        check_path(tmp_path / name)
