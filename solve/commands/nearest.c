// Searches for the nearest plan that a framework can run.
#include "data/kinds/schedules.h"
#include "solve/commands/nearest.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "data/base/file.h"
#include "data/inputs/framework.h"
#include "formulate/price/range.h"
#include "solve/commands/commands.h"
#include "solve/commands/one_recompute.h"
#include "solve/commands/verbs.h"
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
    const struct problem *p = s->problem;
    struct framework_of of = {p->model.layer_count,
                              p->job.global_batch / ((int64_t)l->data * l->micro_batch),
                              p->job.precision};
    return framework_refusal(s->request->framework, l, &of);
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
    for (int i = 0; i < SPACE_KEY_COUNT; i++)
        if (!strcmp(key, space_key_names[i])) axes[i].kind = AXIS_ALL;
    if (!strcmp(key, "micro_batch")) plain_schedule(l);
    if (!strcmp(key, "context")) axes[SPACE_DATA].kind = AXIS_ALL, l->context = 1;
    if (!strcmp(key, "expert")) l->expert = 1;
    if (!strcmp(key, "expert_tensor")) l->expert_tensor = 0, l->expert = 1;
    if (!strcmp(key, "sequence_parallel"))
        l->sequence_parallel = (l->expert > 1 || l->expert_tensor) &&
                               l->tensor > 1; // which requires it
    if (!strcmp(key, "barrier")) l->barrier = true;
    if (!strcmp(key, "fused_embedding_sync")) l->fused_embedding_sync = false;
    if (!strcmp(key, "local_loss_every")) l->local_loss_every = 0;
    if (!strcmp(key, "offload_optimizer")) l->offload_optimizer = false;
    if (!strcmp(key, "gradient_sync"))
        l->gradient_sync = l->gradient_sync == SYNC_EXPOSED ? SYNC_OVERLAPPED : SYNC_EXPOSED;
    if (!strcmp(key, "zero")) next_zero(s, l);
}

static void choose_space(struct job *job, const struct search *s, enum widened widened)
{
    struct layout probe = job->layout;
    const char *key;
    struct space space = {.framework = s->request->framework};
    memcpy(space.switches, job->space.switches, sizeof space.switches);
    job->space = space;
    for (int tries = 0; tries < SPACE_KEY_COUNT; tries++) {
        if (!(key = refusal_of(s, &probe))) break;
        give_up(&job->space, &probe, key, s);
        job->space.given = true;
    }
    for (int i = 0; i < SPACE_KEY_COUNT; i++) {
        bool degree = i <= SPACE_EXPERT, opens = widened == WIDENED_ALL || !degree;
        if (widened != WIDENED_REFUSED && opens && i != SPACE_LOCAL_LOSS_EVERY)
            job->space.axes[i].kind = AXIS_ALL, job->space.given = true;
    }
}

// ---- the job of the nearest plan

static void keep_to_framework(struct job *job, enum framework framework)
{
    struct layout *l = &job->layout;
    job->trainer = framework_trainer(framework);
    bool titan = job->trainer == TRAINER_TORCHTITAN, megatron = job->trainer == TRAINER_MEGATRON;
    job->boundary_option_count = job->gradient_option_count = job->offload_percent_count = 0;
    job->budget = (struct quality_budget){.boundaries_max = -1, .stages_max = -1, .cost_max = -1};
    job->placement.uneven_micro_batches = job->split_gate = false;
    if (job->trainer != TRAINER_DEEPSPEED) job->whole_gradient_sums = false;
    l->grid_depth = l->grid_rows = 0;
    if (megatron) job->gathered_logits = false;
    if (titan) job->scattered_messages = false;
    if (!titan) return;
    job->gradient_bytes_per_value = 4;
    job->attention_kernel = ATTENTION_MAKER;
    l->fused_attention = true, l->offload_optimizer = false;
    if (l->tensor > 1) l->sequence_parallel = true;
}

enum { AS_OFFERED = -1 }; // instead of a recomputation mode

