// The fused embedding sync: one ring through the replicas of the first and the last stage, in an
// order of its own. Its members are the first stage's replicas, then the last stage's.
#include <string.h>

#include "data/base/least.h"
#include "solve/chains/chains.h"
#include "solve/places/internal.h"

enum { MEMBERS_EXACT = 2 * PLACED_RING_EXACT };

struct placed_embedding {
    bool used;
    int *nodes, *ring; // [member]
    int64_t ns;
};

struct placed_embedding *placed_embedding_open(const struct placed *p, struct arena *arena)
{
    struct placed_embedding *known = TAKE(arena, 1, struct placed_embedding);
    *known = (struct placed_embedding){.nodes = TAKE(arena, 2 * p->replicas, int),
                                       .ring = TAKE(arena, 2 * p->replicas, int)};
    return known;
}

bool placed_fuses_embeddings(const struct placed *p)
{
    return p->priced->places->embedding_ring_ns != NULL;
}

static void find_members(const struct placed *p, const int *node, int *members)
{
    int last = choices_rank_of(p->c, p->stages - 1);
    for (int r = 0; r < p->replicas; r++) {
        members[r] = node[r * p->ranks + choices_rank_of(p->c, 0)];
        members[p->replicas + r] = node[r * p->ranks + last];
    }
}

// A link within a node counts if the whole ring is on that node.
static int64_t link_ns(const struct placed *p, int from, int to, bool leaves)
{
    const struct priced_places *x = p->priced->places;
    if (from == to && leaves) return 0;
    int64_t ns = x->embedding_ring_ns[(size_t)from * (size_t)x->node_count + (size_t)to];
    return ns == PRICE_NONE ? CHAIN_NONE : ns;
}

static bool leaves_node(const int *members, int count)
{
    for (int i = 1; i < count; i++)
        if (members[i] != members[0]) return true;
    return false;
}

static int64_t bottleneck(const struct placed *p, const int *members, const int *ring)
{
    int count = 2 * p->replicas;
    bool leaves = leaves_node(members, count);
    int64_t most = 0;
    for (int at = 0; at < count; at++)
        most = larger(most, link_ns(p, members[ring[at]], members[ring[(at + 1) % count]], leaves));
    return most;
}

// No ring through these members takes less.
static int64_t floor_of(const struct placed *p, const int *members, bool leaves)
{
    int count = 2 * p->replicas;
    int64_t most = leaves ? 0 : link_ns(p, members[0], members[0], false);
    for (int i = 0; i < count && leaves; i++) {
        int64_t in = CHAIN_NONE, out = CHAIN_NONE;
        for (int k = 0; k < count; k++) {
            if (members[k] == members[i]) continue;
            in = smaller(in, link_ns(p, members[k], members[i], true));
            out = smaller(out, link_ns(p, members[i], members[k], true));
        }
        most = larger(most, larger(in, out));
    }
    return most;
}

// Puts members that are on one node next to each other, node after node.
static void group_members(const int *members, int count, int *ring)
{
    int at = 0;
    for (int i = 0; i < count; i++) {
        bool seen = false;
        for (int k = 0; k < i && !seen; k++) seen = members[k] == members[i];
        for (int k = i; k < count && !seen; k++)
            if (members[k] == members[i]) ring[at++] = k;
    }
    assert(at == count);
}

// Exactly if they are few, else by exchanges, down to `enough`.
static void improve_order(const struct placed *p, const int *members, int *ring, int64_t enough,
                          struct arena *arena)
{
    int count = 2 * p->replicas, all[MEMBERS_EXACT];
    struct arena_mark mark = arena_set_mark(arena);
    int64_t *links = TAKE(arena, count * count, int64_t);
    bool leaves = leaves_node(members, count);
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++)
            links[a * count + b] = a == b ? CHAIN_NONE : link_ns(p, members[a], members[b], leaves);
    if (count <= MEMBERS_EXACT) {
        for (int i = 0; i < count; i++) all[i] = i;
        ring_through(ring, links, count, all, count, arena);
    } else {
        placed_improve_ring(links, ring, count, enough);
    }
    arena_reset(arena, mark);
}

static int64_t order_members(const struct placed *p, const int *members, int *ring,
                             struct arena *arena)
{
    int count = 2 * p->replicas;
    int64_t enough = floor_of(p, members, leaves_node(members, count));
    group_members(members, count, ring);
    if (bottleneck(p, members, ring) > enough) improve_order(p, members, ring, enough, arena);
    assert(placed_is_order(ring, count) && bottleneck(p, members, ring) >= enough);
    return bottleneck(p, members, ring);
}

bool placed_sync_embedding(struct placed *p, struct placed_plan *plan)
{
    if (!placed_fuses_embeddings(p)) return true;
    struct arena_mark mark = arena_set_mark(p->arena);
    struct placed_embedding *known = p->embedding;
    size_t bytes = (size_t)(2 * p->replicas) * sizeof(int);
    int *members = TAKE(p->arena, 2 * p->replicas, int);
    find_members(p, plan->node, members);
    if (p->keep_rings) {
        p->embedding_ns = bottleneck(p, members, plan->embedding_ring);
    } else {
        if (!known->used || memcmp(known->nodes, members, bytes)) {
            known->ns = order_members(p, members, known->ring, p->arena);
            memcpy(known->nodes, members, bytes);
            known->used = true;
        }
        memcpy(plan->embedding_ring, known->ring, bytes);
        p->embedding_ns = known->ns;
    }
    arena_reset(p->arena, mark);
    return p->embedding_ns < CHAIN_NONE;
}

// If both ends have nodes in all replicas: the best ring's time; else a bound from those that have
// nodes.
int64_t placed_embedding_floor(const struct placed *p, const int *node, struct arena *arena)
{
    const struct priced_places *x = p->priced->places;
    int last = choices_rank_of(p->c, p->stages - 1), first = choices_rank_of(p->c, 0),
        count = 2 * p->replicas;
    bool all = count <= MEMBERS_EXACT;
    int64_t least = 0;
    for (int r = 0; r < p->replicas; r++) {
        int from = node[r * p->ranks + first], to = node[r * p->ranks + last];
        all = all && from >= 0 && to >= 0;
        if (from < 0 || to < 0) continue;
        int64_t ns = x->embedding_sync_ns[(size_t)from * (size_t)x->node_count + (size_t)to];
        least = larger(least, ns == PRICE_NONE ? CHAIN_NONE : ns);
    }
    if (!all) return least;
    struct arena_mark mark = arena_set_mark(arena);
    int *members = TAKE(arena, count, int), *ring = TAKE(arena, count, int);
    find_members(p, node, members);
    int64_t best = order_members(p, members, ring, arena);
    assert(best >= least);
    arena_reset(arena, mark);
    return best;
}
