"""Windows 6, 9 and 10 in a browser: costs, claims, and generations of the embedded pair, live or replayed."""

import json

import numpy as np
import pytest

from draftproof.economics.predict import Costs, best_length, speedup, straight_curve
from draftproof.economics.store import record, save
from draftproof.economics.survival import survival
from draftproof.engine.options import Options
from draftproof.engine.rerun import settings_of
from draftproof.engine.setup import prepare
from draftproof.engine.trace import follow
from draftproof.explorer.laws import law_of
from draftproof.explorer.shelf import Shelf
from draftproof.explorer.state import State, state_of
from draftproof.witness.account import account
from draftproof.witness.identity import Certificate
from explorer.conftest import serving
from samples_of_tests import samples

CLOSE = 1e-12  # the figure of the witness: what is read is repr, so that nothing is lost on the way


@pytest.fixture(scope="module")
def run():
    """The generation that window 10 offers when the page opens."""
    state = State()
    return prepare(
        Options(
            state.prompt, num_speculative_tokens=state.k, max_tokens=state.max_tokens, temperature=state.temperature,
            seed=state.generation_seed,
        )
    )  # fmt: skip


@pytest.fixture(scope="module")
def passes(run):
    return list(run.engine.decode(run.prompt, run.stop, run.noise))


@pytest.fixture(scope="module")
def trace_file(run, tmp_path_factory):
    trace = follow(run.engine.decode(run.prompt, run.stop, run.noise), run.prompt)
    path = tmp_path_factory.mktemp("traces") / "kept.json"
    path.write_text(json.dumps(trace.to_json() | {"settings": settings_of(run)}))
    return path


def generated(watched):
    watched.page.wait_for_selector('[data-number="generation-status"]')
    script = "found => found.map(one => parseInt(one.dataset.id))"
    return watched.page.eval_on_selector_all("#generated [data-token]", script)


def generate(watched):
    watched.page.click("#generate")
    watched.page.wait_for_selector("#generated [data-token]")
    return generated(watched)


def figures(watched, table):
    return {row[0]: None if row[1] == "–" else float(row[1]) for row in watched.table(table)}


def test_economics_has_the_best_length_and_says_when_not_to_speculate(new_page):
    state = State()
    p, q = law_of(state.p), law_of(state.q)
    for cost in (0.1, 1.5):
        watched = new_page(f"draft_cost={cost}")
        costs = Costs(cost, straight_curve(state.row_cost, 17), state.overhead)
        best, speed = best_length(lambda k: survival("token", p, q, k), costs)
        found = list(figures(watched, "economics").values())
        if best:
            assert found[0] == best
            assert abs(found[1] - speed) <= CLOSE
            assert abs(speed - speedup(survival("token", p, q, best), costs)) <= CLOSE
        words = watched.text("#w6 .decision")
        assert ("do not speculate" in words) == (best == 0)


def test_sliders_of_economics_move_its_numbers(new_page):
    watched = new_page()
    before = watched.table("economics")
    watched.page.locator('[data-setting="draft_cost"] .q-slider__track-container').press("PageUp")
    watched.until_state("draft_cost=")
    assert watched.table("economics") != before


def test_measured_costs_of_this_machine_are_loaded(new_page, tmp_path):
    found = samples(drafters=("tiny:draft",), rules=("token",), target=lambda k: 1e-3 * (1 + 0.1 * k), rule=2e-4)
    subject = {
        "target": "tiny:target", "temperature": 1.0, "top_k": 0, "top_p": 1.0, "drafters": ["tiny:draft"],
        "fingerprints": {"tiny:draft": "another"}, "sizes": {},
    }  # fmt: skip
    save(record(found, subject), tmp_path / "draftproof" / "measurements")
    costs = Shelf(tmp_path / "draftproof" / "measurements").stored["tiny:draft"].costs["token"]
    state = State()
    with serving(tmp_path) as address:
        watched = new_page(at=address)
        by_hand = watched.table("economics")
        watched.page.locator('[data-measured="tiny:draft"]').click()
        watched.until_state("measured=tiny:draft")
        best, speed = best_length(lambda k: survival("token", law_of(state.p), law_of(state.q), k), costs)
        shown = list(figures(watched, "economics").values())
        assert shown[0] == best
        assert not best or abs(shown[1] - speed) <= CLOSE
        assert "other weights" in watched.text("#w6")  # it says that the measurement is stale
        watched.page.locator('[data-measured=""]').click()
        watched.until("() => !document.querySelector('#stamp [data-state]').dataset.state.includes('measured')")
        assert watched.table("economics") == by_hand
        watched.page.close()


