"""From what a user types (a SPEC) to a model with its tokenizer. In: `tiny:target`, `hf:NAME`, `gguf:PATH`.

Out: `LoadedModel`. Backends are imported only when they are asked for.
"""

from reprlib import repr as shortened

from draftproof.errors import MissingExtraError, UsageError
from draftproof.models.backend import Backend, LoadedModel
from draftproof.models.gguf.backend import GgufBackend
from draftproof.models.hf.backend import HfBackend
from draftproof.models.tiny_backend import TinyBackend

__all__ = ["BACKENDS", "SPECS", "check_model", "fingerprint", "load"]

BACKENDS: dict[str, Backend] = {"tiny": TinyBackend(), "hf": HfBackend(), "gguf": GgufBackend()}
"""By the word before the colon."""
SPECS = "; ".join(backend.form for backend in BACKENDS.values())


def load(spec: str, setting: str) -> LoadedModel:
    """Return the model that `spec` names.

    Args:
        spec: backend and name, `tiny:target`.
        setting: the setting the spec came from (`target`, `drafter`), for the error.

    Raises:
        UsageError: if there is no such model, it cannot be read, or it would not fit into memory.
        MissingExtraError: if a library is not installed that it needs.
    """
    backend, name = _taken_apart(spec, setting)
    try:
        return backend.load(name)
    except MissingExtraError as error:
        raise MissingExtraError(error.message, setting) from None
    except UsageError as error:
        raise UsageError(f"got {_shown(spec)}; {error.message}", setting) from None


def check_model(spec: str, setting: str) -> None:
    """Refuse a SPEC that names no model; its weights are not read.

    Raises:
        UsageError: with what is allowed.
        MissingExtraError: if a library is not installed that it needs.
    """
    backend, name = _taken_apart(spec, setting)
    try:
        backend.check(name)
    except MissingExtraError as error:
        raise MissingExtraError(error.message, setting) from None
    except UsageError as error:
        allowed = _allowed(setting, backend.form)
        raise UsageError(f"got {_shown(spec)}, but {error.message}; {allowed}", setting) from None


def fingerprint(spec: str, setting: str) -> str:
    """Return twelve hexadecimal digits that change with anything that makes the model what it is.

    Raises:
        UsageError: if there is no such model.
    """
    check_model(spec, setting)
    backend, name = _taken_apart(spec, setting)
    return backend.fingerprint(name)


def _taken_apart(spec: str, setting: str) -> tuple[Backend, str]:
    kind, _, name = spec.partition(":")
    if kind not in BACKENDS or not name:
        raise UsageError(f"got {_shown(spec)}; {_allowed(setting, SPECS)}", setting)
    return BACKENDS[kind], name


def _allowed(setting: str, forms: str) -> str:
    return f"allowed are {forms}" + (", or none" if setting == "drafter" else "")


def _shown(spec: str) -> str:
    """Return a SPEC as errors show it: whole, if it is as long as those that people type."""
    return repr(spec) if len(spec) <= 200 else shortened(spec)
