"""How a plan whose drafter is no model is carried out in public engines. In: drafter, length. Out: the text to add.

The other half is `flags.py`. Where an engine has nothing like it, the text is a comment of the shell that says so.
"""

import json
import re
import shlex
from collections.abc import Mapping

__all__ = ["lookup_texts"]

Text = tuple[str, str]
"""What to add, and what the engine cannot carry out."""
_OWN_LENGTHS = "it chooses the lengths of n-grams and drafts itself"


def lookup_texts(drafter: str, length: int) -> dict[str, Text] | None:
    """Return for each engine what to add and a note; None if the drafter is a model.

    Args:
        drafter: a SPEC, as `ngram:2-4`, `suffix:FILE`, `early_exit:2`, `chain:ngram,suffix`.
        length: the draft length.

    >>> lookup_texts("ngram:2-4", 5)["transformers"][0]
    'do_sample=True, prompt_lookup_num_tokens=5, max_matching_ngram_size=4'
    """
    kind, _, rest = drafter.partition(":")
    if kind == "ngram":
        sizes = re.fullmatch("([0-9]+)-([0-9]+)", rest or "1-4")
        return None if sizes is None else _ngram(sizes[1], sizes[2], length)
    if kind == "suffix":
        return _suffix(length, corpus=bool(rest))
    if kind == "early_exit":
        return _early_exit(rest, length)
    if kind == "chain":
        return {engine: _nothing("chain of drafters") for engine in ("vLLM", "llama.cpp", "transformers")}
    return None


def _ngram(shortest: str, longest: str, length: int) -> dict[str, Text]:
    sizes: dict[str, object] = {"prompt_lookup_min": int(shortest), "prompt_lookup_max": int(longest)}
    return {
        "vLLM": (_config({"method": "ngram", "num_speculative_tokens": length} | sizes), ""),
        "llama.cpp": ("--spec-type ngram-simple", _OWN_LENGTHS),
        "transformers": (
            f"do_sample=True, prompt_lookup_num_tokens={length}, max_matching_ngram_size={longest}",
            "" if shortest == "1" else "it looks up single tokens too",
        ),
    }


def _suffix(length: int, *, corpus: bool) -> dict[str, Text]:
    lost = ["needs arctic-inference", *["reads no file, but what it generated before"] * corpus]
    return {
        "vLLM": (_config({"method": "suffix", "num_speculative_tokens": length}), "; ".join(lost)),
        "llama.cpp": ("--spec-type ngram-mod", f"no suffix tree, but n-grams of all that it read; {_OWN_LENGTHS}"),
        "transformers": _nothing("suffix tree"),
    }


def _early_exit(layers: str, length: int) -> dict[str, Text]:
    setting = f"model.generation_config.num_assistant_tokens = {length}"
    return {
        "vLLM": _nothing("draft by the target's first layers"),
        "llama.cpp": _nothing("draft by the target's first layers"),
        "transformers": (f"do_sample=True, assistant_early_exit={layers}", f"before it, {setting}"),
    }


def _config(config: Mapping[str, object]) -> str:
    return f"--speculative-config {shlex.quote(json.dumps(config))}"


def _nothing(what: str) -> Text:
    return f"# there is no {what}", ""
