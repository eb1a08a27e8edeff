"""What is written for public engines is what they read, and says so where they cannot do as planned."""

import ast
import json
import shlex

import pytest

from conftest import needs
from draftproof.economics.flags import commands
from draftproof.errors import UsageError
from draftproof.rules.catalogue import CHAIN_RULES

AWKWARD = '/models/it\'s a "small" $one; rm'
DRAFTERS = ["tiny:draft", "tiny:/models/small", "/models/small", "org/small", "small.gguf", "DRAFT", AWKWARD]
ENGINES = ("vLLM", "llama.cpp", "transformers")


def engines(rule, drafter="tiny:draft", length=4):
    found = commands(rule, drafter, length)
    assert tuple(command.engine for command in found) == ENGINES
    return found


def vllm(*plan):
    flag, value = shlex.split(engines(*plan)[0].text)
    assert flag == "--speculative-config"
    return json.loads(value)


def llama_cpp(*plan):
    words = shlex.split(engines(*plan)[1].text)
    flags = dict(zip(words[::2], words[1::2], strict=True))
    assert len(flags) == len(words) // 2
    return flags


def keywords(call):
    assert all(keyword.arg for keyword in call.keywords)
    return {keyword.arg: keyword.value for keyword in call.keywords}


def transformers(*plan):
    """Return do_sample, the draft model's name and the settings of its generation, read from the keyword arguments."""
    call = ast.parse(f"generate({engines(*plan)[2].text})", mode="eval").body
    assert not call.args
    given = keywords(call)
    assert list(given) == ["do_sample", "assistant_model"]
    load = given["assistant_model"]
    assert ast.unparse(load.func) == "AutoModelForCausalLM.from_pretrained"
    config = keywords(load)["generation_config"]
    assert config.func.id == "GenerationConfig"
    settings = {name: ast.literal_eval(value) for name, value in keywords(config).items()}
    return ast.literal_eval(given["do_sample"]), ast.literal_eval(load.args[0]), settings


def test_every_chain_rule_of_the_catalogue_is_known_here_and_no_other():
    with pytest.raises(UsageError) as refusal:
        commands("typical", "DRAFT", 4)
    assert refusal.value.setting == "rule"
    assert refusal.value.message == f"got 'typical'; allowed are {', '.join(CHAIN_RULES)}"
    assert all(engines(rule) for rule in CHAIN_RULES)


def test_a_negative_length_is_refused_by_name():
    with pytest.raises(UsageError, match="got -1; allowed are") as refusal:
        commands("token", "DRAFT", -1)
    assert refusal.value.setting == "num_speculative_tokens"


@pytest.mark.parametrize("drafter", DRAFTERS)
@pytest.mark.parametrize("rule", CHAIN_RULES)
def test_every_text_is_one_line_that_its_engine_can_read(rule, drafter):
    assert all("\n" not in command.text + command.note for command in engines(rule, drafter))
    assert vllm(rule, drafter)["method"] == "draft_model"
    assert llama_cpp(rule, drafter)["--spec-type"] == "draft-simple"
    assert transformers(rule, drafter)[0] is True


@pytest.mark.parametrize("length", [1, 4, 17])
def test_the_length_is_the_plans_and_nothing_may_change_it(length):
    assert vllm("block", "DRAFT", length)["num_speculative_tokens"] == length
    flags = llama_cpp("token", "DRAFT", length)
    assert flags["--spec-draft-n-max"] == str(length)
    assert float(flags["--spec-draft-p-min"]) == float(flags["--spec-draft-n-min"]) == 0
    assert transformers("token", "DRAFT", length)[2] == {
        "num_assistant_tokens": length,
        "num_assistant_tokens_schedule": "constant",
        "assistant_confidence_threshold": 0.0,
    }


@pytest.mark.parametrize(
    ("drafter", "folder", "gguf"),
    [
        ("tiny:draft", "DRAFT_MODEL", "DRAFT.gguf"),
        ("tiny:target", "DRAFT_MODEL", "DRAFT.gguf"),
        ("DRAFT", "DRAFT_MODEL", "DRAFT.gguf"),
        ("tiny:/models/small", "/models/small", "DRAFT.gguf"),
        ("org/small", "org/small", "DRAFT.gguf"),
        ("/models/small.gguf", "DRAFT_MODEL", "/models/small.gguf"),
        ("hf:org/small?dtype=bfloat16", "org/small", "DRAFT.gguf"),
        ("gguf:/models/small.gguf?threads=2", "DRAFT_MODEL", "/models/small.gguf"),
        (AWKWARD, AWKWARD, "DRAFT.gguf"),
        (f"{AWKWARD}.gguf", "DRAFT_MODEL", f"{AWKWARD}.gguf"),
    ],
)
def test_an_engine_gets_the_draft_model_or_a_word_to_replace(drafter, folder, gguf):
    assert vllm("token", drafter)["model"] == folder
    assert llama_cpp("token", drafter)["--spec-draft-model"] == gguf
    assert transformers("token", drafter)[1] == folder


