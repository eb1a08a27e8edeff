"""Measurements as records and files: found again by what was measured, and recognised when they no longer hold.

In: samples, and of what. Out: a `Measurement`; a file of JSON. A measurement of another machine or of other weights is
still found, and said to be stale.
"""

import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from draftproof.drafters.catalogue import fingerprint_of
from draftproof.economics.check import Cell
from draftproof.economics.forecast import Setting
from draftproof.economics.machine import digest, machine
from draftproof.economics.samples import Samples
from draftproof.economics.summary import summary
from draftproof.errors import DraftproofError, UsageError
from draftproof.records import SCHEMA, Measurement

__all__ = ["cells_of", "find", "fingerprints", "folder", "read", "record", "samples_of", "save", "specs_of", "stale"]

QUESTION = "What does speculation cost here, and how much does a draft get right?"
IDENTIFIES = ("target", "temperature", "top_k", "top_p")
"""The parts of a subject by which a measurement is found; besides, it must have the drafters that are asked for."""
NEEDED = (*IDENTIFIES, "drafters", "fingerprints", "sizes")
"""What a subject must have for a plan."""


def folder() -> Path:
    """Return where measurements are kept: among the settings of this user's programs."""
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA", "~")).expanduser() / "draftproof" / "measurements"
    if sys.platform == "darwin":
        return Path("~/Library/Application Support/draftproof/measurements").expanduser()
    return Path(os.environ.get("XDG_CONFIG_HOME", "~/.config")).expanduser() / "draftproof" / "measurements"


def fingerprints(specs: Sequence[str]) -> dict[str, str]:
    """Return the fingerprints of models and drafters; of one that is no longer there, a word that is none."""
    found: dict[str, str] = {}
    for spec in specs:
        try:
            found[spec] = fingerprint_of(spec)
        except DraftproofError:
            found[spec] = "gone"
    return found


def record(samples: Samples, subject: dict[str, Any], cells: Sequence[Cell] = ()) -> Measurement:
    """Return a measurement.

    Args:
        samples: what was found.
        subject: of what: `target` and `drafters` (SPECs), their `fingerprints`, `temperature`, `top_k`, `top_p`, and
            whatever else it should be known by.
        cells: what was predicted and measured, if that was checked.
    """
    found = samples.to_json() | {"cells": [asdict(cell) for cell in cells]}
    return Measurement(QUESTION, machine(specs_of(subject)), summary(samples), subject=subject, samples=found)


def samples_of(measurement: Measurement) -> Samples:
    """Return the samples in a measurement."""
    return Samples.from_json(measurement.samples)


def cells_of(measurement: Measurement) -> list[Cell]:
    """Return what was predicted and measured, nothing if it was not checked."""
    cells: list[Cell] = []
    for cell in measurement.samples["cells"]:
        parts = cell | {"setting": Setting(**cell["setting"]), "interval": tuple(cell["interval"])}
        cells.append(Cell(**parts))
    return cells


def save(measurement: Measurement, folder: Path) -> Path:
    """Write a measurement where `find` finds it; an older one of the same models and machine gives way."""
    folder.mkdir(parents=True, exist_ok=True)
    here = digest([measurement.machine, measurement.subject["fingerprints"]])
    path = folder / f"{_key(measurement.subject)}-{here}.json"
    unfinished = path.with_suffix(".part")
    unfinished.write_text(json.dumps(measurement.to_json()), encoding="utf-8")
    unfinished.replace(path)
    return path


def find(folder: Path, subject: dict[str, Any], drafters: Sequence[str] = ()) -> list[tuple[Path, Measurement]]:
    """Return the measurements of a target with these settings and with all these drafters, the newest first.

    They may be of another machine, or of other weights: `stale` tells.
    """
    paths = sorted(folder.glob(f"{_key(subject)}-*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    every: list[tuple[Path, Measurement]] = []
    for path in paths:
        with suppress(UsageError):  # of another version, or damaged: as good as none
            every.append((path, read(path)))
    return [(path, found) for path, found in every if set(drafters) <= set(found.subject["drafters"])]


def read(path: Path) -> Measurement:
    """Return the measurement in a file.

    Raises:
        UsageError: if it is none, or of another version.
    """
    try:
        found = Measurement(**json.loads(path.read_text(encoding="utf-8")))
        _ = samples_of(found), cells_of(found), [found.subject[part] for part in NEEDED]
    except OSError as error:
        raise UsageError(f"got {str(path)!r}: {error.strerror}", "measurement") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        message = f"got {str(path)!r}, which is no measurement; `draftproof measure --out` writes one"
        raise UsageError(message, "measurement") from None
    if found.schema != SCHEMA:
        raise UsageError(f"got {str(path)!r} of version {found.schema}; version {SCHEMA} is read", "measurement")
    return found


def stale(measurement: Measurement, fingerprints: dict[str, str]) -> list[str]:
    """Return in what this machine and these models differ from those measured; nothing if the measurement holds.

    Args:
        measurement: perhaps an old one.
        fingerprints: of the models as they are now, by SPEC.
    """
    then, now = measurement.machine, machine(specs_of(measurement.subject))
    reasons = [
        f"{fact} was {then.get(fact, 'unknown')!r}, here it is {now[fact]!r}"
        for fact in now
        if then.get(fact) != now[fact]
    ]
    for spec, before in measurement.subject["fingerprints"].items():
        if fingerprints.get(spec) != before:
            what = "reads another text" if spec.startswith("suffix:") else "has other weights or another tokenizer"
            reasons.append(f"{spec} {what} now")
    return reasons


def specs_of(subject: dict[str, Any]) -> list[str]:
    """Return the SPECs of the models and drafters in a subject."""
    return [subject["target"], *subject["drafters"]]


def _key(subject: dict[str, Any]) -> str:
    chat = ["chat"] if subject.get("chat") else []
    return digest([*(subject[part] for part in IDENTIFIES), *chat])
