// A bound where tables over sets would be too large: a few boxes, each an interval for the ring's
// slowest link and the nodes that can begin a chain when no link of the ring is slower. The ring
// costs at least a box's lower end; the chains, from those first nodes, cost what paths.c proves of
// their mean. The box with the least sum is worked on: its prices are adjusted to the nodes that
// its chains visit too often or never. When that no longer helps, its interval is halved, and first
// nodes are separated into those that cheaper rings can join. (docs/PROOFS.md section 10)
#include <assert.h>
#include <math.h>
#include <string.h>

#include "data/base/least.h"
#include "solve/chains/internal.h"

enum { BOXES_MAX = 256, ROUNDS_A_TURN = 10, TURNS_WITHOUT_GAIN = 3 };

struct box {
    int64_t low, high;           // the ring's slowest link is in [low, high)
    int64_t chain, chain_before; // a bound on the most expensive chain; that of the previous turn
    bool *first;
    double *price, *way, step; // prices, their last direction; step: share of what is missing
    int64_t *best;             // prices of the best bound
    int idle;                  // turns without gain
};

struct bounding {
    const struct chains *c;
    struct paths *paths; // NULL: chains of one node
    int64_t value, steps, steps_max;
    struct box boxes[BOXES_MAX];
    int count;
    int64_t *price; // scratch: rounded
    int *firsts, *visits;
    const struct chains_settings *settings;
    struct arena *arena;
};

static int64_t bound_of(const struct bounding *b, const struct box *x)
{
    return x->chain >= CHAIN_NONE || x->low + x->chain > b->value ? b->value : x->low + x->chain;
}

// ---- prices

static int64_t sum_to_chain(const struct bounding *b, int64_t sum)
{
    int64_t by = (int64_t)b->c->chain_count << paths_shift(b->paths);
    return sum > 0 ? (sum + by - 1) / by : 0;
}

// What the walk just made with `price` proves of a box.
static bool learn(struct bounding *b, struct box *x, const int64_t *price)
{
    int found = paths_firsts(b->paths, x->first, b->firsts);
    int64_t chain = found < b->c->chain_count
                        ? CHAIN_NONE
                        : sum_to_chain(b, paths_sum(b->paths, b->firsts, price));
    if (chain <= x->chain) return false;
    x->chain = chain;
    memcpy(x->best, price, (size_t)b->c->node_count * sizeof *price);
    return true;
}

static void round_prices(struct bounding *b, const struct box *x)
{
    bool spare = b->c->chain_count * b->c->length < b->c->node_count;
    double most = ldexp(1, 57) / b->c->node_count;
    for (int i = 0; i < b->c->node_count; i++) {
        double price = fmin(fmax(x->price[i], -most), spare ? 0 : most);
        b->price[i] = (int64_t)floor(price);
    }
}

// The target of steps: the value that would close the box, if it is not far away.
static double aim_of(const struct bounding *b, const struct box *x)
{
    return fmin((double)(b->value - x->low), (double)x->chain * 1.06 + 1);
}

// One walk with the box's prices; they are then adjusted by its chains' visits, unless the box is
// closed.
static void work_round(struct bounding *b, struct box *x)
{
    int n = b->c->node_count, k = b->c->chain_count;
    round_prices(b, x);
    b->steps += paths_walk(b->paths, b->price);
    if (learn(b, x, b->price)) x->step = fmin(x->step * 1.1, 1.5);
    else x->step *= 0.95;
    if (bound_of(b, x) >= b->value) return;
    for (int i = 0; i < b->count; i++)
        if (&b->boxes[i] != x) learn(b, &b->boxes[i], b->price);
    int found = paths_firsts(b->paths, x->first, b->firsts);
    assert(found == k); // else the box was closed
    double now = (double)paths_sum(b->paths, b->firsts, b->price), square = 0;
    double aim = aim_of(b, x) * ldexp(k, paths_shift(b->paths));
    memset(b->visits, 0, (size_t)n * sizeof *b->visits);
    for (int i = 0; i < k; i++) paths_follow(b->paths, b->firsts[i], b->price, b->visits);
    for (int i = 0; i < n; i++) {
        x->way[i] = (1 - b->visits[i]) + 0.7 * x->way[i];
        square += x->way[i] * x->way[i];
    }
    for (int i = 0; i < n && square > 0 && aim > now; i++)
        x->price[i] += x->step * (aim - now) / square * x->way[i];
}

static void work(struct bounding *b, struct box *x)
{
    x->chain_before = x->chain;
    for (int round = 0; round < ROUNDS_A_TURN && bound_of(b, x) < b->value; round++)
        work_round(b, x);
    double missing = aim_of(b, x) - (double)x->chain_before;
    if ((double)(x->chain - x->chain_before) > missing / 50) {
        x->idle = 0;
        return;
    }
    x->idle++;
    x->step *= 0.6;
    for (int i = 0; i < b->c->node_count; i++) x->price[i] = (double)x->best[i], x->way[i] = 0;
}

// ---- boxes

