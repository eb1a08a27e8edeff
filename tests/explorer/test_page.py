"""What a hand does on the page: sliders, fields, presets, draws, tampers, links, themes, two browsers, keys."""

import numpy as np
import pytest

from draftproof.explorer.laws import PRESETS, preset
from draftproof.explorer.prospect import costs_by_hand, prospect
from draftproof.explorer.results import laws_of
from draftproof.explorer.state import State, changed, query_of, state_of
from draftproof.noise import PhiloxNoise
from draftproof.redteam.tampers.catalogue import TAMPERS
from draftproof.types import Purpose
from draftproof.warpers.base import normalise

CLOSE = 1e-12  # the figure of the witness: what is read is repr, so that nothing is lost on the way
THUMB = ".q-slider__track-container"
"""What of a slider has the focus."""
SLIDERS = """found => found.filter(one => one.classList.contains('q-slider')).map(one =>
    one.dataset.bar ? `[data-bar="${one.dataset.bar}"]` : `[data-setting="${one.dataset.setting}"]`)"""
CONTROL = next(name for name, tamper in TAMPERS.items() if tamper.harmless)


def shown_state(watched):
    state, refused = state_of(dict(part.split("=", 1) for part in watched.state().split("&") if part))
    assert not refused
    return state


def law(weights):
    return normalise(np.array(weights, dtype=float))


def test_a_bar_is_dragged_and_all_windows_follow(new_page):
    watched = new_page()
    bar = watched.page.locator('[data-bar="p0"]')
    box = bar.bounding_box()
    watched.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.67)
    watched.page.mouse.down()
    for share in (0.5, 0.4, 0.3):
        watched.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] * share)
    watched.page.mouse.up()
    watched.until_state("p=")
    watched.settle()
    p = law(shown_state(watched).p)
    assert p[0] > 0.5
    assert np.isclose(p.sum(), 1, rtol=0, atol=CLOSE)
    assert np.allclose(p[2:] / p[1], np.array([3, 2, 1]) / 4, rtol=1e-12, atol=0)  # the others keep their shares
    for table, index in (("identity", 1), ("laws", 2), ("engine", 1)):
        assert np.allclose(watched.column(table, index), p, rtol=0, atol=CLOSE)


def test_a_bar_moves_by_keys(new_page):
    watched = new_page()
    watched.page.locator(f'[data-bar="q4"] {THUMB}').press("ArrowUp")
    watched.until_state("q=")
    assert law(shown_state(watched).q)[4] > 1 / 3


@pytest.mark.parametrize("name", PRESETS)
def test_presets(new_page, name):
    watched = new_page("draw=1")
    watched.page.get_by_role("button", name=name, exact=True).click()
    p, q = preset(name, 5)
    state = changed(State(), draw=1, p=p, q=q)
    watched.until("state => document.querySelector('#stamp [data-state]').dataset.state === state", query_of(state))
    assert np.allclose(watched.column("laws", 2), law(p), rtol=0, atol=CLOSE)
    assert watched.verdict() == "LOSSLESS"


def test_random_laws_come_from_a_seed_that_is_shown(new_page):
    first, second = new_page(), new_page()
    for watched in (first, second):
        watched.press("random, seed 0")
        watched.until_state("law_seed=1")
    assert first.table("laws") == second.table("laws")
    first.press("random, seed 1")
    first.until_state("law_seed=2")
    assert first.table("laws") != second.table("laws")


@pytest.mark.parametrize("typed", ["-0.1", "2", "nan", "abc", "", "1/0", "1e999"])
def test_a_number_that_gives_no_law_is_refused_visibly_and_nothing_moves(new_page, typed):
    watched = new_page()
    before = watched.table("laws")
    field = watched.page.locator('[data-field="p2"]')
    field.fill(typed)
    field.press("Enter")
    watched.page.wait_for_selector("#refusal p")
    assert "Refused" in watched.text("#refusal")
    assert watched.table("laws") == before
    assert field.input_value() == "0.2"


def test_the_last_mass_cannot_be_taken_away(new_page):
    watched = new_page("p=1,0,0&q=1,2,3")
    field = watched.page.locator('[data-field="p0"]')
    field.fill("0.5")
    field.press("Enter")
    watched.page.wait_for_selector("#refusal p")
    assert "no other token has mass" in watched.text("#refusal")
    field = watched.page.locator('[data-field="p1"]')
    field.fill("1/4")
    field.press("Enter")
    watched.until_state("p=0.75,0.25,0")
    assert watched.page.locator("#refusal p").count() == 0


