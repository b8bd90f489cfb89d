// The inputs of the objective pipette in a priced document: reading, checking, writing.
#include "data/inputs/model/model.h"
#include "data/priced/fields.h"

PRICES(pairs, (int)pairs_of(p->places), PRICE_NONE)
PRICES(nodes, p->places->node_count, 0)

static const struct member pipette_rows[] = {
    KEY_INT(priced_pipette, replicas_per_node, REQUIRED, ALWAYS_WRITTEN, 1, 65536),
    KEY_INT(priced_pipette, first_block, REQUIRED, ALWAYS_WRITTEN, 0, LAYERS_MAX),
    KEY_INT(priced_pipette, blocks_per_stage, REQUIRED, ALWAYS_WRITTEN, 1, LAYERS_MAX),
    KEY_PRICES(priced_pipette, hop_ns, REQUIRED, pairs),
    KEY_PRICES(priced_pipette, ring_ns, REQUIRED, pairs),
    KEY_PRICES(priced_pipette, inner_ns, REQUIRED, nodes),
};
MEMBERS(pipette, struct priced_pipette, NULL, false, NULL);

static double greatest(const int64_t *values, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) most = (double)values[i] > most ? (double)values[i] : most;
    return most;
}

enum status priced_pipette_check(const struct priced *p, double sum_max, struct error *err)
{
    const struct priced_pipette *x = p->places ? p->places->pipette : NULL;
    if (!x != (p->objective != OBJECTIVE_PIPETTE))
        return refuse(err,
                      "places.pipette: expected with the objective pipette, and with no other");
    if (!x) return OK;
    if (p->stage_count != p->rank_count)
        return refuse(err, "places.pipette: expected one stage a rank, found %d stages of %d ranks",
                      p->stage_count, p->rank_count);
    if (x->first_block + p->stage_count * x->blocks_per_stage > p->layer_count)
        return refuse(
            err,
            "places.pipette: %d stages of %d blocks behind layer %d are more than the %d layers",
            p->stage_count, x->blocks_per_stage, x->first_block, p->layer_count);
    if (p->layout.data % x->replicas_per_node)
        return refuse(
            err,
            "places.pipette.replicas_per_node: expected a divisor of the %d replicas, found %d",
            p->layout.data, x->replicas_per_node);
    for (int i = 0; i < p->places->node_count; i++)
        if (p->places->nodes[i].slots && p->places->nodes[i].slots != x->replicas_per_node)
            return refuse(err, "places.pipette.replicas_per_node: \"%s\" has room for %d, found %d",
                          p->places->nodes[i].name, p->places->nodes[i].slots,
                          x->replicas_per_node);
    double longest = (p->stage_count - 1) * greatest(x->hop_ns, pairs_of(p->places)) +
                     greatest(x->ring_ns, pairs_of(p->places)) +
                     greatest(x->inner_ns, (size_t)p->places->node_count);
    if (longest <= sum_max) return OK;
    return refuse(err,
                  "places.pipette: the objective could come to %.3g ns; sums must stay within 2^52 "
                  "ns (52 days)",
                  longest);
}

void priced_pipette_layers(const struct priced *p, int stage, int *first, int *count)
{
    const struct priced_pipette *x = p->places->pipette;
    int end = stage == p->stage_count - 1 ? p->layer_count
                                          : x->first_block + (stage + 1) * x->blocks_per_stage;
    *first = stage ? x->first_block + stage * x->blocks_per_stage : 0;
    *count = end - *first;
}
