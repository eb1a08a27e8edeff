"""How fast is plain decoding by the NumPy model next to transformers with the same weights on the same CPU?"""

from importlib.resources import files

import torch
from transformers import LlamaForCausalLM

from draftproof import sampling
from draftproof.engine import plain
from measuring import TARGET, job, paired_ratios, save, spread

TOKENS, PAIRS = 64, 12


def main() -> None:
    folder = str(files("draftproof") / "assets" / "target")
    model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    values = {}
    for threads in (1, 2):
        torch.set_num_threads(threads)
        ratios = paired_ratios(ours, lambda i: theirs(model, i), PAIRS)
        values |= spread(f"transformers ({threads} threads) / ours, seconds", ratios)
    save("How fast is plain decoding next to transformers?", values, "against_transformers")


def ours(i):
    prompt, stop, noise = job(i, TOKENS)
    return list(plain.decode(TARGET, sampling(1.0), prompt, stop, noise))


@torch.inference_mode()
def theirs(model, i):
    """Sample as transformers does: its generate loop without top-k, exactly as many tokens."""
    torch.manual_seed(i)
    ids = torch.tensor([job(i, TOKENS)[0]])
    return model.generate(ids, do_sample=True, top_k=0, max_new_tokens=TOKENS, min_new_tokens=TOKENS, pad_token_id=1)


if __name__ == "__main__":
    main()
