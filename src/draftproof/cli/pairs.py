"""From the options of `measure` and `plan` to what is measured, and to how it is known again.

In: words and numbers as typed. Out: a `Pair`, its subject, the folder of measurements. Nothing typed is ignored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from draftproof.drafters.catalogue import load_drafter
from draftproof.economics.machine import digest
from draftproof.economics.pair import Pair
from draftproof.economics.workloads import WORKLOADS
from draftproof.errors import UsageError
from draftproof.models.catalogue import check_model, fingerprint, load
from draftproof.rules.catalogue import CHAIN_RULES
from draftproof.warpers.pipeline import sampling

__all__ = [
    "Choice",
    "fingerprints",
    "folder",
    "pair_of",
    "prompts_digest",
    "prompts_of",
    "settings_of",
    "sizes",
    "subject_of",
]


@dataclass(frozen=True)
class Choice:
    """Models and sampling: by these a measurement is found again."""

    target: str
    drafters: tuple[str, ...]
    temperature: float
    top_k: int
    top_p: float


def folder() -> Path:
    """Return where measurements are kept."""
    return Path(typer.get_app_dir("draftproof")) / "measurements"


def fingerprints(specs: Sequence[str]) -> dict[str, str]:
    """Return the fingerprints of models; of one that is no longer there, a word that is none."""
    found: dict[str, str] = {}
    for spec in specs:
        try:
            found[spec] = fingerprint(spec, "target")
        except UsageError:
            found[spec] = "gone"
    return found


def settings_of(choice: Choice) -> dict[str, Any]:
    """Return what a measurement is found by, as its record has it.

    Raises:
        UsageError: if a SPEC names nothing, or a setting is out of range.
    """
    for spec, setting in [(choice.target, "target"), *((spec, "drafter") for spec in choice.drafters)]:
        if spec == "none":
            raise UsageError("got 'none'; plain decoding is measured beside every drafter anyway", setting)
        check_model(spec, setting)
    sampling(choice.temperature, choice.top_k, choice.top_p)
    return {
        "target": choice.target,
        "temperature": choice.temperature,
        "top_k": choice.top_k,
        "top_p": choice.top_p,
    }


def subject_of(
    choice: Choice, rules: Sequence[str], prompts: dict[str, str], numbers: dict[str, int]
) -> dict[str, Any]:
    """Return what is measured, as its record has it: two measurements of equal subjects are of the same thing."""
    models = {"drafters": list(choice.drafters), "fingerprints": fingerprints([choice.target, *choice.drafters])}
    return settings_of(choice) | models | {"rules": list(rules), "prompts": prompts} | numbers


def sizes(choice: Choice) -> dict[str, list[int]]:
    """Return the bytes of each model's weights, and of a token in its cache."""
    return {spec: list(load(spec, "target").model.size) for spec in dict.fromkeys([choice.target, *choice.drafters])}


def prompts_of(workloads: Sequence[str], files: Sequence[Path]) -> dict[str, tuple[str, ...]]:
    """Return prompts by workload: those named, and those in files, one a line; all that are built in if none is.

    Raises:
        UsageError: if a workload or file is none.
    """
    if unknown := [name for name in workloads if name not in WORKLOADS]:
        raise UsageError(f"got {unknown[0]!r}; allowed are {', '.join(WORKLOADS)}", "workload")
    names = workloads or ([] if files else list(WORKLOADS))
    found = {name: WORKLOADS[name] for name in names}
    for path in files:
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise UsageError(f"got {str(path)!r}: {reason}; a file has one prompt a line", "prompts") from None
        found[path.stem] = tuple(line for line in lines if line.strip())
    return found


def pair_of(choice: Choice, rules: Sequence[str], prompts: Mapping[str, Sequence[str]], tokens: int) -> Pair:
    """Return what is measured, loaded."""
    target, pipeline = load(choice.target, "target"), sampling(choice.temperature, choice.top_k, choice.top_p)
    drafters = {spec: load_drafter(spec, target, pipeline) for spec in choice.drafters}
    ids = {name: [target.tokenizer.encode(prompt) for prompt in some] for name, some in prompts.items()}
    return Pair(target.model, drafters, tuple(rules or CHAIN_RULES), pipeline, ids, tokens)


def prompts_digest(prompts: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return a name for the prompts of each workload, so that other prompts are another measurement."""
    return {name: digest(list(some)) for name, some in prompts.items()}
