"""What does not fit is refused before it is read, with the numbers."""

import math

import pytest

from draftproof.errors import UsageError
from draftproof.models import control_groups, memory
from draftproof.models.control_groups import free_in_groups
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


@pytest.fixture
def group(tmp_path, monkeypatch):
    """Return a function: the line of this process, folder, numbers by file -> a control group is there."""
    monkeypatch.setattr(control_groups, "GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(control_groups, "MOUNTED", tmp_path / "mounted")

    def make(line, folder, **numbers):
        (tmp_path / "cgroup").write_text(f"12:cpu,cpuacct:/other\n{line}\n1:name=systemd:/\n")
        (tmp_path / "mounted" / folder).mkdir(parents=True, exist_ok=True)
        for name, text in numbers.items():
            (tmp_path / "mounted" / folder / f"memory.{name}").write_text(text)

    return make


SECOND = {"max": "5000\n", "current": "3000\n", "stat": "anon 1000\ninactive_file 1500\nactive_file 500\n"}
FIRST = {
    "limit_in_bytes": "5000\n",
    "usage_in_bytes": "3000\n",
    "stat": "inactive_file 9\ntotal_inactive_file 1500\ntotal_active_file 500\n",
}


@pytest.mark.parametrize(
    ("line", "folder", "numbers"),
    [
        ("0::/", ".", SECOND),
        ("0::/job/step", "job/step", SECOND),
        ("0::/job/step", "job", SECOND),
        ("0::/../../name/of/the/host", ".", SECOND),
        ("4:memory:/docker/abc", "memory/docker/abc", FIRST),
        ("4:memory:/docker/abc", "memory", FIRST),
        ("4:cpu,memory:/", "memory", FIRST),
    ],
)
def test_a_container_has_what_its_group_leaves_and_what_files_would_give_back(group, line, folder, numbers):
    group(line, folder, **numbers)
    assert free_in_groups() == 4000
    assert free_memory() == 4000


def test_the_tightest_group_decides_and_one_that_is_full_leaves_nothing(group):
    group("0::/job/step", "job", **SECOND)
    group("0::/job/step", "job/step", max="2500", current="1000", stat="inactive_file 200\n")
    assert free_in_groups() == 1700
    group("0::/job/step", "job/step", max="2500", current="3000", stat="")
    assert free_in_groups() == 0


@pytest.mark.parametrize("most", ["max\n", "", "many"])
def test_a_group_without_a_limit_is_no_limit(group, most):
    group("0::/", ".", **SECOND | {"max": most})
    assert free_in_groups() == math.inf


@pytest.mark.parametrize("line", ["", "no groups", "0::/elsewhere", "7:devices:/"])
def test_where_groups_cannot_be_read_the_machine_is_the_limit(group, line):
    group(line, "x")
    assert free_in_groups() == math.inf
    assert free_memory() > 5000


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (12_300_000, "12 MB"), (10**16, "10000 TB")],
)
def test_sizes_are_written_as_people_write_them(size, words):
    assert in_words(size) == words
