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
    return (struct link_price){
        .joined = true, .bytes_per_s = l->link.bytes_per_s, .latency_s = l->link.latency_s};
}

static struct link_price intra_price(const struct pricing *x, const struct node_group *g)
{
    return (struct link_price){.joined = true,
                               .intra = true,
                               .bytes_per_s = (real)g->intra.bytes_per_s *
                                              x->problem->costs.intra_efficiency.value,
                               .latency_s = g->intra.latency_s};
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
    struct link_price best = {0};
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++) {
        const struct nic *one = find_nic(&cluster->groups[from], (enum nic_kind)kind),
                         *other = find_nic(&cluster->groups[to], (enum nic_kind)kind);
        if (!one || !other) continue;
        real efficiency = efficiency_of(&costs->transfer_network_efficiency[kind],
                                        &costs->network_efficiency[kind], transfer);
        real bandwidth = fminl(nic_share(one, efficiency, streams_from, one_nic),
                               nic_share(other, efficiency, streams_to, one_nic));
        if (!best.joined || !reaches(best.bytes_per_s, bandwidth)) // less is a tie, up to rounding
            best =
                (struct link_price){.joined = true,
                                    .bytes_per_s = bandwidth,
                                    .latency_s = fmaxl(one->link.latency_s, other->link.latency_s)};
    }
    return best;
}

// Between the nodes of a group, `streams` leaving each. A ring that leaves a node also passes
// through it: no better than intra.
static struct link_price ring_price(const struct pricing *x, int group, real streams, bool one_nic)
{
    const struct cluster *cluster = &x->problem->cluster;
    const struct node_group *g = &cluster->groups[group];
    streams = fminl(g->gpus_per_node, streams);
    struct link_price price = network_price(x, group, group, streams, streams, one_nic, false);
    if (price.joined && !find_stated(cluster, group, group)) {
        price.bytes_per_s = fminl(price.bytes_per_s, intra_price(x, g).bytes_per_s);
        price.latency_s = fmaxl(price.latency_s, g->intra.latency_s);
    }
    return price;
}

// Within a node, with the table measured there if there is one; else a ring over nodes.
static struct link_price link_over(const struct pricing *x, int group, bool leaves, real ranks,
                                   real streams, bool one_nic)
{
    const struct node_group *g = &x->problem->cluster.groups[group];
    struct link_price price = leaves ? ring_price(x, group, streams, one_nic) : intra_price(x, g);
    bool stated = leaves && find_stated(&x->problem->cluster, group, group);
    if (x->problem->costs.collective_count && ranks > 1 && !stated)
        price.table = find_collective(x, group, ranks, leaves, false);
    return price;
}

static bool outgrow_node(const struct pricing *x, int group, real devices)
{
    return devices > x->problem->cluster.groups[group].gpus_per_node;
}

// Tensor ranks that outgrow a node are one ring, which has all the node's NICs to itself.
struct link_price link_of_tensor_ranks(const struct pricing *x, int group)
{
    return link_over(x, group, outgrow_node(x, group, x->t), x->t, 1, false);
}

// Ranks stand axis by axis, the first side by side: a ring of axis 1 or 2 has one rank of each of
// the earlier axes', and as many such rings leave a node. A table is of one ring on its own.
struct link_price link_of_tensor_axis(const struct pricing *x, int group, int axis)
{
    const real lengths[] = {x->t1, x->t2, x->t3};
    real before = axis == 0 ? 1 : axis == 1 ? x->t1 : x->t1 * x->t2;
    bool leaves = outgrow_node(x, group, before * lengths[axis]);
    struct link_price price = link_over(x, group, leaves, lengths[axis], before, false);
    bool alone = before <= 1 || x->problem->cluster.groups[group].gpus_per_node == 1;
    if (leaves && !alone) price.table = NULL;
    return price;
}

// Tensor ranks stay together in a node: of a ring of context ranks over several, one message of
// each leaves it.
struct link_price link_of_context_ring(const struct pricing *x, int group)
{
    return link_over(x, group, outgrow_node(x, group, x->t * x->c), 0, x->t, true);
}

// Of the stages whose device groups a node has, where those stand in order: the ones that do not
// lie within the node.
static int stages_across(int64_t node, int64_t slots, int64_t data, int64_t stages)
{
    int64_t begin = node * slots, end = begin + slots, first = begin / data,
            last = (end - 1) / data < stages ? (end - 1) / data : stages - 1;
    int across = first <= last && (first * data < begin || (first + 1) * data > end);
    return across + (last > first && (last + 1) * data > end);
}

