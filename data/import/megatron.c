// plumbline import megatron ARGS: a model and a job from a Megatron-LM argument list or launch
// script. Defaults and dependences are those of Megatron-LM's arguments.py.
#include <stdio.h>
#include <string.h>

#include "data/import/import.h"
#include "data/import/megatron_arguments.h"
#include "data/import/megatron_words.h"
#include "data/import/text.h"
#include "data/inputs/model/size.h"

#define COUNT_MAX 1e9

enum kind { IS_SET, IS_COUNT, IS_NUMBER, IS_TEXT };
struct known {
    const char *name;
    enum kind kind;
    size_t offset;
};
#define KNOWN(name, kind, field)                                                                   \
    {                                                                                              \
        name, kind, offsetof(struct megatron_arguments, field)                                     \
    }
static const struct known known[] = {
    KNOWN("num-layers", IS_COUNT, layers),
    KNOWN("hidden-size", IS_COUNT, hidden),
    KNOWN("ffn-hidden-size", IS_COUNT, ffn),
    KNOWN("num-attention-heads", IS_COUNT, heads),
    KNOWN("group-query-attention", IS_SET, grouped),
    KNOWN("num-query-groups", IS_COUNT, groups),
    KNOWN("kv-channels", IS_COUNT, head_width),
    KNOWN("seq-length", IS_COUNT, sequence),
    KNOWN("encoder-seq-length", IS_COUNT, sequence),
    KNOWN("max-position-embeddings", IS_COUNT, positions),
    KNOWN("position-embedding-type", IS_TEXT, position_type),
    KNOWN("vocab-size", IS_COUNT, vocabulary),
    KNOWN("make-vocab-size-divisible-by", IS_COUNT, vocabulary_multiple),
    KNOWN("swiglu", IS_SET, swiglu),
    KNOWN("squared-relu", IS_SET, squared_relu),
    KNOWN("normalization", IS_TEXT, normalization),
    KNOWN("disable-bias-linear", IS_SET, no_bias),
    KNOWN("add-qkv-bias", IS_SET, qkv_bias),
    KNOWN("qk-layernorm", IS_SET, qk_norm),
    KNOWN("untie-embeddings-and-output-weights", IS_SET, untied),
    KNOWN("attention-dropout", IS_NUMBER, attention_dropout),
    KNOWN("hidden-dropout", IS_NUMBER, hidden_dropout),
    KNOWN("norm-epsilon", IS_NUMBER, epsilon),
    KNOWN("rotary-base", IS_NUMBER, rotary_base),
    KNOWN("rotary-percent", IS_NUMBER, rotary_share),
    KNOWN("use-rope-scaling", IS_SET, stretched),
    KNOWN("rope-scaling-factor", IS_NUMBER, stretch),
    KNOWN("rotary-seq-len-interpolation-factor", IS_NUMBER, interpolation),
    KNOWN("rotary-scaling-factor", IS_NUMBER, yarn),
    KNOWN("mscale", IS_NUMBER, mscale),
    KNOWN("mscale-all-dim", IS_NUMBER, mscale_all_dim),
    KNOWN("yarn-original-max-position-embeddings", IS_COUNT, yarn_positions),
    KNOWN("yarn-beta-fast", IS_NUMBER, beta_fast),
    KNOWN("yarn-beta-slow", IS_NUMBER, beta_slow),
    KNOWN("rope-type", IS_TEXT, rope_type),
    KNOWN("mtp-num-layers", IS_COUNT, mtp),
    KNOWN("mtp-loss-scaling-factor", IS_NUMBER, mtp_loss_scale),
    KNOWN("multi-latent-attention", IS_SET, latent),
    KNOWN("q-lora-rank", IS_COUNT, query_rank),
    KNOWN("kv-lora-rank", IS_COUNT, kv_rank),
    KNOWN("qk-head-dim", IS_COUNT, plain_width),
    KNOWN("qk-pos-emb-head-dim", IS_COUNT, rotary_width),
    KNOWN("v-head-dim", IS_COUNT, value_width),
    KNOWN("num-experts", IS_COUNT, experts),
    KNOWN("moe-router-topk", IS_COUNT, top_k),
    KNOWN("moe-ffn-hidden-size", IS_COUNT, expert_ffn),
    KNOWN("moe-shared-expert-intermediate-size", IS_COUNT, shared_ffn),
    KNOWN("moe-shared-expert-gate", IS_SET, shared_gate),
    KNOWN("moe-layer-freq", IS_TEXT, mixtures),
    KNOWN("micro-batch-size", IS_COUNT, micro_batch),
    KNOWN("global-batch-size", IS_COUNT, global_batch),
    KNOWN("tensor-model-parallel-size", IS_COUNT, tensor),
    KNOWN("pipeline-model-parallel-size", IS_COUNT, pipeline),
    KNOWN("context-parallel-size", IS_COUNT, context),
    KNOWN("expert-model-parallel-size", IS_COUNT, expert),
    KNOWN("num-layers-per-virtual-pipeline-stage", IS_COUNT, layers_of_stage),
    KNOWN("num-virtual-stages-per-pipeline-rank", IS_COUNT, virtual_stages),
    KNOWN("microbatch-group-size-per-virtual-pipeline-stage", IS_COUNT, group),
    KNOWN("pipeline-model-parallel-layout", IS_TEXT, layout),
    KNOWN("sequence-parallel", IS_SET, sequence_parallel),
    KNOWN("use-distributed-optimizer", IS_SET, distributed_optimizer),
    KNOWN("overlap-grad-reduce", IS_SET, overlapped),
    KNOWN("bf16", IS_SET, bf16),
    KNOWN("fp16", IS_SET, fp16),
    KNOWN("fp8-format", IS_TEXT, fp8),
    KNOWN("accumulate-allreduce-grads-in-fp32", IS_SET, gradients_in_fp32),
    KNOWN("grad-reduce-in-bf16", IS_SET, gradients_in_bf16),
    KNOWN("recompute-activations", IS_SET, selective),
    KNOWN("recompute-granularity", IS_TEXT, granularity),
    KNOWN("recompute-method", IS_TEXT, method),
    KNOWN("recompute-num-layers", IS_COUNT, recomputed),
    KNOWN("attention-backend", IS_TEXT, backend),
    KNOWN("use-flash-attn", IS_SET, flash),
    KNOWN("optimizer", IS_TEXT, optimizer),
    KNOWN("cross-entropy-loss-fusion", IS_SET, fused_loss),
    KNOWN("nproc-per-node", IS_COUNT, processes),
    KNOWN("nnodes", IS_COUNT, nodes),
};

