"""Whether what came back can be scored at all, before anybody bets on it.

In: requests, answers. Out: nothing, or a `SubjectFailureError` that says what is wrong and what to change.

It looks at form only. To leave out a completion because of its tokens would be to choose among them.
"""

from collections.abc import Mapping, Sequence

from draftproof.audit.base import Answer, Request
from draftproof.audit.process import SubjectFailureError
from draftproof.models.tokenizer import Tokenizer

__all__ = ["check", "check_count", "check_seeds", "identified"]


def identified(answers: Sequence[Answer], tokenizer: Tokenizer) -> None:
    """Put ids in the place of strings, where an engine returns these.

    Raises:
        SubjectFailureError: if a string is that of no token, or of several; or if there is text only, which can be
            split into tokens in more than one way.
    """
    if any("text" in answer for answer in answers):
        raise _refused(
            "the engine returns text only, which can be split into tokens in more than one way; token ids are needed, "
            "or the exact string of each token. --black-box compares texts, with speculation and without"
        )
    wanted = {word for answer in answers for word in answer.get("strings", ())}
    if not wanted:
        return
    found = dict[str, list[int]]()
    for word, token in tokenizer.vocabulary.items():
        for spelling in {word, tokenizer.decode([token])}:
            found.setdefault(spelling, []).append(token)
    for word in wanted:
        if len(found.get(word, ())) != 1:
            raise _refused(
                f"{word!r} is the string of {len(found.get(word, ()))} tokens, so ids cannot be told from it"
            )
    for answer in answers:
        if "strings" in answer:
            answer["tokens"] = [found[word][0] for word in answer["strings"]]


def check(asked: Sequence[Request], answers: Sequence[Answer], vocab_size: int, ends: frozenset[int]) -> None:
    """Refuse a batch that is not what was asked for.

    Args:
        asked: the requests.
        answers: what came.
        vocab_size: of the reference.
        ends: tokens that end a text.

    Raises:
        SubjectFailureError: at the first thing that is wrong.
    """
    check_count(asked, answers)
    for request, answer in zip(asked, answers, strict=True):
        tokens = answer["tokens"]
        if not tokens:
            raise _refused("a completion came without token ids; audit an engine or a server setting that returns them")
        if outside := [token for token in tokens if not 0 <= token < vocab_size]:
            raise _refused(
                f"token {outside[0]} came, and the reference's vocabulary ends at {vocab_size - 1}: the engine runs "
                "another model, or another tokenizer"
            )
        if len(tokens) > request["max_tokens"]:
            raise _refused(f"{len(tokens)} tokens came where {request['max_tokens']} were the most")
        if len(tokens) < request["max_tokens"] and tokens[-1] not in ends:
            raise _refused(
                f"a completion of {len(tokens)} tokens ended without an end-of-sequence token, and "
                f"{request['max_tokens']} were asked for: the engine cuts completions, or leaves the last token out"
            )
        _check_rounds(answer)


def check_count(asked: Sequence[Request], answers: Sequence[Answer]) -> None:
    """Refuse a batch in which completions are missing, or too many.

    Raises:
        SubjectFailureError: if there are.
    """
    if len(answers) != len(asked):
        raise _refused(f"{len(answers)} completions came where {len(asked)} were asked for")


def check_seeds(same: Sequence[Answer], other: Answer, chance: float) -> str | None:
    """Return what the engine does with seeds, in words, if it is not what they are for.

    Args:
        same: two completions of one request.
        other: of the same prompt with another seed.
        chance: how probable it is, at most, that two independent completions are as alike as those.

    Raises:
        SubjectFailureError: if all seeds give the same completion: then tokens are not independent.
    """
    if other["tokens"] == same[0]["tokens"] and chance < 1e-9:
        raise _refused("the same completion came for two different seeds: the engine ignores seeds and repeats itself")
    return None if same[0]["tokens"] == same[1]["tokens"] else "one seed gave two different completions"


def _check_rounds(answer: Mapping[str, object]) -> None:
    rounds, tokens = answer.get("rounds"), answer["tokens"]
    if isinstance(rounds, list) and isinstance(tokens, list) and sum(one[1] for one in rounds) != len(tokens):
        raise _refused("rounds do not add up to the tokens of a completion")


def _refused(message: str) -> SubjectFailureError:
    return SubjectFailureError("unusable", message)
