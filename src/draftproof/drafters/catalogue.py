"""From what a user types (a SPEC) to a drafter: `none`, `ngram:1-4`, `suffix:FILE`, `chain:ngram,tiny:draft`, a model.

In: a SPEC, the target. Out: a `Drafter`. A word that names nothing is refused before anything is loaded.
"""

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from reprlib import repr as shortened
from typing import Literal, NamedTuple

from draftproof.drafters.base import Drafter
from draftproof.drafters.chain import ChainDrafter
from draftproof.drafters.model import ModelDrafter
from draftproof.drafters.ngram import NgramDrafter
from draftproof.drafters.none import NoDrafter
from draftproof.drafters.suffix import SuffixDrafter, Suffixes
from draftproof.drafters.vocabulary import TranslatedDrafter
from draftproof.errors import UsageError
from draftproof.models.backend import LoadedModel
from draftproof.models.base import LayeredModel
from draftproof.models.catalogue import SPECS, check_model, fingerprint, load
from draftproof.models.tokenizer import Tokenizer
from draftproof.models.words import Words, first_difference, translation
from draftproof.warpers.pipeline import Pipeline

__all__ = ["DRAFTER_SPECS", "check_spec", "fingerprint_of", "load_drafter"]

_WITHOUT_MODEL = "ngram, ngram:MIN-MAX, suffix, suffix:FILE, early_exit:N, chain:SPEC,SPEC"
DRAFTER_SPECS = f"none, {_WITHOUT_MODEL}, or a model: {SPECS}"
_SHORTEST, _LONGEST, _LONGEST_NGRAM = 1, 4, 16
_MOST_BYTES = 2**22
"""Of a corpus: about a million tokens, which take some ten seconds to read and 400 MB to keep."""
_Load = Callable[[str, str], LoadedModel]


class _Spec(NamedTuple):
    """A SPEC, taken apart."""

    kind: Literal["none", "ngram", "suffix", "early_exit", "chain", "model"]
    text: str
    """As it was typed."""
    numbers: tuple[int, ...] = ()
    """MIN and MAX, or N."""
    corpus: Path | None = None
    members: tuple["_Spec", ...] = ()


def check_spec(spec: str) -> None:
    """Refuse a SPEC that names nothing; no model is loaded.

    Raises:
        UsageError: with what is allowed.
    """
    _taken_apart(spec)


def load_drafter(spec: str, target: LoadedModel, pipeline: Pipeline, load: _Load = load) -> Drafter:
    """Return the drafter that `spec` names.

    Args:
        spec: what a user typed.
        target: what it drafts for. A model of another vocabulary is translated, see `vocabulary.py`.
        pipeline: the warpers of the laws of models; they speak of the target's tokens.
        load: (spec, setting) -> a model.

    Raises:
        UsageError: if there is no such drafter, or its tokens are others; the message has the first difference.
    """
    return _loaded(_taken_apart(spec), target, pipeline, load)


def fingerprint_of(spec: str) -> str:
    """Return what changes with anything that makes the drafter what it is, beside the target.

    Raises:
        UsageError: if there is no such drafter.
    """
    return _fingerprint(_taken_apart(spec))


def _taken_apart(text: str) -> _Spec:
    kind, colon, rest = text.partition(":")
    if text == "none":
        return _Spec("none", text)
    if kind == "ngram":
        return _Spec("ngram", text, numbers=_range(text, rest) if colon else (_SHORTEST, _LONGEST))
    if kind == "suffix":
        return _Spec("suffix", text, corpus=_corpus(text, rest) if colon else None)
    if kind == "early_exit":
        if not re.fullmatch(r"0*[1-9][0-9]{0,5}", rest, re.ASCII):
            raise _refused(text, "allowed is early_exit:N with N the first layers of the target to use, 1 or more")
        return _Spec("early_exit", text, numbers=(int(rest),))
    if kind == "chain":
        return _Spec("chain", text, members=_members(text, rest))
    try:
        check_model(text, "drafter")
    except UsageError as error:
        raise UsageError(f"{error.message}; without a draft model: {_WITHOUT_MODEL}", "drafter") from None
    return _Spec("model", text)


