// Megatron-LM's flags (megatron/training/arguments.py), in the order in which they are written.
#include <stdlib.h>
#include <string.h>

#include "data/frameworks/setting.h"

const char *const core_context_names[] = {"p2p", "a2a", "all_gather", NULL};
static const char *const norm_names[] = {"LayerNorm", "RMSNorm", NULL};

static const struct setting_row rows[] = {
    SAYS("tensor-model-parallel-size", INT, job.layout.tensor),
    SAYS("context-parallel-size", INT, job.layout.context),
    ROW("cp-comm-type", NAME, job.context_kind, READ_AND_WRITTEN, offsetof(struct run, spread),
        core_context_names, false),
    SAYS("expert-model-parallel-size", INT, job.layout.expert),
    SAYS("expert-tensor-parallel-size", COUNT, expert_tensor),
    SAYS("pipeline-model-parallel-size", INT, job.layout.pipeline),
    SAYS("pipeline-model-parallel-layout", TEXT, stages),
    TAKES("num-layers-per-virtual-pipeline-stage", COUNT, layers_of_stage),
    TAKES("num-virtual-stages-per-pipeline-rank virtual-pipeline-model-parallel-size", COUNT,
          stages_of_rank),
    SAYS("microbatch-group-size-per-virtual-pipeline-stage", COUNT, group),
    SAYS("micro-batch-size", INT, job.layout.micro_batch),
    SAYS("global-batch-size", COUNT, job.global_batch),
    SAYS("sequence-parallel", FLAG, job.layout.sequence_parallel),
    SAYS("use-distributed-optimizer", SWITCH, job.layout.zero),
    SAYS("num-distributed-optimizer-instances data-parallel-replicate-degree", COUNT, instances),
    SAYS("optimizer-cpu-offload", FLAG, job.layout.offload_optimizer),
    TAKES("optimizer-offload-fraction", NUMBER, offload_share),
    SAYS("use-precision-aware-optimizer", FLAG, precision_aware),
    SAYS("main-params-dtype", TEXT, state_types[0]),
    SAYS("exp-avg-dtype", TEXT, state_types[1]),
    SAYS("exp-avg-sq-dtype", TEXT, state_types[2]),
    TAKES("main-grads-dtype", TEXT, gradient_type),
    SAYS("overlap-grad-reduce", SWITCH, job.layout.gradient_sync),
    WRITES("overlap-param-gather", FLAG, gathers),
    SAYS("tp-comm-overlap", FLAG, job.overlapped_tensor),
    SAYS("no-overlap-p2p-communication", FLAG, waits),
    SAYS("attention-backend", TEXT, backend),
    TAKES("use-flash-attn", FLAG, flash),
    WRITES("no-create-attention-mask-in-dataloader", FLAG, unmasked),
    SAYS("num-layers", COUNT, layers),
    SAYS("seq-length encoder-seq-length max-length", COUNT, job.sequence),
    SAYS("bf16", FLAG, bf16),
    SAYS("fp16", FLAG, fp16),
    SAYS("fp8-format fp8", TEXT, fp8),
    SAYS("fp8-recipe", TEXT, fp8_recipe),
    SAYS("fp4-format", TEXT, fp4),
    SAYS("accumulate-allreduce-grads-in-fp32", FLAG, gradients_in_fp32),
    SAYS("grad-reduce-in-bf16", FLAG, gradients_in_bf16),
    SAYS("cross-entropy-loss-fusion", FLAG, job.fused_loss),
    SAYS("cross-entropy-fusion-impl", TEXT, fusion),
    SAYS("no-rope-fusion", FLAG, job.unfused[UNFUSED_ROTARY]),
    SAYS("no-bias-swiglu-fusion", FLAG, job.unfused[UNFUSED_ACTIVATION]),
    SAYS("no-bias-gelu-fusion", FLAG, unfused_gelu),
    WRITES("no-bias-dropout-fusion", FLAG, separate_dropout),
    SAYS("optimizer", TEXT, optimizer),
    SAYS("sgd-momentum", TEXT, momentum),
    SAYS("max-position-embeddings", COUNT, positions),
    SAYS("hidden-size", COUNT, shape.hidden),
    SAYS("ffn-hidden-size", COUNT, shape.ffn),
    SAYS("num-attention-heads", COUNT, shape.heads),
    SAYS_IF(plain, "group-query-attention", FLAG, grouped),
    SAYS_IF(plain, "num-query-groups", COUNT, groups),
    SAYS_IF(odd_heads, "kv-channels", COUNT, shape.head_width),
    SAYS("multi-latent-attention", FLAG, latent),
    SAYS("q-lora-rank", COUNT, shape.query_rank),
    SAYS("kv-lora-rank", COUNT, shape.kv_rank),
    SAYS("qk-head-dim", COUNT, plain_width),
    SAYS("qk-pos-emb-head-dim", COUNT, shape.rotary_width),
    SAYS_IF(latent, "v-head-dim", COUNT, shape.value_width),
    SAYS("qk-layernorm", FLAG, qk_norm),
    SAYS("attention-output-gate", FLAG, shape.gated_attention),
    SAYS("window-size", TEXT, window),
    SAYS("window-attn-skip-freq", TEXT, windowed),
    SAYS("experimental-attention-variant linear-attention-type", TEXT, variant),
    SAYS("linear-attention-freq", TEXT, linear_layers),
    SAYS("dsa-indexer-n-heads", COUNT, shape.index_heads),
    SAYS("dsa-indexer-head-dim", COUNT, shape.index_width),
    SAYS("dsa-indexer-topk", COUNT, shape.index_top_k),
    SAYS_IF(linear, "linear-conv-kernel-dim", COUNT, shape.linear.convolution),
    SAYS_IF(linear, "linear-key-head-dim", COUNT, shape.linear.key_width),
    SAYS_IF(linear, "linear-value-head-dim", COUNT, shape.linear.value_width),
    SAYS_IF(linear, "linear-num-key-heads", COUNT, shape.linear.key_heads),
    SAYS_IF(linear, "linear-num-value-heads", COUNT, shape.linear.value_heads),
    SAYS("hybrid-layer-pattern hybrid-override-pattern", TEXT, hybrid),
    TAKES("hybrid-attention-ratio", NUMBER, hybrid_attention),
    TAKES("hybrid-mlp-ratio", NUMBER, hybrid_mlp),
    SAYS_IF(states, "mamba-num-heads", COUNT, state_heads),
    SAYS_IF(states, "mamba-head-dim", COUNT, state_head_width),
    SAYS_IF(states, "mamba-state-dim", COUNT, state_width),
    SAYS_IF(states, "mamba-num-groups", COUNT, state_groups),
    SAYS("spec", RAW, spec),
    SAYS("swiglu", FLAG, swiglu),
    SAYS("quick-geglu", FLAG, quick_geglu),
    SAYS("glu-linear-offset", NUMBER, glu_offset),
    SAYS("activation-func-clamp-value", NUMBER, clamp),
    SAYS("softmax-type", TEXT, softmax),
    SAYS("openai-gelu", FLAG, openai_gelu),
    SAYS("squared-relu", FLAG, squared_relu),
    SAYS("norm-epsilon", NUMBER, shape.norm_epsilon),
    SAYS("position-embedding-type", TEXT, position_type),
    SAYS_IF(rotary, "rotary-base", NUMBER, shape.rotary_base),
    SAYS_IF(rotary, "rotary-percent", NUMBER, shape.rotary_share),
    SAYS("use-rope-scaling", FLAG, stretched),
    SAYS("rope-scaling-factor", NUMBER, stretch),
    SAYS("rotary-seq-len-interpolation-factor", NUMBER, interpolation),
    SAYS("rotary-scaling-factor", NUMBER, yarn),
    SAYS("mscale", NUMBER, shape.rotary_scaling.mscale),
    SAYS("mscale-all-dim", NUMBER, shape.rotary_scaling.mscale_all_dim),
    SAYS_IF(latent, "rope-type", TEXT, rope_type),
    SAYS_IF(plain, "yarn-original-max-position-embeddings", COUNT,
            shape.rotary_scaling.original_positions),
    WRITES("no-yarn-correction-range-round-to-int", FLAG, unrounded_yarn),
    SAYS_IF(plain, "yarn-beta-fast", NUMBER, shape.rotary_scaling.beta_fast),
    SAYS_IF(plain, "yarn-beta-slow", NUMBER, shape.rotary_scaling.beta_slow),
    ROW("normalization", NAMED, shape.rms_norm, READ_AND_WRITTEN, offsetof(struct run, shaped),
        norm_names, false),
    SAYS_IF(shaped, "disable-bias-linear", UNLESS, shape.linear_bias),
    SAYS_IF(shaped, "add-qkv-bias", FLAG, shape.qkv_bias),
    SAYS_IF(shaped, "untie-embeddings-and-output-weights", UNLESS, shape.tied_embeddings),
    SAYS_IF(shaped, "attention-dropout", SHARE, attention_dropout),
    SAYS_IF(shaped, "hidden-dropout", SHARE, hidden_dropout),
    TAKES("vocab-size", COUNT, shape.vocabulary), // set by the tokenizer
    SAYS_IF(shaped, "make-vocab-size-divisible-by", COUNT, padding),
    SAYS_IF(mixtures, "num-experts", COUNT, experts.experts),
    SAYS_IF(mixtures, "moe-router-topk", COUNT, experts.top_k),
    SAYS_IF(mixtures, "moe-ffn-hidden-size", COUNT, experts.ffn),
    SAYS_IF(mixtures, "moe-shared-expert-intermediate-size", COUNT, experts.shared_ffn),
    SAYS_IF(mixtures, "moe-shared-expert-gate", FLAG, experts.shared_gate),
    SAYS("moe-router-score-function", TEXT, router_score),
    WRITES("moe-apply-probs-on-input", FLAG, weighs_inputs),
    WRITES("no-rope-freq", COUNT, unturned),
    WRITES("qk-l2-norm", FLAG, unit_norms),
    SAYS("moe-router-pre-softmax", FLAG, experts.router_all),
    SAYS("moe-router-enable-expert-bias", FLAG, experts.router_bias),
    SAYS("moe-router-num-groups", COUNT, experts.router_groups),
    SAYS("moe-router-group-topk", COUNT, experts.router_top_groups),
    SAYS("moe-router-topk-scaling-factor", NUMBER, experts.router_scale),
    SAYS("moe-token-dispatcher-type", TEXT, dispatcher),
    SAYS("moe-flex-dispatcher-backend", TEXT, dispatch_kernels),
    SAYS("moe-expert-capacity-factor", NUMBER, capacity),
    SAYS("moe-pad-expert-input-to-capacity", FLAG, job.fixed_capacity),
    SAYS("overlap-moe-expert-parallel-comm", FLAG, job.overlapped_dispatch),
    SAYS("cuda-graph-impl", TEXT, graphs),
    SAYS("cuda-graph-modules cuda-graph-scope", RAW, graph_modules),
    WRITES("no-check-for-nan-in-loss-and-grad", FLAG, unchecked),
    WRITES("moe-grouped-gemm", FLAG, grouped_gemm),
    WRITES("moe-permute-fusion", FLAG, permute_fusion),
    WRITES("moe-router-dtype", TEXT, router_dtype),
    WRITES("moe-router-load-balancing-type", TEXT, balancing),
    WRITES("moe-aux-loss-coeff", NUMBER, balancing_weight),
    SAYS_IF(mixtures, "moe-layer-freq", TEXT, frequencies),
    SAYS("mtp-num-layers", COUNT, mtp),
    SAYS_IF(further, "mtp-loss-scaling-factor", NUMBER, shape.mtp_loss_scale),
    TAKES("recompute-activations", FLAG, selective),
    SAYS("recompute-granularity", TEXT, granularity),
    SAYS("recompute-modules", RAW, modules),
    SAYS("recompute-method activations-checkpoint-method", TEXT, method),
    SAYS("recompute-num-layers activations-checkpoint-num-layers", COUNT, recomputed),
    // Names of older versions and of forks, and what several flags together state.
    TAKES("use-rotary-position-embeddings use-llama2-rotary-position-embeddings "
          "use-mistral-rotary-position-embeddings",
          FLAG, rotary_flag),
    TAKES("no-position-embedding", FLAG, no_positions),
    TAKES("rotary-position-embeddings-theta", NUMBER, shape.rotary_base),
    TAKES("layernorm-epsilon", NUMBER, shape.norm_epsilon),
    TAKES("padded-vocab-size pad-vocab-size-to", COUNT, padded_vocabulary),
    TAKES("no-pad-vocab-size disable-pad-vocab-size", FLAG, unpadded),
    TAKES("encoder-num-layers", COUNT, layers),
    TAKES("intermediate-size", COUNT, shape.ffn),
    TAKES("num-key-value-heads n-head-kv", COUNT, key_value_heads),
    TAKES("attention-head-type", TEXT, head_type),
    TAKES("glu-activation", TEXT, glu),
    TAKES("geglu gelu-tanh", FLAG, geglu),
    TAKES("apply-layernorm-rms", FLAG, shape.rms_norm), // FlagScale's
    TAKES("num-layer-list", TEXT, layer_list),
    TAKES("moe-tp-extend-ep", FLAG, experts_over_tensor),
    TAKES("topk moe-topk", COUNT, experts.top_k),
    TAKES("moe-latent-size", COUNT, experts.latent),
    TAKES("shared-moe-ffn-hidden-size", COUNT, experts.shared_ffn),
    TAKES("use-gated-attention", FLAG, shape.gated_attention), // slime's
    TAKES("qk-nope-head-dim", COUNT, plain_width),
    TAKES("qk-rope-head-dim", COUNT, shape.rotary_width),
    TAKES("moe-expert-parallel-size", INT, job.layout.expert),
    TAKES("decoder-first-pipeline-num-layers", COUNT, first_stage),
    TAKES("decoder-last-pipeline-num-layers", COUNT, last_stage),
    TAKES("account-for-embedding-in-pipeline-split", FLAG, counts_embedding),
    TAKES("account-for-loss-in-pipeline-split", FLAG, counts_loss),
    TAKES("fp8-hybrid fp8-e4m3", FLAG, fp8_flag),
    TAKES("checkpoint-activations deepspeed-activation-checkpointing", FLAG, checkpointed),
    TAKES("moe-layer-recompute", FLAG, recomputes_experts),
    TAKES("moe-enable-deepep", FLAG, deepep),
    TAKES("enable-cuda-graph external-cuda-graph", FLAG, graphed),
    TAKES("use-megatron-fsdp use-custom-fsdp", FLAG, fsdp),
    TAKES("use-torch-fsdp2", FLAG, torch_fsdp),
    TAKES("actor-num-nodes", COUNT, nodes), // slime's and miles'
    TAKES("actor-num-gpus-per-node", COUNT, processes),
    TAKES("rollout-max-prompt-len", COUNT, rollout.prompt),
    TAKES("rollout-max-response-len max-completion-length", COUNT, rollout.answer),
    TAKES("rollout-batch-size", COUNT, rollout.batch),
    TAKES("n-samples-per-prompt", COUNT, rollout.answers),
    TAKES("num-steps-per-rollout", COUNT, steps),
    TAKES("use-dynamic-batch-size", FLAG, rollout.packs),
    TAKES("max-tokens-per-gpu", COUNT, rollout.packed),
    TAKES("data-parallel-sharding-strategy", TEXT, sharding),
    TAKES("deepspeed", FLAG, deepspeed),
    TAKES("deepspeed-config", TEXT, about),
    TAKES("zero-stage", INT, zero_stage),
    TAKES("no-pipeline-parallel", FLAG, no_pipeline),
    TAKES("ds-sequence-parallel-size", INT, ulysses),
    TAKES("cpu-optimizer", FLAG, job.layout.offload_optimizer),
    TAKES("use-flash-attn-v1 use-flash-attn-v2 use-flash-attn-triton use-flash-attn-builder", FLAG,
          flash),
    TAKES("world-size num-processes", COUNT, processes),
    TAKES("expert-interval", COUNT, expert_interval),   // Megatron-DeepSpeed's
    TAKES("first-k-dense-replace", WHOLE, dense_first), // MindSpeed-LLM's, as the next two
    TAKES("n-shared-experts", COUNT, shared_experts),
    TAKES("moe-intermediate-size", COUNT, experts.ffn),
    TAKES("multiple-of", COUNT, ffn_multiple), // FlagScale's, as the next
    TAKES("hidden-dim-multiplier", NUMBER, ffn_factor),
    // GPT-NeoX's (names at ea7aefd8f8e1), some of them MegaBlocks', too.
    TAKES("model-parallel-size", INT, job.layout.tensor),
    TAKES("pipe-parallel-size", INT, job.layout.pipeline),
    TAKES("train-micro-batch-size-per-gpu", COUNT, micro_batch),
    TAKES("train-batch-size", COUNT, global_batch),
    TAKES("gradient-accumulation-steps gas", COUNT, steps),
    TAKES("zero-optimization.stage", INT, job.layout.zero),
    TAKES("zero-optimization.cpu-offload", TEXT, old_offload),
    TAKES("fp16.enabled fp16.fp16", FLAG, fp16),
    TAKES("bf16.enabled", FLAG, bf16),
    TAKES("precision", TEXT, number_format),
    TAKES("optimizer.type optimizer-type", TEXT, optimizer),
    TAKES("norm", TEXT, norm_kind),
    TAKES("attention-config", TEXT, attention_kinds),
    TAKES("activation", TEXT, activation),
    TAKES("mlp-multiple-of", COUNT, ffn_multiple),
    TAKES("num-kv-heads", COUNT, key_value_heads),
    TAKES("use-qk-layernorm", FLAG, qk_norm),
    TAKES("pos-emb", TEXT, position_type),
    TAKES("rotary-pct", NUMBER, shape.rotary_share),
    TAKES("rotary-emb-base", NUMBER, shape.rotary_base),
    TAKES("sliding-window-width", TEXT, window),
    TAKES("rms-norm-epsilon", NUMBER, shape.norm_epsilon),
    TAKES("no-weight-tying", UNLESS, shape.tied_embeddings),
    TAKES("gpt-j-residual", FLAG, shape.parallel_residual),
    TAKES("use-bias-in-mlp", FLAG, feed_forward_bias),
    TAKES("use-bias-in-attn-linear", FLAG, attention_bias),
    TAKES("zero1-size", COUNT, shards),
    TAKES("moe-num-experts", COUNT, experts.experts),
    TAKES("moe-top-k", COUNT, experts.top_k),
    TAKES("moe-expert-interval", COUNT, expert_interval),
    TAKES("moe-expert-model-parallelism", FLAG, experts_over_data),
    TAKES("tuner-type train-type", TEXT, adapters.way),
    TAKES("lora-rank lora-r", COUNT, adapters.rank),
    TAKES("lora-dropout", NUMBER, adapters.dropout),
    TAKES("lora-target-modules target-modules", TEXT, adapters.modules),
    LATER("of-some-ranks"),
    TAKES("nproc-per-node", COUNT, processes),
    TAKES("nnodes", COUNT, nodes),
};
const struct setting_rows megatron_rows = {.rows = rows,
                                           .count = ARRAY_LENGTH(rows),
                                           .effects = megatron_effects,
                                           .names = {megatron_names, megatron_fork_names},
                                           .left = "*"};

