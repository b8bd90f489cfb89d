// Chains of nodes: the proof against all orders, bounds against optima, the ring against all rings.
#include "solve/chains/internal.h"
#include "tests/support/check.h"

enum { NODES_MAX = 7 };

static uint64_t seed = 20;

static int below(int bound)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((seed >> 33) % (uint64_t)bound);
}

// Some pairs are joined by nothing.
static int64_t price(void) { return below(12) ? 1 + below(1000) : CHAIN_NONE; }

static struct chains random_chains(struct arena *arena)
{
    struct chains c = {.chain_count = 1 + below(3), .length = 1 + below(4)};
    while (c.chain_count * c.length > NODES_MAX) c.length--;
    c.node_count = c.chain_count * c.length + below(3);
    if (c.node_count > NODES_MAX) c.node_count = NODES_MAX;
    int pairs = c.node_count * c.node_count, hops = (c.length - 1) * pairs;
    int64_t *hop = TAKE(arena, hops + 1, int64_t), *ring = TAKE(arena, pairs, int64_t);
    bool alike = below(2);
    for (int i = 0; i < hops; i++) hop[i] = alike && i >= pairs ? hop[i - pairs] : price();
    for (int i = 0; i < pairs; i++) ring[i] = price();
    c.hop = hop;
    c.ring = below(4) ? ring : NULL;
    return c;
}

// All orders of the nodes: [0, at) are fixed.
static int64_t least_by_enumeration(const struct chains *c, int *order, bool *used, int at)
{
    if (at == c->chain_count * c->length) return chains_value(c, order);
    int64_t least = INT64_MAX;
    for (int node = 0; node < c->node_count; node++) {
        if (used[node]) continue;
        used[node] = true;
        order[at] = node;
        int64_t value = least_by_enumeration(c, order, used, at + 1);
        least = value < least ? value : least;
        used[node] = false;
    }
    return least;
}

TEST(test_all_orders)
{
    int joined = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < 400; i++, arena_reset(arena, mark)) {
        struct chains c = random_chains(arena);
        struct chains_result r;
        int order[NODES_MAX];
        bool used[NODES_MAX] = {false};
        const struct chains_settings settings = {
            .starts = 1, .moves = i % 3 ? 50 : 0, .seed = (uint64_t)i};
        int64_t least = least_by_enumeration(&c, order, used, 0);
        chains_solve(&r, &c, &settings, arena);
        if (least < CHAIN_NONE) {
            assert_true(r.value == least && r.bound == least);
            assert_true(chains_value(&c, r.order) == least);
            const struct chains_settings plain = {0};
            struct chains_result of_none = {.value = CHAIN_NONE};
            chains_bound(&of_none, &c, &plain, arena);
            assert_true(of_none.bound <= least);
            bool seen[NODES_MAX] = {false};
            for (int k = 0; k < c.chain_count * c.length; k++) {
                assert_false(seen[r.order[k]]);
                seen[r.order[k]] = true;
            }
            joined++;
        } else {
            assert_true(r.value >= CHAIN_NONE);
        }
    }
    assert_true(joined > 200);
}

static bool is_order(const struct chains *c, const int *order)
{
    bool seen[64] = {false};
    for (int i = 0; i < c->chain_count * c->length; i++) {
        if (order[i] < 0 || order[i] >= c->node_count || seen[order[i]]) return false;
        seen[order[i]] = true;
    }
    return true;
}

