"""Generate with the embedded pair from Python, certifying every position on the way."""

from draftproof import (
    Certificate,
    Engine,
    FixedLength,
    ModelDrafter,
    PhiloxNoise,
    Stop,
    TokenRule,
    follow,
    load,
    sampling,
)

target, tokenizer = load("tiny:target", "target")
draft, _ = load("tiny:draft", "drafter")
pipeline = sampling(temperature=0.8, top_p=0.95)
engine = Engine(target, ModelDrafter(draft, pipeline), TokenRule(), pipeline, FixedLength(3))

prompt = tokenizer.encode("And the king said")
stop = Stop(max_tokens=60, context_limit=target.context_limit, tokens=tokenizer.eos)
certificate = Certificate(engine.rule)
trace = follow(engine.decode(prompt, stop, PhiloxNoise(seed=1)), prompt, watch=certificate.add)

print(tokenizer.decode(trace.token_ids))
print(f"{len(trace.token_ids)} tokens in {len(trace.passes)} passes of the target")
print(certificate.finding("this text"))
