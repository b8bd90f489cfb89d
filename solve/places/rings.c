// Rings of a placed plan: in which order a stage's replicas go round, and what their sync takes.
#include <assert.h>
#include <string.h>

#include "data/base/least.h"
#include "solve/chains/chains.h"
#include "solve/places/internal.h"

static size_t pair_of(const struct placed *p, int from, int to)
{
    return (size_t)from * (size_t)p->nodes + (size_t)to;
}

// Where the prices of the stage's rings begin: what all its replicas' nodes have in common is their
// transport.
static size_t transport_of(const struct placed *p, const struct placed_plan *plan, int stage)
{
    struct arena_mark mark = arena_set_mark(p->arena);
    int *nodes = TAKE(p->arena, p->replicas, int);
    for (int r = 0; r < p->replicas; r++)
        nodes[r] = plan->node[r * p->ranks + choices_rank_of(p->c, stage)];
    size_t offset = priced_ring_offset(p->priced->places, nodes, p->replicas);
    arena_reset(p->arena, mark);
    return offset;
}

// What the stage's sync takes over links like this one, for the slowest of its replicas.
static int64_t link_ns(struct placed *p, const struct placed_plan *plan, int stage, size_t link)
{
    const struct choice *last = NULL;
    int64_t most = 0;
    if (p->priced->places->ring_constant_ns[0][link] == PRICE_NONE) return CHAIN_NONE;
    for (int r = 0; r < p->replicas; r++) {
        const struct choice *choice = placed_choice_of(p, plan, r, stage);
        if (choice == last) continue;
        last = choice;
        most = larger(most, choice_ring_sync_ns(p->c, stage, choice, link));
    }
    return most;
}

// links[from * replicas + to] between the stage's replicas.
static void fill_links(struct placed *p, const struct placed_plan *plan, int stage, int64_t *links)
{
    int rank = choices_rank_of(p->c, stage);
    size_t transport = transport_of(p, plan, stage);
    for (int a = 0; a < p->replicas; a++)
        for (int b = 0; b < p->replicas; b++) {
            size_t link = transport + pair_of(p, plan->node[a * p->ranks + rank],
                                              plan->node[b * p->ranks + rank]);
            links[a * p->replicas + b] = a == b ? CHAIN_NONE : link_ns(p, plan, stage, link);
        }
}

void placed_fill_links(struct placed *p, const struct placed_plan *plan, int stage, int64_t *links)
{
    int rank = choices_rank_of(p->c, stage), d = p->replicas;
    size_t transport = transport_of(p, plan, stage);
    for (int i = 0; i < d * d; i++) {
        size_t link = transport + pair_of(p, plan->node[i / d * p->ranks + rank],
                                          plan->node[i % d * p->ranks + rank]);
        bool joined = p->priced->places->ring_constant_ns[0][link] != PRICE_NONE;
        for (int r = 0; r < d; r++)
            links[r * d * d + i] =
                joined ? choice_ring_sync_ns(p->c, stage, placed_choice_of(p, plan, r, stage), link)
                       : -1;
    }
}

static int64_t dearest_link(const int64_t *links, const int *ring, int count)
{
    int64_t dearest = 0;
    for (int at = 0; at < count; at++)
        dearest = larger(dearest, links[ring[at] * count + ring[(at + 1) % count]]);
    return dearest;
}

