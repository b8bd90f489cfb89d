"""Llama 4 Scout's layer, for Megatron-LM's --spec plumbline_layer layer: queries and keys have
unit length in the layers with positions alone; --qk-l2-norm gives it to all."""
from megatron.core.models.gpt import gpt_layer_specs as specs
from megatron.core.transformer.attention import SelfAttention


class Attention(SelfAttention):
    def __init__(self, config, submodules, layer_number, *args, **keys):
        super().__init__(config, submodules, layer_number, *args, **keys)
        if config.no_rope_freq[layer_number - 1]:
            self.q_layernorm = self.k_layernorm = None


if specs.HAVE_TE:
    layer = specs.get_gpt_layer_with_transformer_engine_spec(
        num_experts=16, moe_grouped_gemm=True, qk_l2_norm=True
    )
else:
    layer = specs.get_gpt_layer_local_spec(
        num_experts=16, qk_l2_norm=True, normalization="RMSNorm"
    )
layer.submodules.self_attention.module = Attention
