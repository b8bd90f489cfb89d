// The program over groups, with syncs as slow as the best ring. Whichever nodes a stage's replicas
// are on, their ring uses one transport and has a link that is no better than the best bottleneck
// of all rings of this size over it, nor than the best link of a node of their group. So a sync
// takes at least the least time among links that are no better than that. Every link counts as if
// its ring were alone on its nodes' cards; links within a node count if a whole ring fits there.

#include "data/base/least.h"
#include "solve/chains/chains.h"
#include "solve/places/internal.h"

int64_t placed_link_weight(const struct priced *p, size_t link)
{
    const struct priced_places *x = p->places;
    if (x->ring_constant_ns[0][link] == PRICE_NONE) return CHAIN_NONE;
    int64_t sum = 0;
    for (int run = 0; run < p->run_count; run++)
        sum += p->runs[run].count * x->ring_ns[run][0][link];
    return x->ring_constant_ns[0][link] + sum / p->stage_count;
}

// Whether a whole ring can be on the node; then links within the node count.
static bool holds_ring(const struct priced *p, size_t node)
{
    return p->places->nodes[node].slots >= p->layout.data;
}

static bool is_in(unsigned groups, const struct priced_places *x, size_t node)
{
    return groups >> x->nodes[node].group & 1;
}

// For rings that leave a node, with every device group as a node of its own: transfers within a
// node take no time.
static int64_t least_between(const struct priced *p, const int64_t *weights, unsigned groups,
                             struct arena *arena)
{
    const struct priced_places *x = p->places;
    int count = 0, *slots;
    for (int i = 0; i < x->node_count; i++) count += x->nodes[i].slots;
    slots = TAKE(arena, count + 1, int);
    count = 0;
    for (int i = 0; i < x->node_count; i++)
        for (int k = 0; k < x->nodes[i].slots && is_in(groups, x, (size_t)i); k++)
            slots[count++] = i;
    int64_t *links = TAKE(arena, (size_t)count * (size_t)count + 1, int64_t);
    for (int i = 0; i < count * count; i++) {
        int from = slots[i / count], to = slots[i % count];
        size_t pair = (size_t)from * (size_t)x->node_count + (size_t)to;
        links[i] = i / count == i % count ? CHAIN_NONE : from == to ? 0 : weights[pair];
    }
    int64_t bottleneck = ring_bound(links, count, p->layout.data, NULL, arena);
    assert(bottleneck >= 0);
    return bottleneck;
}

int64_t placed_least_bottleneck(const struct priced *p, const int64_t *weights, unsigned groups,
                                struct arena *arena)
{
    const struct priced_places *x = p->places;
    size_t nodes = (size_t)x->node_count;
    int64_t lightest = CHAIN_NONE;
    bool any_holds = false;
    for (size_t pair = 0; pair < nodes * nodes; pair++)
        if (is_in(groups, x, pair / nodes) && is_in(groups, x, pair % nodes))
            lightest = smaller(lightest, weights[pair]);
    for (size_t i = 0; i < nodes; i++)
        any_holds = any_holds || (is_in(groups, x, i) && holds_ring(p, i));
    return any_holds ? lightest : least_between(p, weights, groups, arena);
}

void placed_ring_links(bool *counts, const struct priced *p, struct arena *arena)
{
    const struct priced_places *x = p->places;
    size_t nodes = (size_t)x->node_count, pairs = nodes * nodes, links = priced_ring_links(x);
    int64_t *weights = TAKE(arena, pairs, int64_t);
    for (int t = 0; t < x->transport_count && p->layout.data > 1; t++) {
        for (size_t pair = 0; pair < pairs; pair++)
            weights[pair] = pair % (nodes + 1) || holds_ring(p, pair / nodes)
                                ? placed_link_weight(p, (size_t)t * pairs + pair)
                                : CHAIN_NONE;
        int64_t bottleneck = placed_least_bottleneck(p, weights, ~0u, arena);
        for (int g = 0; g < p->group_count; g++) {
            int64_t beside = CHAIN_NONE;
            for (size_t pair = 0; pair < pairs; pair++)
                if (x->nodes[pair / nodes].group == g || x->nodes[pair % nodes].group == g)
                    beside = smaller(beside, weights[pair]);
            int64_t least = larger(bottleneck, beside);
            for (size_t pair = 0; pair < pairs; pair++)
                counts[(size_t)g * links + (size_t)t * pairs + pair] = weights[pair] >= least &&
                                                                       weights[pair] < CHAIN_NONE;
        }
    }
}

