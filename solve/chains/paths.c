// A lower bound on the total cost of chains by prices of nodes: every chain pays its hops less the
// prices of its nodes, each node is worth its price once, and the cheapest chains under any prices
// bound the sum of all (docs/PROOFS.md section 10). A chain may return to a node here, but not
// while it remembers it: each node has its neighbours (the nodes nearest to it), and a visited node
// is forgotten as soon as the chain enters a node of which it is not a neighbour. Integers
// throughout. A chain's positions are walked from the last to the first, so one walk serves all
// first nodes.
#include <assert.h>

#include "solve/chains/internal.h"

enum { REMEMBERED_MAX = 7, NEVER = 255 };
static const int64_t nothing = INT64_MAX / 4; // no chain

struct paths {
    const struct chains *c;
    int n, remembered, sets, shift;
    int64_t hop_max; // more expensive hops are in no chain of interest
    int *neighbour;  // [node * remembered + bit]
    uint8_t
        *after; // [(from * n + to) * sets + set remembered at to] -> set remembered at from; NEVER
    int64_t *tail;  // [(position * n + node) * sets + set]: least rest of the chain from there
    int64_t *start; // [node]: of a whole chain from there
};

// ---- neighbours

static int64_t nearness(const struct chains *c, int a, int b)
{
    int64_t least = CHAIN_NONE;
    for (int position = 0; position + 1 < c->length; position++) {
        int64_t there = chains_hop(c, position, a, b), back = chains_hop(c, position, b, a);
        least = least < there ? least : there;
        least = least < back ? least : back;
    }
    return least;
}

static void list_neighbours(struct paths *p, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    int64_t *near = TAKE(arena, p->n, int64_t);
    for (int a = 0; a < p->n; a++) {
        for (int b = 0; b < p->n; b++) near[b] = b == a ? INT64_MAX : nearness(p->c, a, b);
        for (int bit = 0; bit < p->remembered; bit++) {
            int best = -1;
            for (int b = 0; b < p->n; b++)
                if (near[b] < INT64_MAX && (best < 0 || near[b] < near[best])) best = b;
            assert(best >= 0); // fewer are remembered than there are others
            p->neighbour[a * p->remembered + bit] = best;
            near[best] = INT64_MAX;
        }
    }
    arena_reset(arena, mark);
}

static int bit_of(const struct paths *p, int at, int node)
{
    for (int bit = 0; bit < p->remembered; bit++)
        if (p->neighbour[at * p->remembered + bit] == node) return bit;
    return -1;
}

static void fill_after(struct paths *p)
{
    for (int from = 0; from < p->n; from++)
        for (int to = 0; to < p->n; to++) {
            int bits[REMEMBERED_MAX], self = bit_of(p, to, from), entered = bit_of(p, from, to);
            uint8_t *after = p->after +
                             ((size_t)from * (size_t)p->n + (size_t)to) * (size_t)p->sets;
            for (int bit = 0; bit < p->remembered; bit++)
                bits[bit] = bit_of(p, from, p->neighbour[to * p->remembered + bit]);
            for (int set = 0; set < p->sets; set++) {
                int kept = entered < 0 ? 0 : 1 << entered;
                for (int bit = 0; bit < p->remembered; bit++)
                    if (set >> bit & 1 && bits[bit] >= 0) kept |= 1 << bits[bit];
                after[set] = from == to || (self >= 0 && set >> self & 1) ? NEVER : (uint8_t)kept;
            }
        }
}

// Sums of prices and hops stay below 2^59, and the unit is fine enough that rounding prices costs
// nothing if hops are small numbers.
static int shift_of(const struct paths *p)
{
    int shift = 0;
    while (shift < 16 && p->hop_max < (INT64_C(1) << 54) / p->n >> (shift + 1)) shift++;
    return shift;
}

struct paths *paths_open(const struct chains *c, int64_t hop_max, struct arena *arena)
{
    struct paths *p = TAKE(arena, 1, struct paths);
    int n = c->node_count, most = n <= 96 ? REMEMBERED_MAX : n <= 192 ? 6 : n <= 320 ? 5 : 4;
    *p = (struct paths){
        .c = c, .n = n, .remembered = n - 1 < most ? n - 1 : most, .hop_max = hop_max};
    p->sets = 1 << p->remembered;
    p->shift = shift_of(p);
    p->neighbour = TAKE(arena, n * (p->remembered + 1), int);
    p->after = TAKE(arena, (size_t)n * (size_t)n * (size_t)p->sets, uint8_t);
    p->tail = TAKE(arena, (size_t)c->length * (size_t)n * (size_t)p->sets, int64_t);
    p->start = TAKE(arena, n, int64_t);
    list_neighbours(p, arena);
    fill_after(p);
    return p;
}

int paths_shift(const struct paths *p) { return p->shift; }

// ---- the walk

