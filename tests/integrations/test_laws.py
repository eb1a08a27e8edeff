"""Sampled texts have transformers' own law: over all random numbers, and in draws."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch

from draftproof.engine.stop import Stop
from draftproof.integrations.transformers import speculative
from draftproof.rules.base import Verdict
from draftproof.rules.token import TokenRule
from draftproof.warpers.pipeline import Pipeline
from draftproof.witness.forking import exact_law
from draftproof.witness.tally import band

ROUNDING = 1e-5
"""Rows of float32 models differ by some 1e-7 of their size with the number of rows that are computed at once."""
VOCABULARY, TOKENS = 8, 2
SETTINGS = {"do_sample": True, "max_new_tokens": TOKENS, "eos_token_id": None, "pad_token_id": 0}
SETTINGS |= {"suppress_tokens": [5, 6, 7]}  # with all eight tokens there are ten times as many paths
CONTROLS = {
    "as it is": {"top_k": 0},
    "temperature": {"temperature": 0.7, "top_k": 0},
    "truncated": {"top_k": 4, "top_p": 0.9},
    "min-p": {"top_k": 0, "min_p": 0.2},
    "typical": {"top_k": 0, "typical_p": 0.6},
    "cut off": {"top_k": 0, "epsilon_cutoff": 0.1, "eta_cutoff": 0.2},
    "penalties": {"top_k": 0, "repetition_penalty": 1.6, "no_repeat_ngram_size": 2},
    "lengths": {"top_k": 0, "min_new_tokens": 2, "eos_token_id": 2},
    "masks": {"top_k": 0, "bad_words_ids": [[3], [4, 1]], "sequence_bias": [[[1], 1.5]], "renormalize_logits": True},
    "top-h": {"top_k": 0, "top_h": 0.5},
}


class KeepsAll(TokenRule):
    """Lossy: it keeps whatever was drafted."""

    def verify(self, target, draft, drafted, draws):
        verdict = super().verify(target, draft, drafted, draws)
        return verdict if not len(drafted) else Verdict(np.asarray(len(drafted)), np.asarray(target[-1].argmax()))


def plain_law(model, ids, call, tokens=TOKENS):
    """The law of the next tokens by transformers' own numbers: one forward and one call of its processors a prefix."""
    law = {(): 1.0}
    for _ in range(tokens):
        longer = {}
        for text, chance in law.items():
            whole = torch.cat([ids, torch.tensor([text], dtype=torch.long)], dim=-1)
            with torch.no_grad():
                scores = call.processors(whole, model(whole).logits[:, -1].float())
            row = torch.softmax(scores.double(), dim=-1)[0].tolist()
            longer |= {(*text, token): chance * part for token, part in enumerate(row) if part}
        law = longer
    return law


def written_law(spec, call, tokens=TOKENS, pipeline=None):
    """The law of what the engine emits, over all its random numbers."""
    (prompt,) = call.prompts()
    engine = spec.engine(call, prompt)
    if pipeline is not None:
        engine = replace(engine, pipeline=pipeline)

    def program(noise):
        passes = engine.decode(prompt.ids, Stop(tokens, 64), noise)
        return tuple(token for done in passes for token in done.emitted)

    return exact_law(program, 4000, 1.0)


def furthest(one, other):
    return max(abs(one.get(text, 0) - other.get(text, 0)) for text in {*one, *other})


@pytest.fixture
def asked(small, call_of):
    def call(**settings):
        return call_of(small, torch.tensor([[3, 4, 1, 3]]), **SETTINGS | settings)

    return call


@pytest.mark.parametrize("controls", CONTROLS.values(), ids=CONTROLS)
def test_the_law_of_the_text_is_that_of_transformers(controls, small, small_draft, asked):
    call = asked(**controls)
    law = written_law(speculative(small_draft, rule="token"), call)
    assert furthest(law, plain_law(small, call.input_ids, call)) < ROUNDING


@pytest.mark.parametrize("rule", ["block", "match", "tree", "traversal"])
def test_so_it_is_with_other_rules(rule, small, small_draft, asked):
    call = asked(top_k=3)
    law = written_law(speculative(small_draft, rule=rule, num_speculative_tokens=1), call)
    assert furthest(law, plain_law(small, call.input_ids, call)) < ROUNDING


def test_a_lossy_rule_is_seen(small, small_draft, asked):
    call = asked(top_k=0)
    law = written_law(speculative(small_draft, rule=KeepsAll()), call)
    assert furthest(law, plain_law(small, call.input_ids, call)) > 100 * ROUNDING


def test_forgotten_processors_are_seen(small, small_draft, asked):
    call = asked(**CONTROLS["penalties"])
    law = written_law(speculative(small_draft, rule="token"), call, pipeline=Pipeline())
    assert furthest(law, plain_law(small, call.input_ids, call)) > 100 * ROUNDING


SAMPLES, CALLS, FALSE_ALARM = 400, 2, 1e-6
"""Draws, and how often all of them together may stray by chance alone."""


def drawn(model, ids, spec, seed, **settings):
    torch.manual_seed(seed)
    settings = SETTINGS | {"num_return_sequences": SAMPLES} | settings
    calls = [model.generate(ids, custom_generate=spec, **settings) for _ in range(CALLS)]
    return [tuple(text) for text in torch.cat(calls)[:, ids.shape[1] :].tolist()]


def strays(texts, law):
    cells = list(itertools.product(range(VOCABULARY), repeat=TOKENS))
    low, high = band(np.array([law.get(cell, 0.0) for cell in cells]), len(texts), FALSE_ALARM)
    shares = np.array([texts.count(cell) / len(texts) for cell in cells])
    return bool(((shares < low) | (shares > high)).any())


@pytest.mark.parametrize(("rule", "lossless"), [("token", True), (KeepsAll(), False)], ids=["token", "lossy"])
def test_draws_of_whole_calls_keep_to_the_law(rule, lossless, small, small_draft, asked):
    controls = {"top_k": 4, "temperature": 0.8}
    call = asked(**controls)
    texts = drawn(small, call.input_ids, speculative(small_draft, rule=rule), 5, **controls)
    assert strays(texts, plain_law(small, call.input_ids, call)) == (not lossless)


def test_a_seed_of_torch_repeats_a_text_and_another_seed_does_not(target, draft, ids):
    spec = speculative(draft)
    texts = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        texts.append(target.generate(ids, custom_generate=spec, do_sample=True, max_new_tokens=20, eos_token_id=None))
    assert torch.equal(texts[0], texts[1])
    assert not torch.equal(texts[0], texts[2])


def test_two_calls_after_one_seed_are_different_texts(target, draft, ids):
    spec = speculative(draft)
    torch.manual_seed(1)
    texts = [
        target.generate(ids, custom_generate=spec, do_sample=True, max_new_tokens=20, eos_token_id=None) for _ in "12"
    ]
    assert not torch.equal(*texts)


def test_greedy_decoding_draws_nothing_from_torch(target, draft, ids):
    before = torch.get_rng_state()
    target.generate(ids, custom_generate=speculative(draft), do_sample=False, max_new_tokens=8)
    assert torch.equal(before, torch.get_rng_state())