// The least entry of the table among the links that count.
static int64_t least_of(const struct priced *p, const int64_t *table, const bool *counts, int group)
{
    size_t links = priced_ring_links(p->places);
    int64_t least = INT64_MAX;
    for (size_t link = 0; link < links; link++)
        if (counts[(size_t)group * links + link]) least = smaller(least, table[link]);
    return least == INT64_MAX ? 0 : least;
}

// Turns the time that blocks both ends into a delay.
static void move_blocking(int64_t *prices, size_t count)
{
    for (size_t i = 0; i < count; i += PART_COUNT) {
        if (prices[i + PART_BLOCKING] <= 0) continue;
        prices[i + PART_DELAY] += prices[i + PART_BLOCKING];
        prices[i + PART_BLOCKING] = 0;
    }
}

// If more micro-batches might otherwise take less time: uses graphs without blocking transfers
// (placed_schedules_nest).
static void relax_blocking(struct priced *relaxed, struct arena *arena)
{
    size_t count = (size_t)(relaxed->slice_count * relaxed->group_count * relaxed->group_count) *
                   PART_COUNT;
    relaxed->places = NULL; // there the part has prices still
    relaxed->cuts = TAKE_COPY(arena, relaxed->cuts, relaxed->cut_count);
    for (int i = 0; i < relaxed->cut_count; i++) {
        struct priced_cut *cut = &relaxed->cuts[i];
        cut->forward_ns = TAKE_COPY(arena, cut->forward_ns, count);
        move_blocking(cut->forward_ns, count);
        int64_t **backward = TAKE(arena, relaxed->boundary_option_count, int64_t *);
        for (int option = 0; option < relaxed->boundary_option_count; option++) {
            backward[option] = TAKE_COPY(arena, cut->backward_ns[option], count);
            move_blocking(backward[option], count);
        }
        cut->backward_ns = backward;
    }
}

void placed_relax(struct priced *relaxed, const struct priced *p, struct arena *arena)
{
    const struct priced_places *x = p->places;
    *relaxed = *p;
    if (x->micro_batches_together && !placed_schedules_nest(p)) relax_blocking(relaxed, arena);
    if (p->layout.data == 1) return;
    bool *counts = TAKE(arena, (size_t)p->group_count * priced_ring_links(x), bool);
    placed_ring_links(counts, p, arena);
    relaxed->runs = TAKE_COPY(arena, p->runs, p->run_count);
    relaxed->groups = TAKE_COPY(arena, p->groups, p->group_count);
    for (int g = 0; g < p->group_count; g++) {
        relaxed->groups[g].sync_constant_ns = TAKE(arena, p->gradient_option_count, int64_t);
        for (int o = 0; o < p->gradient_option_count; o++)
            relaxed->groups[g].sync_constant_ns[o] = least_of(p, x->ring_constant_ns[o], counts, g);
    }
    for (int run = 0; run < p->run_count; run++) {
        relaxed->runs[run].sync_ns = TAKE(arena, p->gradient_option_count, int64_t *);
        for (int o = 0; o < p->gradient_option_count; o++) {
            relaxed->runs[run].sync_ns[o] = TAKE(arena, p->group_count, int64_t);
            for (int g = 0; g < p->group_count; g++)
                relaxed->runs[run].sync_ns[o][g] = least_of(p, x->ring_ns[run][o], counts, g);
        }
    }
}