def _range(text: str, rest: str) -> tuple[int, int]:
    found = re.fullmatch(r"([0-9]{1,3})-([0-9]{1,3})", rest, re.ASCII)
    shortest, longest = (int(number) for number in found.groups()) if found else (0, 0)
    if not 1 <= shortest <= longest <= _LONGEST_NGRAM:
        raise _refused(text, f"allowed is ngram:MIN-MAX with 1 <= MIN <= MAX <= {_LONGEST_NGRAM}, as ngram:2-4")
    return shortest, longest


def _corpus(text: str, rest: str) -> Path:
    try:
        path = Path(rest).expanduser()
        size = path.stat().st_size if path.is_file() else None
    except (RuntimeError, OSError, ValueError) as error:  # no such home, a name that is too long, a zero byte in it
        raise _refused(text, f"which is no path: {getattr(error, 'strerror', None) or error}") from None
    if size is None:
        raise _refused(text, "but there is no such file; allowed is suffix:FILE with a text file, or suffix alone")
    if not 0 < size <= _MOST_BYTES:
        raise _refused(text, f"a file of {size} bytes; allowed are 1 to {_MOST_BYTES}")
    return path


def _members(text: str, rest: str) -> tuple[_Spec, ...]:
    words = rest.split(",")
    if len(words) < 2:
        raise _refused(text, "allowed is chain:SPEC,SPEC with two or more drafters, none of which has a comma in it")
    if any(word.partition(":")[0] == "chain" for word in words):
        raise _refused(text, "a chain holds no other chain; name all drafters in one")
    return tuple(_taken_apart(word) for word in words)


def _loaded(spec: _Spec, target: LoadedModel, pipeline: Pipeline, load: _Load) -> Drafter:
    vocab_size = target.model.vocab_size
    match spec.kind:
        case "none":
            return NoDrafter()
        case "ngram":
            shortest, longest = spec.numbers
            return NgramDrafter(vocab_size, shortest, longest)
        case "suffix":
            corpus = Suffixes()
            corpus.extend([] if spec.corpus is None else _tokens(spec, spec.corpus, target.tokenizer))
            return SuffixDrafter(vocab_size, corpus)
        case "early_exit":
            return _first_layers(spec, target, pipeline)
        case "chain":
            return ChainDrafter(tuple(_loaded(member, target, pipeline, load) for member in spec.members))
        case "model":
            return _model(spec, target, pipeline, load(spec.text, "drafter"))


def _tokens(spec: _Spec, corpus: Path, tokenizer: Tokenizer) -> list[int]:
    try:
        return tokenizer.encode(corpus.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise _refused(spec.text, f"which cannot be read as a text in UTF-8 ({error})") from None


def _first_layers(spec: _Spec, target: LoadedModel, pipeline: Pipeline) -> ModelDrafter:
    model, (wanted,) = target.model, spec.numbers
    if not isinstance(model, LayeredModel):
        raise _refused(spec.text, "but the layers of this target cannot be used one by one")
    if not 1 <= wanted < model.layers:
        raise _refused(spec.text, f"allowed are 1 to {model.layers - 1} layers: the target has {model.layers}")
    return ModelDrafter(model.early_exit(wanted), pipeline)


def _model(spec: _Spec, target: LoadedModel, pipeline: Pipeline, draft: LoadedModel) -> Drafter:
    words = [Words(loaded.tokenizer, loaded.model.vocab_size) for loaded in (draft, target)]
    translated = translation(*words)
    if translated is None:
        return ModelDrafter(draft.model, pipeline)
    if difference := first_difference(*words):
        raise _refused(spec.text, f"whose tokens are not the target's: {difference}")
    return TranslatedDrafter(ModelDrafter(draft.model), translated, pipeline)


def _fingerprint(spec: _Spec) -> str:
    match spec.kind:
        case "ngram":
            return f"ngram:{spec.numbers[0]}-{spec.numbers[1]}"
        case "suffix":
            read = b"" if spec.corpus is None else spec.corpus.read_bytes()
            return f"suffix:{hashlib.sha256(read).hexdigest()[:12]}" if read else "suffix"
        case "chain":
            return "chain:" + ",".join(_fingerprint(member) for member in spec.members)
        case "model":
            return fingerprint(spec.text, "drafter")
        case "early_exit":
            return f"early_exit:{spec.numbers[0]}"
        case "none":
            return "none"


def _refused(text: str, reason: str) -> UsageError:
    return UsageError(f"got {shortened(text)}, {reason}", "drafter")
