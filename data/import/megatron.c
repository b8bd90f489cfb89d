// plumbline import megatron ARGS: a model and a job out of a Megatron-LM argument list or launch
// script. Defaults and what follows from what: Megatron-LM's arguments.py.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/import/import.h"
#include "data/import/megatron_words.h"
#include "data/import/text.h"
#include "data/inputs/job.h"
#include "data/inputs/model/size.h"

#define COUNT_MAX 1e9
enum { DEGREE_MAX = 1000000 };

struct megatron_arguments {
    const char *file;
    int64_t layers, hidden, ffn, heads, groups, head_width, sequence, positions, vocabulary,
        vocabulary_multiple;
    int64_t query_rank, kv_rank, plain_width, rotary_width, value_width;
    int64_t experts, top_k, expert_ffn, shared_ffn;
    int64_t micro_batch, global_batch, tensor, pipeline, context, expert, layers_of_stage,
        virtual_stages, recomputed, processes, nodes;
    double attention_dropout, hidden_dropout, epsilon, rotary_base, rotary_share;
    const char *normalization, *position_type, *mixtures, *granularity, *method, *backend,
        *optimizer, *fp8;
    bool grouped, swiglu, squared_relu, no_bias, qkv_bias, qk_norm, untied, latent, shared_gate,
        sequence_parallel, distributed_optimizer, overlapped, bf16, fp16, gradients_in_fp32,
        gradients_in_bf16, selective, flash;
};

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
    KNOWN("nproc-per-node", IS_COUNT, processes),
    KNOWN("nnodes", IS_COUNT, nodes),
};

static const struct megatron_arguments defaults = {.vocabulary_multiple = 128,
                                                   .kv_rank = 32,
                                                   .plain_width = 128,
                                                   .rotary_width = 64,
                                                   .value_width = 128,
                                                   .top_k = 2,
                                                   .tensor = 1,
                                                   .pipeline = 1,
                                                   .context = 1,
                                                   .expert = 1,
                                                   .attention_dropout = 0.1,
                                                   .epsilon = 1e-5,
                                                   .rotary_base = 10000,
                                                   .rotary_share = 1,
                                                   .hidden_dropout = 0.1,
                                                   .normalization = "LayerNorm",
                                                   .position_type = "learned_absolute",
                                                   .backend = "auto",
                                                   .optimizer = "adam"};

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

