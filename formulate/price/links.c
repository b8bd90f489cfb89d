// Links as one stream sees them: nominal bandwidth times the costs' efficiency, shared by the
// streams that ask for it at once by a fixed part, never by order of arrival. docs/FORMULAS.md
// section 2.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "formulate/price/pricing.h"

static const struct group_link *find_stated(const struct cluster *c, int from, int to)
{
    for (int i = 0; i < c->link_count; i++)
        if (c->links[i].from == from && c->links[i].to == to) return &c->links[i];
    return NULL;
}

static struct link_price stated_price(const struct group_link *l)
{
    return (struct link_price){true, false, l->link.bytes_per_s, l->link.latency_s, NULL};
}

static struct link_price intra_price(const struct pricing *x, const struct node_group *g)
{
    return (struct link_price){
        true, true, (real)g->intra.bytes_per_s * x->problem->costs.intra_efficiency.value,
        g->intra.latency_s, NULL};
}

// What transfers between stages reach of a link, where the costs tell it apart from what
// collectives reach.
static real efficiency_of(const struct estimate *transfers, const struct estimate *all,
                          bool transfer)
{
    return transfer && transfers->value > 0 ? transfers->value : all->value;
}

static const struct nic *find_nic(const struct node_group *g, enum nic_kind kind)
{
    for (int i = 0; i < g->nic_count; i++)
        if (g->nics[i].kind == kind) return &g->nics[i];
    return NULL;
}

// What one of `streams` at this end gets of all NICs of a kind; one_nic: a stream cannot use
// several.
static real nic_share(const struct nic *nic, real efficiency, real streams, bool one_nic)
{
    real sharing = one_nic && streams < nic->count ? nic->count : streams;
    return nic->count * (real)nic->link.bytes_per_s * efficiency / sharing;
}

// `transfer`: between stages.
static struct link_price network_price(const struct pricing *x, int from, int to, real streams_from,
                                       real streams_to, bool one_nic, bool transfer)
{
    const struct costs *costs = &x->problem->costs;
    const struct cluster *cluster = &x->problem->cluster;
    const struct group_link *stated = find_stated(cluster, from, to);
    if (stated) return stated_price(stated);
    struct link_price best = {false, false, 0, 0, NULL};
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++) {
        const struct nic *one = find_nic(&cluster->groups[from], (enum nic_kind)kind),
                         *other = find_nic(&cluster->groups[to], (enum nic_kind)kind);
        if (!one || !other) continue;
        real efficiency = efficiency_of(&costs->transfer_network_efficiency[kind],
                                        &costs->network_efficiency[kind], transfer);
        real bandwidth = fminl(nic_share(one, efficiency, streams_from, one_nic),
                               nic_share(other, efficiency, streams_to, one_nic));
        if (!best.joined || !reaches(best.bytes_per_s, bandwidth)) // less is a tie, up to rounding
            best = (struct link_price){true, false, bandwidth,
                                       fmaxl(one->link.latency_s, other->link.latency_s), NULL};
    }
    return best;
}

// Between the nodes of a group, `streams` leaving each. A ring that leaves a node also passes
// through it: not faster than intra.
static struct link_price ring_price(const struct pricing *x, int group, real streams, bool one_nic)
{
    const struct cluster *cluster = &x->problem->cluster;
    const struct node_group *g = &cluster->groups[group];
    streams = fminl(g->gpus_per_node, streams);
    struct link_price price = network_price(x, group, group, streams, streams, one_nic, false);
    if (price.joined && !find_stated(cluster, group, group))
        price.bytes_per_s = fminl(price.bytes_per_s, intra_price(x, g).bytes_per_s);
    return price;
}

