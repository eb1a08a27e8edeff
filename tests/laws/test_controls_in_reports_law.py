"""What public reports say goes wrong with sampling controls, as small greedy worlds whose right text is known.

At temperature 0 a law is one text: whatever is drafted, by whichever rule, it must be that of plain decoding. The
worlds and their right answers were computed by hand.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from draftproof.engine import plain
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.models.table import TableModel
from draftproof.noise import PhiloxNoise
from draftproof.rules.catalogue import RULES
from draftproof.warpers.base import output_of
from draftproof.warpers.pipeline import sampling

every_rule = pytest.mark.parametrize("rule", RULES)
every_length = pytest.mark.parametrize("length", range(1, 6))


@dataclass(frozen=True)
class Dictated:
    """Proposes these tokens, one after another, from the place where the output began; then the last one for ever."""

    tokens: tuple[int, ...]
    vocab_size: int
    begin: int

    def law(self, context):
        said = self.tokens[min(len(context) - self.begin, len(self.tokens) - 1)]
        return np.arange(self.vocab_size) == said + np.zeros(self.vocab_size)

    def rewind(self, length):
        pass

    def fresh(self):
        return self


@dataclass(frozen=True)
class Allowing:
    """A stand-in for a grammar: `follows` says what may follow an output, and complains about what no grammar has."""

    follows: object
    reads_text = True

    def warp(self, rows, kind, texts):
        masked = rows.copy()
        for row, text in zip(masked, texts, strict=True):
            allowed = self.follows(tuple(output_of(text)))
            row[[token for token in range(len(row)) if token not in allowed]] = -math.inf
        return masked, kind


def greedy_text(scores, drafts, rule, length, stop, prompt=(0,), **controls):
    """The greedy text of a target with these scores, fixed or a function of the text; it is that of plain decoding."""
    score_of = scores if callable(scores) else lambda _: scores
    size = len(score_of(tuple(prompt)))
    target = TableModel(score_of, size, row_kind="logits")
    pipeline = sampling(0, **controls)
    chosen = RULES[rule]
    branching = (2,) if chosen.branches and length > 1 else ()
    engine = Engine(
        target, Dictated(tuple(drafts), size, len(prompt)), chosen, pipeline, FixedLength(length), branching
    )
    passes = engine.decode(prompt, stop, PhiloxNoise(0))
    text = [token for done in passes for token in done.emitted]
    assert text == list(plain.decode(target, pipeline, prompt, stop, PhiloxNoise(0)))
    return text


@every_rule
@every_length
def test_a_frequency_penalty_counts_every_token_as_it_comes(rule, length):
    # A32, sglang PR 33643; A33, sglang 28180; A34, vllm PR 33251. Frozen counts: 0 0 0 0 1 1; one a pass: 0 0 0 1 0 0.
    text = greedy_text([1.0, 0.6, 0.0], [0], rule, length, Stop(12), prompt=(2,), frequency_penalty=0.15)
    assert text == [0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]


@every_rule
def test_a_penalty_of_the_other_sign_is_another_text(rule):
    # A30, vllm 18902: -2 and 2 gave the same text.
    texts = [
        greedy_text([0.5, 0.6, 0.0], [0], rule, 3, Stop(4), prompt=(2,), frequency_penalty=sign) for sign in (-2, 2)
    ]
    assert texts == [[1, 1, 1, 1], [1, 0, 2, 1]]


@every_rule
@every_length
def test_exactly_the_least_number_of_tokens_comes_before_the_end(rule, length):
    # A40, vllm 41758: a row too many masked, six; A32: counted by the pass, about twenty.
    stop = Stop(30, tokens=frozenset({1}))
    for drafts in ([0], [1], [0, 1]):
        text = greedy_text([0.5, 1.0], drafts, rule, length, stop, min_tokens=5, stop_tokens={1})
        assert text == [0, 0, 0, 0, 0, 1]


@every_rule
@every_length
def test_a_bad_word_is_forbidden_where_it_would_end_and_nowhere_else(rule, length):
    # A41, vllm PR 52311: in the region of the drafts its beginning was looked for a token too early.
    def wanted(text):
        return [0.0] * 4 + ([2.0, 0.0, 1.0] if text[-1] != 4 else [1.0, 3.0, 2.0])  # 4, then 5, or else 6

    text = greedy_text(wanted, [4, 5], rule, length, Stop(4), prompt=(3,), bad_words=[(4, 5)])
    assert text == [4, 6, 4, 6]
    innocent = greedy_text([0.0, 0.0, 0.0, 0.0, 1.0, 0.5], [4], rule, length, Stop(4), (4,), bad_words=[(4, 5)])
    assert innocent == [4, 4, 4, 4]
    assert greedy_text([0.0, 0.0, 0.0, 0.0, 0.5, 1.0], [5], rule, length, Stop(3), (4,), bad_words=[(4, 5)])[0] == 4


def repeated(output):
    """(ab)*, with a = 0, b = 1 and an end, 2; nothing follows the end, and what is none of these texts is no matter."""
    body = output[:-1] if output[-1:] == (2,) else output
    if any(token != i % 2 for i, token in enumerate(body)):
        return {0, 1, 2}
    return {1} if len(body) % 2 else {0, 2}


@every_rule
@every_length
@pytest.mark.parametrize("drafts", [(0, 0, 1), (1, 1, 1), (0, 2, 0), (0, 1, 2)])
def test_a_text_stays_in_the_grammar_whatever_is_drafted(rule, length, drafts):
    # A42, vllm 9423; A46, TensorRT-LLM 7878: an illegal draft is rejected, and a legal token takes its place.
    def tired(text):
        return [1.0, 0.9, 0.5 if len(text) < 5 else 2.0]

    stop = Stop(20, tokens=frozenset({2}))
    text = greedy_text(tired, drafts, rule, length, stop, grammar=Allowing(repeated))
    assert text == [0, 1, 0, 1, 2]


@every_rule
@every_length
def test_a_marker_inside_a_block_turns_the_mask_on_in_the_same_block(rule, length):
    # A44, vllm 31858: x = 0, the marker M = 1, y = 2, the digit 7 = 3; after M only digits.
    def wanted(text):
        return [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.5], [0.0, 0.0, 1.0, 0.5]][len(text) - 1]

    reasoning = Allowing(lambda output: {3} if 1 in output else {0, 1, 2, 3})
    assert greedy_text(wanted, [0, 1, 2, 3], rule, length, Stop(4), grammar=reasoning) == [0, 1, 3, 3]


@every_rule
@every_length
def test_nobody_is_asked_what_follows_the_end(rule, length):
    # A45, openvino.genai 4081: drafts go on after an end that is accepted.
    stop = Stop(9, tokens=frozenset({1}))
    grammar = Allowing(lambda output: {0} if not output else {1})
    assert greedy_text([1.0, 0.5], [0, 1, 0], rule, length, stop, grammar=grammar) == [0, 1]


@every_rule
@pytest.mark.parametrize(
    ("controls", "token"),
    [
        ({"logit_bias": {0: -100}}, 1),  # A38, vllm 38202
        ({"bad_words": [(0,)]}, 1),  # A36, ml-explore/mlx-examples 1255
        ({"allowed_tokens": {2}}, 2),
    ],
)
def test_a_token_that_is_forbidden_never_comes(rule, controls, token):
    assert greedy_text([1.0, 0.9, 0.8], [0], rule, 3, Stop(5), **controls) == [token] * 5


@every_rule
def test_min_p_holds_on_the_rows_of_the_drafts(rule):
    # A37, vllm 42744: only the bonus was filtered. Of [.6, .35, .05] half the best leaves two.
    law = [Fraction(12, 20), Fraction(7, 20), Fraction(1, 20)]
    pipeline = sampling(min_p=Fraction(1, 2))
    assert pipeline.laws(np.array([law]), "laws").tolist() == [[Fraction(12, 19), Fraction(7, 19), 0]]
    target = TableModel(lambda _: law, 3)
    engine = Engine(target, Dictated((2,), 3, 1), RULES[rule], pipeline, FixedLength(3))
    for seed in range(8):
        assert 2 not in [t for done in engine.decode((0,), Stop(9), PhiloxNoise(seed)) for t in done.emitted]
