"""What a GGUF model will take in memory, before any of it is taken. In: the fields of its file. Out: a `Plan`.

It must never load a weight.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from draftproof.errors import UsageError
from draftproof.models.gguf.header import Fields, read_fields
from draftproof.models.gguf.spec import CACHES, GgufSpec

__all__ = ["Plan", "plan_of"]

DEFAULT_CONTEXT = 4096


@dataclass(frozen=True)
class Plan:
    """The size of a model and of its texts."""

    architecture: str
    limit: int
    """The most tokens of a text."""
    per_token: int
    """Bytes that each takes in the cache."""
    weights: int
    """Bytes of the files."""

    @property
    def parts(self) -> Mapping[str, int]:
        """Planned bytes, by what they are for."""
        return {"weights": self.weights, f"a cache of {self.limit} tokens": self.limit * self.per_token}


def plan_of(files: list[Path], spec: GgufSpec) -> Plan:
    """Plan a model.

    Raises:
        UsageError: if the file is damaged, has no tokenizer, or the context is longer than the model was trained for.
    """
    fields = read_fields(files[0], lambda key: not key.startswith("tokenizer.") or key == "tokenizer.ggml.model")
    architecture = fields.get("general.architecture")
    if not isinstance(architecture, str):
        raise UsageError(f"{files[0]} names no architecture; it is no language model")
    if fields.get("tokenizer.ggml.model", "none") in {"none", "no_vocab"}:
        raise UsageError(f"{files[0]} has no tokenizer in it, so no text can be read; convert the model again with one")
    trained = fields.get(f"{architecture}.context_length")
    if not isinstance(trained, int) or trained < 1:
        raise UsageError(f"{files[0]} does not say how long a text of it may be ({architecture}.context_length)")
    if spec.context is not None and spec.context > trained:
        raise UsageError(f"context is {spec.context}; allowed are 1 to {trained}, which the model was trained for")
    limit = spec.context or min(trained, DEFAULT_CONTEXT)
    weights = sum(path.stat().st_size for path in files)
    return Plan(architecture, limit, _per_token(fields, architecture) * CACHES[spec.cache], weights)


def _per_token(fields: Fields, architecture: str) -> int:
    """Return how many numbers the keys and values of a token are."""

    def field(name: str) -> Any:
        return fields.get(f"{architecture}.{name}")

    layers, heads = field("block_count") or 0, field("attention.head_count") or 0
    kv_heads = field("attention.head_count_kv")
    kv_heads = heads if kv_heads is None else kv_heads
    each = kv_heads if isinstance(kv_heads, list) else [kv_heads] * layers
    most = max(heads) if isinstance(heads, list) else heads
    head = (field("embedding_length") or 0) // most if most else 0
    sizes = (field("attention.key_length") or head) + (field("attention.value_length") or head)
    return sum(each) * sizes
