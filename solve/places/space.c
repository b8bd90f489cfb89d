// The search over a space of layouts where the cluster has places. Each layout has prices of its
// own for every pair of nodes, so they are looked at one by one: first a bound from the program
// over groups, then, least bound first, a solve, until none that is left can be better than the
// best plan by more than the gap asked.
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "data/base/least.h"
#include "data/results/bound.h"
#include "solve/layouts/work.h"
#include "solve/places/placed.h"
#include "solve/places/space.h"
#include "solve/layout/steps.h"

// Smaller spaces are looked at as fast; so many plans say enough of the others.
enum { LIKELY_FROM = 8, LIKELY_LOOKS = 4 };
static const double likely_share = 0.1;    // of a time limit, for each of them
static const double share_for_looks = 0.6; // likewise, until layouts are solved
static const char leaves_room[] = "its bound leaves room for a better plan";

struct placed_layout {
    int64_t number, bound_ns;
    bool scanned; // its bound is of links that take no time
    struct layout layout;
};

struct placed_space {
    struct layouts_result *r;
    struct solving clock; // for the time limit and the signal alone
    const struct problem *problem;
    struct placed_layout *candidates;
    int64_t count;
    const struct layouts *known; // by an earlier search; NULL: nothing
    struct plan best;            // stage_count 0: none
    int64_t best_number;
    int worked;
    int64_t boxes;
    struct arena *arena;
    struct kept_cache kept;
    struct price_cache cache;
    struct arena *work; // of one layout at a time, and the best plan
};

static bool is_over(struct placed_space *s) { return solving_should_stop(&s->clock); }

// What a layout's bound must reach.
static int64_t closing_ns(const struct placed_space *s)
{
    return s->best.stage_count ? bound_closing(s->best.iteration_ns, s->clock.settings->gap, 0)
                               : INT64_MAX;
}

static void put_fate(struct placed_space *s, int64_t number, enum layout_fate fate, const char *why,
                     int64_t value)
{
    s->r->layouts.reason[number] = (uint16_t)layouts_reason(&s->r->layouts, fate, why, s->arena);
    assert(number >= 0 && number < s->r->layouts.count);
    assert(fate == FATE_REFUSED || fate == FATE_MEMORY || fate == FATE_INFEASIBLE ||
           value >= s->r->layouts.value[number]);
    s->r->layouts.value[number] = value;
}

// ---- a bound for each

static bool count_layout(void *argument, int64_t number, const struct layout *layout)
{
    (void)argument, (void)number, (void)layout;
    return true;
}

// From the prices alone: what closes most layouts once a good plan is known. INT64_MAX: no room.
static int64_t bound_by_prices(struct placed_space *s, const struct priced *groups)
{
    struct layout_sketch sketch;
    const char *why;
    int64_t enough = closing_ns(s);
    if (!layout_sketch(&sketch, groups, &s->kept, &why)) return INT64_MAX; // too few slots
    if (layout_missing_bytes(&sketch) > 0) return INT64_MAX;
    int64_t bound = layout_average_bound(&sketch);
    return bound < enough ? layout_filling_bound(&sketch, enough) : bound;
}

// The problem of one layout; BAD_INPUT: places do not know such a layout.
static enum status take_layout(const struct placed_space *s, struct problem *one,
                               const struct layout *layout, struct error *err)
{
    *one = problem_with_layout(s->problem, layout);
    TRY(problem_check_layout(one, err));
    return problem_check_places(one, err);
}

static enum status bound_priced(struct placed_space *s, const struct priced *groups,
                                int64_t *bound_ns, struct error *err)
{
    int64_t time_ns, quick = bound_by_prices(s, groups);
    *bound_ns = quick;
    if (quick >= closing_ns(s)) return OK;
    TRY(solve_bound(bound_ns, &time_ns, groups, solving_should_stop, &s->clock, s->work, err));
    if (*bound_ns < quick) *bound_ns = quick;
    return OK;
}

// INT64_MAX: no plan.
static enum status bound_layout(struct placed_space *s, const struct layout *layout,
                                int64_t *bound_ns, struct error *err)
{
    struct arena_mark mark = arena_set_mark(s->work);
    struct problem *one = TAKE(s->work, 1, struct problem);
    struct priced *priced = TAKE(s->work, 1, struct priced),
                  *groups = TAKE(s->work, 1, struct priced);
    enum status status = take_layout(s, one, layout, err);
    if (status == OK) status = price_problem(priced, one, s->work, err);
    if (status == OK) placed_relax(groups, priced, s->work);
    if (status == OK) status = bound_priced(s, groups, bound_ns, err);
    arena_reset(s->work, mark);
    return status;
}

