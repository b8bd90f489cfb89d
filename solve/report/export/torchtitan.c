// A plan as a TOML file of torchtitan 0.2.2, or as a Python function for torchtitan 0.3
// (torchtitan_python.c): what both say, and what neither expresses.
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "solve/report/export/internal.h"
#include "data/kinds/schedules.h"

// ---- the model

// Position scaling of the flavors.
static const struct stretch {
    const char *model, *type;
    int factor, positions;
} stretches[] = {{"llama3", "llama3", 8, 8192},
                 {"deepseek_v3", "yarn", 40, 4096},
                 {"gpt_oss", "yarn", 32, 4096},
                 {NULL, NULL, 0, 0}};

// NULL: as in the flavor. Otherwise the flavor's, in words.
static const char *other_stretch(const struct torchtitan_flavor *flavor, const struct shape *m,
                                 struct arena *arena)
{
    const struct rotary_scaling *x = &m->rotary_scaling;
    const struct stretch *own = stretches;
    while (own->model && strcmp(own->model, flavor->model)) own++;
    if (!own->model) return m->rotary_factor > 0 ? "not scaled" : NULL;
    if (m->rotary_factor == own->factor && x->type && !strcmp(x->type, own->type) &&
        x->original_positions == own->positions)
        return NULL;
    return arena_print(arena, "scaled by %d, from %d positions (%s)", own->factor, own->positions,
                       own->type);
}

// Of a model that torchtitan lacks, as Python names things.
static const char *titan_own_name(const struct model *model, struct arena *arena)
{
    char *name = arena_print(arena, "%s%s",
                             model->name && isalpha((unsigned char)*model->name) ? "" : "model_",
                             model->name ? model->name : "");
    for (char *c = name; *c; c++) *c = isalnum((unsigned char)*c) ? (char)tolower(*c) : '_';
    return name;
}

static void note_model(struct export *e, const struct torchtitan_flavor *flavor, bool known,
                       bool python)
{
    const struct model *model = &e->problem->model;
    const struct shape *m = &model->shape;
    const struct layout *l = &e->plan->layout;
    struct arena *arena = e->out->arena;
    int further = model_mtp_depth(model);
    const char *stretch = flavor ? other_stretch(flavor, m, arena) : NULL;
    const struct export_note notes[] = {
        {!known && model->has_shape,
         arena_print(arena,
                     "the model: torchtitan has none like it; %s is a package of your own with a "
                     "hidden width of %" PRId64 ", feed-forward %" PRId64 ", %" PRId64
                     " heads (%" PRId64 " of keys), a vocabulary of %" PRId64,
                     titan_own_name(model, arena), m->hidden, m->ffn, m->heads, m->kv_heads,
                     m->vocabulary)},
        {m->tied_embeddings && l->pipeline > 1,
         "embedding and head that share a matrix: torchtitan's stages each have their own"},
        {!python && stretch,
         arena_print(arena, "rotary positions: the flavor's are %s", stretch ? stretch : "")},
        {!python && further,
         arena_print(arena, "%d multi-token prediction layers: torchtitan has them from 0.3 on",
                     further)},
        {python && further && (l->pipeline > 1 || l->context > 1),
         "multi-token prediction layers together with a pipeline or context ranks: torchtitan 0.3 "
         "refuses them"}};
    EXPORT_NOTES(e, notes);
}

// ---- the run

static void set_training(struct run *r)
{
    const struct job *job = &r->job;
    const struct layout *l = &job->layout;
    bool narrow = job->precision == BF16 || job->precision == FP8;
    r->local_batch = l->pipeline > 1 ? r->steps * l->micro_batch : l->micro_batch;
    r->optimizer = "AdamW", r->dtype = r->sums = "float32";
    r->precision = narrow ? "bfloat16" : "float32";
    r->compile = job->compiled || job->fused_loss;
    r->components = job->compiled && job->fused_loss ? "[\"model\", \"loss\"]"
                    : job->compiled                  ? "[\"model\"]"
                    : job->fused_loss                ? "[\"loss\"]"
                                                     : "[]";
    r->job.overlapped_tensor &= l->tensor > 1 && job->compiled;
    if (job->precision == FP8)
        r->converters = "[\"quantize.linear.float8\"]", r->filters = "[\"output\"]";
}

