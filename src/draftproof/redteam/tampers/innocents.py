"""Drafts that look broken and are not: stale, refused, renamed, wrong, and still the law that is tested.

In: an honest engine. Out: the same with another way to draft. No witness may call one of them LOSSY.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from draftproof.arrays import array_namespace
from draftproof.drafters.base import Drafter
from draftproof.drafters.model import ModelDrafter
from draftproof.drafters.none import NoDrafter
from draftproof.engine.loop import Engine
from draftproof.engine.passes import Pass
from draftproof.engine.proposal import Proposal
from draftproof.engine.stop import Stop
from draftproof.redteam.base import Tamper
from draftproof.redteam.handed import rebuilt
from draftproof.types import Draws, Noise, Probs, Tokens
from draftproof.warpers.pipeline import Pipeline
from draftproof.warpers.temperature import Temperature
from draftproof.witness.base import Decoder, as_shipped

__all__ = ["TAMPERS"]

FAMILY = "innocent drafts"
UNLIKELY = Fraction(1, 3)
"""After a draft less probable than that nothing more is drafted."""

Read = Callable[[Tokens], Tokens | None]


def _all(context: Tokens) -> Tokens:
    return context


def _as_it_is(law: Probs) -> Probs:
    return law


@dataclass(frozen=True)
class _Drafting:
    """A drafter that starts from nothing for every token, reads another context, or says something else."""

    drafter: Drafter
    read: Read = _all
    say: Callable[[Probs], Probs] = _as_it_is

    def law(self, context: Tokens) -> Probs | None:
        """See `Drafter.law`."""
        seen = self.read(context)
        law = None if seen is None else self.drafter.fresh().law(seen)
        return None if law is None else self.say(law)

    def rewind(self, length: int) -> None:
        """See `Drafter.rewind`: nothing is remembered."""

    def fresh(self) -> "_Drafting":
        """See `Drafter.fresh`."""
        return self


def _reading(read: Read, say: Callable[[Probs], Probs] = _as_it_is) -> Callable[[Engine], Engine]:
    return lambda engine: replace(engine, drafter=_Drafting(engine.drafter, read, say))


def _lagging(context: Tokens) -> Tokens:
    return context[:-1] or context


def _holed(context: Tokens) -> Tokens:
    return [*context[:-2], context[-1]]


def _every_second(context: Tokens) -> Tokens | None:
    return context if len(context) % 2 else None


def _least_probable(law: Probs) -> Probs:
    return Temperature(0).laws(array_namespace(law).max(law) - law, "laws")


def _of_the_target(say: Callable[[Probs], Probs] = _as_it_is) -> Callable[[Engine], Engine]:
    return lambda engine: replace(engine, drafter=_Drafting(ModelDrafter(engine.target, engine.pipeline), say=say))


def _unwarped(engine: Engine) -> Engine:
    drafter = engine.drafter
    return replace(
        engine, drafter=replace(drafter, pipeline=Pipeline()) if isinstance(drafter, ModelDrafter) else drafter
    )


@dataclass(frozen=True)
class _EndingAfter(Engine):
    """Ends a block after the first draft that is one of the last."""

    last: Callable[[Probs, int], bool] = lambda law, token: law[token] < UNLIKELY

    def propose(self, drafter: Drafter, tokens: Sequence[int], length: int, draws: Draws) -> Proposal:
        """See `Engine.propose`."""
        whole = super().propose(drafter, tokens, length, draws)
        laws = [] if whole.laws is None else list(whole.laws)
        ends = [
            i + 1 for i, (law, token) in enumerate(zip(laws, whole.tree.tokens, strict=True)) if self.last(law, token)
        ]
        if not ends:
            return whole
        drafter.rewind(len(tokens) - 1)
        return super().propose(drafter, tokens, ends[0], draws)


@dataclass(frozen=True)
class _EndingAtStops:
    """An engine that drafts nothing after a drafted stop token."""

    engine: Engine

    def decode(self, prompt: Sequence[int], stop: Stop, noise: Noise) -> Iterator[Pass]:
        """See `Engine.decode`."""
        engine = rebuilt(_EndingAfter, last=lambda law, token: token in stop.tokens)(self.engine)
        return engine.decode(prompt, stop, noise)


def _innocent(
    name: str, story: str, seen_in: str, apply: Callable[[Engine], Decoder], fixture: str | None = None
) -> Tamper:
    return Tamper(name, FAMILY, story, seen_in, apply, harmless=True, fixture=fixture)


TAMPERS = (
    _innocent("as-shipped", "Is the engine itself.", "the control of all controls", as_shipped, "Q00"),
    _innocent(
        "draft-of-a-stale-context",
        "Drafts from a context that lacks the last token, and records the law that it drew from.",
        "A70, vllm-project/vllm-metal PR #721",
        _reading(_lagging),
        "Q18",
    ),
    _innocent(
        "hole-in-the-draft-cache",
        "Drafts from a context in which the token before the last is missing.",
        "A76, TensorRT-LLM PR #5285",
        _reading(_holed),
    ),
    _innocent(
        "draft-cache-always-cleared",
        "Reads the whole text again for every draft.",
        "A78, sglang PR #21125, and what follows from it",
        _reading(_all),
    ),
    _innocent(
        "draft-refused-every-second-time",
        "Proposes nothing after texts of even length, so that passes without a draft come in between.",
        "A73, jjang-ai/vmlx PR #150",
        _reading(_every_second),
    ),
    _innocent(
        "draft-ids-renamed-with-their-law",
        "Turns the draft's ids round, and its law with them: bad guesses, honestly recorded.",
        "A121, sglang PR #23838, done right",
        _reading(_all, lambda law: law[..., ::-1]),
    ),
    _innocent(
        "draft-without-settings",
        "Leaves the draft's law as the model gave it; the target's is warped.",
        "B22, vllm PR #48932",
        _unwarped,
    ),
    _innocent(
        "drafts-always-wrong",
        "Drafts the token that the target likes least.",
        "C29, vllm #40875",
        _of_the_target(_least_probable),
    ),
    _innocent(
        "draft-of-the-target-itself", "Uses the target as its own draft.", "the self-draft oracle", _of_the_target()
    ),
    _innocent(
        "no-draft", "Proposes nothing at all.", "plain decoding", lambda engine: replace(engine, drafter=NoDrafter())
    ),
    _innocent(
        "nothing-after-an-unlikely-draft",
        "Keeps a draft that its own model finds unlikely, and drafts nothing after it.",
        "B02, llama.cpp #25908",
        rebuilt(_EndingAfter),
    ),
    _innocent(
        "nothing-after-a-drafted-stop",
        "Keeps a drafted stop token, and drafts nothing after it.",
        "A101, openvino.genai PR #3293, done right",
        _EndingAtStops,
    ),
)
