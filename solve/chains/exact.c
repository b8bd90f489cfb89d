// The proof for few nodes. A chain's least value, given its set of nodes and the first of them,
// comes from a dynamic programme over sets; so does the best ring through a set of first nodes.
// Sets of first nodes are taken cheapest ring first. For each, the other nodes are distributed so
// that no chain costs more than what would still improve on the best known; the limit of the chains
// is found by bisection. Sets of remaining nodes with which this failed are remembered.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "data/base/least.h"
#include "solve/chains/internal.h"

static int lowest(uint32_t set) { return __builtin_ctz(set); }

struct tail {
    int64_t cost;
    uint32_t behind;
}; // a chain's nodes after its first

struct proof {
    const struct chains *c;
    struct chains_result *result;
    int64_t *least; // [set * node_count + first]: of a chain's last |set| nodes, with `first` the
                    // first of them
    int firsts[CHAINS_EXACT_MAX];
    uint32_t shared[CHAINS_EXACT_MAX];    // [chain] the nodes after its first
    struct tail *tails[CHAINS_EXACT_MAX]; // [first] those that can be in an order that improves,
                                          // cheapest first
    int tail_count[CHAINS_EXACT_MAX];
    uint32_t *failed, stamp; // [nodes left over] == stamp: they cannot complete the order
    int64_t limit, steps;
    const struct chains_settings *settings;
    bool stopped; // from then on "no" proves nothing
};

// Looks at the clock now and then.
static bool is_stopped(struct proof *p)
{
    enum { LOOK_EVERY = 1 << 12 };
    const struct chains_settings *s = p->settings;
    if (!p->stopped && s->should_stop && p->steps % LOOK_EVERY == 0)
        p->stopped = s->should_stop(s->stop_argument);
    return p->stopped;
}

static int64_t least_of(const struct proof *p, uint32_t set, int first)
{
    return p->least[(size_t)set * (size_t)p->c->node_count + (size_t)first];
}

// |set| nodes are a chain's last ones, so the hop from `first` has the position length - |set|.
static int64_t least_tail(const struct proof *p, uint32_t set, int first)
{
    uint32_t behind = set & ~(UINT32_C(1) << first);
    if (!behind) return 0;
    int position = p->c->length - __builtin_popcount(set);
    int64_t least = INT64_MAX;
    for (uint32_t left = behind; left; left &= left - 1)
        least = smaller(least, chains_hop(p->c, position, first, lowest(left)) +
                                   least_of(p, behind, lowest(left)));
    return least;
}

static void fill_tails(struct proof *p)
{
    int n = p->c->node_count;
    for (uint32_t set = 1; set < UINT32_C(1) << n; set++) {
        if (__builtin_popcount(set) > p->c->length) continue;
        for (uint32_t left = set; left; left &= left - 1)
            p->least[(size_t)set * (size_t)n + (size_t)lowest(left)] =
                least_tail(p, set, lowest(left));
    }
}

// Whether the chains from `chain` on can take their nodes from `left`, none above the limit.
static bool share_out(struct proof *p, int chain, uint32_t left)
{
    if (chain == p->c->chain_count) return true;
    if (p->failed[left] == p->stamp || is_stopped(p)) return false;
    p->steps++;
    int first = p->firsts[chain], take = p->c->length - 1;
    if (chain == p->c->chain_count - 1 && __builtin_popcount(left) == take) {
        p->shared[chain] = left;
        return least_of(p, left | UINT32_C(1) << first, first) <= p->limit;
    }
    for (int i = 0; i < p->tail_count[first] && p->tails[first][i].cost <= p->limit; i++) {
        uint32_t behind = p->tails[first][i].behind;
        if (behind & ~left || !share_out(p, chain + 1, left & ~behind)) continue;
        p->shared[chain] = behind;
        return true;
    }
    p->failed[left] = p->stamp;
    return false;
}

static bool try_limit(struct proof *p, uint32_t firsts, int64_t limit)
{
    uint32_t all = (uint32_t)(((uint64_t)1 << p->c->node_count) - 1);
    p->stamp++;
    p->limit = limit;
    return share_out(p, 0, all & ~firsts);
}

// A chain of the least value, written out.
static void write_chain(const struct proof *p, int *chain, int first, uint32_t behind)
{
    uint32_t set = behind | UINT32_C(1) << first;
    for (int at = 0;; at++) {
        chain[at] = first;
        behind = set & ~(UINT32_C(1) << first);
        if (!behind) return;
        int64_t reached = least_of(p, set, first);
        for (uint32_t left = behind; left; left &= left - 1)
            if (chains_hop(p->c, at, first, lowest(left)) + least_of(p, behind, lowest(left)) ==
                reached) {
                first = lowest(left);
                break;
            }
        assert(behind >> first & 1); // some next node has what is left
        set = behind;
    }
}

static void keep(struct proof *p)
{
    for (int chain = 0; chain < p->c->chain_count; chain++)
        write_chain(p, p->result->order + chain * p->c->length, p->firsts[chain], p->shared[chain]);
}

struct first_set {
    int64_t ring;
    uint32_t firsts;
};