static struct box *add_box(struct bounding *b, int64_t low, int64_t high, const struct box *from)
{
    int n = b->c->node_count;
    assert(b->count < BOXES_MAX && low <= high);
    struct box *x = &b->boxes[b->count++];
    *x = (struct box){.low = low,
                      .high = high,
                      .step = 1,
                      .first = TAKE(b->arena, n, bool),
                      .price = TAKE(b->arena, n, double),
                      .way = TAKE(b->arena, n, double),
                      .best = TAKE(b->arena, n, int64_t)};
    if (!from) return x;
    x->chain = from->chain;
    memcpy(x->price, from->price, (size_t)n * sizeof *x->price);
    memcpy(x->best, from->best, (size_t)n * sizeof *x->best);
    return x;
}

// Adds boxes of rings below `high`, one for each part of the nodes in[]; none if there is no such
// ring.
static void add_parts(struct bounding *b, int64_t low, int64_t high, const bool *among,
                      const struct box *from)
{
    const struct chains *c = b->c;
    int *part = TAKE(b->arena, c->node_count, int);
    bool *in = TAKE_COPY(b->arena, among, c->node_count);
    int parts = rings_within(c->ring, c->node_count, c->chain_count, high, in, part, b->arena);
    bool apart = b->count + parts <= BOXES_MAX;
    for (int i = 0; i < parts && (apart || !i); i++) {
        struct box *x = add_box(b, low, high, from);
        for (int node = 0; node < c->node_count; node++)
            x->first[node] = in[node] && (!apart || part[node] == i);
        int64_t least = ring_bound(c->ring, c->node_count, c->chain_count, x->first, b->arena);
        if (least > x->low) x->low = least;
        if (x->low >= x->high) b->count--;
    }
}

static void drop(struct bounding *b, int at)
{
    assert(at >= 0 && at < b->count);
    b->boxes[at] = b->boxes[--b->count];
}

// false: there is nothing to halve, or too little.
static bool halve(struct bounding *b, int at)
{
    struct box x = b->boxes[at];
    if (!chains_have_ring(b->c) || b->count + 2 > BOXES_MAX) return false;
    if (x.high - x.low <= 1 || x.high - x.low < (b->value - bound_of(b, &x)) / 8) return false;
    int64_t middle = x.low + (x.high - x.low) / 2;
    drop(b, at);
    add_parts(b, x.low, middle, x.first, &x);
    add_parts(b, middle, x.high, x.first, &x);
    return true;
}

static int least_box(const struct bounding *b)
{
    int least = -1;
    for (int i = 0; i < b->count; i++)
        if (least < 0 || bound_of(b, &b->boxes[i]) < bound_of(b, &b->boxes[least])) least = i;
    return least;
}

static bool is_over(const struct bounding *b)
{
    return b->steps >= b->steps_max ||
           (b->settings->should_stop && b->settings->should_stop(b->settings->stop_argument));
}

static int64_t work_boxes(struct bounding *b)
{
    for (;;) {
        int at = least_box(b);
        if (at < 0) return b->value;
        int64_t bound = bound_of(b, &b->boxes[at]);
        if (bound >= b->value || is_over(b)) return bound;
        if (b->paths && b->boxes[at].idle < TURNS_WITHOUT_GAIN) work(b, &b->boxes[at]);
        else if (!halve(b, at)) return bound;
    }
}

// The most expensive hop below `limit`: no more expensive one is in a chain that improves.
static int64_t slowest_hop(const struct chains *c, int64_t limit)
{
    int64_t slowest = 0;
    size_t count = (size_t)(c->length - 1) * (size_t)c->node_count * (size_t)c->node_count;
    for (size_t i = 0; i < count; i++)
        if (c->hop[i] < limit && c->hop[i] > slowest) slowest = c->hop[i];
    return slowest;
}

// The box of everything.
static struct box *open_root(struct bounding *b)
{
    const struct chains *c = b->c;
    struct box *root = add_box(b, 0, b->value, NULL);
    for (int i = 0; i < c->node_count; i++) root->first[i] = true;
    int64_t hop_max = slowest_hop(c, b->value);
    // Sums of longer hops would be too large.
    if (c->length > 1 && hop_max <= (INT64_C(1) << 58) / c->node_count)
        b->paths = paths_open(c, hop_max, b->arena);
    return root;
}

void chains_bound(struct chains_result *r, const struct chains *c,
                  const struct chains_settings *settings, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    struct bounding *b = TAKE(arena, 1, struct bounding);
    int n = c->node_count;
    int64_t value = smaller(r->value, CHAIN_NONE);
    *b = (struct bounding){.c = c,
                           .value = value,
                           .steps_max = settings->bound_steps ? settings->bound_steps
                                                              : CHAINS_BOUND_STEPS,
                           .settings = settings,
                           .price = TAKE(arena, n, int64_t),
                           .firsts = TAKE(arena, c->chain_count + 1, int),
                           .visits = TAKE(arena, n, int),
                           .arena = arena};
    struct box root = *open_root(b);
    if (chains_have_ring(c)) {
        drop(b, 0);
        if (b->paths) work(b, &root);
        if (root.chain < value) add_parts(b, 0, value - root.chain, root.first, &root);
    }
    r->bound = work_boxes(b);
    assert(r->bound >= 0 && r->bound <= value);
    arena_reset(arena, mark);
}
