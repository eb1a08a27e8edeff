"""From passes of an engine to what the statistical witness is shown: tokens, laws scored anew, and what came before.

In: an honest engine, a prompt, the passes of the engine under examination. Out: `Emitted`. The laws come from a reading
of the finished text that shares nothing with the engine: a wrong cache samples faithfully from wrong rows, and a
witness who is given these rows sees nothing.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from draftproof.arrays import array_namespace, beside
from draftproof.drafters.model import ModelDrafter
from draftproof.engine.loop import Engine
from draftproof.engine.passes import Pass
from draftproof.types import Probs, Text, Tokens
from draftproof.witness.emitted import Emitted
from draftproof.witness.rescoring import fresh_laws

__all__ = ["stream"]

NOTHING = -1
"""No draft was rejected."""


def stream(honest: Engine, prompt: Tokens, passes: Sequence[Pass]) -> Emitted:
    """Return the tokens of a text that was begun with `prompt`."""
    tokens = [token for done in passes for token in done.emitted]
    text = [*prompt, *tokens]
    prefixes = [Text(text[: len(prompt) + i], len(prompt)) for i in range(len(tokens))]
    target = fresh_laws(honest, prefixes)
    bonus, rejected = _before(passes)
    return Emitted(
        np.array(tokens, dtype=np.int64),
        target,
        _draft_laws(honest, prefixes, target),
        np.array(bonus, dtype=bool),
        np.array(rejected) != NOTHING,
        np.array(rejected, dtype=np.int64),
    )


def _before(passes: Sequence[Pass]) -> tuple[list[bool], list[int]]:
    """Return for each token whether all drafts of its pass had been kept, and which draft the token before replaced."""
    bonus, rejected, last = list[bool](), list[int](), NOTHING
    for done in passes:
        drafted = bool(done.drafted)
        for i in range(len(done.emitted)):
            bonus.append(drafted and done.bonus and i == len(done.path))
            rejected.append(last if i == 0 else NOTHING)
        last = _rejected(done) if drafted and not done.bonus else NOTHING
    return bonus, rejected


def _rejected(done: Pass) -> int:
    """Return the first draft that was rejected in the place of the pass's last token."""
    end = done.path[-1] if done.path else -1
    children = (token for token, parent in zip(*done.proposal.tree, strict=True) if parent == end)
    return next(children, NOTHING)


def _draft_laws(honest: Engine, prefixes: Sequence[Text], target: Probs) -> Probs:
    """Return the draft's law after each text (n, V), the target's where it proposes nothing, of which no bet comes.

    It is asked anew after every text, and not taken from the passes: which law stands there, or that none does, may
    depend on how a pass ended, and so (by block verification) on the token that is bet on.
    """
    drafter = honest.drafter
    if isinstance(drafter, ModelDrafter) and len(prefixes[-1]) <= drafter.model.context_limit:
        return fresh_laws(replace(honest, target=drafter.model, pipeline=drafter.pipeline), prefixes)
    drafter, rows = drafter.fresh(), list[Probs]()
    for prefix, law in zip(prefixes, target, strict=True):
        found = drafter.law(prefix)
        rows.append(law if found is None else beside(found, law))
    xp = array_namespace(target)
    return xp.stack([xp.astype(row, target.dtype) for row in rows])
