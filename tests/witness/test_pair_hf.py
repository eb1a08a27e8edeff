"""A model of transformers in bfloat16: its honest engine is left alone, and no fault hides in its rounding."""

from dataclasses import replace

import numpy as np
import pytest

from conftest import needs
from draftproof.drafters.ngram import NgramDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.redteam.campaign import tamper_named
from draftproof.rules.catalogue import RULES
from draftproof.warpers.pipeline import sampling
from draftproof.witness.base import Subject
from draftproof.witness.pair import ReadAnew, witnesses_of_pair
from draftproof.witness.readings import readings
from draftproof.witness.rescoring import Run
from draftproof.witness.rounded import rounding_of
from draftproof.witness.rounding import row_gaps

PIPELINE = sampling(0.8, top_p=0.95)
VOCABULARY = 512
PROMPTS = (5, 9, 3), (100, 7, 100, 7, 100)
PEAKED = 3.5
"""Standard deviation of a row of SmolLM2; laws of random weights are nearly uniform, and hide what happens to them."""


@pytest.fixture(scope="module")
def module():
    """A random Llama in bfloat16 whose rows spread like those of a trained model, and depend on all of the text."""
    torch, library = needs("torch"), needs("transformers")
    torch.manual_seed(0)
    config = library.LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=64, intermediate_size=128, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=256, initializer_range=0.15, tie_word_embeddings=False,
    )  # fmt: skip
    made = library.LlamaForCausalLM(config).to(torch.bfloat16).eval()
    with torch.no_grad():
        spread = made(torch.arange(1, 40)[None]).logits[0].float().std(dim=-1).mean()
        made.lm_head.weight.mul_(PEAKED / spread)
    return made


@pytest.fixture(scope="module")
def model(module):
    from draftproof.models.hf.model import model_of

    return model_of(module, pad_rows=False)


def runs_of(model, seeds=(0,), rule="token"):
    drafter = NgramDrafter(VOCABULARY, 1, 4)
    engine = Engine(model, drafter, RULES[rule], PIPELINE, FixedLength(4))
    return [Run(f"prompt {i}", engine, prompt, Stop(16), seeds) for i, prompt in enumerate(PROMPTS, 1)]


def replays(model, assemble):
    """What replay finds where drafts are right and wrong, in blocks of all lengths."""
    anew, *_ = witnesses_of_pair(runs_of(model)[:1])
    runs = [run for run in anew.runs if run.name.endswith("right and wrong drafts")]
    found = list(ReadAnew(runs).examine(Subject("subject", RULES["token"], assemble=assemble)))
    return [one for one in found if one.witness == "replay"]


def test_the_model_rounds_so_that_float32_slack_would_accuse_it(model):
    read = readings(model, PROMPTS[0], list(range(1, 17)), (5, 1, 3))
    assert max(row_gaps(read.plain, read.once)) > 1e-3


@pytest.mark.parametrize("rule", ["token", "block"])
def test_an_honest_engine_is_lossless_to_every_witness(model, rule):
    subject = Subject(rule, RULES[rule])
    found = [one for witness in witnesses_of_pair(runs_of(model, (0, 1), rule)) for one in witness.examine(subject)]
    assert {one.verdict for one in found} == {"LOSSLESS"}, [one for one in found if one.verdict != "LOSSLESS"]


@pytest.mark.parametrize(
    "name",
    [
        "rejected-draft-stays",
        "slot-not-overwritten",
        "one-entry-too-many-trimmed",
        "advanced-by-one",
        "idle-row-stays",
        "many-tokens-one-step",
        "snapshot-without-replay",
    ],
)
def test_a_fault_is_seen_in_bfloat16(model, name):
    (found,) = replays(model, tamper_named(name).apply)
    assert found.verdict == "LOSSY", found.reason


def late(model):
    """Return the model, whose positions run on over rejected drafts."""
    kind = type(model)

    class Late(kind):
        behind = 0

        def keep(self, length, path):
            self.behind += self.length - length - len(path)
            super().keep(length, path)

        def _parts(self, tokens, *rest):
            for part in super()._parts(tokens, *rest):
                yield part._replace(positions=[place + self.behind for place in part.positions])

    return Late(model.family, model._facts)


def test_positions_that_run_on_over_rejected_drafts_are_seen_in_bfloat16(model):
    (honest,) = replays(model, lambda engine: engine)
    (found,) = replays(model, lambda engine: replace(engine, target=late(model)))
    assert (honest.verdict, found.verdict) == ("LOSSLESS", "LOSSY")


def test_the_bounds_are_far_from_both_sides(model):
    """What is measured on a text stays below the bounds of every other text, and faults do not."""
    generator = np.random.default_rng(0)
    texts = generator.integers(1, VOCABULARY, (6, 24)).tolist()
    measured = [rounding_of(model, PROMPTS[0], _passes_of(text), []) for text in texts]
    largest = max(one.largest for one in measured)
    assert largest < min(one.bound for one in measured)
    assert not any(one.hidden() for one in measured)


def _passes_of(text):
    class Told:
        emitted, drafted = tuple(text), (0,) * 4

    return [Told()]
