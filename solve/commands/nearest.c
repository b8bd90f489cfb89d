// Searches for the nearest plan that a framework can run.
#include "data/kinds/schedules.h"
#include "solve/commands/internal.h"

#include <string.h>
#include <unistd.h>

#include "solve/commands/commands.h"
#include "solve/report/export/export.h"

struct search {
    const struct nearest_request *request;
    const struct plan *plan;       // which the framework cannot express
    const struct problem *problem; // of the plan
    struct arena *arena;
};

enum widened { WIDENED_REFUSED, WIDENED_SWITCHES, WIDENED_ALL, WIDENED_COUNT };

// ---- what is refused

static void plain_schedule(struct layout *l)
{
    l->schedule = SCHEDULE_1F1B;
    l->virtual_stages = l->slice_count = 1;
}

static const char *refusal_of(const struct search *s, const struct layout *l)
{
    enum framework framework = s->request->framework;
    struct space_limits limits = problem_space_limits(s->problem);
    limits.uneven_stages = true;
    struct framework_of of = space_framework_of(&limits, l);
    if (framework_trainer(framework) == TRAINER_TORCHTITAN) of.context_kind = CONTEXT_RING;
    return framework_refusal(framework, l, &of);
}

static void next_zero(const struct search *s, struct layout *l)
{
    for (l->zero = 0; l->zero < 3; l->zero++) {
        const char *key = refusal_of(s, l);
        if (!key || strcmp(key, "zero")) return;
    }
}

// Opens the keys of what a framework refuses, and changes the layout so that it is not refused for
// that.
static void give_up(struct space *space, struct layout *l, const char *key, const struct search *s)
{
    struct space_axis *axes = space->axes;
    if (!strcmp(key, "schedule") || !strcmp(key, "virtual_stages") || !strcmp(key, "slices")) {
        axes[SPACE_SCHEDULE].kind = axes[SPACE_VIRTUAL_STAGES].kind = AXIS_ALL;
        axes[SPACE_SLICE_COUNT].kind = AXIS_ALL;
        plain_schedule(l);
        return;
    }
    for (int i = 0; i < SPACE_RECOMPUTE; i++)
        if (!strcmp(key, space_key_names[i])) axes[i].kind = AXIS_ALL;
    if (!strcmp(key, "micro_batch")) plain_schedule(l);
    if (!strcmp(key, "context")) axes[SPACE_DATA].kind = AXIS_ALL, l->context = 1;
    if (!strcmp(key, "expert")) l->expert = 1;
    if (!strcmp(
            key,
            "expert_tensor")) // 0: some frameworks split all experts, or none of those with biases
        l->expert_tensor = !l->expert_tensor && s->request->framework == FRAMEWORK_MEGATRON,
        l->expert = 1;
    if (!strcmp(key, "sequence_parallel"))
        l->sequence_parallel = (l->expert > 1 || l->expert_tensor) &&
                               l->tensor > 1; // which requires it
    if (!strcmp(key, "barrier")) l->barrier = true;
    if (!strcmp(key, "fused_embedding_sync")) l->fused_embedding_sync = false;
    if (!strcmp(key, "local_loss_every")) l->local_loss_every = 0, l->stored_inputs = false;
    if (!strcmp(key, "overlapped_dispatch")) l->overlapped_dispatch = false;
    if (!strcmp(key, "pool")) l->pool = 0;
    if (!strcmp(key, "offload_optimizer")) l->offload_optimizer = false;
    if (!strcmp(key, "gradient_sync"))
        l->gradient_sync = l->gradient_sync == SYNC_EXPOSED ? SYNC_OVERLAPPED : SYNC_EXPOSED;
    if (!strcmp(key, "zero")) next_zero(s, l);
    if (!strcmp(key, "recompute")) l->recompute = 1 + RECOMPUTE_NONE; // every setting is searched
}

static void choose_space(struct job *job, const struct search *s, enum widened widened)
{
    struct layout probe = job->layout;
    const char *key;
    struct space space = {.framework = s->request->framework};
    space.uneven_stages =
        framework_is_uneven(space.framework, &probe, s->problem->model.layer_count);
    memcpy(space.switches, job->space.switches, sizeof space.switches);
    job->space = space;
    for (int tries = 0; tries < SPACE_KEY_COUNT; tries++) {
        if (!(key = refusal_of(s, &probe))) break;
        give_up(&job->space, &probe, key, s);
        job->space.given = true;
    }
    if (widened != WIDENED_REFUSED) job->layout.recompute = job->layout.recomputed_layers = 0;
    for (int i = 0; i < SPACE_RECOMPUTE; i++) {
        bool degree = i <= SPACE_EXPERT, opens = widened == WIDENED_ALL || !degree;
        if (widened != WIDENED_REFUSED && opens && i != SPACE_LOCAL_LOSS_EVERY)
            job->space.axes[i].kind = AXIS_ALL, job->space.given = true;
    }
    if (job_sums_wide_in_shards(job) && !job->layout.zero) job->layout.zero = 1;
    job_keep_shards(job, s->arena);
}