// What is done beyond the proof's tables, where all orders can be tried: no bound above the least
// value, whatever order it started from, and seldom far below.
TEST(test_bounds_of_many)
{
    int joined = 0, closed = 0, none = 0, proven = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < 1500; i++, arena_reset(arena, mark)) {
        struct chains c = random_chains(arena);
        struct chains_result r = {.order = TAKE(arena, c.chain_count * c.length, int)};
        int order[NODES_MAX];
        bool used[NODES_MAX] = {false};
        const struct chains_settings settings = {
            .starts = i % 4, .moves = i % 3 ? 60 : 1, .seed = (uint64_t)i};
        int64_t least = least_by_enumeration(&c, order, used, 0);
        chains_search(&r, &c, &settings, arena);
        chains_bound(&r, &c, &settings, arena);
        assert_true(is_order(&c, r.order));
        assert_true(r.value == chains_value(&c, r.order));
        assert_true(r.bound <= r.value && r.value >= least);
        if (least < CHAIN_NONE) {
            assert_true(r.bound <= least);
            joined++;
            closed += r.bound == least;
        } else {
            assert_true(r.bound <= CHAIN_NONE);
            none++;
            proven += r.bound == CHAIN_NONE;
        }
    }
    printf("%d of %d closed; %d of %d proven to have none\n", closed, joined, proven, none);
    assert_true(joined > 700 && closed > joined / 2 && proven > none / 2);
}

// The ring's own bound, and the ring of all nodes, against all rings.
TEST(test_rings)
{
    for (int i = 0; i < 300; i++) {
        int64_t link[NODES_MAX * NODES_MAX];
        int order[NODES_MAX], all[NODES_MAX] = {0, 1, 2, 3, 4, 5, 6}, ring[NODES_MAX];
        bool used[NODES_MAX] = {false};
        struct chains c = {.node_count = 2 + below(NODES_MAX - 1), .length = 1, .ring = link};
        c.chain_count = 2 + below(c.node_count - 1);
        for (int k = 0; k < c.node_count * c.node_count; k++) link[k] = price();
        int64_t least = least_by_enumeration(&c, order, used, 0);
        assert_true(ring_bound(link, c.node_count, c.chain_count, NULL, arena) ==
                    (least < CHAIN_NONE ? least : CHAIN_NONE));
        c.chain_count = c.node_count;
        least = least_by_enumeration(&c, order, used, 0);
        ring_through(ring, link, c.node_count, all, c.node_count, arena);
        assert_true(is_order(&c, ring));
        assert_true(least >= CHAIN_NONE || chains_value(&c, ring) == least);
    }
}

// Racks: the search finds better than the mean of all links, and the proof leaves open only what
// the mean of the chains does.
TEST(test_racks)
{
    enum { NODES = 24, RACK = 6, LENGTH = 6 };
    static int64_t hop[(LENGTH - 1) * NODES * NODES], ring[NODES * NODES];
    for (int i = 0; i < NODES * NODES; i++) {
        int far = i / NODES / RACK == i % NODES / RACK ? 1 : 3;
        ring[i] = far * (4000 + below(400));
        for (int k = 0; k < LENGTH - 1; k++) hop[k * NODES * NODES + i] = far * (1000 + below(100));
    }
    const struct chains c = {NODES, 4, LENGTH, hop, ring};
    const struct chains_settings settings = {.starts = 4, .moves = 50000, .seed = 3};
    struct chains_result r;
    chains_solve(&r, &c, &settings, arena);
    assert_true(is_order(&c, r.order) && r.value == chains_value(&c, r.order));
    assert_true(r.bound <= r.value && (double)(r.value - r.bound) < 0.2 * (double)r.value);
    assert_true(r.value < 4 * 3000 + 5 * 1100); // the ring stays in a rack
}

// Beyond the proof's tables: a value, a bound below it, and every node at most once.
TEST(test_many_nodes)
{
    enum { NODES = 24 };
    int64_t hop[3 * NODES * NODES], ring[NODES * NODES];
    for (int i = 0; i < 3 * NODES * NODES; i++) hop[i] = 1000 + below(200);
    for (int i = 0; i < NODES * NODES; i++) ring[i] = 2000 + below(400);
    const struct chains c = {NODES, 6, 4, hop, ring};
    const struct chains_settings settings = {.starts = 2, .moves = 20000, .seed = 1};
    struct chains_result r;
    chains_solve(&r, &c, &settings, arena);
    assert_true(r.value == chains_value(&c, r.order));
    assert_true(r.bound <= r.value && r.bound >= 3 * 1000 + 2000);
    assert_true((double)(r.value - r.bound) < 0.1 * (double)r.value);
}
