"""torchtitan's layers in classes of our own, against transformers': titan_layers.py FOLDER ...

A folder holds torchtitan_plan.py of a shipped model. Its model is made small (the same classes, of
fewer layers and narrower ones), takes the weights of transformers' model of as many, and has the
same logits. Without experts, two processes of one tensor rank each have the same logits as one,
and the same gradients of what ranks hold whole, as their sum, and of norms of which each has a
part."""
import json
import os
import re
import sys

import torch
import torch.multiprocessing
from torch.nn.attention.flex_attention import create_block_mask

from titan_plain import plain_weights, smallest

SMALL = {
    "dim": 64, "n_heads": 4, "n_kv_heads": 2, "head_dim": 16, "hidden_dim": 96,
    "moe_hidden_dim": 48, "num_experts": 4, "top_k": 2, "heads": 4, "embedding_dim": 64,
    "num_embeddings": 32,
}
VOCABULARY, TOKENS, CUT = 128, 24, 8
COMMON = dict(
    vocab_size=VOCABULARY, hidden_size=64, num_attention_heads=4, head_dim=16,
    intermediate_size=96, attn_implementation="eager", attention_dropout=0.0,
)


def shrink(text, own):
    """The text of a configuration with small numbers. own: of those, what is different."""
    small = SMALL | own
    for key, value in small.items():
        text = re.sub(rf"\b{key}=\d+", f"{key}={value}", text)
    text = re.sub(r"(WholeNorm, normalized_shape=)\(\d+, \d+\)", r"\1(4, 16)", text, count=1)
    kv = small["n_kv_heads"]
    keys = r"(norm, WholeNorm, normalized_shape=)\(\d+, \d+\)\)\)"
    text = re.sub(keys, rf"\1({kv}, 16)))", text)
    text = re.sub(r'\("(window|chunk)", \d+\)', rf'("\1", {CUT})', text)
    text = text.replace("/ 8192", f"/ {CUT}")
    text = re.sub(r"rope.dim = \d+", f"rope.dim = {own.get('rotated', 16)}", text)
    for name, value in ("embedding_dim", 64), ("in_features", 64), ("num_embeddings", VOCABULARY):
        text = re.sub(rf"(\w+\.{name}) = \d+", rf"\1 = {value}", text)
    return re.sub(r"(lm_head.out_features) = \d+", rf"\1 = {VOCABULARY}", text)


def theirs(name, layers):
    """transformers' model, and what of its small dimensions are not SMALL's."""
    import transformers as t

    plain = smallest(name, layers, VOCABULARY, CUT)
    if plain:
        return plain
    base = dict(COMMON, num_hidden_layers=layers)
    if name.startswith("olmo-2"):
        config = t.Olmo2Config(**base, num_key_value_heads=4, rms_norm_eps=1e-6, rope_theta=5e5)
        return t.Olmo2ForCausalLM(config), {"n_kv_heads": 4}
    if name.startswith("olmo-3"):
        config = t.Olmo3Config(
            **base, num_key_value_heads=2, sliding_window=CUT, rms_norm_eps=1e-6,
            rope_parameters={"rope_type": "default", "rope_theta": 500000})
        return t.Olmo3ForCausalLM(config), {}
    if name.startswith("gemma-2"):
        config = t.Gemma2Config(
            **base, num_key_value_heads=2, sliding_window=CUT,
            query_pre_attn_scalar=256 if "9b" in name else 144)
        return t.Gemma2ForCausalLM(config), {}
    if name.startswith("gemma-3"):
        config = t.Gemma3TextConfig(
            **base, num_key_value_heads=2, sliding_window=CUT,
            query_pre_attn_scalar=168 if "27b" in name else 256,
            rope_parameters={
                "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
                "full_attention": {"rope_type": "linear", "rope_theta": 1e6, "factor": 8.0}})
        return t.Gemma3ForCausalLM(config), {}
    if name.startswith("minimax"):
        config = t.MiniMaxM2Config(
            **base | dict(intermediate_size=48), num_key_value_heads=2, num_local_experts=4,
            num_experts_per_tok=2, rms_norm_eps=1e-6,
            rope_parameters={"rope_type": "default", "rope_theta": 5e6,
                             "partial_rotary_factor": 0.5})
        return t.MiniMaxM2ForCausalLM(config), {"rotated": 8}
    scout = name == "llama-4-scout"
    config = t.Llama4TextConfig(
        **base | dict(intermediate_size=48), num_key_value_heads=2, intermediate_size_mlp=96,
        num_local_experts=4, num_experts_per_tok=1, interleave_moe_layer_step=1 if scout else 2,
        use_qk_norm=scout, attention_chunk_size=CUT, floor_scale=CUT, rms_norm_eps=1e-5,
        rope_parameters={"rope_type": "default", "rope_theta": 5e5})
    # Experts that all tokens use are as wide as the others.
    return t.Llama4ForCausalLM(config), {"top_k": 1, "shared": 48}


