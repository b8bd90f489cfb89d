// Which nodes can be on a ring of a given size by cheap links. Rings are within parts whose nodes
// all reach each other. Within a part, a ring through a node is searched for link by link, up to a
// fixed number of looks; when they are used up the node is assumed to be on one. So "no" is proven,
// and "yes" may be wrong.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "data/base/least.h"
#include "solve/chains/internal.h"

// Looks at links: of one call, shared among its nodes; and at least this many times those of one
// path for each node.
enum { LOOKS = 4000000, LOOKS_OF_PATH = 4 };

struct closing {
    const int64_t *link;
    int n, size;
    int64_t limit;
    bool *in, *seen, *on_ring;
    int *part, *queue, *back; // back[]: hops from there to the root
    int root, *path;
    int64_t looks;
};

static bool joined(const struct closing *x, int from, int to)
{
    return from != to && x->link[(size_t)from * (size_t)x->n + (size_t)to] < x->limit;
}

// Marks what is reached from `root` (forward) or reaches it, with the fewest hops in back[];
// returns how many.
static int reach(struct closing *x, int root, bool forward)
{
    int count = 1;
    for (int i = 0; i < x->n; i++) x->back[i] = -1;
    x->back[root] = 0;
    x->queue[0] = root;
    for (int at = 0; at < count; at++)
        for (int i = 0; i < x->n; i++) {
            int node = x->queue[at];
            if (!x->in[i] || x->back[i] >= 0 ||
                !(forward ? joined(x, node, i) : joined(x, i, node)))
                continue;
            x->back[i] = x->back[node] + 1;
            x->queue[count++] = i;
        }
    return count;
}

// Finds parts of nodes that all reach each other; those with fewer than `size` nodes are dropped.
// Returns the number of parts.
static int split_parts(struct closing *x)
{
    int parts = 0;
    for (int i = 0; i < x->n; i++) x->part[i] = -1;
    for (int root = 0; root < x->n; root++) {
        if (!x->in[root] || x->part[root] >= 0) continue;
        int count = 0;
        reach(x, root, true);
        for (int i = 0; i < x->n; i++) x->seen[i] = x->back[i] >= 0;
        reach(x, root, false);
        for (int i = 0; i < x->n; i++)
            if (x->seen[i] && x->back[i] >= 0) x->part[i] = parts, count++;
        if (count >= x->size) {
            parts++;
            continue;
        }
        for (int i = 0; i < x->n; i++)
            if (x->part[i] == parts) x->in[i] = false, x->part[i] = -1;
    }
    return parts;
}

// Whether a path of `count` nodes that ends at `last` can be closed to a ring, as far as the looks
// suffice.
static bool close_path(struct closing *x, int last, int count)
{
    if (count == x->size) return joined(x, last, x->root);
    x->looks -= x->n;
    for (int i = 0; i < x->n && x->looks > 0; i++) {
        if (x->part[i] != x->part[x->root] || x->seen[i] || !joined(x, last, i) ||
            x->back[i] > x->size - count)
            continue;
        x->seen[i] = true;
        x->path[count] = i;
        if (close_path(x, i, count + 1)) return true;
        x->seen[i] = false;
    }
    return x->looks <= 0;
}

static bool lies_on_ring(struct closing *x, int root)
{
    assert(x->in[root] && x->part[root] >= 0);
    x->root = root;
    x->looks = larger(LOOKS / x->n, (int64_t)LOOKS_OF_PATH * x->size * x->n);
    reach(x, root, false);
    memset(x->seen, 0, (size_t)x->n * sizeof *x->seen);
    x->seen[root] = true;
    x->path[0] = root;
    if (!close_path(x, root, 1)) return false;
    for (int i = 0; i < x->size && x->looks > 0; i++) x->on_ring[x->path[i]] = true;
    return true;
}

// any: only whether there is a ring; a ring that was actually found ends the search.
static int find_rings(const int64_t *link, int node_count, int size, int64_t limit, bool *in,
                      int *part, bool any, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    struct closing x = {.link = link,
                        .n = node_count,
                        .size = size,
                        .limit = limit,
                        .in = in,
                        .part = part,
                        .seen = TAKE(arena, node_count, bool),
                        .on_ring = TAKE(arena, node_count, bool),
                        .queue = TAKE(arena, node_count, int),
                        .back = TAKE(arena, node_count, int),
                        .path = TAKE(arena, size, int)};
    int parts = split_parts(&x);
    for (bool changed = true; changed && parts;) {
        changed = false;
        memset(x.on_ring, 0, (size_t)node_count * sizeof *x.on_ring);
        for (int i = 0; i < node_count; i++) {
            if (!in[i] || x.on_ring[i]) continue;
            if (!lies_on_ring(&x, i)) in[i] = false, changed = true;
            else if (any && x.looks > 0) return arena_reset(arena, mark), 1;
        }
        if (changed) parts = split_parts(&x);
    }
    arena_reset(arena, mark);
    return parts;
}

int rings_within(const int64_t *link, int node_count, int size, int64_t limit, bool *in, int *part,
                 struct arena *arena)
{
    return find_rings(link, node_count, size, limit, in, part, false, arena);
}

// The distinct costs of the links among them, cheapest first.
static int list_costs(int64_t *sorted, const int64_t *link, int node_count, const bool *among)
{
    int count = 0, distinct = 0;
    for (int i = 0; i < node_count; i++)
        for (int j = 0; j < node_count; j++) {
            int64_t cost = link[i * node_count + j];
            if (i == j || !among[i] || !among[j] || cost >= CHAIN_NONE) continue;
            if (!count || cost != sorted[count - 1]) sorted[count++] = cost;
        }
    qsort(sorted, (size_t)count, sizeof *sorted, int64_ascending);
    for (int i = 0; i < count; i++)
        if (!i || sorted[i] != sorted[distinct - 1]) sorted[distinct++] = sorted[i];
    return distinct;
}

int64_t ring_bound(const int64_t *link, int node_count, int size, const bool *among,
                   struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    int64_t *sorted = TAKE(arena, (size_t)node_count * (size_t)node_count + 1, int64_t);
    bool *in = TAKE(arena, node_count, bool);
    int *part = TAKE(arena, node_count, int), low = 0;
    if (!among) {
        bool *all = TAKE(arena, node_count, bool);
        memset(all, true, (size_t)node_count * sizeof *all);
        among = all;
    }
    int count = list_costs(sorted, link, node_count, among);
    for (int high = count; low < high;) { // no ring has all links cheaper than sorted[low]
        int middle = low + (high - low) / 2;
        memcpy(in, among, (size_t)node_count * sizeof *in);
        if (find_rings(link, node_count, size, sorted[middle] + 1, in, part, true, arena))
            high = middle;
        else low = middle + 1;
    }
    int64_t least = low < count ? sorted[low] : CHAIN_NONE;
    arena_reset(arena, mark);
    return least;
}
