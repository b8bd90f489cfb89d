// GPT-NeoX's settings under Megatron's names: what they mean together; InternEvo's configuration in
// Python as Megatron's flags. See core.h and launch.h.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/import/jobs/core.h"
#include "data/import/jobs/launch.h"

static bool is(const char *text, const char *word) { return text && !strcmp(text, word); }

// What GPT-NeoX's settings mean, from neox_args.py, tokenizer.py and ParallelMLP at ea7aefd8f8e1.
static enum status set_neox_shape(struct run *r, struct settings *s, struct error *err)
{
    static const char *const gated[] = {"geglu", "reglu", "bilinear", "swiglu", "glu", NULL};
    const char *norm = r->norm_kind ? r->norm_kind : "layernorm", *kinds = r->attention_kinds;
    bool rms = is(norm, "rmsnorm") || is(norm, "te_rmsnorm");
    int unit = 0;
    if (!rms && !is(norm, "layernorm") && !is(norm, "te_layernorm"))
        return settings_refuse(s, "norm", err, "expected layernorm or rmsnorm, found \"%.40s\"",
                               norm);
    for (const char *at = kinds; at && *at; at += strcspn(at, " "), at += strspn(at, " "))
        if (strncmp(at, "flash", 5) && strncmp(at, "global", 6) && !strchr("0123456789", *at) &&
            r->wants_model)
            return settings_refuse(s, "attention-config", err,
                                   "expected flash or global in all layers, found \"%.40s\"",
                                   kinds);
    r->flash = kinds && strstr(kinds, "flash"), r->backend = "unfused";
    if (!setting_of(s, "pos-emb") || is(r->position_type, "learned"))
        r->position_type = "learned_absolute";
    while (gated[unit] && !is(r->activation, gated[unit])) unit++;
    r->shape.gated_ffn = gated[unit], r->shape.rms_norm = rms;
    int64_t wide = r->shape.ffn ? r->shape.ffn : 4 * r->shape.hidden,
            of = r->ffn_multiple ? r->ffn_multiple : 1;
    if (gated[unit] && r->wants_model)
        said_assume(&s->said,
                    "a gated part a third of %lld wide, as GPT-NeoX builds it since September 2024",
                    (long long)wide);
    if (r->window) r->window = arena_print(s->arena, "%s,0", r->window);
    if (gated[unit]) wide = 2 * wide / 3 / 2; // as many parameters as without the gate
    r->shape.ffn = (wide + of - 1) / of * of, r->ffn_multiple = 0;
    r->shape.activation = is(r->activation, "swiglu") ? "silu" : r->activation;
    r->shape.linear_bias = r->feed_forward_bias, r->shape.qkv_bias = r->attention_bias;
    r->shape.output_bias = r->attention_bias == r->feed_forward_bias ? 0
                           : r->attention_bias                       ? 1
                                                                     : -1;
    if (!setting_of(s, "attention-dropout")) r->attention_dropout = 0;
    if (!setting_of(s, "hidden-dropout")) r->hidden_dropout = 0;
    if (r->shape.vocabulary || s->vocabulary_asked || setting_of(s, "tokenizer-type") ||
        setting_of(s, "vocab-file") || !r->wants_model)
        return OK;
    r->shape.vocabulary = 50257;
    said_assume(&s->said, "a vocabulary of 50257, as no tokenizer is stated: GPT-2's");
    return OK;
}

// The batch of all GPUs, where a file states what each accumulates.
static void set_batch(struct run *r)
{
    struct layout *l = &r->job.layout;
    int64_t gpus = r->gpus ? r->gpus : r->processes * (r->nodes ? r->nodes : 1),
            ranks = (int64_t)l->tensor * l->pipeline, steps = r->steps ? r->steps : 1;
    if (ranks > 0 && gpus >= ranks && !r->job.global_batch && steps < 1 << 20)
        r->job.global_batch = l->micro_batch * steps * (gpus / ranks);
}

