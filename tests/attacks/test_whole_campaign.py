"""The attack as a user runs it: every tamper is caught by the witnesses that it names, no innocent is accused.

`test_rule_tampers.py` and `test_loop_tampers.py` say so of each, one by one, with every change; this runs the whole
card.
"""

import json
import subprocess
import sys

import pytest

from draftproof.records import Conclusion
from draftproof.redteam.campaign import judge
from draftproof.redteam.tampers.catalogue import TAMPERS
from draftproof.witness.embedded import embedded_run
from draftproof.witness.greedy import Greedy
from draftproof.witness.replay import Replay, Report


@pytest.mark.slow
def test_every_tamper_is_caught_and_every_innocent_left_alone():
    words = [sys.executable, "-m", "draftproof", "attack", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    card = json.loads(done.stdout)
    assert (card["escaped"], card["false_alarms"]) == ([], [])
    assert done.returncode == 0
    scores = {score["name"]: score for score in card["tampers"]}
    assert list(scores) == list(TAMPERS)
    missed = {
        name: sorted(set(tamper.caught_by) - set(scores[name]["caught_by"]))
        for name, tamper in TAMPERS.items()
        if set(tamper.caught_by) - set(scores[name]["caught_by"])
    }
    assert missed == {}
    drifts = [score for score in card["tampers"] if {"exact", "sequence"} & set(score["caught_by"])]
    assert all(score["total_variation"] is None or score["total_variation"] > 0 for score in drifts)


@pytest.mark.parametrize("name", [name for name, tamper in TAMPERS.items() if tamper.harmless])
def test_an_innocent_is_left_alone_on_a_model_that_rounds(name):
    runs = [embedded_run()]
    score = judge(TAMPERS[name], (Replay(runs), Report(runs), Greedy(runs)))
    assert [finding for finding in score.findings if finding.verdict is Conclusion.LOSSY] == []
