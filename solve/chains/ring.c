// Rings whose slowest link is least, for directed links. Of every set of nodes: a dynamic programme
// over sets and the last node of a path that begins at the set's lowest node.
#include <assert.h>
#include <stdlib.h>

#include "data/base/least.h"
#include "solve/chains/internal.h"

struct ring_paths {
    const int64_t *link;
    int n;
    int64_t *least; // [set * n + last]: the slowest link of a path from the set's lowest node
                    // through all of it
};

static int lowest(uint32_t set) { return __builtin_ctz(set); }

// The least slowest link of a path through the set that goes on to `next`.
static int64_t least_before(const struct ring_paths *p, uint32_t set, int next)
{
    int64_t least = CHAIN_NONE;
    for (uint32_t left = set; left; left &= left - 1) {
        int last = lowest(left);
        least = smaller(least, larger(p->least[(size_t)set * (size_t)p->n + (size_t)last],
                                      p->link[last * p->n + next]));
    }
    return least;
}

void rings_of_sets(int64_t *least, const int64_t *link, int node_count, int size,
                   struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    size_t sets = (size_t)1 << node_count, n = (size_t)node_count;
    struct ring_paths p = {link, node_count, TAKE(arena, sets * n, int64_t)};
    for (uint32_t set = 0; set < sets; set++) {
        least[set] = CHAIN_NONE;
        if (__builtin_popcount(set) > size) continue;
        for (uint32_t left = set; left; left &= left - 1) {
            uint32_t before = set & ~(left & (~left + 1));
            p.least[set * n + (size_t)lowest(left)] = !before ? 0
                                                      : left == set
                                                          ? CHAIN_NONE
                                                          : least_before(&p, before, lowest(left));
        }
        if (set && __builtin_popcount(set) == size) least[set] = least_before(&p, set, lowest(set));
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
        uint32_t lasts = x->ends[set] << 1 & next;
        assert(lasts); // the ring closes
        int last = lowest(lasts);
        ring[at] = nodes[last];
        set &= ~(UINT32_C(1) << (last - 1));
        next = x->before[last];
    }
    ring[0] = nodes[0];
}

void ring_through(int *ring, const int64_t *link, int node_count, const int *nodes, int size,
                  struct arena *arena)
{
    assert(size >= 1 && size <= CHAINS_EXACT_MAX);
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
