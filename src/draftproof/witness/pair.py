"""Witnesses of any pair of models: its passes read anew, its greedy text, and drafts of which it is known what happens.

In: runs of honest engines of real models. Out: findings. Nothing here knows what the models compute in: how far honest
readings lie apart is measured on every text.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from draftproof.drafters.base import Drafter
from draftproof.drafters.model import ModelDrafter
from draftproof.engine.length import ListedLengths
from draftproof.engine.passes import Pass
from draftproof.errors import UsageError
from draftproof.records import Conclusion, Finding
from draftproof.witness.adversaries import Misled, Stubborn, least_likely
from draftproof.witness.base import Subject, Witness
from draftproof.witness.greedy import Greedy, at_temperature_zero
from draftproof.witness.identity import Certificate
from draftproof.witness.readings import readings
from draftproof.witness.rescoring import Run
from draftproof.witness.rounded import replayed, reported
from draftproof.witness.rounding import behind, margin_rounding

__all__ = ["ReadAnew", "SelfDraft", "steady_run", "witnesses_of_pair"]

EVERY, LENGTHS = 3, (4, 2, 0, 4)
"""Every third guess is wrong, so that passes of these lengths keep 2 of 4 drafts, all of 2, have none, keep 1 of 4."""


def witnesses_of_pair(runs: Sequence[Run]) -> tuple[Witness, ...]:
    """Return every witness of real models, the quickest to find a fault first.

    Args:
        runs: the pair on one prompt each. The first is also run with drafts that are all wrong, and with wrong ones
            among right ones, so that passes keep, reject and draft nothing whatever the pair's own drafter does. The
            latter are read by a steady model too, where there is one, whose rows are the same bits however they are
            read: there no fault can hide in rounding.
    """
    wrong = [_drafted_by(run, "wrong drafts", _misled(run, 1)) for run in runs]
    mixed = [_of_lengths(_drafted_by(run, "right and wrong drafts", _misled(run, EVERY))) for run in runs]
    stubborn = [_drafted_by(run, "one token over and over", _stubborn(run)) for run in runs]
    steady = [found for run in mixed[:1] if (found := steady_run(run)) is not None]
    anew = ReadAnew([*runs, *wrong[:1], *mixed[:1]]), ReadAnew(steady, steady=True)
    return *anew, Greedy(runs), Greedy([*wrong, *mixed, *stubborn], "oracles"), SelfDraft(runs)


def steady_run(run: Run) -> Run | None:
    """Return the run with a steady target; None if the model has none."""
    try:
        steady = run.engine.target.steady()
    except UsageError:
        return None
    return replace(run, name=f"{run.name}, steady", engine=replace(run.engine, target=steady))


class ReadAnew:
    """See `Witness`: of each run a finding each about its rows, what is reported of it, and its certificate.

    Args:
        runs: generations of real models.
        steady: whether their targets are steady models.
    """

    name = "replay"

    def __init__(self, runs: Iterable[Run], *, steady: bool = False) -> None:
        self.runs, self.steady = tuple(runs), steady

    def examine(self, subject: Subject) -> Iterator[Finding]:
        """See `Witness.examine`."""
        for run in self.runs:
            about, certificate = f"{subject.name}, {run.name}", Certificate(subject.rule)
            for seed in run.seeds:
                passes = list(run.passes(subject, seed))
                of_seed = f"{about}, seed {seed}" if len(run.seeds) > 1 else about
                yield replayed(of_seed, run.engine, run.prompt, passes, steady=self.steady)
                yield reported(of_seed, run.prompt, passes)
                for done in passes:
                    certificate.add(done)
            yield certificate.finding(about)


class SelfDraft:
    """See `Witness`: the target drafts for itself at temperature 0, where every draft is kept that is not level.

    Args:
        runs: generations of real models; their drafter and temperature are replaced.
    """

    name = "oracles"

    def __init__(self, runs: Iterable[Run]) -> None:
        own = (_drafted_by(run, "self-draft", ModelDrafter(run.engine.target)) for run in runs)
        self.runs = [replace(run, engine=at_temperature_zero(run.engine)) for run in own]

    def examine(self, subject: Subject) -> Iterator[Finding]:
        """See `Witness.examine`; nothing of a tree, whose other branches are rejected by design."""
        for run in self.runs:
            if not subject.rule.branches:
                passes = list(run.passes(subject, run.seeds[0]))
                yield self._judge(f"{subject.name}, {run.name}", run, passes)

    def _judge(self, about: str, run: Run, passes: Sequence[Pass]) -> Finding:
        emitted = [token for done in passes for token in done.emitted]
        drafted, kept = sum(len(done.drafted) for done in passes), sum(len(done.path) for done in passes)
        rejected = [(done, len(done.path)) for done in passes if len(done.path) < len(done.drafted)]
        widths = [len(done.drafted) + 1 for done in passes]
        rounding = margin_rounding(readings(run.engine.target, run.prompt, emitted, widths)) if rejected else 0.0
        for done, row in rejected:
            token = done.drafted[row]
            gap, where = behind(done.rows[row], token), f"token {done.start - len(run.prompt) + row + 1}"
            if gap > rounding or done.target[row, token] == 1:
                reason = f"its own draft at {where} is {gap:.2g} below its best, where rounding is {rounding:.2g}"
                return Finding(self.name, about, Conclusion.WASTEFUL, None, reason, None, where)
        level = f"; the {len(rejected)} rejected ones are level with the best" if rejected else ""
        reason = f"{kept} of its {drafted} own drafts were kept{level}"
        return Finding(self.name, about, Conclusion.LOSSLESS, 0.0, reason)


def _drafted_by(run: Run, how: str, drafter: Drafter) -> Run:
    return replace(run, name=f"{run.name}, {how}", engine=replace(run.engine, drafter=drafter))


def _of_lengths(run: Run) -> Run:
    return replace(run, engine=replace(run.engine, length=ListedLengths(LENGTHS * run.stop.max_tokens)))


def _misled(run: Run, every: int) -> Misled:
    return Misled(run.engine.target, run.engine.pipeline, every)


def _stubborn(run: Run) -> Stubborn:
    target = run.engine.target
    return Stubborn(least_likely(target.fresh().extend(run.prompt, 1)), target.vocab_size)
