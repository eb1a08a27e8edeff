"""A cache that goes wrong under a published model is seen, in spite of the rounding."""

import pytest

from draftproof.redteam.campaign import tamper_named
from draftproof.rules.catalogue import RULES
from draftproof.witness.base import Subject
from draftproof.witness.pair import ReadAnew, witnesses_of_pair
from draftproof.witness.rescoring import Run
from real_of_tests import OF_TARGETS

pytestmark = pytest.mark.real


@pytest.mark.parametrize("target", ["hf smollm2-135m", "gguf smollm2-135m"])  # the larger ones take four minutes more
@pytest.mark.parametrize("name", ["as-shipped", "rejected-draft-stays", "one-entry-too-many-trimmed", "idle-row-stays"])
def test_a_cache_that_goes_wrong_is_seen(run_of, target, name):
    prepared = run_of(OF_TARGETS[target], max_tokens=16, temperature=0.8, top_p=0.95, rule="token")
    anew, *_ = witnesses_of_pair([Run("text", prepared.engine, tuple(prepared.prompt), prepared.stop)])
    mixed = [run for run in anew.runs if run.name.endswith("right and wrong drafts")]
    found = list(ReadAnew(mixed).examine(Subject(name, RULES["token"], assemble=tamper_named(name).apply)))
    wanted = "LOSSLESS" if name == "as-shipped" else "LOSSY"
    assert [one.verdict for one in found if one.witness == "replay"] == [wanted]
