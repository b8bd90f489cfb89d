"""Megatron Core's layers of our own, against transformers': megatron_layers.py FOLDER ...

A folder has launch/plumbline_layer.py of a shipped model without experts. A small model of that
layer takes the weights of transformers' model of as many layers and has the same logits, on one
tensor rank and on two processes of one tensor rank each, and the same gradients."""
import contextlib
import importlib
import json
import os
import re
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing
torch.cuda.Stream = type("Stream", (), {"__init__": lambda self, *a, **k: None})
for name in ("synchronize", "_lazy_init"):
    setattr(torch.cuda, name, lambda *a, **k: None)
torch.cuda.current_device = lambda: torch.device("cpu")
torch.cuda.is_available = lambda: False
torch.Tensor.cuda = lambda self, *a, **k: self

from titan_layers import CUT, TOKENS, VOCABULARY, theirs, weight_of  # noqa: E402


def config_of(name, of, flags, tensor):
    from megatron.core.transformer.transformer_config import TransformerConfig

    more = {}
    if "window-size" in flags:
        more.update(window_size=(CUT - 1, 0), window_attn_skip_freq=int(
            flags["window-attn-skip-freq"]))
    return TransformerConfig(
        num_layers=of.num_hidden_layers, hidden_size=64, ffn_hidden_size=96,
        num_attention_heads=4, num_query_groups=of.num_key_value_heads, kv_channels=16,
        add_bias_linear=False, gated_linear_unit=True, activation_func=torch.nn.functional.silu,
        normalization="RMSNorm", layernorm_epsilon=of.rms_norm_eps, hidden_dropout=0.0,
        attention_dropout=0.0, use_cpu_initialization=True, tensor_model_parallel_size=tensor,
        bias_activation_fusion=False, masked_softmax_fusion=False, apply_rope_fusion=False,
        params_dtype=torch.float32, **more)


def flags_of(folder):
    text = open(f"{folder}/launch/megatron.sh").read()
    return dict(re.findall(r"^  --(\S+)(?: '?([^'\n]*)'?)?$", text, re.M))


def rows(x, rank, ranks):
    return x.chunk(ranks)[rank]


def columns(x, rank, ranks):
    return x.chunk(ranks, dim=-1)[rank]


def weights(model, found, rank, ranks):
    """transformers' weights, or their gradients, by Megatron Core's names: a rank's part."""
    words, head = found["model.embed_tokens.weight"], found["lm_head.weight"]
    part = {"embedding.word_embeddings.weight": rows(words, rank, ranks),
            "decoder.final_layernorm.weight": found["model.norm.weight"],
            "output_layer.weight": rows(head, rank, ranks)}
    groups = model.config.num_key_value_heads
    for i in range(model.config.num_hidden_layers):
        to, at = f"decoder.layers.{i}.", f"model.layers.{i}."
        q, k, v = (found[f"{at}self_attn.{p}_proj.weight"].reshape(groups, -1, 64) for p in "qkv")
        qkv = torch.cat((q, k, v), dim=1).reshape(-1, 64)
        part[f"{to}self_attention.linear_qkv.weight"] = rows(qkv, rank, ranks)
        for p in "qk":
            own = f"{at}self_attn.{p}_norm.weight"
            if own in found:
                part[f"{to}self_attention.{p}_layernorm.weight"] = rows(found[own], rank, ranks)
        output = found[f"{at}self_attn.o_proj.weight"]
        part[f"{to}self_attention.linear_proj.weight"] = columns(output, rank, ranks)
        for ours, x in BEHIND.items():
            part[to + ours] = found[f"{at}{x}.weight"]
        halves = [rows(found[f"{at}mlp.{x}_proj.weight"], rank, ranks) for x in ("gate", "up")]
        part[f"{to}mlp.linear_fc1.weight"] = torch.cat(halves)
        part[f"{to}mlp.linear_fc2.weight"] = columns(
            found[f"{at}mlp.down_proj.weight"], rank, ranks)
    return part


BEHIND = {"self_attention.linear_proj.norm.weight": "post_attention_layernorm",
          "mlp.linear_fc2.norm.weight": "post_feedforward_layernorm"}


def one_rank(rank, ranks, folder, tokens, wanted, port):
    from megatron.core import parallel_state, tensor_parallel
    from megatron.core.fusions import fused_softmax
    from megatron.core.models.gpt import GPTModel

    def windows(queries, keys, window):
        back = torch.arange(queries)[:, None] - torch.arange(keys)
        return (back < 0) | (back > window[0])

    fused_softmax.get_sliding_window_causal_mask = windows  # on a CPU
    name, model, gradient, logits = wanted
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    parallel_state.initialize_model_parallel(
        tensor_model_parallel_size=ranks, create_gloo_process_groups=False)
    tracker = type("Tracker", (), {"fork": lambda *a: contextlib.nullcontext()})
    tensor_parallel.get_cuda_rng_tracker = tracker
    flags = flags_of(folder)
    sys.path[0] = f"{folder}/launch"
    layer = getattr(importlib.import_module("plumbline_layer"), flags["spec"].split()[1])
    config = config_of(name, model.config, flags, ranks)
    own = GPTModel(
        config, layer, vocab_size=VOCABULARY, max_sequence_length=TOKENS, parallel_output=True,
        share_embeddings_and_output_weights=False, position_embedding_type="rope",
        rotary_base=float(flags["rotary-base"]), rotary_percent=float(
            flags.get("rotary-percent", 1)))
    state = weights(model, model.state_dict(), rank, ranks)
    missing = set(state) ^ {k for k, _ in own.named_parameters()}
    assert not missing, missing
    own.load_state_dict(state, strict=False)
    places = torch.arange(TOKENS)
    mask = (places[:, None] < places)[None, None].expand(2, 1, -1, -1)
    out = own(tokens, places.repeat(2, 1), mask)
    part, size = columns(logits, rank, ranks), logits.abs().max()
    worst = (out - part).abs().max()
    assert worst < 2e-5 * size, f"{folder}: logits differ by {worst} of {size}"
    (out * weight_of(out, rank)).sum().backward()
    parts = weights(model, gradient, rank, ranks)
    for key, x in own.named_parameters():
        off = (x.grad - parts[key]).abs().max()
        assert off < 1e-4 * max(1, parts[key].abs().max()), (key, off)
    if rank == 0:
        print(f"{folder}: {ranks} ranks, {config.num_layers} layers, logits within {worst:.1e} "
              f"of {size:.2f}, gradients equal")
    dist.destroy_process_group()


def check(folder):
    name = json.load(open(f"{folder}/model.json"))["name"]
    torch.manual_seed(5)
    model, _ = theirs(name, 4)
    model = model.float().eval()
    with torch.no_grad():
        for key, x in model.named_parameters():
            x.normal_(std=0.3 if "norm" in key else 0.15).add_(1 if "norm" in key else 0)
    tokens = torch.randint(VOCABULARY, (2, TOKENS))
    logits = model(tokens).logits
    (logits * weight_of(logits, 0)).sum().backward()
    gradient = {key: x.grad for key, x in model.named_parameters()}
    wanted = name, model, gradient, logits.detach()
    port = 20000 + os.getpid() % 20000
    for ranks in 1, 2:
        torch.multiprocessing.spawn(
            one_rank, (ranks, folder, tokens, wanted, port + ranks), nprocs=ranks)


if __name__ == "__main__":
    for path in sys.argv[1:]:
        check(path)
