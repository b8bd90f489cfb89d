// Links as one layout uses them. The replicas of a stage on the same node send their messages at
// the same time, each through one card. A ring has a part on each tensor rank, spreads over all
// cards and shares them with the other rings that leave the node. Over cards, a ring is no faster
// than the GPUs are inside a node.
#include "data/inputs/places_use.h"

#include <string.h>

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

static void efficiencies(const struct problem *p, bool ring, double *to)
{
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++)
        to[kind] = share_reached(&p->costs.transfer_network_efficiency[kind],
                                 &p->costs.network_efficiency[kind], ring);
}

static double rate_inside(const struct node_group *g, int64_t ranks, int64_t apart)
{
    for (int i = 0; i < g->ring_count; i++)
        if (g->rings[i].gpus == ranks && (!g->rings[i].apart || g->rings[i].apart == apart))
            return g->rings[i].bytes_per_s;
    return g->intra.bytes_per_s;
}

static double rate_of_sums(const struct node_group *g, int64_t ranks)
{
    double rate = 0;
    for (int i = 0; i < g->switch_sum_count && g->switch_sums[i].gpus <= ranks; i++)
        rate = g->switch_sums[i].bytes_per_s;
    return rate;
}

struct place_link places_inside_link(const struct problem *p, int group, int64_t ranks,
                                     int64_t apart)
{
    const struct costs *c = &p->costs;
    const struct node_group *g = &p->cluster.groups[group];
    double share = share_reached(&c->transfer_intra_efficiency, &c->intra_efficiency, ranks > 0);
    struct place_link inside = {.origin = PLACE_INSIDE,
                                .nic = NIC_KIND_COUNT,
                                .level = p->cluster.places.level_count,
                                .sums_bytes_per_s = rate_of_sums(g, ranks)};
    place_link_set(&inside, (long double)rate_inside(g, ranks, apart) * share, g->intra.latency_s);
    return inside;
}

// For the ring of a layout's replicas.
static struct place_link places_inside_ring(const struct problem *p, int group)
{
    const struct layout *l = &p->job.layout;
    return places_inside_link(p, group, (int64_t)l->data * l->context, l->tensor);
}

// A ring over cards also passes through its nodes, through all their GPUs.
static void pass_inside(struct place_link *to, const struct problem *p, int group)
{
    struct place_link inside =
        places_inside_link(p, group, p->cluster.groups[group].gpus_per_node, 1);
    if (to->origin == PLACE_CARDS)
        place_link_set(to, fminl(to->bytes_per_s, inside.bytes_per_s),
                       fmax(to->link.latency_s, inside.link.latency_s));
}

bool places_used_group_link(struct place_link *to, const struct problem *p, int from, int to_group,
                            const struct place_traffic *traffic, bool ring)
{
    double efficiency[NIC_KIND_COUNT];
    efficiencies(p, ring, efficiency);
    if (!places_group_link(to, &p->cluster, from, to_group, traffic, efficiency)) return false;
    if (ring) pass_inside(to, p, from);
    if (ring) pass_inside(to, p, to_group);
    return true;
}

// Messages of one stage that leave a node, or reach it, at the same time.
static int messages_at(const struct problem *p, int node)
{
    const struct layout *l = &p->job.layout;
    int slots = places_slots(p, node);
    return l->tensor * l->context * (slots < l->data ? slots : l->data);
}

// rings: those that leave either end; NULL: a message.
static bool link_over(struct place_link *to, const struct problem *p, int from, int to_node,
                      const int *rings, int transport)
{
    const int ends[2] = {from, to_node};
    const struct cluster_node *nodes = p->cluster.places.nodes;
    bool ring = rings != NULL;
    if (from == to_node) {
        *to = ring ? places_inside_ring(p, nodes[from].group)
                   : places_inside_link(p, nodes[from].group, 0, 0);
        return true;
    }
    double efficiency[NIC_KIND_COUNT];
    efficiencies(p, ring, efficiency);
    struct place_traffic traffic = {{0, 0}, {0, 0}};
    for (int end = 0; end < 2; end++) {
        traffic.streams[end] = ring ? p->job.layout.tensor : messages_at(p, ends[end]);
        traffic.rings[end] = ring ? rings[end] : 0;
    }
    if (!places_link_over(to, &p->cluster, from, to_node, &traffic, efficiency, transport))
        return false;
    for (int end = 0; end < 2 && ring; end++) pass_inside(to, p, nodes[ends[end]].group);
    return true;
}

bool places_used_link(struct place_link *to, const struct problem *p, int from, int to_node,
                      bool ring)
{
    static const int alone[2] = {1, 1};
    return link_over(to, p, from, to_node, ring ? alone : NULL, TRANSPORT_OWN);
}

bool places_ring_link(struct place_link *to, const struct problem *p, int from, int to_node,
                      const int rings[2], int transport)
{
    return link_over(to, p, from, to_node, rings, transport);
}

int64_t places_ring_rate(const struct problem *p, int group, int transport)
{
    double efficiency[NIC_KIND_COUNT];
    efficiencies(p, true, efficiency);
    return places_card_rate(&p->cluster.groups[group], transport, p->job.layout.tensor, efficiency);
}

double places_ring_share(const struct problem *p, int group, int transport, int rings)
{
    double efficiency[NIC_KIND_COUNT];
    efficiencies(p, true, efficiency);
    return places_card_share(&p->cluster.groups[group], transport, p->job.layout.tensor * rings,
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

static bool ring_leaves(const int *node, int replicas, int ranks, int rank)
{
    int first = -1;
    for (int r = 0; r < replicas; r++) {
        int here = node[r * ranks + rank];
        if (first >= 0 && here >= 0 && here != first) return true;
        if (first < 0) first = here;
    }
    return false;
}

void places_leaving_rings(int *rings, int node_count, const int *node, int replicas, int ranks)
{
    memset(rings, 0, (size_t)node_count * sizeof *rings);
    for (int rank = 0; rank < ranks; rank++) {
        if (!ring_leaves(node, replicas, ranks, rank)) continue;
        for (int i = rank; i < replicas * ranks; i += ranks) // below 0: counted for this rank
            if (node[i] >= 0 && rings[node[i]] >= 0) rings[node[i]] = -rings[node[i]] - 1;
        for (int i = rank; i < replicas * ranks; i += ranks)
            if (node[i] >= 0 && rings[node[i]] < 0) rings[node[i]] = -rings[node[i]];
    }
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
