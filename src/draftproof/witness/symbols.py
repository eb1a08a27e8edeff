"""The symbolic witness: the rule of an engine, proven for all laws over a few tokens. See `smt.py`.

In: an assembled engine. Out: findings; that z3 is missing is one too, since what is installed must not pass for proof.
"""

from collections.abc import Iterator, Sequence
from functools import cache

from draftproof.errors import MissingExtraError
from draftproof.records import Conclusion, Finding
from draftproof.rules.base import Rule
from draftproof.witness.base import Subject
from draftproof.witness.smt import prove_identity, prove_pass
from draftproof.witness.tables import rule_of

__all__ = ["Symbols"]

LARGEST_OF_A_TREE = 3
"""Two drafts for one position over four tokens have thousands of paths."""
MOST_PATHS = 200
"""Of the rules here only k-SEQ needs more, and minutes."""


class Symbols:
    """See `Witness`: a finding for the identity at each size, and one for a whole pass over two tokens.

    Args:
        sizes: of the vocabulary.
    """

    name = "smt"

    def __init__(self, sizes: Sequence[int] = (2,)) -> None:
        self.sizes = tuple(sizes)

    def examine(self, subject: Subject) -> Iterator[Finding]:
        """See `Witness.examine`; nothing if the engine shows no rule."""
        rule = rule_of(subject)
        if rule is None:
            return
        branching = subject.branching or (1,)
        try:
            for size in self.sizes:
                if size > (LARGEST_OF_A_TREE if rule.branches else size):
                    break
                found = _identity(rule, size, branching)
                if found.verdict is Conclusion.UNDECIDED:  # nothing to compare, or too many paths: more at larger sizes
                    break
                yield found
            yield _pass(rule, 2, branching)
        except MissingExtraError as error:
            yield Finding(self.name, subject.name, Conclusion.UNDECIDED, None, str(error))


@cache
def _identity(rule: Rule, size: int, branching: tuple[int, ...]) -> Finding:
    """Prove it once for each rule: rules are values, and most engines under examination have an honest one."""
    return prove_identity(rule, size, branching, MOST_PATHS)


@cache
def _pass(rule: Rule, size: int, branching: tuple[int, ...]) -> Finding:
    return prove_pass(rule, size, branching, MOST_PATHS)
