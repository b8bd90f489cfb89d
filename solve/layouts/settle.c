// The end of a search over layouts: each layout's fate and bound, and the answer.
#include <stdlib.h>
#include <string.h>

#include "data/results/bound.h"
#include "solve/layouts/work.h"

struct layouts layouts_of(const struct problem *p, double gap)
{
    const struct space_limits limits = problem_space_limits(p);
    struct layouts l = {.name = p->name,
                        .base = p->job.layout,
                        .space = p->job.space,
                        .devices = limits.devices,
                        .global_batch = limits.global_batch,
                        .sequence = limits.sequence,
                        .layers = limits.layers,
                        .experts = limits.experts,
                        .pools = limits.pools,
                        .precision = limits.precision,
                        .context_kind = limits.context_kind,
                        .sinks = limits.sinks,
                        .windows = limits.windows,
                        .hybrid = limits.hybrid,
                        .latent = limits.latent,
                        .mtp_depth = limits.mtp_depth,
                        .tied = limits.tied,
                        .key_heads = limits.key_heads,
                        .gap_asked = gap,
                        .objective = p->job.objective,
                        .chosen = -1};
    memcpy(l.recompute, p->job.recompute, sizeof l.recompute);
    return l;
}

// The remaining layouts are closed by their bounds, or open. Returns the least bound of all that
// may have a plan.
static int64_t settle_fates(struct layouts_result *r, const struct layouts_end *e,
                            struct arena *arena)
{
    struct layouts *l = &r->layouts;
    int64_t least = INT64_MAX, closing_ns = e->closing_ns;
    r->searched_bound_ns = INT64_MAX;
    int closed =
        layouts_reason(l, FATE_BOUND, "no plan of it is better by more than the gap", arena);
    int open = layouts_reason(l, FATE_OPEN, "its bound leaves room for a better plan", arena);
    for (int64_t i = 0; i < l->count; i++) {
        enum layout_fate fate = layouts_fate(l, i);
        if (layout_fate_has_no_plan(fate)) continue;
        if (l->value[i] < least) least = l->value[i];
        if (l->value[i] < r->searched_bound_ns && space_part_has(&e->part, i, l->count))
            r->searched_bound_ns = l->value[i];
        if (fate == FATE_OPEN && l->value[i] >= closing_ns) l->reason[i] = (uint16_t)closed;
        if (fate == FATE_SAME && l->value[i] < closing_ns) l->reason[i] = (uint16_t)open;
    }
    return least;
}