def test_the_vocabulary_grows_and_shrinks(new_page):
    watched = new_page()
    slider = watched.page.get_by_role("slider", name="size of the vocabulary").locator(THUMB)
    for _ in range(7):
        slider.press("ArrowRight")
    watched.until("() => document.querySelectorAll('[data-table=laws] tbody tr').length === 12")
    for _ in range(10):
        slider.press("ArrowLeft")
    watched.until("() => document.querySelectorAll('[data-table=laws] tbody tr').length === 2")
    assert watched.page.locator("[data-bar]").count() == 4


def test_a_decision_is_played_step_by_step_with_the_numbers_of_the_seed(new_page):
    watched = new_page("seed=7&draw=3&num_speculative_tokens=2")
    noise = PhiloxNoise(7, 3)
    for step in range(1, 4):
        watched.press("forward")
        watched.until_state(f"step={step}")
    uniforms = watched.values('.steps [data-act="draft"]:nth-child(1)')
    assert noise.uniforms(Purpose.DRAFT, 1, 2)[0] in uniforms
    assert noise.uniforms(Purpose.ACCEPT, 1, 2)[0] in watched.values('.steps [data-act="test"]')
    watched.press("back")
    watched.until_state("step=2")
    watched.press("to the end")
    watched.page.wait_for_selector('[data-number="outcome"]')
    again = new_page(watched.state())
    assert again.text(".steps") == watched.text(".steps")


def test_draw_one_token_plays_by_itself(new_page):
    watched = new_page()
    watched.press("draw one token")
    watched.page.wait_for_selector('[data-number="outcome"]')
    assert watched.page.locator(".pointer").count() >= 2


def test_ten_thousand_draws_stay_in_the_band_and_leave_it_when_tampered(new_page):
    watched = new_page()
    watched.press("draw 10,000")
    watched.page.wait_for_selector('[data-draws="10000"]')
    assert "inside the band" in watched.text("#w4")
    watched.press("emit raw p on rejection")
    watched.page.wait_for_selector('[data-number="draws"] .moved')
    watched.page.wait_for_selector('[data-draws="10000"]')
    assert "outside the band" in watched.text("#w4")


def test_the_badge_turns_red_with_a_tamper_says_where_and_turns_back(new_page):
    watched = new_page()
    assert watched.verdict() == "LOSSLESS"
    watched.press("emit raw p on rejection")
    watched.page.wait_for_selector('#badge [data-verdict="LOSSY"]')
    assert "token" in watched.text("#w7 .window-verdict")
    watched.page.wait_for_selector('[data-number="caught"]')
    caught = watched.text('[data-number="caught"]')
    assert all(witness in caught for witness in TAMPERS["residual-is-the-target"].caught_by)
    watched.page.get_by_role("button", name="switch off").click()
    watched.page.wait_for_selector('#badge [data-verdict="LOSSLESS"]')


def test_a_tamper_that_these_laws_do_not_show_is_caught_by_the_battery(new_page):
    hidden = next(name for name, tamper in TAMPERS.items() if tamper.family == "cache" and not tamper.harmless)
    watched = new_page(f"tamper={hidden}")
    assert watched.verdict() in ("UNDECIDED", "LOSSY")
    watched.page.wait_for_selector('#badge [data-verdict="LOSSY"]')
    assert "caught by" in watched.text('[data-number="caught"]')


def test_a_control_stays_green(new_page):
    watched = new_page(f"tamper={CONTROL}")
    watched.page.wait_for_selector('[data-number="caught"]')
    assert "no witness finds fault, as it should be" in watched.text('[data-number="caught"]')
    assert watched.verdict() == "LOSSLESS"


def test_the_gallery_lists_every_tamper_of_a_family_and_finds_by_name(new_page):
    watched = new_page("family=cache")
    names = {name for name, tamper in TAMPERS.items() if tamper.family == "cache"}
    shown = watched.page.eval_on_selector_all("[data-tamper]", "found => found.map(one => one.dataset.tamper)")
    assert set(shown) == names
    watched.page.locator(f'[data-tamper="{shown[0]}"]').click()
    watched.until_state(f"tamper={shown[0]}")


def test_the_address_follows_and_reproduces_the_page(new_page):
    watched = new_page()
    watched.press("random, seed 0")
    watched.page.locator('[data-sphere="4"]').click()
    watched.until("() => location.search.includes('lineage=4') && location.search.includes('law_seed=1')")
    again = new_page(watched.page.url.partition("?")[2])
    for name in ("identity", "laws", "engine", "witness", "passes"):
        assert again.table(name) == watched.table(name)