enum status core_neox(struct run *r, struct settings *s, struct error *err)
{
    struct layout *l = &r->job.layout;
    struct job *j = &r->job;
    if (!s->neox) return OK;
    r->deepspeed = true, r->zero_stage = l->zero;
    if (!l->pipeline) l->pipeline = 1; // 0: no pipeline module
    bool fp32 = is(r->number_format, "fp32");
    r->bf16 = (r->bf16 || is(r->number_format, "bfloat16")) && !fp32;
    r->fp16 = (r->fp16 || is(r->number_format, "fp16")) && !fp32 && !r->bf16;
    l->micro_batch = r->micro_batch <= 1 << 20 ? (int)r->micro_batch : 0;
    j->global_batch = r->global_batch;
    l->offload_optimizer = is(r->old_offload, "true") || is(r->old_offload, "True");
    set_batch(r);
    int64_t gpus = r->gpus ? r->gpus : r->processes * (r->nodes ? r->nodes : 1),
            ranks = (int64_t)l->tensor * l->pipeline, steps = r->steps ? r->steps : 1;
    if (ranks > 0 && gpus >= ranks && !l->micro_batch && r->global_batch)
        l->micro_batch = (int)(r->global_batch / steps / (gpus / ranks));
    return set_neox_shape(r, s, err);
}

void core_internevo(struct run *r, const struct settings *s)
{
    if (!is(s->program, LAUNCH_OF_INTERNEVO)) return;
    r->other = true;
    set_batch(r);
    r->shape.qkv_bias = setting_of(s, "use-bias-in-attn-linear");
    r->shape.output_bias = r->shape.qkv_bias;
}

// ---- InternEvo (internlm/initialize/launch.py, model/modeling_*.py, modules/mlp.py at
// c628a8c87411)

// "parallel.KIND", a number or a table with "size"; `absent` if it is neither.
static const char *degree(struct settings *s, const struct settings *py, const char *kind,
                          const char *absent)
{
    const char *own = settings_text(py, arena_print(s->arena, "parallel.%s", kind)),
               *size = settings_text(py, arena_print(s->arena, "parallel.%s.size", kind));
    return size ? size : own ? own : absent;
}

static enum status take_layout(struct settings *s, const struct settings *py, struct error *err)
{
    const char *tensor = degree(s, py, "tensor", "1"), *weight = degree(s, py, "weight", "1"),
               *zero = degree(s, py, "zero1", "-1"),
               *mode = settings_text(py, "parallel.tensor.mode"),
               *flag = settings_text(py, "parallel.sequence_parallel");
    bool split = atoi(tensor) > 1;
    if (is(mode, "isp") && (split || atoi(weight) > 1))
        return settings_refuse(py, "parallel.tensor.mode", err,
                               "isp gathers weights on part of the ranks, which a job has no key "
                               "for: leave weight parallelism out");
    if (is(settings_text(py, "parallel.zero1.fsdp"), "true"))
        return settings_refuse(py, "parallel.zero1.fsdp", err,
                               "weights are sharded, too: state zero 3 in the job");
    TRY(launch_set(s, "tensor-model-parallel-size", is(mode, "isp") ? "1" : tensor, err));
    TRY(launch_set(s, "pipeline-model-parallel-size", degree(s, py, "pipeline", "1"), err));
    if (split && (is(mode, "msp") || is(mode, "fsp") || is(flag, "true")))
        TRY(launch_set(s, "sequence-parallel", "", err));
    if (strcmp(zero, "1") != 0) TRY(launch_set(s, "use-distributed-optimizer", "", err));
    if (atoi(zero) > 1) TRY(launch_set(s, "zero1-size", zero, err));
    const char *chunks = settings_text(py, "model.num_chunks");
    if (chunks && atoi(chunks) > 1)
        TRY(launch_set(s, "num-virtual-stages-per-pipeline-rank", chunks, err));
    if (is(settings_text(py, "hybrid_zero_optimizer.overlap_sync_grad"), "true"))
        TRY(launch_set(s, "overlap-grad-reduce", "", err));
    return OK;
}

// model.checkpoint: true, false, or a share of the layers.
static enum status take_recompute(struct settings *s, const struct settings *py, struct error *err)
{
    const char *text = settings_text(py, "model.checkpoint");
    double share = !text || is(text, "false") ? 0 : is(text, "true") ? 1 : atof(text);
    int64_t layers = (int64_t)settings_number(py, "model.num_layers");
    if (!(share > 0)) return OK;
    TRY(launch_set(s, "recompute-granularity", "full", err));
    if (share >= 1) return launch_set(s, "recompute-method", "uniform", err);
    const char *stages = degree(s, py, "pipeline", "1");
    int64_t of = atoll(stages) > 0 ? atoll(stages) : 1;
    TRY(launch_set(s, "recompute-method", "block", err));
    return launch_set(s, "recompute-num-layers",
                      arena_print(s->arena, "%.0f", (double)(layers / of) * share), err);
}

