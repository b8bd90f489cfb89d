"""usage: nemo_check.py FOLDER WORDS: FOLDER/nemo.yaml says what FOLDER's plan, job and model say,
in fields that Megatron Bridge knows."""
import ast, json, os, sys
import yaml

folder, words = sys.argv[1:]
text = open(f"{folder}/nemo.yaml").read()
config = yaml.safe_load(text)
plan, job, model = (json.load(open(f"{folder}/{x}.json")) for x in ("plan", "job", "model"))
layout, shape = plan["layout"], model.get("shape", {})

# ---- fields

# Of the classes' documented fields those that are written, with the kinds of their values.
LISTED = {
    "model": {
        int: "tensor_model_parallel_size context_parallel_size expert_model_parallel_size "
        "expert_tensor_parallel_size "
        "pipeline_model_parallel_size virtual_pipeline_model_parallel_size recompute_num_layers "
        "num_layers seq_length hidden_size ffn_hidden_size num_attention_heads num_query_groups "
        "kv_channels q_lora_rank kv_lora_rank qk_head_dim qk_pos_emb_head_dim v_head_dim "
        "moe_router_num_groups moe_router_group_topk "
        "vocab_size make_vocab_size_divisible_by num_moe_experts moe_router_topk "
        "moe_ffn_hidden_size moe_shared_expert_intermediate_size rotary_base mtp_num_layers "
        "yarn_original_max_position_embeddings original_max_position_embeddings",
        bool: "sequence_parallel cross_entropy_loss_fusion multi_latent_attention qk_layernorm "
        "tp_comm_overlap overlap_p2p_comm batch_p2p_comm "
        "gated_linear_unit add_bias_linear add_qkv_bias "
        "should_pad_vocab share_embeddings_and_output_weights moe_shared_expert_gate rope_scaling "
        "moe_grouped_gemm moe_permute_fusion moe_pad_expert_input_to_capacity "
        "overlap_moe_expert_parallel_comm moe_router_pre_softmax moe_router_enable_expert_bias",
        str: "pipeline_model_parallel_layout recompute_granularity recompute_method "
        "cross_entropy_fusion_impl position_embedding_type activation_func "
        "normalization moe_token_dispatcher_type rope_type moe_router_dtype "
        "moe_router_load_balancing_type "
        "moe_router_score_function moe_flex_dispatcher_backend cuda_graph_impl cp_comm_type",
        float: "rotary_percent layernorm_epsilon attention_dropout hidden_dropout "
        "rope_scaling_factor seq_len_interpolation_factor rotary_scaling_factor beta_fast "
        "beta_slow mscale mscale_all_dim yarn_rotary_scaling_factor yarn_beta_fast yarn_beta_slow "
        "yarn_mscale yarn_mscale_all_dim mtp_loss_scaling_factor moe_aux_loss_coeff "
        "moe_expert_capacity_factor moe_router_topk_scaling_factor",
        list: "moe_layer_freq recompute_modules cuda_graph_modules",
        dict: "attention_backend",
    },
    "train": {int: "micro_batch_size global_batch_size"},
    "dataset": {int: "seq_length"},
    "ddp": {bool: "use_distributed_optimizer overlap_grad_reduce overlap_param_gather"},
    "optimizer": {
        str: "optimizer",
        bool: "use_distributed_optimizer optimizer_cpu_offload use_precision_aware_optimizer",
    },
}
for section, keys in config.items():
    if section == "mixed_precision":
        continue
    kinds = {key: kind for kind, names in LISTED[section].items() for key in names.split()}
    for key, value in keys.items():
        assert key in kinds, (section, key)
        assert value is None or type(value) is kinds[key], (section, key, value)

SOURCES = {
    "model": [
        ("lm", "transformer/transformer_config.py"),
        ("lm", "model_parallel_config.py"),
        ("bridge", "models/gpt_provider.py"),
    ],
    "train": [("training", "config/training_config.py"), ("bridge", "training/config.py")],
    "dataset": [("bridge", "training/config.py"), ("training", "config/training_config.py")],
    "ddp": [("lm", "distributed/distributed_data_parallel_config.py")],
    "optimizer": [("lm", "optimizer/optimizer_config.py")],
}
if os.environ.get("MEGATRON_BRIDGE") and os.environ.get("MEGATRON_LM"):
    places = {
        "lm": os.environ["MEGATRON_LM"] + "/megatron/core/",
        "training": os.environ["MEGATRON_LM"] + "/megatron/training/",
        "bridge": os.environ["MEGATRON_BRIDGE"] + "/src/megatron/bridge/",
    }
    for section, files in SOURCES.items():
        fields = {}
        for place, file in files:
            for c in ast.walk(ast.parse(open(places[place] + file).read())):
                if isinstance(c, ast.ClassDef):
                    fields.update(
                        {
                            s.target.id: ast.unparse(s.annotation)
                            for s in c.body
                            if isinstance(s, ast.AnnAssign)
                        }
                    )
        for key, value in config[section].items():
            assert key in fields, (section, key)
            of = fields[key]
            if value is None:
                assert "None" in of or "Optional" in of or key == "q_lora_rank", (
                    key,
                    of,
                )  # read as: no latent of queries
            elif isinstance(value, str) and "Literal[" in of:
                assert repr(value) in of, (key, value, of)
    precisions = open(places["bridge"] + "training/mixed_precision.py").read()
    own = config["mixed_precision"]
    assert own is None or isinstance(own, dict) or f"def {own}()" in precisions

