"""Engines for audits, as a user would write them: right ones, and ones with one thing wrong each.

They run in processes of their own, which find this file in their working folder.
"""

import os
import time
from functools import cache, partial

import numpy as np

from draftproof import load, sampling
from draftproof.types import Text

NAMES = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty", "presence_penalty", "frequency_penalty")


def _residual(p, q):
    return np.maximum(p - q, 0)


def engine(
    prompt, seed, length, speculative, target, drafter, num_speculative_tokens,
    temperature, top_k, top_p, min_p, repetition_penalty, presence_penalty, frequency_penalty,
    residual=_residual, bonus=None, ignored=(), swapped=False, logprobs=None, drafts=True, scale=1.0, leak=0.0,
    secret=0.0,
):  # fmt: skip
    """Sample `length` tokens; what follows the settings is what is wrong."""
    given = locals()
    settings = {name: given[name] for name in NAMES if name not in ignored}
    pipeline = sampling(**settings | ({"top_k": int(top_k)} if "top_k" in settings else {}))
    models = [_model(drafter if swapped else target), _model(drafter)]
    random, text, rounds, told = np.random.default_rng(seed), list(prompt), [], []
    most = num_speculative_tokens if speculative and drafts else 0

    def law(model, words, rows):
        scores = scale * model.fresh().extend(words, rows).astype(float)
        texts = [words[: len(words) - rows + 1 + i] for i in range(rows)]
        laws = pipeline.laws(scores, "logits", [Text(one, len(prompt)) for one in texts])
        return _twisted(laws, texts, secret) if secret and most and model is models[0] else laws

    while len(text) < len(prompt) + length:
        drafted, laws = [], []
        for _ in range(most):
            laws.append(law(models[1], [*text, *drafted], 1)[0])
            drafted.append(int(random.choice(len(laws[-1]), p=laws[-1])))
        rows = law(models[0], [*text, *drafted], most + 1)
        kept = 0
        while kept < most and (
            random.random() * laws[kept][drafted[kept]] < rows[kept][drafted[kept]] or random.random() < leak
        ):
            kept += 1
        last = residual(rows[kept], laws[kept]) if kept < most else bonus(rows, laws) if bonus and most else rows[kept]
        emitted = [*drafted[:kept], int(random.choice(len(last), p=last / last.sum()))]
        emitted = emitted[: len(prompt) + length - len(text)]
        told += [float(np.log(rows[i][token])) for i, token in enumerate(emitted)]
        text += emitted
        rounds.append([most, len(emitted)])
    return {"tokens": text[len(prompt) :], "rounds": rounds, "logprobs": logprobs(told) if logprobs else told}


right = partial(engine)
leaves_top_k = partial(engine, bonus=lambda rows, laws: np.ones_like(rows[0]))
"""What follows a block of kept drafts is any token at all."""
residual_from_target = partial(engine, residual=lambda p, q: p)
bonus_from_draft = partial(engine, bonus=lambda rows, laws: laws[-1])
unverified = partial(engine, leak=0.5)
ignores_top_k = partial(engine, ignored=("top_k",))
ignores_temperature = partial(engine, ignored=("temperature",))
another_model = partial(engine, swapped=True)
draws_without_drafts = partial(engine, drafts=False)
logprobs_zero = partial(engine, logprobs=lambda told: [0.0] * len(told))
sharper_and_residual_from_target = partial(engine, scale=1.2, residual=lambda p, q: p)
secretly_twisted = partial(engine, secret=0.6)
"""In every context another half of the tokens is likelier than it should be: no known fault looks like that."""
sharper = partial(engine, scale=1.4)
"""Logits too large, with speculation and without."""


def _twisted(laws, texts, strength):
    signs = np.stack([np.random.default_rng(text).choice([-1, 1], laws.shape[-1]) for text in texts])
    twisted = laws * (1 + strength * signs)
    return twisted / twisted.sum(axis=-1, keepdims=True)


def letters(prompt, seed, length, speculative, most=0, share=0.0):
    """Draw letters without a model; with speculation a share of them is the first one."""
    random = np.random.default_rng(seed)
    tokens = random.integers(3, 64, length)
    if speculative:
        tokens[random.random(length) < share] = 3
    return {"tokens": tokens.tolist(), "rounds": [[most if speculative else 0, length]]}


steady_letters = partial(letters, most=4)
drifting_letters = partial(letters, most=4, share=0.2)
idle_letters = partial(letters)


def writes_text(prompt, seed, length, speculative):
    return bytes(letters(prompt, seed, length, speculative, share=0.3)["tokens"]).decode("ascii")


def ignores_its_seed(prompt, seed, length, speculative):
    return letters(prompt, len(prompt), length, speculative)


def tokens_only(prompt, seed, length, target):
    """Return nothing but tokens, and do not know what speculation is."""
    return _plain(prompt, seed, length, target)["tokens"]


def _plain(prompt, seed, length, target):
    neutral = dict(zip(NAMES, (1.0, 0, 1.0, 0.0, 1.0, 0.0, 0.0), strict=True))
    return engine(prompt, seed, length, False, target, target, 1, **neutral)


def returns_text(prompt, seed, length):
    return "some text"


def another_vocabulary(prompt, seed, length):
    return [10_000] * length


def cut_short(prompt, seed, length):
    return [5] * (length - 1)


def repeats_itself(prompt, seed, length):
    return [5] * length


def fails(prompt, seed, length):
    raise RuntimeError("no memory\nleft")


def crashes(prompt, seed, length):
    os.abort()


def hangs(prompt, seed, length):
    time.sleep(60)


def nothing(prompt, seed, length):
    return []


def crashes_later(prompt, seed, length, target, calls=[0]):  # noqa: B006 (counts)
    calls[0] += 1
    if calls[0] > 40:
        os.abort()
    return _plain(prompt, seed, length, target)["tokens"]


@cache
def _model(folder):
    return load(f"tiny:{folder}", "target")[0]
