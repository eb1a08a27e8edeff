"""Which machine this is, in words, and a short name for it. In: nothing. Out: what a reader of a measurement must know.

The name goes into the file name of a measurement, so that one made elsewhere is not taken for one of this machine.
"""

import hashlib
import json
import os
import platform
from pathlib import Path

import numpy as np

__all__ = ["digest", "machine"]


def machine() -> dict[str, str]:
    """Return what a reader must know of the machine: processor, cores, system, versions."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def digest(facts: object) -> str:
    """Return twelve hexadecimal digits that change with any of the facts."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:12]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or "unknown"
