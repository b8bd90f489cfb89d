// The beginning of every export, and what no framework's configuration expresses of a plan.
#include <inttypes.h>

#include "solve/report/export/internal.h"
#include "data/kinds/schedules.h"

// ---- layers

char export_layer(const struct export *e, int layer)
{
    char by_place = layer == 0 ? 'E' : layer == e->layer_count - 1 ? 'L' : 't';
    if (!e->problem) return by_place;
    const struct model *model = &e->problem->model;
    const struct layer_run *run = &model->runs[model_run_of(model, layer)];
    if (run->shape || run->tokens) return '?';
    if (run->mtp) return 'm';
    switch (run->kind) {
    case LAYER_EMBEDDING: return 'E';
    case LAYER_BLOCK:
    case LAYER_MOE: return 't';
    case LAYER_MEMORY:
    case LAYER_PROJECTOR: return '?';
    case LAYER_HEAD: return 'L';
    case LAYER_MEASURED: return run->recomputable ? 't' : by_place == 't' ? '?' : by_place;
    }
    return '?';
}

static void count_layers(struct export *e, struct arena *arena)
{
    const struct plan *plan = e->plan;
    e->blocks = TAKE(arena, plan->stage_count, int);
    e->further = TAKE(arena, plan->stage_count, int);
    e->holds_embedding = TAKE(arena, plan->stage_count, bool);
    e->holds_head = TAKE(arena, plan->stage_count, bool);
    for (int s = 0; s < plan->stage_count; s++)
        for (int i = 0; i < plan->stages[s].layer_count; i++) {
            char letter = export_layer(e, plan->stages[s].first_layer + i);
            e->blocks[s] += letter == 't';
            e->further[s] += letter == 'm';
            e->holds_embedding[s] |= letter == 'E';
            e->holds_head[s] |= letter == 'L';
            e->unknown_layers += letter == '?';
        }
}

static void begin(struct export *e, const struct plan *plan, const struct problem *problem,
                  struct arena *arena)
{
    const struct plan_stage *last = &plan->stages[plan->stage_count - 1];
    e->plan = plan;
    e->layer_count = last->first_layer + last->layer_count;
    e->problem = NULL;
    if (problem && e->layer_count <= problem->model.layer_count) {
        struct problem *one = TAKE(arena, 1, struct problem);
        *one = problem_with_layout(problem, &plan->layout);
        e->problem = one;
    }
    count_layers(e, arena);
}

enum status export_need_problem(const struct export *e, struct error *err)
{
    if (e->problem) return OK;
    return refuse(err,
                  "%s: its problem is missing or has changed since: it gives model, precision and "
                  "sequence",
                  e->plan->document.path);
}

enum status export_need_precision(const struct export *e, enum precision narrowest,
                                  struct error *err)
{
    enum precision own = e->problem->job.precision;
    if (own <= narrowest) return OK;
    return refuse(err, "%s: its job's precision is %s: for %s expected %s or a wider one",
                  e->plan->document.path, precision_names[own], e->name,
                  precision_names[narrowest]);
}

const char *export_headline(const struct export *e)
{
    return arena_print(e->out->arena,
                       "%s configuration of the plan %s: %s per iteration on %" PRId64
                       " GPUs. By plumbline %s.",
                       e->name, e->plan->name ? e->plan->name : "",
                       report_time(e->plan->iteration_ns, e->out->arena),
                       e->plan->layout.pipeline * e->plan->devices_per_stage, PLUMBLINE_VERSION);
}

struct run export_run(const struct export *e)
{
    struct run r = {.shaped = false};
    if (e->problem) r.job = e->problem->job;
    r.job.layout = e->plan->layout;
    r.steps = e->plan->micro_batches;
    r.micro_batch = r.job.layout.micro_batch;
    r.global_batch = r.job.global_batch = plan_micro_batches_together(e->plan) * r.micro_batch;
    return r;
}

// ---- recomputation

// Layers of a stage that may be recomputed.
static int all_layers_of(const struct export *e, int s) { return e->blocks[s] + e->further[s]; }

// The number that are recomputed in full; -1 where layers keep a part.
static int full_layers(const struct export *e, int s)
{
    const struct plan_stage *stage = &e->plan->stages[s];
    if (recompute_in_part(stage->recompute)) return -1;
    if (stage->recompute == RECOMPUTE_FULL) return all_layers_of(e, s);
    return stage->recompute == RECOMPUTE_FIRST_LAYERS ? stage->recomputed_layers : 0;
}

