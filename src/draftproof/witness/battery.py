"""All witnesses, those first that find a fault soonest. In: runs on real models, if any. Out: the witnesses."""

from collections.abc import Sequence

from draftproof.witness.base import Witness
from draftproof.witness.exact import Exact
from draftproof.witness.greedy import Greedy
from draftproof.witness.identity import Identity
from draftproof.witness.oracles import Oracles
from draftproof.witness.replay import Replay, Report
from draftproof.witness.rescoring import Run
from draftproof.witness.rows import Rows
from draftproof.witness.seeds import Seeds
from draftproof.witness.sequence import Sequence as SequenceWitness

__all__ = ["battery"]


def battery(runs: Sequence[Run] = ()) -> tuple[Witness, ...]:
    """Return every witness; `replay`, `report` and `greedy` also look at `runs`, generations of real models."""
    on_tables = Identity(), Exact(), SequenceWitness(), Oracles(), Seeds(), Rows()
    return (*on_tables, Replay(runs), Report(runs), Greedy(runs))
