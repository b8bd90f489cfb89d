// All chains together, with each hop at its cheapest position, are an assignment of successors in
// which as many nodes have no successor as there are chains, solved by the Hungarian method in
// integers. Its potentials are the starting prices of nodes (paths.c). First nodes may be
// restricted: all others have a node before them, or are in no chain.
#include "solve/chains/internal.h"

struct assignment {
    int n;
    const int64_t *cost; // [n * n], indexed from 1 below
    int64_t *row, *column, *slack;
    int *match, *way;
    bool *used;
};

static void assign_row(struct assignment *a, int i)
{
    int at = 0;
    a->match[0] = i;
    for (int j = 0; j <= a->n; j++) a->slack[j] = INT64_MAX, a->used[j] = false;
    do {
        int next = 0, from = a->match[at];
        int64_t delta = INT64_MAX;
        a->used[at] = true;
        for (int j = 1; j <= a->n; j++) {
            if (a->used[j]) continue;
            int64_t reduced = a->cost[(size_t)(from - 1) * (size_t)a->n + (size_t)(j - 1)] -
                              a->row[from] - a->column[j];
            if (reduced < a->slack[j]) a->slack[j] = reduced, a->way[j] = at;
            if (a->slack[j] < delta) delta = a->slack[j], next = j;
        }
        for (int j = 0; j <= a->n; j++) {
            if (a->used[j]) a->row[a->match[j]] += delta, a->column[j] -= delta;
            else a->slack[j] -= delta;
        }
        at = next;
    } while (a->match[at]);
    for (; at; at = a->way[at]) a->match[at] = a->match[a->way[at]];
}

static struct assignment assign(const int64_t *cost, int n, struct arena *arena)
{
    struct assignment a = {n,
                           cost,
                           TAKE(arena, n + 1, int64_t),
                           TAKE(arena, n + 1, int64_t),
                           TAKE(arena, n + 1, int64_t),
                           TAKE(arena, n + 1, int),
                           TAKE(arena, n + 1, int),
                           TAKE(arena, n + 1, bool)};
    for (int i = 1; i <= n; i++) assign_row(&a, i);
    return a;
}

static int64_t cheapest_hop(const struct chains *c, int from, int to)
{
    int64_t least = CHAIN_NONE;
    for (int position = 0; position + 1 < c->length; position++) {
        int64_t hop = chains_hop(c, position, from, to);
        least = least < hop ? least : hop;
    }
    return least;
}

// Rows: nodes, then dummies for nodes without a predecessor: chain_count chain beginnings, then
// dummies for nodes in no chain. Columns: nodes, then dummies for nodes without a successor.
static int64_t cost_of(const struct chains *c, const bool *firsts, int from, int to)
{
    int n = c->node_count;
    if (from == to || (from >= n && to >= n)) return CHAIN_NONE;
    if (from < n && to < n) return cheapest_hop(c, from, to);
    return from >= n && from < n + c->chain_count && firsts && !firsts[to] ? CHAIN_NONE : 0;
}

int64_t chains_assign(const struct chains *c, const bool *firsts, int64_t *price,
                      struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    int ends = c->node_count - c->chain_count * (c->length - 1), n = c->node_count + ends;
    int64_t *cost = TAKE(arena, (size_t)n * (size_t)n, int64_t), sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            cost[(size_t)i * (size_t)n + (size_t)j] = cost_of(c, firsts, i, j);
    struct assignment a = assign(cost, n, arena);
    for (int j = 1; j <= n; j++)
        sum += cost[(size_t)(a.match[j] - 1) * (size_t)n + (size_t)(j - 1)];
    for (int i = 0; i < c->node_count && price; i++) price[i] = a.row[i + 1] + a.column[i + 1];
    arena_reset(arena, mark);
    return sum;
}
