// The search over a space of layouts where the cluster has places. Each layout has its own prices
// for every pair of nodes, so they are examined one by one: first a bound from the program over
// groups, then, least bound first, a solve, until no remaining layout can be better than the best
// plan by more than the requested gap. Workers do both, in rounds: a round's requests depend on
// what was known before it, never on the workers' number or speed.
#include <stdlib.h>

#include "data/base/least.h"
#include "solve/places/space/internal.h"
#include "solve/process/stop.h"

enum { LOOK_ROUND = 16, SOLVE_ROUND = 4 };
// Smaller spaces are searched just as fast without; LIKELY_LOOKS plans are enough to judge the
// others.
enum { PROMISING_FROM = 8, LIKELY_LOOKS = 4 };
static const double layout_share = 0.1;    // of a time limit, for each of them
static const double share_for_looks = 0.6; // likewise, until layouts are solved
static const char leaves_room[] = "its bound leaves room for a better plan";

struct placed_layout {
    int64_t number, bound_ns;
    bool scanned; // its bound assumes links that take no time
    struct layout layout;
};

struct placed_space {
    struct layouts_result *r;
    struct solving clock; // only for the time limit and the signal
    const struct problem *problem;
    struct placed_layout *candidates;
    int64_t count;
    const struct layouts *known; // by an earlier search; NULL: nothing
    struct plan best;            // stage_count 0: none
    int64_t best_number;
    int worked;
    int64_t boxes;
    struct arena *arena;
    struct price_cache cache;
    struct placed_work work; // for the workers, or for this process if there are none
    struct shared_stop stop;
    struct worker_pool *pool;
    const char *sidelined;
    struct arena *round; // of one round's messages
    struct arena_mark empty;
};

static bool is_over(struct placed_space *s) { return solving_should_stop(&s->clock); }

// The bound at which a layout is closed.
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

// Nodes that can hold no stage at all have their own reason. priced NULL: there are none.
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

// A first bound, as if links took no time; what an earlier search knew of a layout remains valid.
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
    if (placed_take_layout(&one, s->problem, layout, &err) != OK)
        return put_refused(s, number, err.text), true;
    const struct priced *priced = price_cached(&s->cache, layout, &why);
    if (!priced) return put_refused(s, number, why), true;
    int64_t bound_ns = placed_bound_by_prices(&s->work.kept, priced, closing_ns(s));
    if (bound_ns == INT64_MAX) return put_no_room(s, number, priced), true;
    put_fate(s, number, FATE_OPEN, leaves_room, bound_ns);
    add_candidate(s, number, true, layout);
    return true;
}

// ---- rounds

struct round {
    struct message requests[LOOK_ROUND], answers[LOOK_ROUND];
    struct placed_layout *candidates[LOOK_ROUND];
    int count;
};

static struct round *begin_round(struct placed_space *s)
{
    arena_reset(s->round, s->empty);
    return TAKE(s->round, 1, struct round);
}

static struct message *add_to_round(struct placed_space *s, struct round *round,
                                    struct placed_layout *c)
{
    assert(round->count < LOOK_ROUND);
    struct message *request = &round->requests[round->count];
    round->candidates[round->count++] = c;
    message_begin(request, s->round);
    return request;
}

static void ask(struct placed_space *s, struct round *round)
{
    const char *why = NULL;
    worker_pool_run(s->pool, round->requests, round->count, round->answers, shared_stop_asked,
                    &s->stop, &why, s->round);
    if (why) s->sidelined = why;
}

// ---- a bound with the actual links