// Two replicas change places as long as the dearest link gets cheaper.
static void improve_ring(const int64_t *links, int *ring, int count)
{
    int64_t dearest = dearest_link(links, ring, count);
    for (bool improved = true; improved;) {
        improved = false;
        for (int a = 1; a < count; a++)
            for (int b = a + 1; b < count; b++) {
                int kept = ring[a];
                ring[a] = ring[b], ring[b] = kept;
                int64_t now = dearest_link(links, ring, count);
                if (now < dearest) {
                    dearest = now;
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
        improve_ring(links, ring, count);
        return;
    }
    for (int r = 0; r < count; r++) all[r] = r;
    ring_through(ring, links, count, all, count, p->arena);
}

// ---- what was worked out before: most steps of a search leave most stages where they are

enum { KNOWN_OF_STAGE = 4 };

struct placed_known_ring {
    bool used, joined;
    int *nodes, *ring; // [replica]
    const struct choice **choices;
    int64_t *syncs;
};

struct placed_known_ring *placed_rings_open(const struct placed *p, struct arena *arena)
{
    struct placed_known_ring *known =
        TAKE(arena, p->stages * KNOWN_OF_STAGE, struct placed_known_ring);
    for (int i = 0; i < p->stages * KNOWN_OF_STAGE; i++)
        known[i] =
            (struct placed_known_ring){.nodes = TAKE(arena, p->replicas, int),
                                       .ring = TAKE(arena, p->replicas, int),
                                       .choices = TAKE(arena, p->replicas, const struct choice *),
                                       .syncs = TAKE(arena, p->replicas, int64_t)};
    return known;
}

static bool is_known(struct placed *p, const struct placed_plan *plan, int stage,
                     const struct placed_known_ring *known)
{
    int rank = choices_rank_of(p->c, stage);
    for (int r = 0; r < p->replicas && known->used; r++)
        if (known->nodes[r] != plan->node[r * p->ranks + rank] ||
            known->choices[r] != placed_choice_of(p, plan, r, stage))
            return false;
    return known->used;
}

// ---- syncs

// The dearest link of the stage's ring, by what it takes of each replica's own.
static void work_out(struct placed *p, struct placed_plan *plan, int stage,
                     struct placed_known_ring *known)
{
    struct arena_mark mark = arena_set_mark(p->arena);
    int64_t *links = TAKE(p->arena, p->replicas * p->replicas, int64_t);
    int *ring = plan->ring + stage * p->replicas, rank = choices_rank_of(p->c, stage);
    size_t transport = transport_of(p, plan, stage);
    fill_links(p, plan, stage, links);
    order_ring(p, links, ring);
    assert(placed_is_order(ring, p->replicas));
    *known = (struct placed_known_ring){
        true,           dearest_link(links, ring, p->replicas) < CHAIN_NONE,
        known->nodes,   known->ring,
        known->choices, known->syncs};
    arena_reset(p->arena, mark);
    memcpy(known->ring, ring, (size_t)p->replicas * sizeof *ring);
    for (int r = 0; r < p->replicas; r++) {
        int64_t most = 0;
        known->nodes[r] = plan->node[r * p->ranks + rank];
        known->choices[r] = placed_choice_of(p, plan, r, stage);
        for (int at = 0; at < p->replicas && known->joined; at++) {
            int from = plan->node[ring[at] * p->ranks + rank],
                to = plan->node[ring[(at + 1) % p->replicas] * p->ranks + rank];
            size_t link = transport + pair_of(p, from, to);
            assert(link < priced_ring_links(p->priced->places));
            most = larger(most, choice_ring_sync_ns(p->c, stage, known->choices[r], link));
        }
        known->syncs[r] = most;
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
    for (int r = 0; r < p->replicas; r++) p->syncs[r * p->stages + stage] = known->syncs[r];
    return known->joined;
}

bool placed_sync_all(struct placed *p, struct placed_plan *plan)
{
    memset(p->syncs, 0, (size_t)(p->replicas * p->stages) * sizeof *p->syncs);
    for (int stage = 0; stage < p->stages; stage++) {
        int node = plan->node[choices_rank_of(p->c, stage)];
        if (p->replicas == 1)
            p->syncs[stage] = choice_ring_sync_ns(p->c, stage, placed_choice_of(p, plan, 0, stage),
                                                  pair_of(p, node, node));
        else if (!sync_stage(p, plan, stage)) return false;
    }
    return true;
}
