"""Megatron Core's layers of our own, against transformers': megatron_layers.py FOLDER ...

A folder has launch/plumbline_layer.py of a shipped model. A small model of that layer takes the
weights of transformers' model of as many layers and has the same logits and the same gradients, on
one tensor rank and, without experts, on two processes of one tensor rank each."""
import contextlib
import importlib
import json
import os
import re
import sys

os.environ["TORCH_COMPILE_DISABLE"] = "1"  # what it compiles is for a GPU
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
import torch.multiprocessing  # noqa: E402

torch.cuda.Stream = type("Stream", (), {"__init__": lambda self, *a, **k: None})
for name in ("synchronize", "_lazy_init"):
    setattr(torch.cuda, name, lambda *a, **k: None)
torch.cuda.current_device = lambda: torch.device("cpu")
torch.cuda.is_available = lambda: False
torch.Tensor.cuda = lambda self, *a, **k: self

from titan_layers import CUT, TOKENS, VOCABULARY, theirs, weight_of  # noqa: E402


def config_of(of, flags, tensor):
    from megatron.core.transformer.transformer_config import TransformerConfig

    more, gated = {}, "swiglu" in flags
    if "window-size" in flags:
        more.update(window_size=(CUT - 1, 0), window_attn_skip_freq=int(
            flags["window-attn-skip-freq"]))
    if "num-experts" in flags:
        more.update(
            num_moe_experts=4, moe_router_topk=2, moe_ffn_hidden_size=48,
            moe_router_score_function=flags["moe-router-score-function"],
            moe_router_enable_expert_bias="moe-router-enable-expert-bias" in flags,
            moe_router_load_balancing_type="none", moe_token_dispatcher_type="allgather")
    return TransformerConfig(
        num_layers=of.num_hidden_layers, hidden_size=64, ffn_hidden_size=96,
        num_attention_heads=4, num_query_groups=groups_of(of), kv_channels=16,
        add_bias_linear="disable-bias-linear" not in flags, gated_linear_unit=gated,
        activation_func=getattr(torch.nn.functional, "silu" if gated else "gelu"),
        qk_layernorm="qk-layernorm" in flags, normalization=flags["normalization"],
        layernorm_epsilon=float(flags["norm-epsilon"]), hidden_dropout=0.0,
        attention_dropout=0.0, use_cpu_initialization=True, tensor_model_parallel_size=tensor,
        bias_activation_fusion=False, masked_softmax_fusion=False, apply_rope_fusion=False,
        params_dtype=torch.float32, **more)


def groups_of(of):
    return getattr(of, "num_key_value_heads", None) or of.num_attention_heads


def flags_of(folder):
    text = open(f"{folder}/launch/megatron.sh").read()
    return dict(re.findall(r"^  --(\S+)(?: '?([^'\n]*)'?)?$", text, re.M))


def rows(x, rank, ranks):
    return x.chunk(ranks)[rank]


def columns(x, rank, ranks):
    return x.chunk(ranks, dim=-1)[rank] if x.dim() > 1 else x


BEHIND = {"self_attention.linear_proj.norm": "post_attention_layernorm",
          "mlp.linear_fc2.norm": "post_feedforward_layernorm"}
NORMS = {  # of a layer
    "olmo": BEHIND,
    "gemma": BEHIND | {"input_layernorm": "input_layernorm",
                       "pre_mlp_layernorm": "pre_feedforward_layernorm"},
    "minimax": {"input_layernorm": "input_layernorm",
                "pre_mlp_layernorm": "post_attention_layernorm"},
    "opt": {"input_layernorm": "self_attn_layer_norm", "pre_mlp_layernorm": "final_layer_norm"},
}


