// The ring with the least dearest link through given nodes, direction counted: a dynamic programme over sets and the last
// node of a path that begins at the set's lowest.
#include "solve/chains_parts.h"

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int lowest(uint32_t set) { return __builtin_ctz(set); }

// Of a path from the set's lowest node through all of it that ends at `last`.
static int64_t least_path(const int64_t *path, const int64_t *link, int n, uint32_t set, int last)
{
    uint32_t before = set & ~(UINT32_C(1) << last);
    if (!before) return 0;
    if (last == lowest(set)) return CHAIN_NONE;
    int64_t least = CHAIN_NONE;
    for (uint32_t left = before; left; left &= left - 1) {
        int from = lowest(left);
        least = smaller(least, larger(path[(size_t)before * (size_t)n + (size_t)from], link[from * n + last]));
    }
    return least;
}

static void fill_paths(int64_t *path, const int64_t *link, int n, int size)
{
    for (uint32_t set = 1; set < UINT32_C(1) << n; set++) {
        if (__builtin_popcount(set) > size) continue;
        for (uint32_t left = set; left; left &= left - 1)
            path[(size_t)set * (size_t)n + (size_t)lowest(left)] = least_path(path, link, n, set, lowest(left));
    }
}

// The last node of the best ring through the set.
static int best_last(const int64_t *path, const int64_t *link, int n, uint32_t set, int64_t *least)
{
    int best = lowest(set);
    *least = CHAIN_NONE;
    for (uint32_t left = set; left; left &= left - 1) {
        int last = lowest(left);
        int64_t value = larger(path[(size_t)set * (size_t)n + (size_t)last], link[last * n + lowest(set)]);
        if (last == lowest(set) || value >= *least) continue;
        *least = value;
        best = last;
    }
    return best;
}

void rings_of_sets(int64_t *least, const int64_t *link, int node_count, int size, struct arena *arena)
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

void ring_through(int *ring, const int64_t *link, int node_count, const int *nodes, int size, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    int64_t *among = TAKE(arena, size * size, int64_t), *path = TAKE(arena, ((size_t)1 << size) * (size_t)size, int64_t), least;
    for (int i = 0; i < size * size; i++) among[i] = link[nodes[i / size] * node_count + nodes[i % size]];
    fill_paths(path, among, size, size);
    uint32_t set = (uint32_t)(((uint64_t)1 << size) - 1);
    int last = best_last(path, among, size, set, &least);
    for (int at = size - 1; at > 0; at--) {
        ring[at] = nodes[last];
        uint32_t before = set & ~(UINT32_C(1) << last);
        int64_t reached = path[(size_t)set * (size_t)size + (size_t)last];
        for (uint32_t left = before; left; left &= left - 1) {
            int from = lowest(left);
            if (larger(path[(size_t)before * (size_t)size + (size_t)from], among[from * size + last]) != reached) continue;
            last = from;
            break;
        }
        set = before;
    }
    ring[0] = nodes[last];
    arena_reset(arena, mark);
}
