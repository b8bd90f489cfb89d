// Rings: the least weight that the heaviest link of a ring of so many device groups can have. For
// a given limit: can there be a ring with all links within it? Its nodes all reach each other and
// have enough device groups. Each of them is on a closed walk of that many links that does not
// turn back at once. With few device groups, all paths are tried, as sets of device groups. "No"
// is proven; with many, "yes" may be wrong.
#include <stdlib.h>
#include <string.h>

#include "data/base/least.h"
#include "solve/checker/places/places.h"

enum { WALKS_MOST = 64, SETS_MOST = 16 }; // nodes, for closed walks; device groups, for sets

struct rings {
    const int64_t *weights;
    const int *slots;
    int count, size;
    int64_t limit;
    bool *in, *forth, *back;
    int *queue;
    uint32_t *ends; // [set of device groups]
};

// A ring that leaves a node passes inside it at no cost.
static bool has_link(const struct rings *x, int from, int to)
{
    int64_t weight = x->weights[(size_t)from * (size_t)x->count + (size_t)to];
    return from == to ? x->slots[from] > 1 : weight >= 0 && weight <= x->limit;
}

// The remaining nodes that the node reaches, or that reach it.
static void reach(struct rings *x, int root, bool forth, bool *reached)
{
    int queued = 1;
    memset(reached, 0, (size_t)x->count * sizeof *reached);
    reached[root] = true;
    x->queue[0] = root;
    for (int done = 0; done < queued; done++)
        for (int i = 0; i < x->count; i++) {
            if (!x->in[i] || reached[i] ||
                !(forth ? has_link(x, x->queue[done], i) : has_link(x, i, x->queue[done])))
                continue;
            reached[i] = true;
            x->queue[queued++] = i;
        }
}

// Removes nodes that no ring can pass, since too few device groups both reach them and are reached
// from them.
static bool remove_scattered(struct rings *x)
{
    bool *seen = x->forth + x->count, removed = false;
    memset(seen, 0, (size_t)x->count * sizeof *seen);
    for (int root = 0; root < x->count; root++) {
        int64_t slots = 0;
        int nodes = 0;
        if (!x->in[root] || seen[root]) continue;
        reach(x, root, true, x->forth);
        reach(x, root, false, x->back);
        for (int i = 0; i < x->count; i++) {
            if (!x->forth[i] || !x->back[i]) continue;
            slots += x->slots[i];
            seen[i] = true;
            nodes++;
        }
        if (slots >= x->size && (nodes > 1 || has_link(x, root, root))) continue;
        for (int i = 0; i < x->count; i++)
            if (x->forth[i] && x->back[i]) x->in[i] = false, removed = true;
    }
    return removed;
}

// Whether a walk of `size` links returns to its root; if to a device group of another number, it
// may do so earlier, and at once. before[node]: the nodes that can precede it on such a walk, a
// bit each.
static bool is_on_walk(const struct rings *x, int root)
{
    uint64_t before[WALKS_MOST] = {0}, next[WALKS_MOST];
    for (int i = 0; i < x->count; i++)
        if (x->in[i] && has_link(x, root, i)) before[i] = UINT64_C(1) << root;
    for (int step = 2; step <= x->size; step++) {
        memset(next, 0, sizeof next);
        for (int at = 0; at < x->count; at++) {
            for (int i = 0; before[at] && i < x->count; i++) {
                bool again = i == root && step < x->size && x->slots[root] < 2;
                bool turns = x->size > 2 && x->slots[i] < 2 && !(before[at] & ~(UINT64_C(1) << i));
                if (x->in[i] && has_link(x, at, i) && !again && !turns)
                    next[i] |= UINT64_C(1) << at;
            }
        }
        memcpy(before, next, sizeof before);
    }
    return before[root] != 0;
}

static bool remove_walkless(struct rings *x)
{
    bool removed = false;
    for (int i = 0; i < x->count && x->count <= WALKS_MOST; i++) {
        if (!x->in[i] || is_on_walk(x, i)) continue;
        x->in[i] = false;
        removed = true;
    }
    return removed;
}

// The remaining device groups; 0: too many.
static int list_places(const struct rings *x, int node_of[SETS_MOST])
{
    int places = 0;
    for (int i = 0; i < x->count; i++)
        for (int k = 0; x->in[i] && k < x->slots[i] && k < x->size; k++) {
            if (places == SETS_MOST) return 0;
            node_of[places++] = i;
        }
    return places;
}

// Whether a path through `size` device groups that starts at the first of them in order can be
// closed. ends[set]: where paths through exactly this set may end, a bit each.
static bool closes_by_sets(struct rings *x, const int *node_of, int places)
{
    uint32_t before[SETS_MOST] = {0};
    for (int i = 0; i < places * places; i++) {
        int from = i / places, to = i % places;
        if (from != to && has_link(x, node_of[from], node_of[to]))
            before[to] |= UINT32_C(1) << from;
    }
    for (uint32_t set = 1; set < UINT32_C(1) << places; set++) {
        int first = __builtin_ctz(set), size = __builtin_popcount(set);
        x->ends[set] = size == 1 ? set : 0;
        for (uint32_t left = size > 1 && size <= x->size ? set & (set - 1) : 0; left;
             left &= left - 1) {
            int last = __builtin_ctz(left);
            if (x->ends[set & ~(UINT32_C(1) << last)] & before[last])
                x->ends[set] |= UINT32_C(1) << last;
        }
        if (size == x->size && x->ends[set] & before[first]) return true;
    }
    return false;
}

static bool may_exist(struct rings *x, int64_t limit)
{
    x->limit = limit;
    for (int i = 0; i < x->count; i++) x->in[i] = x->slots[i] > 0;
    while (remove_scattered(x) || remove_walkless(x)) continue;
    int node_of[SETS_MOST], places = list_places(x, node_of);
    if (places) return closes_by_sets(x, node_of, places);
    for (int i = 0; i < x->count; i++)
        if (x->in[i]) return true;
    return false;
}

// Where a node can hold a whole ring, another ring may leave it over any link.
static bool holds_ring(const int *slots, int count, int size)
{
    for (int i = 0; i < count; i++)
        if (slots[i] >= size) return true;
    return false;
}

int64_t check_least_bottleneck(const int64_t *weights, const int *slots, int count, int size,
                               struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    size_t pairs = (size_t)count * (size_t)count, low = 0, high = 0;
    int64_t *sorted = TAKE(arena, pairs + 1, int64_t), least = INT64_MAX;
    struct rings x = {.weights = weights,
                      .slots = slots,
                      .count = count,
                      .size = size,
                      .in = TAKE(arena, count, bool),
                      .forth = TAKE(arena, 2 * count, bool),
                      .back = TAKE(arena, count, bool),
                      .queue = TAKE(arena, count, int),
                      .ends = TAKE(arena, 1 << SETS_MOST, uint32_t)};
    for (size_t i = 0; i < pairs; i++)
        if (weights[i] >= 0) sorted[high++] = weights[i];
    qsort(sorted, high, sizeof *sorted, int64_ascending);
    size_t all = high;
    if (holds_ring(slots, count, size)) high = low;
    while (low < high) { // none exists within the weights before low
        size_t middle = low + (high - low) / 2;
        if (may_exist(&x, sorted[middle])) high = middle;
        else low = middle + 1;
    }
    if (low < all) least = sorted[low];
    arena_reset(arena, mark);
    return least;
}