static const char *parts_text(const struct export *e, bool python)
{
    struct text text;
    int block = 0;
    const char *indent = python ? "        " : "";
    text_begin(&text, e->out->arena);
    text_put(&text, "[\n");
    for (int s = 0; s < e->plan->stage_count; s++) {
        const struct plan_stage *stage = &e->plan->stages[s];
        const char *before = "";
        text_put(&text, "%s    [", indent);
        for (int i = 0; i < stage->layer_count; i++) {
            char layer = export_layer(e, stage->first_layer + i);
            if (layer == 'E') text_put(&text, "%s\"tok_embeddings\"", before);
            if (layer == 't') text_put(&text, "%s\"layers.%d\"", before, block++);
            if (layer == 'L')
                text_put(&text, "%s\"norm\", \"%s\"", before, python ? "lm_head" : "output");
            if (layer != '?' && layer != 'm') before = ", ";
        }
        text_put(&text, "],\n");
    }
    text_put(&text, "%s]", indent);
    return text.text;
}

// Where torch has no class of an order, the one that places stages on ranks in the same way.
static struct torchtitan_schedule schedule_of(int kind)
{
    const struct schedule_properties *own = &schedule_kinds[kind];
    const char *placing = own->folds                 ? "ZBVZeroBubble"
                          : own->virtual_stages == 1 ? "1F1B"
                                                     : "Interleaved1F1B";
    for (const struct torchtitan_schedule *x = torchtitan_schedules; x->name; x++)
        if (x->kind == kind) return *x;
    return (struct torchtitan_schedule){placing, kind, WRITTEN_BY_TABLE};
}

static bool titan_by_table(const struct plan *plan)
{
    const struct layout *l = &plan->layout;
    return l->pipeline > 1 && schedule_of(l->schedule).use == WRITTEN_BY_TABLE;
}

static void set_parallelism(struct run *r, const struct export *e)
{
    const struct layout *l = &r->job.layout;
    bool shards = l->zero > 0;
    r->shards = shards ? layout_data_shard(l) : 1, r->replicas = l->data / r->shards;
    r->reshard = l->zero == 3 ? "always" : "never";
    if (l->expert > 1 && r->toml) r->expert_tensor = layout_expert_tensor(l);
    bool ring = l->context > 1 && r->job.context_kind == CONTEXT_RING;
    if (l->context > 1) r->rotate = ring ? "alltoall" : "allgather";
    if (l->pipeline == 1) r->micro_batch = 0;
    if (l->pipeline == 1) return;
    r->schedule = schedule_of(l->schedule).name;
    if (titan_by_table(e->plan)) r->csv = "schedule.csv";
    r->stages = parts_text(e, r->python);
}

// ---- notes

static void note_states(struct export *e)
{
    const struct job *job = &e->problem->job;
    const struct layout *l = &e->plan->layout;
    bool whole = l->zero == 0, others = l->tensor > 1 || l->pipeline > 1,
         several = l->data * l->context > 1;
    const struct export_note notes[] = {
        {whole && l->data > 1 && (others || l->context > 1),
         "whole states on every replica together with other parallelism: torchtitan refuses it "
         "(\"DDP has not supported > 1D parallelism\")"},
        {whole && l->context > 1,
         "states that are whole on each context rank: torchtitan shards them there"},
        {l->zero == 1 && several, "ZeRO 1: torchtitan shards gradients too, as ZeRO 2 does"},
        {l->gradient_sync == SYNC_EXPOSED && several,
         "gradient sync after the backward pass: torchtitan's overlaps with it"},
        {job->precision == FP16, "fp16: torchtitan trains in bfloat16 or float32; float32 is set"},
        {job->gradient_bytes_per_value == 2,
         "gradients of 2 bytes: mixed_precision_reduce is float32 alone"},
        {!job->adam, "an optimizer without state: torchtitan has Adam and AdamW"},
        {l->offload_optimizer, "optimizer state in host memory: training.enable_cpu_offload also "
                               "moves weights and gradients, and is not set"}};
    EXPORT_NOTES(e, notes);
}

static void note_parallelism(struct export *e, bool python)
{
    const struct job *job = &e->problem->job;
    const struct layout *l = &e->plan->layout;
    struct arena *arena = e->out->arena;
    bool unfused = framework_unfused_gpu(e->framework, job->precision, &e->problem->model,
                                         &e->problem->cluster, &e->problem->costs)
                       .gpu;
    const struct export_note notes[] = {
        {!python && l->tensor > 1 && !l->sequence_parallel,
         "tensor parallelism without sequence parallelism: torchtitan's always has both"},
        {python && l->expert > 1 && layout_expert_tensor(l) > 1,
         "experts of which each tensor rank has a part: torchtitan's are whole"},
        {l->expert > 1 && l->expert % l->context,
         arena_print(arena,
                     "experts over %d ranks: torchtitan requires a multiple of the context degree",
                     l->expert)},
        {python && model_mtp_depth(&e->problem->model) && (l->pipeline > 1 || l->context > 1),
         "multi-token prediction in a pipeline or over context ranks: torchtitan refuses it"},
        {!l->fused_attention && !unfused, "attention that keeps its scores: torchtitan's is fused"},
        {l->context > 1 && python && job->context_kind != CONTEXT_ALL_GATHER,
         "keys and values that come to context ranks one after another: torchtitan gathers them"},
        {l->context > 1 && !python && job->context_kind == CONTEXT_ALL_TO_ALL,
         "heads that context ranks exchange: torchtitan gathers keys and values"},
        {l->fused_attention && job->attention_kernel != ATTENTION_MAKER &&
             job->attention_kernel != ATTENTION_MAKER_2024,
         arena_print(arena, "the kernel of attention, %s: PyTorch chooses among its own",
                     attention_kernel_names[job->attention_kernel])}};
    EXPORT_NOTES(e, notes);
    export_unfused_notes(e);
}

