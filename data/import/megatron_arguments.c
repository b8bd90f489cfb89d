// See megatron_arguments.h.
#include "data/import/megatron_arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/import/text.h"
#include "data/kinds/schedules.h"

enum { DEGREE_MAX = 1000000 };

const struct megatron_arguments megatron_defaults = {.vocabulary_multiple = 128,
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
                                                     .mtp_loss_scale = 0.1,
                                                     .stretch = 8,
                                                     .yarn = 1,
                                                     .mscale = 1,
                                                     .hidden_dropout = 0.1,
                                                     .normalization = "LayerNorm",
                                                     .position_type = "learned_absolute",
                                                     .backend = "auto",
                                                     .optimizer = "adam"};

// ---- contradictions

enum status megatron_check(const struct megatron_arguments *a, struct error *err)
{
    const struct {
        bool wrong;
        const char *text;
    } checks[] = {
        {!a->layers || !a->hidden || !a->heads || !a->sequence,
         "expected --num-layers, --hidden-size, --num-attention-heads and --seq-length"},
        {!a->vocabulary,
         "--vocab-size is missing (the tokenizer sets it): give it with --vocabulary"},
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
        {a->layout && (a->layers_of_stage || a->virtual_stages),
         "--pipeline-model-parallel-layout together with virtual stages: expected one of them"},
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

// --moe-layer-freq: every n-th layer, or lists of 0s and 1s with factors, added up.
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
    if (a->layers + a->mtp > LAYERS_MAX - 2)
        return fail(err, BAD_INPUT, "%s: --num-layers: expected at most %d, found %lld", a->file,
                    LAYERS_MAX - 2, (long long)(a->layers + a->mtp));
    bool *mixture = TAKE(arena, a->layers, bool);
    if (a->experts) TRY(read_mixtures(a, mixture, err));
    m->runs = TAKE(arena, a->layers + 3, struct layer_run);
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
    if (a->mtp) { // each like the last layer
        struct layer_run *r = &m->runs[m->run_count++];
        *r = m->runs[m->run_count - 2];
        r->name = "mtp", r->mtp = true, r->count = (int)a->mtp;
    }
    m->runs[m->run_count++] = (struct layer_run){.name = "head", .kind = LAYER_HEAD, .count = 1};
    m->layer_count = (int)(a->layers + a->mtp) + 2;
    return OK;
}

// What flags leave open has Megatron's own values: those of Llama 3's method, and of latent
// attention's, which are fixed there.
static void set_rotary(struct shape *s, const struct megatron_arguments *a)
{
    bool plain = a->rope_type && !strcmp(a->rope_type, "rope"),
         yarn = a->yarn > 1 && !plain && (a->latent || !strcmp(a->position_type, "yarn"));
    s->rotary_base = a->rotary_base;
    s->rotary_share = a->rotary_share < 1 ? a->rotary_share : 0;
    if (a->stretched) {
        s->rotary_factor = a->stretch;
        s->rotary_scaling = (struct rotary_scaling){.type = "llama3",
                                                    .low_freq_factor = 1,
                                                    .high_freq_factor = 4,
                                                    .original_positions = 8192};
    } else if (a->interpolation > 1) {
        s->rotary_factor = a->interpolation, s->rotary_scaling.type = "linear";
    } else if (yarn) {
        s->rotary_factor = a->yarn;
        s->rotary_scaling = (struct rotary_scaling){
            .type = "yarn",
            .beta_fast = a->beta_fast > 0 ? a->beta_fast : 32,
            .beta_slow = a->beta_slow > 0 ? a->beta_slow : 1,
            .mscale = a->mscale,
            .mscale_all_dim = a->mscale_all_dim,
            .original_positions = a->yarn_positions ? a->yarn_positions : 4096};
    }
}

enum status megatron_model(struct model *m, struct megatron_arguments *a, struct arena *arena,
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
    // A multiple that covers the whole vocabulary is how a launch states that nothing is padded.
    bool pads = a->vocabulary_multiple > 1 && a->vocabulary_multiple * a->tensor != a->vocabulary;
    m->has_shape = true;
    m->shape = (struct shape){.hidden = a->hidden,
                              .ffn = a->ffn,
                              .heads = a->heads,
                              .kv_heads = a->grouped ? (a->groups ? a->groups : 1) : a->heads,
                              .head_width = a->head_width,
                              .vocabulary = a->vocabulary,
                              .positions = learned ? a->positions : 0,
                              .vocabulary_multiple = pads ? a->vocabulary_multiple : 0,
                              .qk_norm = a->qk_norm && !a->latent ? QK_NORM_HEAD : QK_NORM_NONE,
                              .gated_ffn = a->swiglu || a->gated,
                              .rms_norm = !strcmp(a->normalization, "RMSNorm"),
                              .qkv_bias = bias || a->qkv_bias,
                              .linear_bias = bias,
                              .dropout = a->attention_dropout > 0 || a->hidden_dropout > 0,
                              .tied_embeddings = !a->untied};
    m->shape.activation = a->activation     ? a->activation
                          : a->swiglu       ? "silu"
                          : a->squared_relu ? "relu2"
                                            : "gelu";
    m->shape.norm_epsilon = a->epsilon;
    if (!strcmp(a->position_type, "rope") || !strcmp(a->position_type, "yarn"))
        set_rotary(&m->shape, a);
    if (a->mtp) m->shape.mtp_loss_scale = a->mtp_loss_scale;
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

// Counts the "|" of "Et*3|(tt|)*29|L", each of which ends a stage, up to the closing bracket or the
// end.
static int64_t count_strokes(const char **at)
{
    int64_t strokes = 0;
    for (; **at && **at != ')'; ++*at) {
        if (**at == '|') strokes++;
        if (**at != '(') continue;
        ++*at;
        int64_t inside = count_strokes(at), times = 1;
        if (!**at) return strokes + inside;
        if ((*at)[1] == '*') times = strtol(*at + 2, NULL, 10);
        strokes += times > 0 && times < LAYERS_MAX && inside < LAYERS_MAX ? times * inside : inside;
    }
    return strokes;
}

// Several stages per rank: Megatron-LM wants a last group that is full or has a micro-batch for
// every rank (core/pipeline_parallel/schedules.py); a job has equal groups of one size.
static enum status check_group(const struct megatron_arguments *a, int64_t micro_batches,
                               struct error *err)
{
    int64_t group = a->group ? a->group : a->pipeline, last = micro_batches % group;
    if (micro_batches < a->pipeline || micro_batches > MICRO_BATCHES_MAX) return OK; // job_check
    int own = schedule_group((int)micro_batches, (int)a->pipeline);
    const char *who = group < a->pipeline || group > micro_batches || (last && last < a->pipeline)
                          ? "Megatron-LM does not run them"
                          : "a job has the smallest equal groups";
    if (group == own) return OK;
    return fail(err, BAD_INPUT,
                "%s: %lld micro-batches of a replica in groups of %lld on %lld pipeline ranks: %s; "
                "expected --microbatch-group-size-per-virtual-pipeline-stage %d",
                a->file, (long long)micro_batches, (long long)group, (long long)a->pipeline, who,
                own);
}

enum status megatron_job(struct job *j, const struct megatron_arguments *a, int64_t gpus,
                         struct error *err)
{
    int64_t data = 0, micro_batches = 0, virtual = a->virtual_stages ? a->virtual_stages : 1;
    if (!gpus) gpus = a->processes * (a->nodes ? a->nodes : 1);
    if (!gpus)
        return fail(
            err, BAD_INPUT,
            "%s: the number of GPUs is missing (--nproc_per_node, --nnodes): give it with --gpus",
            a->file);
    TRY(divide(a, "GPUs over tensor x pipeline x context", gpus,
               a->tensor * a->pipeline * a->context, &data, err));
    const char *layout = a->layout ? a->layout : "";
    if (*layout)
        TRY(divide(a, "stages of --pipeline-model-parallel-layout", count_strokes(&layout) + 1,
                   a->pipeline, &virtual, err));
    if (a->stages_beside_layout && a->stages_beside_layout != virtual)
        return fail(err, BAD_INPUT,
                    "%s: pipeline_model_parallel_layout: expected %lld stages on each rank, as "
                    "virtual_pipeline_model_parallel_size says, found %lld",
                    a->file, (long long)a->stages_beside_layout, (long long)virtual);
    if (a->layers_of_stage)
        TRY(divide(a, "--num-layers", a->layers, a->layers_of_stage * a->pipeline, &virtual, err));
    int64_t batch = a->global_batch ? a->global_batch : a->micro_batch * data;
    TRY(divide(a, "--global-batch-size", batch, a->micro_batch * data, &micro_batches, err));
    if (virtual > 1) TRY(check_group(a, micro_batches, err));
    bool fused = a->flash || (strcmp(a->backend, "unfused") && strcmp(a->backend, "local"));
    bool wide = a->gradients_in_fp32 || !a->fp16;
    j->sequence = a->sequence, j->global_batch = batch;
    j->precision = a->fp8 ? FP8 : a->bf16 ? BF16 : a->fp16 ? FP16 : FP32;
    j->gradient_bytes_per_value = wide && !a->gradients_in_bf16 ? 4 : 2;
    j->adam = !strcmp(a->optimizer, "adam"), j->fused_loss = a->fused_loss;
    j->budget = (struct quality_budget){-1, -1, -1, 0};
    j->memory_fraction = MEMORY_FRACTION_DEFAULT;
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
