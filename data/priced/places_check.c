// Conditions on a priced document's prices between nodes: all present or all absent together,
// distinct names, sums within 2^52 ns.
#include <string.h>

#include "data/base/least.h"
#include "data/priced/fields.h"

// The maximum of each, as priced_check adds them up.
static double longest_beside_passes(const struct priced *p)
{
    const struct priced_places *x = p->places;
    size_t pairs = pairs_of(x), rings = ring_prices(x);
    double constant = 0, syncs = 0, transfer = 0, embedding = 0;
    for (int o = 0; o < p->gradient_option_count; o++)
        for (size_t i = 0; i < rings; i++)
            constant = larger_double(constant, (double)x->ring_constant_ns[o][i]);
    for (int r = 0; r < p->run_count; r++) {
        double most = 0;
        for (int o = 0; o < p->gradient_option_count; o++)
            for (size_t i = 0; i < rings; i++)
                most = larger_double(most, (double)x->ring_ns[r][o][i]);
        syncs += p->runs[r].count * most;
    }
    for (int c = 0; c < p->cut_count; c++)
        transfer = larger_double(transfer, priced_longest_transfer(p, x->cuts[c].forward_ns,
                                                                   x->cuts[c].backward_ns,
                                                                   (size_t)p->slice_count * pairs));
    const int64_t *ends = x->embedding_ring_ns ? x->embedding_ring_ns : x->embedding_sync_ns;
    for (size_t i = 0; ends && i < pairs; i++)
        embedding = larger_double(embedding, (double)ends[i]);
    return syncs + embedding +
           p->stage_count *
               (constant + (double)priced_micro_batches_most(p) * 2 * p->slice_count * transfer);
}

// All prices of a pair are present or none is: separately for transfers and for rings of each
// transport.
static bool transfers_differ(const struct priced *p, size_t pair)
{
    const struct priced_places *x = p->places;
    size_t pairs = pairs_of(x);
    bool differs = false;
    for (int c = 0; c < p->cut_count; c++) {
        bool joined = x->cuts[0].forward_ns[pair * PART_COUNT] >= 0;
        for (size_t i = pair; i < (size_t)p->slice_count * pairs; i += pairs)
            for (size_t part = 0; part < PART_COUNT; part++) {
                differs = differs || (x->cuts[c].forward_ns[i * PART_COUNT + part] >= 0) != joined;
                for (int o = 0; o < p->boundary_option_count; o++)
                    differs = differs ||
                              (x->cuts[c].backward_ns[o][i * PART_COUNT + part] >= 0) != joined;
            }
    }
    return differs;
}

static bool rings_differ(const struct priced *p, size_t link)
{
    const struct priced_places *x = p->places;
    bool differs = false, ring = x->ring_constant_ns[0][link] >= 0;
    for (size_t at = link; at < ring_prices(x); at += priced_ring_links(x))
        for (int o = 0; o < p->gradient_option_count; o++) {
            differs = differs || (x->ring_constant_ns[o][at] >= 0) != ring;
            for (int r = 0; r < p->run_count; r++)
                differs = differs || (x->ring_ns[r][o][at] >= 0) != ring;
        }
    return differs;
}

// Whether sharing makes a link cheaper than it is for one ring.
static bool sharing_helps(const struct priced *p, size_t link)
{
    const struct priced_places *x = p->places;
    bool helps = false;
    for (size_t at = link; at < ring_prices(x); at += priced_ring_links(x))
        for (int o = 0; o < p->gradient_option_count; o++) {
            helps = helps || x->ring_constant_ns[o][at] < x->ring_constant_ns[o][link];
            for (int r = 0; r < p->run_count; r++)
                helps = helps || x->ring_ns[r][o][at] < x->ring_ns[r][o][link];
        }
    return helps;
}

static size_t slowest_pair(const struct priced *p)
{
    size_t slowest = 0;
    int64_t most = -1;
    for (int c = 0; c < p->cut_count; c++)
        for (size_t i = 0; i < pairs_of(p->places) * PART_COUNT; i++)
            if (p->places->cuts[c].forward_ns[i] > most)
                most = p->places->cuts[c].forward_ns[i], slowest = i / PART_COUNT;
    return slowest;
}

static enum status check_pair(const struct priced *p, size_t pair, struct error *err)
{
    const struct priced_places *x = p->places;
    bool differs = transfers_differ(p, pair), helps = false;
    for (int t = 0; t < x->transport_count; t++) {
        differs = differs || rings_differ(p, (size_t)t * pairs_of(x) + pair);
        helps = helps || sharing_helps(p, (size_t)t * pairs_of(x) + pair);
    }
    if (!differs && !helps) return OK;
    return refuse(err, "places: \"%s\" to \"%s\": expected %s",
                  x->nodes[pair / (size_t)x->node_count].name,
                  x->nodes[pair % (size_t)x->node_count].name,
                  differs ? "all prices of a link or none (-1)"
                          : "prices of rings that are least at level 0");
}

enum status priced_places_check(const struct priced *p, double passes_ns, double sum_max,
                                struct error *err)
{
    const struct priced_places *x = p->places;
    TRY(priced_pipette_check(p, sum_max, err));
    if (!x) return OK;
    if (p->tier_count || p->recompute[RECOMPUTE_SWAP] || priced_states_energy(p))
        return refuse(err, "places: expected no tiers, no energy and no \"swap\" with them");
    for (int i = 0; i < x->node_count; i++)
        for (int k = 0; k < i; k++)
            if (!strcmp(x->nodes[i].name, x->nodes[k].name))
                return refuse(err, "places.nodes[%d].name: \"%s\" names two nodes", i,
                              x->nodes[i].name);
    int64_t unit = layout_micro_batch_unit(&p->layout), units = x->micro_batches_together / unit;
    if (x->micro_batches_together &&
        (x->micro_batches_together % unit || units < p->layout.data ||
         units - p->layout.data >= MICRO_BATCHES_MAX ||
         p->micro_batches != (units + p->layout.data - 1) / p->layout.data * unit))
        return refuse(
            err,
            "places.micro_batches_together: %lld for %d replicas do not match micro_batches %d",
            (long long)x->micro_batches_together, p->layout.data, p->micro_batches);
    for (size_t pair = 0; pair < pairs_of(x); pair++) TRY(check_pair(p, pair, err));
    double longest = passes_ns + longest_beside_passes(p);
    if (longest <= sum_max) return OK;
    size_t pair = slowest_pair(p);
    return refuse(err,
                  "places: an iteration could take %.3g ns, with messages from \"%.60s\" to "
                  "\"%.60s\" the slowest; sums must stay within 2^52 ns (52 days)",
                  longest, x->nodes[pair / (size_t)x->node_count].name,
                  x->nodes[pair % (size_t)x->node_count].name);
}
