"""Many small engines at once: loops of drafting and verifying over a made-up language, by the shipped rules.

A language has a law of the next token, and a draft's guess of it, for every pair of tokens before. All runs of a batch
make their passes together; what each emits, where its laws stand and what came before it is kept for the witness.
"""

from dataclasses import dataclass, field

import numpy as np

from draftproof.rules.base import pick
from draftproof.rules.coupled import CoupledRule, winner
from draftproof.rules.match import MatchRule
from draftproof.rules.token import TokenRule
from draftproof.witness.emitted import Emitted

CONTEXTS, SIZE, DRAFTED, CHILDREN = 128, 32, 4, 2
ENGINES = ("token rule", "sample-and-match", "position-keyed coupling", "deterministic tree")


@dataclass(frozen=True)
class Language:
    """Laws (CONTEXTS, SIZE), sharp here and open there, and a draft that disagrees in a fifth to a half of the mass."""

    target: np.ndarray
    draft: np.ndarray

    @classmethod
    def of(cls, seed):
        rng = np.random.default_rng(seed)
        target = rng.dirichlet(np.full(SIZE, 0.3), CONTEXTS).clip(1e-12)
        draft = target * np.exp(rng.normal(size=target.shape))
        return cls(*(law / law.sum(axis=-1, keepdims=True) for law in (target, draft)))


def following(last, before):
    """Return the number of the context after two tokens."""
    return (37 * last + 11 * before + 5) % CONTEXTS


@dataclass
class Draws:
    """Random numbers of a pass of each run; exponentials belong to positions, and so outlive passes that stop short."""

    rng: np.random.Generator
    runs: int
    ahead: np.ndarray = field(init=False)
    """(runs, DRAFTED + 1, SIZE) those of the next positions."""

    def __post_init__(self) -> None:
        self.ahead = self.rng.exponential(size=(self.runs, DRAFTED + 1, SIZE))

    def uniforms(self, purpose, count, first=0):
        return self.rng.random((self.runs, count))

    def exponentials(self, depth, vocab_size):
        return self.ahead[:, depth, :]

    def move(self, emitted):
        """Leave so many positions (runs,) behind."""
        places = np.arange(DRAFTED + 1) + emitted[:, None]
        fresh = self.rng.exponential(size=self.ahead.shape)
        kept = np.take_along_axis(self.ahead, np.minimum(places, DRAFTED)[..., None], axis=1)
        self.ahead = np.where((places <= DRAFTED)[..., None], kept, fresh)


@dataclass
class Runs:
    """What a batch of runs has emitted: arrays (runs, tokens), and how many of each are filled."""

    language: Language
    columns: dict[str, np.ndarray]
    filled: np.ndarray

    def emitted(self, run, count, only=None):
        """Return the first tokens of a run; or, of those, only the ones for which a column is true."""
        rows = {name: column[run, :count] for name, column in self.columns.items()}
        if only is not None:
            rows = {name: row[rows[only]] for name, row in rows.items()}
        laws = self.language.target[rows["context"]], self.language.draft[rows["context"]]
        rejected = rows["rejected"].astype(np.int64)
        return Emitted(rows["token"].astype(np.int64), *laws, rows["bonus"], rejected >= 0, rejected)


def generate(engine, language, runs, count, seed):
    """Return `runs` runs of an engine, each with at least `count` tokens."""
    rng = np.random.default_rng(seed)
    draws = Draws(rng, runs)
    kinds = {"token": np.int16, "context": np.int16, "bonus": bool, "rejected": np.int16, "replaced": bool}
    columns = {name: np.zeros((runs, count + DRAFTED + 1), dtype=kind) for name, kind in kinds.items()}
    kept, rows = Runs(language, columns, np.zeros(runs, dtype=np.int64)), np.arange(runs)
    last, before = rng.integers(0, SIZE, (2, runs))
    rejected = np.full(runs, -1)
    while kept.filled.min() < count:
        tokens, accepted, miss, contexts = PASSES[engine](language, draws, last, before)
        for i in range(DRAFTED + 1):
            there = rows[(i <= accepted) & (kept.filled + i < columns["token"].shape[1])]
            values = {
                "token": tokens[:, i],
                "context": contexts[:, i],
                "bonus": accepted == i if i == DRAFTED else np.zeros(runs, dtype=bool),
                "rejected": rejected if i == 0 else np.full(runs, -1),
                "replaced": (accepted == i) & (miss >= 0),
            }
            for name, value in values.items():
                columns[name][there, kept.filled[there] + i] = value[there]
        emitted = accepted + 1
        history = np.concatenate([before[:, None], last[:, None], tokens], axis=1)
        before, last = history[rows, emitted], history[rows, emitted + 1]
        rejected = miss
        draws.move(emitted)
        kept.filled = np.minimum(kept.filled + emitted, columns["token"].shape[1])
    return kept


def _chain(rule, coupled=False):
    def one_pass(language, draws, last, before):
        """Return tokens (runs, K + 1), how many drafts stay, the one that does not or -1, contexts (runs, K + 1)."""
        tokens, contexts = [before, last], []
        for i in range(DRAFTED + 1):
            contexts.append(following(tokens[-1], tokens[-2]))
            law = language.draft[contexts[-1]]
            noise = draws.exponentials(i, SIZE) if coupled else None
            tokens.append(winner(law, noise) if coupled else pick(law, draws.rng.random(draws.runs)))
        contexts, drafted = np.stack(contexts, axis=1), np.stack(tokens[2 : DRAFTED + 2], axis=1)
        verdict = rule.verify(language.target[contexts], language.draft[contexts[:, :-1]], drafted, draws)
        return _told(drafted, verdict.accepted, verdict.token, contexts)

    return one_pass


def _told(drafted, accepted, token, contexts):
    padded = np.concatenate([drafted, np.full((len(drafted), 1), -1)], axis=1)
    miss = padded[np.arange(len(drafted)), accepted]
    tokens = np.where(np.arange(DRAFTED + 1) == accepted[:, None], token[:, None], padded)
    return tokens, accepted, miss, contexts


def _tree(language, draws, last, before):
    """Return the same of a tree of the draft's most probable tokens, all certain: go on while a child is drawn."""
    tokens, contexts, alive = [before, last], [], np.ones(draws.runs, dtype=bool)
    accepted, miss = np.zeros(draws.runs, dtype=np.int64), np.full(draws.runs, -1)
    for i in range(DRAFTED + 1):
        contexts.append(following(tokens[-1], tokens[-2]))
        best = np.argsort(-language.draft[contexts[-1]], axis=-1)[:, :CHILDREN]
        tokens.append(pick(language.target[contexts[-1]], draws.rng.random(draws.runs)))
        found = (tokens[-1][:, None] == best).any(axis=-1) & (i < DRAFTED)
        miss = np.where(alive & ~found & (i < DRAFTED), best[:, 0], miss)
        alive &= found
        accepted += alive
    return np.stack(tokens[2:], axis=1), accepted, miss, np.stack(contexts, axis=1)


PASSES = {
    "token rule": _chain(TokenRule()),
    "sample-and-match": _chain(MatchRule()),
    "position-keyed coupling": _chain(CoupledRule(), coupled=True),
    "deterministic tree": _tree,
}
