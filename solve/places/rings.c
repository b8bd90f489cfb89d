// Rings of a placed plan: the order of a stage's replicas, and the time of their sync.
#include <string.h>

#include "data/base/least.h"
#include "data/inputs/places_use.h"
#include "solve/chains/chains.h"
#include "solve/places/internal.h"

static int node_of(const struct placed *p, const struct placed_plan *plan, int replica, int stage)
{
    return plan->node[replica * p->ranks + choices_rank_of(p->c, stage)];
}

// A stage's ring: where the prices of its links begin (given by the transport that all its
// replicas' nodes have in common), and whether it is on more than one node. If so, links within a
// node do not count.
struct stage_ring {
    size_t offset;
    bool leaves;
};

static struct stage_ring ring_of(const struct placed *p, const struct placed_plan *plan, int stage)
{
    struct arena_mark mark = arena_set_mark(p->arena);
    struct stage_ring ring = {0, false};
    int *nodes = TAKE(p->arena, p->replicas, int);
    for (int r = 0; r < p->replicas; r++) {
        nodes[r] = node_of(p, plan, r, stage);
        ring.leaves = ring.leaves || nodes[r] != nodes[0];
    }
    ring.offset = priced_ring_offset(p->priced->places, nodes, p->replicas);
    arena_reset(p->arena, mark);
    return ring;
}

// The ring's link between two nodes when p->leaving rings leave them.
static size_t link_between(const struct placed *p, const struct stage_ring *ring, int from, int to)
{
    return priced_ring_link(p->priced->places, ring->offset, from, to, p->leaving);
}

// Time of the stage's sync over links like this one, for the slowest of its replicas.
static int64_t link_ns(struct placed *p, const struct placed_plan *plan, int stage, size_t link)
{
    const struct choice *last = NULL;
    int64_t most = 0;
    if (p->priced->places->ring_constant_ns[0][link] == PRICE_NONE) return CHAIN_NONE;
    for (int r = 0; r < p->replicas; r++) {
        const struct choice *choice = placed_choice_of(p, plan, r, stage);
        if (choice == last) continue;
        last = choice;
        most = larger(most, choice_ring_sync_ns(p->c, stage, choice, link, false));
    }
    return most;
}

// links[from * replicas + to] between the stage's replicas; if rings are kept, only those of its
// ring.
static void fill_links(struct placed *p, const struct placed_plan *plan, int stage,
                       const struct stage_ring *ring, int64_t *links)
{
    const int *order = plan->ring + stage * p->replicas;
    int *next = p->keep_rings ? TAKE(p->arena, p->replicas, int) : NULL;
    for (int at = 0; at < p->replicas && next; at++)
        next[order[at]] = order[(at + 1) % p->replicas];
    for (int a = 0; a < p->replicas; a++)
        for (int b = 0; b < p->replicas; b++) {
            int from = node_of(p, plan, a, stage), to = node_of(p, plan, b, stage);
            int64_t *ns = &links[a * p->replicas + b];
            if (a == b || (next && next[a] != b)) *ns = CHAIN_NONE;
            else if (from == to && ring->leaves) *ns = 0;
            else *ns = link_ns(p, plan, stage, link_between(p, ring, from, to));
        }
}

void placed_fill_links(struct placed *p, const struct placed_plan *plan, int stage, int64_t *links)
{
    int d = p->replicas;
    struct stage_ring ring = ring_of(p, plan, stage);
    places_leaving_rings(p->leaving, p->nodes, plan->node, d, p->ranks);
    for (int i = 0; i < d * d; i++) {
        int from = node_of(p, plan, i / d, stage), to = node_of(p, plan, i % d, stage);
        size_t link = link_between(p, &ring, from, to);
        bool joined = p->priced->places->ring_constant_ns[0][link] != PRICE_NONE,
             inner = from == to && ring.leaves;
        for (int r = 0; r < d + choices_queue_syncs(p->c); r++)
            links[r * d * d + i] =
                inner    ? 0
                : joined ? choice_ring_sync_ns(p->c, stage, placed_choice_of(p, plan, r % d, stage),
                                               link, r == d)
                         : -1;
    }
}