def layer_weights(found, at, norms, groups, cut_rows, cut_columns):
    """Of one layer, whose names begin with at, by Megatron Core's: a rank's part."""
    part = {}
    for kind in "weight", "bias":
        if f"{at}self_attn.q_proj.{kind}" not in found:
            continue
        each = [found[f"{at}self_attn.{p}_proj.{kind}"] for p in "qkv"]
        qkv = torch.cat([x.reshape(groups, -1, *x.shape[1:]) for x in each], dim=1)
        part[f"self_attention.linear_qkv.{kind}"] = cut_rows(qkv.flatten(0, 1))
        for ours, x in norms.items():
            part[f"{ours}.{kind}"] = found[f"{at}{x}.{kind}"]
        for ours, cut, name in (
                ("self_attention.linear_proj", cut_columns, r"self_attn\.(?:o|out)_proj"),
                ("mlp.linear_fc1", cut_rows, "fc1"),
                ("mlp.linear_fc2", cut_columns, r"(?:mlp\.down_proj|fc2)")):
            own = [x for k, x in found.items() if re.fullmatch(rf"{at}{name}\.{kind}", k)]
            part |= {f"{ours}.{kind}": cut(x) for x in own}
    for p in "qk":
        own = found.get(f"{at}self_attn.{p}_norm.weight")
        if own is not None:
            part[f"self_attention.{p}_layernorm.weight"] = own if len(own) == 16 else cut_rows(own)
    if f"{at}mlp.gate_proj.weight" in found:
        halves = [cut_rows(found[f"{at}mlp.{x}_proj.weight"]) for x in ("gate", "up")]
        part["mlp.linear_fc1.weight"] = torch.cat(halves)
    if f"{at}mlp.gate.weight" in found:
        part["mlp.router.weight"] = found[f"{at}mlp.gate.weight"]
        both, down = (found[f"{at}mlp.experts.{x}_proj"] for x in ("gate_up", "down"))
        for e, x in enumerate(both):
            part[f"mlp.experts.local_experts.{e}.linear_fc1.weight"] = x
            part[f"mlp.experts.local_experts.{e}.linear_fc2.weight"] = down[e]
    return part


def weights(name, model, found, rank, ranks):
    """transformers' weights, or their gradients, by Megatron Core's names: a rank's part."""
    def cut(x):
        return rows(x, rank, ranks)

    opt = name.startswith("opt")
    core = "model.decoder." if opt else "model."
    last = f"{core}{'final_layer_norm' if opt else 'norm'}"
    part = {"embedding.word_embeddings.weight": cut(found[f"{core}embed_tokens.weight"])}
    if not model.config.tie_word_embeddings:
        part["output_layer.weight"] = cut(found["lm_head.weight"])
    if opt:  # its first two rows are of no position
        places = found[f"{core}embed_positions.weight"]
        part["embedding.position_embeddings.weight"] = places.roll(-2, 0)
    for kind in "weight", "bias":
        if f"{last}.{kind}" in found:
            part[f"decoder.final_layernorm.{kind}"] = found[f"{last}.{kind}"]
    for i in range(model.config.num_hidden_layers):
        own = layer_weights(found, f"{core}layers.{i}.", NORMS[re.match("[a-z]+", name)[0]],
                            groups_of(model.config), cut, lambda x: columns(x, rank, ranks))
        part |= {f"decoder.layers.{i}.{key}": x for key, x in own.items()}
    return part


def built(folder, model, ranks):
    """The small model of the launch files' layer and flags."""
    from megatron.core.models.gpt import GPTModel

    flags = flags_of(folder)
    sys.path[0] = f"{folder}/launch"
    layer = getattr(importlib.import_module("plumbline_layer"), flags["spec"].split()[1])
    config = config_of(model.config, flags, ranks)
    factor = flags.get("rotary-seq-len-interpolation-factor")
    return GPTModel(
        config, layer, vocab_size=VOCABULARY, max_sequence_length=TOKENS + 2,
        parallel_output=True, position_embedding_type=flags["position-embedding-type"],
        share_embeddings_and_output_weights="untie-embeddings-and-output-weights" not in flags,
        rotary_base=float(flags.get("rotary-base", 1)),
        rotary_percent=float(flags.get("rotary-percent", 1)),
        seq_len_interpolation_factor=factor and float(factor))


