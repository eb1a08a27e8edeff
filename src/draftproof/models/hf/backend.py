"""`hf:NAME_OR_PATH`: causal language models of transformers, from the hub or a folder. See `Backend`.

Nothing heavy is imported before a model is loaded.
"""

from importlib.util import find_spec

from draftproof.errors import MissingExtraError
from draftproof.models.backend import LoadedModel
from draftproof.models.hf.spec import FORM, read_spec

__all__ = ["HfBackend"]

NEEDED = ("torch", "transformers", "accelerate")


class HfBackend:
    """See `Backend`."""

    form = FORM

    def check(self, name: str) -> None:
        """See `Backend.check`."""
        read_spec(name)
        for library in NEEDED:
            if find_spec(library) is None:
                raise MissingExtraError(f"needs {library}; install it with: pip install 'draftproof[hf]'")

    def load(self, name: str) -> LoadedModel:
        """See `Backend.load`."""
        self.check(name)
        from draftproof.models.hf.folder import folder_of
        from draftproof.models.hf.loading import load_module
        from draftproof.models.hf.model import model_of
        from draftproof.models.hf.tokenizer import tokenizer_of

        spec = read_spec(name)
        folder = folder_of(spec)
        tokenizer = tokenizer_of(folder, spec)
        module = load_module(folder, spec)
        return LoadedModel(model_of(module, spec.context, pad_rows=spec.pad_rows), tokenizer)

    def fingerprint(self, name: str) -> str:
        """See `Backend.fingerprint`. The number format is part of what a model is; the device is not.

        Of a file of more than 64 MB, its size, its first and its last MB are looked at, which hold the shapes and the
        places of all weights, and the values of some.
        """
        from draftproof.models.hf.contents import contents
        from draftproof.models.hf.folder import folder_of

        spec = read_spec(name)
        return contents(folder_of(spec, cached=True), spec.dtype)