// ---- the job of the nearest plan

static void keep_to_framework(struct job *job, const struct search *s)
{
    enum framework framework = s->request->framework;
    const struct problem *p = s->problem;
    bool unfused =
        framework_unfused_gpu(framework, job->precision, &p->model, &p->cluster, &p->costs).gpu;
    struct layout *l = &job->layout;
    job->trainer = framework_trainer(framework);
    bool titan = job->trainer == TRAINER_TORCHTITAN, megatron = job->trainer == TRAINER_MEGATRON;
    job->boundary_option_count = job->gradient_option_count = 0;
    job->tier_option_count = job->sharded_zero = job->vocabulary_tensor_count = 0;
    job->budget = (struct quality_budget){.boundaries_max = -1, .stages_max = -1, .cost_max = -1};
    job->placement.uneven_micro_batches = job->split_gate = job->owner_broadcasts = false;
    *job = export_stated_job(job, framework);
    job->expert_products = EXPERTS_BY_TRAINER;
    if (job->trainer != TRAINER_DEEPSPEED) job->whole_gradient_sums = false;
    memset(l->in_flight, 0, sizeof l->in_flight);
    l->grid_depth = l->grid_rows = l->grid_order = 0, l->grid_gathers = GRID_EACH_PASS;
    if (layout_recomputes_alike(l) && !framework_recomputes(framework, layout_recompute(l)))
        l->recompute = l->recomputed_layers = 0;
    if (megatron) job->gathered_logits = false;
    if (titan) job->scattered_messages = false;
    l->fused_attention &= !unfused;
    if (!titan) return;
    job->gradient_bytes_per_value = 4;
    job->attention_kernel = ATTENTION_MAKER, job->context_kind = CONTEXT_RING;
    l->fused_attention = !unfused, l->offload_optimizer = false, l->context_kind = 0;
    if (l->tensor > 1) l->sequence_parallel = true;
}

static struct job nearest_job(const struct search *s, enum widened widened)
{
    struct job job = s->problem->job;
    job.layout = s->plan->layout;
    keep_to_framework(&job, s);
    for (int i = 0; i < RECOMPUTE_COUNT; i++)
        job.recompute[i] =
            i == RECOMPUTE_NONE ||
            (job.recompute[i] && framework_recomputes(s->request->framework, (enum recompute)i));
    choose_space(&job, s, widened);
    if (!job.space.given) switches_set(&job);
    return job;
}

static const char *file_in(const struct search *s, const char *name)
{
    return arena_print(s->arena, "%s/%s", s->request->folder, name);
}

// One of our folders, or a new one: a job that does not name the one it came from belongs to the
// user.
static enum status take_folder(const struct search *s, struct error *err)
{
    struct job old;
    const char *path = file_in(s, "job.json");
    TRY(file_make_folder(s->request->folder, err));
    if (access(path, F_OK)) return OK;
    TRY(job_load(&old, path, s->arena, err));
    if (source_hash(&old.document, "job")) return OK;
    return refuse(err, "%s: is not from an earlier --nearest; expected another folder", path);
}

static enum status write_problem(const struct search *s, const struct job *job, struct error *err)
{
    struct problem p = *s->problem;
    struct source source =
        source_of("job", &s->problem->job.document, file_in(s, "job.json"), s->arena);
    p.job = *job;
    p.job.document =
        (struct document){.path = file_in(s, "job.json"), .sources = &source, .source_count = 1};
    p.document = (struct document){.path = file_in(s, "problem.json")};
    p.name = arena_print(s->arena, "%s, nearest for %s", p.name ? p.name : "plan",
                         framework_names[s->request->framework]);
    return problem_write(&p, (const bool[PIECE_COUNT]){[PIECE_PROBLEM] = true, [PIECE_JOB] = true},
                         NULL, s->arena, err);
}

// ---- solving

