"""Real models with everything around them: batches, stops, seeds, adaptive lengths, traces, chat, streams, plans."""

from dataclasses import replace

import numpy as np
import pytest

from conftest import needs
from draftproof.api.auto import Auto
from draftproof.drafters.vocabulary import TranslatedDrafter
from draftproof.economics.measure import measure
from draftproof.economics.pair import Pair as Measured
from draftproof.economics.plan import plans_measured
from draftproof.engine.batch import Request, decode
from draftproof.engine.logprobs import scored
from draftproof.engine.passes import Pass
from draftproof.engine.rerun import first_difference, rerun, settings_of
from draftproof.engine.trace import follow
from draftproof.engine.traces import read, save
from draftproof.witness.rescoring import score_gap
from real_of_tests import FOLDER, OF_TARGETS, PROMPT, Pair

pytestmark = pytest.mark.real

RAGGED = (
    "def add(a, b):",
    "# A list of the first ten primes\nprimes = [2, 3,",
    "import os\nimport sys\n\n\ndef main():",
)


def text_of(run):
    return follow(run.engine.decode(run.prompt, run.stop, run.noise), run.prompt).token_ids


def rounding_of(run):
    """Return how far apart two honest scores of one token may lie: twice what is seen on a text, read in two ways.

    A bfloat16 of 16 to 32 is a multiple of 1/8, and quantised products differ by the number of rows.
    """
    text = run.tokenizer.encode(PROMPT)
    return 2 * score_gap(run.engine, text, len(text))


def differs_by_a_tie(run, one, other):
    """Whether two greedy texts agree up to a place where both tokens are level, as far as rounding can tell."""
    place = next((i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), None)
    if place is None:
        return True
    row = np.asarray(run.engine.target.fresh().extend([*run.prompt, *one[:place]], 1))[0]
    return abs(row[one[place]] - row[other[place]]) <= rounding_of(run)


def test_a_ragged_batch_has_the_texts_of_one_after_another(pair, run_of):
    runs = [run_of(pair, prompt, temperature=0.0, max_tokens=16) for prompt in RAGGED]
    texts = {i: [] for i in range(len(runs))}
    for number, _, what in decode([Request(run.engine, run.prompt, run.stop, run.noises) for run in runs], len(runs)):
        assert isinstance(what, Pass | None)
        texts[number] += what.emitted if what else ()
    for run, together in zip(runs, texts.values(), strict=True):
        assert differs_by_a_tie(run, text_of(run), together)


def test_a_stop_string_ends_the_text_where_it_is_complete(of_target, run_of):
    run = run_of(of_target, temperature=0.0)
    whole = run.tokenizer.decode(text_of(run))
    word = whole.split()[3]
    stopped = run_of(of_target, temperature=0.0, stop=(word,))
    trace = follow(stopped.engine.decode(stopped.prompt, stopped.stop, stopped.noise), stopped.prompt)
    assert trace.finish_reason == "stop"
    text = stopped.tokenizer.decode(trace.token_ids)
    assert word in text
    assert word not in stopped.tokenizer.decode(trace.token_ids[:-1])


def test_an_answer_ends_by_itself(of_target, run_of):
    run = run_of(of_target, ignore_eos=False, temperature=0.0, max_tokens=40)
    asked = run.tokenizer.chat("Answer with the one word yes.")
    trace = follow(run.engine.decode(asked, run.stop, run.noise), asked)
    assert trace.finish_reason == "stop"
    assert trace.token_ids[-1] in run.tokenizer.eos


def test_a_seed_gives_its_text_again_and_another_seed_another(pair, run_of):
    # Hot: of code that it knows by heart a model leaves nothing to chance at temperature 1.
    first, other, again = (text_of(run_of(pair, seed=seed, max_tokens=16, temperature=2.0)) for seed in (1, 2, 1))
    assert first == again
    assert first != other


def test_adaptive_lengths_leave_the_greedy_text(of_target, run_of):
    options = {"temperature": 0.0, "max_tokens": 16}
    fixed = run_of(of_target, **options)
    auto = run_of(of_target, decide=Auto().of(fixed.options), num_speculative_tokens="auto", **options)
    assert differs_by_a_tie(fixed, text_of(fixed), text_of(auto))


