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
from draftproof.witness.symbols import Symbols

__all__ = ["battery"]


def battery(runs: Sequence[Run] = (), sizes: Sequence[int] = (2,)) -> tuple[Witness, ...]:
    """Return every witness.

    Args:
        runs: generations of real models that `replay`, `report` and `greedy` look at too.
        sizes: the vocabularies for which `smt` proves the identity.
    """
    on_tables = Identity(), Symbols(sizes), Exact(), SequenceWitness(), Oracles(), Seeds(), Rows()
    return (*on_tables, Replay(runs), Report(runs), Greedy(runs))
