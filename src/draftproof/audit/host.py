"""The process in which an engine under audit runs: starts it, samples it, tells what happened, a JSON object a line.

In: the file of a member of `subjects/`; requests on standard input. Out: answers on what was standard output. It runs
in the engine's own environment, which need not have this package: it imports the standard library only. What an engine
prints goes to standard error.
"""

import contextlib
import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any, TextIO

__all__ = ["main"]


def main(member: Path) -> None:
    """Answer until standard input ends.

    The first line is `{"start": asked}`, answered by `{"versions": ..}`; others are `{"sample": requests}`, answered by
    `{"answers": .., "counters": ..}`. What fails is answered by `{"error": .., "kind": ..}`.
    """
    with _private_output() as out:
        running: Any = None
        try:
            for line in sys.stdin:
                told = json.loads(line)
                if "start" in told:
                    running = _loaded(member).start(told["start"])
                    said: dict[str, Any] = {"versions": dict(running.versions)}
                else:
                    said = {"answers": running.sample(told["sample"]), "counters": running.counters()}
                out.write(json.dumps(said) + "\n")
                out.flush()
        except Exception as error:  # noqa: BLE001 (an engine may fail in any way; that is a result)
            out.write(json.dumps({"error": " ".join(str(error).split()), "kind": type(error).__name__}) + "\n")
        finally:
            if running is not None:
                with contextlib.suppress(Exception):
                    running.close()


def _private_output() -> TextIO:
    """Return standard output, and send there no more what others print."""
    kept = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(kept, "w", encoding="utf-8")


def _loaded(member: Path) -> Any:
    """Return the module in a file, under a name that is no library's."""
    spec = importlib.util.spec_from_file_location(f"subject_{member.stem}", member)
    if spec is None or spec.loader is None:
        raise ImportError(f"{member} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main(Path(sys.argv[1]))