def weights(model, norm):
    """transformers' weights by torchtitan's names."""
    found = {"tok_embeddings.weight": model.model.embed_tokens.weight,
             "norm.weight": model.model.norm.weight, "lm_head.weight": model.lm_head.weight}
    for i, layer in enumerate(model.model.layers):
        a, at = layer.self_attn, f"layers.{i}."
        for ours, x in ("wq", a.q_proj), ("wk", a.k_proj), ("wv", a.v_proj):
            found[f"{at}attention.qkv_linear.{ours}.weight"] = x.weight
        found[f"{at}attention.wo.weight"] = a.o_proj.weight
        for ours in "q_norm", "k_norm":
            if hasattr(a, ours):
                found[f"{at}attention.{ours}.weight"] = getattr(a, ours).weight
        for ours, x in norm.items():
            found[f"{at}{ours}.weight"] = getattr(layer, x).weight
        part = getattr(layer, "mlp", None) or layer.feed_forward
        if not hasattr(part, "experts"):
            for ours, x in ("w1", "gate_proj"), ("w3", "up_proj"), ("w2", "down_proj"):
                found[f"{at}feed_forward.{ours}.weight"] = getattr(part, x).weight
            continue
        router = getattr(part, "router", None) or part.gate
        found[f"{at}moe.router.gate.weight"] = router.weight
        both, down = part.experts.gate_up_proj, part.experts.down_proj
        if hasattr(part, "shared_expert"):  # Llama 4: [expert, in, out]
            both, down = both.transpose(1, 2), down.transpose(1, 2)
            for ours, x in ("w1", "gate_proj"), ("w3", "up_proj"), ("w2", "down_proj"):
                shared = getattr(part.shared_expert, x)
                found[f"{at}moe.shared_experts.{ours}.weight"] = shared.weight
        gate, up = both.chunk(2, dim=1)
        for ours, x in ("w1_EFD", gate), ("w3_EFD", up), ("w2_EDF", down):
            found[f"{at}moe.routed_experts.inner_experts.{ours}"] = x
    return {key: x.detach().clone() for key, x in found.items()}


def each_expert(self, x, counts):
    """Products of each expert, where there is no grouped product."""
    w1, w2, w3 = (getattr(self, k) for k in ("w1_EFD", "w2_EDF", "w3_EFD"))
    parts = torch.split(x[: int(counts.sum())], [int(c) for c in counts])
    done = [(torch.nn.functional.silu(p @ a.T) * (p @ c.T)) @ b.T
            for p, a, b, c in zip(parts, w1, w2, w3)]
    return torch.cat([*done, x[int(counts.sum()):]])


def configuration(folder, name, own, layers):
    text = shrink(open(f"{folder}/torchtitan_plan.py").read(), own)
    scope = {"__name__": "torchtitan_plan"}
    if "shared" in own:  # the width after make_ffn_config's own
        shared = rf"\g<1>{own['shared']}"
        text = re.sub(r"(make_ffn_config\(\s+dim=64, hidden_dim=)\d+", shared, text)
    exec(compile(text, folder, "exec"), scope)
    config = scope["plan"]()
    config.model_spec.model.layers = config.model_spec.model.layers[:layers]
    return config


