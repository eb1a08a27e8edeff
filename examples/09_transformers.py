"""One more argument to transformers' own `generate`: the same text, in fewer passes of the model."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM, logging

from draftproof.integrations.transformers import speculative

logging.set_verbosity_error()
torch.manual_seed(0)
sizes = {"hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4, "num_key_value_heads": 2}
config = LlamaConfig(
    vocab_size=256, num_hidden_layers=3, initializer_range=0.1, eos_token_id=2, pad_token_id=0, **sizes
)
model = LlamaForCausalLM(config).eval()

prompt = torch.tensor([[17, 42, 99, 7] * 8])
settings = {"max_new_tokens": 40, "do_sample": False}
plain = model.generate(prompt, **settings)

for drafter in ("ngram", "early_exit:2"):
    fast = speculative(drafter, rule="token", num_speculative_tokens=4)
    text = model.generate(prompt, custom_generate=fast, **settings)
    (trace,) = fast.last
    print(f"{drafter:14} {len(trace.passes)} passes for {len(trace.token_ids)} tokens; the same text:", end=" ")
    print(torch.equal(text, plain))

torch.manual_seed(1)  # sampled: the model's own law, repeatable by torch's seed
fast = speculative("early_exit:2")
model.generate(prompt, custom_generate=fast, do_sample=True, temperature=0.8, top_p=0.95, max_new_tokens=40)
print(f"sampled        acceptance {fast.last[0].acceptance_rate:.2f}")
