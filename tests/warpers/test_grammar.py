"""Grammars: whatever is picked from the mask is a text of the grammar, and a mask depends on the output alone."""

import copy
import json
import pickle
import re
import sys

import numpy as np
import pytest

from conftest import needs
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.errors import ContractError, MissingExtraError, UsageError
from draftproof.models.table import TableModel
from draftproof.noise import PhiloxNoise
from draftproof.rules.catalogue import RULES
from draftproof.types import Text
from draftproof.warpers import grammar as room
from draftproof.warpers.pipeline import sampling
from grammars_of_tests import EOS, VOCABULARY, V, decode, grammar

needs("llguidance")
PROMPT = [0, 300, 301]
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 8}, "old": {"type": "boolean"}, "size": {"enum": [1, 2.5]}},
    "required": ["name", "old"],
    "additionalProperties": False,
}
DATE = r"(19|20)[0-9]{2}-(0[1-9]|1[0-2])( (Mon|Tue|Wed)day)?"
SUMS = 'start: term ("+" term)*\nterm: NUMBER | "(" start ")"\nNUMBER: /[1-9][0-9]?/'


def ids_of(text):
    return [VOCABULARY[letter] for letter in text]


def after(output):
    return Text([*PROMPT, *output], len(PROMPT))


def allowed(constrained, *outputs, size=V):
    rows, kind = constrained.warp(np.zeros((len(outputs), size)), "logits", [after(output) for output in outputs])
    assert kind == "logits"
    assert set(np.unique(rows)) <= {0, -np.inf}
    return [set(np.flatnonzero(row == 0).tolist()) for row in rows]


def generated(constrained, seed, brief=0.3):
    """A text made of tokens picked from the masks; it ends soon once it may."""
    rng, output = np.random.default_rng(seed), []
    while True:
        (tokens,) = allowed(constrained, output)
        if EOS in tokens and (len(tokens) == 1 or rng.random() < brief):
            return output
        output.append(int(rng.choice(sorted(tokens - {EOS}))))


@pytest.mark.parametrize("seed", range(6))
def test_what_is_picked_from_the_masks_of_a_schema_is_json_of_it(seed):
    found = json.loads(decode(generated(grammar("json_schema", SCHEMA), seed)))
    assert {"name", "old"} <= set(found) <= {"name", "old", "size"}
    assert isinstance(found["name"], str)
    assert len(found["name"]) <= 8
    assert isinstance(found["old"], bool)
    assert found.get("size", 1) in {1, 2.5}


@pytest.mark.parametrize("seed", range(10))
def test_what_is_picked_from_the_masks_of_a_regex_matches_it(seed):
    assert re.fullmatch(DATE, decode(generated(grammar("regex", DATE), seed)))


@pytest.mark.parametrize("seed", range(6))
def test_what_is_picked_from_the_masks_of_a_lark_grammar_is_a_text_of_it(seed):
    text = decode(generated(grammar("lark", SUMS), seed))
    assert re.fullmatch(r"[0-9+()]+", text)
    assert eval(text) > 0  # noqa: S307 (a sum, as the line above says)


@pytest.mark.parametrize(("kind", "text"), [("json_schema", SCHEMA), ("regex", DATE), ("lark", SUMS)])
def test_a_mask_is_that_of_a_fresh_matcher_whatever_was_asked_before(kind, text):
    remembering = grammar(kind, text)
    output = generated(remembering, 3)
    prefixes = [output[:i] for i in range(len(output) + 1)]
    together = allowed(remembering, *prefixes)
    for i in np.random.default_rng(0).permutation(len(prefixes)):
        assert allowed(grammar(kind, text), prefixes[i]) == [together[i]]
        assert allowed(remembering, prefixes[i]) == [together[i]]


def test_what_is_remembered_is_bounded_and_changes_nothing(monkeypatch):
    constrained, output = grammar("regex", "(a|b)*c"), ids_of("abbaab") * 10
    expected = allowed(constrained, *(output[:i] for i in range(len(output))))
    monkeypatch.setattr(room, "KEPT", 2)
    forgetful = grammar("regex", "(a|b)*c")
    for _ in range(2):
        assert allowed(forgetful, *(output[:i] for i in range(len(output)))) == expected
    assert len(forgetful._kept) == 2


def test_every_row_of_a_block_gets_the_mask_after_its_own_drafts():  # A42, A44
    constrained = grammar("regex", "(ab)*")
    a, b, ab = VOCABULARY["a"], VOCABULARY["b"], VOCABULARY["ab"]
    assert allowed(constrained, [], [a], [a, a], [a, a, b]) == [{a, ab, EOS}, {b}, set(range(V)), set(range(V))]
    marked = grammar("regex", "x*M[0-9]+")
    digits = {VOCABULARY[digit] for digit in "0123456789"}
    *_, last = allowed(marked, *(ids_of("xM")[:i] for i in range(3)))
    assert digits <= last
    assert all(decode([token]).isdigit() for token in last)


def test_a_draft_that_is_not_allowed_is_rejected_and_a_legal_token_follows():  # A46
    constrained = sampling(grammar=grammar("regex", "ab+"))
    b, x = VOCABULARY["b"], VOCABULARY["x"]
    laws = constrained.laws(np.zeros((3, V)), "logits", [after([]), after([x]), after([x, b])])
    assert laws[0, x] == 0
    assert set(np.flatnonzero(laws[0]).tolist()) <= set(ids_of("a")) | {VOCABULARY["ab"]}
    assert np.all(laws[1:] == 1 / V)  # never used