static int64_t *tail_of(const struct paths *p, int position, int node)
{
    return p->tail + ((size_t)position * (size_t)p->n + (size_t)node) * (size_t)p->sets;
}

// Sets worth continuing from: no subset is as cheap.
static int list_sets(const struct paths *p, const int64_t *tail, uint8_t *list)
{
    int64_t least[1 << REMEMBERED_MAX];
    int count = 0;
    for (int set = 0; set < p->sets; set++) {
        int64_t below = nothing;
        for (int left = set; left; left &= left - 1) {
            int64_t of_smaller = least[set & ~(left & -left)];
            below = below < of_smaller ? below : of_smaller;
        }
        least[set] = below < tail[set] ? below : tail[set];
        if (tail[set] < below) list[count++] = (uint8_t)set;
    }
    return count;
}

static int64_t walk_back(const struct paths *p, int position, int to, const uint8_t *list,
                         int count, const int64_t *price)
{
    const int64_t *tail = tail_of(p, position + 1, to);
    const int64_t *hops = p->c->hop + (size_t)position * (size_t)p->n * (size_t)p->n;
    for (int from = 0; from < p->n; from++) {
        int64_t hop = hops[(size_t)from * (size_t)p->n + (size_t)to];
        if (hop > p->hop_max || from == to) continue;
        int64_t more = hop * (INT64_C(1) << p->shift) - price[from],
                *before = tail_of(p, position, from);
        const uint8_t *after = p->after +
                               ((size_t)from * (size_t)p->n + (size_t)to) * (size_t)p->sets;
        for (int i = 0; i < count; i++) {
            int set = list[i], kept = after[set];
            if (kept != NEVER && tail[set] + more < before[kept]) before[kept] = tail[set] + more;
        }
    }
    return (int64_t)p->n * count;
}

int64_t paths_walk(struct paths *p, const int64_t *price)
{
    int last = p->c->length - 1;
    int64_t steps = 0;
    size_t count = (size_t)p->c->length * (size_t)p->n * (size_t)p->sets;
    for (size_t i = 0; i < count; i++) p->tail[i] = nothing;
    for (int node = 0; node < p->n; node++) tail_of(p, last, node)[0] = -price[node];
    for (int position = last - 1; position >= 0; position--)
        for (int to = 0; to < p->n; to++) {
            uint8_t list[1 << REMEMBERED_MAX];
            int listed = list_sets(p, tail_of(p, position + 1, to), list);
            steps += walk_back(p, position, to, list, listed, price);
        }
    for (int node = 0; node < p->n; node++) {
        p->start[node] = nothing;
        for (int set = 0; set < p->sets; set++)
            if (tail_of(p, 0, node)[set] < p->start[node])
                p->start[node] = tail_of(p, 0, node)[set];
    }
    return steps;
}

// The next node and set on the cheapest continuation.
static bool find_next(const struct paths *p, int position, int *node, int *set,
                      const int64_t *price)
{
    int64_t reached = tail_of(p, position, *node)[*set];
    for (int to = 0; to < p->n; to++) {
        int64_t hop = chains_hop(p->c, position, *node, to);
        if (hop > p->hop_max || to == *node) continue;
        int64_t more = hop * (INT64_C(1) << p->shift) - price[*node];
        const uint8_t *after = p->after +
                               ((size_t)*node * (size_t)p->n + (size_t)to) * (size_t)p->sets;
        for (int behind = 0; behind < p->sets; behind++)
            if (after[behind] == *set && tail_of(p, position + 1, to)[behind] + more == reached) {
                *node = to;
                *set = behind;
                return true;
            }
    }
    return false;
}

void paths_follow(const struct paths *p, int first, const int64_t *price, int *visits)
{
    int node = first, set = 0;
    while (tail_of(p, 0, node)[set] != p->start[node]) {
        set++;
        assert(set < p->sets);
    }
    visits[node]++;
    for (int position = 0;
         position + 1 < p->c->length && find_next(p, position, &node, &set, price); position++)
        visits[node]++;
}

// ---- the bound: the cheapest chain_count first nodes among those allowed, each with its cheapest
// chain

int paths_firsts(const struct paths *p, const bool *allowed, int *firsts)
{
    int count = 0, most = p->c->chain_count;
    for (int node = 0; node < p->n; node++) {
        if (!allowed[node] || p->start[node] >= nothing / 2) continue;
        int at = count < most ? count++ : most;
        if (at == most && p->start[firsts[most - 1]] <= p->start[node]) continue;
        if (at == most) at--;
        for (; at > 0 && p->start[firsts[at - 1]] > p->start[node]; at--)
            firsts[at] = firsts[at - 1];
        firsts[at] = node;
    }
    return count;
}

int64_t paths_sum(const struct paths *p, const int *firsts, const int64_t *price)
{
    int64_t sum = 0;
    for (int node = 0; node < p->n; node++) sum += price[node];
    for (int i = 0; i < p->c->chain_count; i++) sum += p->start[firsts[i]];
    return sum;
}
