"""Who guesses, and how far, changes the passes of the target and never the law of the text."""

from draftproof import generate

passage = "And the priest shall sprinkle the blood upon the altar round about. "
prompt = passage * 3 + "And the priest shall"
for drafter in ("none", "tiny:draft", "early_exit:2", "ngram:2-5", "suffix", "chain:ngram:3-5,tiny:draft"):
    trace = generate(prompt, drafter=drafter, num_speculative_tokens=4, max_tokens=48, temperature=0).trace
    print(f"{drafter:28} {len(trace.passes):3} passes, acceptance {trace.acceptance_rate or 0:.2f}")

trace = generate(prompt, drafter="early_exit:3", num_speculative_tokens="auto", max_tokens=48, temperature=0).trace
for record in trace.passes:
    if record.why:
        print(f"from token {record.start - len(trace.prompt)}: {record.why}")
