"""Which machine this is, in words, and a short name for it. In: nothing. Out: what a reader of a measurement must know.

The name goes into the file name of a measurement, so that one made elsewhere is not taken for one of this machine.
"""

import hashlib
import json
import os
import platform
from collections.abc import Iterable
from contextlib import suppress
from importlib import metadata
from pathlib import Path

import numpy as np

__all__ = ["digest", "machine"]


KINDS = {"hf": ("torch", "transformers"), "gguf": ("llama-cpp-python",)}
"""By kind of models, the libraries in which their passes run."""
_ACCELERATORS = Path("/proc/driver/nvidia/gpus")


def machine(specs: Iterable[str] = ()) -> dict[str, str]:
    """Return what a reader must know of the machine: processor, cores, system, versions.

    Args:
        specs: of the models and drafters that are measured; for those that run in libraries of their own, versions of
            these, threads and accelerators are facts too. No such library is imported.
    """
    facts = {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    members = [word for spec in specs for word in spec.removeprefix("chain:").split(",")]
    libraries = sorted({library for word in members for library in KINDS.get(word.partition(":")[0], ())})
    for library in libraries:
        facts[library] = _version(library)
    return facts | ({"threads": _threads(), "accelerator": _accelerator()} if libraries else {})


def digest(facts: object) -> str:
    """Return twelve hexadecimal digits that change with any of the facts."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:12]


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "none"


def _threads() -> str:
    """Return how many threads a library takes that is not told: what the environment says, else a core each."""
    told = os.environ.get("OMP_NUM_THREADS")
    if told:
        return told
    return str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())


def _accelerator() -> str:
    """Return the names of NVIDIA's processors as the driver knows them; other kinds are not told apart."""
    names = list[str]()
    for path in sorted(_ACCELERATORS.glob("*/information")):
        with suppress(OSError):
            lines = path.read_text(encoding="utf-8").splitlines()
            names += [line.partition(":")[2].strip() for line in lines if line.startswith("Model:")]
    return ", ".join(names) or "none"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or "unknown"
