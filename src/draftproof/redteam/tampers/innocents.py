"""Engines that look broken and are not: other drafts, other noise, other caches, and the same law.

In: an honest engine. Out: the same with a part that may be what it likes. No witness may call one of them LOSSY.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from draftproof.drafters.base import Drafter
from draftproof.engine.loop import Engine, Pass
from draftproof.engine.proposal import Proposal
from draftproof.engine.stop import Stop
from draftproof.models.base import Model
from draftproof.redteam.base import Tamper
from draftproof.redteam.handed import FAR, readdressed, rebuilt
from draftproof.rules.base import Verdict
from draftproof.rules.block import BlockRule
from draftproof.rules.token import TokenRule
from draftproof.types import Draws, Noise, Probs, Tokens
from draftproof.warpers.pipeline import Pipeline
from draftproof.witness.base import as_shipped
