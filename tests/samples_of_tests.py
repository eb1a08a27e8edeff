"""Measurements that were never made: costs and acceptance as a test wants them."""

import numpy as np

from draftproof.economics.along import Along
from draftproof.economics.pair import LONGEST
from draftproof.economics.rehearsal import STAGES
from draftproof.economics.samples import Rounds, Samples, Text


def text(acceptances, tokens, first=1e-3, draft_first=0.0, drafters=("draft",)):
    """Texts along each of which a drafted token is kept with one of `acceptances`, whatever came before it."""
    count = len(acceptances)
    target = np.full((count, tokens), 0.5)
    draft = target * np.array(acceptances)[:, None]
    along = Along(target, draft, draft, np.full((count, tokens), LONGEST))
    reads = {name: np.full(count, draft_first) for name in drafters}
    return Text(
        np.full(count, 5.0), dict.fromkeys(drafters, along), np.full(count, first), np.full(count, first), reads
    )


def rounds(seconds, slope=(0.0, 0.0), context=5.0):
    return Rounds(seconds, np.full(seconds.shape[:2], context), slope)


def samples(
    acceptances=(0.7, 0.7, 0.7, 0.7), tokens=64, draft=1e-4, target=lambda k: 1e-3, rule=0.0, noise=0.0, count=8,
    rules=("token",), drafters=("draft",), workloads=("prose",), plain=1e-3,
):  # fmt: skip
    """Samples in which a pass of K tokens costs K * draft + target(K) + rule seconds, a plain token `plain`."""
    rng = np.random.default_rng(0)
    lengths = np.arange(LONGEST + 1)
    stages = dict.fromkeys(STAGES, np.zeros(LONGEST + 1))
    stages |= {"draft": lengths * draft, "target": np.array([target(k) for k in lengths]), "rule": lengths * 0 + rule}
    seconds = np.stack([stages[stage] for stage in STAGES], axis=1)
    passes = {
        name: {rule: rounds(seconds * (1 + noise * rng.standard_normal((count, 1, 1)))) for rule in rules}
        for name in drafters
    }
    alone = Rounds(plain * (1 + noise * rng.standard_normal(count)), np.full(count, 5.0), (0.0, 0.0))
    return Samples(tokens, alone, passes, {name: text(acceptances, tokens, drafters=drafters) for name in workloads})