const struct run megatron_defaults = {.adapters.on = -1,
                                      .shape = {.kv_rank = 32,
                                                .rotary_width = 64,
                                                .value_width = 128,
                                                .linear = {.key_heads = 16,
                                                           .value_heads = 32,
                                                           .key_width = 128,
                                                           .value_width = 128,
                                                           .convolution = 4},
                                                .norm_epsilon = 1e-5,
                                                .mtp_loss_scale = 0.1,
                                                .rotary_base = 10000,
                                                .rotary_share = 1,
                                                .rotary_scaling.mscale = 1,
                                                .linear_bias = true,
                                                .tied_embeddings = true},
                                      .experts.top_k = 2,
                                      .padding = 128,
                                      .plain_width = 128,
                                      .attention_dropout = 0.1,
                                      .hidden_dropout = 0.1,
                                      .stretch = 8,
                                      .yarn = 1,
                                      .position_type = "learned_absolute",
                                      .backend = "auto",
                                      .optimizer = "adam",
                                      .feed_forward_bias = true,
                                      .state_head_width = 64,
                                      .state_width = 128,
                                      .state_groups = 8,
                                      .attention_bias = true,
                                      .padded = true}; // NeMo pads

const struct megatron_mode megatron_modes[] = {
    {RECOMPUTE_NONE, NULL, NULL},        {RECOMPUTE_SELECTIVE, "selective", NULL},
    {RECOMPUTE_FULL, "full", "uniform"}, {RECOMPUTE_FIRST_LAYERS, "full", "block"},
    {RECOMPUTE_FULL, "full", NULL}, // only read
    {RECOMPUTE_COUNT, NULL, NULL}};

