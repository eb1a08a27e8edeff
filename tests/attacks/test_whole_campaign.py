"""The attack as a user runs it: every tamper is caught by the witnesses that it names, no innocent is accused."""

import json
import subprocess
import sys

from draftproof.redteam.tampers.catalogue import TAMPERS


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
