"""Options that are written as classes, one a heading of the help, become the signature of a command.

In: classes whose annotated attributes have names and defaults. Out: a signature as typer reads it.
"""

import inspect
from collections.abc import Iterable
from copy import copy
from typing import Annotated, Any

import typer

__all__ = ["command_signature"]


def command_signature(argument: inspect.Parameter, headings: Iterable[type]) -> inspect.Signature:
    """Return the signature of a command with its context, one argument, and the options of all headings.

    Args:
        argument: keyword-only.
        headings: the docstring of each is its heading.
    """
    keyword = inspect.Parameter.KEYWORD_ONLY
    found = [inspect.Parameter("context", keyword, annotation=typer.Context), argument]
    for heading in headings:
        for name, annotation in inspect.get_annotations(heading).items():
            kind, described = annotation.__origin__, copy(annotation.__metadata__[0])
            described.rich_help_panel = (heading.__doc__ or "").rstrip(".")
            told: Any = Annotated[kind, described]
            found.append(inspect.Parameter(name, keyword, default=getattr(heading, name), annotation=told))
    return inspect.Signature(found)
