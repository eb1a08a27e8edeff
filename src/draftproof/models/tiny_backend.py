"""`tiny:target`, `tiny:draft`, `tiny:PATH`: the embedded pair, and folders of small Llama models. See `Backend`."""

import hashlib
from importlib.resources import files
from pathlib import Path
from reprlib import repr as shortened

from draftproof.errors import UsageError
from draftproof.models.backend import LoadedModel
from draftproof.models.json_tokenizer import of_folder
from draftproof.models.llama_folder import load as load_folder

__all__ = ["EMBEDDED", "TinyBackend"]

EMBEDDED = ("target", "draft")


class TinyBackend:
    """See `Backend`."""

    form = "tiny:target, tiny:draft (the embedded pair), tiny:PATH (a Hugging Face folder of a small Llama model)"

    def check(self, name: str) -> None:
        """See `Backend.check`."""
        _folder(name)

    def load(self, name: str) -> LoadedModel:
        """See `Backend.load`."""
        folder = _folder(name)
        return LoadedModel(load_folder(folder), of_folder(folder))

    def fingerprint(self, name: str) -> str:
        """See `Backend.fingerprint`."""
        folder = _folder(name)
        files_read = [folder / "config.json", folder / "tokenizer.json", *sorted(folder.glob("*.safetensors"))]
        found = hashlib.sha256()
        for path in files_read:
            if path.is_file():
                found.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
        return found.hexdigest()[:12]


def _folder(name: str) -> Path:
    """Return the folder that a name means, without reading it."""
    if name in EMBEDDED:
        return Path(str(files("draftproof") / "assets" / name))
    try:
        folder = Path(name).expanduser()
        found = folder.is_dir()
    except (RuntimeError, OSError, ValueError) as error:  # no such home, a name that is too long, a zero byte in it
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{shortened(name)} is no path: {reason}") from None
    if not found:
        raise UsageError(f"{folder} is no folder")
    return folder
