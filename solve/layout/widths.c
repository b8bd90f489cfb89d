// Starts where stages have widths of their own: the best plans that a short search finds with one
// width for each node group, and so with each uniform layout that the widths contain. The search
// over all widths begins with the best of them, so it is never worse than they are.
#include "data/base/least.h"
#include "solve/layout/steps.h"

enum { COMBINATIONS_MOST = 64 }; // to try

// A group for each pool.
struct combination {
    const struct priced *p;
    int pool_count, first[SEATS_MAX], taken[SEATS_MAX];
};

// Their number, or one above COMBINATIONS_MOST. Groups that are excluded have none.
static int64_t open_combinations(struct combination *c, const struct priced *p)
{
    int64_t all = 1;
    *c = (struct combination){.p = p};
    for (int g = 0; g < p->group_count; g++) {
        int widths = 0, first = 0;
        if (priced_pool(p, g) != g) continue;
        for (int k = p->group_count; k-- > g;)
            if (priced_pool(p, k) == g && !p->groups[k].excluded) first = k, widths++;
        if (!widths) continue;
        c->first[c->pool_count] = c->taken[c->pool_count] = first;
        c->pool_count++;
        all = all > COMBINATIONS_MOST ? all : all * widths;
    }
    return all;
}

// The next one, like an odometer; false: there was no other.
static bool advance(struct combination *c)
{
    const struct priced *p = c->p;
    for (int i = 0; i < c->pool_count; i++) {
        int next = c->taken[i] + 1;
        while (next < p->group_count &&
               (priced_pool(p, next) != priced_pool(p, c->first[i]) || p->groups[next].excluded))
            next++;
        if (next < p->group_count) {
            c->taken[i] = next;
            return true;
        }
        c->taken[i] = c->first[i];
    }
    return false;
}

static bool has_one_width(const struct combination *c)
{
    bool same = true;
    for (int i = 1; i < c->pool_count; i++)
        same = same && priced_same_width(&c->p->groups[c->taken[0]], &c->p->groups[c->taken[i]]);
    return same;
}

static struct priced restricted(const struct combination *c, struct arena *arena)
{
    struct priced own = *c->p;
    own.groups = TAKE_COPY(arena, own.groups, own.group_count);
    own.width_per_group = false;
    for (int g = 0; g < own.group_count; g++) {
        bool taken = false;
        for (int i = 0; i < c->pool_count; i++) taken = taken || c->taken[i] == g;
        if (!taken && !own.groups[g].excluded) own.groups[g].excluded = "another width is tried";
    }
    return own;
}

// Keeps the plan if it is the best so far.
static void keep(struct solving *s, const struct choices *of, const struct incumbent *found)
{
    struct plan plan;
    int *chosen = TAKE(s->arena, s->priced->stage_count, int);
    if (!found->found || (s->incumbent.found && s->incumbent.iteration_ns <= found->iteration_ns))
        return;
    choices_to_plan(&plan, of, found->chosen, found->iteration_ns, s->arena);
    if (choices_from_plan(chosen, &s->choices, &plan) && choices_fit_together(&s->choices, chosen))
        s->incumbent = (struct incumbent){true, chosen, found->iteration_ns};
}

enum status solving_try_widths(struct solving *s, int64_t effort, struct error *err)
{
    struct combination c;
    bool all = open_combinations(&c, s->priced) <= COMBINATIONS_MOST;
    do {
        const char *why;
        struct choices own;
        struct incumbent best = {0};
        bool one = has_one_width(&c);
        if (!(all || one) || solving_should_stop(s)) continue;
        struct priced *part = TAKE(s->arena, 1, struct priced);
        *part = restricted(&c, s->arena);
        TRY(choices_build(&own, part, &s->schedule, s->arena, err));
        if (choices_hopeless_stage(&own, &why) >= 0) continue;
        incumbent_search(&best, &own, s->graph, (uint64_t)s->settings->seed, effort,
                         solving_should_stop, s, s->arena);
        keep(s, &own, &best);
        struct solve_result *r = s->result;
        if (one && best.found && (!r->one_width_ns || best.iteration_ns < r->one_width_ns))
            r->one_width_ns = best.iteration_ns, r->one_width_group = c.taken[0];
    } while (advance(&c));
    return OK;
}

// ---- one width for each node group

static void tell_combination(const struct solving *s, const struct combination *c,
                             const struct solve_result *r)
{
    const char *text = arena_print(s->arena, "%8.1f s ", watch_elapsed_s(&s->watch));
    for (int i = 0; i < c->pool_count; i++)
        text = arena_print(s->arena, "%s %s", text, s->priced->groups[c->taken[i]].name);
    const char *what = r->cut_off ? "nothing better" : r->plan.stage_count ? "a plan" : "no plan";
    int64_t ns = r->plan.stage_count ? r->plan.iteration_ns : r->plan.bound_ns;
    text = arena_print(s->arena, "%s: %s", text, what);
    if (ns) text = arena_print(s->arena, "%s, %.9f s", text, (double)ns / 1e9);
    solve_tell(s->settings, &(struct solve_progress){watch_elapsed_s(&s->watch),
                                                     s->incumbent.iteration_ns, 0, text});
}

static void take_better(struct solving *s, const struct plan *plan)
{
    int *chosen = TAKE(s->arena, s->priced->stage_count, int);
    if (!plan->stage_count ||
        (s->incumbent.found && s->incumbent.iteration_ns <= plan->iteration_ns))
        return;
    s->incumbent = (struct incumbent){true, chosen, plan->iteration_ns};
    s->incumbent_plan = TAKE_COPY(s->arena, plan, 1);
    if (choices_from_plan(chosen, &s->choices, plan)) solving_found(s, chosen, plan->iteration_ns);
}

// Each gets as much of the time as those after it.
static struct solve_settings settings_of_one(const struct solving *s, int64_t left)
{
    struct solve_settings own = *s->settings;
    if (s->incumbent.found) own.cutoff_ns = larger(solving_closing_ns(s), 1);
    own.progress = 0;
    if (own.time_limit_s > 0) own.time_limit_s = watch_left_s(&s->watch) / (double)left;
    return own;
}

enum status solving_by_group(struct solving *s, struct error *err)
{
    struct combination c;
    int64_t left = open_combinations(&c, s->priced);
    s->bound_ns = NEVER_NS, s->finished = true;
    do {
        struct solve_result *r = TAKE(s->arena, 1, struct solve_result);
        struct priced *part = TAKE(s->arena, 1, struct priced);
        if (solving_should_stop(s)) {
            s->bound_ns = 0, s->finished = false;
            break;
        }
        struct solve_settings own = settings_of_one(s, left > 1 ? left-- : 1);
        *part = restricted(&c, s->arena);
        TRY(solve_without_reason(r, part, &own, s->watch.stop, s->arena, err));
        tell_combination(s, &c, r);
        plan_effort_add(&s->effort, &r->plan.effort);
        if (r->plan.outcome == OUTCOME_INFEASIBLE && !r->cut_off) continue;
        s->finished = s->finished && r->finished;
        s->bound_ns = smaller(s->bound_ns, r->plan.bound_ns);
        take_better(s, &r->plan);
    } while (advance(&c));
    if (!s->incumbent.found) return OK;
    *solving_add_plan(s) = *s->incumbent_plan;
    s->bound_ns = smaller(s->bound_ns, s->incumbent.iteration_ns);
    return OK;
}
