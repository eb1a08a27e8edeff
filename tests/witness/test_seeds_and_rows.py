"""Seeds and rows: what a single request, or a single row, cannot show."""

from dataclasses import dataclass, replace

import numpy as np

from draftproof.noise import PhiloxNoise
from draftproof.rules.base import Verdict
from draftproof.rules.catalogue import CHAIN_RULES, RULES
from draftproof.rules.token import TokenRule
from draftproof.witness.base import Subject
from draftproof.witness.rows import Rows
from draftproof.witness.seeds import Seeds

TOKEN = RULES["token"]


def verdict(witness, assemble, rule=TOKEN):
    return [finding.verdict for finding in witness.examine(Subject("subject", rule, assemble=assemble))]


def with_noise(noise_of):
    def assemble(engine):
        class Noisy:
            served = 0

            def decode(self, prompt, stop, noise):
                self.served += 1
                return engine.decode(prompt, stop, noise_of(noise, self.served))

        return Noisy()

    return assemble


def test_the_shipped_engine_keeps_its_seeds():
    for rule in RULES.values():
        subject = Subject("shipped", rule, (2,) if rule.branches else ())
        assert [finding.verdict for finding in Seeds().examine(subject)] == ["LOSSLESS"]


def test_a_seed_that_is_ignored_is_seen():
    assert verdict(Seeds(), with_noise(lambda noise, served: PhiloxNoise(0))) == ["LOSSY"]


def test_a_stream_that_goes_on_between_requests_is_seen():
    assert verdict(Seeds(), with_noise(lambda noise, served: PhiloxNoise(noise.seed, served))) == ["LOSSY"]


def test_a_sample_number_that_is_ignored_is_seen():
    assert verdict(Seeds(), with_noise(lambda noise, served: PhiloxNoise(noise.seed))) == ["LOSSY"]


def test_every_chain_rule_decides_a_batch_row_by_row():
    for rule in CHAIN_RULES.values():
        assert verdict(Rows(), lambda engine: engine, rule) == ["LOSSLESS"]


@dataclass(frozen=True)
class Shortest(TokenRule):
    """Cuts every row to the smallest acceptance of the batch."""

    def verify(self, target, draft, drafted, draws):
        found = super().verify(target, draft, drafted, draws)
        if np.ndim(found.accepted) == 0:
            return found
        return Verdict(np.full_like(found.accepted, np.min(found.accepted)), found.token)


@dataclass(frozen=True)
class OneRowOnly(TokenRule):
    """Refuses batches, which is honest."""

    def verify(self, target, draft, drafted, draws):
        if target.ndim > 2:
            raise NotImplementedError
        return super().verify(target, draft, drafted, draws)


def test_rows_that_wait_for_the_slowest_are_seen():
    assert verdict(Rows(), lambda engine: replace(engine, rule=Shortest())) == ["LOSSY"]


def test_a_rule_that_takes_no_batches_is_not_accused():
    assert verdict(Rows(), lambda engine: replace(engine, rule=OneRowOnly())) == ["UNDECIDED"]
