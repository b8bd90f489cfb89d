// A layout that the user has already, for --known: solved first, so that the search of the space
// starts from its plan and its answer is never worse.

#include "solve/questions/question.h"

// Of a plan, whose decisions are tried first, or of a problem with one layout.
static enum status read_layout(struct plan *plan, const char *path, struct arena *arena,
                               struct error *err)
{
    struct document d;
    struct error other = {OK, ""};
    struct problem *own = TAKE(arena, 1, struct problem);
    *plan = (struct plan){.stage_count = 0};
    if (document_read(&d, path, "plumbline.problem", arena, &other) != OK)
        return plan_load(plan, path, arena, err);
    TRY(problem_load(own, path, arena, err));
    if (own->job.space.given && !space_is_of_settings(&own->job.space))
        return refuse(err, "--known: %s: expected a job with one layout, found a space", path);
    if (job_mixes_layouts(&own->job))
        return refuse(err, "--known: %s: expected stage_degrees uniform, no %s", path,
                      job_mixing_key(&own->job) ? job_mixing_key(&own->job) : "widths");
    plan->layout = own->job.layout;
    plan->layout.context_kind = 1 + (int)own->job.context_kind;
    plan->layout.overlapped_dispatch = own->job.overlapped_dispatch && plan->layout.expert > 1;
    return OK;
}

// The option with which the space would have the layout, if it is one of stages.
static const char *missing_stages(const struct problem *problem, const struct layout *l,
                                  struct arena *arena)
{
    struct space_limits limits = problem_space_limits(problem);
    struct space wider = problem->job.space;
    int stages = l->virtual_stages;
    if (!wider.uneven_stages && framework_is_uneven(wider.framework, l, limits.layers))
        return ", whose interleaved stages are of numbers that divide the layers "
               "(space.uneven_stages, which --uneven-stages of plan and example sets)";
    wider.axes[SPACE_VIRTUAL_STAGES] = (struct space_axis){AXIS_LIST, &stages, 1};
    return space_contains(&wider, &limits, l, NULL)
               ? arena_print(arena, ", which would have it with --virtual-stages %d", stages)
               : "";
}

static enum status check_member(const struct problem *problem, const struct problem *one,
                                const char *path, struct arena *arena, struct error *err)
{
    struct space_limits limits = problem_space_limits(problem);
    if (problem->cluster.places.node_count)
        return refuse(err, "--known: expected a cluster without places");
    if (!space_contains(&problem->job.space, &limits, &one->job.layout, NULL))
        return refuse(err, "--known: %s: its layout is not in the job's space%s", path,
                      missing_stages(problem, &one->job.layout, arena));
    return problem_check_layout(one, err);
}

// Each stage may choose what all of them have there, or all have what they happen to choose alike.
static void settle_recomputation(struct plan *known, const struct problem *problem)
{
    struct layout *l = &known->layout;
    const struct plan_stage *first = known->stages;
    bool alike = framework_recomputes_alike(problem->job.space.framework, l);
    if (!problem->job.layout.recompute && !alike) l->recompute = l->recomputed_layers = 0;
    if (!alike || layout_recomputes_alike(l) || !known->stage_count) return;
    for (int s = 1; s < known->stage_count; s++)
        if (known->stages[s].recompute != first->recompute ||
            known->stages[s].recomputed_layers != first->recomputed_layers)
            return;
    l->recompute = 1 + (int)first->recompute, l->recomputed_layers = first->recomputed_layers;
}

// With the numerics of another framework its decisions may be none of these, or have no room.
static enum status find_from(struct solved *s, const struct solve_settings *settings,
                             const struct plan *known, const volatile int *stop,
                             struct arena *arena, struct error *err)
{
    struct error unlike = {OK, ""};
    const struct solve_from from = {.plan = known}, none = {.plan = NULL};
    if (known && solve_find(s, settings, &from, stop, arena, &unlike) == OK) return OK;
    if (unlike.status != OK && unlike.status != BAD_INPUT)
        return fail(err, unlike.status, "%s", unlike.text);
    return solve_find(s, settings, &none, stop, arena, err);
}

enum status known_take(struct layouts_task *task, const struct option_texts *paths, int at,
                       const struct problem *problem, const struct solve_settings *settings,
                       const volatile int *stop, struct arena *arena, struct error *err)
{
    const char *path = paths->items[at];
    struct error outside = {OK, ""};
    struct plan *known = TAKE(arena, 1, struct plan);
    struct problem *one = TAKE(arena, 1, struct problem);
    struct solve_settings own = *settings;
    struct solved s;
    TRY(read_layout(known, path, arena, err));
    settle_recomputation(known, problem);
    struct space_limits limits = problem_space_limits(problem);
    space_settle(&limits, &known->layout);
    *one = problem_with_layout(problem, &known->layout);
    if (check_member(problem, one, path, arena, &outside) != OK) {
        if (paths->count == 1) return fail(err, outside.status, "%s", outside.text);
        fprintf(stderr, "%s; left out\n", outside.text);
        return OK;
    }
    own.time_limit_s = settings->time_limit_s / KNOWN_SHARE / paths->count;
    TRY(solve_prepare(&s, one, arena, err));
    TRY(find_from(&s, &own, known->stage_count ? known : NULL, stop, arena, err));
    const struct plan *found = &s.result->plan;
    const struct layout_worth worth = problem_layout_worth(problem, &one->job.layout);
    if (!found->stage_count || found->iteration_ns > worth.cap_ns) {
        fprintf(stderr, "--known: %s: its layout has no plan here: %s\n", path,
                found->reason         ? found->reason
                : !found->stage_count ? "none was found in the time that it had"
                                      : "none is within the job's limits");
        return OK;
    }
    fprintf(stderr, "--known: %s: its layout has a plan of %.9f s\n", path,
            (double)found->iteration_ns / 1e9);
    if (task->plan.stage_count && task->plan.iteration_ns <= worth.weight * found->iteration_ns)
        return OK;
    task->plan = *found;
    task->plan.iteration_ns *= worth.weight;
    return OK;
}
