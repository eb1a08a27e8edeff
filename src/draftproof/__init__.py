"""draftproof: speculative decoding whose output is proven, live, to be the target model's own distribution.

>>> from draftproof import TokenRule
>>> import numpy as np
>>> p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
>>> TokenRule().emitted_law(p, q).round(12).tolist()
[0.5, 0.3, 0.2]
"""

from draftproof.api.generate import generate, stream
from draftproof.drafters.model import ModelDrafter
from draftproof.drafters.none import NoDrafter
from draftproof.engine.length import FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.passes import Pass
from draftproof.engine.stop import Stop
from draftproof.engine.trace import follow
from draftproof.errors import ContractError, DraftproofError, MissingExtraError, UsageError
from draftproof.models.catalogue import load
from draftproof.noise import PhiloxNoise
from draftproof.rules.block import BlockRule
from draftproof.rules.coupled import CoupledRule
from draftproof.rules.token import TokenRule
from draftproof.warpers.pipeline import sampling
from draftproof.witness.identity import Certificate

__all__ = [
    "BlockRule",
    "Certificate",
    "ContractError",
    "CoupledRule",
    "DraftproofError",
    "Engine",
    "FixedLength",
    "MissingExtraError",
    "ModelDrafter",
    "NoDrafter",
    "Pass",
    "PhiloxNoise",
    "Stop",
    "TokenRule",
    "UsageError",
    "follow",
    "generate",
    "load",
    "sampling",
    "stream",
]
