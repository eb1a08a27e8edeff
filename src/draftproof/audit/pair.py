"""The two models of an audit: where the engine finds them, and where our own law comes from.

In: what the user says: a probe pair, or models of their own. Out: `Pair`. A probe pair is made on first use and kept.
"""

import contextlib
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from draftproof.audit import probe
from draftproof.audit.catalogue import Chosen
from draftproof.audit.environments import cache_folder
from draftproof.audit.options import Options
from draftproof.errors import UsageError
from draftproof.models.tiny_backend import EMBEDDED

__all__ = ["Pair", "pair_for"]

KINDS = ("tiny", "hf", "gguf")
OWN_FORMAT = ""
"""Of subjects that are handed SPECs, or the folders of a probe pair."""
FORMATS = {"hf": ("hf", "tiny"), "gguf": ("gguf",), OWN_FORMAT: KINDS}
"""By what a subject reads, the kinds of SPECs that name it."""


@dataclass(frozen=True)
class Pair:
    """Two models."""

    target: str
    """As the engine is given it."""
    drafter: str
    """As the engine is given it; empty if there is none."""
    reference: str
    """SPEC of the model whose law is the right one."""
    surrogate: str
    """SPEC of what the witness takes for the drafter: it steers what is bet on, and cannot make a verdict wrong."""


def pair_for(options: Options, chosen: Chosen, python: str) -> Pair:
    """Return the pair of an audit.

    Args:
        options: what was asked.
        chosen: the engine.
        python: its interpreter, for formats that only its libraries write.

    Raises:
        UsageError: if it cannot be had.
    """
    if options.target:
        return _own(options, chosen.member.FORMAT)
    if chosen.name == "http":
        if options.black_box:
            return Pair("", "", "", "")
        raise UsageError("an address serves a model of its own: name the same one here, as SPEC", "target")
    folder = _probe(options.probe)
    reference, surrogate = f"tiny:{folder / 'target'}", f"tiny:{folder / 'draft'}"
    if chosen.name == "draftproof":
        return Pair(reference, surrogate, reference, surrogate)
    target, draft = _exported(folder, chosen.member.FORMAT, python)
    return Pair(str(target), str(draft), reference, surrogate)


def _probe(word: str) -> Path:
    """Return the folder of a probe pair: `V`, `V:SEED`, or a folder."""
    size, _, seed = word.partition(":")
    if size.isdecimal() and (seed or "0").isdecimal():
        folder = cache_folder() / "probes" / f"{int(size)}-{int(seed or 0)}"
        _once(folder, lambda made: probe.make(made, int(size), int(seed or 0)))
        return folder
    folder = Path(word)
    if not all((folder / part / "config.json").is_file() for part in ("target", "draft")):
        fewest, most = probe.VOCABULARIES
        raise UsageError(
            f"got {word!r}; allowed are V or V:SEED with {fewest} to {most} tokens, or a folder with target and draft",
            "probe",
        )
    return folder


def _exported(folder: Path, form: str, python: str) -> tuple[Path, Path]:
    """Return target and draft in a format, which are written unless they are there."""
    if form == "gguf":
        from draftproof.audit.exports.gguf import export

        files = folder / "target.gguf", folder / "draft.gguf"
        for file in files:
            _once(file, lambda made, source=folder / file.stem: export(source, made))
        return files
    if form == "openvino":
        folders = folder / "openvino" / "target", folder / "openvino" / "draft"
        for each in folders:
            _once(each, lambda made, source=folder / each.name: _converted(source, made, python))
        return folders
    return folder / "target", folder / "draft"


def _once(place: Path, make: Callable[[Path], None]) -> None:
    """Make a file or a folder if it is not there; another audit may do the same, and none sees it half made."""
    if place.exists():
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".making-") as aside:
        made = Path(aside) / place.name
        make(made)
        with contextlib.suppress(OSError):  # somebody was quicker
            made.rename(place)


def _converted(source: Path, made: Path, python: str) -> None:
    """Write a model as OpenVINO has it, which only its own libraries can."""
    script = Path(__file__).parent / "exports" / "openvino.py"
    command = [python, "-P", str(script), str(source), str(made)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 (a script of this package)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise UsageError(f"the probe pair could not be written for OpenVINO: {last}", "probe")


def _own(options: Options, form: str) -> Pair:
    """Return a pair of the user's models: the engine gets what follows the colon of a SPEC that it can read."""
    reference = options.reference or options.target
    kinds = FORMATS.get(form, ())
    for name, spec in (("target", options.target), ("drafter", options.drafter)):
        kind, colon, _ = spec.partition(":")
        if spec and not options.reference and not (colon and kind in KINDS):
            raise UsageError(f"got {spec!r}, which is no SPEC; name the same model as SPEC by --reference", name)
        if spec and colon and kind in KINDS and kind not in kinds:
            raise UsageError(f"got {spec!r}; {options.subject} reads {form or 'nothing of that kind'}", name)
    plain = [_path(spec, form) for spec in (options.target, options.drafter)]
    surrogate = options.drafter if options.drafter.partition(":")[0] in KINDS else ""
    return Pair(plain[0], plain[1], reference, surrogate)


def _path(spec: str, form: str) -> str:
    """Return what follows the colon of a SPEC, a folder for the embedded pair, without settings of our own backends."""
    kind, colon, path = spec.partition(":")
    if not colon or form == OWN_FORMAT or kind not in KINDS:
        return spec
    if kind == "tiny" and path in EMBEDDED:
        return str(Path(str(files("draftproof"))) / "assets" / path)
    return path.partition("?")[0]
