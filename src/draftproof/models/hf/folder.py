"""From a name to a folder on this machine, and which files in it are the weights.

In: `HfSpec`. Out: paths. Models of the hub are fetched by huggingface_hub, into its own cache. It reads no weights.
"""

from pathlib import Path

from draftproof.errors import UsageError
from draftproof.models.hf.quiet import quiet
from draftproof.models.hf.spec import HfSpec
from draftproof.models.llama_config import read_json

__all__ = ["first_line", "folder_of", "weight_files"]

FETCHED = ("*.json", "*.jinja", "*.txt", "*.model")
FORMATS = ("model*.safetensors", "pytorch_model*.bin")
"""Of weights: the better one first."""
_NO_NETWORK = (
    "it is not in the cache of huggingface_hub, and the hub cannot be reached from here; "
    "fetch it where there is a network, or give the path of a folder"
)
_REASONS = {
    "GatedRepoError": "its owner lets only those in who asked; ask on its page, then set HF_TOKEN",
    "RepositoryNotFoundError": "the hub shows no model of this name; look at the spelling, or set HF_TOKEN "
    "if it is private",
    "RevisionNotFoundError": "the hub has this model, but no such revision of it",
    "HFValidationError": "it is no id of a model, as OWNER/NAME",
    "IncompleteSnapshotError": "only a part of it is in the cache of huggingface_hub, and the hub cannot be reached",
    "LocalEntryNotFoundError": _NO_NETWORK,
    "OfflineModeIsEnabled": _NO_NETWORK,
    "ConnectError": _NO_NETWORK,
}
"""By the name of the exception: huggingface_hub raises them from several places."""


def folder_of(spec: HfSpec, *, cached: bool = False) -> Path:
    """Return the folder of a model; one of the hub is fetched first.

    Args:
        spec: which.
        cached: take what was fetched before, without asking the hub for a newer one.

    Raises:
        UsageError: if it cannot be had, with what to do.
    """
    if spec.folder is not None:
        return spec.folder
    others = (*FETCHED, "*.py") if spec.trust_remote_code else FETCHED
    with quiet():
        try:
            return _fetched(spec, [*others, FORMATS[0]], cached=cached)
        except Exception as error:  # noqa: BLE001 (the network has many libraries, each with its own)
            if cached:
                return folder_of(spec)
            reason = _REASONS.get(type(error).__name__) or f"{type(error).__name__}: {first_line(error)}"
            raise UsageError(f"{spec.name} cannot be fetched: {reason}") from None


def _fetched(spec: HfSpec, patterns: list[str], *, cached: bool) -> Path:
    from huggingface_hub import snapshot_download

    def get(patterns: list[str]) -> Path:
        return Path(
            snapshot_download(spec.name, revision=spec.revision, allow_patterns=patterns, local_files_only=cached)
        )

    folder = get(patterns)
    return folder if any(folder.glob(FORMATS[0])) else get([*patterns, FORMATS[1]])


def weight_files(folder: Path) -> list[Path]:
    """Return the files that hold a model's weights.

    Raises:
        UsageError: if there are none, or one of several is missing.
    """
    for stem, ending in (("model", "safetensors"), ("pytorch_model", "bin")):
        whole, index = folder / f"{stem}.{ending}", folder / f"{stem}.{ending}.index.json"
        if whole.is_file():
            return [whole]
        if index.is_file():
            parts = [folder / name for name in sorted(set(read_json(index).get("weight_map", {}).values()))]
            lost = [path.name for path in parts if not path.is_file()]
            if lost or not parts:
                raise UsageError(f"{index}: names {lost[0] if lost else 'no file'}, which is not there")
            return parts
    raise UsageError(f"{folder}: no weights in it; allowed are {', '.join(FORMATS)}")


def first_line(error: Exception) -> str:
    """Return what an error of another library says, in one line."""
    lines = [line.strip() for line in str(error).splitlines()]
    said = next((line for line in lines if line), type(error).__name__)
    return said if len(said) <= 300 else f"{said[:300]}.."
