"""Rules that somebody got wrong in one line: for each of these edits the proofs in tests/laws fail.

Every edit is made in a copy of the package. The copy without any edit passes, so that it is the edit that fails.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import draftproof

ROOT = Path(__file__).parents[2]
PACKAGE = Path(draftproof.__file__).parent
PROOFS = {"token": "tests/laws/test_token_law.py", "block": "tests/laws/test_block_law.py"}
PASSED, FAILED = 0, 1
"""What pytest's exit status means; anything else would be a broken test and no proof."""


class Edit(NamedTuple):
    """One line of a rule, and what somebody wrote instead."""

    fault: str
    old: str
    new: str


TOKEN = [
    Edit("the inequality turned round", "uniforms * q_token < p_token", "uniforms * q_token >= p_token"),
    Edit("not strict: 0 saves a forbidden token", "uniforms * q_token < p_token", "uniforms * q_token <= p_token"),
    Edit("the ratio upside down", "uniforms * q_token < p_token", "uniforms * p_token < q_token"),
    Edit("a hard threshold", "uniforms * q_token < p_token", "q_token <= p_token"),
    Edit(
        "acceptances after a rejection count",
        "xp.sum(xp.cumulative_prod(kept, axis=-1), axis=-1)",
        "xp.sum(kept, axis=-1)",
    ),
    Edit(
        "the target's rows one too late",
        "entries_at(target[..., :-1, :], drafted)",
        "entries_at(target[..., 1:, :], drafted)",
    ),
    Edit("tested against the target itself", "entries_at(draft, drafted)", "entries_at(target[..., :-1, :], drafted)"),
    Edit(
        "one uniform for all tests",
        "draws.uniforms(Purpose.ACCEPT, drafted.shape[-1])",
        "draws.uniforms(Purpose.ACCEPT, 1)",
    ),
    Edit("the test uses the uniform of the draft", "Purpose.ACCEPT, drafted", "Purpose.DRAFT, drafted"),
    Edit("the last draw uses the uniform of a draft", "Purpose.FINAL, 1", "Purpose.DRAFT, 1"),
    Edit("the last draw uses the uniform of a test", "Purpose.FINAL, 1", "Purpose.ACCEPT, 1"),
    Edit("the last token from the first row", "row_at(target, accepted)", "row_at(target, accepted * 0)"),
    Edit("the residual of the first row", "row_or_zeros(draft, accepted, p)", "row_or_zeros(draft, accepted * 0, p)"),
    Edit(
        "no zeros past the last draft: the bonus is a residual",
        "row_or_zeros(draft, accepted, p)",
        "row_at(draft, accepted - xp.astype(accepted == draft.shape[-2], xp.int64))",
    ),
    Edit("no residual", "weights = self.residual(p, row_or_zeros(draft, accepted, p))", "weights = p"),
    Edit("the residual q - p", "Array] = surplus", "Array] = lambda p, q: surplus(q, p)"),
    Edit("the residual not clamped", "Array] = surplus", "Array] = lambda p, q: abs(p - q)"),
    Edit(
        "drafted greedily, tested as sampled",
        "return drawn(law, place)",
        "return [int(array_namespace(law).argmax(law))]",
    ),
    Edit("the expected acceptance one row short", "tested = min(accepted + 1, len(draft))", "tested = accepted"),
]
BLOCK = [
    Edit("a weight not capped at 1", "xp.maximum(goal, q[..., i])", "q[..., i]"),
    Edit("the weight forgets the prefix", "goal = weight * p[..., i]", "goal = p[..., i]"),
    Edit(
        "the target's rows one too late",
        "entries_at(target[..., :-1, :], tokens)",
        "entries_at(target[..., 1:, :], tokens)",
    ),
    Edit(
        "what is left forgets the weight", "xp.sum(_excess(p, q, weight)", "xp.sum(_excess(p, q, xp.ones_like(weight))"
    ),
    Edit("the coin forgets 1 - w", "total = left + (1 - weight)", "total = left + 1"),
    Edit("the longest prefix tried last", "range(count, 0, -1)", "range(1, count + 1)"),
    Edit("the longest prefix never tried", "range(count, 0, -1)", "range(count - 1, 0, -1)"),
    Edit("only the longest prefix tried", "xp.all(accepted > 0)", "xp.all(accepted >= 0)"),
    Edit("the coin's inequality turned round", "uniform < coin", "uniform >= coin"),
    Edit("not strict: 0 keeps what cannot be", "uniform < coin", "uniform <= coin"),
    Edit("the weight itself as the coin of every row", "if i < count and bool", "if i < 0 and bool"),
    Edit(
        "the coin of the row before",
        "stopping_probability(target[..., i, :], draft[..., i, :]",
        "stopping_probability(target[..., i - 1, :], draft[..., i - 1, :]",
    ),
    Edit("the coin from an older draft row", "draft[..., i, :], weight)", "draft[..., i - 1, :], weight)"),
    Edit("one uniform for all coins", "uniforms[..., i - 1]", "uniforms[..., 0]"),
    Edit("the coins use the uniforms of the drafts", "Purpose.ACCEPT, count", "Purpose.DRAFT, count"),
    Edit("the last draw uses the uniform of a coin", "Purpose.FINAL, 1", "Purpose.ACCEPT, 1"),
    Edit("the last token from the first row", "p = row_at(target, accepted)", "p = row_at(target, accepted * 0)"),
    Edit(
        "the residual of the first draft row",
        "row_or_zeros(draft, accepted, p)",
        "row_or_zeros(draft, accepted * 0, p)",
    ),
    Edit("the residual forgets the weight", "_entry(weights, accepted)", "_entry(weights, accepted * 0)"),
    Edit("no residual", "left = _residual(p, row_or_zeros(draft, accepted, p), _entry(weights, accepted))", "left = p"),
    Edit("q - p for p - q", "return positive(above)", "return positive(-above)"),
    Edit("what is left not clamped", "return positive(above)", "return above"),
    Edit(
        "the expected acceptance forgets the weights",
        "weights[..., :-1, None] * target[..., :-1, :]",
        "target[..., :-1, :]",
    ),
]
EVERY = 3
"""One in so many is made with every change, all by `make test-slow`: each is a program of its own."""
EDITS = [("token", edit) for edit in TOKEN] + [("block", edit) for edit in BLOCK]


