"""What every question about real models needs: models, the table, plans and tuned lengths, each found out once.

In: drafters and prompts. Out: arms. The plan is made as `draftproof plan` makes it, from prompts that are not measured.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from draftproof.economics.measure import measure
from draftproof.economics.pair import Pair
from draftproof.economics.plan import plans_measured
from draftproof.engine.setup import Models
from real_arms import Ours
from real_table import Table
from real_texts import Asked

RULE, ROUNDS, PLANNED_TOKENS, SEED = "block", 4, 64, 7
TUNED_ON, TUNED_TOKENS = 3, 32


@dataclass(frozen=True)
class Bench:
    """Everything a question needs."""

    table: Table
    models: Models
    said: Callable[[str], None]
    code: Sequence[Asked]
    copied: Sequence[Asked]

    def ids(self, target: str, texts: Sequence[Asked]) -> list[list[int]]:
        tokenizer = self.models.load(target, "target").tokenizer
        return [tokenizer.chat(one.text) if one.chat else tokenizer.encode(one.text) for one in texts]

    def planned(
        self, name: str, ours: Ours, drafters: Sequence[str], texts: Sequence[Asked], tokens: int = PLANNED_TOKENS
    ) -> dict[str, int]:
        """Return the draft length of each drafter by the plan for texts so long; what it predicts is kept beside."""

        def found():
            prompts = {"prompts": self.ids(ours.target, texts)}
            target = self.models.load(ours.target, "target").model
            made = {spec: ours.drafter(spec) for spec in drafters}
            pair = Pair(target, made, (RULE,), ours.sampled.pipeline, prompts, tokens)
            samples = measure(pair, ROUNDS, SEED, lambda what: self.said(f"{name}: planning, {what}"))
            (plan,) = plans_measured(samples)
            said = plan.to_json()
            for one in (said, *said["candidates"]):
                one["drafter"] = short(one["drafter"])
            return said

        plan = self.table.fact(f"{name}: plan", found)
        by_name = {one["drafter"]: one for one in plan["candidates"]}
        said = {spec: by_name[short(spec)] for spec in drafters}
        predicted = {arm(spec, one): [one["speedup"], *one["interval"]] for spec, one in said.items()}
        self.table.facts[f"{name}: predicted"] = predicted
        return {spec: one["num_speculative_tokens"] for spec, one in said.items()}

    def tuned(self, name: str, lengths: Sequence[int], arm_of: Callable, prompts: Sequence[Sequence[int]]) -> int:
        """Return the length that is fastest on a few other prompts, all lengths taking turns."""

        def found():
            arms = {length: arm_of(length) for length in lengths}
            spent = dict.fromkeys(lengths, 0.0)
            for i, prompt in enumerate(prompts[:TUNED_ON]):
                for length, one in arms.items():
                    self.said(f"{name}: {length} tokens, text {i + 1}")
                    spent[length] += one(prompt, TUNED_TOKENS, i).seconds
            return min(lengths, key=spent.__getitem__)

        return self.table.fact(f"{name}: best fixed length", found)

    def speculating(
        self, name: str, ours: Ours, drafters: Sequence[str], texts: Sequence[Asked], tokens: int = PLANNED_TOKENS
    ) -> dict:
        """Return an arm for each drafter at its planned length."""
        lengths = self.planned(name, ours, drafters, texts, tokens)
        return {arm(s, {"num_speculative_tokens": k}): ours.speculative(s, RULE, k) for s, k in lengths.items()}


def short(spec: str | None) -> str | None:
    """Return a drafter without paths; the length that is fastest may be that of none."""
    if spec is None:
        return None
    kind, _, name = spec.partition(":")
    return f"{kind} {name.rpartition('/')[2].partition('?')[0].partition('-q')[0].removesuffix('.gguf')}".strip()


def arm(spec: str, candidate: dict) -> str:
    """Return the name of an arm."""
    return f"ours: {short(spec)}, K={candidate['num_speculative_tokens']}"
