"""The probes: known texts under every kind of draft, and the known texts of wrong caches."""

from dataclasses import dataclass

import numpy as np
import pytest

from draftproof.errors import ContractError, UsageError
from draftproof.models.probes import (
    VOCABULARY,
    RecurrentProbe,
    WindowProbe,
    one_hot,
    recurrence,
    spread,
    sum_probe,
    weighted_sum,
    window,
)
from draftproof.models.snapshots import Snapshots

PROMPT = (3, 1, 4)
RIGHT = {
    "sum": (6, 8, 4, 6, 4, 3, 8, 0, 0, 0),
    "recurrent": (3, 8, 10, 0, 4, 1, 10, 2, 0, 10),
    "window": (6, 8, 4, 1, 5, 6, 1, 0, 9, 0),
}
REJECTED_LEFT = {
    "sum": (6, 8, 4, 3, 10, 9, 1, 6, 10, 1),
    "recurrent": (3, 8, 3, 6, 8, 8, 9, 9, 10, 2),
    "window": (6, 8, 6, 9, 6, 9, 6, 9, 6, 9),
}
ONE_TOO_MANY = {
    "sum": (6, 8, 8, 4, 4, 6, 6, 4, 4, 3),
    "recurrent": (3, 8, 8, 10, 10, 0, 0, 4, 4, 1),
    "window": (6, 8, 8, 4, 4, 1, 1, 5, 5, 6),
}
AMOUNTS = {"sum": weighted_sum, "recurrent": recurrence, "window": window}
KINDS = {
    "sum": sum_probe,
    "recurrent": lambda: Snapshots(RecurrentProbe()),
    "window": lambda: Snapshots(WindowProbe()),
}
ROOMS = (4, 5, 8, 20)


def likeliest(row):
    return int(np.argmax(row))


def decoded(model, draft, count):
    """Return `count` tokens and the number of passes; `draft` says what is drafted after a text in a pass."""
    text, passes = [*PROMPT], 0
    while len(text) < len(PROMPT) + count:
        room = len(PROMPT) + count - len(text) - 1
        drafted = draft(text, passes)[:room]
        rows = model.extend([*text[model.length :], *drafted], len(drafted) + 1)
        said = [likeliest(row) for row in rows]
        kept = next((i for i, token in enumerate(drafted) if token != said[i]), len(drafted))
        start = len(text)
        text += said[: kept + 1]
        model.keep(start, range(kept))
        passes += 1
    return tuple(text[len(PROMPT) :]), passes


def right_for(positions, kind, drafts=3):
    """Draft right for so many positions, and then the token after the right one."""

    def draft(text, _):
        text = [*text]
        for position in range(drafts):
            text.append((AMOUNTS[kind](text) + (position >= positions)) % VOCABULARY)
        return text[len(text) - drafts :]

    return draft


