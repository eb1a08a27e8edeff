"""All tampers by name, family by family; the source's own comes first. In: nothing. Out: values."""

from draftproof.redteam.base import Tamper
from draftproof.redteam.tampers import (
    acceptance,
    batch,
    block,
    buffers,
    cache,
    controls,
    counts,
    coupling,
    drafting,
    floats,
    innocent_controls,
    innocent_loops,
    innocents,
    look_alikes,
    lossy,
    noise,
    padding,
    penalties,
    positions,
    proposal,
    recurrent,
    reports,
    residual,
    seeds,
    settings,
    states,
    stops,
    strings,
    trees,
    vocabulary,
)

__all__ = ["TAMPERS"]

_FAMILIES = (
    residual, acceptance, proposal, lossy, block, coupling, trees, noise, seeds, positions, counts, drafting, settings,
    penalties, controls, states, cache, buffers, padding, recurrent, batch, stops, strings, reports, floats, vocabulary,
    look_alikes, innocents, innocent_loops, innocent_controls,
)  # fmt: skip

TAMPERS: dict[str, Tamper] = {tamper.name: tamper for family in _FAMILIES for tamper in family.TAMPERS}
"""What `draftproof attack` runs: tampers, and the innocent look-alikes among them."""
