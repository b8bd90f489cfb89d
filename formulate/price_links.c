// Links as one stream sees them: nominal bandwidth times the costs' efficiency, shared by the streams that ask for it at
// once by a fixed part, never by order of arrival. docs/FORMULAS.md section 2.
#include <limits.h>
#include <math.h>

#include "formulate/pricing.h"

static const struct group_link *find_stated(const struct cluster *c, int from, int to)
{
    for (int i = 0; i < c->link_count; i++)
        if (c->links[i].from == from && c->links[i].to == to) return &c->links[i];
    return NULL;
}

static struct link_price stated_price(const struct group_link *l)
{
    return (struct link_price){true, l->link.bytes_per_s, l->link.latency_s};
}

static struct link_price intra_price(const struct pricing *x, const struct node_group *g)
{
    return (struct link_price){true, g->intra.bytes_per_s * x->problem->costs.intra_efficiency.value, g->intra.latency_s};
}

static const struct nic *find_nic(const struct node_group *g, enum nic_kind kind)
{
    for (int i = 0; i < g->nic_count; i++)
        if (g->nics[i].kind == kind) return &g->nics[i];
    return NULL;
}

// What one of `streams` at this end gets of all NICs of a kind; one_nic: a stream cannot use several.
static double nic_share(const struct nic *nic, double efficiency, double streams, bool one_nic)
{
    double sharing = one_nic && streams < nic->count ? nic->count : streams;
    return nic->count * nic->link.bytes_per_s * efficiency / sharing;
}

static struct link_price network_price(const struct pricing *x, int from, int to, double streams_from,
                                       double streams_to, bool one_nic)
{
    const struct cluster *cluster = &x->problem->cluster;
    const struct group_link *stated = find_stated(cluster, from, to);
    if (stated) return stated_price(stated);
    struct link_price best = {false, 0, 0};
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++) {
        const struct nic *one = find_nic(&cluster->groups[from], (enum nic_kind)kind),
                         *other = find_nic(&cluster->groups[to], (enum nic_kind)kind);
        if (!one || !other) continue;
        double efficiency = x->problem->costs.network_efficiency[kind].value;
        double bandwidth =
            fmin(nic_share(one, efficiency, streams_from, one_nic), nic_share(other, efficiency, streams_to, one_nic));
        if (!best.joined || bandwidth > best.bytes_per_s * (1 + 1e-12))     // less is a tie, up to rounding
            best = (struct link_price){true, bandwidth, fmax(one->link.latency_s, other->link.latency_s)};
    }
    return best;
}

// Between the nodes of a group, `streams` leaving each. A ring that leaves a node also passes through it: not faster
// than intra.
static struct link_price ring_price(const struct pricing *x, int group, double streams, bool one_nic)
{
    const struct cluster *cluster = &x->problem->cluster;
    const struct node_group *g = &cluster->groups[group];
    streams = fmin(g->gpus_per_node, streams);
    struct link_price price = network_price(x, group, group, streams, streams, one_nic);
    if (price.joined && !find_stated(cluster, group, group))
        price.bytes_per_s = fmin(price.bytes_per_s, intra_price(x, g).bytes_per_s);
    return price;
}

// Tensor ranks that outgrow a node are one ring, which has all the node's NICs to itself.
struct link_price link_of_tensor_ranks(const struct pricing *x, int group)
{
    const struct node_group *g = &x->problem->cluster.groups[group];
    return x->t <= g->gpus_per_node ? intra_price(x, g) : ring_price(x, group, 1, false);
}

// Tensor ranks stay together in a node: of a ring of context ranks over several, one message of each leaves it.
struct link_price link_of_context_ring(const struct pricing *x, int group)
{
    const struct node_group *g = &x->problem->cluster.groups[group];
    return x->t * x->c <= g->gpus_per_node ? intra_price(x, g) : ring_price(x, group, x->t, true);
}

// Each tensor rank of a node has a ring of its own over the replicas.
struct link_price link_of_gradient_sync(const struct pricing *x, int group)
{
    const struct node_group *g = &x->problem->cluster.groups[group];
    return x->D <= g->gpus_per_node ? intra_price(x, g) : ring_price(x, group, x->t, false);
}

static struct link_price one_way(const struct pricing *x, int from, int to)
{
    const struct cluster *cluster = &x->problem->cluster;
    const struct group_link *stated = find_stated(cluster, from, to);
    if (stated) return stated_price(stated);
    const struct node_group *a = &cluster->groups[from], *b = &cluster->groups[to];
    if (from == to && x->D * x->p <= a->gpus_per_node) return intra_price(x, a);
    return network_price(x, from, to, fmin(a->gpus_per_node, x->D), fmin(b->gpus_per_node, x->D), true);
}

struct link_price link_of_stages(const struct pricing *x, int from, int to)
{
    struct link_price there = one_way(x, from, to), back = one_way(x, to, from);
    const struct priced_group *groups = x->priced->groups;
    there.joined = there.joined && back.joined && !groups[from].excluded && !groups[to].excluded;
    return there;
}

double all_reduce_price_s(const struct link_price *link, double bytes, double ranks)
{
    if (ranks <= 1) return 0;
    return 2 * (ranks - 1) / ranks * bytes / link->bytes_per_s + 2 * (ranks - 1) * link->latency_s;
}

// How many stages fit: tensor and context ranks stay together in a node where they can, whole nodes otherwise.
int64_t group_slots(const struct pricing *x, const struct node_group *group)
{
    int64_t ranks = (int64_t)(x->t * x->c), replicas = (int64_t)x->d, nodes = group->nodes, gpus = group->gpus_per_node;
    int64_t slots = ranks <= gpus ? nodes * (gpus / ranks) / replicas : nodes / ((ranks + gpus - 1) / gpus) / replicas;
    return slots < INT_MAX ? slots : INT_MAX;
}
