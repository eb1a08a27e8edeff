"""Measurements are found again, also when they no longer hold, and then say so."""

import json
import os
from dataclasses import replace

import pytest

from draftproof.economics.check import Cell, verdict
from draftproof.economics.forecast import Setting
from draftproof.economics.machine import digest, machine
from draftproof.economics.store import cells_of, find, read, record, samples_of, save, stale
from draftproof.errors import UsageError
from samples_of_tests import samples

MODELS = {"target": "t", "drafters": ["d"], "fingerprints": {"t": "1", "d": "2"}}
SUBJECT = MODELS | {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "sizes": {"t": [10, 1], "d": [1, 1]}}
CELLS = [
    Cell(Setting("d", "token", k), "prose", predicted, (low, high), naive, 1.0)
    for k, (predicted, low, high, naive) in enumerate(
        [(1.05, 0.9, 1.2, 1.3), (0.8, 0.7, 0.95, 1.2), (1.0, 0.9, 1.1, 0.7)], 1
    )
]


def found_paths(folder, drafters=()):
    return [path for path, _ in find(folder, SUBJECT, drafters)]


def test_a_measurement_is_what_was_saved(tmp_path):
    path = save(record(samples(), SUBJECT, CELLS), tmp_path)
    found = read(path)
    assert found_paths(tmp_path) == [path]
    assert samples_of(found).to_json() == samples().to_json()
    assert cells_of(found) == CELLS
    assert found.machine == machine()
    assert stale(found, SUBJECT["fingerprints"]) == []


def test_its_values_are_named_with_their_units():
    values = record(samples(), SUBJECT).values
    assert values["plain decoding: ms a token"] == pytest.approx(1.0)
    assert values["draft: ms a draft step"] == pytest.approx(0.1)
    assert values["target: 17 rows / 1 row"] == pytest.approx(1.0)
    assert values["draft, prose, token: kept at position 2"] == pytest.approx(0.49)
    low, high = (values[f"draft, prose, token: kept at position 2, {end}"] for end in ("low", "high"))
    assert low <= 0.49 + 1e-9
    assert high >= 0.49 - 1e-9


def test_the_newest_of_one_machine_and_model_is_kept_alone(tmp_path):
    first = save(record(samples(), SUBJECT), tmp_path)
    second = save(record(samples(noise=0.1), SUBJECT), tmp_path)
    assert first == second
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("change", [{"temperature": 0.5}, {"target": "other"}, {"top_k": 5}])
def test_other_settings_are_another_measurement(tmp_path, change):
    save(record(samples(), SUBJECT), tmp_path)
    assert find(tmp_path, SUBJECT | change) == []


def test_a_measurement_must_have_the_drafters_that_are_asked_for(tmp_path):
    path = save(record(samples(), SUBJECT), tmp_path)
    assert found_paths(tmp_path, ["d"]) == [path]
    assert found_paths(tmp_path, ["d", "e"]) == []


def test_other_weights_are_found_and_called_stale(tmp_path):
    path = save(record(samples(), SUBJECT), tmp_path)
    assert found_paths(tmp_path) == [path]
    assert stale(read(path), {"t": "1", "d": "3"}) == ["d has other weights or another tokenizer now"]


def test_another_machine_is_called_stale(tmp_path):
    elsewhere = replace(record(samples(), SUBJECT), machine=machine() | {"processor": "Abacus", "cores": "3"})
    path = save(elsewhere, tmp_path)
    reasons = stale(read(path), SUBJECT["fingerprints"])
    assert [reason.partition(" ")[0] for reason in reasons] == ["processor", "cores"]


def test_a_damaged_file_is_passed_over(tmp_path):
    path = save(record(samples(), SUBJECT), tmp_path)
    other = save(replace(record(samples(), SUBJECT), machine={"processor": "Abacus"}), tmp_path)
    other.write_text(other.read_text()[:1000])
    assert found_paths(tmp_path) == [path]


def test_a_measurement_whose_subject_lacks_something_is_refused(tmp_path):
    lacking = {part: value for part, value in SUBJECT.items() if part != "sizes"}
    path = save(record(samples(), lacking), tmp_path)
    with pytest.raises(UsageError, match="no measurement"):
        read(path)


def test_the_newest_comes_first(tmp_path):
    here = save(record(samples(), SUBJECT), tmp_path)
    there = save(replace(record(samples(), SUBJECT), machine={"processor": "Abacus"}), tmp_path)
    os.utime(here, (1, 1))
    assert found_paths(tmp_path) == [there, here]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"question": 1, "machine": {}, "values": {}}', "\x00"])
def test_a_file_that_is_no_measurement_is_refused(tmp_path, content):
    path = tmp_path / "m.json"
    path.write_text(content)
    with pytest.raises(UsageError, match=r"measurement: got .* no measurement"):
        read(path)


def test_a_missing_file_and_another_version_are_refused(tmp_path):
    with pytest.raises(UsageError, match="No such file"):
        read(tmp_path / "none.json")
    path = tmp_path / "old.json"
    path.write_text(json.dumps(record(samples(), SUBJECT).to_json() | {"schema": 1}))
    with pytest.raises(UsageError, match="version 1"):
        read(path)


def test_cells_are_judged_by_median_error_and_coverage():
    found = verdict(CELLS)
    assert found.median_error == pytest.approx(0.05)
    assert found.median_naive_error == pytest.approx(0.3)
    assert found.covered == pytest.approx(2 / 3)
    assert not found.good
    assert verdict([CELLS[0], CELLS[2]]).good


def test_a_digest_changes_with_the_facts():
    assert digest({"a": 1}) == digest({"a": 1}) != digest({"a": 2})