// Nodes that can hold no stage at all have a reason of their own. priced NULL: none of them.
static void put_no_room(struct placed_space *s, int64_t number, const struct priced *priced)
{
    const char *why = NULL;
    for (int g = 0; priced && g < priced->group_count && !why; g++)
        why = priced->groups[g].excluded;
    put_fate(s, number, FATE_MEMORY,
             why ? layouts_plain_reason(arena_print(s->arena, "%s; no room on other nodes", why),
                                        s->problem, s->arena)
                 : "no room on any nodes, whatever the layers and options",
             0);
}

static void put_refused(struct placed_space *s, int64_t number, const char *why)
{
    put_fate(s, number, FATE_REFUSED, layouts_plain_reason(why, s->problem, s->arena), 0);
}

static void add_candidate(struct placed_space *s, int64_t number, bool scanned,
                          const struct layout *layout)
{
    s->candidates[s->count++] =
        (struct placed_layout){number, s->r->layouts.value[number], scanned, *layout};
}

// A first bound, as if links took no time; what an earlier search knew of a layout holds.
static bool scan(void *argument, int64_t number, const struct layout *layout)
{
    struct placed_space *s = argument;
    struct error err = {OK, ""};
    const char *why = NULL;
    bool open = layouts_fate(&s->r->layouts, number) == FATE_OPEN;
    if (is_over(s)) return false;
    if (s->r->layouts.value[number] || !open) {
        if (open) add_candidate(s, number, false, layout);
        return true;
    }
    struct problem one;
    if (take_layout(s, &one, layout, &err) != OK) return put_refused(s, number, err.text), true;
    const struct priced *priced = price_cached(&s->cache, layout, &why);
    if (!priced) return put_refused(s, number, why), true;
    int64_t bound_ns = bound_by_prices(s, priced);
    if (bound_ns == INT64_MAX) return put_no_room(s, number, priced), true;
    put_fate(s, number, FATE_OPEN, leaves_room, bound_ns);
    add_candidate(s, number, true, layout);
    return true;
}

// The bound with the links that there are.
static enum status look_at(struct placed_space *s, struct placed_layout *c, struct error *err)
{
    struct error why = {OK, ""};
    int64_t bound_ns = 0;
    enum status status = bound_layout(s, &c->layout, &bound_ns, &why);
    if (status != OK && status != BAD_INPUT) return *err = why, status;
    if (status == BAD_INPUT) put_refused(s, c->number, why.text);
    else if (bound_ns == INT64_MAX) put_no_room(s, c->number, NULL);
    else if (bound_ns > c->bound_ns) put_fate(s, c->number, FATE_OPEN, leaves_room, bound_ns);
    if (status == BAD_INPUT) bound_ns = INT64_MAX;
    if (bound_ns > c->bound_ns) c->bound_ns = bound_ns;
    c->scanned = false;
    return OK;
}