@pytest.mark.parametrize("target", ["hf smollm2-135m", "gguf smollm2-135m"])
def test_a_trace_is_written_read_and_run_again(target, run_of, tmp_path):
    run = run_of(OF_TARGETS[target], seed=4)
    trace = follow(run.engine.decode(run.prompt, run.stop, run.noise), run.prompt)
    save(replace(trace, settings=settings_of(run)), tmp_path / "trace.json")
    again = rerun(read(tmp_path / "trace.json"))
    assert first_difference(trace, again.engine.decode(again.prompt, again.stop, again.noise)) is None


def test_a_chat_template_is_that_of_transformers_also_in_a_gguf_file(run_of):
    message = "Write a haiku about 雪 with emoji"
    for name in ("qwen-1.5b", "smollm2-135m"):
        runs = [run_of(OF_TARGETS[f"{kind} {name}"], max_tokens=1) for kind in ("hf", "gguf")]
        folder = str(FOLDER / name)
        theirs = needs("transformers").AutoTokenizer.from_pretrained(folder)
        asked = [{"role": "user", "content": message}]
        text = theirs.apply_chat_template(asked, add_generation_prompt=True, tokenize=False)
        wanted = theirs(text, add_special_tokens=False).input_ids
        assert [run.tokenizer.chat(message) for run in runs] == [wanted, wanted]


def test_streamed_pieces_are_whole_characters_and_the_whole_text(of_target, run_of):
    run = run_of(of_target, temperature=0.0, max_tokens=32)
    asked = run.tokenizer.chat("Write a haiku about 雪 with emoji. Begin with 雪🎉.")
    spell, ids = run.tokenizer.stream(), []
    pieces = []
    for done in run.engine.decode(asked, run.stop, run.noise):
        ids += done.emitted
        pieces += [spell(token) for token in done.emitted]
    assert "\N{REPLACEMENT CHARACTER}" not in "".join(pieces)
    assert run.tokenizer.decode(ids).startswith("".join(pieces))
    text = run.tokenizer.encode("雪🎉 naïve 👩‍🚀")
    spell = run.tokenizer.stream()
    assert "".join(map(spell, text)) == run.tokenizer.decode(text)


def test_a_draft_of_another_vocabulary_is_translated(run_of):
    run = run_of(Pair("gguf qwen-1.5b", "hf smollm2-135m"), temperature=0.0, max_tokens=16)
    assert isinstance(run.engine.drafter, TranslatedDrafter)
    trace = follow(run.engine.decode(run.prompt, run.stop, run.noise), run.prompt)
    assert trace.num_accepted_tokens > 0
    own = run_of(OF_TARGETS["gguf qwen-1.5b"], temperature=0.0, max_tokens=16)
    assert differs_by_a_tie(own, text_of(own), trace.token_ids)


def test_log_probabilities_are_those_of_a_reading_at_once(of_target, run_of):
    run = run_of(of_target, max_tokens=12)
    passes = list(run.engine.decode(run.prompt, run.stop, run.noise))
    scores = [one for done in passes for one in scored(done, run.engine.target.row_kind)]
    tokens = [one.token for one in scores]
    text = [*run.prompt, *tokens]
    rows = np.asarray(run.engine.target.fresh().extend(text[:-1], len(tokens)), dtype=np.float64)
    laws = rows - rows.max(1, keepdims=True)
    laws -= np.log(np.exp(laws).sum(1, keepdims=True))
    rounding = 2 * rounding_of(run)  # of the score itself, and of the sum it is divided by
    assert rounding < np.median(rows.max(1) - np.median(rows, 1)) / 2  # else this test says nothing
    for one, law in zip(scores, laws, strict=True):
        assert abs(one.raw_logprob - law[one.token]) <= rounding


def test_a_pair_is_measured_and_planned(run_of, models):
    run = run_of(OF_TARGETS["hf smollm2-135m"])
    prompts = {"code": [run.tokenizer.encode(text) for text in (*RAGGED, PROMPT)]}
    pair = Measured(run.engine.target, {"ngram": run.engine.drafter}, ("token",), run.engine.pipeline, prompts, 64)
    (plan,) = plans_measured(measure(pair, 4, 0))
    assert plan.decision in {"speculate", "do not speculate"}
    (candidate,) = plan.candidates
    assert 0.2 < candidate.speedup < 17
