// The iteration time of a graph without a barrier: the period of the graph repeated for ever. A
// period T is feasible if and only if start times exist that keep every dependence when each
// iteration begins T after the previous one. This is a longest-path problem between the operations
// that wait for the previous iteration (entries): their times are raised until nothing is too
// early, or until the raises form a cycle. Bisection finds the least T; a correct claim takes two
// tries, at it and 1 ns below.
#include "solve/judge/internal.h"

struct entries {
    const struct schedule *s;
    const int64_t *duration; // [operation]
    const int *order;        // operations, each after those it waits for
    struct waiting w;
    int64_t *start, *end; // [operation], of one iteration
    int *origin;          // [operation]: the entry that determines its time, -1: none
    int64_t *time;        // [operation]: for entries
    int *raised_by; // [operation]: for entries: the one of the previous lap that raised it, -1:
                    // none
    bool *is_entry;
    int entry_count;
};

// Operations in an order that respects all dependences; false: none exists.
static bool put_in_order(const struct schedule *s, struct waiting *w, int *order)
{
    int count = 0;
    for (int i = 0; i < s->operation_count; i++)
        if (w->open[i] == 0) order[count++] = i;
    for (int at = 0; at < count; at++)
        for (int i = w->first[order[at]]; i < w->first[order[at] + 1]; i++)
            if (--w->open[w->successors[i]] == 0) order[count++] = w->successors[i];
    return count == s->operation_count;
}

static void walk_iteration(struct entries *e)
{
    int operations = e->s->operation_count;
    for (int i = 0; i < operations; i++) {
        e->start[i] = e->time[i];
        e->origin[i] = e->is_entry[i] ? i : -1;
    }
    for (int at = 0; at < operations; at++) {
        int o = e->order[at];
        e->end[o] = judged_later(e->start[o], e->duration[o]);
        for (int i = e->w.first[o]; i < e->w.first[o + 1]; i++) {
            int next = e->w.successors[i];
            if (e->end[o] <= e->start[next]) continue;
            e->start[next] = e->end[o];
            e->origin[next] = e->origin[o];
        }
    }
}

// Whether the entries that raised each other form a cycle. If so, it takes more than its laps
// allow.
static bool goes_round(const struct entries *e, int entry)
{
    for (int laps = 0; entry >= 0; laps++, entry = e->raised_by[entry])
        if (laps > e->entry_count) return true;
    return false;
}

static bool is_possible(struct entries *e, int64_t period_ns)
{
    for (int i = 0; i < e->s->operation_count; i++) {
        e->time[i] = 0;
        e->raised_by[i] = -1;
    }
    for (;;) {
        bool rose = false;
        walk_iteration(e);
        for (int i = 0; i < e->s->carried_count; i++) {
            struct dependence d = e->s->carried[i];
            if (e->end[d.before] - period_ns <= e->time[d.after]) continue;
            e->time[d.after] = e->end[d.before] - period_ns;
            e->raised_by[d.after] = e->origin[d.before];
            rose = true;
        }
        if (!rose) return true;
        for (int i = 0; i < e->s->carried_count; i++)
            if (goes_round(e, e->s->carried[i].after)) return false;
    }
}

static int64_t least_period(struct entries *e, int64_t claimed_ns)
{
    int64_t low = -1, high = 1; // infeasible, feasible
    if (claimed_ns > 0 && is_possible(e, claimed_ns)) {
        if (!is_possible(e, claimed_ns - 1)) return claimed_ns;
        high = claimed_ns - 1;
    } else if (claimed_ns > 0) {
        low = claimed_ns;
    }
    if (high <= low) {
        walk_iteration(e);
        for (int i = 0; i < e->s->operation_count; i++)
            if (e->end[i] > high) high = e->end[i];
    }
    while (!is_possible(e, high)) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (is_possible(e, middle)) high = middle;
        else low = middle;
    }
    return high;
}

int64_t judged_period(const struct schedule *s, const struct plan *plan, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    int *order = TAKE(arena, s->operation_count, int);
    int64_t *duration = TAKE(arena, s->operation_count, int64_t), period_ns = -1;
    struct entries e = {.s = s,
                        .duration = duration,
                        .order = order,
                        .w = judged_waiting(s, arena),
                        .start = TAKE(arena, s->operation_count, int64_t),
                        .end = TAKE(arena, s->operation_count, int64_t),
                        .origin = TAKE(arena, s->operation_count, int),
                        .time = TAKE(arena, s->operation_count, int64_t),
                        .raised_by = TAKE(arena, s->operation_count, int),
                        .is_entry = TAKE(arena, s->operation_count, bool)};
    for (int i = 0; i < s->operation_count; i++)
        duration[i] = judged_duration(plan, &s->operations[i]);
    for (int i = 0; i < s->carried_count; i++) {
        e.entry_count += !e.is_entry[s->carried[i].after];
        e.is_entry[s->carried[i].after] = true;
    }
    if (put_in_order(s, &e.w, order)) period_ns = least_period(&e, plan->iteration_ns);
    arena_reset(arena, mark);
    return period_ns;
}
