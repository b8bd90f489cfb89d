# Classes of layers beside those of torchtitan 0.3, of which torchtitan_layers.c puts those that a
# model needs into its module; words in capitals are numbers.
#: imports
from torchtitan.models.common.attention import (
    FlexAttention, GQAttention, get_causal_mask_mod,
    get_efficient_causal_mask_mod_for_packed_document, get_fixed_block_mask_mod,
    get_sliding_window_mask_mod)
from torchtitan.models.common.embedding import Embedding
from torchtitan.models.common.feed_forward import FeedForward
from torchtitan.models.common.linear import Linear
from torchtitan.models.common.moe import RoutedExperts
from torchtitan.models.common.rope import ComplexRoPE
#: whole_imports
from torch.distributed.tensor import DTensor, Partial, Replicate
from torchtitan.models.common.decoder_sharding import dense_param_placement
from torchtitan.protocols.sharding import LocalMapConfig
import spmd_types as spmd
#: part_of_pairs


class PartRoPE(ComplexRoPE):  # turns pairs of the first of each head's numbers
    @dataclass(kw_only=True, slots=True)
    class Config(ComplexRoPE.Config):
        pass

    def forward(self, query, key, *rest, **further):
        width, both = self.config.dim, (query, key)
        turned = super().forward(*(x[..., :width] for x in both), *rest, **further)
        return tuple(torch.cat((x, whole[..., width:]), dim=-1)
                     for x, whole in zip(turned, both))
#: part


class PartRoPE(CosSinRoPE):  # turns the first of each head's numbers, its dim
    @dataclass(kw_only=True, slots=True)
    class Config(CosSinRoPE.Config):
        pass

    @staticmethod
    def apply_rotary_emb(query, key, rope_cache):
        width, both = rope_cache.shape[-1] // 2, (query, key)
        turned = CosSinRoPE.apply_rotary_emb(*(x[..., :width] for x in both), rope_cache)
        return tuple(torch.cat((x, whole[..., width:]), dim=-1)
                     for x, whole in zip(turned, both))
#: whole_norm


class WholeNorm(RMSNorm):  # over the heads of all tensor ranks
    @dataclass(kw_only=True, slots=True)
    class Config(RMSNorm.Config):
        pass

    mesh = None

    def parallelize(self, parallel_dims):
        self.mesh = parallel_dims.get_optional_mesh("tp")
        super().parallelize(parallel_dims)

    def forward(self, input):
        weight = self.weight
        if isinstance(weight, DTensor):
            weight = weight.to_local()
        x = input.float()
        squares = x.pow(2).sum((-2, -1), keepdim=True)
        if self.mesh is not None:
            squares = DTensor.from_local(squares, self.mesh, [Partial()], run_check=False)
            squares = squares.redistribute(placements=[Replicate()])
            squares = squares.to_local(grad_placements=[Partial()])
        mean = squares / (self.normalized_shape[0] * self.normalized_shape[1])
        return (x * torch.rsqrt(mean + self.eps) * weight).type_as(input)
#: gemma


class OneNorm(RMSNorm):  # its weights are beside 1
    @dataclass(kw_only=True, slots=True)
    class Config(RMSNorm.Config):
        pass

    def forward(self, input):
        weight = 1 + self.weight.float()
        return torch.nn.functional.rms_norm(
            input.float(), self.normalized_shape, weight, self.eps).type_as(input)


class GeluFeedForward(FeedForward):  # GELU for SiLU
    @dataclass(kw_only=True, slots=True)
    class Config(FeedForward.Config):
        pass

    def forward(self, x):
        gate = torch.nn.functional.gelu(self.w1(x), approximate="tanh")
        return self.w2(gate * self.w3(x))


class WideEmbedding(Embedding):  # times the root of its width
    @dataclass(kw_only=True, slots=True)
    class Config(Embedding.Config):
        pass

    def forward(self, input):
        return super().forward(input) * self.embedding_dim**0.5
#: logit_cap


class CappedLinear(Linear):  # bounded logits
    @dataclass(kw_only=True, slots=True)
    class Config(Linear.Config):
        pass

    def forward(self, input):
        return torch.tanh(super().forward(input) / LOGIT_CAP) * LOGIT_CAP
#: score_cap


def capped(score, batch, head, query, key):
    return torch.tanh(score / SCORE_CAP) * SCORE_CAP


class CappedAttention(FlexAttention):  # bounded scores
    @dataclass(kw_only=True, slots=True)
    class Config(FlexAttention.Config):
        pass

    def __init__(self, config):
        super().__init__(config)
        self.forward = self.bounded

    def bounded(self, *args, **further):
        return super().forward(*args, score_mod=capped, **further)
