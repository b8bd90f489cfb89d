// The incumbent search: plans by dynamic programming under caps on the load, then local search with
// exact replay. The effort is counted in replays and all draws come from one seeded generator
// (splitmix64), so a seed determines the plan. Arithmetic is on integers, or on doubles that hold
// integers below 2^53: the same on every machine.
#include <string.h>

#include "data/base/random.h"
#include "solve/incumbent/internal.h"

enum { STARTS_MAX = 12 };

uint64_t search_random(struct search *s, uint64_t below) { return random_next(&s->random) % below; }

bool search_is_stopped(struct search *s)
{
    if (!s->stopped && s->should_stop && s->should_stop(s->stop_argument)) s->stopped = true;
    return s->stopped;
}

bool search_is_over(struct search *s) { return search_is_stopped(s) || s->effort_left <= 0; }

bool search_resources_hold(const struct search *s, const int *chosen)
{
    const struct priced *p = s->c->priced;
    int64_t slots[SEATS_MAX] = {0};
    for (int i = 0; i < s->stage_count; i++) {
        const struct choice *c = &s->c->stages[i].items[chosen[i]];
        int pool = priced_pool(p, c->group), first = p->groups[pool].takes ? 0 : pool,
            end = p->groups[pool].takes ? p->group_count : pool + 1;
        for (int g = first; g < end; g++) {
            if (i < s->c->rank_count) slots[g] += priced_slots_taken(p, g, c->group);
            if (slots[g] > p->groups[g].slots) return false;
        }
    }
    for (int r = 0; r < s->c->rank_count && s->c->virtual_stages > 1; r++)
        if (!choices_rank_fits(s->c, chosen, r)) return false;
    return choices_within_budget(s->c, chosen);
}

int64_t search_replay(struct search *s, const int *chosen, int *counts)
{
    if (search_is_stopped(s)) return INT64_MAX;
    struct arena_mark mark = arena_set_mark(s->arena);
    int64_t *durations = TAKE(s->arena, s->symbols, int64_t), time = INT64_MAX;
    s->effort_left -= EFFORT_REPLAY;
    if (choices_fit_together(s->c, chosen) && choices_durations(s->c, chosen, durations))
        time = graph_longest(s->g, durations, counts);
    arena_reset(s->arena, mark);
    assert(time >= 0);
    if (time < INT64_MAX && (!s->best->found || time < s->best->iteration_ns)) {
        s->best->found = true;
        s->best->iteration_ns = time;
        memcpy(s->best->chosen, chosen, (size_t)s->stage_count * sizeof *chosen);
    }
    return time;
}

// Rounds of threshold accepting: from the best plan in every other round, else from one of the
// starts in turn. The heat (how much worse a step may be) is a share of the iteration time and
// falls within a round.
static void improve(struct search *s, int *const *starts, int start_count)
{
    struct local *l = local_open(s);
    int *now = TAKE(s->arena, s->stage_count, int);
    int64_t steps = 600 * (int64_t)s->stage_count;
    for (int round = 0; !search_is_over(s) && s->best->found; round++) {
        const int *from = round % 2 && round / 2 < start_count ? starts[round / 2]
                                                               : s->best->chosen;
        memcpy(now, from, (size_t)s->stage_count * sizeof *now);
        local_search(l, now, steps, s->best->iteration_ns / (round % 3 == 2 ? 1000 : 150));
    }
}

void incumbent_search(struct incumbent *best, const struct choices *c, struct graph *g,
                      uint64_t seed, int64_t replays, bool (*should_stop)(void *),
                      void *stop_argument, struct arena *arena)
{
    struct search s = {.best = best,
                       .c = c,
                       .g = g,
                       .stage_count = c->priced->stage_count,
                       .symbols = symbol_count(c->priced->stage_count, c->priced->slice_count),
                       .random = seed,
                       .should_stop = should_stop,
                       .stop_argument = stop_argument,
                       .arena = arena};
    assert(replays >= 0 && s.stage_count <= STAGES_MAX && graph_symbol_count(g) == s.symbols);
    assert(!best->found || (best->chosen && choices_fit_together(c, best->chosen)));
    if (!best->chosen) best->chosen = TAKE(arena, s.stage_count, int);
    for (int i = 0; i < s.stage_count; i++)
        if (c->stages[i].count == 0) return;
    struct arena_mark mark = arena_set_mark(arena);
    s.effort_left = replays * EFFORT_REPLAY;
    int *starts[STARTS_MAX];
    bool several = c->virtual_stages > 1;
    int start_count = several ? search_balance(&s, true, starts, STARTS_MAX) : 0;
    if (!start_count) start_count = search_construct(&s, false, starts, STARTS_MAX);
    if (!best->found && several) start_count = search_balance(&s, false, starts, STARTS_MAX);
    bool places = c->free_from > 0 && c->free_from < c->priced->layer_count;
    if (!best->found && several && places) // numbers of layers by rank do not say which they are
        start_count = search_construct(&s, true, starts, STARTS_MAX);
    assert(start_count >= 0 && start_count <= STARTS_MAX);
    if (best->found) improve(&s, starts, start_count);
    assert(!best->found || choices_fit_together(c, best->chosen));
    arena_reset(arena, mark);
}
