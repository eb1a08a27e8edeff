"""Every number on the page is the package's own, to 1e-12: read in a browser, compared with the rooms."""

import numpy as np
import pytest

from draftproof.economics.survival import survival, tokens_per_pass
from draftproof.explorer.state import State, changed, query_of
from draftproof.redteam.tampers.catalogue import TAMPERS
from draftproof.rules.catalogue import CHAIN_RULES
from draftproof.rules.rejection import acceptance, envelope, kept_share, retrying_law
from draftproof.rules.token import TokenRule, acceptance_probabilities, expected_acceptance, residual_law
from draftproof.warpers.pipeline import sampling
from draftproof.witness.emission import emission, seeded_emissions
from draftproof.witness.exact import first_token_law, rationals
from draftproof.witness.tally import band, first_tokens

CLOSE = 1e-12  # the figure of the witness: what is read is repr, so that nothing is lost on the way
RANDOM = changed(State(), p=(0.31, 0.07, 0.02, 0.6), q=(0.125, 0.5, 0.3, 0.075))
STATES = {
    "as first opened": State(),
    "zeros": changed(State(), p=(0.5, 0.0, 0.5, 0.0), q=(0.0, 0.25, 0.5, 0.25)),
    "disjoint": changed(State(), p=(1.0, 2.0, 0.0), q=(0.0, 0.0, 1.0)),
    "warped": changed(RANDOM, p_temperature=0.5, p_top_k=3, q_temperature=1.5, q_top_p=0.9),
    "twelve tokens": changed(State(), p=tuple(range(1, 13)), q=tuple(range(12, 0, -1))),
    "two tokens": changed(State(), p=(0.9, 0.1), q=(0.2, 0.8)),
    "coupled": changed(RANDOM, rule="coupled"),
    "tampered": changed(RANDOM, tamper="residual-is-the-target"),
}


def laws_of(state):
    """The laws, straight from the warpers."""
    p = sampling(state.p_temperature, state.p_top_k, state.p_top_p).laws(np.array([state.p]), "laws")[0]
    q = sampling(state.q_temperature, state.q_top_k, state.q_top_p).laws(np.array([state.q]), "laws")[0]
    return p, q


def close(shown, wanted):
    return np.allclose(shown, np.asarray(wanted, dtype=float), rtol=0, atol=CLOSE)


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_identity_laws_engine_and_output(new_page, state):
    page, (p, q) = new_page(query_of(state)), laws_of(state)
    terms = TokenRule().terms(p, q)
    assert close(page.column("identity", 1), p)
    assert close(page.column("identity", 2), q)
    assert close(page.column("identity", 3), acceptance_probabilities(p, q))
    assert close(page.column("identity", 4), residual_law(p, q))
    assert close(page.column("laws", 1), q)
    assert close(page.column("laws", 2), p)
    for name, wanted in (("kept", terms.kept), ("residual", terms.residual), ("emitted", terms.emitted), ("p", p)):
        assert close(page.values_of_term(name), wanted)
    assert close(page.values_of_term("rejected"), [terms.rejected[0]] * len(p))
    assert close(page.column("engine", 3), terms.kept)
    assert close(page.number("overlap"), expected_acceptance(p, q))
    subject = TAMPERS[state.tamper].subject if state.tamper else None
    if subject is not None:
        assert close(page.column("engine", 4), emission(subject, p, q, "").law)
        assert not close(page.column("engine", 4), p)
    else:
        assert close(page.column("engine", 4), p)


def test_witness_shows_the_deviation_of_these_laws_and_of_eight_seeded_pairs(new_page):
    for tamper in ("", "residual-is-the-target"):
        state = changed(State(), tamper=tamper)
        page, (p, q) = new_page(query_of(state)), laws_of(state)
        subject = TAMPERS["residual-is-the-target"].subject if tamper else None
        from draftproof.witness.base import Subject

        subject = subject or Subject("token", CHAIN_RULES["token"])
        found = [emission(subject, p, q, "").finding, *(one.finding for one in seeded_emissions(subject))]
        assert len(found) == 9
        assert close(page.column("witness", 1), [finding.max_deviation for finding in found])
        assert close(page.column("witness", 2), [finding.total_variation for finding in found])
        assert page.verdict() == ("LOSSY" if tamper else "LOSSLESS")


def test_exact_fractions_on_demand(new_page):
    for tamper in ("", "residual-is-the-target"):
        page = new_page(query_of(changed(State(), p=(0.5, 0.3, 0.2), q=(0.2, 0.3, 0.5), tamper=tamper)))
        page.press("prove it in exact fractions")
        page.page.wait_for_selector('[data-table="exact"]')
        p, q = rationals([["1/2", "3/10", "1/5"], ["1/5", "3/10", "1/2"]])
        rule = TAMPERS["residual-is-the-target"].rule if tamper else CHAIN_RULES["token"]
        apply = {"assemble": TAMPERS[tamper].apply} if tamper else {}
        law = first_token_law(rule, p, q, **apply)
        assert [row[1] for row in page.table("exact")] == [str(chance) for chance in law]
        assert [row[2] for row in page.table("exact")] == [str(chance) for chance in p]


def test_lineage_has_the_numbers_of_rejection_sampling_and_of_blocks(new_page):
    state = RANDOM
    p, q = laws_of(state)
    page = new_page(query_of(changed(state, lineage=1)))
    assert close(page.values("#w1 .demonstration")[:2], [envelope(p, q), kept_share(p, q)])
    assert close(page.column("rejection", 1), acceptance(p, q))
    page = new_page(query_of(changed(state, lineage=2)))
    assert close(page.column("retrying", 2), retrying_law(p, q))
    page = new_page(query_of(changed(state, lineage=5)))
    for index, rule in ((1, "token"), (2, "block")):
        wanted = [tokens_per_pass(survival(rule, p, q, k)) for k in range(1, 9)]
        # the block rule's table is interpolated: survival of K tokens cut to k differs from that of k by rounding only
        assert np.allclose(page.column("blocks", index), wanted, rtol=0, atol=1e-9)


def test_lineage_gives_both_samplers_the_draws_of_the_engine(new_page):
    page = new_page(query_of(changed(RANDOM, lineage=3)))
    p, q = laws_of(RANDOM)
    from draftproof.witness.base import Subject

    tokens = first_tokens(Subject("token", CHAIN_RULES["token"]), p, q, 1, 0, 0, 12)
    assert page.column("same-draws", 4) == tokens.tolist()


def test_draws_are_counted_and_have_their_band(new_page):
    from draftproof.witness.base import Subject

    p, q = laws_of(RANDOM)
    page = new_page(query_of(RANDOM))
    page.press("draw 100")
    page.page.wait_for_selector('[data-number="draws"]')
    tokens = first_tokens(Subject("token", CHAIN_RULES["token"]), p, q, 1, 0, 0, 100)
    assert close(page.column("draws", 2), np.bincount(tokens, minlength=4) / 100)
    low, high = band(p, 100)
    assert close(page.column("draws", 3), low)
    assert close(page.column("draws", 4), high)
