// The work of the worker processes of a search over a space on nodes: bound one layout, or solve
// it.

#include "solve/places/space/internal.h"

enum placed_request { REQUEST_BOUND, REQUEST_PLAN };

static bool is_over(struct placed_work *w) { return solving_should_stop(&w->clock); }

enum status placed_take_layout(struct problem *one, const struct problem *problem,
                               const struct layout *layout, struct error *err)
{
    *one = problem_with_layout(problem, layout);
    TRY(problem_check_layout(one, err));
    return problem_check_places(one, err);
}

// ---- a bound

int64_t placed_bound_by_prices(struct kept_cache *kept, const struct priced *groups,
                               int64_t closing_ns)
{
    struct layout_sketch sketch;
    const char *why;
    if (!layout_sketch(&sketch, groups, kept, &why)) return INT64_MAX; // too few slots
    if (layout_missing_bytes(&sketch) > 0) return INT64_MAX;
    int64_t bound = layout_average_bound(&sketch);
    return bound < closing_ns ? layout_filling_bound(&sketch, closing_ns) : bound;
}

static enum status find_bound(struct layout_answer *a, struct placed_work *w,
                              const struct layout *layout, int64_t closing_ns, struct arena *arena,
                              struct error *err)
{
    struct problem *one = TAKE(arena, 1, struct problem);
    struct priced *priced = TAKE(arena, 1, struct priced), *groups = TAKE(arena, 1, struct priced);
    int64_t time_ns;
    TRY(placed_take_layout(one, w->problem, layout, err));
    TRY(price_problem(priced, one, arena, err));
    placed_relax(groups, priced, arena);
    int64_t quick = a->bound_ns = placed_bound_by_prices(&w->kept, groups, closing_ns);
    if (quick >= closing_ns) return OK;
    TRY(solve_bound(&a->bound_ns, &time_ns, groups, solving_should_stop, &w->clock, arena, err));
    if (a->bound_ns < quick) a->bound_ns = quick;
    return OK;
}

// ---- a plan

static enum status find_plan(struct layout_answer *a, struct placed_work *w, struct message *in,
                             const struct layout *layout, int64_t closing_ns, struct arena *arena,
                             struct error *err)
{
    struct placed_effort effort;
    double seconds;
    struct problem *one = TAKE(arena, 1, struct problem);
    struct priced *priced = TAKE(arena, 1, struct priced);
    struct solve_settings settings = *w->clock.settings;
    struct solve_result r = {0};
    message_get(in, &effort, sizeof effort);
    message_get(in, &seconds, sizeof seconds);
    settings.threads = settings.threads > 0;
    settings.progress = settings.alternatives = 0;
    if (closing_ns < INT64_MAX) settings.cutoff_ns = closing_ns;
    if (settings.time_limit_s > 0)
        settings.time_limit_s = fmin(seconds, watch_left_s(&w->clock.watch));
    *one = problem_with_layout(w->problem, layout);
    TRY(price_problem(priced, one, arena, err));
    TRY(placed_solve_with(&r, priced, &settings, NULL, &effort, w->clock.watch.stop, arena, err));
    *a = (struct layout_answer){.reason = r.plan.reason,
                                .bound_ns = r.plan.bound_ns,
                                .infeasible = r.plan.outcome == OUTCOME_INFEASIBLE && !r.cut_off,
                                .cut_off = r.cut_off,
                                .finished = r.finished,
                                .plan = r.plan};
    return OK;
}

// ---- messages

static void begin(struct message *m, enum placed_request request, const struct layout *layout,
                  int64_t closing_ns)
{
    message_put_count(m, request);
    message_put(m, layout, sizeof *layout);
    message_put_count(m, closing_ns);
}

void placed_request_bound(struct message *m, const struct layout *layout, int64_t closing_ns)
{
    begin(m, REQUEST_BOUND, layout, closing_ns);
}

void placed_request_plan(struct message *m, const struct layout *layout, int64_t closing_ns,
                         const struct placed_effort *effort, double seconds)
{
    begin(m, REQUEST_PLAN, layout, closing_ns);
    message_put(m, effort, sizeof *effort);
    message_put(m, &seconds, sizeof seconds);
}

void placed_serve(void *context, struct message *in, struct message *out, struct arena *arena)
{
    struct placed_work *w = context;
    struct layout_answer a = {0};
    struct error err = {OK, ""};
    struct layout layout;
    if (is_over(w)) return; // an empty answer says nothing
    enum placed_request request = (enum placed_request)message_get_count(in);
    message_get(in, &layout, sizeof layout);
    int64_t closing_ns = message_get_count(in);
    a.status = request == REQUEST_BOUND ? find_bound(&a, w, &layout, closing_ns, arena, &err)
                                        : find_plan(&a, w, in, &layout, closing_ns, arena, &err);
    if (a.status != OK) a = (struct layout_answer){.status = a.status, .reason = err.text};
    layout_answer_put(out, &a);
}