static enum status take_shape(struct settings *s, const struct settings *py, struct error *err)
{
    static const char *const types[] = {"INTERNLM", "INTERNLM2_PUBLIC", "INTERNLM3", "LLAMA2"};
    enum { WIDTH_OF = 256 };
    const char *type = settings_text(py, "model_type"),
               *ratio = settings_text(py, "model.mlp_ratio"),
               *dtype = settings_text(py, "model.dtype"),
               *norm = settings_text(py, "model.norm_type"),
               *experts = settings_text(py, "model.num_experts");
    double hidden = settings_number(py, "model.hidden_size");
    size_t i = 0;
    if (!type) type = "INTERNLM";
    while (i < ARRAY_LENGTH(types) && strcmp(types[i], type) != 0) i++;
    if (i == ARRAY_LENGTH(types) || (experts && atoi(experts) > 1))
        return settings_refuse(
            py, i == ARRAY_LENGTH(types) ? "model_type" : "model.num_experts", err,
            "expected InternLM or Llama without experts, found %.40s: take the "
            "model from its config.json (plumbline import hf), and state the job",
            type);
    double wide = floor(hidden * (ratio ? atof(ratio) : 4));
    if (!(wide >= 0 && wide < 1e9)) wide = 0;
    wide = ceil(wide / WIDTH_OF) * WIDTH_OF;
    TRY(launch_set(s, "ffn-hidden-size", arena_print(s->arena, "%.0f", wide), err));
    TRY(launch_set(s, "swiglu", "", err));
    TRY(launch_set(s, "position-embedding-type", "rope", err));
    TRY(launch_set(s, "untie-embeddings-and-output-weights", "", err));
    TRY(launch_set(s, "disable-bias-linear", "", err));
    bool biased = !i && !is(settings_text(py, "model.no_bias"), "true"); // InternLM's first
    if (biased) TRY(launch_set(s, "use-bias-in-attn-linear", "", err));
    TRY(launch_set(s, "normalization", !norm || is(norm, "rmsnorm") ? "RMSNorm" : "LayerNorm",
                   err));
    TRY(launch_set(s, "attention-dropout", "0", err));
    TRY(launch_set(s, "hidden-dropout", "0", err));
    if (!is(settings_text(py, "model.use_flash_attn"), "false"))
        TRY(launch_set(s, "use-flash-attn", "", err));
    bool half = !dtype || strstr(dtype, "float16") || strstr(dtype, "half");
    if (half) TRY(launch_set(s, dtype && !strstr(dtype, "bfloat16") ? "fp16" : "bf16", "", err));
    return OK;
}

bool launch_is_internevo(const struct settings *py)
{
    return (setting_of(py, "data.seq_len") || setting_of(py, "data.micro_bsz")) &&
           setting_of(py, "model.num_layers");
}

enum status launch_take_internevo(struct settings *s, const struct settings *py, struct error *err)
{
    static const char *const names[][2] = {{"data.seq_len", "seq-length"},
                                           {"data.micro_bsz", "micro-batch-size"},
                                           {"data.micro_num", "gradient-accumulation-steps"},
                                           {"model.num_layers", "num-layers"},
                                           {"model.hidden_size", "hidden-size"},
                                           {"model.num_attention_heads", "num-attention-heads"},
                                           {"model.num_kv_attention_heads", "num-key-value-heads"},
                                           {"model.vocab_size", "padded-vocab-size"},
                                           {"model.layer_norm_epsilon", "norm-epsilon"},
                                           {"model.rope_base", "rotary-base"}};
    static const char *const read[] = {"parallel", "model", "model_type",
                                       "hybrid_zero_optimizer.overlap_sync_grad"};
    s->program = LAUNCH_OF_INTERNEVO;
    for (size_t i = 0; i < ARRAY_LENGTH(read); i++) TRY(python_check_known(py, read[i], err));
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) TRY(python_check_known(py, names[i][0], err));
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        const char *text = settings_text(py, names[i][0]);
        if (text) TRY(launch_set(s, names[i][1], text, err));
    }
    if (!settings_text(py, "data.micro_num"))
        TRY(launch_set(s, "gradient-accumulation-steps", "1", err));
    TRY(take_shape(s, py, err));
    TRY(take_recompute(s, py, err));
    return take_layout(s, py, err);
}
