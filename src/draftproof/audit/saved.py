"""An audit on disk, so that it goes on after Ctrl-C where it was. In: its state. Out: the same, when asked again.

The file is found by everything that the result depends on; with another seed, pair or setting it is another audit.
"""

import hashlib
import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from draftproof.audit.environments import cache_folder
from draftproof.audit.options import Options
from draftproof.audit.pair import Pair
from draftproof.economics.machine import digest
from draftproof.models.catalogue import fingerprint

__all__ = ["Saved"]

AIMS = ("eps", "max_tokens_total")
"""An audit may go on towards another one."""


@dataclass(frozen=True)
class Saved:
    """Where an audit is kept while it is not over."""

    path: Path

    @classmethod
    def of(cls, options: Options, pair: Pair) -> Self:
        """Return the place of an audit."""
        facts = {name: value for name, value in options.to_json().items() if name not in AIMS}
        facts |= {"pair": vars(pair), "version": version("draftproof")}
        if options.prompts is not None:
            facts["prompts"] = hashlib.sha256(options.prompts.read_bytes()).hexdigest()
        if pair.reference:
            facts["model"] = fingerprint(pair.reference, "reference")
        return cls(cache_folder() / "audits" / f"{digest(facts)}.json")

    def read(self) -> dict[str, Any]:
        """Return the state as it was left; nothing if there is none, or its file is damaged."""
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def write(self, state: dict[str, Any]) -> None:
        """Keep a state; a file is there whole or not at all."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(state), encoding="utf-8")
        part.replace(self.path)

    def forget(self) -> None:
        """The audit is over."""
        self.path.unlink(missing_ok=True)