static enum status take_bound(struct placed_space *s, struct placed_layout *c,
                              const struct layout_answer *a, struct error *err)
{
    if (a->status != OK && a->status != BAD_INPUT) return fail(err, a->status, "%s", a->reason);
    bool refused = a->status == BAD_INPUT;
    if (refused) put_refused(s, c->number, a->reason);
    else if (a->bound_ns == INT64_MAX) put_no_room(s, c->number, NULL);
    else if (a->bound_ns > c->bound_ns) put_fate(s, c->number, FATE_OPEN, leaves_room, a->bound_ns);
    c->bound_ns = refused ? INT64_MAX : larger(c->bound_ns, a->bound_ns);
    c->scanned = false;
    return OK;
}

static int by_bound(const void *a, const void *b)
{
    const struct placed_layout *x = a, *y = b;
    if (x->bound_ns != y->bound_ns) return x->bound_ns < y->bound_ns ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

// The next candidates from *at on that are only scanned, least bound first.
static struct round *next_bounds(struct placed_space *s, int64_t *at)
{
    struct round *round = begin_round(s);
    for (; *at < s->count && round->count < LOOK_ROUND; ++*at) {
        struct placed_layout *c = &s->candidates[*at];
        if (c->bound_ns >= closing_ns(s)) break;
        if (c->scanned) placed_request_bound(add_to_round(s, round, c), &c->layout, closing_ns(s));
    }
    return round;
}

// Least bound first, so that the least of all bounds rises.
static enum status look_at_all(struct placed_space *s, struct error *err)
{
    double limit_s = share_for_looks * s->clock.settings->time_limit_s;
    qsort(s->candidates, (size_t)s->count, sizeof *s->candidates, by_bound);
    for (int64_t at = 0; !is_over(s);) {
        if (limit_s > 0 && watch_elapsed_s(&s->clock.watch) > limit_s) break;
        struct round *round = next_bounds(s, &at);
        if (!round->count) break;
        ask(s, round);
        for (int i = 0; i < round->count; i++) {
            struct layout_answer a;
            if (layout_answer_get(&round->answers[i], &a, s->problem, s->round))
                TRY(take_bound(s, round->candidates[i], &a, err));
        }
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

// What is proven for all layouts; 0 until each has a bound.
static int64_t bound_so_far_ns(const struct placed_space *s)
{
    const struct layouts *l = &s->r->layouts;
    int64_t least = closing_ns(s);
    for (int64_t i = 0; i < l->count; i++)
        if (!layout_fate_has_no_plan(layouts_fate(l, i))) least = smaller(least, l->value[i]);
    return least < INT64_MAX ? least : 0;
}

// Reports that looked_at of `count` layouts are done.
static void show_progress(const struct placed_space *s, int64_t looked_at, int64_t count,
                          const char *which)
{
    char text[128], plan[48] = "no plan yet";
    if (solve_keeps(s->clock.settings, s->problem))
        solve_keep_bound(s->clock.settings, s->problem, bound_so_far_ns(s));
    if (!solve_tells(s->clock.settings)) return;
    if (s->best.stage_count)
        snprintf(plan, sizeof plan, "best %.9f s", (double)s->best.iteration_ns / 1e9);
    snprintf(text, sizeof text, "%lld of %lld %s, %s", (long long)looked_at, (long long)count,
             which, plan);
    solve_tell(s->clock.settings, &(struct solve_progress){watch_elapsed_s(&s->clock.watch),
                                                           s->best.iteration_ns, 0, text});
}

// again: the answer's message, not yet read.
static enum status take_plan(struct placed_space *s, struct placed_layout *c,
                             const struct layout_answer *a, struct message again, struct error *err)
{
    struct layout_answer kept;
    const struct plan *plan = &a->plan;
    if (a->status != OK) return fail(err, a->status, "%s", a->reason);
    if (plan->stage_count && plan->iteration_ns < c->bound_ns)
        return layouts_refuse_known(s->known, c->number, err);
    int64_t bound_ns = larger(a->bound_ns, c->bound_ns);
    if (plan->stage_count) bound_ns = smaller(bound_ns, plan->iteration_ns);
    note_work(s, c, plan);
    if (a->infeasible) put_fate(s, c->number, FATE_INFEASIBLE, a->reason, 0);
    else if (a->cut_off || !a->finished) put_fate(s, c->number, FATE_OPEN, leaves_room, bound_ns);
    else put_fate(s, c->number, FATE_SOLVED, "its best plan is known to the gap asked", bound_ns);
    c->bound_ns = a->infeasible ? INT64_MAX : bound_ns;
    if (!plan->stage_count || (s->best.stage_count && plan->iteration_ns >= s->best.iteration_ns))
        return OK;
    if (!layout_answer_get(&again, &kept, s->problem, s->arena)) return OK;
    s->best = kept.plan;
    s->best_number = c->number;
    solve_keep_plan(s->clock.settings, s->problem, &s->best, s->best.iteration_ns);
    return OK;
}

// seconds: of the remaining time, for each layout.
static enum status solve_round(struct placed_space *s, struct round *round,
                               const struct placed_effort *effort, double seconds,
                               struct error *err)
{
    for (int i = 0; i < round->count; i++)
        placed_request_plan(&round->requests[i], &round->candidates[i]->layout, closing_ns(s),
                            effort, seconds);
    ask(s, round);
    for (int i = 0; i < round->count; i++) {
        struct layout_answer a;
        struct message again = round->answers[i];
        if (layout_answer_get(&round->answers[i], &a, s->problem, s->round))
            TRY(take_plan(s, round->candidates[i], &a, again, err));
    }
    return OK;
}

// For each of the layouts from here on that still matter: its part of the time that is left, or
// enough for a solve that is worth while. They are in the order of their bounds, and more of them
// than that is enough for need not be counted.
static double seconds_for_each(struct placed_space *s, int64_t from)
{
    int64_t open = 0, closing = closing_ns(s);
    if (s->clock.settings->time_limit_s <= 0) return INFINITY;
    while (from + open < s->count && (double)open * layout_share < 1 &&
           s->candidates[from + open].bound_ns < closing)
        open++;
    return fmax(watch_left_s(&s->clock.watch) / (double)larger(open, 1),
                layout_share * s->clock.settings->time_limit_s);
}

// Little effort for all layouts that matter, then more for those that still do.
static enum status solve_all(struct placed_space *s, struct error *err)
{
    static const struct placed_effort efforts[] = {
        {2000, 0, 0.2, false}, {10000, 20 * 1000, 0.05, false}, {60000, 300 * 1000, 0.02, true}};
    for (size_t pass = 0; pass < ARRAY_LENGTH(efforts); pass++) {
        for (int64_t at = 0; at < s->count && !is_over(s);) {
            struct round *round = begin_round(s);
            double seconds = seconds_for_each(s, at);
            for (; at < s->count && round->count < SOLVE_ROUND; at++)
                if (s->candidates[at].bound_ns < closing_ns(s))
                    add_to_round(s, round, &s->candidates[at]);
            TRY(solve_round(s, round, &efforts[pass], seconds, err));
            show_progress(s, at, s->count, "layouts");
        }
        qsort(s->candidates, (size_t)s->count, sizeof *s->candidates, by_bound);
    }
    return OK;
}

// Solves the layouts that are best with unnamed nodes, before thousands are priced node by node: an
// interrupted search then has a plan, and bounds are compared with it. Until there is a plan they
// are tried one at a time.
static enum status solve_promising(struct placed_space *s, struct error *err)
{
    static const struct placed_effort effort = {2000, 0, 0.2, false};
    struct placed_promising *promising;
    int count, looks = 0; // since there has been a plan
    TRY(placed_find_promising(&promising, &count, s->problem, s->clock.settings,
                              s->clock.watch.stop, s->arena, err));
    struct placed_layout *candidates = TAKE(s->arena, count, struct placed_layout);
    for (int i = 0; i < count && looks < LIKELY_LOOKS && !is_over(s);) {
        struct round *round = begin_round(s);
        for (int most = s->best.stage_count ? SOLVE_ROUND : 1; i < count && round->count < most;
             i++) {
            struct problem one;
            if (layouts_fate(&s->r->layouts, promising[i].number) != FATE_OPEN ||
                placed_take_layout(&one, s->problem, &promising[i].layout, &(struct error){0}) !=
                    OK)
                continue;
            candidates[i] =
                (struct placed_layout){promising[i].number, 0, false, promising[i].layout};
            add_to_round(s, round, &candidates[i]);
        }
        TRY(solve_round(s, round, &effort, layout_share * s->clock.settings->time_limit_s, err));
        looks += s->best.stage_count ? round->count : 0;
        show_progress(s, i, count, "likely layouts");
    }
    return OK;
}

// ---- the search

static enum status open_workers(struct placed_space *s, const volatile int *stop, struct error *err)
{
    const struct solve_settings *settings = s->clock.settings;
    s->round = arena_open_within(s->arena);
    TAKE(s->round, 1, char); // a block that resets keep
    s->empty = arena_set_mark(s->round);
    s->work = (struct placed_work){
        .problem = s->problem, .clock = s->clock, .kept = {.arena = arena_open_within(s->arena)}};
    TRY(shared_stop_open(&s->stop, &s->clock.watch, s->arena, err));
    s->work.clock.watch.stop = settings->threads || !stop ? s->stop.flag : stop;
    struct worker_settings workers = {.count = settings->threads,
                                      .memory_limit_bytes = settings->memory_limit_bytes,
                                      .run = placed_serve,
                                      .context = &s->work};
    return worker_pool_open(&s->pool, &workers, s->arena, err);
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
        return refuse(err,
                      "%s: space: on a cluster with places expected the objective "
                      "\"iteration_time\", found \"%s\"",
                      document_name(&problem->job.document, "job"),
                      objective_names[problem->job.objective]);
    price_cache_open(&s.cache, problem, arena_open_within(arena), arena);
    s.cache.links_free = true;
    s.clock = (struct solving){
        .settings = settings, .watch = watch_begin(stop, settings->time_limit_s), .arena = arena};
    *r = (struct layouts_result){0};
    r->layouts = layouts_of(problem, settings->gap);
    r->layouts.count = space_each(&problem->job.space, &limits, NULL, NULL);
    if (r->layouts.count > PLACED_LAYOUTS_MAX)
        return refuse(
            err,
            "%s: space: %lld layouts; expected at most %d on a cluster with places, where "
            "each is priced node by node; fix some of its keys",
            document_name(&problem->job.document, "job"), (long long)r->layouts.count,
            PLACED_LAYOUTS_MAX);
    r->layouts.reason = TAKE(arena, r->layouts.count, uint16_t);
    r->layouts.value = TAKE(arena, r->layouts.count, int64_t);
    s.candidates = TAKE(arena, r->layouts.count, struct placed_layout);
    for (int64_t i = 0; i < r->layouts.count; i++) put_fate(&s, i, FATE_OPEN, "not looked at", 0);
    TRY(layouts_check_known(known, r->layouts.count, err));
    if (known) layouts_take(&r->layouts, known, arena);
    r->rests_on_known = known != NULL; // nothing is derived again here
    if (task && task->plan.stage_count &&
        space_contains(&problem->job.space, &limits, &task->plan.layout, &s.best_number))
        s.best = task->plan;
    r->layouts.work = TAKE(arena, r->layouts.count, struct layouts_work);
    TRY(open_workers(&s, stop, err));
    if (!s.best.stage_count && r->layouts.count > PROMISING_FROM) TRY(solve_promising(&s, err));
    space_each(&problem->job.space, &limits, scan, &s);
    TRY(look_at_all(&s, err));
    TRY(solve_all(&s, err));
    worker_pool_close(s.pool);
    r->solved.sidelined = s.sidelined;
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
