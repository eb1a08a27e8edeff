"""Speculation for a transformers workflow: the same `generate` call with one more argument.

In: what `generate` hands to a `custom_generate`. Out: what it returns. The law of the text is the model's own under the
same processors; what cannot be honoured is refused (`refusals.py`). docs/how-to/speed-up-transformers.md shows it.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from draftproof.errors import MissingExtraError, UsageError

try:
    import torch
    import transformers as _  # noqa: F401 (whether it is there)
except ImportError:
    raise MissingExtraError("it needs transformers; install it with: pip install 'draftproof[hf]'") from None

from torch import Tensor
from transformers import (
    GenerationConfig,
    LogitsProcessorList,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    StoppingCriteriaList,
)
from transformers.generation.streamers import BaseStreamer
from transformers.generation.utils import GenerateDecoderOnlyOutput

from draftproof.drafters.base import Drafter
from draftproof.drafters.catalogue import check_spec
from draftproof.economics.calibrate import calibrate
from draftproof.economics.policy import MOST, Adaptive, Costs
from draftproof.engine.batch import Request, decode
from draftproof.engine.length import DraftLength, FixedLength
from draftproof.engine.loop import Engine
from draftproof.engine.passes import Pass
from draftproof.integrations.call import Call, beside
from draftproof.integrations.drafting import Modules
from draftproof.integrations.prompts import Prompt
from draftproof.integrations.stopping import stop_of
from draftproof.integrations.writing import Written, handed_back
from draftproof.noise import PhiloxNoise
from draftproof.records import Trace
from draftproof.rules.base import Rule
from draftproof.rules.catalogue import DEFAULT_RULE, rule_named

__all__ = ["Speculative", "speculative"]


def speculative(
    drafter: str | PreTrainedModel | Drafter = "ngram", *, rule: str | Rule = DEFAULT_RULE,
    num_speculative_tokens: int | Literal["auto"] = 3, tree: Sequence[int] = (),
    tokenizer: PreTrainedTokenizerBase | None = None,
) -> "Speculative":  # fmt: skip
    """Return what makes `model.generate(.., custom_generate=speculative(..))` speculate; keep it for many calls.

    Random numbers come from a seed that is drawn from torch's generator, so `torch.manual_seed` repeats a text; greedy
    decoding draws none.

    Args:
        drafter: a SPEC (`ngram`, `suffix`, `early_exit:N`, `hf:PATH`, `gguf:PATH`, `chain:ngram,hf:PATH`), another
            causal language model of transformers, or a `Drafter`.
        rule: its name, or a rule.
        num_speculative_tokens: how many tokens are drafted in a pass; "auto" measures what passes cost, and follows the
            text.
        tree: for a rule that takes trees, how many tokens are drafted after each; two after the first if it says
            nothing.
        tokenizer: that of the model; needed where a drafter reads a file, or has a vocabulary of its own.

    Raises:
        UsageError: naming the first setting that cannot be.
    """
    chosen = rule_named(rule) if isinstance(rule, str) else rule
    branching = tuple(tree) or ((2,) if chosen.branches else ())
    if isinstance(drafter, str):
        check_spec(drafter)
    if num_speculative_tokens == "auto" and chosen.branches:
        raise UsageError(f"got 'auto' with the tree rule {chosen.name}; give a number", "num_speculative_tokens")
    length = None if isinstance(num_speculative_tokens, str) else FixedLength(num_speculative_tokens)
    return Speculative(drafter, chosen, length, branching, Modules(tokenizer))


class Speculative:
    """A `custom_generate`; made by `speculative`.

    Attributes:
        last: what happened in the latest call, row by row: passes, drafted and accepted tokens, seconds.
    """

    def __init__(
        self,
        drafter: str | PreTrainedModel | Drafter,
        rule: Rule,
        length: DraftLength | None,
        branching: tuple[int, ...],
        modules: Modules,
    ) -> None:
        self.last: tuple[Trace, ...] = ()
        self._drafter, self._rule, self._length, self._branching = drafter, rule, length, branching
        self._modules, self._costs = modules, dict[tuple[int, int], Costs]()

    def __call__(
        self, model: PreTrainedModel, input_ids: Tensor, logits_processor: LogitsProcessorList,
        stopping_criteria: StoppingCriteriaList, generation_config: GenerationConfig, synced_gpus: bool = False,
        streamer: BaseStreamer | None = None, **model_kwargs: Any,
    ) -> Tensor | GenerateDecoderOnlyOutput:  # fmt: skip
        """Return what `generate` is to return.

        Raises:
            UsageError: naming the first setting of the call that cannot be honoured.
        """
        said = beside()
        if said.get("assistant_model") is not None:
            raise UsageError("got one beside speculative(..); give it there: drafter=assistant", "assistant_model")
        if synced_gpus:
            raise UsageError("got True; models that are spread over processes are not decoded here", "synced_gpus")
        call = Call(
            model, input_ids, logits_processor, stopping_criteria, generation_config, model_kwargs,
            streamer or said.get("streamer"),
        )  # fmt: skip
        rows = self._written(call)
        self.last = tuple(row.trace() for row in rows)
        if call.streamer is not None:
            call.streamer.end()
        return handed_back(input_ids, rows, generation_config)

    def engine(self, call: Call, prompt: Prompt) -> Engine:
        """Return what decodes a prompt of a call."""
        target = self._modules.target(call.model)
        pipeline = call.pipeline(prompt)
        drafter = self._modules.drafter(self._drafter, target, pipeline)
        model = target.model.steady() if "coupled" in self._rule.name else target.model
        engine = Engine(model, drafter, self._rule, pipeline, self._length or FixedLength(0), self._branching)
        return engine if self._length else self._adaptive(engine, call, prompt)

    def _adaptive(self, engine: Engine, call: Call, prompt: Prompt) -> Engine:
        key = id(call.model), call.rows
        if key not in self._costs:
            self._costs[key] = calibrate(engine, prompt.ids, MOST, call.rows)
        return replace(engine, length=Adaptive(self._costs[key]))

    def _written(self, call: Call) -> list[Written]:
        seed = 0 if call.greedy else int(torch.randint(2**63 - 1, ()))
        requests: list[Request] = []
        for prompt in call.prompts():
            engine = self.engine(call, prompt)
            stop = stop_of(call.criteria, prompt, call.input_ids[prompt.row], engine.target.context_limit)
            samples = range(prompt.row, prompt.row + call.copies)
            requests.append(Request(engine, prompt.ids, stop, tuple(PhiloxNoise(seed, row) for row in samples)))
        rows = [call.written(prompt) for prompt in call.prompts() for _ in range(call.copies)]
        for number, sample, what in decode(requests, call.rows):
            row = rows[number * call.copies + sample]
            if isinstance(what, Pass):
                row.add(what)
            elif what is None:
                row.end()
            else:
                raise what
        return rows