static int by_bound(const void *a, const void *b)
{
    const struct placed_layout *x = a, *y = b;
    if (x->bound_ns != y->bound_ns) return x->bound_ns < y->bound_ns ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

// Least bound first, so that the least of all rises.
static enum status look_at_all(struct placed_space *s, struct error *err)
{
    double limit_s = share_for_looks * s->clock.settings->time_limit_s;
    qsort(s->candidates, (size_t)s->count, sizeof *s->candidates, by_bound);
    for (int64_t i = 0; i < s->count && s->candidates[i].bound_ns < closing_ns(s); i++) {
        if (is_over(s) || (limit_s > 0 && watch_elapsed_s(&s->clock.watch) > limit_s)) break;
        if (s->candidates[i].scanned) TRY(look_at(s, &s->candidates[i], err));
    }
    qsort(s->candidates, (size_t)s->count, sizeof *s->candidates, by_bound);
    return OK;
}

// ---- solving

static void note_work(struct placed_space *s, const struct placed_layout *c,
                      const struct plan *plan)
{
    struct layouts *l = &s->r->layouts;
    int at = 0;
    while (at < s->worked && l->work[at].number != c->number) at++;
    if (at == s->worked)
        l->work[s->worked++] = (struct layouts_work){.number = c->number, .other = -1};
    if (plan->stage_count &&
        (!l->work[at].iteration_ns || plan->iteration_ns < l->work[at].iteration_ns))
        l->work[at].iteration_ns = plan->iteration_ns;
    l->work[at].boxes += plan->effort.boxes;
    s->boxes += plan->effort.boxes;
}

// looked_at of so many of these layouts.
static void show_progress(const struct placed_space *s, int64_t looked_at, int64_t count,
                          const char *which)
{
    char text[128], plan[48] = "no plan yet";
    if (!solve_tells(s->clock.settings)) return;
    if (s->best.stage_count)
        snprintf(plan, sizeof plan, "best %.9f s", (double)s->best.iteration_ns / 1e9);
    snprintf(text, sizeof text, "%lld of %lld %s, %s", (long long)looked_at, (long long)count,
             which, plan);
    solve_tell(s->clock.settings, &(struct solve_progress){watch_elapsed_s(&s->clock.watch),
                                                           s->best.iteration_ns, 0, text});
}

// most_s: of the time that is left.
static enum status solve_one(struct placed_space *s, struct placed_layout *c,
                             const struct placed_effort *effort, double most_s, struct error *err)
{
    struct arena_mark mark = arena_set_mark(s->work);
    struct problem *one = TAKE(s->work, 1, struct problem);
    struct priced *priced = TAKE(s->work, 1, struct priced);
    struct solve_settings settings = *s->clock.settings;
    struct solve_result r = {0};
    int64_t closing = closing_ns(s);
    if (s->best.stage_count) settings.cutoff_ns = closing;
    if (settings.time_limit_s > 0)
        settings.time_limit_s = fmin(most_s, watch_left_s(&s->clock.watch));
    *one = problem_with_layout(s->problem, &c->layout);
    TRY(price_problem(priced, one, s->work, err));
    TRY(placed_solve_with(&r, priced, &settings, NULL, effort, s->clock.watch.stop, s->work, err));
    if (r.plan.stage_count && r.plan.iteration_ns < c->bound_ns)
        return layouts_refuse_known(s->known, c->number, err);
    bool infeasible = r.plan.outcome == OUTCOME_INFEASIBLE && !r.cut_off,
         better = r.plan.stage_count &&
                  (!s->best.stage_count || r.plan.iteration_ns < s->best.iteration_ns);
    int64_t bound_ns = r.plan.bound_ns > c->bound_ns ? r.plan.bound_ns : c->bound_ns;
    if (r.plan.stage_count) bound_ns = smaller(bound_ns, r.plan.iteration_ns);
    note_work(s, c, &r.plan);
    if (infeasible) put_fate(s, c->number, FATE_INFEASIBLE, r.plan.reason, 0);
    else if (r.cut_off || !r.finished) put_fate(s, c->number, FATE_OPEN, leaves_room, bound_ns);
    else put_fate(s, c->number, FATE_SOLVED, "its best plan is known to the gap asked", bound_ns);
    if (!better) {
        arena_reset(s->work, mark);
        return OK;
    }
    s->best = r.plan;
    s->best_number = c->number;
    return OK;
}

// Little effort for all that matter, then more for those that still do.
static enum status solve_all(struct placed_space *s, struct error *err)
{
    static const struct placed_effort efforts[] = {
        {2000, 0, 0.2}, {10000, 20 * 1000, 0.05}, {60000, 300 * 1000, 0.02}};
    for (size_t pass = 0; pass < ARRAY_LENGTH(efforts); pass++) {
        for (int64_t i = 0; i < s->count && !is_over(s); i++) {
            struct placed_layout *c = &s->candidates[i];
            if (c->bound_ns >= closing_ns(s)) continue;
            TRY(solve_one(s, c, &efforts[pass], INFINITY, err));
            c->bound_ns = layouts_fate(&s->r->layouts, c->number) == FATE_INFEASIBLE
                              ? INT64_MAX
                              : s->r->layouts.value[c->number];
            show_progress(s, i + 1, s->count, "layouts");
        }
        qsort(s->candidates, (size_t)s->count, sizeof *s->candidates, by_bound);
    }
    return OK;
}

// Plans of the layouts that are best without names, before thousands are priced node by node: a
// search that is cut short has a plan, and bounds are held against it.
static enum status solve_likely(struct placed_space *s, struct error *err)
{
    static const struct placed_effort effort = {2000, 0, 0.2};
    struct placed_likely *likely;
    int count, looks = 0; // since there is a plan
    TRY(placed_find_likely(&likely, &count, s->problem, s->clock.settings, s->clock.watch.stop,
                           s->arena, err));
    for (int i = 0; i < count && looks < LIKELY_LOOKS && !is_over(s); i++) {
        struct placed_layout c = {likely[i].number, 0, false, likely[i].layout};
        if (layouts_fate(&s->r->layouts, c.number) != FATE_OPEN) continue;
        struct problem one;
        if (take_layout(s, &one, &c.layout, &(struct error){0}) != OK) continue;
        TRY(solve_one(s, &c, &effort, likely_share * s->clock.settings->time_limit_s, err));
        looks += s->best.stage_count > 0;
        show_progress(s, i + 1, count, "likely layouts");
    }
    return OK;
}

enum status placed_space_search(struct layouts_result *r, const struct problem *problem,
                                const struct solve_settings *settings,
                                const struct layouts_task *task, const volatile int *stop,
                                struct arena *arena, struct error *err)
{
    const struct layouts *known = task ? task->known : NULL;
    struct placed_space s = {.r = r, .problem = problem, .known = known, .arena = arena};
    struct space_limits limits = problem_space_limits(problem);
    if (problem->job.objective != OBJECTIVE_ITERATION_TIME)
        return fail(err, BAD_INPUT,
                    "%s: space: on a cluster with places expected the objective "
                    "\"iteration_time\", found \"%s\"",
                    problem->job.document.path ? problem->job.document.path : "job",
                    objective_names[problem->job.objective]);
    s.work = arena_open_within(arena);
    s.kept = (struct kept_cache){.arena = arena_open_within(arena)};
    price_cache_open(&s.cache, problem, arena_open_within(arena), arena);
    s.cache.links_free = true;
    s.clock = (struct solving){
        .settings = settings, .watch = watch_begin(stop, settings->time_limit_s), .arena = arena};
    *r = (struct layouts_result){0};
    r->layouts = (struct layouts){.name = problem->name,
                                  .base = problem->job.layout,
                                  .space = problem->job.space,
                                  .devices = limits.devices,
                                  .global_batch = problem->job.global_batch,
                                  .sequence = problem->job.sequence,
                                  .layers = problem->model.layer_count,
                                  .gap_asked = settings->gap,
                                  .chosen = -1};
    r->layouts.count = space_each(&problem->job.space, &limits, count_layout, NULL);
    if (r->layouts.count > PLACED_LAYOUTS_MAX)
        return fail(err, BAD_INPUT,
                    "%s: space: %lld layouts; expected at most %d on a cluster with places, where "
                    "each is priced node by node; fix some of its keys",
                    problem->job.document.path ? problem->job.document.path : "job",
                    (long long)r->layouts.count, PLACED_LAYOUTS_MAX);
    r->layouts.reason = TAKE(arena, r->layouts.count, uint16_t);
    r->layouts.value = TAKE(arena, r->layouts.count, int64_t);
    s.candidates = TAKE(arena, r->layouts.count, struct placed_layout);
    for (int64_t i = 0; i < r->layouts.count; i++) put_fate(&s, i, FATE_OPEN, "not looked at", 0);
    TRY(layouts_check_known(known, r->layouts.count, err));
    if (known) layouts_take(&r->layouts, known, arena);
    if (task && task->plan.stage_count &&
        space_contains(&problem->job.space, &limits, &task->plan.layout, &s.best_number))
        s.best = task->plan;
    r->layouts.work = TAKE(arena, r->layouts.count, struct layouts_work);
    if (!s.best.stage_count && r->layouts.count > LIKELY_FROM) TRY(solve_likely(&s, err));
    space_each(&problem->job.space, &limits, scan, &s);
    TRY(look_at_all(&s, err));
    TRY(solve_all(&s, err));
    struct plan_effort effort = s.best.effort;
    effort.boxes = s.boxes;
    effort.seconds = watch_elapsed_s(&s.clock.watch);
    if (task) plan_effort_add(&effort, &task->effort);
    layouts_end(r,
                &(struct layouts_end){.problem = problem,
                                      .settings = settings,
                                      .best = s.best,
                                      .best_number = s.best_number,
                                      .effort = effort,
                                      .closing_ns = closing_ns(&s),
                                      .work = r->layouts.work,
                                      .work_count = s.worked},
                arena);
    return OK;
}