// ---- flags

static enum status set_value(struct megatron_arguments *a, const struct known *k,
                             const struct megatron_flag *flag, struct error *err)
{
    void *to = (char *)a + k->offset;
    const char *value = flag->value_count ? flag->values[0] : NULL;
    if (k->kind == IS_SET) {
        *(bool *)to = true;
        return OK;
    }
    if (!value) return fail(err, BAD_INPUT, "%s: --%s: a value is missing", a->file, flag->name);
    if (k->kind == IS_TEXT) *(const char **)to = value;
    else if (k->kind == IS_NUMBER && word_is_number(value, to)) return OK;
    else if (k->kind == IS_COUNT && word_is_whole(value, to) && *(int64_t *)to <= COUNT_MAX)
        return OK;
    else if (k->kind != IS_TEXT)
        return fail(err, BAD_INPUT, "%s: --%s: expected a %s, found \"%s\"", a->file, flag->name,
                    k->kind == IS_COUNT ? "whole number of at most 1e9" : "number", value);
    return OK;
}

// For a duplicate flag, Megatron uses the last one; different values are a mistake.
static enum status check_twice(const struct megatron_words *w, int i, const char *file,
                               struct error *err)
{
    const struct megatron_flag *flag = &w->flags[i];
    for (int k = 0; k < i; k++) {
        const struct megatron_flag *before = &w->flags[k];
        if (strcmp(before->name, flag->name) || !before->value_count || !flag->value_count)
            continue;
        if (strcmp(before->values[0], flag->values[0]))
            return fail(err, BAD_INPUT, "%s: --%s appears twice, with %s and with %s", file,
                        flag->name, before->values[0], flag->values[0]);
    }
    return OK;
}

static enum status read_flags(struct megatron_arguments *a, struct megatron_words *w,
                              struct error *err)
{
    for (int i = 0; i < w->count; i++)
        for (size_t k = 0; k < ARRAY_LENGTH(known); k++) {
            if (strcmp(w->flags[i].name, known[k].name)) continue;
            w->flags[i].read = true;
            TRY(check_twice(w, i, a->file, err));
            TRY(set_value(a, &known[k], &w->flags[i], err));
        }
    return OK;
}

static void tell_unread(const struct megatron_words *w)
{
    int count = 0;
    for (int i = 0; i < w->count; i++) {
        if (w->flags[i].read) continue;
        fprintf(stderr, "%s--%s", count++ ? " " : "flags that were not read: ", w->flags[i].name);
    }
    if (count) fputc('\n', stderr);
}

enum status import_megatron(int argc, char **argv, int *exit_code, struct arena *arena,
                            struct error *err)
{
    const char *output = "-", *job_output = NULL, *name = NULL, *path, *text;
    int64_t gpus = 0, vocabulary = 0;
    size_t size;
    bool helped;
    const struct option options[] = {
        {"-o", OPTION_PATH, &output, 0, 0, NULL,
         "output file for the model (default: -, standard output)"},
        {"--job", OPTION_PATH, &job_output, 0, 0, NULL, "output file for the job (default: none)"},
        {"--name", OPTION_TEXT, &name, 0, 0, NULL, "name of model and job (default: megatron)"},
        {"--gpus", OPTION_INT, &gpus, 1, 1e9, NULL,
         "GPUs of the run (default: nproc_per_node x nnodes from the list)"},
        {"--vocabulary", OPTION_INT, &vocabulary, 1, 1 << 26, NULL,
         "vocabulary size, if the list has no --vocab-size"},
    };
    struct model model = {0};
    struct job job = {0};
    struct document document = {0};
    struct megatron_words words;
    struct megatron_arguments a = megatron_defaults;
    (void)exit_code;
    TRY(options_read(argc, argv,
                     "plumbline import megatron ARGS.sh|ARGS.txt [-o model.json] [--job job.json]",
                     options, ARRAY_LENGTH(options), &path, 1, 1, NULL, &helped, err));
    if (helped) return OK;
    TRY(import_read(&document, path, &text, &size, arena, err));
    a.file = path;
    TRY(megatron_words_read(&words, text, arena, err));
    TRY(read_flags(&a, &words, err));
    if (!a.vocabulary) a.vocabulary = vocabulary;
    TRY(megatron_check(&a, err));
    model.name = job.name = name ? name : "megatron";
    model.document.path = job.document.path = path;
    TRY(megatron_model(&model, &a, arena, err));
    if (job_output) TRY(megatron_job(&job, &a, gpus, err));
    if (job_output) TRY(job_save(&job, job_output, arena, err));
    TRY(model_save(&model, output, arena, err));
    tell_unread(&words);
    fprintf(stderr, "%s: %lld parameters\n", model.name, (long long)model_size_of(&model).all);
    return OK;
}
