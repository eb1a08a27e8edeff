"""From sampling options to the two pipelines of a run: the target's, and the draft's.

In: options as typed, a tokenizer. Out: pipelines. Words become token ids here, and nowhere else.
"""

from collections.abc import Sequence
from typing import Any

from draftproof.engine.options import Options
from draftproof.errors import UsageError
from draftproof.models.tokenizer import Tokenizer
from draftproof.warpers.base import Warper
from draftproof.warpers.grammar import KINDS, grammar
from draftproof.warpers.pipeline import Pipeline, sampling

__all__ = ["DRAFT_SAMPLING", "check_controls", "pipelines"]

DRAFT_SAMPLING = ("same", "raw")
"""Whether the draft's law goes through the target's warpers (which accepts most), or stays as its model says."""
_NUMBERS = ("temperature", "top_k", "top_p", "min_p", "typical_p", "repetition_penalty", "presence_penalty",
            "frequency_penalty", "min_tokens")  # fmt: skip


def check_controls(options: Options) -> None:
    """Refuse values out of range, as far as that needs no model.

    Raises:
        UsageError: naming the first of them.
    """
    if options.draft_sampling not in DRAFT_SAMPLING:
        raise UsageError(f"got {options.draft_sampling!r}; allowed are {', '.join(DRAFT_SAMPLING)}", "draft_sampling")
    if not all(options.bad_words):
        raise UsageError("got an empty text; give at least one character", "bad_words")
    sampling(**_numbers(options), logit_bias=options.logit_bias, stop_tokens=frozenset({0}))


def pipelines(
    options: Options, tokenizer: Tokenizer, ends: frozenset[int], processors: Sequence[Warper] = ()
) -> tuple[Pipeline, Pipeline]:
    """Return the target's pipeline and the draft's.

    Args:
        options: all of them.
        tokenizer: the target's.
        ends: tokens that end a text: min_tokens forbids them, a grammar ends with one.
        processors: further warpers.

    Raises:
        UsageError: if a token id is none of the vocabulary, or a grammar is none.
    """
    _check_ids("logit_bias", options.logit_bias, tokenizer)
    _check_ids("allowed_token_ids", options.allowed_token_ids, tokenizer)
    _check_ids("stop_token_ids", options.stop_token_ids, tokenizer)
    pipeline = sampling(
        **_numbers(options),
        logit_bias=options.logit_bias,
        bad_words=[ids for word in options.bad_words for ids in tokenizer.spellings(word, "bad_words")],
        stop_tokens=ends,
        allowed_tokens=options.allowed_token_ids or None,
        grammar=_grammar(options, tokenizer, ends),
        processors=tuple(processors),
    )
    return pipeline, Pipeline() if options.draft_sampling == "raw" else pipeline


def _numbers(options: Options) -> dict[str, Any]:
    return {name: getattr(options, name) for name in _NUMBERS}


def _check_ids(setting: str, ids: Any, tokenizer: Tokenizer) -> None:
    largest = max(tokenizer.vocabulary.values())
    if strange := [token for token in ids if not 0 <= token <= largest]:
        raise UsageError(f"got the token id {strange[0]}; allowed are 0 to {largest}", setting)


def _grammar(options: Options, tokenizer: Tokenizer, ends: frozenset[int]) -> Warper | None:
    for kind in KINDS:
        if text := getattr(options, kind):
            return grammar(kind, text, tokenizer.to_json(), ends)
    return None