@pytest.mark.parametrize(
    ("drafter", "config"),
    [
        ("ngram", {"method": "ngram", "num_speculative_tokens": 5, "prompt_lookup_min": 1, "prompt_lookup_max": 4}),
        ("ngram:2-3", {"method": "ngram", "num_speculative_tokens": 5, "prompt_lookup_min": 2, "prompt_lookup_max": 3}),
        ("suffix:notes.txt", {"method": "suffix", "num_speculative_tokens": 5}),
    ],
)
def test_a_draft_that_is_looked_up_has_a_method_of_its_own(drafter, config):
    assert vllm("token", drafter, 5) == config


@pytest.mark.parametrize("drafter", ["ngram", "suffix", "early_exit:2", "chain:ngram,tiny:draft"])
def test_an_engine_that_lacks_a_drafter_says_so_and_names_no_draft_model(drafter):
    for command in engines("token", drafter):
        assert "DRAFT" not in command.text
        words = shlex.split(command.text, comments=True)
        assert words or command.text.startswith("# there is no ")


def test_the_number_of_layers_and_of_tokens_reach_transformers():
    command = engines("token", "early_exit:3", 6)[2]
    assert command.text == "do_sample=True, assistant_early_exit=3"
    assert command.note == "before it, model.generation_config.num_assistant_tokens = 6"


def test_a_home_folder_is_spelled_out_because_no_shell_expands_it_inside_quotes(monkeypatch):
    monkeypatch.setenv("HOME", "/somewhere")
    assert vllm("token", "tiny:~/small")["model"] == "/somewhere/small"


@pytest.mark.parametrize(
    ("rule", "method"), [("block", "block"), *((r, "standard") for r in CHAIN_RULES if r != "block")]
)
def test_vllm_draws_its_drafts_and_verifies_blocks_only_if_asked(rule, method):
    config = vllm(rule)
    assert (config["rejection_sample_method"], config["draft_sample_method"]) == (method, "probabilistic")


@pytest.mark.parametrize("rule", CHAIN_RULES)
def test_llama_cpp_rejects_by_ratio_unless_matching_was_planned(rule):
    assert llama_cpp(rule)["--spec-draft-sampling"] == ("greedy" if rule == "match" else "probabilistic")


@pytest.mark.parametrize("rule", CHAIN_RULES)
def test_only_the_token_rule_is_carried_out_by_every_engine_without_a_note(rule):
    assert all(bool(command.note) == (rule != "token") for command in engines(rule))


@pytest.mark.parametrize("rule", ["block", "match", "coupled"])
def test_a_note_names_the_missing_rule_and_the_one_used_instead(rule):
    notes = {command.note for command in engines(rule) if command.note}
    missing = {note for note in notes if note.startswith(f"no {rule} rule: the token rule instead")}
    assert len(missing) == 1
    # vLLM has the block rule in one of its two runners; llama.cpp does match, only not with a sampled draft.
    partly = {command.engine for command in engines(rule) if command.note not in missing}
    assert partly == {"block": {"vLLM"}, "match": {"llama.cpp"}, "coupled": set()}[rule]


@pytest.mark.parametrize(("drafter", "length"), [("tiny:draft", 0), ("none", 4)])
@pytest.mark.parametrize("rule", CHAIN_RULES)
def test_without_speculation_nothing_is_added(rule, drafter, length):
    found = engines(rule, drafter, length)
    assert [shlex.split(command.text, comments=True) for command in found[:2]] == [[], []]
    assert "--speculative-config" in found[0].text
    assert "--spec-draft-model" in found[1].text
    call = ast.parse(f"generate({found[2].text})", mode="eval").body
    assert {name: ast.literal_eval(value) for name, value in keywords(call).items()} == {"assistant_model": None}
    assert not any(command.note for command in found)


def passes(target, draft, torch):
    """Return which model runs when: a d for each run of the draft, a t for each of the target."""
    ran = []
    hooks = [
        model.register_forward_hook(lambda *_, name=name: ran.append(name))
        for model, name in ((draft, "d"), (target, "t"))
    ]
    torch.manual_seed(0)
    target.generate(torch.tensor([[1, 2, 3]]), max_new_tokens=24, do_sample=True, assistant_model=draft)
    for hook in hooks:
        hook.remove()
    return "".join(ran).split("t")


@pytest.mark.filterwarnings("ignore")
def test_transformers_itself_drafts_the_planned_length_in_every_pass(tmp_path):
    torch, library = needs("torch"), needs("transformers")
    config = library.LlamaConfig(
        vocab_size=64,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        initializer_range=0.2,
        eos_token_id=None,
    )
    torch.manual_seed(0)
    target, other = (library.LlamaForCausalLM(config).eval() for _ in "td")
    other.save_pretrained(tmp_path)
    _, folder, settings = transformers("token", str(tmp_path), 3)

    def drafts(**changed):
        wanted = library.GenerationConfig(**{**settings, **changed})
        draft = library.AutoModelForCausalLM.from_pretrained(folder, generation_config=wanted)
        return passes(target, draft, torch)

    # Near the end of the text there is room for fewer.
    assert len(planned := drafts()) > 5
    assert set(planned[:-3]) == {"ddd"}
    # Negative controls: each of the two switches matters.
    assert set(drafts(assistant_confidence_threshold=0.4)[:-3]) != {"ddd"}
    assert set(drafts(num_assistant_tokens_schedule="heuristic")[:-3]) != {"ddd"}