// Recomputation of first layers includes no layer that predicts a further token.
bool export_setting(const struct export *e, int first, int step, struct recompute_setting *to)
{
    int most = 0, parts = 0, count = 0;
    bool all_layers = true, uniform = true, alike = true;
    enum recompute mode = e->plan->stages[first].recompute;
    *to = (struct recompute_setting){RECOMPUTE_NONE, 0};
    for (int s = first; s < e->plan->stage_count; s += step, count++) {
        if (e->plan->stages[s].recompute == RECOMPUTE_SWAP) return false;
        int full = full_layers(e, s);
        parts += full < 0;
        alike &= e->plan->stages[s].recompute == mode;
        if (full > most) most = full;
        all_layers &= full == all_layers_of(e, s);
    }
    for (int s = first; s < e->plan->stage_count && !all_layers; s += step)
        uniform &= full_layers(e, s) == (most < e->blocks[s] ? most : e->blocks[s]);
    if (parts == count && alike) return to->mode = mode, true;
    if (!most && !parts) return true;
    if (parts || !uniform) return false;
    if (all_layers) to->mode = RECOMPUTE_FULL;
    else *to = (struct recompute_setting){RECOMPUTE_FIRST_LAYERS, most};
    return true;
}

static bool has_setting(const struct export *e, int first, int step)
{
    struct recompute_setting r;
    return export_setting(e, first, step, &r) && framework_recomputes(e->framework, r.mode);
}

// Stage k is a chunk of rank k mod p, so each rank has one setting.
static bool ranks_have_settings(const struct export *e)
{
    int ranks = e->plan->layout.pipeline;
    for (int rank = 0; rank < ranks; rank++)
        if (!has_setting(e, rank, ranks)) return false;
    return true;
}

bool export_recomputes(const struct plan *plan, const struct problem *problem,
                       enum framework framework, struct arena *arena)
{
    struct export e = {.framework = framework};
    begin(&e, plan, problem, arena);
    return has_setting(&e, 0, 1) || (framework == FRAMEWORK_MEGATRON && ranks_have_settings(&e));
}

enum status export_begin(struct export *e, struct text *out, const struct plan *plan,
                         const struct problem *problem, struct error *err)
{
    TRY(report_expect_stages(plan, err));
    text_begin(&e->notes, out->arena);
    e->out = out;
    begin(e, plan, problem, out->arena);
    if (has_setting(e, 0, 1) || (e->by_rank && ranks_have_settings(e))) return OK;
    return refuse(err,
                  "%s: stages: recomputation differs between them, and %s has one setting%s; "
                  "--nearest FOLDER solves for a plan that it runs",
                  document_name(&plan->document, "the plan"), e->name,
                  e->by_rank ? " for each rank" : " for all");
}

struct recompute_setting export_recompute(struct export *e)
{
    const struct layout *l = &e->plan->layout;
    struct recompute_setting r = {layout_recompute(l), l->recomputed_layers};
    if (layout_recomputes_alike(l) && framework_recomputes(e->framework, r.mode))
        return e->by_rank = false, r;
    bool one = export_setting(e, 0, 1, &r) && framework_recomputes(e->framework, r.mode);
    e->by_rank &= !one;
    return r;
}

// ---- notes

void export_note(struct export *e, const char *format, ...)
{
    va_list arguments;
    text_put(&e->notes, NOTE_MARK);
    va_start(arguments, format);
    text_put_list(&e->notes, format, arguments);
    va_end(arguments);
    text_put(&e->notes, "\n");
}

void export_notes(struct export *e, const struct export_note *notes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (notes[i].there) export_note(e, "%s", notes[i].text);
}

void export_print_notes(const struct export *e)
{
    text_put(e->out, "\n# Not expressed by this configuration:\n%s",
             e->notes.length ? e->notes.text : "#   (nothing)\n");
}

static bool factors(const struct compression_option *o)
{
    return o->form.method == COMPRESS_LOW_RANK;
}

static void note_compression(struct export *e)
{
    const struct plan *plan = e->plan;
    for (int s = 0; s < plan->stage_count; s++) {
        const struct plan_stage *stage = &plan->stages[s];
        const struct compression_option *gradient = &plan->gradient_options[stage->gradient_option];
        const struct compression_option *boundary = &plan->boundary_options[stage->boundary_option];
        if (gradient->form.amount)
            export_note(e, "%sgradient sync of stage %d, %s", factors(gradient) ? "low-rank " : "",
                        s, compression_text(gradient->form, e->out->arena));
        if (gradient->tier_option)
            export_note(e, "tier option \"%s\" of stage %d", gradient->tier_option, s);
        if (boundary->form.amount)
            export_note(e, "%sbackward transfers from stage %d to stage %d, %s%s",
                        factors(boundary) ? "low-rank " : "", s, s - 1,
                        compression_text(boundary->form, e->out->arena),
                        boundary->epilogue_only ? ", in the drain only" : "");
    }
}

