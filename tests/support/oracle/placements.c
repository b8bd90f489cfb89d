// Enumerates all placements of small random problems.
#include "data/kinds/schedules.h"
#include "tests/support/oracle/placements.h"

#include <assert.h>
#include <string.h>

#include "data/base/least.h"
#include "formulate/choices/choices.h"
#include "tests/support/oracle/pipeline.h"

enum { NODES = 6 /* at most */, PLACES = 6, RINGS = 120, MICRO_BATCHES = 32 };

// ---- the oracle

// Everything that depends on a replica's number of micro-batches.
struct number {
    struct priced priced;
    struct schedule schedule;
    struct choices choices;
};

struct oracle {
    const struct cluster *cluster;
    bool homogeneous;
    double efficiency[NIC_KIND_COUNT];
    const struct priced *priced;
    const struct number *numbers[MICRO_BATCHES + 1];
    int replicas, stages;
    int micro_batches[PLACES], node[PLACES];
    const int *held; // [replica * stages + stage]: the node, -1: any. NULL: any
    const struct choice *like[PLACES], *chosen[PLACES]; // [stage], [replica * stages + stage]
    int left[NODES];                                    // device groups
    int64_t embedding_ns; // fused, of the current placement; -1: no link connects its ring
    int64_t best;
    struct arena *arena;
};

// For each stage the vectors of what its sync takes of each replica, over one order of its ring or
// another.
struct rings {
    int64_t syncs[RINGS][PLACES];
    int count;
};

static int group_of(const struct oracle *o, int node)
{
    return o->priced->places->nodes[node].group;
}

// Cards of the kind; NULL: the group has none.
static const struct nic *cards_of(const struct node_group *g, int kind)
{
    for (int i = 0; i < g->nic_count; i++)
        if ((int)g->nics[i].kind == kind) return &g->nics[i];
    return NULL;
}

// The kind of card that the stage's nodes all have and that is fastest for the slowest of them, by
// its place among the priced transports. -1: the nodes may not be in one ring.
static int transport_of(const struct oracle *o, int stage, const double *efficiency)
{
    const struct priced_places *p = o->priced->places;
    const char *best = "none";
    double best_rate = 0;
    const struct node_group *first = &o->cluster->groups[group_of(o, o->node[stage])];
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++) {
        double least = -1;
        for (int r = 0; r < o->replicas; r++) {
            int node = o->node[r * o->stages + stage];
            const struct node_group *g = &o->cluster->groups[group_of(o, node)];
            const struct nic *cards = cards_of(g, kind);
            bool alike = g == first || (g->nic_count > 0 && !cards == !cards_of(first, kind));
            if (o->homogeneous && !alike) return -1;
            if (!g->nic_count) continue;
            double rate = cards ? cards->count * cards->link.bytes_per_s * efficiency[kind] : 0;
            if (least < 0 || rate < least) least = rate;
        }
        if (least > best_rate + 1) {
            best = nic_kind_names[kind];
            best_rate = least;
        }
    }
    if (p->transport_count == 1) return 0;
    int without = -1;
    for (int t = 0; t < p->transport_count; t++) {
        if (!strcmp(p->transports[t].name, best)) return t;
        if (!strcmp(best, "none")) without = 0;
    }
    return without; // nodes without cards only: any
}

// Stages of which some replica is on the node and some other is not.
static int rings_leaving(const struct oracle *o, int node)
{
    int rings = 0;
    for (int s = 0; s < o->stages; s++) {
        int here = 0;
        for (int r = 0; r < o->replicas; r++) here += o->node[r * o->stages + s] == node;
        rings += here > 0 && here < o->replicas;
    }
    return rings;
}