static enum status solve_widened(const struct search *s, enum widened widened, struct plan *found,
                                 struct problem *of, int *exit_code, struct error *err)
{
    struct job job = nearest_job(s, widened);
    const char *words[] = {"solve",
                           file_in(s, "problem.json"),
                           "-o",
                           file_in(s, "plan.json"),
                           "--quiet",
                           "--gap",
                           arena_print(s->arena, "%.9g", s->plan->gap_asked),
                           "--time-limit-s",
                           arena_print(s->arena, "%.9g", s->request->time_limit_s)};
    char *argv[ARRAY_LENGTH(words) + 1] = {NULL};
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++) argv[i] = arena_copy_text(s->arena, words[i]);
    TRY(write_problem(s, &job, err));
    TRY(command_call(&command_solve, (int)ARRAY_LENGTH(words), argv, exit_code, s->arena, err));
    TRY(plan_load(found, file_in(s, "plan.json"), s->arena, err));
    return problem_load(of, file_in(s, "problem.json"), s->arena, err);
}

// ---- the report

static void tell_change(const char *what, const char *before, const char *after, const char **comma)
{
    if (!strcmp(before, after)) return;
    fprintf(stderr, "%s%s %s -> %s", *comma, what, before, after);
    *comma = "; ";
}

static void tell_count(const char *what, int64_t before, int64_t after, const char **comma,
                       struct arena *arena)
{
    tell_change(what, arena_print(arena, "%lld", (long long)before),
                arena_print(arena, "%lld", (long long)after), comma);
}

static void tell_layouts(const struct layout *a, const struct layout *b, const char **comma,
                         struct arena *arena)
{
    const struct {
        const char *name;
        int64_t before, after;
    } counts[] = {{"context", a->context, b->context},
                  {"pipeline", a->pipeline, b->pipeline},
                  {"data", a->data, b->data},
                  {"expert", a->expert, b->expert},
                  {"tensor of experts", layout_expert_tensor(a), layout_expert_tensor(b)},
                  {"stages a rank", a->virtual_stages, b->virtual_stages},
                  {"micro-batch", a->micro_batch, b->micro_batch},
                  {"ZeRO", a->zero, b->zero},
                  {"data ranks that share states", layout_data_shard(a), layout_data_shard(b)},
                  {"sequence parallelism", a->sequence_parallel, b->sequence_parallel},
                  {"fused attention", a->fused_attention, b->fused_attention},
                  {"offloaded optimizer", a->offload_optimizer, b->offload_optimizer},
                  {"overlapped dispatch", a->overlapped_dispatch, b->overlapped_dispatch},
                  {"pool", a->pool, b->pool},
                  {"barrier", a->barrier, b->barrier},
                  {"fused embedding sync", a->fused_embedding_sync, b->fused_embedding_sync},
                  {"local losses", a->local_loss_every, b->local_loss_every},
                  {"slices", a->slice_count, b->slice_count},
                  {"in flight on the first stage", a->in_flight[0], b->in_flight[0]}};
    tell_change("schedule", schedule_names[a->schedule], schedule_names[b->schedule], comma);
    tell_change("gradient sync", gradient_sync_names[a->gradient_sync],
                gradient_sync_names[b->gradient_sync], comma);
    tell_change("tensor", layout_tensor_text(a, arena), layout_tensor_text(b, arena), comma);
    if (a->context == b->context)
        tell_change("context", layout_context_text(a, arena), layout_context_text(b, arena), comma);
    for (size_t i = 0; i < ARRAY_LENGTH(counts); i++)
        tell_count(counts[i].name, counts[i].before, counts[i].after, comma, arena);
}

static const char *modes_text(const struct plan *plan, struct arena *arena)
{
    struct text text;
    text_begin(&text, arena);
    for (int s = 0, next; s < plan->stage_count; s = next) {
        const char *mode = decision_recompute_text(&plan->stages[s].decision, arena);
        for (next = s + 1; next < plan->stage_count; next++)
            if (strcmp(decision_recompute_text(&plan->stages[next].decision, arena), mode)) break;
        text_put(&text, "%s%d x %s", s ? ", " : "", next - s, mode);
    }
    return text.text;
}

static int compressed_stages(const struct plan *plan)
{
    int count = 0;
    for (int s = 0; s < plan->stage_count; s++)
        count += plan->gradient_options[plan->stages[s].gradient_option].form.amount ||
                 plan->stages[s].boundary_option;
    return count;
}

static int tiered_stages(const struct plan *plan)
{
    int count = 0;
    for (int s = 0; s < plan->stage_count; s++)
        count += plan->gradient_options[plan->stages[s].gradient_option].tier_option != NULL;
    return count;
}

