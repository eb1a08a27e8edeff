"""Grammars for tests: on the embedded tokenizer, whose tokens are spelt out here."""

import json
from pathlib import Path

from tokenizers import Tokenizer

import draftproof
from draftproof.warpers import grammar as room

JSON = (Path(draftproof.__file__).parent / "assets" / "target" / "tokenizer.json").read_text()
BACKEND = Tokenizer.from_str(JSON)
VOCABULARY = json.loads(JSON)["model"]["vocab"]
V, EOS = len(VOCABULARY), 1


def grammar(kind, text, eos=(EOS,)):
    return room.grammar(kind, text, JSON, eos)


def decode(ids):
    return BACKEND.decode(list(ids), skip_special_tokens=True)