static int64_t bottleneck_link(const int64_t *links, const int *ring, int count)
{
    int64_t bottleneck = 0;
    for (int at = 0; at < count; at++)
        bottleneck = larger(bottleneck, links[ring[at] * count + ring[(at + 1) % count]]);
    return bottleneck;
}

// Whether one of the links at this place of the ring is as slow as its slowest one.
static bool is_slowest(const int64_t *links, const int *ring, int count, int at, int64_t slowest)
{
    int before = ring[(at + count - 1) % count], after = ring[(at + 1) % count];
    return links[before * count + ring[at]] == slowest ||
           links[ring[at] * count + after] == slowest;
}

// An exchange counts only if the slowest link becomes faster, so it ends; and only one that moves
// an end of a slowest link can do that.
void placed_improve_ring(const int64_t *links, int *ring, int count, int64_t enough)
{
    int64_t bottleneck = bottleneck_link(links, ring, count);
    for (bool improved = true; improved && bottleneck > enough;) {
        improved = false;
        for (int a = 1; a < count; a++)
            for (int b = a + 1; b < count && bottleneck > enough; b++) {
                if (!is_slowest(links, ring, count, a, bottleneck) &&
                    !is_slowest(links, ring, count, b, bottleneck))
                    continue;
                int kept = ring[a];
                ring[a] = ring[b], ring[b] = kept;
                int64_t now = bottleneck_link(links, ring, count);
                if (now < bottleneck) {
                    bottleneck = now;
                    improved = true;
                } else {
                    ring[b] = ring[a], ring[a] = kept;
                }
            }
    }
}

static void order_ring(struct placed *p, const int64_t *links, int *ring)
{
    int count = p->replicas, all[PLACED_RING_EXACT];
    if (p->keep_rings) return;
    if (count > PLACED_RING_EXACT) {
        placed_improve_ring(links, ring, count, -1);
        return;
    }
    for (int r = 0; r < count; r++) all[r] = r;
    ring_through(ring, links, count, all, count, p->arena);
}

// ---- results cached from before: most steps of a search leave most stages where they are

enum { KNOWN_OF_STAGE = 4 };

struct placed_known_ring {
    bool used, joined;
    int *nodes, *leaving, *ring; // [replica]; leaving: rings that leave its node
    const struct choice **choices;
    int64_t *syncs, *queued_syncs;
};

struct placed_known_ring *placed_rings_open(const struct placed *p, struct arena *arena)
{
    struct placed_known_ring *known =
        TAKE(arena, p->stages * KNOWN_OF_STAGE, struct placed_known_ring);
    for (int i = 0; i < p->stages * KNOWN_OF_STAGE; i++)
        known[i] =
            (struct placed_known_ring){.nodes = TAKE(arena, p->replicas, int),
                                       .leaving = TAKE(arena, p->replicas, int),
                                       .ring = TAKE(arena, p->replicas, int),
                                       .choices = TAKE(arena, p->replicas, const struct choice *),
                                       .syncs = TAKE(arena, p->replicas, int64_t),
                                       .queued_syncs = TAKE(arena, p->replicas, int64_t)};
    return known;
}

static bool is_known(struct placed *p, const struct placed_plan *plan, int stage,
                     const struct placed_known_ring *known)
{
    for (int r = 0; r < p->replicas && known->used; r++)
        if (known->nodes[r] != node_of(p, plan, r, stage) ||
            known->leaving[r] != p->leaving[known->nodes[r]] ||
            known->choices[r] != placed_choice_of(p, plan, r, stage))
            return false;
    return known->used;
}

// ---- syncs

