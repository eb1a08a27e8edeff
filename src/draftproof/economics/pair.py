"""What is measured: a target, drafters, rules, prompts by workload, and how long a text is.

In: the parts of engines. Out: engines as `generate` would run them. It refuses what could give no interval.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from draftproof.drafters.base import Drafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.errors import UsageError
from draftproof.models.base import Model
from draftproof.rules.catalogue import CHAIN_RULES
from draftproof.types import Tokens
from draftproof.warpers.pipeline import Pipeline

__all__ = ["FEWEST_ROUNDS", "LONGEST", "Pair"]

LONGEST = 16
"""The longest block that is measured: passes of 1 to 17 rows."""
FEWEST_ROUNDS = 4
FEWEST_PROMPTS = 4
"""Fewer rounds or prompts leave no spread to tell an interval from."""
FEWEST_TOKENS = 64
"""In shorter texts too few passes are left that do not read the prompt, where 17 tokens are emitted in one."""


@dataclass(frozen=True)
class Pair:
    """A target and what may draft for it.

    Args:
        target: its law is what every text has.
        drafters: by SPEC.
        rules: names of chain rules.
        pipeline: the warpers of the target; drafters have theirs.
        prompts: token ids, by workload.
        tokens: how long a text is after its prompt; end of sequence does not end it, so that all are equally long.
    """

    target: Model
    drafters: Mapping[str, Drafter]
    rules: Sequence[str]
    pipeline: Pipeline
    prompts: Mapping[str, Sequence[Tokens]]
    tokens: int

    def engine(self, drafter: str, rule: str, length: int) -> Engine:
        """Return the engine that `generate` would run; for the coupled rule with a target whose rows are steady."""
        target = self.target.steady() if rule == "coupled" else self.target
        return Engine(target, self.drafters[drafter], CHAIN_RULES[rule], self.pipeline, FixedLength(length))

    def check(self, rounds: int) -> None:
        """Refuse what gives no interval or does not fit the context.

        Raises:
            UsageError: it names the setting: rules, rounds, prompts, max_tokens.
        """
        if unknown := [rule for rule in self.rules if rule not in CHAIN_RULES]:
            raise UsageError(f"got {unknown[0]!r}; allowed are {', '.join(CHAIN_RULES)}", "rule")
        if rounds < FEWEST_ROUNDS:
            raise UsageError(f"got {rounds}; an interval needs {FEWEST_ROUNDS} or more", "rounds")
        if self.tokens < FEWEST_TOKENS:
            raise UsageError(f"got {self.tokens}; allowed are whole numbers from {FEWEST_TOKENS} up", "max_tokens")
        for workload, prompts in self.prompts.items():
            if len(prompts) < FEWEST_PROMPTS:
                few = f"{workload} has {len(prompts)} prompts; an interval needs {FEWEST_PROMPTS} or more"
                raise UsageError(few, "prompts")
            room = self.target.context_limit - max(map(len, prompts)) - LONGEST - 1
            if self.tokens > room:
                raise UsageError(f"got {self.tokens}; beside the prompts of {workload} {room} fit", "max_tokens")
