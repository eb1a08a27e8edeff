"""Text in one call: samples, log-probabilities, a stream; the same settings as on the command line."""

from draftproof import generate, stream

found = generate("And the king said", max_tokens=40, temperature=0.8, min_p=0.05, n=2, stop=["."], seed=3, logprobs=1)
for sample in found.samples:
    print(repr(sample.text), sample.finish_reason, repr(sample.stop_reason))
    print("  log-probability of the text:", round(sum(each.logprob for each in sample.logprobs), 3))

for piece in stream("In the beginning", max_tokens=24, temperature=0):
    print(piece.text, end="", flush=True)
print()
