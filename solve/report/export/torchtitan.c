// A plan as a TOML file of torchtitan 0.2.2. Its own names of sections, keys and modules
// (torchtitan/config/job_config.py, distributed/pipeline_parallel.py of that release).
#include <inttypes.h>

#include "solve/report/export/internal.h"

// The class of torch.distributed.pipelining, by kind. Where it has none for the order, stages are
// laid out by this one (in a loop, or in a V) and the order comes from a table. LoopedBFS takes
// micro-batches back last first; ours come back first first.
static const struct {
    const char *name;
    bool from_table;
} schedules[SCHEDULE_KIND_COUNT] = {[SCHEDULE_GPIPE] = {"GPipe", false},
                                    [SCHEDULE_1F1B] = {"1F1B", false},
                                    [SCHEDULE_INTERLEAVED] = {"Interleaved1F1B", false},
                                    [SCHEDULE_LOOPED_BFS] = {"LoopedBFS", true},
                                    [SCHEDULE_ZB_V] = {"ZBVZeroBubble", false},
                                    [SCHEDULE_ZB_H1] = {"1F1B", true},
                                    [SCHEDULE_ZB_H2] = {"1F1B", true},
                                    [SCHEDULE_V_HALF] = {"ZBVZeroBubble", true},
                                    [SCHEDULE_V_MIN] = {"ZBVZeroBubble", true},
                                    [SCHEDULE_TOKEN_SLICED] = {"GPipe", false}};

static const char *truth(bool value) { return value ? "true" : "false"; }

static void put_count(const struct export *e, const char *key, int64_t value)
{
    report_print(e->out, "%s = %" PRId64 "\n", key, value);
}

// ---- the model

// Models that torchtitan names; anything else has to be named by hand.
static const struct flavor {
    const char *model, *name;
    int64_t hidden, ffn, heads, vocabulary, latent, experts;
    int blocks;
} flavors[] = {{"llama3", "8B", 4096, 14336, 32, 128256, 0, 0, 32},
               {"llama3", "70B", 8192, 28672, 64, 128256, 0, 0, 80},
               {"llama3", "405B", 16384, 53248, 128, 128256, 0, 0, 126},
               {"deepseek_v3", "671B", 7168, 18432, 128, 129280, 512, 256, 61}};

static const struct flavor *flavor_of(const struct model *model)
{
    const struct shape *m = &model->shape;
    int64_t experts = 0;
    for (int i = 0; i < model->run_count; i++)
        if (model->runs[i].kind == LAYER_MOE) experts = model->runs[i].experts.experts;
    bool like = model->has_shape && !m->tied_embeddings && m->gated_ffn && m->rms_norm &&
                !m->qkv_bias && !m->linear_bias && !m->qk_norm && !m->positions;
    for (size_t i = 0; like && i < ARRAY_LENGTH(flavors); i++) {
        const struct flavor *f = &flavors[i];
        if (m->hidden == f->hidden && m->ffn == f->ffn && m->heads == f->heads &&
            m->vocabulary == f->vocabulary && m->kv_rank == f->latent && experts == f->experts &&
            (f->latent || m->kv_heads == 8) && model->layer_count == f->blocks + 2)
            return f;
    }
    return NULL;
}

static void put_model(struct export *e)
{
    const struct flavor *flavor = flavor_of(&e->problem->model);
    const struct shape *m = &e->problem->model.shape;
    report_print(e->out, "\n[model]\nname = \"%s\"\nflavor = \"%s\"\n",
                 flavor ? flavor->model : "NAME-THE-MODEL",
                 flavor ? flavor->name : "NAME-THE-FLAVOR");
    if (!flavor && e->problem->model.has_shape)
        export_note(e,
                    "the model: torchtitan's are classes and flavors of its own; name and flavor "
                    "must be those of a hidden width of %" PRId64 ", feed-forward %" PRId64
                    ", %" PRId64 " heads (%" PRId64 " of keys), a vocabulary of %" PRId64,
                    m->hidden, m->ffn, m->heads, m->kv_heads, m->vocabulary);
    if (!e->problem->model.has_shape)
        export_note(e, "the model: its layers were measured, not described");
    if (m->tied_embeddings && e->plan->layout.pipeline > 1)
        export_note(e, "embedding and head that share a matrix: torchtitan's stages each have "
                       "their own");
    if (e->problem->job.precision == FP8)
        report_print(e->out, "converters = [\"quantize.linear.float8\"]\n\n"
                             "[quantize.linear.float8]\nfilter_fqns = [\"output\"]\n");
}