def test_claims_set_the_page_to_what_proves_them(new_page):
    watched = new_page("p=1,1&q=1,1&tamper=residual-absolute")
    watched.page.locator('[data-demonstration="an unlike draft"]').click()
    watched.page.wait_for_selector('#badge [data-verdict="LOSSLESS"]')
    assert watched.number("claim-deviation") <= CLOSE
    for name, tamper in (("resample from q", "residual-is-the-draft"), ("… or from p", "residual-is-the-target")):
        watched.page.locator(f'[data-demonstration="{name}"]').click()
        watched.until_state(f"tamper={tamper}")
        assert watched.verdict() == "LOSSY"
        assert watched.number("claim-drift") == watched.number("drift") > CLOSE
    watched.page.locator('[data-demonstration="better, slower draft"]').click()
    watched.page.wait_for_selector('#badge [data-verdict="LOSSLESS"]')
    cheaper, better, now = (row[1:] for row in watched.table("drafts"))
    assert better == now
    assert float(better[1]) > float(cheaper[1])  # more of its drafts are kept
    assert float(better[3]) < float(cheaper[3])  # and it is slower all the same


def test_the_embedded_pair_generates_what_the_engine_generates(new_page, run, passes):
    watched = new_page()
    ids = generate(watched)
    assert ids == [token for done in passes for token in done.emitted]
    assert watched.text("#generated").replace("↵", " ").split() == run.tokenizer.decode(ids).split()
    certificate = Certificate(run.engine.rule)
    for done in passes:
        certificate.add(done)
    assert abs(watched.number("generation-deviation") - certificate.max_deviation) <= CLOSE
    assert watched.page.locator("#passes [data-pass]").count() == len(passes)
    assert "LOSSLESS" in watched.text("#certificate")


def test_a_token_shows_its_laws_its_alternatives_and_its_account(new_page, run, passes):
    watched = new_page()
    generate(watched)
    first = sum(len(done.emitted) for done in passes[:3])
    done = passes[3]
    watched.page.locator(f'[data-token="{first}"]').press("Enter")
    watched.until_state(f"token={first}")
    token = done.emitted[0]
    assert abs(watched.number("token-p") - done.target[0][token]) <= CLOSE
    assert abs(watched.number("token-q") - done.draft[0][token]) <= CLOSE
    uniforms = [step.uniform for step in account(done, run.engine.rule, run.noise) if step.act == "test"]
    shown = watched.values('#generation-token [data-act="test"]')
    assert all(any(abs(one - uniform) <= CLOSE for one in shown) for uniform in uniforms)
    alternatives = [float(row[1]) for row in watched.table("alternatives")]
    assert abs(max(alternatives) - done.target[0].max()) <= CLOSE


def test_where_a_token_came_from_is_told_without_colour(new_page, passes):
    watched = new_page()
    generate(watched)
    script = "found => found.map(one => getComputedStyle(one).textDecorationStyle)"
    origins = watched.page.eval_on_selector_all("[data-token]", "found => found.map(one => one.dataset.origin)")
    styles = watched.page.eval_on_selector_all("[data-token]", script)
    of = {}
    for origin, style in zip(origins, styles, strict=True):
        of.setdefault(origin, set()).add(style)
    drafted = [of[origin] for origin in ("accepted", "residual", "bonus")]
    assert all(len(found) == 1 for found in drafted)
    assert len(set.union(*drafted)) == 3
    assert origins.count("accepted") == sum(len(done.path[: len(done.emitted)]) for done in passes)