// The same flag twice: the last counts for Megatron; unlike ones are a slip.
static enum status check_twice(const struct megatron_words *w, int i, const char *file,
                               struct error *err)
{
    const struct megatron_flag *flag = &w->flags[i];
    for (int k = 0; k < i; k++) {
        const struct megatron_flag *before = &w->flags[k];
        if (strcmp(before->name, flag->name) || !before->value_count || !flag->value_count)
            continue;
        if (strcmp(before->values[0], flag->values[0]))
            return fail(err, BAD_INPUT, "%s: --%s stands twice, with %s and with %s", file,
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

// ---- what contradicts itself

static enum status check(const struct megatron_arguments *a, struct error *err)
{
    const struct {
        bool wrong;
        const char *text;
    } checks[] = {
        {!a->layers || !a->hidden || !a->heads || !a->sequence,
         "expected --num-layers, --hidden-size, --num-attention-heads and --seq-length"},
        {!a->vocabulary, "--vocab-size does not stand there (a tokenizer tells it): say it with "
                         "--vocabulary"},
        {a->bf16 && a->fp16, "--bf16 and --fp16: expected one of them"},
        {a->swiglu && a->squared_relu, "--swiglu and --squared-relu: expected one of them"},
        {a->groups && !a->grouped, "--num-query-groups without --group-query-attention"},
        {a->latent && a->grouped, "--multi-latent-attention with --group-query-attention"},
        {!a->latent && a->query_rank, "--q-lora-rank without --multi-latent-attention"},
        {!a->experts && (a->expert > 1 || a->mixtures || a->shared_ffn),
         "flags of experts without --num-experts"},
        {a->layers_of_stage && a->virtual_stages,
         "--num-layers-per-virtual-pipeline-stage and --num-virtual-stages-per-pipeline-rank: "
         "expected one of them"},
        {(a->layers_of_stage || a->virtual_stages) && a->pipeline < 2,
         "virtual stages without a pipeline"},
        {a->gradients_in_fp32 && a->gradients_in_bf16,
         "--accumulate-allreduce-grads-in-fp32 and --grad-reduce-in-bf16: expected one of them"},
        {a->selective && a->granularity && strcmp(a->granularity, "selective"),
         "--recompute-activations with another --recompute-granularity"},
        {a->recomputed && !a->granularity,
         "--recompute-num-layers without --recompute-granularity"},
        {a->tensor > DEGREE_MAX || a->pipeline > DEGREE_MAX || a->context > DEGREE_MAX ||
             a->expert > DEGREE_MAX,
         "expected degrees of at most 1e6"},
        {!a->tensor || !a->pipeline || !a->context || !a->expert || !a->micro_batch,
         "expected degrees and --micro-batch-size of at least 1"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(checks); i++)
        if (checks[i].wrong) return fail(err, BAD_INPUT, "%s: %s", a->file, checks[i].text);
    return OK;
}

// ---- the model

// --moe-layer-freq: every n-th layer, or lists of 0 and 1 with factors, added up.
static enum status read_mixtures(const struct megatron_arguments *a, bool *mixture,
                                 struct error *err)
{
    int64_t every = 1, at = 0;
    const char *s = a->mixtures ? a->mixtures : "1";
    if (word_is_whole(s, &every) && every > 0) {
        for (int64_t i = 0; i < a->layers; i++) mixture[i] = i % every == 0;
        return OK;
    }
    while ((s = strchr(s, '['))) {
        const char *end = strchr(s, ']');
        if (!end) break;
        long times = end[1] == '*' ? strtol(end + 2, NULL, 10) : 1;
        for (long t = 0; t < times && at <= a->layers; t++)
            for (const char *c = s; c < end; c++)
                if ((*c == '0' || *c == '1') && at < a->layers) mixture[at++] = *c == '1';
                else if (*c == '0' || *c == '1') at++;
        s = end;
    }
    if (at != a->layers)
        return fail(err, BAD_INPUT,
                    "%s: --moe-layer-freq: expected %lld layers, found %lld in \"%s\"", a->file,
                    (long long)a->layers, (long long)at, a->mixtures);
    return OK;
}

static enum status set_runs(struct model *m, const struct megatron_arguments *a,
                            struct arena *arena, struct error *err)
{
    if (a->layers > LAYERS_MAX - 2)
        return fail(err, BAD_INPUT, "%s: --num-layers: expected at most %d, found %lld", a->file,
                    LAYERS_MAX - 2, (long long)a->layers);
    bool *mixture = TAKE(arena, a->layers, bool);
    if (a->experts) TRY(read_mixtures(a, mixture, err));
    m->runs = TAKE(arena, a->layers + 2, struct layer_run);
    m->runs[m->run_count++] =
        (struct layer_run){.name = "embedding", .kind = LAYER_EMBEDDING, .count = 1};
    for (int64_t i = 0, end; i < a->layers; i = end) {
        for (end = i; end < a->layers && mixture[end] == mixture[i];) end++;
        struct layer_run *r = &m->runs[m->run_count++];
        *r = (struct layer_run){.kind = mixture[i] ? LAYER_MOE : LAYER_BLOCK,
                                .count = (int)(end - i),
                                .recomputable = true};
        r->name =
            end - i == a->layers
                ? "block"
                : arena_print(arena, "%s-%d", mixture[i] ? "mixture" : "dense", m->run_count - 1);
        if (mixture[i])
            r->experts = (struct expert_shape){.experts = a->experts,
                                               .top_k = a->top_k,
                                               .ffn = a->expert_ffn,
                                               .shared_ffn = a->shared_ffn,
                                               .shared_gate = a->shared_gate,
                                               .imbalance = 1};
    }
    m->runs[m->run_count++] = (struct layer_run){.name = "head", .kind = LAYER_HEAD, .count = 1};
    m->layer_count = (int)a->layers + 2;
    return OK;
}

static enum status make_model(struct model *m, struct megatron_arguments *a, struct arena *arena,
                              struct error *err)
{
    if (a->latent && !a->qk_norm)
        fprintf(stderr, "norms of the latents are counted, which Megatron has only with "
                        "--qk-layernorm\n");
    if (!a->ffn) a->ffn = a->swiglu ? 4 * a->hidden * 2 / 3 / 64 * 64 : 4 * a->hidden;
    if (!a->expert_ffn) a->expert_ffn = a->ffn;
    if (!a->head_width && a->hidden % a->heads)
        return fail(err, BAD_INPUT,
                    "%s: --hidden-size: expected a multiple of the %lld heads, found %lld", a->file,
                    (long long)a->heads, (long long)a->hidden);
    if (!a->head_width) a->head_width = a->hidden / a->heads;
    bool learned = !strcmp(a->position_type, "learned_absolute"), bias = !a->no_bias;
    m->has_shape = true;
    m->shape = (struct shape){
        .hidden = a->hidden,
        .ffn = a->ffn,
        .heads = a->heads,
        .kv_heads = a->grouped ? (a->groups ? a->groups : 1) : a->heads,
        .head_width = a->head_width,
        .vocabulary = a->vocabulary,
        .positions = learned ? a->positions : 0,
        .vocabulary_multiple = a->vocabulary_multiple > 1 ? a->vocabulary_multiple : 0,
        .qk_norm = a->qk_norm && !a->latent ? QK_NORM_HEAD : QK_NORM_NONE,
        .gated_ffn = a->swiglu,
        .rms_norm = !strcmp(a->normalization, "RMSNorm"),
        .qkv_bias = bias || a->qkv_bias,
        .linear_bias = bias,
        .dropout = a->attention_dropout > 0 || a->hidden_dropout > 0,
        .tied_embeddings = !a->untied};
    m->shape.activation = a->swiglu ? "silu" : a->squared_relu ? "relu2" : "gelu";
    m->shape.norm_epsilon = a->epsilon;
    if (!strcmp(a->position_type, "rope"))
        m->shape.rotary_base = a->rotary_base,
        m->shape.rotary_share = a->rotary_share < 1 ? a->rotary_share : 0;
    if (a->latent) {
        m->shape.query_rank = a->query_rank, m->shape.kv_rank = a->kv_rank;
        m->shape.rotary_width = a->rotary_width, m->shape.value_width = a->value_width;
        m->shape.head_width = a->plain_width + a->rotary_width;
    }
    TRY(set_runs(m, a, arena, err));
    return model_check(m, err);
}

// ---- the job

static enum status divide(const struct megatron_arguments *a, const char *what, int64_t all,
                          int64_t by, int64_t *to, struct error *err)
{
    if (by > 0 && all % by == 0 && all >= by) {
        *to = all / by;
        return OK;
    }
    return fail(err, BAD_INPUT, "%s: %s: expected a multiple of %lld, found %lld", a->file, what,
                (long long)by, (long long)all);
}

static enum status set_recompute(struct job *j, const struct megatron_arguments *a,
                                 struct error *err)
{
    const char *mode = a->selective ? "selective" : a->granularity;
    bool block = a->method && !strcmp(a->method, "block");
    j->recompute[RECOMPUTE_NONE] = true;
    if (!mode) return OK;
    if (!strcmp(mode, "selective")) j->recompute[RECOMPUTE_SELECTIVE] = true;
    else if (!strcmp(mode, "full"))
        j->recompute[block ? RECOMPUTE_FIRST_LAYERS : RECOMPUTE_FULL] = true;
    else
        return fail(err, BAD_INPUT,
                    "%s: --recompute-granularity: expected selective or full, found \"%s\"",
                    a->file, mode);
    return OK;
}

static enum status make_job(struct job *j, const struct megatron_arguments *a, int64_t gpus,
                            struct error *err)
{
    int64_t data = 0, micro_batches = 0, virtual = a->virtual_stages ? a->virtual_stages : 1;
    if (!gpus) gpus = a->processes * (a->nodes ? a->nodes : 1);
    if (!gpus)
        return fail(err, BAD_INPUT,
                    "%s: the number of GPUs does not stand there (--nproc_per_node, --nnodes): say "
                    "it with --gpus",
                    a->file);
    TRY(divide(a, "GPUs over tensor x pipeline x context", gpus,
               a->tensor * a->pipeline * a->context, &data, err));
    if (a->layers_of_stage)
        TRY(divide(a, "--num-layers", a->layers, a->layers_of_stage * a->pipeline, &virtual, err));
    int64_t batch = a->global_batch ? a->global_batch : a->micro_batch * data;
    TRY(divide(a, "--global-batch-size", batch, a->micro_batch * data, &micro_batches, err));
    bool fused = a->flash || (strcmp(a->backend, "unfused") && strcmp(a->backend, "local"));
    bool wide = a->gradients_in_fp32 || !a->fp16;
    j->sequence = a->sequence, j->global_batch = batch;
    j->precision = a->fp8 ? FP8 : a->bf16 ? BF16 : a->fp16 ? FP16 : FP32;
    j->gradient_bytes_per_value = wide && !a->gradients_in_bf16 ? 4 : 2;
    j->adam = !strcmp(a->optimizer, "adam");
    j->budget = (struct quality_budget){-1, -1, -1, 0};
    j->memory_fraction = 0.8;
    j->layout = (struct layout){LAYOUT_PLAIN((int)a->pipeline),
                                .tensor = (int)a->tensor,
                                .context = (int)a->context,
                                .data = (int)data,
                                .micro_batch = (int)a->micro_batch,
                                .schedule = virtual > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B,
                                .sequence_parallel = a->sequence_parallel && a->tensor > 1,
                                .fused_attention = fused,
                                .gradient_sync = a->overlapped ? SYNC_OVERLAPPED : SYNC_EXPOSED,
                                .zero = a->distributed_optimizer ? 1 : 0};
    j->layout.expert = (int)a->expert, j->layout.virtual_stages = (int)virtual;
    TRY(set_recompute(j, a, err));
    return job_check(j, err);
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
         "where the model is written; - is standard output (default)"},
        {"--job", OPTION_PATH, &job_output, 0, 0, NULL, "where the job is written (default: not)"},
        {"--name", OPTION_TEXT, &name, 0, 0, NULL, "their name (default: megatron)"},
        {"--gpus", OPTION_INT, &gpus, 1, 1e9, NULL,
         "GPUs of the run (default: nproc_per_node x nnodes of the list)"},
        {"--vocabulary", OPTION_INT, &vocabulary, 1, 1 << 26, NULL,
         "tokens of the tokenizer, where --vocab-size does not stand in the list"},
    };
    struct model model = {0};
    struct job job = {0};
    struct document document = {0};
    struct megatron_words words;
    struct megatron_arguments a = defaults;
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
    TRY(check(&a, err));
    model.name = job.name = name ? name : "megatron";
    model.document.path = job.document.path = path;
    TRY(make_model(&model, &a, arena, err));
    if (job_output) TRY(make_job(&job, &a, gpus, err));
    if (job_output) TRY(job_save(&job, job_output, arena, err));
    TRY(model_save(&model, output, arena, err));
    tell_unread(&words);
    fprintf(stderr, "%s: %lld parameters\n", model.name, (long long)model_size_of(&model).all);
    return OK;
}
