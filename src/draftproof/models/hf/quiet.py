"""Keeps what transformers and huggingface_hub say off the screen. In: a block of code. Out: its errors, which remain.

What matters of it is said by the errors of this package. Progress bars stay where somebody watches.
"""

import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["quiet"]


@contextmanager
def quiet() -> Iterator[None]:
    """Let the block warn nobody; show its progress only on a terminal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from transformers.utils import logging as of_transformers

        of_hub = logging.getLogger("huggingface_hub")
        levels = of_transformers.get_verbosity(), of_hub.level
        hides = of_transformers.is_progress_bar_enabled() and not sys.stderr.isatty()
        of_transformers.set_verbosity(logging.CRITICAL)
        of_hub.setLevel(logging.CRITICAL)
        if hides:
            of_transformers.disable_progress_bar()  # that of huggingface_hub too
        try:
            yield
        finally:
            of_transformers.set_verbosity(levels[0])
            of_hub.setLevel(levels[1])
            if hides:
                of_transformers.enable_progress_bar()
