"""How fast are real models beside the engines that people use? Qwen2.5-Coder 1.5B and SmolLM2, on code and on copying.

`python benchmarks/real.py [--quick] [--prompts N] [--only WORD] [--again]`, after `real_models.py` fetched the models.
What is finished is not measured again, so `--prompts 20` goes on after 12, and Ctrl-C loses one round. The plan comes
first, from other prompts of the same kind: it says how many tokens each drafter drafts, and what that is to yield.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.status import Status

from draftproof.economics.machine import machine
from draftproof.engine.setup import Models
from real_arms import GREEDY, SAMPLED, Arm, Ours, Sampled, Theirs, module_of
from real_bench import RULE, Bench, short
from real_catalogue import FOLDER, MODELS
from real_overhead import overhead
from real_table import FILE, Group, Table
from real_texts import Asked, asked, edits

CODE_TOKENS, LONG_TOKENS, EDIT_TOKENS = 48, 96, 192
OTHERS = 6
"""Prompts for what is there to compare with."""
ASSISTANT_LENGTHS, LOOKUP_LENGTHS = (2, 3, 4, 5, 6), (5, 10, 16)


def qwen_code(bench: Bench, sampled: Sampled) -> None:
    """Measure code with the 1.5B model in bfloat16, against plain decoding and transformers' assisted generation."""
    name, target = f"Qwen 1.5B bfloat16, code, {sampled.name}", spec("hf", "qwen-1.5b")
    ours, to_plan = Ours(bench.models, target, sampled), asked("code_to_plan")
    quick, slow = bench.speculating(name, ours, qwen_drafters(sampled), to_plan), {}
    if sampled is SAMPLED:
        quick, slow = (
            {arm: one for arm, one in quick.items() if ("gguf" in arm) == wanted} for wanted in (True, False)
        )
    arms = {"transformers": Theirs(ours.module, sampled).plain()} if sampled is SAMPLED else {}
    arms |= {"plain": ours.plain(), **quick, **assisted(bench, name, ours, to_plan)}
    prompts = bench.ids(target, bench.code)
    bench.table.measure(Group(name, arms, prompts, CODE_TOKENS), bench.said)
    if slow:
        arms = {"plain": ours.plain(), **slow, "lookup: 10": Theirs(ours.module, sampled).prompt_lookup(10)}
        predicted = bench.table.facts[f"{name}: predicted"]
        bench.table.facts[f"{name}, others: predicted"] = predicted
        bench.table.measure(Group(f"{name}, others", arms, prompts[:OTHERS], CODE_TOKENS), bench.said)


def longer(bench: Bench) -> None:
    """Measure greedy code twice as long, where reading the prompt weighs less; and draft lengths that adapt."""
    name, target, draft = f"Qwen 1.5B bfloat16, code, {GREEDY.name}", spec("hf", "qwen-1.5b"), spec("gguf", "qwen-0.5b")
    ours, to_plan = Ours(bench.models, target, GREEDY), asked("code_to_plan")
    planned = bench.speculating(name, ours, (draft,), to_plan)
    adaptive = ours.adaptive(draft, RULE, bench.ids(target, to_plan)[0])
    fixed, _ = assisted(bench, name, ours, to_plan).items()
    arms = {"plain": ours.plain(), **planned, f"ours: {short(draft)}, adaptive": adaptive, fixed[0]: fixed[1]}
    predicted, name = bench.table.facts[f"{name}: predicted"], f"{name}, {LONG_TOKENS} tokens"
    bench.table.facts[f"{name}: predicted"] = predicted
    bench.table.measure(Group(name, arms, bench.ids(target, bench.code), LONG_TOKENS), bench.said)


def assisted(bench: Bench, name: str, ours: Ours, to_tune: Sequence[Asked]) -> dict[str, Arm]:
    """Return arms of transformers with the 0.5B model as assistant: at the best fixed length, and by its defaults."""
    theirs, assistant = Theirs(ours.module, ours.sampled), module_of(bench.models, spec("hf", "qwen-0.5b"))
    few = bench.ids(ours.target, to_tune)
    best = bench.tuned(f"{name}, assisted", ASSISTANT_LENGTHS, lambda k: theirs.assisted(assistant, k), few)
    return {f"assisted: K={best}": theirs.assisted(assistant, best), "assisted: default": theirs.assisted(assistant)}


def qwen_drafters(sampled: Sampled) -> tuple[str, ...]:
    """Return what drafts code: the quantised 0.5B model; to compare, once, also the one in bfloat16."""
    return (spec("gguf", "qwen-0.5b"), *[spec("hf", "qwen-0.5b")] * (sampled is SAMPLED))


def copying(bench: Bench, name: str, target: str, *, transformers: bool) -> None:
    """Measure how a file is printed again, greedily, with drafters that look up."""
    ours = Ours(bench.models, target, GREEDY)
    arms = bench.speculating(name, ours, ("ngram", "suffix"), edits()[4:], EDIT_TOKENS)
    arms = {"plain": ours.plain(), **arms}
    if transformers:
        theirs = Theirs(ours.module, GREEDY)
        few = bench.ids(target, edits()[4:])
        best = bench.tuned(f"{name}, lookup", LOOKUP_LENGTHS, theirs.prompt_lookup, few)
        arms |= {f"lookup: {best}": theirs.prompt_lookup(best), "transformers": theirs.plain()}
    bench.table.measure(Group(name, arms, bench.ids(target, bench.copied), EDIT_TOKENS), bench.said)


