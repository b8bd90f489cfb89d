// A bound where tables over sets would be too large. The hops of all chains together, each at its cheapest position, are an
// assignment of successors in which chain_count nodes have none: its least sum, by the Hungarian method in integers,
// divided by the number of chains. A ring's dearest link is no cheaper than the least limit under which chain_count nodes
// lie on rings, that is, for which every node of some set has a link in and one out: peeled until none is missing.
#include <string.h>

#include "solve/chains_parts.h"

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// Least cost of a perfect assignment of rows to columns, cost[n * n] (shortest augmenting paths with potentials).
static int64_t least_assignment(const int64_t *cost, int n, struct arena *arena)
{
    int64_t *row = TAKE(arena, n + 1, int64_t), *column = TAKE(arena, n + 1, int64_t), *slack = TAKE(arena, n + 1, int64_t);
    int *match = TAKE(arena, n + 1, int), *way = TAKE(arena, n + 1, int);
    bool *used = TAKE(arena, n + 1, bool);
    for (int i = 1; i <= n; i++) {
        int at = 0;
        match[0] = i;
        for (int j = 0; j <= n; j++) slack[j] = INT64_MAX, used[j] = false;
        do {
            int next = 0, from = match[at];
            int64_t delta = INT64_MAX;
            used[at] = true;
            for (int j = 1; j <= n; j++) {
                if (used[j]) continue;
                int64_t reduced = cost[(size_t)(from - 1) * (size_t)n + (size_t)(j - 1)] - row[from] - column[j];
                if (reduced < slack[j]) slack[j] = reduced, way[j] = at;
                if (slack[j] < delta) delta = slack[j], next = j;
            }
            for (int j = 0; j <= n; j++) {
                if (used[j]) row[match[j]] += delta, column[j] -= delta;
                else slack[j] -= delta;
            }
            at = next;
        } while (match[at]);
        for (; at; at = way[at]) match[at] = match[way[at]];
    }
    int64_t sum = 0;
    for (int j = 1; j <= n; j++) sum += cost[(size_t)(match[j] - 1) * (size_t)n + (size_t)(j - 1)];
    return sum;
}

static int64_t cheapest_hop(const struct chains *c, int from, int to)
{
    int64_t least = CHAIN_NONE;
    for (int position = 0; position + 1 < c->length; position++) least = smaller(least, chains_hop(c, position, from, to));
    return least;
}

// Rows: nodes, then what stands for no node; columns likewise. chain_count + spare nodes are followed by nothing.
static int64_t mean_of_chains(const struct chains *c, struct arena *arena)
{
    int ends = c->node_count - c->chain_count * (c->length - 1), n = c->node_count + ends;
    int64_t *cost = TAKE(arena, (size_t)n * (size_t)n, int64_t);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            bool both = i < c->node_count && j < c->node_count, none = i >= c->node_count && j >= c->node_count;
            cost[(size_t)i * (size_t)n + (size_t)j] = none || i == j ? CHAIN_NONE : both ? cheapest_hop(c, i, j) : 0;
        }
    int64_t sum = least_assignment(cost, n, arena);
    return (sum + c->chain_count - 1) / c->chain_count;
}

// Whether `size` nodes could lie on rings of links within the limit.
static bool could_close(const int64_t *link, int n, int size, int64_t limit, bool *in)
{
    int left = n;
    for (int i = 0; i < n; i++) in[i] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < n; i++) {
            bool out = false, back = false;
            for (int j = 0; j < n && in[i]; j++) {
                out |= j != i && in[j] && link[i * n + j] <= limit;
                back |= j != i && in[j] && link[j * n + i] <= limit;
            }
            if (!in[i] || (out && back)) continue;
            in[i] = false;
            left--;
            changed = true;
        }
    }
    return left >= size;
}

static int64_t ring_exact(const int64_t *link, int node_count, int size, struct arena *arena)
{
    int64_t *of_sets = TAKE(arena, (size_t)1 << node_count, int64_t), least = CHAIN_NONE;
    rings_of_sets(of_sets, link, node_count, size, arena);
    for (size_t set = 0; set < (size_t)1 << node_count; set++) least = smaller(least, of_sets[set]);
    return least;
}

int64_t ring_bound(const int64_t *link, int node_count, int size, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    bool *in = TAKE(arena, node_count, bool);
    int64_t low = 0, high = CHAIN_NONE;
    if (node_count <= CHAINS_EXACT_MAX) low = high = ring_exact(link, node_count, size, arena);
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (could_close(link, node_count, size, middle, in)) high = middle;
        else low = middle + 1;
    }
    arena_reset(arena, mark);
    return low;
}

int64_t chains_bound(const struct chains *c, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    int64_t bound = c->length > 1 ? mean_of_chains(c, arena) : 0;
    if (chains_have_ring(c)) bound += ring_bound(c->ring, c->node_count, c->chain_count, arena);
    arena_reset(arena, mark);
    return bound;
}

void chains_close_ring(const struct chains *c, int *order, struct arena *arena)
{
    if (!chains_have_ring(c) || c->chain_count > CHAINS_EXACT_MAX) return;
    struct arena_mark mark = arena_set_mark(arena);
    size_t size = (size_t)(c->chain_count * c->length);
    int *firsts = TAKE(arena, c->chain_count, int), *ring = TAKE(arena, c->chain_count, int), *kept = TAKE(arena, size, int);
    memcpy(kept, order, size * sizeof *kept);
    for (int i = 0; i < c->chain_count; i++) firsts[i] = kept[i * c->length];
    ring_through(ring, c->ring, c->node_count, firsts, c->chain_count, arena);
    for (int i = 0; i < c->chain_count; i++)
        for (int k = 0; k < c->chain_count; k++)
            if (kept[k * c->length] == ring[i]) memcpy(order + i * c->length, kept + k * c->length, (size_t)c->length * sizeof *order);
    arena_reset(arena, mark);
}