def prepare(rank, ranks, port):
    from megatron.core import parallel_state, tensor_parallel
    from megatron.core.fusions import fused_softmax
    from megatron.core.transformer.moe import moe_utils

    def windows(queries, keys, window):
        back = torch.arange(queries)[:, None] - torch.arange(keys)
        return (back < 0) | (back > window[0])

    fused_softmax.get_sliding_window_causal_mask = windows  # on a CPU
    moe_utils.te_general_gemm = None  # is not defined without Transformer Engine
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    parallel_state.initialize_model_parallel(
        tensor_model_parallel_size=ranks, create_gloo_process_groups=False)
    tracker = type("Tracker", (), {"fork": lambda *a: contextlib.nullcontext()})
    tensor_parallel.get_cuda_rng_tracker = tracker


def one_rank(rank, ranks, folder, tokens, wanted, port):
    name, model, gradient, logits = wanted
    prepare(rank, ranks, port)
    own = built(folder, model, ranks).eval()
    found = {key: x + 1 if name.startswith("gemma") and "norm" in key else x
             for key, x in model.state_dict().items()}
    state = weights(name, model, found, rank, ranks)
    missing = set(state) ^ {k for k, _ in own.named_parameters()}
    assert not missing, missing
    own.load_state_dict(state, strict=False)
    for key, x in own.named_buffers():
        if key.endswith("expert_bias"):
            at = re.search(r"layers\.\d+", key)[0]
            x.copy_(found[f"model.{at}.mlp.e_score_correction_bias"])
    places = torch.arange(TOKENS)
    mask = (places[:, None] < places)[None, None].expand(2, 1, -1, -1)
    out = own(tokens, places.repeat(2, 1), mask)
    part, size = columns(logits, rank, ranks), logits.abs().max()
    worst = (out - part).abs().max()
    assert worst < 2e-5 * size, f"{folder}: logits differ by {worst} of {size}"
    (out * weight_of(out, rank)).sum().backward()
    parts = weights(name, model, gradient, rank, ranks)
    for key, x in own.named_parameters():
        if re.search(r"\.[qk]_layernorm", key) and len(x) == 16:
            dist.all_reduce(x.grad)  # each rank's heads: Megatron sums them behind the pass
        off = (x.grad - parts[key]).abs().max()
        assert off < 1e-4 * max(1, parts[key].abs().max()), (key, off)
    if rank == 0:
        print(f"{folder}: {ranks} ranks, {own.config.num_layers} layers, logits within "
              f"{worst:.1e} of {size:.2f}, gradients equal")
    dist.destroy_process_group()


def check(folder):
    name = json.load(open(f"{folder}/model.json"))["name"]
    torch.manual_seed(5)
    model, _ = theirs(name, 6 if name.startswith("gemma") else 4)
    model = model.float().eval()
    beside = 0 if name.startswith("gemma") else 1
    with torch.no_grad():
        for key, x in model.named_parameters():
            x.normal_(std=0.3 if "norm" in key else 0.15).add_(beside if "norm" in key else 0)
        for key, x in model.named_buffers():
            if key.endswith("e_score_correction_bias"):
                x.normal_(std=0.3)
    tokens = torch.randint(VOCABULARY, (2, TOKENS))
    logits = model(tokens).logits
    (logits * weight_of(logits, 0)).sum().backward()
    gradient = {key: x.grad for key, x in model.named_parameters()}
    wanted = name, model, gradient, logits.detach()
    port = 20000 + os.getpid() % 20000
    for ranks in (1,) if hasattr(model.config, "num_local_experts") else (1, 2):
        torch.multiprocessing.spawn(
            one_rank, (ranks, folder, tokens, wanted, port + ranks), nprocs=ranks)


if __name__ == "__main__":
    for path in sys.argv[1:]:
        check(path)