static void note_places(struct export *e)
{
    const struct plan *plan = e->plan;
    const struct plan_placement *x = plan->placement;
    struct text text;
    text_begin(&text, e->out->arena);
    const int *replicas = x && x->micro_batches ? report_data_ranks(plan, e->out->arena) : NULL;
    for (int i = 0; replicas && i < x->replica_count; i++)
        text_put(&text, " %d", x->micro_batches[replicas[i]]);
    bool unlike = false;
    for (int s = 1; s < plan->stage_count; s++)
        unlike |= plan->stages[s].group != plan->stages[0].group;
    const struct export_note notes[] = {
        {replicas,
         arena_print(e->out->arena,
                     "micro-batches that differ between the data-parallel replicas:%s", text.text)},
        {x && !e->places_said, "which node has which rank: plumbline report --format hostfile, "
                               "rankfile or hosts"},
        {!x && unlike, "stages on different node groups: set only by the order of the hosts"}};
    EXPORT_NOTES(e, notes);
}

static void note_layout(struct export *e)
{
    const struct layout *l = &e->plan->layout;
    struct arena *arena = e->out->arena;
    const struct export_note notes[] = {
        {e->runs,
         arena_print(arena, "the %s schedule: %s runs %s; times and memory are another schedule's",
                     schedule_names[l->schedule], e->name, e->runs ? e->runs : "")},
        {l->virtual_stages > 1 && l->pipeline == 1,
         "several stages on a single rank: they need two or more ranks"},
        {!l->barrier, "iterations that follow each other without a barrier"},
        {l->local_loss_every,
         arena_print(arena,
                     "local losses, one every %d stages: gradients go back over every boundary",
                     l->local_loss_every)},
        {l->slice_count > 1,
         arena_print(arena,
                     "%d slices of a sequence that follow each other: micro-batches go whole",
                     l->slice_count)},
        {l->in_flight[0],
         arena_print(arena,
                     "micro-batches in flight %s by stage: 1f1b's own times and memory are others",
                     report_in_flight(l, arena))},
        {l->fused_embedding_sync, "the fused embedding synchronisation"}};
    EXPORT_NOTES(e, notes);
}

static void note_job(struct export *e)
{
    const struct job *job = &e->problem->job, usual = {.precision = job->precision};
    const struct layout *l = &e->plan->layout;
    const struct model *m = &e->problem->model;
    struct arena *arena = e->out->arena;
    int stated = e->state_bytes ? e->state_bytes : job_state_bytes(&usual);
    bool frozen = false;
    for (int i = 0; i < m->run_count; i++) frozen |= m->runs[i].frozen;
    const struct unfused_gpu unfused = framework_unfused_gpu(
        e->framework, job->precision, m, &e->problem->cluster, &e->problem->costs);
    const struct export_note notes[] = {
        {l->fused_attention && unfused.gpu,
         arena_print(arena, "fused attention: %s has none for %s in %s", e->name,
                     unfused.gpu ? unfused.gpu : "", precision_names[job->precision])},
        {job->trainer != e->trainer,
         arena_print(arena, "the trainer %s: times and memory are priced for it, not for %s",
                     trainer_names[job->trainer], e->name)},
        {job->gathered_logits && l->tensor > 1 && e->logits,
         arena_print(arena, "logits of the whole vocabulary on each tensor rank: %s",
                     e->logits ? e->logits : "")},
        {job->scattered_messages && l->tensor > 1 && l->pipeline > 1 && e->scattered,
         arena_print(arena, "messages between stages of which each tensor rank sends its part%s",
                     e->scattered ? e->scattered : "")},
        {job->adam && job_state_bytes(job) != stated,
         arena_print(arena,
                     "an optimizer's state of %d bytes for each value: no setting above has it",
                     job_state_bytes(job))},
        {frozen, "frozen layers, their adapters and weights of few bits: all layers are trained "
                 "whole"},
        {e->unknown_layers,
         arena_print(arena, "%d layers that are neither embedding, decoder layer nor head",
                     e->unknown_layers)},
        {!m->has_shape, "the model's shape: its layers were measured, not described"}};
    EXPORT_NOTES(e, notes);
}

struct job export_stated_job(const struct job *job, enum framework framework)
{
    struct job stated = *job;
    bool core = framework == FRAMEWORK_MEGATRON || framework == FRAMEWORK_NEMO,
         titan = framework_trainer(framework) == TRAINER_TORCHTITAN;
    if (job->expert_products != (titan ? EXPERTS_GROUPED : EXPERTS_SINGLE))
        stated.expert_products = EXPERTS_BY_TRAINER;
    if (!core) stated.dispatcher = DISPATCH_ALL_TO_ALL, stated.graphs = GRAPHS_NONE;
    if (titan) stated.fixed_capacity = false, stated.overlapped_messages = true;
    if (!stated.fixed_capacity) stated.expert_padding = 0;
    if (core && job->layout.schedule != SCHEDULE_INTERLEAVED) stated.overlapped_messages = false;
    if (!titan) stated.stopped_recompute = false;
    stated.checkpoints = CHECKPOINTS_DEVICE, stated.chunked_loss = false;
    if (framework != FRAMEWORK_NEMO) stated.fp8_activation_input = false;
    return stated;
}