static void tell_nearest(const struct search *s, const struct plan *now, const struct job *job)
{
    const struct plan *was = s->plan;
    const struct job *before = &s->problem->job;
    double more = 100 * ((double)now->iteration_ns / (double)was->iteration_ns - 1);
    const char *comma = "changed: ", *framework = framework_names[s->request->framework];
    fprintf(stderr,
            "nearest for %s: iteration %.9f s, bound %.9f s of all such plans (%s); the plan's "
            "%.9f s, %+.4g %%\n",
            framework, (double)now->iteration_ns / 1e9, (double)plan_bound_ns(now) / 1e9,
            plan_claim_words(now, s->arena), (double)was->iteration_ns / 1e9, more);
    tell_layouts(&was->layout, &now->layout, &comma, s->arena);
    tell_change("recomputation", modes_text(was, s->arena), modes_text(now, s->arena), &comma);
    tell_change("layers", export_layers(was, " ", s->arena), export_layers(now, " ", s->arena),
                &comma);
    tell_count("stages with compression", compressed_stages(was), compressed_stages(now), &comma,
               s->arena);
    tell_count("stages with parts in tiers", tiered_stages(was), tiered_stages(now), &comma,
               s->arena);
    tell_count("stages with layers of other layouts", plan_mixing_stages(was),
               plan_mixing_stages(now), &comma, s->arena);
    tell_change("priced as", trainer_names[before->trainer], trainer_names[job->trainer], &comma);
    tell_count("bytes of a gradient", before->gradient_bytes_per_value,
               job->gradient_bytes_per_value, &comma, s->arena);
    tell_count("gathered logits", before->gathered_logits, job->gathered_logits, &comma, s->arena);
    tell_count("whole gradient sums", before->whole_gradient_sums, job->whole_gradient_sums, &comma,
               s->arena);
    tell_count("gate and up apart", before->split_gate, job->split_gate, &comma, s->arena);
    const char *gaps[JOB_GAPS_MAX];
    int gap_count = export_job_gaps(gaps, s->plan, s->problem, s->request->framework, s->arena);
    for (int i = 0; i < gap_count; i++) tell_change(gaps[i], "yes", "no", &comma);
    tell_count("scattered messages", before->scattered_messages, job->scattered_messages, &comma,
               s->arena);
    fprintf(stderr, "%s\n%s\n", *comma == ';' ? "" : "changed: nothing but what it is solved for",
            now->document.path);
}

// Whether export's notes name no decisions; the model, the optimizer and the positions of nodes are
// left to the script and the launcher.
static bool is_expressed(const struct search *s)
{
    const struct plan *p = s->plan;
    const struct job *was = &s->problem->job;
    struct job job = *was;
    job.layout = p->layout;
    keep_to_framework(&job, s);
    const char *gaps[JOB_GAPS_MAX];
    struct layout probe = p->layout; // with the setting that its stages have, if they are alike
    if (!layout_recomputes_alike(&probe)) probe.recompute = 1 + RECOMPUTE_NONE;
    return !refusal_of(s, &probe) &&
           export_recomputes(p, s->problem, s->request->framework, s->arena) &&
           !export_job_gaps(gaps, s->plan, s->problem, s->request->framework, s->arena) &&
           !compressed_stages(p) && !tiered_stages(p) && !plan_mixing_stages(p) &&
           !(p->placement && p->placement->micro_batches) &&
           layout_equal(&job.layout, &p->layout) && job.trainer == was->trainer &&
           job.gathered_logits == was->gathered_logits &&
           job.scattered_messages == was->scattered_messages &&
           job.attention_kernel == was->attention_kernel && job.context_kind == was->context_kind &&
           job.gradient_bytes_per_value == was->gradient_bytes_per_value;
}

enum status nearest_plan(struct plan *plan, struct problem *problem,
                         const struct nearest_request *request, int *exit_code, struct arena *arena,
                         struct error *err)
{
    const struct search s = {request, plan, problem, arena};
    struct plan found = {.stage_count = 0};
    struct problem of;
    *exit_code = 0;
    if (is_expressed(&s)) {
        fprintf(stderr, "nearest for %s: the plan itself\n", framework_names[request->framework]);
        return OK;
    }
    TRY(take_folder(&s, err));
    for (int widened = 0; widened < WIDENED_COUNT && !found.stage_count; widened++) {
        if (widened != WIDENED_REFUSED)
            fprintf(stderr, "no such plan; next, any %s\n",
                    widened == WIDENED_ALL ? "layout" : "layout of these degrees");
        TRY(solve_widened(&s, (enum widened)widened, &found, &of, exit_code, err));
    }
    if (!found.stage_count) {
        fprintf(stderr, "nearest for %s: none: %s\n", framework_names[request->framework],
                found.reason ? found.reason : plan_outcome_words(&found, arena));
        return OK;
    }
    tell_nearest(&s, &found, &of.job);
    *plan = found;
    *problem = of;
    return OK;
}
