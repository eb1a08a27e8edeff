"""Which numerics differ, and by how much: the same text read in other pieces, in company, padded, and steady."""

import statistics
import sys
from pathlib import Path

import numpy as np

from draftproof import load
from draftproof.errors import DraftproofError
from draftproof.models.base import BatchModel, Read
from draftproof.witness.rounding import row_gaps
from measuring import save
from real_catalogue import FOLDER

PROMPT = 'def is_prime(n: int) -> bool:\n    """Return whether n is a prime number."""\n'
TOKENS, BLOCK = 24, 5
PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "numerics.md"
BEGIN, END = "<!-- measured by benchmarks/numerics.py -->\n", "<!-- end -->"
SPECS = {
    "embedded target": "tiny:target",
    "embedded draft": "tiny:draft",
    "SmolLM2-135M hf float32": f"hf:{FOLDER}/smollm2-135m?dtype=float32",
    "SmolLM2-135M hf bfloat16": f"hf:{FOLDER}/smollm2-135m?dtype=bfloat16",
    "SmolLM2-135M gguf Q4_1": f"gguf:{FOLDER}/smollm2-135m-q4_1.gguf?threads=1",
    "SmolLM2-135M gguf Q4_1, cache f32": f"gguf:{FOLDER}/smollm2-135m-q4_1.gguf?threads=1&cache=f32",
    "Qwen2.5-Coder-0.5B hf bfloat16": f"hf:{FOLDER}/qwen-0.5b?dtype=bfloat16",
    "Qwen2.5-Coder-0.5B gguf Q4_K_M": f"gguf:{FOLDER}/qwen-0.5b-q4_k_m.gguf?threads=1",
    "Qwen2.5-Coder-1.5B hf bfloat16": f"hf:{FOLDER}/qwen-1.5b?dtype=bfloat16",
    "Qwen2.5-Coder-1.5B gguf Q4_K_M": f"gguf:{FOLDER}/qwen-1.5b-q4_k_m.gguf?threads=1",
}
FIGURES = ("logit gap, median", "logit gap, largest", "law gap, median", "law gap, largest", "row gap, largest")


def in_pieces(model, text, prompt, size):
    """Return the rows of the tokens after the prompt, which is read at once, `size` tokens at a time."""
    model = model.fresh()
    model.extend(text[:prompt], 1)
    return np.concatenate([host(model.extend(text[at : at + size])) for at in range(prompt, len(text), size)])


def in_company(model, text, prompt):
    """Return the rows of the tokens after the prompt, read one at a time beside two other texts."""
    texts = [text, text[::-1], text[1:] + text[:1]]
    models = [model.fresh() for _ in texts]
    for one, ids in zip(models, texts, strict=True):
        one.extend(ids[:prompt], 1)
    found = []
    for at in range(prompt, len(text)):
        reads = [Read(one, ids[at : at + 1]) for one, ids in zip(models, texts, strict=True)]
        found.append(host(models[0].read_together(reads)[0]))
    return np.concatenate(found)


def host(rows):
    """Return rows as an array of NumPy."""
    return rows if isinstance(rows, np.ndarray) else rows.cpu().numpy()


def laws(rows):
    """Return the laws at temperature 1."""
    weights = np.exp(rows.astype(np.float64) - rows.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def gaps(one, other):
    """Return how far two readings lie apart."""
    logits, chances = np.abs(one - other).max(axis=-1), np.abs(laws(one) - laws(other)).max(axis=-1)
    some = statistics.median(logits), max(logits), statistics.median(chances), max(chances), max(row_gaps(one, other))
    return dict(zip(FIGURES, map(float, some), strict=True))


def padded(model):
    """Return the model with a single row read alone, and in company of an idle one; None if it has no such choice."""
    module = getattr(getattr(model, "family", None), "module", None)
    if module is None:
        return None
    from draftproof.models.hf.model import model_of

    return [model_of(module, pad_rows=pads) for pads in (False, True)]


def compared(model, prompt, text):
    """Return for each way of reading how far its rows are from another."""
    count = len(text) - prompt
    once, alone = host(model.fresh().extend(text, count)), in_pieces(model, text, prompt, 1)
    blocks = in_pieces(model, text, prompt, BLOCK)
    found = {"one by one / at once": gaps(alone, once), f"blocks of {BLOCK} / at once": gaps(blocks, once)}
    found[f"one by one / blocks of {BLOCK}"] = gaps(alone, blocks)
    if (pair := padded(model)) is not None:
        found["padded to two rows / one row"] = gaps(*(in_pieces(one, text, prompt, 1) for one in pair))
    if isinstance(model, BatchModel):
        found["beside two texts / alone"] = gaps(in_company(model, text, prompt), alone)
    try:
        steady = model.steady()
        found["steady: one by one / at once"] = gaps(
            in_pieces(steady, text, prompt, 1), host(steady.fresh().extend(text, count))
        )
    except DraftproofError as error:
        print(f"  no steady model: {error}")
    return found


def measured(spec):
    """Return what is found of a model, on a text that it writes itself at temperature 0."""
    model, tokenizer = load(spec, "target")
    text = tokenizer.encode(PROMPT)
    prompt, writer, unread = len(text), model.fresh(), text
    while len(text) < prompt + TOKENS:
        row = host(writer.extend(unread, 1))[-1]
        unread = [int(row.argmax())]
        text = [*text, *unread]
    return compared(model, prompt, text)


def table(values):
    """Return the measured figures as a table."""
    head = ["model", "read", *FIGURES]
    rows = list(dict.fromkeys(key.rpartition(": ")[0] for key in values))
    lines = [f"| {' | '.join(head)} |", "|---|---|" + "---:|" * len(FIGURES)]
    for row in rows:
        name, _, read = row.partition("; ")
        lines.append(
            f"| {name} | {read} | " + " | ".join(f"{values[f'{row}: {figure}']:.2g}" for figure in FIGURES) + " |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure the models that are there, or those whose name has a word of the command line in it."""
    values = {}
    for name, spec in SPECS.items():
        path = Path(spec.partition(":")[2].partition("?")[0])
        if (path.is_absolute() and not path.exists()) or not any(word in name for word in sys.argv[1:] or [""]):
            continue
        print(name, flush=True)
        for read, figures in measured(spec).items():
            values |= {f"{name}; {read}: {figure}": value for figure, value in figures.items()}
    largest = {key: value for key, value in values.items() if key.endswith("law gap, largest")}
    save("Which numerics differ, and by how much?", largest, "numerics", values)
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(before + BEGIN + "\n" + table(values) + "\n" + END + rest.partition(END)[2])


if __name__ == "__main__":
    main()