// The index of the prices of a link when the two nodes' cards are shared by all rings that leave
// them.
static size_t shared_link(const struct oracle *o, int transport, int from, int to)
{
    const struct priced_places *p = o->priced->places;
    int level = 0, ends[2] = {from, to};
    for (int end = 0; end < 2; end++) {
        int rings = rings_leaving(o, ends[end]);
        if (p->rings_most > 1 && rings > 1)
            level = (int)larger(
                level,
                p->ring_level[transport][p->nodes[ends[end]].group * p->rings_most + rings - 1]);
        else if (p->rings_most > 1)
            level = (int)larger(
                level, p->ring_level[transport][p->nodes[ends[end]].group * p->rings_most]);
    }
    size_t nodes = (size_t)p->node_count;
    return (((size_t)level * (size_t)p->transport_count + (size_t)transport) * nodes +
            (size_t)from) *
               nodes +
           (size_t)to;
}

// The stage's sync over a link: layer by layer, last to first, for a tail after their backwards.
static int64_t link_sync(const struct oracle *o, const struct choice *x, int first_layer,
                         int transport, int from, int to)
{
    const struct priced *p = o->priced;
    size_t pair = shared_link(o, transport, from, to);
    int64_t gradient = 0, sync = 0;
    bool overlapped = p->layout.gradient_sync == SYNC_OVERLAPPED;
    if (p->places->ring_constant_ns[0][pair] == PRICE_NONE) return -1;
    for (int layer = first_layer + x->layer_count - 1; layer >= first_layer; layer--) {
        const struct priced_run *run = &p->runs[priced_run_of(p, layer)];
        int before = 0;
        for (int i = first_layer; i < layer; i++)
            before += p->runs[priced_run_of(p, i)].recomputable;
        enum recompute mode = run->recomputable ? x->recompute : RECOMPUTE_NONE;
        if (mode == RECOMPUTE_FIRST_LAYERS)
            mode = before < x->recomputed_layers ? RECOMPUTE_FULL : RECOMPUTE_NONE;
        int64_t backward = run->backward_ns[x->group] +
                           (run->again_ns[mode] ? run->again_ns[mode][x->group] : 0);
        if (schedule_splits_backward(p->layout.schedule)) backward = run->weight_ns[x->group];
        if (overlapped) gradient += backward;
        sync = larger(sync, gradient) +
               p->places->ring_ns[priced_run_of(p, layer)][x->gradient_option][pair];
    }
    return p->places->ring_constant_ns[x->gradient_option][pair] + sync - gradient;
}

// Kept unless another order is no slower for any replica.
static void keep_ring(const struct oracle *o, struct rings *rings, const int64_t *each)
{
    int kept = 0;
    for (int i = 0; i < rings->count; i++) {
        bool no_faster = true, no_slower = true;
        for (int r = 0; r < o->replicas; r++) {
            no_faster = no_faster && each[r] >= rings->syncs[i][r];
            no_slower = no_slower && each[r] <= rings->syncs[i][r];
        }
        if (no_faster) return;
        if (!no_slower) memcpy(rings->syncs[kept++], rings->syncs[i], sizeof rings->syncs[i]);
    }
    rings->count = kept;
    memcpy(rings->syncs[rings->count++], each, sizeof rings->syncs[0]);
}

// What the sync takes of replica r over the link from a to b.
struct links {
    int64_t ns[PLACES][PLACES][PLACES];
};

static void fill_links(struct links *links, const struct oracle *o, int stage, int first_layer)
{
    int transport = transport_of(o, stage, o->efficiency), first = o->node[stage];
    bool leaves = false;
    for (int r = 0; r < o->replicas; r++)
        leaves = leaves || o->node[r * o->stages + stage] != first;
    for (int r = 0; r < o->replicas; r++)
        for (int a = 0; a < o->replicas; a++)
            for (int b = 0; b < o->replicas; b++) {
                int from = o->node[a * o->stages + stage], to = o->node[b * o->stages + stage];
                if (a == b && o->replicas > 1) continue;
                links->ns[r][a][b] = transport < 0 ? -1
                                     : from == to && leaves
                                         ? 0
                                         : link_sync(o, o->chosen[r * o->stages + stage],
                                                     first_layer, transport, from, to);
            }
}