static int type_bytes(const char *name)
{
    bool wide = !name || strstr(name, "32");
    return !wide && strstr(name, "16") ? 2 : !wide && strchr(name, '8') ? 1 : 4;
}

// Megatron-LM d98e8a64 arguments.py: bf16 accumulates in fp32 unless its main gradients are
// narrower.
int megatron_gradient_bytes(const struct run *r)
{
    bool wide = r->gradients_in_fp32 || !r->fp16,
         main = r->bf16 && r->precision_aware && type_bytes(r->gradient_type) < 4;
    return wide && !r->gradients_in_bf16 && !main ? 4 : 2;
}

// Of bf16 weights the optimizer keeps what they lack of fp32 (Megatron-LM d98e8a64
// core/optimizer/optimizer_config.py: store_param_remainders; TransformerEngine d0067d0d
// pytorch/optimizers/fused_adam.py, from 2.1 on); with 8-bit recipes other than delayed, Megatron
// keeps the fp32 weights, and on the host all is in fp32.
int megatron_state_bytes(const struct run *r)
{
    const struct job *job = &r->job, usual = {.precision = job->precision};
    bool wide = type_bytes(r->state_types[0]) == 4,
         whole = job->precision == FP16 ||
                 (r->fp8 && r->fp8_recipe && strcmp(r->fp8_recipe, "delayed") != 0);
    if (!r->precision_aware || job->layout.offload_optimizer || job->precision == FP32)
        return job_state_bytes(&usual);
    return (wide && whole ? 4 : 2) + type_bytes(r->state_types[1]) + type_bytes(r->state_types[2]);
}

// Megatron-LM d98e8a64 core/optimizer/: other types than fp32 are refused without that flag; SGD
// has momentum 0.9; without any, as exports write it, a job has no state.
enum status megatron_set_states(struct run *r, struct error *err)
{
    static const char *const flags[] = {"main-params-dtype", "exp-avg-dtype", "exp-avg-sq-dtype"};
    struct job *j = &r->job;
    bool sgd = !strcmp(r->optimizer, "sgd"), rests = r->momentum && atof(r->momentum) == 0;
    for (size_t i = 0; i < ARRAY_LENGTH(flags) && !r->precision_aware; i++)
        if (type_bytes(r->state_types[i]) < 4)
            return refuse(err,
                          "%s: --%s %.20s: Megatron-LM takes other types than fp32 with "
                          "--use-precision-aware-optimizer alone: add it, or leave this out",
                          r->file, flags[i], r->state_types[i]);
    optimizer_set(j, r->optimizer, &(struct optimizer_way){!rests, !(sgd && rests), 0});
    int state = megatron_state_bytes(r);
    if (r->precision_aware && j->adam && state != job_state_bytes(j))
        j->state_bytes_per_value = state;
    return OK;
}
