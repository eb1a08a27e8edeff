"""Drafters for tests: small models, one drafter of every kind, and tokenizers written down by hand."""

from dataclasses import dataclass, field
from fractions import Fraction

from draftproof.drafters.chain import ChainDrafter
from draftproof.drafters.model import ModelDrafter
from draftproof.drafters.ngram import NgramDrafter
from draftproof.drafters.none import NoDrafter
from draftproof.drafters.suffix import SuffixDrafter, Suffixes
from draftproof.drafters.vocabulary import TranslatedDrafter
from draftproof.models.table import TableModel
from draftproof.models.words import Words, translation


@dataclass(frozen=True)
class Written:
    """A tokenizer that is a list of strings, the number of each its id; texts that differ from them are listed."""

    strings: tuple[str, ...]
    bos: int | None = None
    texts: dict = field(default_factory=dict)

    @property
    def vocabulary(self):
        return {string: token for token, string in enumerate(self.strings)}

    def decode(self, ids):
        return "".join(self.texts.get(self.strings[token], self.strings[token]) for token in ids)


def law_of(context, size):
    """A law that depends on the whole context, a third of its entries zero."""
    state, weights = 5, []
    for token in (*context, *range(size)):
        state = (state * 131 + token * 7 + 17) % 10007
        weights.append(max(0, state % 6 - 1))
    weights = weights[-size:]
    weights[len(context) % size] += 1
    return [Fraction(weight, sum(weights)) for weight in weights]


def table(size=3):
    return TableModel(lambda context: law_of(context, size), size)


def words(*strings, size=None, **more):
    return Words(Written(strings, **more), len(strings) if size is None else size)


def corpus(*tokens):
    found = Suffixes()
    found.extend(tokens)
    return found


def translated(draft, target, drafter=None, **more):
    return TranslatedDrafter(drafter or ModelDrafter(table(draft.size)), translation(draft, target), **more)


DRAFTERS = {
    "none": NoDrafter,
    "ngram": lambda: NgramDrafter(3, 1, 3),
    "ngram of two": lambda: NgramDrafter(3, 2, 2),
    "suffix": lambda: SuffixDrafter(3),
    "suffix with a corpus": lambda: SuffixDrafter(3, corpus(0, 1, 2, 2, 1, 0, 1)),
    "model": lambda: ModelDrafter(table()),
    "chain": lambda: ChainDrafter((NgramDrafter(3, 2, 3), SuffixDrafter(3), ModelDrafter(table()))),
    "chain that may be silent": lambda: ChainDrafter((NgramDrafter(3, 3, 3), NgramDrafter(3, 2, 2))),
    "other ids": lambda: translated(words("c", "a", "b"), words("a", "b", "c")),
    "partial overlap": lambda: translated(words("a", "x", "c", "y"), words("a", "cac", "c")),
    "padded": lambda: translated(words("a", "b", "c", size=5), words("a", "b", "c")),
}
"""One drafter of every kind for three tokens."""