// All orders that begin with replica 0. `order` is permuted.
static void all_rings(const struct oracle *o, const struct links *links, int *order, int at,
                      struct rings *rings)
{
    if (at < o->replicas) {
        for (int i = at; i < o->replicas; i++) {
            int kept = order[at];
            order[at] = order[i], order[i] = kept;
            all_rings(o, links, order, at + 1, rings);
            order[i] = order[at], order[at] = kept;
        }
        return;
    }
    int64_t each[PLACES] = {0};
    for (int k = 0; k < o->replicas; k++)
        for (int r = 0; r < o->replicas; r++) {
            int64_t ns = links->ns[r][order[k]][order[(k + 1) % o->replicas]];
            if (ns < 0) return;
            each[r] = larger(each[r], ns);
        }
    keep_ring(o, rings, each);
}

// The busiest rank or link direction: one stage a rank, so boundaries are pairs of ranks.
static int64_t greatest_load(const struct priced *p, const int64_t *durations)
{
    int64_t ranks[PLACES] = {0}, most = 0;
    int stages = p->stage_count;
    for (int s = 0; s < stages; s++) ranks[s] += durations[symbol_index(stages, SYMBOL_WEIGHT, s)];
    for (int s = 0; s < stages; s++)
        for (int back = 0; back < 2; back++) {
            int64_t link = 0;
            for (int slice = 0; slice < p->slice_count; slice++) {
                int pass = symbol_of_slice(slice, back ? SYMBOL_BACKWARD : SYMBOL_FORWARD),
                    send =
                        symbol_of_slice(slice, back ? SYMBOL_SEND_BACKWARD : SYMBOL_SEND_FORWARD);
                ranks[s] += durations[symbol_index(stages, pass, s)];
                if (s + 1 == stages) continue;
                int64_t held = durations[symbol_index(stages, send + PART_BLOCKING, s)] +
                               durations[symbol_index(stages, send + PART_OVERHEAD, s)];
                ranks[s] += held;
                ranks[s + 1] += held;
                link += durations[symbol_index(stages, send + PART_LINK, s)];
            }
            most = larger(most, link);
        }
    for (int s = 0; s < stages; s++) most = larger(most, ranks[s]);
    return most;
}

// ---- the fused embedding sync

// The slowest link of the ring through these nodes in this order; -1: some are not joined. There is
// a link within a node only if the whole ring is on that node.
static int64_t bottleneck_around(const int64_t *links, const int *nodes, int count)
{
    bool leaves = false;
    int64_t most = 0;
    for (int i = 0; i < count; i++) leaves = leaves || nodes[i] != nodes[0];
    for (int i = 0; i < count; i++) {
        int from = nodes[i], to = nodes[(i + 1) % count];
        if (from == to && leaves) continue;
        if (links[from * NODES + to] < 0) return -1;
        most = larger(most, links[from * NODES + to]);
    }
    return most;
}

static void all_ways_around(const int64_t *links, int *nodes, int at, int count, int64_t *best)
{
    if (at == count) {
        int64_t ns = bottleneck_around(links, nodes, count);
        if (ns >= 0 && (*best < 0 || ns < *best)) *best = ns;
    }
    for (int i = at; i < count; i++) {
        int kept = nodes[at];
        nodes[at] = nodes[i], nodes[i] = kept;
        all_ways_around(links, nodes, at + 1, count, best);
        nodes[i] = nodes[at], nodes[at] = kept;
    }
}

static int64_t fused_sync(const struct oracle *o)
{
    const int64_t *links = o->priced->places->embedding_ring_ns;
    int nodes[2 * PLACES], count = 0;
    int64_t best = -1;
    if (!links) return 0;
    for (int r = 0; r < o->replicas; r++) {
        nodes[count++] = o->node[r * o->stages];
        nodes[count++] = o->node[r * o->stages + o->stages - 1];
    }
    all_ways_around(links, nodes, 1, count, &best);
    return best;
}

