"""`gguf:PATH`: model files of llama.cpp, through the library llama-cpp-python (extra `gguf`). See `Backend`."""

from importlib.util import find_spec
from pathlib import Path

from draftproof.errors import MissingExtraError, UsageError
from draftproof.models.backend import LoadedModel
from draftproof.models.gguf.files import digest, model_files
from draftproof.models.gguf.plan import Plan, plan_of
from draftproof.models.gguf.spec import FORM, GgufSpec, read_spec
from draftproof.models.memory import check_room, free_memory

__all__ = ["GgufBackend"]


class GgufBackend:
    """See `Backend`."""

    form = FORM

    def check(self, name: str) -> None:
        """See `Backend.check`."""
        _checked(name)

    def load(self, name: str) -> LoadedModel:
        """See `Backend.load`."""
        spec, files = _checked(name)
        plan = plan_of(files, spec)
        check_room(plan.parts, None if spec.gpu_layers else free_memory())
        return _loaded(spec, files, plan)

    def fingerprint(self, name: str) -> str:
        """See `Backend.fingerprint`; what decides how numbers are rounded belongs to the model, threads do not."""
        spec, files = _checked(name)
        return digest(files, spec.cache, "flash" if spec.flash else "")


def _checked(name: str) -> tuple[GgufSpec, list[Path]]:
    spec = read_spec(name)
    files = model_files(spec.path)
    if find_spec("llama_cpp") is None:
        raise MissingExtraError(
            f"gguf:{name} needs llama-cpp-python; install the extra gguf (pip install 'draftproof[gguf]')"
        )
    return spec, files


def _loaded(spec: GgufSpec, files: list[Path], plan: Plan) -> LoadedModel:
    from draftproof.models.gguf.family import Family
    from draftproof.models.gguf.library import Weights
    from draftproof.models.gguf.model import GgufModel
    from draftproof.models.gguf.stateful import GgufState
    from draftproof.models.gguf.tokenizer import GgufTokenizer
    from draftproof.models.snapshots import Snapshots

    weights = Weights(files, spec)
    if not weights.writes:
        raise UsageError(f"{files[0]} is no model that writes text from left to right ({plan.architecture})")
    family = Family(weights, spec, plan.limit, plan.per_token)
    tokenizer = GgufTokenizer(weights, files[0])
    if weights.recurrent or weights.windowed:
        return LoadedModel(Snapshots(GgufState(family)), tokenizer)
    return LoadedModel(GgufModel(family), tokenizer)
