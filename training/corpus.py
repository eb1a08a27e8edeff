"""The text the embedded pair learns: the King James Bible from Debian's packages, chapter by chapter.

In: the packages bible-kjv and bible-kjv-text, fetched by `apt-get download` (nothing is installed, no root needed).
Out: two lists of chapters, one verse a line: for training, and held out (every 25th chapter).
The text itself stays out of the repository.
"""

import re
import subprocess
from itertools import groupby
from pathlib import Path

__all__ = ["PACKAGES", "chapters", "split"]

PACKAGES = ("bible-kjv", "bible-kjv-text")
HELD_OUT_EVERY = 25
VERSE = re.compile(r"^(?P<chapter>\S+?):\d+ (?P<text>.*)$")


def chapters(work: Path) -> list[str]:
    """Return the 1,189 chapters in order, each a string of verses separated by newlines."""
    text = work / "kjv.txt"
    if not text.exists():
        text.write_text(_print_bible(_unpack(work / "packages")), encoding="ascii")
    verses = [match for line in text.read_text("ascii").splitlines() if (match := VERSE.match(line))]
    grouped = groupby(verses, key=lambda match: match["chapter"])
    return ["\n".join(verse["text"] for verse in group) for _, group in grouped]


def split(all_chapters: list[str]) -> tuple[list[str], list[str]]:
    """Return (training chapters, held-out chapters); every 25th chapter is held out."""
    held_out = all_chapters[HELD_OUT_EVERY - 1 :: HELD_OUT_EVERY]
    training = [text for i, text in enumerate(all_chapters, start=1) if i % HELD_OUT_EVERY]
    return training, held_out


def _unpack(folder: Path) -> Path:
    root = folder / "root"
    if not root.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", *PACKAGES], cwd=folder, check=True)
        for archive in folder.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", archive, root], check=True)
    return root


def _print_bible(root: Path) -> str:
    command = [root / "usr/bin/bible", "-p", root / "usr/lib", "-f", "gen1:1-rev22:21"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    return done.stdout
