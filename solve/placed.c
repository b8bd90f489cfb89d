// What a placed plan takes: rings, durations of each replica, the slowest one's longest path.
#include "solve/placed.h"

#include <string.h>

#include "solve/chains.h"
#include "solve/placed_parts.h"

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

struct placed *placed_open(const struct choices *c, struct graph *g, struct arena *arena)
{
    struct placed *p = TAKE(arena, 1, struct placed);
    *p = (struct placed){.c = c, .priced = c->priced, .graph = g, .replicas = c->priced->layout.data, .ranks = c->rank_count,
                         .stages = c->priced->stage_count, .nodes = c->priced->places->node_count, .symbols = graph_symbol_count(g), .arena = arena};
    p->durations = TAKE(arena, p->symbols, int64_t);
    p->syncs = TAKE(arena, p->replicas * p->stages, int64_t);
    for (int i = 0; i < PLACED_ROWS_MAX; i++) {
        p->rows[i].symbols = TAKE(arena, p->symbols, int);
        p->rows[i].counts = TAKE(arena, p->symbols, int);
    }
    return p;
}

struct placed_plan placed_plan_empty(const struct placed *p, struct arena *arena)
{
    struct placed_plan plan = {TAKE(arena, p->replicas * p->stages, int), TAKE(arena, p->replicas * p->ranks, int),
                               TAKE(arena, p->stages * p->replicas, int), INT64_MAX, 0};
    for (int s = 0; s < p->stages; s++)
        for (int r = 0; r < p->replicas; r++) plan.ring[s * p->replicas + r] = r;
    return plan;
}

void placed_plan_copy(const struct placed *p, struct placed_plan *to, const struct placed_plan *from)
{
    memcpy(to->chosen, from->chosen, (size_t)(p->replicas * p->stages) * sizeof *to->chosen);
    memcpy(to->node, from->node, (size_t)(p->replicas * p->ranks) * sizeof *to->node);
    memcpy(to->ring, from->ring, (size_t)(p->stages * p->replicas) * sizeof *to->ring);
    to->time_ns = from->time_ns;
    to->slowest = from->slowest;
}

static const struct choice *choice_of(const struct placed *p, const struct placed_plan *plan, int replica, int stage)
{
    return &p->c->stages[stage].items[plan->chosen[replica * p->stages + stage]];
}

int placed_find_choice(const struct placed *p, int stage, int first_layer, int layer_count, int group, const struct choice *like)
{
    const struct stage_choices *choices = &p->c->stages[stage];
    int best = -1;
    for (int i = 0; i < choices->count; i++) {
        const struct choice *y = &choices->items[i];
        if (y->group != group || y->layer_count != layer_count || (p->c->by_position && y->first_layer != first_layer) ||
            y->gradient_option != like->gradient_option || y->boundary_option != like->boundary_option) continue;
        if (best < 0 || y->load_ns < choices->items[best].load_ns) best = i;
    }
    return best;
}

int placed_choice_on(const struct placed *p, int stage, int like, int group)
{
    const struct choice *x = &p->c->stages[stage].items[like];
    return x->group == group ? like : placed_find_choice(p, stage, x->first_layer, x->layer_count, group, x);
}

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
static int64_t link_ns(const struct placed *p, const struct placed_plan *plan, int stage, size_t link)
{
    int64_t most = 0, last = -1;
    if (p->priced->places->ring_constant_ns[0][link] == PRICE_NONE) return CHAIN_NONE;
    for (int r = 0; r < p->replicas; r++) {
        if (plan->chosen[r * p->stages + stage] == last) continue;
        last = plan->chosen[r * p->stages + stage];
        most = larger(most, choice_ring_sync_ns(p->c, stage, choice_of(p, plan, r, stage), link));
    }
    return most;
}

// links[from * replicas + to] between the stage's replicas.
static void fill_links(const struct placed *p, const struct placed_plan *plan, int stage, int64_t *links)
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
            most = larger(most, choice_ring_sync_ns(p->c, stage, choice_of(p, plan, r, stage), transport + pair_of(p, from, to)));
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
        if (p->replicas == 1) p->syncs[stage] = choice_ring_sync_ns(p->c, stage, choice_of(p, plan, 0, stage), pair_of(p, node, node));
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
        stages[s] = choice_of(p, plan, replica, s);
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

static int64_t longest_row(const struct placed *p, const int64_t *durations)
{
    int64_t longest = 0;
    for (int i = 0; i < p->row_count; i++) {
        const struct placed_row *row = &p->rows[i];
        int64_t length = 0;
        for (int k = 0; k < row->count; k++) length += row->counts[k] * durations[row->symbols[k]];
        longest = larger(longest, length);
    }
    return longest;
}

static void keep_row(struct placed *p, const int *counts)
{
    struct placed_row *row = &p->rows[p->row_next];
    row->count = 0;
    for (int symbol = 0; symbol < p->symbols; symbol++) {
        if (!counts[symbol]) continue;
        row->symbols[row->count] = symbol;
        row->counts[row->count++] = counts[symbol];
    }
    p->row_next = (p->row_next + 1) % PLACED_ROWS_MAX;
    if (p->row_count < PLACED_ROWS_MAX) p->row_count++;
}

static int64_t replica_ns(struct placed *p, int64_t at_least)
{
    int64_t longest = longest_row(p, p->durations);
    if (longest >= at_least) return longest;
    struct arena_mark mark = arena_set_mark(p->arena);
    int *counts = TAKE(p->arena, p->symbols + 1, int);
    int64_t time_ns = graph_longest(p->graph, p->durations, counts);
    if (time_ns > longest) keep_row(p, counts);
    p->walks++;
    arena_reset(p->arena, mark);
    return time_ns;
}

void placed_evaluate(struct placed *p, struct placed_plan *plan, int64_t at_least)
{
    int first = plan->slowest;          // it is most likely the slowest still
    plan->time_ns = INT64_MAX;
    if (!sync_all(p, plan)) return;
    int64_t slowest = -1;
    for (int i = 0; i < p->replicas; i++) {
        int replica = (first + i) % p->replicas;
        if (!fill_durations(p, plan, replica, p->durations)) return;
        int64_t time_ns = replica_ns(p, at_least);
        if (time_ns > slowest || (time_ns == slowest && replica < plan->slowest)) {
            slowest = time_ns;
            plan->slowest = replica;
        }
        if (slowest >= at_least) break;
    }
    plan->time_ns = slowest;
}
