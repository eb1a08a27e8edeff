"""Write the pair as ordinary Hugging Face folders in float16, measure it with the shipped code, and write its card.

In: build/training/{target,draft}.pt and tokenizer.json. Out: src/draftproof/assets.
"""

import shutil
import statistics
import time
from pathlib import Path

import numpy as np
import torch
from transformers import LlamaForCausalLM

import corpus
import pair
from draftproof import Engine, FixedLength, ModelDrafter, PhiloxNoise, Stop, TokenRule, follow, load, sampling
from draftproof.rules.token import expected_acceptance

ASSETS = Path(__file__).resolve().parent.parent / "src" / "draftproof" / "assets"
PROMPTS = ("In the beginning", "And the king said unto", "Blessed are", "")
TEMPERATURES = (0.7, 1.0)
REPEATS = 200


def main() -> None:
    """Export both models and write the card."""
    for name, model in (("target", pair.target()), ("draft", pair.draft())):
        _export(name, model)
    _, held_out = corpus.split(corpus.chapters(pair.WORK))
    (ASSETS / "README.md").write_text(_card(held_out))


def _export(name: str, model: LlamaForCausalLM) -> None:
    folder = ASSETS / name
    model.load_state_dict(torch.load(pair.WORK / f"{name}.pt", weights_only=True)["model"])
    model.half().save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    (folder / "model.safetensors").chmod(0o644)
    shutil.copy(pair.WORK / "tokenizer.json", folder / "tokenizer.json")


def _card(held_out: list[str]) -> str:
    target, tokenizer = load("tiny:target", "target")
    draft, _ = load("tiny:draft", "drafter")
    losses, overlaps = _held_out(target, draft, tokenizer, held_out)
    step = {name: _seconds_per_step(model) for name, model in (("target", target), ("draft", draft))}
    sizes = {name: _parameters(name) for name in step}
    samples = "\n\n".join(
        _sample(target, draft, tokenizer, prompt, temperature) for temperature in TEMPERATURES for prompt in PROMPTS
    )
    megabytes = sum(file.stat().st_size for file in ASSETS.rglob("*.safetensors")) / 1e6
    template = (Path(__file__).parent / "card.md").read_text()
    return template.format(
        target_parameters=f"{sizes['target']:,}",
        draft_parameters=f"{sizes['draft']:,}",
        share=f"{sizes['draft'] / sizes['target']:.3f}",
        megabytes=f"{megabytes:.1f}",
        chapters=len(held_out),
        positions=f"{len(overlaps):,}",
        target_loss=f"{losses['target']:.3f}",
        draft_loss=f"{losses['draft']:.3f}",
        overlap=f"{np.mean(overlaps):.3f}",
        cost_ratio=f"{step['draft'] / step['target']:.3f}",
        target_ms=f"{step['target'] * 1e3:.2f}",
        draft_ms=f"{step['draft'] * 1e3:.2f}",
        samples=samples,
    )


def _held_out(target, draft, tokenizer, chapters):  # noqa: ANN001, ANN202
    """Return the mean losses in nats a token, and sum min(p, q) at temperature 1 for every position."""
    warp, losses, overlaps = sampling(1.0), {"target": [], "draft": []}, []
    for chapter in chapters:
        ids = [*tokenizer.encode(chapter), *tokenizer.eos][: pair.CONTEXT]
        laws = {}
        for name, model in (("target", target), ("draft", draft)):
            laws[name] = warp.laws(model.fresh().extend(ids[:-1]), "logits")
            losses[name].extend(-np.log(laws[name][np.arange(len(ids) - 1), ids[1:]]))
        overlaps.extend(expected_acceptance(laws["target"], laws["draft"]))
    return {name: float(np.mean(found)) for name, found in losses.items()}, overlaps


def _seconds_per_step(model) -> float:  # noqa: ANN001
    model = model.fresh()
    model.extend([5] * 128)
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        model.extend([7])
        times.append(time.perf_counter() - began)
        model.rewind(128)
    return statistics.median(times)


def _parameters(name: str) -> int:
    model = pair.target() if name == "target" else pair.draft()
    return sum(weight.numel() for weight in model.parameters())


def _sample(target, draft, tokenizer, prompt: str, temperature: float) -> str:  # noqa: ANN001
    pipeline = sampling(temperature)
    engine = Engine(target, ModelDrafter(draft, pipeline), TokenRule(), pipeline, FixedLength(3))
    ids = tokenizer.encode(prompt)
    stop = Stop(110, target.context_limit, tokenizer.eos)
    text = tokenizer.decode(follow(engine.decode(ids, stop, PhiloxNoise(0)), ids).token_ids)
    return "\n".join(f"> {line}" for line in f"{f'**{prompt}**' if prompt else ''}{text}".splitlines())


if __name__ == "__main__":
    main()
