"""The embedded pair as a subject: a short generation of real float32 models. In: nothing. Out: a `Run`."""

from draftproof.drafters.model import ModelDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.stop import Stop
from draftproof.models.catalogue import load
from draftproof.rules.token import TokenRule
from draftproof.warpers.pipeline import sampling
from draftproof.witness.rescoring import Run

__all__ = ["embedded_run"]

PROMPT, TOKENS, TEMPERATURE = "And the king said", 12, 0.8


def embedded_run() -> Run:
    """Return a dozen tokens of the embedded pair, drafting three at a time."""
    target, tokenizer = load("tiny:target", "target")
    draft, _ = load("tiny:draft", "drafter")
    pipeline = sampling(TEMPERATURE, top_p=0.95)
    engine = Engine(target, ModelDrafter(draft, pipeline), TokenRule(), pipeline, FixedLength(3))
    prompt = tuple(tokenizer.encode(PROMPT))
    return Run("embedded pair", engine, prompt, Stop(TOKENS, target.context_limit, tokenizer.eos))
