// The end of the search: what each layout's fate and bound are, and the answer.
#include <assert.h>
#include <stdlib.h>

#include "data/results/bound.h"
#include "solve/layouts/search.h"

// Followers have the bound of the one they follow, which comes before them in work.
static void settle_followers(struct search *s)
{
    struct layouts *l = s->layouts;
    for (int i = 0; i < s->follower_count; i++) {
        const struct follower *f = &s->followers[i];
        enum layout_fate fate = layouts_fate(l, f->other);
        assert(fate != FATE_REFUSED && fate != FATE_MEMORY);
        if (fate == FATE_INFEASIBLE) {
            l->reason[f->number] = (uint16_t)layouts_reason(
                l, FATE_INFEASIBLE, "so is a layout that it is in nothing better than", s->arena);
            continue;
        }
        if (l->value[f->other] > l->value[f->number]) l->value[f->number] = l->value[f->other];
    }
}

int64_t layouts_settle(struct search *s)
{
    struct layouts *l = s->layouts;
    int64_t closing = layouts_closing_ns(s), least = INT64_MAX;
    settle_followers(s);
    int closed =
        layouts_reason(l, FATE_BOUND, "no plan of it is better by more than the gap", s->arena);
    int open = layouts_reason(l, FATE_OPEN, "its bound leaves room for a better plan", s->arena);
    for (int64_t i = 0; i < l->count; i++) {
        enum layout_fate fate = layouts_fate(l, i);
        if (fate == FATE_REFUSED || fate == FATE_MEMORY || fate == FATE_INFEASIBLE) continue;
        if (l->value[i] < least) least = l->value[i];
        if (fate == FATE_OPEN && l->value[i] >= closing) l->reason[i] = (uint16_t)closed;
        if (fate == FATE_SAME && l->value[i] < closing) l->reason[i] = (uint16_t)open;
    }
    return least;
}

static int work_by_number(const void *a, const void *b)
{
    const struct layouts_work *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

// What is proven for a layout does not exceed a plan of it, nor is one without a plan called so.
static bool work_holds(const struct layouts *l, const struct layouts_work *w)
{
    enum layout_fate fate = layouts_fate(l, w->number);
    if (!w->iteration_ns) return true;
    return fate != FATE_REFUSED && fate != FATE_MEMORY && fate != FATE_INFEASIBLE &&
           l->value[w->number] <= w->iteration_ns;
}

static void settle_work(struct search *s)
{
    struct layouts *l = s->layouts;
    if (s->work_count) qsort(s->work, (size_t)s->work_count, sizeof *s->work, work_by_number);
    int kept = 0;
    for (int i = 0; i < s->work_count;
         i++) { // a layout worked on twice: the later entry stands behind
        if (kept && s->work[kept - 1].number == s->work[i].number) kept--;
        s->work[kept++] = s->work[i];
    }
    for (int i = 0; i < kept; i++) assert(work_holds(l, &s->work[i]));
    l->work = s->work, l->work_count = kept;
}

void layouts_finish(struct search *s, struct layouts_result *r, int64_t least_ns)
{
    struct plan *plan = &r->solved.plan;
    struct layouts *l = s->layouts;
    *plan = s->best;
    plan->name = s->problem->name;
    plan->seed = s->settings->seed;
    plan->gap_asked = s->settings->gap;
    plan->effort = s->effort;
    plan->effort.seconds = watch_elapsed_s(&s->watch);
    plan->bound_ns = least_ns == INT64_MAX ? 0 : least_ns;
    r->solved.sidelined = s->sidelined;
    r->solved.finished = least_ns >= layouts_closing_ns(s);
    if (plan->stage_count) {
        plan->outcome = plan_gap(plan) <= s->settings->gap ? OUTCOME_OPTIMAL : OUTCOME_OPEN;
    } else {
        plan->outcome = least_ns == INT64_MAX ? OUTCOME_INFEASIBLE : OUTCOME_NO_PLAN;
        plan->reason = least_ns == INT64_MAX
                           ? "no layout of the space has a plan; the layouts document says why"
                           : "the search was stopped before it met a plan";
        plan->layout = s->problem->job.layout;
        plan->micro_batches =
            job_micro_batches(&s->problem->job) > 0 ? job_micro_batches(&s->problem->job) : 1;
        plan->devices_per_stage = (int64_t)plan->layout.tensor * plan->layout.context *
                                  plan->layout.data;
        plan->bound_ns = plan->outcome == OUTCOME_INFEASIBLE ? 0 : plan->bound_ns;
    }
    for (int i = 0; i < s->work_count && plan->stage_count &&
                    s->problem->job.objective == OBJECTIVE_ITERATION_TIME;
         i++) {
        int64_t other_ns = s->work[i].number == s->best_number ? 0 : s->work[i].iteration_ns;
        if (other_ns > 0 && (!plan->runner_up_ns || other_ns < plan->runner_up_ns))
            plan->runner_up_ns = other_ns;
    }
    plan->bound_ns =
        bound_stated(plan->bound_ns, plan->iteration_ns, plan->stage_count ? s->shown_bound_ns : 0);
    l->iteration_ns = plan->iteration_ns, l->bound_ns = plan->bound_ns;
    l->chosen = plan->stage_count ? s->best_number : -1;
    assert(l->chosen >= -1 && l->chosen < l->count);
    assert(!plan->stage_count || layouts_fate(l, l->chosen) != FATE_REFUSED);
    settle_work(s);
    layouts_count(l);
}
