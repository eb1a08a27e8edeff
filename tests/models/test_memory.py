"""What does not fit is refused before it is read, with the numbers."""

import pytest

from draftproof.errors import UsageError
from draftproof.models import memory
from draftproof.models.memory import check_room, free_memory, in_words


def test_what_fits_to_the_last_byte_is_let_in():
    check_room({"weights": 70, "a cache of 3 tokens": 30}, 100)


def test_what_is_one_byte_too_large_is_refused_with_every_part_and_what_is_free():
    with pytest.raises(UsageError) as refusal:
        check_room({"weights": 71, "nothing": 0, "a cache of 3 tokens": 30}, 100, "cuda:0")
    assert str(refusal.value) == (
        "needs 71 bytes for weights and 30 bytes for a cache of 3 tokens, but 100 bytes of cuda:0 are free; "
        "choose a smaller model, dtype or context"
    )


def test_a_single_part_is_named_alone():
    with pytest.raises(UsageError, match=r"^needs 2\.0 GB for weights, but 1\.5 GB of memory are free"):
        check_room({"weights": 2 * 10**9}, 15 * 10**8)


def test_where_nobody_can_say_what_is_free_nothing_is_refused():
    check_room({"weights": 10**30}, None)


def test_free_memory_is_what_the_system_says(tmp_path, monkeypatch):
    path = tmp_path / "meminfo"
    path.write_text("MemTotal:  9 kB\nMemAvailable:    4 kB\n")
    monkeypatch.setattr(memory, "MEMINFO", path)
    assert free_memory() == 4096
    path.write_text("MemTotal:  9 kB\n")
    assert free_memory() is None
    path.unlink()
    assert free_memory() is None


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (12_300_000, "12 MB"), (10**16, "10000 TB")],
)
def test_sizes_are_written_as_people_write_them(size, words):
    assert in_words(size) == words
