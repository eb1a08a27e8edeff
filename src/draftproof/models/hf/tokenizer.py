"""The tokenizer of a model folder, as transformers would use it. In: a folder. Out: `JsonTokenizer`.

What begins a text follows the tokenizer (its post-processor, as in transformers), not config.json: Qwen names a BOS
there and puts none, Llama puts one. A chat template is filled in by transformers.
"""

from collections.abc import Callable
from itertools import takewhile
from operator import itemgetter
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer as Backend

from draftproof.errors import MissingExtraError, UsageError
from draftproof.models.hf.folder import first_line
from draftproof.models.hf.quiet import quiet
from draftproof.models.hf.spec import HfSpec
from draftproof.models.json_tokenizer import JsonTokenizer, ends_of_folder, read_backend
from draftproof.models.llama_config import read_json

__all__ = ["tokenizer_of"]


def tokenizer_of(folder: Path, spec: HfSpec) -> JsonTokenizer:
    """Return the tokenizer in a folder.

    Raises:
        UsageError: if there is none, or it is damaged.
    """
    path = folder / "tokenizer.json"
    backend = read_backend(path) if path.is_file() else _converted(folder, spec)
    settings_path = folder / "tokenizer_config.json"
    settings = read_json(settings_path) if settings_path.is_file() else {}
    end = _id(backend, settings.get("eos_token"))
    eos = ends_of_folder(folder) | ({end} if end is not None else frozenset())
    return JsonTokenizer(backend, _opening(backend), eos, _asking(folder, spec, settings))


def _converted(folder: Path, spec: HfSpec) -> Backend:
    """Return the tokenizer that transformers makes of files other than tokenizer.json."""
    try:
        return _of_transformers(folder, spec).backend_tokenizer
    except AttributeError:
        reason = "its tokenizer is written in Python only"
    except Exception as error:  # noqa: BLE001 (each kind of tokenizers has its own)
        reason = first_line(error)
    raise UsageError(
        f"{folder}: no tokenizer in it; a model folder holds tokenizer.json, or what transformers can make a fast "
        f"tokenizer of ({reason.rstrip(':')})"
    )


def _of_transformers(folder: Path, spec: HfSpec) -> Any:
    from transformers import AutoTokenizer

    with quiet():
        return AutoTokenizer.from_pretrained(folder, trust_remote_code=spec.trust_remote_code, local_files_only=True)


def _opening(backend: Backend) -> list[int]:
    """Return the ids that the tokenizer puts before every text; what it puts behind one would end a prompt."""
    found = backend.encode("a")
    return [token for token, _ in takewhile(itemgetter(1), zip(found.ids, found.special_tokens_mask, strict=True))]


def _id(backend: Backend, token: Any) -> int | None:
    """Return the id of a token as tokenizer_config.json names it."""
    text = token.get("content") if isinstance(token, dict) else token
    return backend.token_to_id(text) if isinstance(text, str) else None


def _asking(folder: Path, spec: HfSpec, settings: dict[str, Any]) -> Callable[[str], str] | None:
    """Return what fills in the chat template of a folder; None if there is no template."""
    if "chat_template" not in settings and not (folder / "chat_template.jinja").is_file():
        return None

    def ask(message: str) -> str:
        messages = [{"role": "user", "content": message}]
        try:
            found = _of_transformers(folder, spec).apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True
            )
        except ImportError:
            raise MissingExtraError("needs jinja2; install it with: pip install 'draftproof[hf]'", "chat") from None
        except Exception as error:  # noqa: BLE001 (a template may raise whatever it likes)
            raise UsageError(
                f"the chat template of {folder} cannot be filled in: {first_line(error)}", "chat"
            ) from None
        return str(found)

    return ask
