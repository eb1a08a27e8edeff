"""Runs every question, one after another, each in a process of its own."""

import subprocess
import sys
from pathlib import Path

QUESTIONS = ("pass_cost", "speculation", "against_transformers", "growth")


def main() -> None:
    """Run all, or those named on the command line."""
    for question in sys.argv[1:] or QUESTIONS:
        subprocess.run([sys.executable, Path(__file__).with_name(f"{question}.py")], check=True)


if __name__ == "__main__":
    main()
