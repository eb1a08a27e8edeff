"""An audit on disk, so that it goes on after Ctrl-C where it was. In: both arms. Out: the same, when asked again.

The file is found by everything that the result depends on; with another seed, pair or setting it is another audit.
"""

import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from draftproof.audit.arm import Arm
from draftproof.audit.environments import cache_folder
from draftproof.audit.greedy import Greedy
from draftproof.audit.judgement import CONTROL, SPECULATIVE, Judgement
from draftproof.audit.options import Options
from draftproof.audit.pair import Pair
from draftproof.audit.sampled import Sampled
from draftproof.economics.machine import digest
from draftproof.models.catalogue import fingerprint

__all__ = ["Saved"]

LEVEL = 1e-4
"""Log-probabilities of two implementations in float32 differ by 1e-5; ten times that is level."""
NAMES = {CONTROL: "control", SPECULATIVE: "speculative"}


@dataclass(frozen=True)
class Saved:
    """Where an audit is kept while it is not over."""

    path: Path
    greedy: bool
    """Whether the temperature is 0."""
    numerics: float
    """How far these may move a score."""

    @classmethod
    def of(cls, options: Options, pair: Pair) -> Self:
        """Return the place of an audit."""
        facts = options.to_json() | {
            "pair": vars(pair),
            "model": fingerprint(pair.reference, "reference"),
            "version": version("draftproof"),
        }
        for name in ("eps", "max_tokens_total"):  # an audit may go on towards another aim
            facts.pop(name)
        numerics = max(options.eta, LEVEL)
        return cls(cache_folder() / "audits" / f"{digest(facts)}.json", options.greedy, numerics)

    def arms(self, delta: float) -> dict[str, Arm]:
        """Return both arms as they were left; new ones if there is no such audit, or its file is damaged."""
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
            return {
                name: Arm.from_json(found[name], greedy=self.greedy) if found[name] else self._new(delta)
                for name in NAMES
            }
        except (OSError, ValueError, KeyError, TypeError):
            return {name: self._new(delta) for name in NAMES}

    def write(self, judgement: Judgement) -> None:
        """Keep both arms; a file is there whole or not at all."""
        arms: dict[str, Any] = {
            name: None if (arm := getattr(judgement, NAMES[name])) is None else arm.to_json() for name in NAMES
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(arms), encoding="utf-8")
        part.replace(self.path)

    def _new(self, delta: float) -> Arm:
        return Arm(Greedy(self.numerics) if self.greedy else Sampled(), delta)

    def forget(self) -> None:
        """The audit is over."""
        self.path.unlink(missing_ok=True)
