"""Engines that are handed something else than was asked for: other noise, another stop; or whose passes are retold.

In: an honest engine and what is exchanged. Out: something that decodes. It must never know the witnesses.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from draftproof.engine.loop import Engine
from draftproof.engine.passes import Pass
from draftproof.engine.stop import Stop
from draftproof.types import Array, Noise, Purpose, Tokens, Uniform
from draftproof.witness.base import Decoder

__all__ = ["FAR", "Handed", "Readdressed", "Retold", "noisy", "readdressed", "rebuilt", "retold", "stopped"]

FAR = 1000
"""Addresses that far away are used by no pass of a short text."""

Address = Callable[[Purpose, int, int], tuple[Purpose, int, int]]
"""(purpose, pass start, number) as asked for -> the same as looked up."""


def rebuilt(kind: type[Engine], **parts: Any) -> Callable[[Engine], Engine]:
    """Return what makes an engine one of another kind, with the same parts and some more."""
    return lambda engine: kind(**vars(engine), **parts)


@dataclass(frozen=True)
class Readdressed:
    """Noise that looks a number up under another address than it was asked for."""

    noise: Noise
    address: Address

    def uniforms(self, purpose: Purpose, start: int, count: int, first: int = 0) -> Uniform:
        """See `Noise.uniforms`."""
        wanted = [self.address(purpose, start, number) for number in range(first, first + count)]
        found = [self.noise.uniforms(other, begin, 1, number) for other, begin, number in wanted]
        return np.concatenate(found) if found else self.noise.uniforms(purpose, start, 0)

    def exponentials(self, position: int, vocab_size: int) -> Array:
        """See `Noise.exponentials`."""
        return self.noise.exponentials(position, vocab_size)


@dataclass(frozen=True)
class Handed:
    """An engine that is handed another stop and other noise."""

    engine: Engine
    stop: Callable[[Stop], Stop]
    noise: Callable[[Noise], Noise]

    def decode(self, prompt: Sequence[int], stop: Stop, noise: Noise) -> Iterator[Pass]:
        """See `Engine.decode`."""
        return self.engine.decode(prompt, self.stop(stop), self.noise(noise))


@dataclass(frozen=True)
class Retold:
    """An engine whose passes are told otherwise than they were."""

    engine: Engine
    tell: Callable[[Engine, Tokens, Pass], Pass]
    """(engine, text before the pass, pass) -> what is told of it."""

    def decode(self, prompt: Sequence[int], stop: Stop, noise: Noise) -> Iterator[Pass]:
        """See `Engine.decode`."""
        text = list(prompt)
        for done in self.engine.decode(prompt, stop, noise):
            yield self.tell(self.engine, tuple(text), done)
            text += done.emitted


def noisy(change: Callable[[Noise], Noise]) -> Callable[[Engine], Decoder]:
    """Return what hands an engine other noise."""
    return lambda engine: Handed(engine, lambda stop: stop, change)


def readdressed(address: Address) -> Callable[[Engine], Decoder]:
    """Return what hands an engine noise under other addresses."""
    return noisy(lambda noise: Readdressed(noise, address))


def stopped(change: Callable[[Stop], Stop]) -> Callable[[Engine], Decoder]:
    """Return what hands an engine another stop."""
    return lambda engine: Handed(engine, change, lambda noise: noise)


def retold(tell: Callable[[Engine, Tokens, Pass], Pass]) -> Callable[[Engine], Decoder]:
    """Return what tells the passes of an engine otherwise."""
    return lambda engine: Retold(engine, tell)