# ---- what they say

m, get = config["model"], lambda key: layout.get(key, 1)
assert m["tensor_model_parallel_size"] == get("tensor") and m["context_parallel_size"] == get(
    "context"
)
assert m["pipeline_model_parallel_size"] == get("pipeline") and m[
    "expert_model_parallel_size"
] == get("expert")
stages = plan["stages"]
parts = []
for part in (m["pipeline_model_parallel_layout"] or "").split("|"):
    count, at = 0, 0
    while at < len(part):
        end = at + 1
        while end < len(part) and part[end] in "*0123456789":
            end += 1
        count += int(part[at + 2 : end] or 1)
        at = end
    parts.append(count)
if len(stages) > 1:
    assert parts == [s["layer_count"] for s in stages], parts
    folds = layout.get("schedule") == "zb-v"
    assert (
        m["virtual_pipeline_model_parallel_size"]
        == (len(stages) // get("pipeline") if len(stages) > get("pipeline") else None)
        or folds
    )
further = sum(r.get("count", 1) for r in model["runs"] if r.get("mtp"))
layers = sum(s["layer_count"] for s in stages) - 2 - further
assert m["num_layers"] == layers
assert m.get("mtp_num_layers", 0) == further and m.get("mtp_loss_scaling_factor", 0) == shape.get(
    "mtp_loss_scale", 0
)
scaling = shape.get("rotary_scaling", {"type": None})
yarn, factor = (
    ("", "rotary_scaling_factor") if "kv_rank" in shape else ("yarn_", "yarn_rotary_scaling_factor")
)
for kind, name in (
    ("llama3", "rope_scaling_factor"),
    ("linear", "seq_len_interpolation_factor"),
    ("yarn", factor),
):
    said = scaling["type"] == kind and "of the model: rotary positions" not in text
    assert m.get(name, 1) == (shape["rotary_factor"] if said else 1), (name, m.get(name), shape)
for key in (
    ("beta_fast", "beta_slow", "mscale", "mscale_all_dim", "original_max_position_embeddings")
    if scaling["type"] == "yarn"
    else ()
):
    assert m.get(yarn + key) == scaling.get(key), key
assert (
    m["hidden_size"] == shape["hidden"]
    and m["ffn_hidden_size"] == shape["ffn"]
    and m["num_attention_heads"] == shape["heads"]
)
assert m["qk_layernorm"] == (shape.get("qk_norm") == "head" or "kv_rank" in shape)
assert m["seq_length"] == config["dataset"]["seq_length"] == job["sequence"]
assert m["vocab_size"] == shape["vocabulary"]
padding = m["make_vocab_size_divisible_by"] * get("tensor")
assert (
    shape["vocabulary"] % get("tensor")
    or -(-m["vocab_size"] // padding) * padding == shape["vocabulary"]
)
assert config["train"]["global_batch_size"] == job["global_batch"] and config["train"][
    "micro_batch_size"
] == get("micro_batch")
moe = [r for r in model["runs"] if r["kind"] == "moe" and not r.get("mtp")]
if moe:
    assert (
        m["num_moe_experts"] == moe[0]["moe"]["experts"]
        and len(m["moe_layer_freq"]) == layers
        and sum(m["moe_layer_freq"]) == sum(r.get("count", 1) for r in moe)
    )
assert config["ddp"]["use_distributed_optimizer"] == (layout.get("zero", 0) > 0)
# The recipe in fp16 reduces gradients in 2 bytes, the others in 4; the other width is in what a
# recipe is made of.
own, half = config["mixed_precision"], job["precision"] == "fp16"
if half == (job["gradient_bytes_per_value"] == 2):
    assert (
        own
        == {
            "bf16": "bf16_mixed",
            "fp16": "fp16_mixed",
            "fp8": "bf16_with_fp8_delayed_scaling_mixed",
        }[job["precision"]]
    )
else:
    assert own["_target_"].endswith(".MixedPrecisionConfig"), own
    assert own["grad_reduce_in_fp32"] is half and own["fp16"] is half and own["bf16"] is not half
    assert own.get("fp8") == ("hybrid" if job["precision"] == "fp8" else None), own
    for key in ("params_dtype", "pipeline_dtype"):
        assert own[key]["_target_"] == ("torch.float16" if half else "torch.bfloat16"), own
backend = m.get("attention_backend")
assert (backend is None) == layout["fused_attention"]
assert not backend or backend["_args_"] == [3] and backend["_target_"].endswith(".AttnBackend")
modes = {(s["recompute"], s.get("recomputed_layers", 0)) for s in stages}
notes = text[text.index("# Not expressed") :]
if len(modes) == 1 and "first_layers" not in str(modes):
    assert m["recompute_granularity"] == (
        None if modes == {("none", 0)} else next(iter(modes))[0]
    ), modes
for word in filter(None, words.split(";")):
    assert word in notes, (word, notes)
if not words:
    assert "(nothing)" in notes, notes