// Within a node, with the table measured there if there is one; else a ring over nodes.
static struct link_price link_over(const struct pricing *x, int group, real devices, real ranks,
                                   real streams, bool one_nic)
{
    const struct node_group *g = &x->problem->cluster.groups[group];
    bool leaves = devices > g->gpus_per_node;
    struct link_price price = leaves ? ring_price(x, group, streams, one_nic) : intra_price(x, g);
    bool stated = leaves && find_stated(&x->problem->cluster, group, group);
    if (x->problem->costs.collective_count && ranks > 1 && !stated)
        price.table = find_collective(x, group, ranks, leaves, false);
    return price;
}

// Tensor ranks that outgrow a node are one ring, which has all the node's NICs to itself.
struct link_price link_of_tensor_ranks(const struct pricing *x, int group)
{
    return link_over(x, group, x->t, x->t, 1, false);
}

// Tensor ranks stay together in a node: of a ring of context ranks over several, one message of
// each leaves it.
struct link_price link_of_context_ring(const struct pricing *x, int group)
{
    return link_over(x, group, x->t * x->c, 0, x->t, true);
}

// Each tensor rank of a node has a ring of its own over the replicas.
struct link_price link_of_gradient_sync(const struct pricing *x, int group)
{
    return x->on_nodes ? link_of_nodes(x, x->node_from, x->node_to, true)
                       : link_over(x, group, x->D, x->R, x->t, false);
}

struct link_price link_of_expert_sync(const struct pricing *x, int group)
{
    return x->on_nodes ? link_of_gradient_sync(x, group)
                       : link_over(x, group, x->D, x->R_e, x->t, false);
}

// All ranks of a node send at once, each to all others.
struct link_price link_of_experts(const struct pricing *x, int group)
{
    return link_over(x, group, x->t * x->x, 0, x->t * x->x, true);
}
struct link_price link_of_pool(const struct pricing *x, int group)
{
    return link_over(x, group, x->D, 0, x->D, true);
}

// Messages between two GPUs of one kind may have been measured.
static void find_sends(const struct pricing *x, struct link_price *price, int from, int to)
{
    const struct cluster *cluster = &x->problem->cluster;
    if (!x->problem->costs.collective_count ||
        strcmp(cluster->groups[from].gpu, cluster->groups[to].gpu))
        return;
    price->table = find_collective(x, from, 2, !price->intra, true);
}

static struct link_price one_way(const struct pricing *x, int from, int to)
{
    const struct cluster *cluster = &x->problem->cluster;
    const struct group_link *stated = find_stated(cluster, from, to);
    if (stated) return stated_price(stated);
    const struct node_group *a = &cluster->groups[from], *b = &cluster->groups[to];
    if (from == to && x->D * x->p <= a->gpus_per_node) {
        struct link_price price = intra_price(x, a);
        const struct costs *costs = &x->problem->costs;
        price.bytes_per_s =
            (real)a->intra.bytes_per_s *
            efficiency_of(&costs->transfer_intra_efficiency, &costs->intra_efficiency, true);
        find_sends(x, &price, from, to);
        return price;
    }
    struct link_price price = network_price(x, from, to, fminl(a->gpus_per_node, x->D),
                                            fminl(b->gpus_per_node, x->D), true, true);
    find_sends(x, &price, from, to);
    return price;
}

struct link_price link_of_stages(const struct pricing *x, int from, int to)
{
    struct link_price there = one_way(x, from, to), back = one_way(x, to, from);
    const struct priced_group *groups = x->priced->groups;
    there.joined = there.joined && back.joined && !groups[from].excluded && !groups[to].excluded;
    return there;
}

// How many stages fit: tensor and context ranks stay together in a node where they can, whole nodes
// otherwise.
int64_t group_slots(const struct pricing *x, const struct node_group *group)
{
    int64_t ranks = (int64_t)(x->t * x->c), replicas = (int64_t)x->d, nodes = group->nodes,
            gpus = group->gpus_per_node;
    int64_t slots = ranks <= gpus ? nodes * (gpus / ranks) / replicas
                                  : nodes / ((ranks + gpus - 1) / gpus) / replicas;
    return slots < INT_MAX ? slots : INT_MAX;
}