@pytest.mark.parametrize("right", [0, 1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_a_probe_says_its_text_whatever_is_drafted(kind, right):
    passes = {0: 10, 1: 5, 2: 4, 3: 3}[right]
    assert decoded(KINDS[kind](), right_for(right, kind), 10) == (RIGHT[kind], passes)
    assert decoded(KINDS[kind](), lambda *_: [], 10) == (RIGHT[kind], 10)


def text_of_a_wrong_cache(kind, keeps_all):
    """Decode with drafts of which the first is right, and a cache that keeps all, or a token too few."""
    model, text, held, unread = KINDS[kind](), [], [], [*PROMPT]
    while len(text) < 10:
        seen = [*held, *unread]
        first = AMOUNTS[kind](seen)
        drafted = [first, (AMOUNTS[kind]([*seen, first]) + 1) % VOCABULARY]
        drafted.append((AMOUNTS[kind]([*seen, *drafted]) + 1) % VOCABULARY)
        text += map(likeliest, model.extend([*unread, *drafted], 4)[:2])
        held, unread = ([*seen, *drafted], text[-1:]) if keeps_all else (seen, [first])
        model.rewind(len(held))
    return tuple(text[:10])


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_cache_makes_a_known_text(kind):
    assert text_of_a_wrong_cache(kind, keeps_all=True) == REJECTED_LEFT[kind]
    assert text_of_a_wrong_cache(kind, keeps_all=False) == ONE_TOO_MANY[kind]


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("drafts", range(1, 17))
def test_a_ring_of_any_room_stands_any_number_of_drafts(drafts, room):
    """A65, A72: the ring wraps in the middle of a run; what it no longer holds is read again."""
    wanted = decoded(Snapshots(WindowProbe()), lambda *_: [], 60)[0]
    for right in (0, 1, drafts - 1, drafts):
        model = Snapshots(WindowProbe(room=room))
        assert decoded(model, right_for(right, "window", drafts), 60)[0] == wanted


@dataclass
class Unchecked(WindowProbe):
    """A ring that goes back in any case."""

    def try_rewind(self, length):
        self.length = length
        return True

    def _seen(self):
        return [self.ring[place % self.room][1] for place in range(max(0, self.length - 4), self.length)]


def test_a_ring_that_is_not_asked_what_it_holds_is_right_for_few_drafts_only():
    """A72: the negative control of the sweep."""
    wanted = decoded(Snapshots(WindowProbe()), lambda *_: [], 60)[0]
    right = {
        drafts: decoded(Snapshots(Unchecked(room=8)), right_for(1, "window", drafts), 60)[0] == wanted
        for drafts in range(1, 17)
    }
    assert all(right[drafts] for drafts in range(1, 7))
    assert not any(right[drafts] for drafts in (7, 8, 12, 16))


@pytest.mark.parametrize("kind", KINDS)
def test_passes_with_and_without_drafts_may_take_turns(kind):
    """A73, A81: a pass without drafts goes on from where the kept drafts ended."""

    def draft(text, passes):
        return [] if passes % 2 else right_for(2, kind)(text, passes)

    assert decoded(KINDS[kind](), draft, 10)[0] == RIGHT[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_drafts_that_are_all_wrong_change_nothing(kind):
    for drafts in ([0] * 5, [10, 9, 8], [5]):
        assert decoded(KINDS[kind](), lambda *_, drafts=drafts: drafts, 10)[0] == RIGHT[kind]


@pytest.mark.parametrize("make", [RecurrentProbe, WindowProbe])
def test_tokens_read_at_once_leave_the_state_that_they_leave_one_by_one(make):
    """A84."""
    together, one_by_one = make(), make()
    rows = together.extend([3, 1, 4, 1])
    assert np.array_equal(rows, np.concatenate([one_by_one.extend([token]) for token in (3, 1, 4, 1)]))
    assert together == one_by_one


def test_a_ring_that_has_read_three_and_three_holds_the_last_four():
    """A66."""
    ring = WindowProbe()
    ring.extend([1, 2, 3])
    ring.extend([4, 5, 6])
    assert ring.length == 6
    assert sorted(ring.ring) == [(2, 3), (3, 4), (4, 5), (5, 6)]


def test_a_ring_says_every_time_whether_it_can_go_back():
    ring = WindowProbe(room=6)
    ring.extend([1, 2, 3, 4, 5, 6])
    assert ring.try_rewind(4)
    ring.extend([7, 8])
    assert ring.try_rewind(6)
    ring.extend([9, 10])
    before = ring.snapshot()
    assert not ring.try_rewind(4)
    assert ring.snapshot() == before
    assert ring.try_rewind(5)


def test_a_ring_that_lacks_what_it_looks_at_says_nothing():
    ring = WindowProbe()
    ring.extend([1, 2, 3, 4, 5, 6])
    ring.length = 3
    with pytest.raises(ContractError, match="a ring of 4 slots no longer holds"):
        ring.extend([1])


def test_a_ring_has_room_for_its_window():
    with pytest.raises(UsageError, match="room: got 3; allowed are 4 slots or more"):
        WindowProbe(room=3)


def test_a_state_cannot_go_back():
    probe = RecurrentProbe()
    probe.extend([1, 2])
    assert probe.try_rewind(2)
    assert not probe.try_rewind(1)


@pytest.mark.parametrize("law_of", [one_hot, spread])
def test_each_residue_has_a_law_of_its_own(law_of):
    laws = {tuple(law_of(residue)) for residue in range(VOCABULARY)}
    assert len(laws) == VOCABULARY
    assert all(sum(law) == 1 for law in laws)
    assert all(min(law) > 0 for law in laws) == (law_of is spread)