// How many rings of replicas leave a node at most: none where every stage has room within one, one
// where each can have nodes to itself; else as device groups (tensor x context ranks) stand in
// order.
static int rings_that_leave(const struct pricing *x, int group)
{
    const struct node_group *g = &x->problem->cluster.groups[group];
    int64_t slots = g->gpus_per_node / (int64_t)(x->t * x->c), data = (int64_t)x->d,
            stages = (int64_t)x->p;
    int most = 0;
    if (!slots) return 1;
    if (data <= slots && (slots % data == 0 || stages <= g->nodes * (slots / data) ||
                          !ring_price(x, group, x->t, false).joined))
        return 0;
    if (data % slots == 0 || stages * ((data + slots - 1) / slots) <= g->nodes) return 1;
    for (int64_t node = 0; node * slots < stages * data && most < 2; node++) {
        int across = stages_across(node, slots, data, stages);
        if (across > most) most = across;
    }
    return most;
}

// Between two nodes: by a table only within a group, whose nodes share their cards alike.
static struct link_price link_of_ring(const struct pricing *x, real ranks)
{
    const struct cluster_node *nodes = x->problem->cluster.places.nodes;
    int from = x->node_from, to = x->node_to, group = nodes[from].group;
    struct link_price price = link_of_nodes(x, from, to, true);
    if (price.by_cards && group == nodes[to].group && ranks > 1)
        price.table = find_collective(x, group, ranks, from != to, false);
    if (from != to) price.rings = x->rings[0] > x->rings[1] ? x->rings[0] : x->rings[1];
    return price;
}

// DeepSpeed's gathers of sharded weights have one channel.
static bool goes_by_one_nic(const struct pricing *x)
{
    return x->zero == 3 && x->problem->job.trainer == TRAINER_DEEPSPEED;
}

// Each tensor rank of a node has a ring of its own over the replicas.
static struct link_price own_link_of_replicas(const struct pricing *x, int group, real ranks)
{
    const struct node_group *g = &x->problem->cluster.groups[group];
    int rings = rings_that_leave(x, group);
    struct link_price price =
        link_over(x, group, rings > 0, ranks, x->t * (rings > 1 ? rings : 1), goes_by_one_nic(x));
    price.rings = rings;
    if (rings > 0 && x->D <= g->gpus_per_node) { // some stages do not leave their node
        struct link_price within = intra_price(x, g);
        price.bytes_per_s = fminl(price.bytes_per_s, within.bytes_per_s);
        price.latency_s = fmaxl(price.latency_s, within.latency_s);
    }
    return price;
}

// Of a sum by rings or by trees: which, the group's own link tells, on any nodes.
static struct link_price link_of_replicas(const struct pricing *x, int group, real ranks,
                                          bool experts)
{
    struct link_price own = {0};
    bool trees = x->problem->costs.tree_bandwidth_share.value > 0;
    if (trees || !x->on_nodes) own = own_link_of_replicas(x, group, ranks);
    struct link_price price = x->on_nodes ? link_of_ring(x, ranks) : own;
    if (trees) price.tree_share = sync_tree_share(x, &own, ranks, experts);
    return price;
}

struct link_price link_of_gradient_sync(const struct pricing *x, int group)
{
    return link_of_replicas(x, group, x->R, false);
}

struct link_price link_of_expert_sync(const struct pricing *x, int group)
{
    return link_of_replicas(x, group, x->R_e, true);
}

// All ranks of a node send at once, each to all others.
struct link_price link_of_experts(const struct pricing *x, int group)
{
    return link_over(x, group, outgrow_node(x, group, x->t * x->x), 0, x->t * x->x, true);
}

real pool_devices(const struct pricing *x, const struct layer_run *run)
{
    return run->pool.shared ? x->D * x->p : x->D;
}

struct link_price link_of_pool(const struct pricing *x, const struct layer_run *run, int group)
{
    real devices = pool_devices(x, run);
    return link_over(x, group, outgrow_node(x, group, devices), 0, devices, true);
}

// One ring of each tensor rank over all ranks of the pipeline.
struct link_price link_of_copies(const struct pricing *x, int group)
{
    return link_over(x, group, outgrow_node(x, group, x->D * x->p), 0, x->t, false);
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
