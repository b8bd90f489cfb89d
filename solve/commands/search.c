// A problem solved: priced, searched, judged.
#include "formulate/price/extrapolate.h"
#include "formulate/price/price.h"
#include "formulate/price/range.h"
#include "solve/commands/verbs.h"
#include "solve/judge/verify.h"
#include "solve/places/space/space.h"

enum status solve_prepare(struct solved *s, const struct problem *problem, struct arena *arena,
                          struct error *err)
{
    *s = (struct solved){.problem = problem,
                         .one = problem,
                         .judged = problem,
                         .priced = TAKE(arena, 1, struct priced)};
    if (problem->job.space.given) return problem_check_places(problem, err);
    return price_problem(s->priced, problem, arena, err);
}

// The job of one layout does not state cost and limits, so the space's problem is judged.
static const struct problem *judged_of(const struct solved *s)
{
    struct layout_worth worth = problem_layout_worth(s->problem, &s->result->plan.layout);
    bool limited = worth.cap_ns < INT64_MAX || problem_counts_devices(s->problem);
    return limited ? s->problem : s->one;
}

enum status solve_take_layout(struct solved *s, struct arena *arena, struct error *err)
{
    struct problem *one = TAKE(arena, 1, struct problem);
    *one = problem_with_layout(s->problem, &s->result->plan.layout);
    s->one = one;
    s->judged = judged_of(s);
    return s->result->plan.stage_count ? price_problem(s->priced, one, arena, err) : OK;
}

// In the time that is left.
static enum status least_quality(struct plan *plan, const struct solved *s,
                                 const struct solve_settings *of_search, struct arena *arena,
                                 struct error *err)
{
    struct solve_settings settings = *of_search;
    settings.time_limit_s = watch_left_s(&s->watch);
    return watch_is_over(&s->watch)
               ? OK
               : solve_least_quality(plan, s->one, &settings, s->watch.stop, arena, err);
}

static enum status search_space(struct solved *s, const struct solve_settings *settings,
                                const struct layouts_task *task, const volatile int *stop,
                                struct arena *arena, struct error *err)
{
    const struct problem *p = s->problem;
    s->space = TAKE(arena, 1, struct layouts_result);
    s->result = &s->space->solved;
    TRY((p->cluster.places.node_count ? placed_space_search : layouts_search)(
        s->space, p, settings, task, stop, arena, err));
    TRY(solve_take_layout(s, arena, err));
    if (!s->result->plan.stage_count) return OK;
    struct plan plan = s->result->plan;
    TRY(least_quality(&plan, s, settings, arena, err));
    if (plan.iteration_ns == s->result->plan.iteration_ns) s->result->plan = plan;
    else s->result->plan.effort = plan.effort;
    return OK;
}

enum status solve_search(struct solved *s, const struct solve_settings *settings,
                         const struct solve_from *from, const volatile int *stop,
                         struct arena *arena, struct error *err)
{
    const struct solve_from nothing = {NULL, NULL, NULL};
    if (!from) from = &nothing;
    s->watch = watch_begin(stop, settings->time_limit_s);
    if (s->problem->job.space.given) return search_space(s, settings, from->task, stop, arena, err);
    s->result = TAKE(arena, 1, struct solve_result);
    if (s->priced->places)
        return placed_solve(s->result, s->priced, settings, from->placed, stop, arena, err);
    TRY(solve_run(s->result, s->priced, settings, from->plan, stop, arena, err));
    return least_quality(&s->result->plan, s, settings, arena, err);
}

static enum status judge(const struct plan *plan, const struct problem *problem,
                         struct arena *arena, struct error *err)
{
    struct verdict verdict = {.closed_form_ns = -1};
    TRY(verify_plan(&verdict, plan, problem, arena, err));
    if (!verdict.violation_count) return OK;
    return fail(err, SOLVER, "the judge rejects the plan, so it is not written: %s: %s",
                verdict.violations[0].rule, verdict.violations[0].text);
}

enum status solve_settle(struct plan *plan, const struct solved *s, struct arena *arena,
                         struct error *err)
{
    TRY(range_of_plan(plan, s->one, arena, err));
    TRY(extrapolation_of_plan(plan, s->one, arena, err));
    return plan->stage_count ? judge(plan, s->judged, arena, err) : OK;
}