static int expert_gaps(const char **texts, const struct job *job, const struct job *stated,
                       struct arena *arena)
{
    int count = 0;
    if (job->dispatcher != stated->dispatcher)
        texts[count++] = arena_print(arena, "the dispatcher %s", dispatcher_names[job->dispatcher]);
    if (job->graphs != stated->graphs)
        texts[count++] = arena_print(arena, "CUDA graphs of %s", graphs_names[job->graphs]);
    if (job->fixed_capacity != stated->fixed_capacity)
        texts[count++] = "a fixed capacity of experts";
    if (job_expert_padding(job) != job_expert_padding(stated))
        texts[count++] = arena_print(arena, "experts' rows padded to %.9g times those that come",
                                     job->expert_padding);
    if (job->expert_products != stated->expert_products)
        texts[count++] = arena_print(arena, "experts' products: %s",
                                     expert_products_names[job->expert_products]);
    return count;
}

int export_job_gaps(const char *texts[JOB_GAPS_MAX], const struct plan *plan,
                    const struct problem *p, enum framework framework, struct arena *arena)
{
    struct job job = p->job;
    bool again = false;
    int count = 0;
    job.layout = plan->layout;
    const struct job stated = export_stated_job(&job, framework);
    for (int s = 0; s < plan->stage_count; s++) {
        enum recompute mode = plan->stages[s].recompute;
        again = again || mode == RECOMPUTE_FULL || mode == RECOMPUTE_FIRST_LAYERS;
    }
    if (model_first_run(&p->model, LAYER_MOE)) count = expert_gaps(texts, &job, &stated, arena);
    if (job.overlapped_messages != stated.overlapped_messages && job.layout.pipeline > 1)
        texts[count++] = stated.overlapped_messages
                             ? "messages between stages that ranks wait for"
                             : "messages between stages that are sent without waiting";
    if (job.stopped_recompute != stated.stopped_recompute && again)
        texts[count++] = "recomputation that stops before a block's last product";
    if (job.checkpoints != stated.checkpoints && again)
        texts[count++] = arena_print(arena, "what recomputed layers keep: checkpoints %s",
                                     checkpoints_names[job.checkpoints]);
    if (job.chunked_loss != stated.chunked_loss)
        texts[count++] = "a loss that makes its logits chunk by chunk";
    if (job.fp8_activation_input != stated.fp8_activation_input)
        texts[count++] = "what activations read, kept in one byte a value";
    return count;
}

static void note_gaps(struct export *e)
{
    const char *texts[JOB_GAPS_MAX];
    int count = export_job_gaps(texts, e->plan, e->problem, e->framework, e->out->arena);
    for (int i = 0; i < count; i++) export_note(e, "%s", texts[i]);
}

bool export_hides_dispatch(const struct export *e)
{
    if (!e->problem) return false;
    const struct space_limits limits = problem_space_limits(e->problem);
    struct layout l = e->plan->layout;
    struct framework_of of = space_framework_of(&limits, &l);
    l.overlapped_dispatch = true;
    if (framework_excludes(e->framework, &l, SPACE_OVERLAPPED_DISPATCH, &of)) return false;
    for (int s = 0; s < e->plan->stage_count; s++)
        if (framework_repeats_dispatch(e->plan->stages[s].recompute)) return false;
    return true;
}

void export_common_notes(struct export *e)
{
    note_compression(e);
    note_places(e);
    note_layout(e);
    if (!e->problem) return;
    note_job(e), note_gaps(e);
    bool hidden = e->problem->job.overlapped_dispatch || e->plan->layout.overlapped_dispatch;
    if (hidden && e->plan->layout.expert > 1 && !export_hides_dispatch(e))
        export_note(e, "overlapped_dispatch: Megatron Core alone has it, with weights of 16 bits, "
                       "layers that are whole, one further token at most, without a pipeline or "
                       "with several stages a "
                       "rank, and with neither layers nor experts recomputed");
}

void export_unfused_notes(struct export *e)
{
    for (int i = 0; i < UNFUSED_COUNT; i++)
        if (e->problem->job.unfused[i])
            export_note(e, "%s in single steps: set in the model's code", unfused_names[i]);
}