def test_when_the_grammar_is_complete_only_the_end_is_left_and_then_nothing_is_asked():  # A45
    constrained = grammar("regex", "a", eos=(EOS, 7))
    a = VOCABULARY["a"]
    everything = set(range(V))
    assert allowed(constrained, [a], [a, EOS], [a, EOS, a], [a, 7]) == [{EOS, 7}, everything, everything, everything]
    assert [constrained._kept[output][0] is None for output in ((a,), (a, EOS), (a, EOS, a))] == [False, True, True]


def test_the_prompt_is_no_part_of_the_output():
    constrained = grammar("regex", "ab")
    assert allowed(constrained, []) == [{VOCABULARY["ab"]}]  # spelt as the tokenizer spells it where there is no choice
    plain = constrained.warp(np.zeros((1, V)), "logits", [PROMPT])[0]
    assert not np.isinf(plain).any()  # without a prompt its tokens are output, and none of the grammar


def test_laws_and_rows_that_are_wider_than_the_tokenizer_are_masked_too():
    constrained = grammar("regex", "[ab]")
    law = sampling(grammar=constrained).laws(np.full((1, V + 9), 1 / (V + 9)), "laws", [after([])])
    assert np.flatnonzero(law).tolist() == sorted(ids_of("ab"))
    assert law.max() == 0.5
    assert allowed(constrained, [V + 3], size=V + 9) == [set(range(V + 9))]


def test_numpy_and_torch_agree():
    torch, constrained = needs("torch"), sampling(grammar=grammar("regex", DATE))
    rows = np.random.default_rng(0).normal(size=(1, V))
    got = constrained.laws(torch.from_numpy(rows), "logits", [after([])]).numpy()
    assert np.allclose(got, constrained.laws(rows, "logits", [after([])]), rtol=1e-13, atol=0)


def test_a_grammar_is_a_value():
    assert grammar("regex", "a") == grammar("regex", "a") != grammar("regex", "b")
    assert grammar("json_schema", SCHEMA) == grammar("json_schema", json.dumps(SCHEMA))
    used = grammar("regex", "(ab)*")
    expected = allowed(used, [], ids_of("a"))
    for twin in (copy.deepcopy(used), pickle.loads(pickle.dumps(used))):  # noqa: S301 (made one line above)
        assert twin == used
        assert allowed(twin, [], ids_of("a")) == expected


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("regex", "(ab"), ("regex", "[z-a]"), ("lark", "start: foo"), ("lark", ""), ("lark", "start: ("),
        ("json_schema", "{no json"), ("json_schema", '{"type": "foo"}'), ("json_schema", '"text"'), ("json_schema", ""),
    ],
)  # fmt: skip
def test_what_is_no_grammar_is_refused_with_the_reason_on_one_line(kind, text, capfd):
    with pytest.raises(UsageError, match=f"{kind}: is no grammar: .+") as refusal:
        grammar(kind, text)
    assert "\n" not in str(refusal.value)
    assert refusal.value.setting == kind
    assert capfd.readouterr() == ("", "")


def test_other_kinds_no_end_and_no_tokenizer_are_refused():
    with pytest.raises(UsageError, match="json_schema, regex, lark"):
        grammar("gbnf", "root ::= [a]")
    with pytest.raises(UsageError, match="no token that ends a text"):
        grammar("regex", "a", eos=())
    with pytest.raises(UsageError, match="this tokenizer cannot be constrained"):
        room.grammar("regex", "a", "{}", [EOS])


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "llguidance", None)
    with pytest.raises(MissingExtraError, match=r"draftproof\[grammar\]") as refusal:
        grammar("regex", "a")
    assert refusal.value.setting == "regex"


def test_an_end_that_is_forbidden_when_nothing_else_is_allowed_leaves_nothing():
    both = sampling(grammar=grammar("regex", "a"), min_tokens=5, stop_tokens=[EOS])
    with pytest.raises(ContractError, match="row 1 "):
        both.laws(np.zeros((2, V)), "logits", [after([]), after(ids_of("a"))])


class Scripted:
    """Drafts the same tokens in each pass, whatever the grammar says."""

    def __init__(self, tokens, size):
        self.tokens, self.size, self.start = tokens, size, None

    def law(self, context):
        if self.start is None or len(context) <= self.start:
            self.start = len(context)
        depth = len(context) - self.start
        return np.eye(self.size)[self.tokens[depth % len(self.tokens)]]

    def rewind(self, length):
        self.start = None

    def fresh(self):
        return type(self)(self.tokens, self.size)


@pytest.mark.parametrize("length", [0, 1, 2, 3, 5])
def test_a_grammar_holds_for_whatever_is_drafted(length):  # A42, A45, A46
    target = TableModel(lambda context: np.full(V, 1 / V), V)
    pipeline = sampling(grammar=grammar("regex", "(ab)*"))
    a, b = VOCABULARY["a"], VOCABULARY["b"]
    for script in ([a, a, b], [a, b, a], [a, b, EOS], [EOS, a, b]):
        for seed in range(3):
            drafter = Scripted(script, V)
            engine = Engine(target, drafter, RULES["token"], pipeline, FixedLength(length))
            passes = engine.decode([0], Stop(40, tokens=frozenset({EOS})), PhiloxNoise(seed))
            output = [token for done in passes for token in done.emitted]
            assert output[-1] == EOS
            text = decode(output)
            assert text == "ab" * (len(text) // 2)