// ---- training

static void note_precision(struct export *e, bool sharded)
{
    const struct job *job = &e->problem->job;
    const struct layout *l = &e->plan->layout;
    if (job->precision == FP16)
        export_note(e, "fp16: torchtitan trains in bfloat16 or float32; float32 is set");
    if (job->precision != FP32 && job->precision != FP16 && !sharded &&
        (l->tensor > 1 || l->pipeline > 1))
        export_note(e, "mixed precision: without sharded data or context parallelism torchtitan "
                       "disables it beside tensor or pipeline parallelism and trains in float32");
    if (job->gradient_bytes_per_value == 2)
        export_note(e, "gradients of 2 bytes: mixed_precision_reduce is float32 alone");
    if (!job->adam) export_note(e, "an optimizer without state: torchtitan has Adam and AdamW");
    if (l->offload_optimizer)
        export_note(e, "optimizer state in host memory: training.enable_cpu_offload moves weights "
                       "and gradients too, and is not set");
}

static void put_training(struct export *e, bool sharded)
{
    const struct job *job = &e->problem->job;
    const struct layout *l = &e->plan->layout;
    int64_t local = l->pipeline > 1 ? (int64_t)e->plan->micro_batches * l->micro_batch
                                    : l->micro_batch;
    bool narrow = job->precision == BF16 || job->precision == FP8;
    report_print(e->out, "\n[optimizer]\nname = \"AdamW\"\n\n[training]\n");
    put_count(e, "seq_len", job->sequence);
    put_count(e, "local_batch_size", local);
    put_count(e, "global_batch_size", plan_micro_batches_together(e->plan) * l->micro_batch);
    report_print(e->out,
                 "dtype = \"float32\"\nmixed_precision_param = \"%s\"\n"
                 "mixed_precision_reduce = \"float32\"\n",
                 narrow ? "bfloat16" : "float32");
    note_precision(e, sharded);
    report_print(e->out, "\n[compile]\nenable = %s\ncomponents = [%s%s%s]\n",
                 truth(job->compiled || job->fused_loss), job->compiled ? "\"model\"" : "",
                 job->compiled && job->fused_loss ? ", " : "", job->fused_loss ? "\"loss\"" : "");
}

static void put_recompute(struct export *e)
{
    static const char *const modes[] = {
        [RECOMPUTE_NONE] = "none", [RECOMPUTE_SELECTIVE] = "selective", [RECOMPUTE_FULL] = "full"};
    enum recompute mode;
    export_recompute(e, &mode);
    report_print(e->out, "\n[activation_checkpoint]\nmode = \"%s\"\n", modes[mode]);
    if (mode == RECOMPUTE_SELECTIVE) report_print(e->out, "selective_ac_option = \"op\"\n");
}

// ---- parallelism

// Returns whether states are sharded (FSDP2).
static bool put_replicas(struct export *e)
{
    const struct layout *l = &e->plan->layout;
    bool shards = l->zero > 0, others = l->tensor > 1 || l->pipeline > 1 || l->context > 1;
    put_count(e, "data_parallel_replicate_degree", shards ? 1 : l->data);
    put_count(e, "data_parallel_shard_degree", shards ? l->data : 1);
    report_print(e->out, "fsdp_reshard_after_forward = \"%s\"\n",
                 l->zero == 3 ? "always" : "never");
    if (!shards && l->data > 1 && others)
        export_note(e, "whole states on every replica beside other parallelism: torchtitan "
                       "refuses it (\"DDP has not supported > 1D parallelism\")");
    if (!shards && l->context > 1)
        export_note(e, "states that are whole on each context rank: torchtitan shards them there");
    if (l->zero == 1 && l->data * l->context > 1)
        export_note(e, "ZeRO 1: torchtitan shards gradients too, as ZeRO 2 does");
    if (l->gradient_sync == SYNC_EXPOSED && l->data * l->context > 1)
        export_note(e, "gradient sync behind the backward pass: torchtitan's runs beside it");
    return (shards && l->data > 1) || l->context > 1;
}

