// Starts where stages have widths of their own: the best plans that a short search finds with one
// width for each node group, and so with each uniform layout that the widths contain. The search
// over all widths begins with the best of them, so it is never worse than they are.
#include "data/base/least.h"
#include "formulate/choices/choices.h"
#include "solve/layout/steps.h"

enum { COMBINATIONS_MOST = 64 };

// A group for each pool: index[pool] into its groups.
struct combination {
    const struct priced *p;
    int pools[SEATS_MAX], pool_count, taken[SEATS_MAX];
};

static int64_t open_combinations(struct combination *c, const struct priced *p)
{
    int64_t all = 1;
    *c = (struct combination){.p = p};
    for (int g = 0; g < p->group_count; g++) {
        int widths = 0;
        if (priced_pool(p, g) != g) continue;
        for (int k = g; k < p->group_count; k++) widths += priced_pool(p, k) == g;
        c->taken[c->pool_count] = g, c->pools[c->pool_count++] = g;
        all = all > COMBINATIONS_MOST ? all : all * widths;
    }
    return all;
}

// The next one, like an odometer; false: there was no other.
static bool advance(struct combination *c)
{
    for (int i = 0; i < c->pool_count; i++) {
        int next = c->taken[i] + 1;
        while (next < c->p->group_count && priced_pool(c->p, next) != c->pools[i]) next++;
        if (next < c->p->group_count) {
            c->taken[i] = next;
            return true;
        }
        c->taken[i] = c->pools[i];
    }
    return false;
}

static bool same_width(const struct priced_group *a, const struct priced_group *b)
{
    return a->tensor == b->tensor && a->context == b->context && a->data == b->data;
}

// One width for all, or any, as long as they are few.
static bool is_wanted(const struct combination *c, bool all)
{
    bool same = true;
    for (int i = 1; i < c->pool_count; i++)
        same = same && same_width(&c->p->groups[c->taken[0]], &c->p->groups[c->taken[i]]);
    return all || same;
}

static struct priced restricted(const struct combination *c, struct arena *arena)
{
    struct priced own = *c->p;
    own.groups = TAKE_COPY(arena, own.groups, own.group_count);
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
        if (!is_wanted(&c, all) || solving_should_stop(s)) continue;
        struct priced *part = TAKE(s->arena, 1, struct priced);
        *part = restricted(&c, s->arena);
        TRY(choices_build(&own, part, &s->schedule, s->arena, err));
        if (choices_hopeless_stage(&own, &why) >= 0) continue;
        incumbent_search(&best, &own, s->graph, (uint64_t)s->settings->seed, effort,
                         solving_should_stop, s, s->arena);
        keep(s, &own, &best);
    } while (advance(&c));
    return OK;
}