def proofs(rule, source):
    """Run the proofs of a rule against the package in the folder `source`, to the first failure."""
    words = [sys.executable, "-m", "pytest", "-x", "-q", "-n0", "--tb=line", PROOFS[rule]]
    words += ["-p", "no:cacheprovider", "-p", "no:hypothesispytest"]  # a cache would be shared, the plugin costs time
    return subprocess.run(
        words, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(source)}, capture_output=True, text=True, check=False
    )


@pytest.fixture
def source(tmp_path):
    """A folder with a copy of the package, without its heavy weights."""
    shutil.copytree(PACKAGE, tmp_path / PACKAGE.name, ignore=shutil.ignore_patterns("assets", "*.pyc.*"))
    return tmp_path


@pytest.mark.parametrize("rule", PROOFS)
def test_the_copy_without_an_edit_passes(rule, source):
    done = proofs(rule, source)
    assert done.returncode == PASSED, done.stdout


def cases():
    for i, (rule, edit) in enumerate(EDITS):
        yield pytest.param(rule, edit, id=f"{rule}: {edit.fault}", marks=[pytest.mark.slow] * (i % EVERY > 0))


@pytest.mark.parametrize(("rule", "edit"), list(cases()))
def test_an_edit_of_one_line_is_caught(rule, edit, source):
    path = source / PACKAGE.name / "rules" / f"{rule}.py"
    text = path.read_text()
    assert text.count(edit.old) == 1
    path.write_text(text.replace(edit.old, edit.new))
    done = proofs(rule, source)
    assert done.returncode == FAILED, done.stdout
    assert "1 failed" in done.stdout
    assert "assert" in done.stdout, "not a law that is another, but a program that cannot run"


def test_the_edits_are_many_and_no_two_the_same():
    assert len(EDITS) >= 25
    assert len({(rule, edit.old, edit.new) for rule, edit in EDITS}) == len(EDITS)
    assert len({(rule, edit.fault) for rule, edit in EDITS}) == len(EDITS)
