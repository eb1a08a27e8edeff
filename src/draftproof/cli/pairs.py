"""From the options of `measure` and `plan` to what is measured, and to how it is known again.

In: words and numbers as typed. Out: a `Pair`, its subject. Nothing typed is ignored. What prompts are: `prompted.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from draftproof.drafters.catalogue import check_spec, load_drafter
from draftproof.economics.pair import Pair
from draftproof.economics.store import fingerprints
from draftproof.economics.work import size_of
from draftproof.errors import UsageError
from draftproof.models.backend import LoadedModel
from draftproof.models.catalogue import check_model, load
from draftproof.rules.catalogue import CHAIN_RULES
from draftproof.warpers.pipeline import sampling

__all__ = [
    "Choice",
    "loaded",
    "settings_of",
    "subject_of",
]


@dataclass(frozen=True)
class Choice:
    """Models, sampling, and how prompts are put: by these a measurement is found again."""

    target: str
    drafters: tuple[str, ...]
    temperature: float
    top_k: int
    top_p: float
    chat: bool = False


def settings_of(choice: Choice) -> dict[str, Any]:
    """Return what a measurement is found by, as its record has it.

    Raises:
        UsageError: if a SPEC names nothing, or a setting is out of range.
    """
    check_model(choice.target, "target")
    for spec in choice.drafters:
        if spec == "none":
            raise UsageError("got 'none'; plain decoding is measured beside every drafter anyway", "drafter")
        check_spec(spec)
    sampling(choice.temperature, choice.top_k, choice.top_p)
    found = {
        "target": choice.target,
        "temperature": choice.temperature,
        "top_k": choice.top_k,
        "top_p": choice.top_p,
    }
    return found | ({"chat": True} if choice.chat else {})


def subject_of(
    choice: Choice, rules: Sequence[str], prompts: dict[str, str], numbers: dict[str, int]
) -> dict[str, Any]:
    """Return what is measured, as its record has it: two measurements of equal subjects are of the same thing."""
    models = {"drafters": list(choice.drafters), "fingerprints": fingerprints([choice.target, *choice.drafters])}
    return settings_of(choice) | models | {"rules": list(rules), "prompts": prompts} | numbers


def loaded(
    choice: Choice, rules: Sequence[str], prompts: Mapping[str, Sequence[str]], tokens: int
) -> tuple[Pair, dict[str, list[int]]]:
    """Return what is measured, and for each model and drafter the bytes of its weights and of a token in its cache.

    Every model is loaded once, whatever uses it.
    """
    known: dict[str, LoadedModel] = {}

    def once(spec: str, setting: str) -> LoadedModel:
        if spec not in known:
            known[spec] = load(spec, setting)
        return known[spec]

    target, pipeline = once(choice.target, "target"), sampling(choice.temperature, choice.top_k, choice.top_p)
    encode = target.tokenizer.chat if choice.chat else target.tokenizer.encode
    ids = {name: [encode(prompt) for prompt in some] for name, some in prompts.items()}
    drafters = {spec: load_drafter(spec, target, pipeline, once) for spec in choice.drafters}
    sizes = {choice.target: list(target.model.size)}
    sizes |= {spec: list(size_of(drafter)) for spec, drafter in drafters.items()}
    return Pair(target.model, drafters, tuple(rules or CHAIN_RULES), pipeline, ids, tokens), sizes