static void put_order(struct placed_known_ring *known, struct placed *p,
                      const struct placed_plan *plan, int stage, int *ring)
{
    assert(placed_is_order(ring, p->replicas));
    memcpy(known->ring, ring, (size_t)p->replicas * sizeof *ring);
    for (int r = 0; r < p->replicas; r++) {
        known->nodes[r] = node_of(p, plan, r, stage);
        known->leaving[r] = p->leaving[known->nodes[r]];
        known->choices[r] = placed_choice_of(p, plan, r, stage);
    }
}

static void raise_sync(const struct placed *p, int stage, const struct choice *choice, size_t link,
                       bool queued, int64_t *ns)
{
    if (!queued || choices_queue_syncs(p->c))
        *ns = larger(*ns, choice_ring_sync_ns(p->c, stage, choice, link, queued));
}

// The time of the slowest link of the stage's ring for each replica, with its own values.
static void work_out(struct placed *p, struct placed_plan *plan, int stage,
                     struct placed_known_ring *known)
{
    struct arena_mark mark = arena_set_mark(p->arena);
    int64_t *links = TAKE(p->arena, p->replicas * p->replicas, int64_t);
    int *order = plan->ring + stage * p->replicas;
    struct stage_ring ring = ring_of(p, plan, stage);
    fill_links(p, plan, stage, &ring, links);
    order_ring(p, links, order);
    known->used = true;
    known->joined = bottleneck_link(links, order, p->replicas) < CHAIN_NONE;
    arena_reset(p->arena, mark);
    put_order(known, p, plan, stage, order);
    for (int r = 0; r < p->replicas; r++) {
        known->syncs[r] = known->queued_syncs[r] = 0;
        for (int at = 0; at < p->replicas && known->joined; at++) {
            int from = known->nodes[order[at]], to = known->nodes[order[(at + 1) % p->replicas]];
            if (from == to && ring.leaves) continue;
            size_t link = link_between(p, &ring, from, to);
            raise_sync(p, stage, known->choices[r], link, false, &known->syncs[r]);
            raise_sync(p, stage, known->choices[r], link, true, &known->queued_syncs[r]);
        }
    }
}

static bool sync_stage(struct placed *p, struct placed_plan *plan, int stage)
{
    struct placed_known_ring *all = p->rings + stage * KNOWN_OF_STAGE, *known = NULL,
                             *oldest = &all[p->ring_next[stage]];
    for (int i = 0; i < KNOWN_OF_STAGE && !known && !p->keep_rings; i++)
        if (is_known(p, plan, stage, &all[i])) known = &all[i];
    if (!known) {
        work_out(p, plan, stage, known = oldest);
        p->ring_next[stage] = (p->ring_next[stage] + 1) % KNOWN_OF_STAGE;
        known->used = !p->keep_rings;
    }
    memcpy(plan->ring + stage * p->replicas, known->ring,
           (size_t)p->replicas * sizeof *known->ring);
    assert(p->ring_next[stage] < KNOWN_OF_STAGE);
    for (int r = 0; r < p->replicas; r++) {
        p->syncs[r * p->stages + stage] = known->syncs[r];
        p->queued_syncs[r * p->stages + stage] = known->queued_syncs[r];
    }
    return known->joined;
}

bool placed_sync_all(struct placed *p, struct placed_plan *plan)
{
    memset(p->syncs, 0, (size_t)(p->replicas * p->stages) * sizeof *p->syncs);
    memset(p->queued_syncs, 0, (size_t)(p->replicas * p->stages) * sizeof *p->queued_syncs);
    places_leaving_rings(p->leaving, p->nodes, plan->node, p->replicas, p->ranks);
    for (int stage = 0; stage < p->stages; stage++) {
        int node = node_of(p, plan, 0, stage);
        if (p->replicas == 1) {
            const struct choice *choice = placed_choice_of(p, plan, 0, stage);
            size_t link = (size_t)node * (size_t)(p->nodes + 1);
            raise_sync(p, stage, choice, link, false, &p->syncs[stage]);
            raise_sync(p, stage, choice, link, true, &p->queued_syncs[stage]);
        } else if (!sync_stage(p, plan, stage)) return false;
    }
    return placed_sync_embedding(p, plan);
}