def plain_attention(q, k, v, *, score_mod, block_mask, scale, enable_gqa, return_aux, **_):
    """Flex attention, of which CPUs have no backward pass."""
    batch, heads, length, width = q.shape
    k, v = (x.repeat_interleave(heads // x.shape[1], dim=1) for x in (k, v))
    score = q @ k.transpose(-1, -2) * (scale or width**-0.5)
    places = torch.arange(length)
    if score_mod:
        head = torch.arange(heads)[:, None, None]
        score = score_mod(score, None, head, places[:, None], places[None])
    seen = torch.stack([block_mask.mask_mod(torch.tensor(b), 0, places[:, None], places[None])
                        for b in range(batch)])
    return score.masked_fill(~seen[:, None], float("-inf")).softmax(-1) @ v, None


def prepare():
    from torchtitan.models.common import attention, decoder
    from torchtitan.models.common.moe import GroupedExperts

    attention.FlexAttention._compiled_flex_attn = staticmethod(plain_attention)
    decoder.create_attention_mask = create_block_mask
    GroupedExperts.forward = each_expert


def small_model(config, found, rank=None):
    """The configuration's, with weights; its rank's part of two tensor ranks."""
    if rank is not None:
        config.parallelism.tensor_parallel_degree = 2
        config.parallelism.enable_sequence_parallel = True
        config.parallelism.data_parallel_shard_degree = 1
        config.parallelism.pipeline_parallel_degree = 1
        config.model_spec.model.update_from_config(config=config)
    model = config.model_spec.model.build()
    model.init_states(buffer_device=torch.device("cpu"))
    state = model.state_dict()
    found = {k: x.reshape(state[k].shape) if k in state else x for k, x in found.items()}
    missing = {k for k in set(state) ^ set(found) if not k.endswith("expert_bias_E")}
    assert not missing, missing
    model.load_state_dict(found, strict=False)
    return model


def gradients(model, tokens):
    """Logits, and parameters of one dimension, norms of heads and learned positions."""
    positions = torch.arange(TOKENS).repeat(2, 1)
    logits = model(tokens, positions, model.get_attention_masks(positions))
    return logits, {k: x for k, x in model.named_parameters()
                    if x.dim() == 1 or "_norm" in k or "places" in k}


def one_rank(rank, folder, name, own, layers, found, tokens, wanted, port):
    """One of two tensor ranks, against the logits and gradients of one alone."""
    import torch.distributed as dist
    from torchtitan.distributed import ParallelDims, parallel_dims
    from torchtitan.distributed.utils import get_spmd_context, set_spmd_backend

    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT=str(port), RANK=str(rank),
                      WORLD_SIZE="2", LOCAL_RANK=str(rank))
    torch.set_num_threads(1)
    prepare()
    dist.init_process_group("gloo", rank=rank, world_size=2)
    config = configuration(folder, name, own, layers)
    set_spmd_backend(config.parallelism.spmd_backend)
    model = small_model(config, found, rank)
    parallel_dims.device_type = "cpu"
    dims = ParallelDims.from_config(config.parallelism, 2)
    dims.build_mesh()
    model.parallelize(dims)
    with get_spmd_context(parallel_dims=dims, spmd_typechecking=False)():
        logits, norms = gradients(model, tokens)
        part = wanted[0].chunk(2, dim=-1)[rank]
        assert torch.allclose(logits, part, atol=1e-4), (logits - part).abs().max()
        (logits * weight_of(logits, rank)).sum().backward()
    for key, x in norms.items():
        found, grad = x.grad, wanted[1][key]
        if found.shape == grad.shape:  # whole in each rank: their gradients are summed later
            dist.all_reduce(found)
        else:
            grad = grad.chunk(2)[rank]
        off = (found - grad).abs().max()
        assert off < 1e-4 * max(1, grad.abs().max()), (key, off)
    dist.destroy_process_group()


def weight_of(logits, rank):
    size = logits.shape[-1]
    return torch.linspace(-1, 1, VOCABULARY)[rank * size : (rank + 1) * size]


def check(folder):
    document = json.load(open(f"{folder}/model.json"))
    name, layers = document["name"], 6 if "gemma-3" in document["name"] else 4
    torch.manual_seed(5)
    wanted, own = theirs(name, layers)
    wanted = wanted.float().eval()
    around = document["shape"].get("norms") == 4
    behind = name.startswith("olmo")
    norm = (
        {"attention_norm": "input_layernorm", "behind_attention": "post_attention_layernorm",
         "ffn_norm": "pre_feedforward_layernorm", "behind_ffn": "post_feedforward_layernorm"}
        if around else
        {"attention_norm": "post_attention_layernorm", "ffn_norm": "post_feedforward_layernorm"}
        if behind else
        {"attention_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"})
    with torch.no_grad():
        for key, x in wanted.named_parameters():
            x.normal_(std=0.3 if "norm" in key else 0.15).add_(1 if "norm" in key else 0)
    plain = not document["shape"]["gated_ffn"]
    found = plain_weights(name, wanted, 4, 16) if plain else weights(wanted, norm)
    config = configuration(folder, name, own, layers)
    model = small_model(config, found)
    tokens = torch.randint(VOCABULARY, (2, TOKENS))
    out, norms = gradients(model, tokens)
    with torch.no_grad():
        theirs_out = wanted(tokens).logits
    size = theirs_out.abs().max().item()
    worst = (out - theirs_out).abs().max().item()
    assert worst < 2e-5 * size, f"{folder}: logits differ by {worst}"
    if not any("moe" in key for key in found):
        (out * weight_of(out, 0)).sum().backward()
        whole = out.detach(), {key: x.grad for key, x in norms.items()}
        port = 20000 + os.getpid() % 20000
        torch.multiprocessing.spawn(
            one_rank, (folder, name, own, layers, found, tokens, whole, port), nprocs=2)
    print(f"{folder}: {layers} layers, logits within {worst:.1e} of {size:.2f}")


if __name__ == "__main__":
    prepare()
    for path in sys.argv[1:]:
        check(path)