static int work_by_number(const void *a, const void *b)
{
    const struct layouts_work *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

// Checks that no bound of a layout exceeds the time of a plan of it, and that no layout with a plan
// is said to have none.
static bool work_holds(const struct layouts *l, const struct layouts_work *w)
{
    enum layout_fate fate = layouts_fate(l, w->number);
    if (!w->iteration_ns) return true;
    return !layout_fate_has_no_plan(fate) && l->value[w->number] <= w->iteration_ns;
}

// For a layout worked on twice the later entry is kept.
static void settle_work(struct layouts *l, const struct layouts_end *e)
{
    int kept = 0;
    if (e->work_count) qsort(e->work, (size_t)e->work_count, sizeof *e->work, work_by_number);
    for (int i = 0; i < e->work_count; i++) {
        if (kept && e->work[kept - 1].number == e->work[i].number) kept--;
        e->work[kept++] = e->work[i];
    }
    for (int i = 0; i < kept; i++) assert(work_holds(l, &e->work[i]));
    l->work = e->work, l->work_count = kept;
}

// What keeps most layouts from having a plan, as one line without its numbers.
static const char *commonest_reason(struct layouts *l)
{
    int at = 0;
    layouts_count(l);
    for (int i = 1; i < l->reason_count; i++)
        if (l->reasons[i].count > l->reasons[at].count) at = i;
    return l->reasons[at].text;
}

// l: in which it is proven; NULL: it is not.
static void state_no_plan(struct plan *plan, const struct problem *problem, struct layouts *l,
                          struct arena *arena)
{
    const struct job *job = &problem->job;
    struct space_limits limits = problem_space_limits(problem);
    const char *empty = l ? space_why_empty(&job->space, &limits) : NULL;
    plan->reason = !l      ? "the search was stopped before it found a plan"
                   : empty ? empty
                           : arena_print(arena,
                                         "no layout of the space has a plan; the layouts document "
                                         "says why, of most: %s",
                                         commonest_reason(l));
    plan->layout = job->layout;
    plan->micro_batches = job_micro_batches(job) > 0 ? job_micro_batches(job) : 1;
    plan->devices_per_stage = (int64_t)plan->layout.tensor * plan->layout.context *
                              plan->layout.data;
}

static int64_t runner_up_ns(const struct layouts_end *e)
{
    int64_t best = 0;
    for (int i = 0; i < e->work_count; i++) {
        int64_t ns = e->work[i].number == e->best_number ? 0 : e->work[i].iteration_ns;
        if (ns > 0 && (!best || ns < best)) best = ns;
    }
    return best;
}

void layouts_end(struct layouts_result *r, const struct layouts_end *e, struct arena *arena)
{
    struct plan *plan = &r->solved.plan;
    struct layouts *l = &r->layouts;
    int64_t least_ns = settle_fates(r, e, arena);
    *plan = e->best;
    plan->name = e->problem->name;
    plan->seed = e->settings->seed;
    plan->effort = e->effort;
    plan->bound_ns = least_ns == INT64_MAX ? 0 : least_ns;
    r->solved.finished = r->searched_bound_ns >= e->closing_ns;
    if (!plan->stage_count)
        state_no_plan(plan, e->problem, least_ns == INT64_MAX ? l : NULL, arena);
    plan_end(plan, e->settings->gap, least_ns == INT64_MAX);
    if (plan->stage_count && e->problem->job.objective == OBJECTIVE_ITERATION_TIME)
        plan->runner_up_ns = runner_up_ns(e);
    plan->bound_ns =
        bound_stated(plan->bound_ns, plan->iteration_ns, plan->stage_count ? e->reported_ns : 0);
    l->iteration_ns = plan->iteration_ns, l->bound_ns = plan->bound_ns;
    l->chosen = plan->stage_count ? e->best_number : -1;
    assert(l->chosen >= -1 && l->chosen < l->count);
    assert(!plan->stage_count || layouts_fate(l, l->chosen) != FATE_REFUSED);
    settle_work(l, e);
    layouts_count(l);
}

// ---- a search that was lost

// A bound on the whole space holds for each of its layouts.
static void know_little(struct layouts *l, const struct layouts *known, int64_t bound_ns,
                        struct arena *arena)
{
    l->reason = TAKE(arena, l->count, uint16_t);
    l->value = TAKE(arena, l->count, int64_t);
    uint16_t unseen = (uint16_t)layouts_reason(l, FATE_OPEN, "not looked at", arena);
    for (int64_t i = 0; i < l->count; i++) l->reason[i] = unseen;
    if (known && known->count == l->count) layouts_take(l, known, arena);
    for (int64_t i = 0; i < l->count; i++)
        if (!layout_fate_has_no_plan(layouts_fate(l, i)) && l->value[i] < bound_ns)
            l->value[i] = bound_ns;
    layouts_count(l);
}

void layouts_lost(struct layouts_result *r, const struct problem *problem,
                  const struct solve_settings *settings, const struct layouts_task *task,
                  const struct plan *best, int64_t value_ns, struct arena *arena)
{
    *r = (struct layouts_result){.solved.plan = *best,
                                 .layouts = layouts_of(problem, settings->gap)};
    struct layouts *l = &r->layouts;
    struct plan *plan = &r->solved.plan;
    struct space_limits limits = problem_space_limits(problem);
    plan->name = problem->name;
    r->rests_on_known = task && task->known;
    l->work = TAKE(arena, 1, struct layouts_work);
    l->count = space_each(&problem->job.space, &limits, NULL, NULL);
    bool of_values = problem->job.objective != OBJECTIVE_MAX_LOAD; // else of one micro-batch
    know_little(l, task ? task->known : NULL, of_values ? plan->bound_ns : 0, arena);
    if (!plan->stage_count) {
        state_no_plan(plan, problem, NULL, NULL);
        return;
    }
    if (!space_contains(&problem->job.space, &limits, &plan->layout, &l->chosen)) l->chosen = -1;
    if (l->chosen < 0) return;
    l->iteration_ns = value_ns, l->bound_ns = of_values ? plan->bound_ns : 0;
    l->work[l->work_count++] = (struct layouts_work){l->chosen, value_ns, -1, 0};
}