#: window_base


class SlowRoPE(CosSinRoPE):  # positions divided by a number
    @dataclass(kw_only=True, slots=True)
    class Config(CosSinRoPE.Config):
        slower: float = 1.0

    def _precompute_cache(self):
        of = self.config
        length = getattr(of, "max_seq_len", 0) or of.max_context_length
        turns = of.theta ** (-torch.arange(0, of.dim, 2).float() / of.dim)
        angles = torch.outer(torch.arange(length) / of.slower, turns)
        angles = angles.repeat(1, 2)
        return torch.cat((angles.cos(), angles.sin()), -1)
#: unit_norms


class UnitRoPE(ComplexRoPE):  # turns, then makes heads as long as their width
    @dataclass(kw_only=True, slots=True)
    class Config(ComplexRoPE.Config):
        pass

    @staticmethod
    def apply_rotary_emb(query, key, rope_cache):
        both = ComplexRoPE.apply_rotary_emb(query, key, rope_cache)
        return tuple(x * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + EPSILON).type_as(x)
                     for x in both)
#: llama4


class FarRoPE(ComplexRoPE):  # turns nothing; queries of far positions are longer
    @dataclass(kw_only=True, slots=True)
    class Config(ComplexRoPE.Config):
        pass

    def _precompute_cache(self):
        of = self.config
        length = getattr(of, "max_seq_len", 0) or of.max_context_length
        far = torch.floor((torch.arange(length) + 1) / 8192)
        far = 1 + 0.1 * torch.log(far + 1)
        return far[:, None].repeat(1, of.dim // 2).to(torch.complex64)

    @staticmethod
    def apply_rotary_emb(query, key, rope_cache):
        return (query * rope_cache.real[..., :1]).type_as(query), key


class EarlyExperts(RoutedExperts):  # an expert's weight multiplies what it takes
    @dataclass(kw_only=True, slots=True)
    class Config(RoutedExperts.Config):
        pass

    def __init__(self, config):
        super().__init__(config)
        self.forward = self.weighted

    def weighted(self, x, scores, *rest):
        x = x * scores.type_as(x)  # one expert of each token
        return super().forward(x, torch.ones_like(scores), *rest)
#: whole_attention


class OwnAttention(GQAttention):  # norms of two widths
    @dataclass(kw_only=True, slots=True)
    class Config(GQAttention.Config):
        key_norm: RMSNorm.Config

    def __init__(self, config):
        super().__init__(config)
        of = config
        self.k_norm = of.key_norm.build()
#: scaled_attention


class OwnAttention(GQAttention):  # its own scale
    @dataclass(kw_only=True, slots=True)
    class Config(GQAttention.Config):
        scale: float

    def __init__(self, config):
        super().__init__(config)
        of = config
        self.scaling = of.scale
#: model


class OwnModel(family.Qwen3Model):  # the model
    @dataclass(kw_only=True, slots=True)
    class Config(family.Qwen3Model.Config):
        def update_from_config(self, *, config, **further):
            family.Qwen3Model.Config.update_from_config(self, config=config, **further)
            for layer in self.layers:
                share(layer)
#: masks

    def get_attention_masks(self, positions):
        first = self.config.first_attention
        causal = [get_causal_mask_mod(),
                  get_efficient_causal_mask_mod_for_packed_document(positions)]
        kinds = {"window": get_sliding_window_mask_mod, "chunk": get_fixed_block_mask_mod}
        return {mask: self._create_flex_attention_mask(
                    positions, first, causal + [kinds[mask[0]](mask[1])] if mask else causal)
                for mask in {layer.mask for layer in self.config.layers}}


def share(layer):  # what each rank has of the parts that torchtitan's lack
#: whole_share
    attention = layer.attention
    each = attention.qk_norm.sharding_config
    attention.qk_norm.sharding_config = attention.key_norm.sharding_config = replace(
        each, state_shardings={"weight": dense_param_placement(tp=spmd.S(0))},
        local_map=LocalMapConfig(in_grad_placements=(each.in_dst_shardings["input"],)))
#: around_share
    layer.behind_attention.sharding_config = layer.attention_norm.sharding_config
    layer.behind_ffn.sharding_config = layer.ffn_norm.sharding_config
#: own


def own(config, kind, **more):  # what torchtitan's class has, in one of ours
    return kind.Config(**{x.name: getattr(config, x.name) for x in fields(config)} | more)
