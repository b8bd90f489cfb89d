// What a placed plan takes: rings, durations of each replica, the slowest one's longest path.
#include "solve/placed.h"

#include <string.h>

#include "solve/chains.h"
#include "solve/placed_parts.h"

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

// ---- rings

static size_t pair_of(const struct placed *p, int from, int to) { return (size_t)from * (size_t)p->nodes + (size_t)to; }

// Where the prices of the stage's rings begin: what all its replicas' nodes have in common is their transport.
static size_t transport_of(const struct placed *p, const struct placed_plan *plan, int stage)
{
    struct arena_mark mark = arena_set_mark(p->arena);
    int *nodes = TAKE(p->arena, p->replicas, int);
    for (int r = 0; r < p->replicas; r++) nodes[r] = plan->node[r * p->ranks + choices_rank_of(p->c, stage)];
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
            size_t link = transport + pair_of(p, plan->node[a * p->ranks + rank], plan->node[b * p->ranks + rank]);
            links[a * p->replicas + b] = a == b ? CHAIN_NONE : link_ns(p, plan, stage, link);
        }
}

static int64_t dearest_link(const int64_t *links, const int *ring, int count)
{
    int64_t dearest = 0;
    for (int at = 0; at < count; at++) dearest = larger(dearest, links[ring[at] * count + ring[(at + 1) % count]]);
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

// The dearest link of the stage's ring, by what it takes of each replica's own.
static bool sync_stage(struct placed *p, struct placed_plan *plan, int stage)
{
    struct arena_mark mark = arena_set_mark(p->arena);
    int64_t *links = TAKE(p->arena, p->replicas * p->replicas, int64_t);
    int *ring = plan->ring + stage * p->replicas, rank = choices_rank_of(p->c, stage);
    size_t transport = transport_of(p, plan, stage);
    fill_links(p, plan, stage, links);
    order_ring(p, links, ring);
    bool joined = dearest_link(links, ring, p->replicas) < CHAIN_NONE;
    arena_reset(p->arena, mark);
    for (int r = 0; r < p->replicas && joined; r++) {
        int64_t most = 0;
        for (int at = 0; at < p->replicas; at++) {
            int from = plan->node[ring[at] * p->ranks + rank], to = plan->node[ring[(at + 1) % p->replicas] * p->ranks + rank];
            most = larger(most, choice_ring_sync_ns(p->c, stage, placed_choice_of(p, plan, r, stage), transport + pair_of(p, from, to)));
        }
        p->syncs[r * p->stages + stage] = most;
    }
    return joined;
}

static bool sync_all(struct placed *p, struct placed_plan *plan)
{
    memset(p->syncs, 0, (size_t)(p->replicas * p->stages) * sizeof *p->syncs);
    for (int stage = 0; stage < p->stages; stage++) {
        int node = plan->node[choices_rank_of(p->c, stage)];
        if (p->replicas == 1) p->syncs[stage] = choice_ring_sync_ns(p->c, stage, placed_choice_of(p, plan, 0, stage), pair_of(p, node, node));
        else if (!sync_stage(p, plan, stage)) return false;
    }
    return true;
}

// ---- time

static bool fill_durations(struct placed *p, const struct placed_plan *plan, int replica, int64_t *durations)
{
    struct arena_mark mark = arena_set_mark(p->arena);
    const struct choice **stages = TAKE(p->arena, p->stages, const struct choice *);
    memset(durations, 0, (size_t)p->symbols * sizeof *durations);
    for (int s = 0; s < p->stages; s++) {
        stages[s] = placed_choice_of(p, plan, replica, s);
        choices_stage_durations(p->c, s, stages[s], durations);
        durations[symbol_index(p->stages, SYMBOL_SYNC, s)] = p->syncs[replica * p->stages + s];
    }
    bool joined = choices_node_transfers(p->c, stages, plan->node + replica * p->ranks, durations);
    arena_reset(p->arena, mark);
    return joined;
}

bool placed_durations(struct placed *p, const struct placed_plan *plan, int replica, int64_t *durations)
{
    struct placed_plan same = *plan;
    return sync_all(p, &same) && fill_durations(p, plan, replica, durations);
}

static int64_t longest_row(const struct placed_variant *v, const int64_t *durations)
{
    int64_t longest = 0;
    for (int i = 0; i < v->row_count; i++) {
        const struct placed_row *row = &v->rows[i];
        int64_t length = 0;
        for (int k = 0; k < row->count; k++) length += row->counts[k] * durations[row->symbols[k]];
        longest = larger(longest, length);
    }
    return longest;
}

static void keep_row(const struct placed *p, struct placed_variant *v, const int *counts)
{
    struct placed_row *row = &v->rows[v->row_next];
    row->count = 0;
    for (int symbol = 0; symbol < p->symbols; symbol++) {
        if (!counts[symbol]) continue;
        row->symbols[row->count] = symbol;
        row->counts[row->count++] = counts[symbol];
    }
    v->row_next = (v->row_next + 1) % v->rows_max;
    if (v->row_count < v->rows_max) v->row_count++;
}

static int64_t replica_ns(struct placed *p, struct placed_variant *v, int64_t at_least)
{
    int64_t longest = longest_row(v, p->durations);
    if (longest >= at_least) return longest;
    int64_t time_ns = graph_longest(v->graph, p->durations, p->counts);
    if (time_ns > longest) keep_row(p, v, p->counts);
    p->walks++;
    return time_ns;
}

void placed_evaluate(struct placed *p, struct placed_plan *plan, int64_t at_least)
{
    int first = plan->slowest;          // it is most likely the slowest still
    plan->time_ns = INT64_MAX;
    for (int i = 0; i < p->replicas; i++) placed_variant(p, plan->micro_batches[i]);
    if (!sync_all(p, plan)) return;
    int64_t slowest = -1;
    for (int i = 0; i < p->replicas; i++) {
        int replica = (first + i) % p->replicas;
        if (!fill_durations(p, plan, replica, p->durations)) return;
        int64_t time_ns = replica_ns(p, placed_variant(p, plan->micro_batches[replica]), at_least);
        if (time_ns > slowest || (time_ns == slowest && replica < plan->slowest)) {
            slowest = time_ns;
            plan->slowest = replica;
        }
        if (slowest >= at_least) break;
    }
    plan->time_ns = slowest;
}