static struct job nearest_job(const struct search *s, enum widened widened, int mode)
{
    struct job job = s->problem->job;
    job.layout = s->plan->layout;
    keep_to_framework(&job, s->request->framework);
    for (int i = 0; i < RECOMPUTE_COUNT; i++)
        job.recompute[i] = i == RECOMPUTE_NONE ||
                           (framework_recomputes(s->request->framework, (enum recompute)i) &&
                            (mode == AS_OFFERED ? job.recompute[i] : i == mode));
    choose_space(&job, s, widened);
    if (!job.space.given) switches_set(&job);
    if (mode == AS_OFFERED) return job;
    struct rule *rules = TAKE(s->arena, job.rule_count + 1, struct rule);
    for (int i = 0; i < job.rule_count; i++) rules[i] = job.rules[i];
    struct rule *only = &rules[job.rule_count++];
    *only = rule_empty;
    only->recompute_stated = only->recompute[mode] = true;
    job.rules = rules;
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
    return fail(err, BAD_INPUT, "%s: is not from an earlier --nearest; expected another folder",
                path);
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

struct attempt {
    enum widened widened;
    int mode;
    int64_t value_ns; // 0: no plan
};

static enum status solve_attempt(const struct search *s, struct attempt *attempt,
                                 struct plan *found, struct problem *of, int *exit_code,
                                 struct error *err)
{
    struct job job = nearest_job(s, attempt->widened, attempt->mode);
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
    TRY(problem_load(of, file_in(s, "problem.json"), s->arena, err));
    attempt->value_ns = found->stage_count ? plan_value_ns(found) : 0;
    return OK;
}

bool nearest_by_rank(const struct nearest_request *r) { return r->framework == FRAMEWORK_MEGATRON; }

bool nearest_tells_recompute(const struct plan *plan, const struct problem *problem,
                             const struct nearest_request *request, struct arena *arena)
{
    return export_recomputes(plan, problem, request->framework, nearest_by_rank(request), arena);
}

static bool recompute_said(const struct search *s, const struct plan *plan)
{
    return nearest_tells_recompute(plan, s->problem, s->request, s->arena);
}

// Solves with each mode for all stages; *found is the best of them.
static enum status solve_modes(const struct search *s, struct attempt *attempt, struct plan *found,
                               struct problem *of, int *exit_code, struct error *err)
{
    struct attempt best = {.value_ns = 0}, last = *attempt;
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++) {
        bool offered = mode == RECOMPUTE_NONE || s->problem->job.recompute[mode];
        if (!offered || mode == RECOMPUTE_FIRST_LAYERS ||
            !framework_recomputes(s->request->framework, (enum recompute)mode))
            continue;
        last.mode = mode;
        TRY(solve_attempt(s, &last, found, of, exit_code, err));
        if (last.value_ns && (!best.value_ns || last.value_ns < best.value_ns)) best = last;
    }
    *attempt = best.value_ns ? best : last;
    if (!best.value_ns || best.mode == last.mode) return OK;
    return solve_attempt(s, attempt, found, of, exit_code, err);
}

// The best of them, or the offered plan with one setting for all stages: that can set how many
// layers of each stage are recomputed, but leaves the layers where they are.
static enum status settle_recompute(const struct search *s, struct attempt *attempt,
                                    struct plan *found, struct problem *of, int *exit_code,
                                    struct error *err)
{
    const struct plan *uniform = NULL;
    struct error none = {OK, ""};
    struct attempt offered = *attempt;
    if (found->objective == OBJECTIVE_ITERATION_TIME && !found->placement &&
        one_recompute_find(&uniform, found, of, s->request->framework, nearest_by_rank(s->request),
                           s->arena, &none) != OK)
        uniform = NULL;
    TRY(solve_modes(s, attempt, found, of, exit_code, err));
    if (!uniform || (attempt->value_ns && attempt->value_ns <= uniform->iteration_ns)) return OK;
    *attempt = offered;
    TRY(solve_attempt(s, attempt, found, of, exit_code, err));
    attempt->value_ns = uniform->iteration_ns;
    *found = *uniform;
    struct problem own = problem_with_layout(of, &found->layout);
    TRY(range_of_plan(found, &own, s->arena, err));
    found->outcome = plan_outcome(found);
    const char *path = file_in(s, "plan.json");
    bool lost = false;
    TRY(keep_plan(found, path, &lost, s->arena, err));
    return lost ? fail(err, BAD_INPUT, "%s: not written", path) : OK;
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
                  {"sequence parallelism", a->sequence_parallel, b->sequence_parallel},
                  {"fused attention", a->fused_attention, b->fused_attention},
                  {"offloaded optimizer", a->offload_optimizer, b->offload_optimizer},
                  {"barrier", a->barrier, b->barrier},
                  {"fused embedding sync", a->fused_embedding_sync, b->fused_embedding_sync},
                  {"local losses", a->local_loss_every, b->local_loss_every},
                  {"slices", a->slice_count, b->slice_count}};
    tell_change("schedule", schedule_names[a->schedule], schedule_names[b->schedule], comma);
    tell_change("gradient sync", gradient_sync_names[a->gradient_sync],
                gradient_sync_names[b->gradient_sync], comma);
    tell_change("tensor", layout_tensor_text(a, arena), layout_tensor_text(b, arena), comma);
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

