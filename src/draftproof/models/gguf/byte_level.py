"""tokenizer.json of a byte-level tokenizer (gpt2 and its kin), from the fields of a GGUF file. In: a path. Out: JSON.

A GGUF file names the way its texts are cut into words, and does not hold it: the ways known here are below. What is
built is used only if it encodes sample texts as llama.cpp does. It must never be used to encode a prompt.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from draftproof.errors import UsageError
from draftproof.models.gguf.header import Fields, read_fields
from draftproof.models.gguf.pieces import Pieces

__all__ = ["tokenizer_json"]

SAMPLES = (
    "The year 2026, isn't it? 1234567.89 + x_y",
    "def f(a, b):\n    return {'k': [a, *b]}  # done\n\n\t\tpass\r\n",
    (
        "Gr\N{LATIN SMALL LETTER U WITH DIAERESIS}\N{LATIN SMALL LETTER SHARP S}e, \N{SNOWMAN}\N{GRINNING FACE}!"
        "  \N{CJK UNIFIED IDEOGRAPH-4E2D}\N{CJK UNIFIED IDEOGRAPH-6587} we'LL   SEE..."
    ),
    '{"name": "A b", "n": -12.5e3, "l": [true, null]}',
)
NORMAL, CONTROL, DEFINED = 1, 3, 4
"""Kinds of tokens, by their number in the file. llama.cpp's own view is wider: it has `</s>` for a sign everywhere."""
_ONE_DIGIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_SPLITS = {"qwen2": _ONE_DIGIT, "llama-bpe": _ONE_DIGIT.replace(r"\p{N}|", r"\p{N}{1,3}|", 1)}
_PLAIN = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
_DIGITS = {"type": "Digits", "individual_digits": True}


def tokenizer_json(path: Path, pieces: Pieces) -> str:
    """Return tokenizer.json, as text.

    Args:
        path: the file.
        pieces: its tokens in llama.cpp, which the result is checked against.

    Raises:
        UsageError: if the tokenizer is of a kind that is not known here.
    """
    wanted = {f"tokenizer.ggml.{name}" for name in ("model", "pre", "merges", "token_type")}
    fields = read_fields(path, wanted.__contains__)
    kind, way = fields.get("tokenizer.ggml.model"), fields.get("tokenizer.ggml.pre", "gpt-2")
    if kind != "gpt2" or way not in {*_SPLITS, "gpt-2", "smollm"}:
        raise UsageError(
            f"this file's tokenizer is {kind} with words cut as {way}; tokenizer.json can be made of gpt2 with"
            f" {', '.join(sorted({*_SPLITS, 'gpt-2', 'smollm'}))} only; take the model as hf:PATH for grammars"
        )
    text = json.dumps(_built(fields, way, pieces.names))
    made = Tokenizer.from_str(text)
    for sample in SAMPLES:
        if made.encode(sample, add_special_tokens=False).ids != pieces.ids(sample.encode()):
            raise UsageError(f"tokenizer.json made of this file would encode {sample!r} differently; take hf:PATH")
    return text


def _built(fields: Fields, way: str, names: Mapping[str, int]) -> dict[str, Any]:
    kinds = fields.get("tokenizer.ggml.token_type", [])
    words, added = dict[str, int](), list[dict[str, Any]]()
    for name, token in names.items():
        kind = kinds[token] if token < len(kinds) else NORMAL
        if kind in {CONTROL, DEFINED}:
            added.append({"id": token, "content": name, "special": kind == CONTROL} | _EXACT)
        else:
            words[name] = token
    return {
        "version": "1.0",
        "added_tokens": added,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": _cut(way)},
        "decoder": _PLAIN,
        "model": {
            "type": "BPE",
            "vocab": words,
            "merges": fields.get("tokenizer.ggml.merges", []),
            "ignore_merges": way == "llama-bpe",
        },
    }


_EXACT = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}


def _cut(way: str) -> list[dict[str, Any]]:
    if way in _SPLITS:
        split = {"type": "Split", "pattern": {"Regex": _SPLITS[way]}, "behavior": "Isolated", "invert": False}
        return [split, _PLAIN | {"use_regex": False}]
    return [_DIGITS, _PLAIN] if way == "smollm" else [_PLAIN]
