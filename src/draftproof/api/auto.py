"""Chooses draft lengths where the options say "auto": costs are measured once for each pair of models and rule.

In: an engine and a prompt. Out: what chooses the lengths of a generation. Where passes are slow, a measurement that is
kept of this pair and machine (`draftproof measure`) spares the time to measure them.
"""

from draftproof.economics.calibrate import calibrate
from draftproof.economics.policy import MOST, Adaptive, Costs
from draftproof.economics.recall import recall
from draftproof.economics.store import folder
from draftproof.engine.length import DraftLength
from draftproof.engine.loop import Engine
from draftproof.engine.options import Options
from draftproof.engine.setup import Decide

__all__ = ["Auto"]


class Auto:
    """Remembers the costs that were measured.

    Args:
        batch: how many texts are decoded together.
    """

    def __init__(self, batch: int = 1) -> None:
        self._batch = batch
        self._costs: dict[tuple[str, str, str], Costs] = {}

    def of(self, options: Options) -> Decide:
        """Return what chooses for runs with these options."""
        key = options.target, options.drafter, options.rule

        def known() -> Costs | None:
            if self._batch > 1:
                return None
            settings = {name: getattr(options, name) for name in ("target", "temperature", "top_k", "top_p")}
            return recall(folder(), settings, options.drafter, options.rule)

        def decide(engine: Engine, prompt: list[int]) -> DraftLength:
            if key not in self._costs:
                self._costs[key] = calibrate(engine, prompt, MOST, self._batch, known)
            return Adaptive(self._costs[key])

        return decide