static const char *layers_text(const struct plan *plan, struct arena *arena)
{
    struct text text;
    text_begin(&text, arena);
    for (int s = 0; s < plan->stage_count; s++)
        text_put(&text, "%s%d", s ? " " : "", plan->stages[s].layer_count);
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

static int offloading_stages(const struct plan *plan)
{
    int count = 0;
    for (int s = 0; s < plan->stage_count; s++)
        count += plan->gradient_options[plan->stages[s].gradient_option].offloaded_percent > 0;
    return count;
}

static void tell_nearest(const struct search *s, const struct plan *now, const struct job *job)
{
    const struct plan *was = s->plan;
    const struct job *before = &s->problem->job;
    double more = 100 * ((double)now->iteration_ns / (double)was->iteration_ns - 1);
    const char *comma = "changed: ", *framework = framework_names[s->request->framework];
    fprintf(stderr,
            "nearest for %s: iteration %.9f s, bound %.9f s of all such plans (%s)%s; the plan's "
            "%.9f s, %+.4g %%\n",
            framework, (double)now->iteration_ns / 1e9, (double)plan_bound_ns(now) / 1e9,
            plan_claim_words(now, s->arena),
            job->rule_count > before->rule_count ? " with this recomputation" : "",
            (double)was->iteration_ns / 1e9, more);
    tell_layouts(&was->layout, &now->layout, &comma, s->arena);
    tell_change("recomputation", modes_text(was, s->arena), modes_text(now, s->arena), &comma);
    tell_change("layers", layers_text(was, s->arena), layers_text(now, s->arena), &comma);
    tell_count("stages with compression", compressed_stages(was), compressed_stages(now), &comma,
               s->arena);
    tell_count("stages with a share of the optimizer on the host", offloading_stages(was),
               offloading_stages(now), &comma, s->arena);
    tell_change("priced as", trainer_names[before->trainer], trainer_names[job->trainer], &comma);
    tell_count("bytes of a gradient", before->gradient_bytes_per_value,
               job->gradient_bytes_per_value, &comma, s->arena);
    tell_count("gathered logits", before->gathered_logits, job->gathered_logits, &comma, s->arena);
    tell_count("whole gradient sums", before->whole_gradient_sums, job->whole_gradient_sums, &comma,
               s->arena);
    tell_count("gate and up apart", before->split_gate, job->split_gate, &comma, s->arena);
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
    keep_to_framework(&job, s->request->framework);
    return !refusal_of(s, &p->layout) && recompute_said(s, p) && !compressed_stages(p) &&
           !offloading_stages(p) && !(p->placement && p->placement->micro_batches) &&
           layout_equal(&job.layout, &p->layout) && job.trainer == was->trainer &&
           job.gathered_logits == was->gathered_logits &&
           job.scattered_messages == was->scattered_messages &&
           job.attention_kernel == was->attention_kernel &&
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
        struct attempt attempt = {.widened = (enum widened)widened, .mode = AS_OFFERED};
        if (widened != WIDENED_REFUSED)
            fprintf(stderr, "no such plan; next, any %s\n",
                    widened == WIDENED_ALL ? "layout" : "layout of these degrees");
        TRY(solve_attempt(&s, &attempt, &found, &of, exit_code, err));
        if (found.stage_count && !recompute_said(&s, &found))
            TRY(settle_recompute(&s, &attempt, &found, &of, exit_code, err));
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