static int compare_sets(const void *a, const void *b)
{
    const struct first_set *x = a, *y = b;
    if (x->ring != y->ring) return x->ring < y->ring ? -1 : 1;
    return x->firsts < y->firsts ? -1 : x->firsts > y->firsts;
}

// Least value of a whole chain from each first node.
static void least_by_first(const struct proof *p, int64_t *least)
{
    int n = p->c->node_count;
    for (int i = 0; i < n; i++) least[i] = INT64_MAX;
    for (uint32_t set = 1; set < UINT32_C(1) << n; set++) {
        if (__builtin_popcount(set) != p->c->length) continue;
        for (uint32_t left = set; left; left &= left - 1)
            least[lowest(left)] = smaller(least[lowest(left)], least_of(p, set, lowest(left)));
    }
}

static int compare_tails(const void *a, const void *b)
{
    const struct tail *x = a, *y = b;
    if (x->cost != y->cost) return x->cost < y->cost ? -1 : 1;
    return x->behind < y->behind ? -1 : x->behind > y->behind;
}

// Lists the chains within the limit for each first node.
static void list_tails(struct proof *p, int64_t limit, struct arena *arena)
{
    int n = p->c->node_count;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < n; i++) {
            if (pass) p->tails[i] = TAKE(arena, p->tail_count[i], struct tail);
            p->tail_count[i] = 0;
        }
        for (uint32_t set = 1; set < UINT32_C(1) << n; set++) {
            if (__builtin_popcount(set) != p->c->length) continue;
            for (uint32_t left = set; left; left &= left - 1) {
                int first = lowest(left), at = p->tail_count[first];
                if (least_of(p, set, first) > limit) continue;
                if (pass)
                    p->tails[first][at] =
                        (struct tail){least_of(p, set, first), set & ~(UINT32_C(1) << first)};
                p->tail_count[first]++;
            }
        }
    }
    for (int i = 0; i < n; i++)
        if (p->tail_count[i])
            qsort(p->tails[i], (size_t)p->tail_count[i], sizeof *p->tails[i], compare_tails);
}

// Orders chains so that the one with the fewest choices comes first.
static void order_firsts(struct proof *p)
{
    for (int i = 1; i < p->c->chain_count; i++) {
        int first = p->firsts[i], at = i;
        for (; at > 0 && p->tail_count[p->firsts[at - 1]] > p->tail_count[first]; at--)
            p->firsts[at] = p->firsts[at - 1];
        p->firsts[at] = first;
    }
}

static void try_set(struct proof *p, const struct first_set *set, const int64_t *least)
{
    int chain = 0;
    int64_t low = 0;
    for (uint32_t left = set->firsts; left; left &= left - 1) {
        p->firsts[chain++] = lowest(left);
        low = larger(low, least[lowest(left)]);
    }
    assert(chain == p->c->chain_count);
    int64_t high = p->result->value - set->ring - 1;
    if (low > high) return;
    order_firsts(p);
    if (!try_limit(p, set->firsts, high)) return;
    keep(p);
    while (low < high && !p->stopped) {
        int64_t middle = low + (high - low) / 2;
        if (try_limit(p, set->firsts, middle)) {
            high = middle;
            keep(p);
        } else {
            low = middle + 1;
        }
    }
    p->result->value = set->ring + high;
}

// Puts the chains in the order of the best ring through their first nodes.
static void close_ring(const struct chains *c, int *order, struct arena *arena)
{
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
}

void chains_prove(struct chains_result *result, const struct chains *c,
                  const struct chains_settings *settings, struct arena *arena)
{
    int n = c->node_count;
    assert(n <= CHAINS_EXACT_MAX);
    struct arena_mark mark = arena_set_mark(arena);
    size_t sets = (size_t)1 << n, count = 0;
    int64_t shortest = INT64_MAX;
    struct proof p = {.c = c, .result = result, .settings = settings};
    int64_t *rings = TAKE(arena, sets, int64_t), *least = TAKE(arena, n, int64_t);
    struct first_set *list = TAKE(arena, sets, struct first_set);
    if (chains_have_ring(c)) rings_of_sets(rings, c->ring, n, c->chain_count, arena);
    p.least = TAKE(arena, sets * (size_t)n, int64_t);
    p.failed = TAKE(arena, sets, uint32_t);
    fill_tails(&p);
    for (uint32_t set = 1; set < sets; set++)
        if (__builtin_popcount(set) == c->chain_count && rings[set] < CHAIN_NONE)
            list[count++] = (struct first_set){rings[set], set};
    if (count) qsort(list, count, sizeof *list, compare_sets);
    least_by_first(&p, least);
    if (count) list_tails(&p, result->value - list[0].ring - 1, arena);
    for (int i = 0; i < n; i++) shortest = smaller(shortest, least[i]);
    result->bound = INT64_MAX;
    for (size_t i = 0; i < count && list[i].ring + shortest < result->value && !p.stopped; i++) {
        try_set(&p, &list[i], least);
        if (p.stopped) result->bound = list[i].ring + shortest; // of this set, and the later ones
    }
    result->bound = smaller(result->bound, result->value);
    arena_reset(arena, mark);
    if (chains_have_ring(c)) close_ring(c, result->order, arena);
}
