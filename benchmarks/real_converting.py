"""Makes a Hugging Face folder in bfloat16 of a GGUF file: `python benchmarks/real_converting.py FILE FOLDER`.

`real_models.py` calls it. The folder appears when it is whole and was read back: its logits after a few tokens are
those of the model that was converted, bit for bit.
"""

import gc
import shutil
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

TEXT = "def fibonacci(n):"


def main() -> None:
    file, folder = (Path(word) for word in sys.argv[1:])
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    settings = {"gguf_file": file.name, "quantization_config": GgufConfig(dequantize=True)}
    model = AutoModelForCausalLM.from_pretrained(file.parent, dtype=torch.bfloat16, **settings).eval()
    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config  # the weights are plain ones now
    model.save_pretrained(part)
    tokenizer.save_pretrained(part)
    ids = tokenizer(TEXT, return_tensors="pt").input_ids
    logits = _logits(model, ids)
    del model
    gc.collect()  # before the second one is read
    if not torch.equal(_logits(AutoModelForCausalLM.from_pretrained(part, dtype="auto").eval(), ids), logits):
        sys.exit(f"{part}: its logits are others than those of {file}")
    part.replace(folder)


@torch.inference_mode()
def _logits(model, ids):
    return model(ids).logits


if __name__ == "__main__":
    main()
