"""Which settings do not go together: the one table that is checked before anything is loaded, and that the docs print.

In: options. Out: nothing, or a refusal by name. It knows names and numbers only, no models.
"""

from collections.abc import Callable
from typing import NamedTuple

from draftproof.engine.options import Options
from draftproof.errors import UsageError
from draftproof.rules.catalogue import RULES, TREE_RULES

__all__ = ["COMBINATIONS", "Combination", "Given", "check", "table"]

Given = frozenset[str]
"""Names of what else was asked for, which is no option of a generation: files to read and write, forms of output."""


class Combination(NamedTuple):
    """Settings that exclude each other."""

    setting: str
    """The one that is refused."""
    beside: str
    """What it does not go with, in words."""
    reason: str
    """Why, and what to do."""
    applies: Callable[[Options, Given], bool]


def _grammars(options: Options) -> int:
    return sum(map(bool, (options.json_schema, options.regex, options.lark)))


def _grows_a_tree(options: Options) -> bool:
    return options.rule in TREE_RULES


COMBINATIONS = (
    Combination(
        "tree", "a rule for chains",
        f"such a rule tests one draft after another; use one of {', '.join(TREE_RULES)}",
        lambda o, _: bool(o.tree) and o.rule in RULES and not _grows_a_tree(o),
    ),
    Combination(
        "tree", "fewer speculative tokens than it has levels",
        "a tree is as deep as the number of speculative tokens says; give it a level for each at most",
        lambda o, _: bool(o.tree) and isinstance(o.num_speculative_tokens, int)
        and len(o.tree.split(",")) > o.num_speculative_tokens,
    ),
    Combination(
        "num_speculative_tokens", "auto, a tree rule",
        "what trees cost is not measured, so their depth cannot be chosen; give a number, or a rule for chains",
        lambda o, _: o.num_speculative_tokens == "auto" and _grows_a_tree(o),
    ),
    Combination(
        "json_schema", "another grammar",
        "one text has one grammar; give json_schema, regex or lark",
        lambda o, _: bool(o.json_schema) and _grammars(o) > 1,
    ),
    Combination(
        "regex", "another grammar",
        "one text has one grammar; give json_schema, regex or lark",
        lambda o, _: bool(o.regex) and bool(o.lark),
    ),
    Combination(
        "ignore_eos", "a grammar",
        "a text that is complete by its grammar ends with end-of-sequence; leave one of them out",
        lambda o, _: o.ignore_eos and _grammars(o) > 0,
    ),
    Combination(
        "min_tokens", "more than max_tokens",
        "a text cannot be longer than its longest; lower one or raise the other",
        lambda o, _: o.min_tokens > o.max_tokens >= 0,
    ),
    Combination(
        "min_tokens", "a grammar",
        "where the grammar allows nothing but the end, no token would be left; let the grammar ask for the length",
        lambda o, _: o.min_tokens > 0 and _grammars(o) > 0,
    ),
    Combination(
        "allowed_token_ids", "a grammar",
        "both say what may come, and together they may leave nothing; put it into the grammar",
        lambda o, _: bool(o.allowed_token_ids) and _grammars(o) > 0,
    ),
    Combination(
        "tree", "no speculation",
        "nothing is drafted then; leave one of them out",
        lambda o, _: bool(o.tree) and not o.speculates,
    ),
    Combination(
        "prompt", "prompts from a file",
        "each line of the file is a prompt; leave one of them out",
        lambda o, given: bool(o.prompt) and "prompts" in given,
    ),
    Combination(
        "prompts", "no file to write to",
        "texts that are decoded together would mix on the screen; name one with out",
        lambda o, given: "prompts" in given and "out" not in given,
    ),
    Combination(
        "out", "a single prompt",
        "it takes the lines of a file of prompts; give prompts, or json for one text",
        lambda o, given: "out" in given and "prompts" not in given,
    ),
    Combination(
        "batch_size", "a single prompt",
        "it says how many texts of a file are decoded together; give prompts",
        lambda o, given: "batch_size" in given and "prompts" not in given,
    ),
    Combination(
        "workers", "a single prompt",
        "it says how many processes share the texts of a file; give prompts",
        lambda o, given: "workers" in given and "prompts" not in given,
    ),
    Combination(
        "json", "prompts from a file",
        "the file that is written is JSON, a line a text; leave it out",
        lambda o, given: "json" in given and "prompts" in given,
    ),
    Combination(
        "trace", "several texts",
        "a trace is of one text; give one prompt and n = 1",
        lambda o, given: "trace" in given and (o.n > 1 or "prompts" in given),
    ),
    Combination(
        "certify", "prompts from a file",
        "the laws of their texts are not kept to be compared; leave it out, or give one prompt",
        lambda o, given: "certify" in given and "prompts" in given,
    ),
    Combination(
        "logprobs", "text on the screen",
        "a screen has no room for them; give json, or prompts and out",
        lambda o, given: "logprobs" in given and not {"json", "prompts"} & given,
    ),
)  # fmt: skip
"""In the order in which they are looked at."""


def check(options: Options, given: Given = frozenset()) -> None:
    """Refuse what does not go together.

    Raises:
        UsageError: naming the first setting at fault, what it does not go with, and what to do.
    """
    for setting, beside, reason, applies in COMBINATIONS:
        if applies(options, given):
            value = getattr(options, setting, None)
            came = f"got {value!r} with" if value is not None else "does not go with"
            raise UsageError(f"{came} {beside}: {reason}", setting)


def table() -> str:
    """Return the table as Markdown."""
    rows = [f"| `{setting}` | {beside} | {reason} |" for setting, beside, reason, _ in COMBINATIONS]
    return "\n".join(["| setting | does not go with | because |", "|---|---|---|", *rows])
