"""The algebra: whatever the draft q, accept-or-residual emits exactly the target p."""

import numpy as np

from draftproof import TokenRule
from draftproof.rules.token import acceptance_probabilities, expected_acceptance, residual_law

p = np.array([0.5, 0.3, 0.2])  # the target's law of the next token
q = np.array([0.2, 0.3, 0.5])  # the draft's

print("accept with probability", acceptance_probabilities(p, q))
print("after a rejection, emit from", residual_law(p, q))
print("one guess is kept with probability", expected_acceptance(p, q))
print("the emitted law is", TokenRule().emitted_law(p, q), "and p is", p)
