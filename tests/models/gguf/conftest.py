import pytest

from conftest import needs
from ggufs_of_tests import write_gguf


@pytest.fixture(scope="session")
def gguf(tmp_path_factory):
    """Return a function: family of models (and what else `write_gguf` takes) -> its file; always the same one."""
    needs("llama_cpp")
    needs("gguf")
    folder, made = tmp_path_factory.mktemp("gguf"), {}

    def make(arch="llama", **settings):
        name = f"{arch}{settings or ''}"
        if name not in made:
            made[name] = write_gguf(folder / f"{len(made)}.gguf", arch, **settings)
        return made[name]

    return make


@pytest.fixture(scope="session")
def loaded(gguf):
    """Return a function: family, settings of the SPEC -> the loaded model and its tokenizer; always the same one."""
    from draftproof import load

    made = {}

    def make(arch="llama", query="threads=1&context=128", **settings):
        spec = f"gguf:{gguf(arch, **settings)}?{query}"
        if spec not in made:
            made[spec] = load(spec, "target")
        return made[spec]

    return make
