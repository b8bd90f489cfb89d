// The ring through given nodes whose slowest link is least, for directed links: a dynamic programme
// over sets and the last node of a path that begins at the set's lowest node.
#include <stdlib.h>
#include <string.h>

#include "data/base/least.h"
#include "solve/chains/internal.h"

static int lowest(uint32_t set) { return __builtin_ctz(set); }

// For a path from the set's lowest node through all of it that ends at `last`.
static int64_t least_path(const int64_t *path, const int64_t *link, int n, uint32_t set, int last)
{
    uint32_t before = set & ~(UINT32_C(1) << last);
    if (!before) return 0;
    if (last == lowest(set)) return CHAIN_NONE;
    int64_t least = CHAIN_NONE;
    for (uint32_t left = before; left; left &= left - 1) {
        int from = lowest(left);
        least = smaller(
            least, larger(path[(size_t)before * (size_t)n + (size_t)from], link[from * n + last]));
    }
    return least;
}

static void fill_paths(int64_t *path, const int64_t *link, int n, int size)
{
    for (uint32_t set = 1; set < UINT32_C(1) << n; set++) {
        if (__builtin_popcount(set) > size) continue;
        for (uint32_t left = set; left; left &= left - 1)
            path[(size_t)set * (size_t)n + (size_t)lowest(left)] =
                least_path(path, link, n, set, lowest(left));
    }
}

// The last node of the best ring through the set.
static int best_last(const int64_t *path, const int64_t *link, int n, uint32_t set, int64_t *least)
{
    int best = lowest(set);
    *least = CHAIN_NONE;
    for (uint32_t left = set; left; left &= left - 1) {
        int last = lowest(left);
        int64_t value =
            larger(path[(size_t)set * (size_t)n + (size_t)last], link[last * n + lowest(set)]);
        if (last == lowest(set) || value >= *least) continue;
        *least = value;
        best = last;
    }
    return best;
}

void rings_of_sets(int64_t *least, const int64_t *link, int node_count, int size,
                   struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    size_t sets = (size_t)1 << node_count;
    int64_t *path = TAKE(arena, sets * (size_t)node_count, int64_t);
    fill_paths(path, link, node_count, size);
    for (uint32_t set = 0; set < sets; set++) {
        least[set] = CHAIN_NONE;
        if (__builtin_popcount(set) == size) best_last(path, link, node_count, set, &least[set]);
    }
    arena_reset(arena, mark);
}

// ---- the ring through given nodes: paths from the first of them by links within a limit, as sets
// of possible last nodes

struct around {
    const int64_t *link; // [size * size]
    int size;
    int64_t limit;
    uint32_t *ends, *before; // [set of nodes after the first]: last nodes; [node]: nodes with a
                             // link to it within the limit
};

static bool can_close(struct around *x)
{
    uint32_t all = (UINT32_C(1) << (x->size - 1)) - 1;
    for (int to = 0; to < x->size; to++) {
        x->before[to] = 0;
        for (int from = 0; from < x->size; from++)
            if (from != to && x->link[from * x->size + to] <= x->limit)
                x->before[to] |= UINT32_C(1) << from;
    }
    for (uint32_t set = 1; set <= all; set++) { // bit i: node i + 1
        x->ends[set] = 0;
        for (uint32_t left = set; left; left &= left - 1) {
            uint32_t node = left & (~left + 1), rest = set & ~node,
                     from = rest ? x->ends[rest] << 1 : 1;
            if (from & x->before[lowest(node) + 1]) x->ends[set] |= node;
        }
    }
    return (x->ends[all] << 1 & x->before[0]) != 0;
}

// The costs of the links, cheapest first: the slowest link of a ring is one of them.
static int sort_links(const struct around *x, int64_t *sorted)
{
    int count = 0;
    for (int i = 0; i < x->size * x->size; i++)
        if (x->link[i] < CHAIN_NONE && i / x->size != i % x->size) sorted[count++] = x->link[i];
    qsort(sorted, (size_t)count, sizeof *sorted, int64_ascending);
    return count;
}

// Traces the sets back from the whole ring.
static void write_ring(const struct around *x, int *ring, const int *nodes)
{
    uint32_t set = (UINT32_C(1) << (x->size - 1)) - 1, next = x->before[0];
    for (int at = x->size - 1; at > 0; at--) {
        int last = lowest(x->ends[set] << 1 & next);
        ring[at] = nodes[last];
        set &= ~(UINT32_C(1) << (last - 1));
        next = x->before[last];
    }
    ring[0] = nodes[0];
}

void ring_through(int *ring, const int64_t *link, int node_count, const int *nodes, int size,
                  struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    int64_t *among = TAKE(arena, size * size, int64_t), *sorted = TAKE(arena, size * size, int64_t);
    struct around x = {.link = among,
                       .size = size,
                       .ends = TAKE(arena, (size_t)1 << (size - 1), uint32_t),
                       .before = TAKE(arena, size, uint32_t)};
    for (int i = 0; i < size * size; i++) {
        among[i] = link[nodes[i / size] * node_count + nodes[i % size]];
        if (i < size) ring[i] = nodes[i];
    }
    int low = size - 1, count = sort_links(&x, sorted), high = count; // never fewer links
    while (low < high) {
        int middle = low + (high - low) / 2;
        x.limit = sorted[middle];
        if (can_close(&x)) high = middle;
        else low = middle + 1;
    }
    if (high < count) {
        x.limit = sorted[high];
        can_close(&x);
        write_ring(&x, ring, nodes);
    }
    arena_reset(arena, mark);
}

void chains_close_ring(const struct chains *c, int *order, struct arena *arena)
{
    if (!chains_have_ring(c) || c->chain_count > CHAINS_EXACT_MAX) return;
    struct arena_mark mark = arena_set_mark(arena);
    size_t size = (size_t)(c->chain_count * c->length);
    int *firsts = TAKE(arena, c->chain_count, int), *ring = TAKE(arena, c->chain_count, int),
        *kept = TAKE(arena, size, int);
    memcpy(kept, order, size * sizeof *kept);
    for (int i = 0; i < c->chain_count; i++) firsts[i] = kept[i * c->length];
    ring_through(ring, c->ring, c->node_count, firsts, c->chain_count, arena);
    for (int i = 0; i < c->chain_count; i++)
        for (int k = 0; k < c->chain_count; k++)
            if (kept[k * c->length] == ring[i])
                memcpy(order + i * c->length, kept + k * c->length,
                       (size_t)c->length * sizeof *order);
    arena_reset(arena, mark);
}