def test_stop_keeps_what_was_generated(new_page):
    watched = new_page("max_tokens=512&k=0&drafter=none")
    watched.page.click("#generate")
    watched.page.wait_for_selector("#generated [data-token]")
    watched.page.click("#stop")
    ids = generated(watched)
    assert 0 < len(ids) <= 512


def test_a_tamper_runs_in_the_generation_too(new_page):
    watched, plain = (
        new_page("tamper=residual-is-the-draft&temperature=1"),
        new_page("temperature=1&generation_rule=token"),
    )
    assert generate(watched) != generate(plain)
    assert "residual-is-the-draft" in watched.text("#w10")
    assert watched.verdict() == "LOSSY"


@pytest.mark.parametrize(("name", "typed"), [("k", "99"), ("temperature", "-1"), ("max_tokens", "0"), ("k", "1.5")])
def test_settings_that_cannot_be_honoured_are_refused(new_page, name, typed):
    watched = new_page()
    field = watched.page.locator(f'#w10 [data-setting="{name}"]')
    before = field.input_value()
    field.fill(typed)
    field.press("Enter")
    watched.page.wait_for_selector("#refusal p")
    assert field.input_value() == before


def test_a_link_reproduces_a_generation(new_page):
    watched = new_page("k=5&generation_rule=token&prompt=Blessed+are&max_tokens=20&generation_seed=7")
    state, refused = state_of({"k": "5", "generation_rule": "token", "prompt": "Blessed are", "max_tokens": "20"})
    assert not refused
    assert state.k == 5
    run = prepare(
        Options("Blessed are", num_speculative_tokens=5, max_tokens=20, temperature=0.7, seed=7, rule="token")
    )
    wanted = [token for done in run.engine.decode(run.prompt, run.stop, run.noise) for token in done.emitted]
    assert generate(watched) == wanted


def test_a_trace_is_opened_and_replayed(new_page, passes, trace_file):
    watched = new_page()
    watched.page.set_input_files("input[type=file]", trace_file)
    watched.page.wait_for_selector('[data-number="replayed"]')
    assert "came out the same" in watched.text("#w10")
    assert generated(watched) == [token for done in passes for token in done.emitted]


def test_the_trace_of_the_command_line_is_replayed_as_the_page_opens(new_page, passes, trace_file, tmp_path):
    with serving(tmp_path, "--trace", str(trace_file)) as address:
        watched = new_page(at=address)
        watched.page.wait_for_selector('[data-number="replayed"]')
        assert "came out the same" in watched.text("#w10")
        assert generated(watched) == [token for done in passes for token in done.emitted]
        watched.page.close()


def test_a_trace_that_was_changed_is_found_out(new_page, trace_file, tmp_path):
    trace = json.loads(trace_file.read_text())
    trace["passes"][2]["emitted"][-1] = (trace["passes"][2]["emitted"][-1] + 1) % 1024
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(trace))
    watched = new_page()
    watched.page.set_input_files("input[type=file]", path)
    watched.page.wait_for_selector('[data-number="replayed"]')
    assert "pass 2" in watched.text("#w10")


@pytest.mark.parametrize("content", ["", "{}", "no JSON", '{"schema": 99}', "[1, 2]"])
def test_a_file_that_is_no_trace_is_refused(new_page, tmp_path, content):
    path = tmp_path / "bad.json"
    path.write_text(content)
    watched = new_page()
    watched.page.set_input_files("input[type=file]", path)
    watched.page.wait_for_selector("#refusal p")
    assert "trace" in watched.text("#refusal")


def test_two_pages_generate_at_once_and_do_not_disturb_each_other(new_page, passes):
    first, second = new_page(), new_page("generation_seed=3")
    first.page.click("#generate")
    second.page.click("#generate")
    assert generated(first) == [token for done in passes for token in done.emitted]
    assert generated(second) != generated(first)


def test_laws_of_the_page_are_normalised(new_page):
    assert np.isclose(sum(new_page().column("laws", 1)), 1, rtol=0, atol=CLOSE)
