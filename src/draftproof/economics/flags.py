"""How a plan is carried out in public engines. In: rule, draft model, draft length. Out: the text to add to each.

It never knows how the plan was found, nor whether an engine is installed: it writes text and imports no engine.
The names are those of vLLM 0.33, of llama.cpp from build 11368 on, and of transformers 5.24.
"""

import json
import shlex
from dataclasses import dataclass
from pathlib import Path

from draftproof.economics.lookup_flags import lookup_texts
from draftproof.errors import UsageError

__all__ = ["Command", "commands"]

_RULES = ("token", "block", "match", "coupled")
_EMBEDDED = ("", "DRAFT", "target", "draft")
_FOLDER, _GGUF = "DRAFT_MODEL", "DRAFT.gguf"
_LOST = {
    "block": "no block rule: the token rule instead, which keeps at most as many tokens on average",
    "match": "no match rule: the token rule instead, which keeps at least as many tokens on average",
    "coupled": "no coupled rule: the token rule instead, so a seed does not give the text it gives without a draft",
}
"""For each rule that an engine may lack, what happens instead. All of them emit the target's law."""
_RUNNER = "only model runner V2 has the block rule; where vLLM takes the older runner, it is the token rule instead"
_ARGMAX = "drafts the draft model's most probable token, not a sample of it, so it keeps another share of the tokens"


@dataclass(frozen=True)
class Command:
    """What to add to one engine so that it carries out a plan.

    Args:
        engine: `vLLM`, `llama.cpp` or `transformers`.
        text: flags of the command line or, for transformers, keyword arguments of `generate`. Where nothing is to be
            added, a comment of the shell that says what to leave out.
        note: empty, or the part of the plan that the engine cannot carry out and what it does instead.
    """

    engine: str
    text: str
    note: str


def commands(rule: str, drafter: str, num_speculative_tokens: int) -> tuple[Command, ...]:
    """Return what to add to vLLM, llama.cpp and transformers, in this order.

    Args:
        rule: `token`, `block`, `match` or `coupled`.
        drafter: `tiny:PATH`, `hf:NAME`, `gguf:PATH`, a drafter without a model, a path, or a name of the hub.
            `tiny:draft`, `DRAFT` and a file of another format than the engine reads give a placeholder: `DRAFT_MODEL`,
            or `DRAFT.gguf` for llama.cpp.
        num_speculative_tokens: the draft length, the same in every pass; 0 for no speculation.

    Raises:
        UsageError: if the rule or the length is none of these.

    >>> commands("token", "small.gguf", 4)[1].text.partition(" --spec-draft-n-max")[0]
    '--spec-type draft-simple --spec-draft-model small.gguf'
    """
    if rule not in _RULES:
        raise UsageError(f"got {rule!r}; allowed are {', '.join(_RULES)}", "rule")
    if num_speculative_tokens < 0:
        raise UsageError(
            f"got {num_speculative_tokens}; allowed are whole numbers from 0 up (0 = plain decoding)",
            "num_speculative_tokens",
        )
    if num_speculative_tokens == 0 or drafter == "none":
        return (
            Command("vLLM", "# leave out --speculative-config", ""),
            Command("llama.cpp", "# leave out --spec-type and --spec-draft-model", ""),
            Command("transformers", "assistant_model=None", ""),
        )
    if texts := lookup_texts(drafter, num_speculative_tokens):
        return tuple(_looked_up(rule, engine, *text) for engine, text in texts.items())
    folder, gguf = _models(drafter)
    return (
        _vllm(rule, folder, num_speculative_tokens),
        _llama_cpp(rule, gguf, num_speculative_tokens),
        _transformers(rule, folder, num_speculative_tokens),
    )


def _models(drafter: str) -> tuple[str, str]:
    """Return the draft model as a folder or hub name, and as a GGUF file; placeholders where it is not one."""
    kind, colon, rest = drafter.partition(":")
    name = rest.partition("?")[0] if colon and kind in {"hf", "gguf"} else drafter.removeprefix("tiny:")
    if name in _EMBEDDED:
        return _FOLDER, _GGUF
    if name.startswith("~"):  # inside quotes no shell would expand it
        name = str(Path(name).expanduser())
    return (_FOLDER, name) if name.lower().endswith(".gguf") else (name, _GGUF)


def _looked_up(rule: str, engine: str, text: str, note: str) -> Command:
    """Return the command of an engine whose draft is no model: what it has to draw is certain, so it has one rule."""
    lost = "" if text.startswith("#") else _LOST.get(rule, "")
    return Command(engine, text, "; ".join(part for part in (note, lost) if part))


def _vllm(rule: str, model: str, length: int) -> Command:
    config = {
        "method": "draft_model",
        "model": model,
        "num_speculative_tokens": length,
        "rejection_sample_method": "block" if rule == "block" else "standard",
        # The default, greedy, would draft the most probable token and take its law for one-hot.
        "draft_sample_method": "probabilistic",
    }
    text = f"--speculative-config {shlex.quote(json.dumps(config))}"
    return Command("vLLM", text, _RUNNER if rule == "block" else _LOST.get(rule, ""))


def _llama_cpp(rule: str, model: str, length: int) -> Command:
    flags = {
        # Without a type, the draft model is loaded and not used.
        "--spec-type": "draft-simple",
        "--spec-draft-model": model,
        "--spec-draft-n-max": str(length),
        # Neither throw away a short draft nor end one early.
        "--spec-draft-n-min": "0",
        "--spec-draft-p-min": "0",
        "--spec-draft-sampling": "greedy" if rule == "match" else "probabilistic",
    }
    text = shlex.join(word for flag in flags.items() for word in flag)
    return Command("llama.cpp", text, _ARGMAX if rule == "match" else _LOST.get(rule, ""))


def _transformers(rule: str, model: str, length: int) -> Command:
    # Given to generate itself these three are ignored: it reads them from the draft model's own configuration.
    settings = {
        "num_assistant_tokens": length,
        "num_assistant_tokens_schedule": "constant",
        "assistant_confidence_threshold": 0.0,
    }
    config = ", ".join(f"{name}={value!r}" for name, value in settings.items())
    draft = f"AutoModelForCausalLM.from_pretrained({model!r}, generation_config=GenerationConfig({config}))"
    return Command("transformers", f"do_sample=True, assistant_model={draft}", _LOST.get(rule, ""))