static void put_modules(const struct export *e, const struct plan_stage *stage, int *block)
{
    const char *before = "";
    report_print(e->out, "    [");
    for (int i = 0; i < stage->layer_count; i++) {
        char layer = export_layer(e, stage->first_layer + i);
        if (layer == 'E') report_print(e->out, "%s\"tok_embeddings\"", before);
        if (layer == 't') report_print(e->out, "%s\"layers.%d\"", before, (*block)++);
        if (layer == 'L') report_print(e->out, "%s\"norm\", \"output\"", before);
        if (layer != '?' && layer != 'm') before = ", ";
    }
    report_print(e->out, "],\n");
}

static void put_pipeline(struct export *e)
{
    const struct plan *plan = e->plan;
    const struct layout *l = &plan->layout;
    int block = 0;
    put_count(e, "pipeline_parallel_degree", l->pipeline);
    if (l->pipeline == 1 && l->virtual_stages > 1)
        export_note(e, "several stages of the only rank: torchtitan has them with two and more");
    if (l->pipeline == 1) return;
    report_print(e->out, "pipeline_parallel_schedule = \"%s\"\n", schedules[l->schedule].name);
    if (schedules[l->schedule].from_table)
        report_print(e->out,
                     "# The order of %s: plumbline report --format pytorch-schedule -o "
                     "schedule.csv PLAN, beside this file; run in its folder.\n"
                     "pipeline_parallel_schedule_csv = \"schedule.csv\"\n",
                     schedule_names[l->schedule]);
    put_count(e, "pipeline_parallel_microbatch_size", l->micro_batch);
    report_print(e->out, "module_fqns_per_model_part = [\n");
    for (int s = 0; s < plan->stage_count; s++) put_modules(e, &plan->stages[s], &block);
    report_print(e->out, "]\n");
    if (l->slice_count > 1)
        export_note(e, "the %s schedule: %s is set", schedule_names[l->schedule],
                    schedules[l->schedule].name);
}

static void put_parallelism(struct export *e)
{
    const struct layout *l = &e->plan->layout;
    put_count(e, "tensor_parallel_degree", l->tensor);
    put_count(e, "context_parallel_degree", l->context);
    report_print(e->out, "disable_loss_parallel = %s\n", truth(e->problem->job.gathered_logits));
    put_pipeline(e);
    if (l->tensor > 1 && !l->sequence_parallel)
        export_note(e, "tensor parallelism without sequence parallelism: torchtitan's always has "
                       "both");
    if (l->expert == 1) return;
    put_count(e, "expert_parallel_degree", l->expert);
    put_count(e, "expert_tensor_parallel_degree", l->tensor);
    if (l->expert % l->context)
        export_note(e, "experts over %d ranks: torchtitan wants a multiple of the context degree",
                    l->expert);
}

static void note_kernels(struct export *e)
{
    const struct job *job = &e->problem->job;
    const struct layout *l = &e->plan->layout;
    if (!l->fused_attention)
        export_note(e, "attention that keeps its scores: torchtitan's is fused");
    if (l->fused_attention && job->attention_kernel != ATTENTION_MAKER)
        export_note(e, "the kernel of attention, %s: PyTorch chooses among its own",
                    attention_kernel_names[job->attention_kernel]);
    if (job->scattered_messages && l->tensor > 1 && l->pipeline > 1)
        export_note(e, "messages between stages of which each tensor rank sends its part");
}

enum status report_torchtitan(const struct plan *plan, const struct plan *told,
                              const struct problem *problem, const char **text, size_t *length,
                              struct arena *arena, struct error *err)
{
    struct report_out out;
    struct export e = {.framework = "torchtitan", .trainer = TRAINER_TORCHTITAN, .told = told};
    TRY(export_begin(&e, &out, plan, problem, arena, err));
    report_print(&out,
                 "# %s\n# Of torchtitan 0.2.2, the last release that reads TOML; with data, "
                 "tokenizer and learning rate:\n"
                 "#   torchrun ... -m torchtitan.train --job.config_file torchtitan.toml\n\n"
                 "[parallelism]\n",
                 export_headline(&e));
    bool sharded = put_replicas(&e);
    put_parallelism(&e);
    put_model(&e);
    put_training(&e, sharded);
    put_recompute(&e);
    note_kernels(&e);
    export_common_notes(&e);
    export_print_notes(&e);
    *text = out.text;
    *length = out.length;
    return OK;
}
