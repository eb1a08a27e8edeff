"""The house keeps its own rules: a light front door, small files and functions, rooms that know their place."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import draftproof

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "draftproof"
MODULES = sorted(SOURCE.rglob("*.py"))
CATALOGUES = ("rules", "warpers", "drafters")
# The contracts of a catalogue, what members share, and what puts them in order or names them.
MACHINERY = {"__init__", "base", "catalogue", "contract", "draft_laws", "node", "nucleus", "pipeline", "run", "support"}
HEAVY = {
    "torch",
    "transformers",
    "llama_cpp",
    "ray",
    "nicegui",
    "fastapi",
    "matplotlib",
    "scipy",
    "typer",
    "rich",
    "z3",
    "llguidance",
}
MOST_LINES, MOST_LINES_OF_A_FUNCTION, MOST_NAMES = 200, 40, 20
EMPTY_WORDS = {"utils", "helpers", "misc", "common", "manager"}


def name_of(path):
    return str(path.relative_to(SOURCE))


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_the_front_door_is_light():
    code = "import sys, draftproof; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {module.partition(".")[0] for module in done.stdout.split()}
    assert "draftproof" in loaded
    assert not loaded & HEAVY


def test_the_front_door_shows_few_names_and_all_of_them_exist():
    assert len(draftproof.__all__) <= MOST_NAMES
    assert list(draftproof.__all__) == sorted(draftproof.__all__)
    assert all(hasattr(draftproof, name) for name in draftproof.__all__)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_file_is_small_and_says_what_it_is_for(path):
    text = path.read_text()
    assert len(text.splitlines()) <= MOST_LINES
    assert ast.get_docstring(ast.parse(text))
    assert not EMPTY_WORDS & set(path.with_suffix("").parts)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_functions_are_small(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            assert node.end_lineno - node.lineno < MOST_LINES_OF_A_FUNCTION, node.name


@pytest.mark.parametrize("path", [path for path in MODULES if path.stem[:2] != "__"], ids=name_of)
def test_what_a_module_offers_is_what_it_defines(path):
    tree = ast.parse(path.read_text())
    offered = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
    )
    defined = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        defined |= {target.id for target in targets if isinstance(target, ast.Name)}
    assert set(offered) <= defined


@pytest.mark.parametrize("room", CATALOGUES)
def test_members_of_a_catalogue_do_not_know_each_other(room):
    members = {path.stem for path in (SOURCE / room).glob("*.py")} - MACHINERY
    for member in members:
        others = {f"draftproof.{room}.{other}" for other in members - {member}}
        assert not others & set(imports_of(SOURCE / room / f"{member}.py")), member


@pytest.mark.parametrize("path", sorted((SOURCE / "explorer" / "windows").glob("*.py")), ids=name_of)
def test_a_window_computes_nothing(path):
    """It may count steps; whatever multiplies, divides or is an array comes from a room."""
    tree = ast.parse(path.read_text())
    assert not {"numpy", "scipy"} & {module.partition(".")[0] for module in imports_of(path)}
    forbidden = (ast.Div, ast.Pow, ast.MatMult)
    for node in ast.walk(tree):
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, forbidden):
            operands = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
            assert not operands, (path, node.lineno)
        assert not (isinstance(node, ast.Constant) and isinstance(node.value, float) and _is_a_result(node.value))


def _is_a_result(number):
    """Whether a number has so many digits that it was computed once and stored."""
    return len(repr(number)) > len("0.0001")


def test_imports_are_absolute():
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            assert not (isinstance(node, ast.ImportFrom) and node.level), path


def test_every_room_has_tests():
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert rooms <= {path.name for path in (ROOT / "tests").iterdir()}


def test_every_cited_source_is_in_the_bibliography():
    known = (ROOT / "docs" / "references.bib").read_text()
    for path in MODULES:
        docstring = ast.get_docstring(ast.parse(path.read_text())) or ""
        for line in docstring.splitlines():
            if "Source:" in line:
                keys = line.partition("Source:")[2].split("`")[1::2]
                assert keys, path
                assert all(f"{{{key}," in known for key in keys), (path, keys)
