// Links as one layout uses them. All device groups of a node share its cards; a message goes
// through one card, a ring has a part on each tensor rank and spreads over all cards, and over
// cards it is no faster than the GPUs reach inside a node.
#include "data/inputs/places_use.h"

#include <math.h>

int places_slots(const struct problem *p, int node)
{
    const struct layout *l = &p->job.layout;
    return p->cluster.groups[p->cluster.places.nodes[node].group].gpus_per_node /
           (l->tensor * l->context);
}

// Transfers between stages may reach another share of a link than collectives do.
static double share_reached(const struct estimate *transfers, const struct estimate *all, bool ring)
{
    return !ring && transfers->value > 0 ? transfers->value : all->value;
}

static double inside_rate(const struct problem *p, int node, bool ring)
{
    const struct costs *c = &p->costs;
    double nominal = p->cluster.groups[p->cluster.places.nodes[node].group].intra.bytes_per_s;
    return nominal * share_reached(&c->transfer_intra_efficiency, &c->intra_efficiency, ring);
}

static void efficiencies(const struct problem *p, bool ring, double *to)
{
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++)
        to[kind] = share_reached(&p->costs.transfer_network_efficiency[kind],
                                 &p->costs.network_efficiency[kind], ring);
}

static bool link_over(struct place_link *to, const struct problem *p, int from, int to_node,
                      bool ring, int transport)
{
    const struct cluster *c = &p->cluster;
    const int ends[2] = {from, to_node};
    if (from == to_node) {
        *to = (struct place_link){
            {inside_rate(p, from, ring), c->groups[c->places.nodes[from].group].intra.latency_s},
            PLACE_INSIDE,
            NIC_KIND_COUNT,
            c->places.level_count};
        return true;
    }
    double efficiency[NIC_KIND_COUNT];
    efficiencies(p, ring, efficiency);
    struct place_traffic traffic = {{0, 0}, ring};
    for (int end = 0; end < 2; end++)
        traffic.streams[end] = p->job.layout.tensor * (ring ? 1 : p->job.layout.context) *
                               places_slots(p, ends[end]);
    if (!places_link_over(to, c, from, to_node, &traffic, efficiency, transport)) return false;
    if (ring && to->origin == PLACE_CARDS)
        to->link.bytes_per_s = fmin(
            to->link.bytes_per_s, fmin(inside_rate(p, from, true), inside_rate(p, to_node, true)));
    return true;
}

bool places_used_link(struct place_link *to, const struct problem *p, int from, int to_node,
                      bool ring)
{
    return link_over(to, p, from, to_node, ring, TRANSPORT_OWN);
}

bool places_ring_link(struct place_link *to, const struct problem *p, int from, int to_node,
                      int transport)
{
    return link_over(to, p, from, to_node, true, transport);
}

int64_t places_ring_rate(const struct problem *p, int group, int transport)
{
    const struct layout *l = &p->job.layout;
    const struct node_group *g = &p->cluster.groups[group];
    double efficiency[NIC_KIND_COUNT];
    efficiencies(p, true, efficiency);
    return places_card_rate(g, transport, l->tensor * (g->gpus_per_node / (l->tensor * l->context)),
                            efficiency);
}

int places_transport(const struct problem *p, const int *nodes, int count)
{
    int best = TRANSPORT_NONE;
    int64_t best_rate = -1;
    for (int t = 0; t < TRANSPORT_COUNT; t++) {
        int64_t least = CARD_RATE_ANY;
        for (int i = 0; i < count; i++) {
            int64_t rate = places_ring_rate(p, p->cluster.places.nodes[nodes[i]].group, t);
            if (rate < least) least = rate;
        }
        if (least <= best_rate) continue;
        best_rate = least;
        best = t;
    }
    return best;
}

const char *place_origin_text(const struct place_link *l, const struct places *p,
                              struct arena *arena)
{
    switch (l->origin) {
    case PLACE_MEASURED: return "measured";
    case PLACE_STATED: return "stated";
    case PLACE_LEVEL: return arena_print(arena, "level %s", p->levels[l->level].name);
    case PLACE_CARDS: return arena_print(arena, "cards %s", nic_kind_names[l->nic]);
    case PLACE_INSIDE: return "inside";
    }
    return "";
}