static int64_t time_of_replica(const struct oracle *o, int r, int64_t (*syncs)[PLACES])
{
    const struct number *n = o->numbers[o->micro_batches[r]];
    struct arena_mark mark = arena_set_mark(o->arena);
    int64_t *durations = TAKE(o->arena, symbol_count(o->stages, o->priced->slice_count), int64_t);
    for (int s = 0; s < o->stages; s++) {
        choices_stage_durations(&n->choices, s, o->chosen[r * o->stages + s], durations);
        durations[symbol_index(o->stages, SYMBOL_SYNC, s)] = syncs[s][r];
    }
    bool joined = choices_node_transfers(&n->choices, o->chosen + r * o->stages,
                                         o->node + r * o->stages, durations);
    if (o->priced->places->embedding_ring_ns)
        durations[symbol_index(o->stages, SYMBOL_EMBEDDING_SYNC, 0)] = o->embedding_ns;
    int64_t time_ns = !joined ? INT64_MAX
                      : o->priced->objective == OBJECTIVE_MAX_LOAD
                          ? greatest_load(o->priced, durations)
                          : pipeline_time(&n->schedule, durations, o->arena);
    arena_reset(o->arena, mark);
    return time_ns;
}

static void all_orders(struct oracle *o, const struct rings *rings, int stage,
                       int64_t (*syncs)[PLACES])
{
    int64_t slowest = 0;
    for (int i = 0; stage < o->stages && i < rings[stage].count; i++) {
        memcpy(syncs[stage], rings[stage].syncs[i], sizeof syncs[stage]);
        all_orders(o, rings, stage + 1, syncs);
    }
    if (stage < o->stages) return;
    for (int r = 0; r < o->replicas && slowest < o->best; r++)
        slowest = larger(slowest, time_of_replica(o, r, syncs));
    if (slowest < o->best) o->best = slowest;
}

static void time_placement(struct oracle *o)
{
    struct rings rings[PLACES] = {0};
    int64_t syncs[PLACES][PLACES] = {{0}};
    int layer = 0;
    for (int s = 0; s < o->stages; layer += o->like[s++]->layer_count) {
        int order[PLACES] = {0, 1, 2, 3, 4, 5};
        struct links links;
        fill_links(&links, o, s, layer);
        all_rings(o, &links, order, 1, &rings[s]);
    }
    o->embedding_ns = fused_sync(o);
    if (o->embedding_ns < 0) return;
    all_orders(o, rings, 0, syncs);
}

static bool same_decision(const struct choice *x, const struct choice *y)
{
    return x->first_layer == y->first_layer && x->layer_count == y->layer_count &&
           x->gradient_option == y->gradient_option && x->boundary_option == y->boundary_option;
}

static void all_nodes(struct oracle *o, int place)
{
    if (place == o->replicas * o->stages) {
        time_placement(o);
        return;
    }
    int stage = place % o->stages;
    const struct stage_choices *choices =
        &o->numbers[o->micro_batches[place / o->stages]]->choices.stages[stage];
    for (int node = 0; node < NODES; node++)
        for (int i = 0; i < choices->count && o->left[node]; i++) {
            const struct choice *x = &choices->items[i];
            if (o->held && o->held[place] >= 0 && o->held[place] != node) continue;
            if (x->group != o->priced->places->nodes[node].group ||
                !same_decision(x, o->like[stage]))
                continue;
            o->left[node]--;
            o->node[place] = node;
            o->chosen[place] = x;
            all_nodes(o, place + 1);
            o->left[node]++;
        }
}

static void all_numbers(struct oracle *o, int replica, int left)
{
    if (replica == o->replicas) {
        if (left == 0) all_nodes(o, 0);
        return;
    }
    for (int m = 1; m <= left; m++) {
        if (!o->numbers[m]) continue;
        o->micro_batches[replica] = m;
        all_numbers(o, replica + 1, left - m);
    }
}

static bool in_budget(const struct oracle *o)
{
    const struct quality_budget *b = &o->priced->budget;
    int64_t boundaries = 0, stages = 0, cost = 0;
    for (int s = 0; s < o->stages; s++) {
        boundaries += o->like[s]->boundary_option > 0;
        stages += o->priced->gradient_options[o->like[s]->gradient_option].form.amount > 0;
        cost += o->like[s]->quality_cost;
    }
    return (b->boundaries_max < 0 || boundaries <= b->boundaries_max) &&
           (b->stages_max < 0 || stages <= b->stages_max) &&
           (b->cost_max < 0 || cost <= b->cost_max);
}

