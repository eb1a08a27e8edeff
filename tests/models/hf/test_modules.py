"""Which modules can be used, on which devices, and what is said of the others."""

import numpy as np
import pytest

from draftproof.errors import UsageError
from models.hf.modules import make, rows_at_once, torch, transformers
from models.test_contract import PROMISES, by_name, same
from models_of_tests import a_text


def model_of(module, *arguments, **settings):
    from draftproof.models.hf.model import model_of as made

    return made(module, *arguments, **settings)


@pytest.mark.parametrize("family", ["llama", "mamba, recurrent"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rows_are_float32_arrays_of_the_host_or_tensors_where_they_are(family, dtype):
    module = make(family).to(dtype)
    rows = model_of(module).extend([1, 2, 3], 2)
    tensors = model_of(module, host=False).extend([1, 2, 3], 2)
    assert isinstance(rows, np.ndarray)
    assert isinstance(tensors, torch.Tensor)
    assert rows.dtype == np.float32
    assert tensors.dtype == torch.float32
    assert not tensors.requires_grad
    assert np.array_equal(rows, tensors.numpy())


@pytest.mark.parametrize("promise", PROMISES, ids=by_name)
@pytest.mark.parametrize("family", ["llama", "mamba, recurrent"])
def test_a_model_whose_rows_stay_tensors_keeps_its_promises(family, promise):
    promise(model_of(make(family), 120, host=False))


def test_rows_of_the_host_are_not_copied():
    module, logits = make("llama"), []
    module.lm_head.register_forward_hook(lambda _module, _inputs, found: logits.append(found))
    model = model_of(module)
    rows = model.extend([1, 2, 3])
    assert rows.ctypes.data == logits[-1].data_ptr()


@pytest.mark.parametrize("family", ["llama", "gemma2, windows and capped scores", "mamba, recurrent"])
def test_a_module_spread_over_devices_is_read_as_it_is(family):
    accelerate = pytest.importorskip("accelerate")
    text = a_text(model_of(make(family)), 30, 0)
    expected = rows_at_once(make(family), text)
    spread = accelerate.cpu_offload(make(family), execution_device="cpu")
    model = model_of(spread)
    assert same(model.extend(text), expected)
    if hasattr(model, "early_exit"):
        assert same(model.early_exit(1).extend(text), model_of(make(family)).early_exit(1).extend(text))


def test_a_module_goes_on_as_before_and_may_be_used_besides():
    module = make("llama")
    before = rows_at_once(module, [1, 2, 3])
    model = model_of(module)
    model.extend([1, 2])
    assert np.array_equal(rows_at_once(module, [1, 2, 3]), before)
    assert same(model.extend([3]), before[2:])
    ids = torch.tensor([[1, 2, 3]])
    assert module.generate(ids, max_new_tokens=3, do_sample=False, attention_mask=torch.ones_like(ids)).shape == (1, 6)


def test_the_size_is_what_the_weights_and_a_token_take():
    module = make("llama", tie_word_embeddings=True)
    size = model_of(module).size
    assert size.weights == sum(weight.numel() for weight in set(module.parameters())) * 4
    assert size.per_token == 2 * 2 * 2 * 8 * 4  # layers, keys and values, heads, numbers, bytes


@pytest.mark.parametrize(("limit", "allowed"), [(None, 160), (40, 40)])
def test_the_context_ends_where_the_configuration_or_the_caller_says(limit, allowed):
    model = model_of(make("llama"), limit)
    assert model.context_limit == allowed
    model.extend([1] * allowed, 1)
    with pytest.raises(UsageError, match=f"do not fit a context of {allowed}"):
        model.extend([1])
    model.rewind(allowed - 2)
    assert model.extend([1, 2, 3], 3, [-1, -1]).shape == (3, 96)


def test_positions_that_turn_the_whole_text_when_it_grows_end_the_context():
    rope = {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 10000.0, "original_max_position_embeddings": 50}
    assert model_of(make("llama", rope_parameters=rope)).context_limit == 50


@pytest.mark.parametrize("limit", [0, -1, 161])
def test_more_context_than_there_is_is_refused(limit):
    with pytest.raises(UsageError, match="allowed are 1 to 160"):
        model_of(make("llama"), limit)


def test_modules_that_cannot_be_used_are_refused_with_the_reason():
    with pytest.raises(UsageError, match="training mode"):
        model_of(make("llama").train())
    config = transformers.T5Config(
        vocab_size=96, d_model=32, d_kv=8, d_ff=48, num_layers=1, num_heads=4, decoder_start_token_id=0
    )
    with pytest.raises(UsageError, match="T5ForConditionalGeneration is no causal language model"):
        model_of(transformers.T5ForConditionalGeneration(config).eval())
    module = make("mamba, recurrent")
    module.forward = lambda input_ids=None, use_cache=None: None
    with pytest.raises(UsageError, match="has no cache"):
        model_of(module)


def test_a_cache_that_gives_other_rows_is_refused():
    module = make("mamba, recurrent")
    forward = type(module).forward

    class Forgetful(type(module)):
        def forward(self, input_ids=None, cache=None, use_cache=None, logits_to_keep=0):
            return forward(self, input_ids=input_ids, use_cache=False, logits_to_keep=logits_to_keep)

    module.__class__ = Forgetful
    with pytest.raises(UsageError, match="does not give the rows"):
        model_of(module)


def test_a_family_that_wants_something_unknown_of_attention_is_read_otherwise():
    module = make("llama")
    forward = type(module).forward

    class Biased(type(module)):
        def forward(self, *arguments, position_ids=None, cache=None, logits_to_keep=0, **settings):
            return forward(self, *arguments, cache=cache, logits_to_keep=logits_to_keep, position_bias=None, **settings)

    module.__class__ = Biased  # positions are asked for and left out
    model = model_of(module)
    assert type(model).__name__ == "Snapshots"
    assert same(model.extend([1, 2, 3]), rows_at_once(module, [1, 2, 3]))


def test_several_tokens_after_others_are_read_one_by_one_where_the_state_would_be_forgotten():
    model = model_of(make("mamba, recurrent"))
    assert model._inner._stride == 1
    assert model_of(make("qwen3-next, recurrent and attention"))._inner._stride > 1


def test_steady_rows_of_a_recurrent_model_are_the_same_bits_however_they_are_cut():
    model = model_of(make("mamba, recurrent")).steady()
    text = a_text(model, 20, 0)
    expected = model.extend(text)
    other = model.fresh()
    assert np.array_equal(np.concatenate([other.extend(text[:7]), other.extend(text[7:])]), expected)