def looked_up(bench: Bench, name: str, target: str, sampled: Sampled, *, transformers: bool) -> None:
    """Measure code with a small model and `ngram`."""
    ours = Ours(bench.models, target, sampled)
    arms = {"plain": ours.plain(), **bench.speculating(name, ours, ("ngram",), asked("code_to_plan"))}
    if transformers:
        theirs = Theirs(ours.module, sampled)
        arms |= {"transformers": theirs.plain(), "lookup: 10": theirs.prompt_lookup(10)}
    bench.table.measure(Group(name, arms, bench.ids(target, bench.code), CODE_TOKENS), bench.said)


def gguf_target(bench: Bench) -> None:
    """Measure whether the plan is right about a quantised target, which is bound by arithmetic."""
    name, target = f"Qwen 1.5B GGUF Q4, code, {SAMPLED.name}", spec("gguf", "qwen-1.5b")
    ours = Ours(bench.models, target, SAMPLED)
    arms = {"plain": ours.plain()}
    arms |= bench.speculating(name, ours, (spec("gguf", "qwen-0.5b"), "ngram"), asked("code_to_plan"))
    bench.table.measure(Group(name, arms, bench.ids(target, bench.code), CODE_TOKENS), bench.said)


def outside(bench: Bench) -> None:
    """Measure what is no forward pass, with the certificate and without, where the vocabulary has 151,936 tokens."""
    target, draft = spec("hf", "qwen-1.5b"), spec("gguf", "qwen-0.5b")
    for sampled in (SAMPLED, GREEDY):
        ours = Ours(bench.models, target, sampled)
        name = f"Qwen 1.5B bfloat16, code, {sampled.name}"
        length = bench.planned(name, ours, qwen_drafters(sampled), asked("code_to_plan"))[draft]
        prompts = bench.ids(target, bench.code[:4])
        engine = ours.engine(draft, RULE, length)
        bench.said(f"{name}: outside forward passes")
        bench.table.fact(f"{name}: outside forward passes", lambda e=engine, p=prompts: overhead(e, p, CODE_TOKENS))


def questions(bench: Bench) -> dict[str, Callable[[], None]]:
    """Return what is measured, the most wanted first."""
    small = {kind: spec(kind, "smollm2-135m") for kind in ("hf", "gguf")}
    named = {"hf": "SmolLM2 bfloat16", "gguf": "SmolLM2 GGUF Q4"}
    found: dict[str, Callable[[], None]] = {
        "qwen-sampled": lambda: qwen_code(bench, SAMPLED),
        "qwen-greedy": lambda: qwen_code(bench, GREEDY),
        "qwen-longer": lambda: longer(bench),
        "qwen-copy": lambda: copying(
            bench, "Qwen 1.5B bfloat16, copying, greedy", spec("hf", "qwen-1.5b"), transformers=True
        ),
        "overhead": lambda: outside(bench),
        "gguf": lambda: gguf_target(bench),
    }
    for kind, target in small.items():
        hf, name = kind == "hf", named[kind]
        found[f"smollm2-{kind}-code"] = lambda n=name, t=target, hf=hf: looked_up(
            bench, f"{n}, code, {SAMPLED.name}", t, SAMPLED, transformers=hf
        )
        found[f"smollm2-{kind}-copy"] = lambda n=name, t=target, hf=hf: copying(
            bench, f"{n}, copying, greedy", t, transformers=hf
        )
    return found


def spec(kind: str, name: str) -> str:
    """Return how a real model is named here; llama.cpp gets as many threads as torch has."""
    import torch

    (model,) = (one for one in MODELS if one.name == name)
    if kind == "hf":
        return f"hf:{model.folder}?dtype=bfloat16"
    return f"gguf:{model.file}?threads={torch.get_num_threads()}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="4 code prompts and 2 files")
    parser.add_argument("--prompts", type=int, default=12, help="code prompts, 1 to 20")
    parser.add_argument("--only", action="append", metavar="WORD", help="questions whose names begin so")
    parser.add_argument("--again", action="store_true", help="forget what was measured")
    parser.add_argument("--file", type=Path, default=FILE, help="where figures are kept")
    given = parser.parse_args()
    if missing := [str(one.file) for one in MODELS if not (one.file.exists() and one.folder.exists())]:
        sys.exit(f"{missing[0]} or its folder is not there; benchmarks/real_models.py fetches it (into {FOLDER})")
    code, copied = asked("code")[: 4 if given.quick else given.prompts], edits()[: 2 if given.quick else 4]
    table = Table(machine(["hf:", "gguf:"]), given.file, again=given.again)
    with Status("loading", console=Console(stderr=True)) as status:
        bench = Bench(table, Models(), status.update, code, copied)
        try:
            for name, question in questions(bench).items():
                if given.only is None or name.startswith(tuple(given.only)):
                    question()
        except KeyboardInterrupt:
            print("interrupted; the same command goes on")
    for row in table.rows():
        print(f"{row.group}: {row.arm} is {row.ratio:.2f} times as fast as {row.beside}", row.interval)


if __name__ == "__main__":
    main()
