import json
import shutil

import pytest

from hf_folders_of_tests import save_model


@pytest.fixture(scope="session")
def saved(tmp_path_factory):
    """A folder that no test changes."""
    return save_model(tmp_path_factory.mktemp("saved"))


@pytest.fixture
def folder(saved, tmp_path):
    """A copy, to be damaged."""
    return shutil.copytree(saved, tmp_path / "model")


@pytest.fixture
def change():
    """Change values of a JSON file; None takes one out."""

    def change(path, **values):
        found = (json.loads(path.read_text()) if path.exists() else {}) | values
        path.write_text(json.dumps({name: value for name, value in found.items() if value is not None}))

    return change
