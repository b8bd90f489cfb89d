# Layers that Megatron-LM's flags do not say, of which megatron.c puts a model's into the file for
# --spec plumbline_layer NAME, by the name of the part; words in capitals are numbers.
#: head
"""The model's layer, for Megatron-LM's --spec plumbline_layer NAME: what its flags do not say."""
import torch
from megatron.core.models.gpt import gpt_layer_specs as specs
from megatron.core.tensor_parallel import mappings
from megatron.core.tensor_parallel.layers import set_tensor_model_parallel_attributes
from megatron.core.transformer.attention import SelfAttention
from megatron.core.transformer.identity_op import IdentityOp
from megatron.core.transformer.utils import make_sharded_tensors_for_checkpoint

TE = specs.HAVE_TE  # Transformer Engine's modules, or Megatron Core's own
BACKEND = "TESpecProvider" if TE else "LocalSpecProvider"


def layer(attention, backend=None, norms="RMSNorm", **keys):
    """A layer whose attention and whose backend's modules are these."""
    own = getattr(specs, BACKEND)
    try:
        setattr(specs, BACKEND, backend or own)
        if TE:
            made = specs.get_gpt_layer_with_transformer_engine_spec(**keys)
        else:
            keys.pop("moe_grouped_gemm", None)
            made = specs.get_gpt_layer_local_spec(normalization=norms, **keys)
    finally:
        setattr(specs, BACKEND, own)
    made.submodules.self_attention.module = attention
    return made
#: whole_norm


class WholeNorm(torch.nn.Module):
    """Over the heads of all tensor ranks; each has the weights of its own."""

    def __init__(self, heads, width, config, group):
        super().__init__()
        self.group, self.values = group, heads * width
        self.eps = config.layernorm_epsilon
        here = heads // group.size()
        self.weight = torch.nn.Parameter(torch.ones(here * width, dtype=config.params_dtype))
        set_tensor_model_parallel_attributes(self.weight, True, 0, 1)

    def forward(self, x):
        squares = x.float().pow(2).sum((-2, -1), keepdim=True).contiguous()
        # The sum over ranks, and that of their gradients.
        squares = mappings.reduce_from_tensor_model_parallel_region(squares, self.group)
        squares = mappings.copy_to_tensor_model_parallel_region(squares, self.group)
        scale = torch.rsqrt(squares / self.values + self.eps)
        return (x.float() * scale * self.weight.view(x.shape[-2:])).type_as(x)

    def sharded_state_dict(self, prefix="", sharded_offsets=(), metadata=None):
        own = self.state_dict(prefix="", keep_vars=True)
        return make_sharded_tensors_for_checkpoint(own, prefix, {"weight": 0}, sharded_offsets)


class Attention(SelfAttention):
    def __init__(self, config, submodules, layer_number, *args, **keys):
        super().__init__(config, submodules, layer_number, *args, **keys)
        width, group = config.kv_channels, self.pg_collection.tp
        self.q_layernorm = WholeNorm(config.num_attention_heads, width, config, group)
        self.k_layernorm = WholeNorm(config.num_query_groups, width, config, group)
#: behind


def behind(linear, norm):
    """The projection with a norm of what it makes."""

    class Normed(linear):
        def __init__(self, inputs, outputs, *args, config, **keys):
            super().__init__(inputs, outputs, *args, config=config, **keys)
            self.norm = norm(config=config, hidden_size=outputs, eps=config.layernorm_epsilon)

        def forward(self, *args, **keys):
            made, bias = super().forward(*args, **keys)
            return self.norm(made), bias

    return Normed


class Backend(getattr(specs, BACKEND)):
    def row_parallel_linear(self):
        return behind(super().row_parallel_linear(), self.layer_norm(rms_norm=True))
#: unit_norms


class Attention(SelfAttention):
    """Queries and keys have unit length in the layers with positions alone; --qk-l2-norm gives it
    to all."""

    def __init__(self, config, submodules, layer_number, *args, **keys):
        super().__init__(config, submodules, layer_number, *args, **keys)
        if config.no_rope_freq[layer_number - 1]:
            self.q_layernorm = self.k_layernorm = None


unit_norms = layer(Attention, num_experts=EXPERTS, moe_grouped_gemm=True, qk_l2_norm=True)
#: whole_norms


whole_norms = layer(Attention, num_experts=EXPERTS, moe_grouped_gemm=True)
#: gemma3
from copy import copy
from functools import partial

from megatron.core.models.common.embeddings.rotary_pos_embedding import RotaryEmbedding
from megatron.core.transformer.transformer_layer import TransformerLayer


class Attention(SelfAttention):
    """All but every EVERY-th layer turn queries and keys by a base of their own, not scaled."""

    def __init__(self, config, submodules, layer_number, *args, **keys):
        super().__init__(config, submodules, layer_number, *args, **keys)
        self.turns = layer_number % EVERY and RotaryEmbedding(
            config.kv_channels, 1.0, rotary_base=BASE, cp_group=self.pg_collection.cp,
            use_cpu_initialization=config.use_cpu_initialization)

    def forward(self, hidden_states, *args, rotary_pos_emb=None, **keys):
        if self.turns:
            tokens = len(rotary_pos_emb) * self.pg_collection.cp.size()
            rotary_pos_emb = self.turns(tokens)
        return super().forward(hidden_states, *args, rotary_pos_emb=rotary_pos_emb, **keys)


class Layer(TransformerLayer):
    """Gated by GELU, with scores of another scale; the first layer's input is the embedding times
    the root of its width. Norms' weights, which do not decay, begin at 1: transformers' are beside
    1 and begin at 0."""

    def __init__(self, config, *args, **keys):
        own, gelu = copy(config), torch.nn.functional.gelu
        # What Megatron fuses for this function is its approximation by tanh.
        own.activation_func = gelu if own.bias_activation_fusion else partial(
            gelu, approximate="tanh")
        own.softmax_scale = SCALED ** -0.5
        super().__init__(own, *args, **keys)
        root = torch.tensor(config.hidden_size ** 0.5, dtype=config.params_dtype, device="cpu")
        self.times = root.item() if self.layer_number == 1 else 1

    def forward(self, hidden_states, *args, **keys):
        if self.times != 1:
            hidden_states = hidden_states * self.times
        return super().forward(hidden_states, *args, **keys)


LAYER = layer(Attention, Backend, qk_layernorm=True)
LAYER.module = Layer
#: norms_behind


class Bare(Backend):
    def column_parallel_layer_norm_linear(self):
        return self.column_parallel_linear()


norms_behind = layer(Attention, Bare)
norms_behind.submodules.input_layernorm = IdentityOp
norms_behind.submodules.pre_mlp_layernorm = IdentityOp
#: relu
from copy import copy

from megatron.core.transformer.transformer_layer import TransformerLayer


class Layer(TransformerLayer):
    def __init__(self, config, *args, **keys):
        own = copy(config)
        own.activation_func, own.bias_activation_fusion = torch.nn.functional.relu, False
        super().__init__(own, *args, **keys)


relu = layer(SelfAttention, norms="NORMS")
relu.module = Layer
