// From an earlier placement to a new one with as few moves as possible. Replicas have no names:
// those of the new plan get the numbers with which the fewest ranks change their node (an
// assignment problem, by shortest augmenting paths with potentials; S: Kuhn's method in the form of
// Jonker and Volgenant). Then every rank moves back if that makes the plan no slower, or not slower
// than the requested gap allows.
#include <string.h>

#include "solve/places/internal.h"

// ---- which replica is which

// cost[row * count + column] -> row_of[column], of least sum.
static void assign(int *row_of, const int64_t *cost, int count, struct arena *arena)
{
    int64_t *row_price = TAKE(arena, count + 1, int64_t),
            *column_price = TAKE(arena, count + 1, int64_t),
            *distance = TAKE(arena, count + 1, int64_t);
    int *taken = TAKE(arena, count + 1, int),
        *before = TAKE(arena, count + 1, int); // from 1; column 0 is where a path begins
    bool *done = TAKE(arena, count + 1, bool);
    for (int row = 1; row <= count; row++) {
        int column = 0;
        taken[0] = row;
        for (int i = 0; i <= count; i++) distance[i] = INT64_MAX, done[i] = false;
        do {
            int from = taken[column], next = 0;
            int64_t least = INT64_MAX;
            done[column] = true;
            for (int i = 1; i <= count; i++) {
                if (done[i]) continue;
                int64_t reduced = cost[(from - 1) * count + i - 1] - row_price[from] -
                                  column_price[i];
                assert(reduced >= 0); // potentials keep every reduced cost >= 0
                if (reduced < distance[i]) distance[i] = reduced, before[i] = column;
                if (distance[i] < least) least = distance[i], next = i;
            }
            assert(next);
            for (int i = 0; i <= count; i++) {
                if (done[i]) row_price[taken[i]] += least, column_price[i] -= least;
                else if (distance[i] < INT64_MAX) distance[i] -= least;
            }
            column = next;
        } while (taken[column]);
        for (; column; column = before[column]) taken[column] = taken[before[column]];
    }
    for (int i = 1; i <= count; i++) row_of[i - 1] = taken[i] - 1;
}

void placed_match(int *number, const int *before, const int *after, int replicas, int ranks,
                  struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    int64_t *cost = TAKE(arena, replicas * replicas, int64_t);
    for (int old = 0; old < replicas; old++)
        for (int new = 0; new < replicas; new ++) {
            int64_t moved = 0;
            for (int rank = 0; rank < ranks; rank++)
                moved += before[old * ranks + rank] != after[new *ranks + rank];
            cost[old * replicas + new] = moved * (replicas + 1) +
                                         (old != new); // ties: those that keep their number
        }
    assign(number, cost, replicas, arena);
    arena_reset(arena, mark);
}

// Of several best rings another one may now come first, which may be slower for some replica: then
// everything stays as it was.
static void rename_replicas(struct placed *p, struct placed_plan *plan, const int *before)
{
    struct arena_mark mark = arena_set_mark(p->arena);
    struct placed_plan old = placed_plan_empty(p, p->arena);
    int *number = TAKE(p->arena, p->replicas, int);
    placed_match(number, before, plan->node, p->replicas, p->ranks, p->arena);
    placed_plan_copy(p, &old, plan);
    assert(placed_is_order(number, p->replicas));
    for (int replica = 0; replica < p->replicas; replica++) {
        plan->micro_batches[number[replica]] = old.micro_batches[replica];
        memcpy(plan->chosen + number[replica] * p->stages, old.chosen + replica * p->stages,
               (size_t)p->stages * sizeof *old.chosen);
        memcpy(plan->node + number[replica] * p->ranks, old.node + replica * p->ranks,
               (size_t)p->ranks * sizeof *old.node);
    }
    for (int i = 0; i < p->stages * p->replicas; i++) plan->ring[i] = number[old.ring[i]];
    for (int i = 0; i < 2 * p->replicas; i++) {
        int member = old.embedding_ring[i], end = member / p->replicas * p->replicas;
        plan->embedding_ring[i] = end + number[member - end];
    }
    plan->slowest = 0;
    placed_evaluate(p, plan, INT64_MAX);
    if (plan->time_ns > old.time_ns) placed_plan_copy(p, plan, &old);
    assert(plan->time_ns <= old.time_ns);
    arena_reset(p->arena, mark);
}

// ---- unnecessary moves

// Takes `next` if it is no slower, or fast enough.
static bool take_if_fast(struct placed *p, struct placed_plan *plan, struct placed_plan *next,
                         int64_t enough_ns)
{
    int64_t most = plan->time_ns > enough_ns ? plan->time_ns : enough_ns;
    if (!placed_fit_all(p, next, NULL)) return false;
    next->slowest = plan->slowest;
    placed_evaluate(p, next, most + 1);
    if (next->time_ns > most) return false;
    placed_plan_copy(p, plan, next);
    return true;
}

// A rank that is on `node` now and was not before, or -1.
static int intruder(const struct placed *p, const struct placed_plan *plan, const int *before,
                    int node)
{
    for (int place = 0; place < p->replicas * p->ranks; place++)
        if (plan->node[place] == node && before[place] != node) return place;
    return -1;
}

// Every exchange that is taken brings one more rank back to its node, so it ends.
static void go_back(struct placed *p, struct placed_plan *plan, const int *before,
                    int64_t enough_ns, struct placed_plan *next)
{
    for (bool improved = true; improved;) {
        improved = false;
        for (int place = 0; place < p->replicas * p->ranks && !placed_is_stopped(p); place++) {
            int retained = before[place], there = plan->node[place];
            if (retained < 0 || there == retained) continue;
            int other = intruder(p, plan, before, retained);
            placed_plan_copy(p, next, plan);
            if (other >= 0) next->node[other] = there;
            next->node[place] = retained;
            improved = take_if_fast(p, plan, next, enough_ns) || improved;
        }
    }
}

void placed_settle(struct placed *p, struct placed_plan *plan, const int *like, const int *before,
                   int64_t enough_ns)
{
    struct arena_mark mark = arena_set_mark(p->arena);
    struct placed_plan next = placed_plan_empty(p, p->arena);
    int64_t most_ns = plan->time_ns > enough_ns ? plan->time_ns : enough_ns;
    placed_plan_copy(p, &next, plan);
    if (placed_fit_all(p, &next, like)) take_if_fast(p, plan, &next, enough_ns);
    rename_replicas(p, plan, before);
    go_back(p, plan, before, enough_ns, &next);
    rename_replicas(p, plan, before);
    assert(plan->time_ns <= most_ns);
    arena_reset(p->arena, mark);
}
