"""When does a draft pay? Two laws, what each rule keeps of them, and the best draft length for three draft costs."""

import numpy as np

from draftproof.economics.predict import Costs, best_length
from draftproof.economics.survival import acceptance, survival, tokens_per_pass

p, q = np.array([0.45, 0.25, 0.15, 0.1, 0.05]), np.array([0.2, 0.3, 0.15, 0.2, 0.15])
CURVE = (1.0, 1.02, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.5)  # what a pass over 1..9 rows costs

for rule in ("token", "block", "match", "coupled"):
    kept = tokens_per_pass(survival(rule, p, q, 4))
    print(
        f"{rule:8} accepts {acceptance(rule, p, q):.2f} of single tokens, emits {kept:.2f} tokens a pass with K = 4;",
        end="",
    )
    for cost in (0.02, 0.2, 0.8):
        length, speed = best_length(lambda k, rule=rule: survival(rule, p, q, k), Costs(cost, CURVE))
        print(f"  c = {cost}: " + (f"K = {length}, {speed:.2f}x" if length else "do not speculate"), end="")
    print()
