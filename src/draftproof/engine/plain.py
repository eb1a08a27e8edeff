"""Plain decoding, the loop that speculation must equal and beat: one pass of the target for every token.

In: a prompt, stops, noise. Out: token ids. Written apart from the speculative loop, so that each checks the other.
"""

from collections.abc import Iterator, Sequence

from draftproof.engine.devices import draws_beside, refuse_without_doubles
from draftproof.engine.stop import Stop
from draftproof.models.base import Model
from draftproof.noise import PassNoise
from draftproof.rules.base import pick
from draftproof.types import Noise, Purpose, Text
from draftproof.warpers.pipeline import Pipeline

__all__ = ["decode"]


def decode(model: Model, pipeline: Pipeline, prompt: Sequence[int], stop: Stop, noise: Noise) -> Iterator[int]:
    """Yield token ids until the text stops, each drawn from the model's own warped law.

    Uniforms consumed: one FINAL per token, keyed by the length of the text before it.
    """
    model = model.fresh()
    tokens, ending = Text(prompt, len(prompt)), stop.begin()
    while (room := stop.room(len(prompt), len(tokens))) > 0:
        rows = model.extend(tokens[model.length :], rows=1)
        refuse_without_doubles(rows)
        law = pipeline.laws(rows, model.row_kind, [tokens])[0]
        draws = draws_beside(PassNoise(noise, len(tokens)), law)
        token = int(pick(law, draws.uniforms(Purpose.FINAL, 1)[0, ...]))
        tokens.append(token)
        yield token
        if ending.cut([token], room)[1] == "stop":
            return