def test_the_link_is_copied_or_the_page_says_why_not(new_page):
    watched = new_page("draw=4", permissions=["clipboard-read", "clipboard-write"])
    watched.press("copy link")
    watched.page.wait_for_selector("text=the link is copied")
    assert watched.page.evaluate("() => navigator.clipboard.readText()").endswith("/?draw=4")


def test_a_link_with_nonsense_says_so_and_opens(new_page):
    watched = new_page("p=0,0&seed=x&nonsense=1&rule=best&tamper=no&q=0.5,0.5,0.2")
    words = watched.text("#refusal")
    for part in ("nonsense", "seed", "rule", "tamper"):
        assert part in words
    assert watched.verdict() == "LOSSLESS"


def test_two_browsers_share_nothing(new_page):
    first, second = new_page(), new_page()
    before = second.table("laws")
    first.press("emit raw p on rejection")
    first.page.get_by_role("button", name="disjoint", exact=True).click()
    first.until_state("tamper=")
    second.page.wait_for_timeout(300)
    assert second.table("laws") == before
    assert second.verdict() == "LOSSLESS"
    assert second.state() == ""


def test_light_dark_and_as_the_system_is(new_page):
    dark, light = new_page(color_scheme="dark"), new_page(color_scheme="light")
    background = "() => getComputedStyle(document.body).backgroundColor"
    assert dark.page.evaluate(background) != light.page.evaluate(background)
    light.press("light, dark")
    light.until_state("theme=dark")
    light.until("wanted => getComputedStyle(document.body).backgroundColor === wanted", dark.page.evaluate(background))


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_sticks_out_and_all_windows_are_there(new_page, width):
    twelve = ",".join(map(str, range(1, 13)))
    watched = new_page(f"p={twelve}&q={twelve}&step=9&draws=50&lineage=5", viewport={"width": width, "height": 800})
    watched.page.wait_for_selector('[data-draws="50"]', state="attached")
    assert watched.page.evaluate("() => document.documentElement.scrollWidth") <= width
    numbers = watched.page.eval_on_selector_all(".window", "found => found.map(one => parseInt(one.id.slice(1)))")
    assert sorted(numbers) == list(range(11))


def test_every_control_is_reached_by_the_keyboard_and_has_a_name(new_page):
    watched = new_page()
    controls = 'button, input:not([tabindex="-1"]), textarea, [role=slider]'
    nameless = watched.page.evaluate(
        """(controls) => [...document.querySelectorAll(controls)].filter(
        one => one.offsetParent && !(one.getAttribute('aria-label') || one.textContent.trim() || one.title ||
            one.labels?.length || one.closest('label'))).map(one => one.outerHTML.slice(0, 150))""",
        controls,
    )
    assert nameless == []
    reached = set()
    for _ in range(60):
        watched.page.keyboard.press("Tab")
        reached.add(watched.page.evaluate("() => [...document.querySelectorAll('*')].indexOf(document.activeElement)"))
    assert len(reached) == 60


def test_a_hundred_moves_leave_no_number_behind(new_page):
    watched = new_page()
    rng = np.random.default_rng(5)
    keys = ["ArrowUp", "ArrowDown", "PageUp", "Home"]
    for more in watched.page.locator(".more > .q-expansion-item__container > .q-item").all():
        more.click()
    names = watched.page.eval_on_selector_all("[data-setting], [data-bar]", SLIDERS)
    assert len(names) >= 20
    for _ in range(100):
        name, key = rng.choice(names), rng.choice(keys, p=[0.45, 0.35, 0.15, 0.05])
        watched.page.locator(f"{name} {THUMB}").press(str(key))
    watched.settle()
    state = shown_state(watched)
    p, q = laws_of(state)
    watched.until("size => document.querySelectorAll('[data-table=laws] tbody tr').length === size", len(p))
    for table, index, wanted in (
        ("identity", 1, p),
        ("laws", 2, p),
        ("laws", 1, q),
        ("engine", 1, p),
        ("engine", 4, p),
    ):
        assert np.allclose(watched.column(table, index), wanted, rtol=0, atol=CLOSE)
    fields = watched.page.eval_on_selector_all(".law-field.p", "found => found.map(one => parseFloat(one.value))")
    assert np.allclose(fields, law(state.p), rtol=1e-3, atol=1e-9)  # fields show four digits
    assert watched.column("economics", 1)[0] == prospect(state.rule, p, q, costs_by_hand(state)).length
    assert state.p != State().p
    assert state.q != State().q