// Layers and options of every stage, from the choices under the fewest micro-batches.
static void all_decisions(struct oracle *o, const struct choices *c, int stage, int layer,
                          int together)
{
    if (stage == o->stages) {
        if (layer == o->priced->layer_count && in_budget(o)) all_numbers(o, 0, together);
        return;
    }
    for (int i = 0; i < c->stages[stage].count; i++) {
        const struct choice *x = &c->stages[stage].items[i];
        bool seen = false;
        for (int k = 0; k < i; k++) seen = seen || same_decision(x, &c->stages[stage].items[k]);
        if (seen || x->first_layer != choices_place(c, layer) ||
            layer + x->layer_count > o->priced->layer_count)
            continue;
        o->like[stage] = x;
        all_decisions(o, c, stage + 1, layer + x->layer_count, together);
    }
}

// The time of a single replica's two ends is irrelevant: only the ring of all counts.
static struct priced_places *without_pairs(const struct priced_places *p, struct arena *arena)
{
    struct priced_places *x = TAKE(arena, 1, struct priced_places);
    *x = *p;
    x->embedding_sync_ns = TAKE(arena, NODES * NODES, int64_t);
    return x;
}

static struct number *number_of(const struct priced *p, int micro_batches, struct arena *arena)
{
    struct number *n = TAKE(arena, 1, struct number);
    struct error err = {OK, ""};
    n->priced = *p;
    n->priced.micro_batches = micro_batches;
    n->priced.groups = TAKE_COPY(arena, p->groups, p->group_count);
    for (int g = 0; g < p->group_count; g++)
        n->priced.groups[g].slots = 2 * NODES; // nodes are counted one by one
    if (p->places->embedding_ring_ns) n->priced.places = without_pairs(p->places, arena);
    if (schedule_build_priced(&n->schedule, &n->priced, arena, &err) != OK) assert(!"a schedule");
    if (choices_build(&n->choices, &n->priced, &n->schedule, arena, &err) != OK) assert(!"choices");
    return n;
}

static double placement_count(const struct oracle *o, const struct choices *c, int together)
{
    double count = 1;
    int left = 0;
    for (int i = 0; i < NODES; i++) left += o->left[i] > 1 ? 2 : o->left[i];
    for (int s = 0; s < o->stages; s++) count *= c->stages[s].count;
    for (int i = 0; i < o->stages * o->replicas; i++, left--) count *= left < NODES ? left : NODES;
    for (int i = 1; i < o->replicas && o->priced->places->micro_batches_together; i++)
        count *= (double)(together - i) / i;
    return count;
}

int64_t best_placement(const struct problem *problem, const struct priced *p, double most,
                       struct arena *arena)
{
    return best_placement_held(problem, p, NULL, most, arena);
}

int64_t best_placement_held(const struct problem *problem, const struct priced *p, const int *held,
                            double most, struct arena *arena)
{
    struct oracle o = {.held = held,
                       .cluster = &problem->cluster,
                       .homogeneous = problem->job.placement.homogeneous_groups,
                       .priced = p,
                       .replicas = p->layout.data,
                       .stages = p->stage_count,
                       .best = INT64_MAX,
                       .arena = arena};
    bool uneven = p->places->micro_batches_together > 0;
    for (int i = 0; i < p->places->node_count; i++) o.left[i] = p->places->nodes[i].slots;
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++)
        o.efficiency[kind] = problem->costs.network_efficiency[kind].value;
    int together = uneven ? (int)p->places->micro_batches_together : p->micro_batches * o.replicas,
        fewest = uneven ? 1 : p->micro_batches;
    if (together > MICRO_BATCHES || o.stages * o.replicas > PLACES) return -1;
    for (int m = fewest; m <= (uneven ? together - o.replicas + 1 : fewest); m++)
        o.numbers[m] = number_of(p, m, arena);
    const struct choices *c = &o.numbers[fewest]->choices;
    if (placement_count(&o, c, together) >= most) return -1;
    all_decisions(&o, c, 0, 0, together);
    return o.best;
}