enum status titan_begin(struct export *e, struct text *out, struct run *r, bool python,
                        const struct plan *plan, const struct problem *problem, struct error *err)
{
    *e = (struct export){.name = "torchtitan",
                         .framework = python ? FRAMEWORK_TORCHTITAN : FRAMEWORK_TORCHTITAN_0_2,
                         .trainer = TRAINER_TORCHTITAN,
                         .logits = python ? "torchtitan keeps its parts" : NULL,
                         .scattered = "torchtitan's are whole"};
    TRY(export_begin(e, out, plan, problem, err));
    TRY(export_need_problem(e, err));
    TRY(export_need_precision(e, FP8, err));
    const struct torchtitan_flavor *flavor = titan_flavor(&problem->model, !python, out->arena),
                                   *base = flavor || !python ? flavor
                                                             : titan_base(problem, out->arena);
    if (plan->layout.slice_count > 1) e->runs = "GPipe";
    *r = export_run(e);
    r->python = python, r->toml = !python;
    r->mode = (int)export_recompute(e).mode;
    r->flavor = flavor ? flavor->name : titan_own_name(&problem->model, out->arena);
    r->model = base ? base->model : r->flavor;
    set_training(r);
    set_parallelism(r, e);
    note_model(e, flavor, base != NULL, python);
    note_states(e);
    note_parallelism(e, python);
    export_common_notes(e);
    return OK;
}

// 0.2.2 computes in 16 bits where FSDP shards the weights (over replicas or context ranks), or on
// single ranks (autocast); 0.3 applies FSDP's mixed precision to a single shard, too.
static enum status refuse_wide(const struct plan *plan, const struct problem *problem,
                               struct error *err)
{
    const struct layout *l = &plan->layout;
    if (!problem || problem->job.precision == FP32 || l->data > 1 || l->context > 1 ||
        (l->tensor == 1 && l->pipeline == 1))
        return OK;
    return refuse(err,
                  "%s: torchtitan 0.2.2, which reads TOML, trains in fp32 without replicas or "
                  "context ranks, and the plan is in %s: expected --format torchtitan-python (0.3 "
                  "on), or a plan for torchtitan-0.2",
                  document_name(&plan->document, "the plan"),
                  precision_names[problem->job.precision]);
}

enum status report_torchtitan(struct text *out, const struct plan *plan,
                              const struct problem *problem, struct error *err)
{
    static const struct export_form form = {.values = {.yes = "true", .no = "false", .quote = "\""},
                                            .open = "[",
                                            .close = "]",
                                            .before = "",
                                            .between = " = ",
                                            .behind = "\n"};
    static const char *const modes[] = {
        [RECOMPUTE_NONE] = "none", [RECOMPUTE_SELECTIVE] = "selective", [RECOMPUTE_FULL] = "full"};
    struct export e;
    struct run run;
    TRY(refuse_wide(plan, problem, err));
    TRY(titan_begin(&e, out, &run, false, plan, problem, err));
    run.granularity = modes[run.mode];
    if (run.mode == RECOMPUTE_SELECTIVE) run.method = "op";
    text_put(out,
             "# %s\n# Of torchtitan 0.2.2, the last release that reads TOML (0.3: --format "
             "torchtitan-python); with data, tokenizer and learning rate:\n"
             "#   torchrun ... -m torchtitan.train --job.config_file torchtitan.toml\n",
             export_headline(&e));
    titan_print_table(&e);
    export_rows(&e, &torchtitan_rows, &run, &form, NULL);
    export_print_notes(&e);
    return OK;
}

void titan_print_table(const struct export *e)
{
    if (titan_by_table(e->plan))
        text_put(e->out,
                 "# The order of %s: plumbline report --format pytorch-schedule -o schedule.csv "
                 "PLAN, next to this file; run in its folder.\n",
                 schedule_names[e->plan->layout.schedule]);
}
