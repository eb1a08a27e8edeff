"""Rules that trade the target's law for speed, which other engines offer; here they exist as tampers only.

In: p and q. Out: a rule, and by a formula of its own the law that it emits. It must never be reachable as a rule that a
user can choose.
"""

import math
from collections.abc import Callable
from fractions import Fraction

from array_api_compat import array_namespace

from draftproof.redteam.altered import AlteredToken, ruled
from draftproof.redteam.base import Tamper
from draftproof.rules.base import surplus
from draftproof.rules.node import most_probable
from draftproof.rules.token import acceptance_probabilities
from draftproof.types import Array, Probs

__all__ = ["TAMPERS"]
