"""Our own engine, as a user's program runs it. In: SPECs. Out: completions, several texts decoded together."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from draftproof.audit.base import Answer, Asked, Counters, Request

__all__ = ["CLAIMS", "DRAFTED", "EXTRA", "FORMAT", "LIBRARY", "METHODS", "start"]

LIBRARY = "draftproof"
EXTRA = ""
FORMAT = ""
METHODS = ("block", "token", "match", "coupled", "ngram", "suffix")
"""Rules, with the draft model; and lookups, with the default rule."""
DRAFTED = METHODS[:4]
CLAIMS = (
    "repetition_penalty", "presence_penalty", "frequency_penalty", "temperature", "top_k", "top_p", "min_p",
)  # fmt: skip


def start(asked: "Asked") -> "_Running":
    """See `Subject.start`."""
    return _Running(asked)


class _Running:
    """See `Running`."""

    def __init__(self, asked: "Asked") -> None:
        from importlib.metadata import version

        from draftproof.drafters.catalogue import load_drafter
        from draftproof.drafters.none import NoDrafter
        from draftproof.engine.length import FixedLength
        from draftproof.engine.loop import Engine
        from draftproof.engine.setup import Models
        from draftproof.rules.catalogue import DEFAULT_RULE, rule_named
        from draftproof.warpers.pipeline import sampling

        models, method = Models(), asked["method"]
        target = models.load(asked["target"], "target")
        settings: dict[str, Any] = {**asked["settings"], "top_k": int(asked["settings"]["top_k"])}
        pipeline, drawn = sampling(**settings), method in DRAFTED
        drafter: Any = NoDrafter()
        if asked["speculative"]:
            drafter = load_drafter(asked["drafter"] if drawn else method, target, pipeline, models.load)
        rule = rule_named(method if drawn else DEFAULT_RULE)
        model = target.model.steady() if rule.name == "coupled" else target.model
        self._engine = Engine(model, drafter, rule, pipeline, FixedLength(asked["num_speculative_tokens"]))
        self._eos = target.tokenizer.eos
        self._drafted = self._accepted = 0
        self.versions: Mapping[str, str] = {"draftproof": version("draftproof")}

    def sample(self, requests: "Sequence[Request]") -> "list[Answer]":
        """See `Running.sample`."""
        from draftproof.engine.batch import Request as Text
        from draftproof.engine.batch import decode
        from draftproof.engine.stop import Stop
        from draftproof.errors import DraftproofError
        from draftproof.noise import PhiloxNoise

        answers: list[Any] = [{"tokens": [], "logprobs": [], "rounds": []} for _ in requests]
        limit = self._engine.target.context_limit
        texts = [
            Text(self._engine, one["prompt"], Stop(one["max_tokens"], limit, self._eos), (PhiloxNoise(one["seed"]),))
            for one in requests
        ]
        for number, _, what in decode(texts, len(texts)):
            if isinstance(what, DraftproofError):
                raise what
            if what is not None:
                answer, drafted = answers[number], len(what.drafted)
                answer["tokens"] += what.emitted
                answer["logprobs"] += what.logprobs
                answer["rounds"].append([drafted, len(what.emitted)])
                self._drafted += drafted
                self._accepted += len(what.path)
        return answers

    def counters(self) -> "Counters":
        """See `Running.counters`."""
        return {"drafted": self._drafted, "accepted": self._accepted}

    def close(self) -> None:
        """See `Running.close`."""
