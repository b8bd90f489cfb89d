// GPT-NeoX's and InternEvo's settings under Megatron's names: what they mean together. See core.h.
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
