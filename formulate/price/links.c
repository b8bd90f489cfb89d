// Links as one stream sees them: nominal bandwidth times the costs' efficiency. The streams that
// need a link at the same time share it in fixed parts, never by order of arrival. docs/FORMULAS.md
// section 2.
#include <string.h>

#include "formulate/price/pricing.h"

struct link_price price_of_link(const struct place_link *l)
{
    return (struct link_price){.joined = true,
                               .intra = l->origin == PLACE_INSIDE,
                               .bytes_per_s = l->bytes_per_s,
                               .latency_s = l->link.latency_s,
                               .by_cards = l->origin == PLACE_INSIDE || l->origin == PLACE_CARDS,
                               .sums_bytes_per_s = l->sums_bytes_per_s};
}

// Ranks that exchange data, and how far apart they are in the order of ranks. measured: a table may
// apply.
struct ring {
    real ranks, apart;
    bool measured;
};
static const struct ring message = {0, 0, false};

static struct link_price inside_price(const struct pricing *x, int group, struct ring ring)
{
    struct place_link link =
        places_inside_link(x->problem, group, (int64_t)ring.ranks, (int64_t)ring.apart);
    return price_of_link(&link);
}

// With this many streams at either end; one_nic: a stream cannot use several NICs.
static struct link_price network_price(const struct pricing *x, int from, int to, real streams_from,
                                       real streams_to, bool one_nic, bool ring)
{
    const struct place_traffic traffic = {{(int)streams_from, (int)streams_to},
                                          {!one_nic, !one_nic}};
    struct place_link link;
    return places_used_group_link(&link, x->problem, from, to, &traffic, ring)
               ? price_of_link(&link)
               : (struct link_price){0};
}

// Between the nodes of a group, with `streams` leaving each node.
static struct link_price ring_price(const struct pricing *x, int group, real streams, bool one_nic)
{
    streams = fminl(x->problem->cluster.groups[group].gpus_per_node, streams);
    return network_price(x, group, group, streams, streams, one_nic, true);
}

// Within a node, with the table measured there if there is one; otherwise a ring over nodes.
static struct link_price link_over(const struct pricing *x, int group, bool leaves,
                                   struct ring ring, real streams, bool one_nic)
{
    struct link_price price = leaves ? ring_price(x, group, streams, one_nic)
                                     : inside_price(x, group, ring);
    if (x->problem->costs.collective_count && ring.measured && ring.ranks > 1 && price.by_cards)
        price.table = find_collective(x, group, ring.ranks, leaves, false);
    return price;
}

static bool outgrow_node(const struct pricing *x, int group, real devices)
{
    return devices > x->problem->cluster.groups[group].gpus_per_node;
}

// Tensor ranks that do not fit in a node form one ring, which has all the node's NICs to itself.
static struct link_price find_tensor_link(const struct pricing *x, int group)
{
    struct link_price price =
        link_over(x, group, outgrow_node(x, group, x->t), (struct ring){x->t, 1, true}, 1, false);
    spread_over_nodes(x, &price, group, x->t, 1, false);
    return price;
}

struct link_price link_of_node(const struct pricing *x, int group)
{
    return inside_price(x, group,
                        (struct ring){x->problem->cluster.groups[group].gpus_per_node, 1, false});
}

struct link_price link_of_near_experts(const struct pricing *x, int group)
{
    real gpus = x->problem->cluster.groups[group].gpus_per_node;
    return inside_price(x, group,
                        (struct ring){fmaxl(1, fminl(x->x, floorl(gpus / x->t_e))), x->t_e, false});
}

struct link_price link_of_expert_parts(const struct pricing *x, int group)
{
    struct link_price price = link_over(x, group, outgrow_node(x, group, x->t_e),
                                        (struct ring){x->t_e, 1, true}, 1, false);
    spread_over_nodes(x, &price, group, x->t_e, 1, false);
    return price;
}

// Ranks are ordered axis by axis, those of the first axis next to each other. On axis 1 or 2 there
// is a ring for each rank of the earlier axes, and all of these rings leave a node. A table is for
// a single ring.
struct link_price link_of_tensor_axis(const struct pricing *x, int group, int axis)
{
    const real lengths[] = {x->t1, x->t2, x->t3};
    real before = layout_axis_stride(&x->problem->job.layout, axis);
    bool leaves = outgrow_node(x, group, before * lengths[axis]);
    struct link_price price =
        link_over(x, group, leaves, (struct ring){lengths[axis], before, true}, before, false);
    bool alone = before <= 1 || x->problem->cluster.groups[group].gpus_per_node == 1;
    if (leaves && !alone) price.table = NULL;
    spread_over_nodes(x, &price, group, lengths[axis], before, false);
    return price;
}

// Tensor ranks stay together in a node, so if a ring of context ranks spans several nodes, one
// message of each tensor rank leaves the node.
struct link_price link_of_context_ring(const struct pricing *x, int group)
{
    return link_over(x, group, outgrow_node(x, group, x->t * x->c),
                     (struct ring){x->c, x->t, false}, x->t, true);
}

// All of a device group send at once.
struct link_price link_of_context_exchange(const struct pricing *x, int group)
{
    return link_over(x, group, outgrow_node(x, group, x->t * x->c),
                     (struct ring){x->c, x->t, false}, x->t * x->c, true);
}

// How many of the stages with device groups on this node do not fit within it, if device groups are
// placed in order.
static int stages_across(int64_t node, int64_t slots, int64_t data, int64_t stages)
{
    int64_t begin = node * slots, end = begin + slots, first = begin / data,
            last = (end - 1) / data < stages ? (end - 1) / data : stages - 1;
    int across = first <= last && (first * data < begin || (first + 1) * data > end);
    return across + (last > first && (last + 1) * data > end);
}

// The maximum number of rings of replicas that leave a node: none if every stage fits within one,
// one if each stage can have nodes to itself; otherwise with device groups (tensor x context ranks)
// placed in order. A stage's `parts` are what is a stage here.
static int rings_that_leave(const struct pricing *x, int group, real parts)
{
    const struct node_group *g = &x->problem->cluster.groups[group];
    int64_t slots = g->gpus_per_node / (int64_t)(x->t * x->c), data = (int64_t)(x->d / parts),
            stages = (int64_t)(x->p * parts);
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

// DeepSpeed's gathers of sharded weights use one channel.
static bool goes_by_one_nic(const struct pricing *x)
{
    return x->zero == 3 && x->problem->job.trainer == TRAINER_DEEPSPEED;
}

// Between two nodes. A table applies only within a group, whose nodes share their cards in the same
// way.
static struct link_price link_of_ring(const struct pricing *x, real ranks, real apart)
{
    const struct cluster_node *nodes = x->problem->cluster.places.nodes;
    int from = x->node_from, to = x->node_to, group = nodes[from].group;
    struct link_price price = link_of_nodes(x, from, to, true);
    if (price.by_cards && group == nodes[to].group && ranks > 1)
        price.table = find_collective(x, group, ranks, from != to, false);
    if (from != to) price.rings = x->rings[0] > x->rings[1] ? x->rings[0] : x->rings[1];
    if (group == nodes[to].group)
        spread_over_nodes(x, &price, group, ranks, apart, goes_by_one_nic(x));
    return price;
}

// Rings side by side over replicas of a stage, or over those in each of its parts.
static struct link_price link_of_rings(const struct pricing *x, int group, real ranks,
                                       real side_by_side, real parts, bool one_nic)
{
    const struct node_group *g = &x->problem->cluster.groups[group];
    int rings = rings_that_leave(x, group, parts);
    struct ring ring = {ranks, side_by_side, true};
    struct link_price price =
        link_over(x, group, rings > 0, ring, side_by_side * (rings > 1 ? rings : 1), one_nic);
    price.rings = rings;
    spread_over_nodes(x, &price, group, ranks, side_by_side, one_nic);
    if (rings > 0 && x->D / parts <= g->gpus_per_node) { // some stages do not leave their node
        struct link_price within = inside_price(x, group, ring);
        price.bytes_per_s = fminl(price.bytes_per_s, within.bytes_per_s);
        price.latency_s = fmaxl(price.latency_s, within.latency_s);
    }
    return price;
}

// Each tensor rank of a node has its own ring over the replicas; each rank that has other experts,
// over those that have the same.
static struct link_price own_link_of_replicas(const struct pricing *x, int group, real ranks,
                                              bool experts)
{
    return link_of_rings(x, group, ranks, experts ? x->t_e * x->x : x->t, 1, goes_by_one_nic(x));
}

// For a sum by rings or by trees. The group's own link decides which, whatever the nodes.
static struct link_price link_of_replicas(const struct pricing *x, int group, real ranks,
                                          bool experts)
{
    struct link_price own = {0};
    bool trees = x->problem->costs.tree_bandwidth_share.value > 0;
    if (trees || !x->on_nodes) own = own_link_of_replicas(x, group, ranks, experts);
    struct link_price price = x->on_nodes ? link_of_ring(x, ranks, experts ? x->t_e * x->x : x->t)
                                          : own;
    if (trees) price.tree_share = sync_tree_share(x, &own, ranks);
    if (!syncs_are_sums(x)) price.sums_bytes_per_s = 0;
    return price;
}

// Links that most terms ask for, as the costs now have them; none of them depends on a run.
enum kept_link {
    LINK_TENSOR,
    LINK_SYNC,
    LINK_EXPERT_SYNC,
    LINK_SHARDS,
    LINK_EXPERT_SHARDS,
    LINK_GROUPS,
    LINKS_KEPT
};
struct kept_links {
    bool known[LINKS_KEPT];
    struct link_price prices[LINKS_KEPT];
};

void keep_links(struct pricing *x)
{
    x->links = TAKE(x->arena, x->problem->cluster.group_count, struct kept_links);
}

static struct link_price find_link(const struct pricing *x, int group, enum kept_link link)
{
    bool one_nic = goes_by_one_nic(x);
    switch (link) {
    case LINK_TENSOR: return find_tensor_link(x, group);
    case LINK_SYNC: return link_of_replicas(x, group, x->R, false);
    case LINK_EXPERT_SYNC: return link_of_replicas(x, group, x->R_e, true);
    case LINK_GROUPS: return link_of_rings(x, group, x->R_C, x->D / x->R_C, 1, false);
    default: break;
    }
    struct link_price shards =
        link == LINK_SHARDS ? link_of_rings(x, group, x->R_S, x->t, x->R_C, one_nic)
                            : link_of_rings(x, group, x->R_Se, x->t_e * x->x, x->R_C, one_nic);
    shards.sums_bytes_per_s = 0; // scattered and gathered
    return shards;
}

static struct link_price kept_link(const struct pricing *x, int group, enum kept_link link)
{
    if (!x->links || x->on_nodes) return find_link(x, group, link);
    struct kept_links *kept = &x->links[group];
    if (!kept->known[link]) kept->prices[link] = find_link(x, group, link);
    kept->known[link] = true;
    return kept->prices[link];
}

struct link_price link_of_tensor_ranks(const struct pricing *x, int group)
{
    return kept_link(x, group, LINK_TENSOR);
}

struct link_price link_of_gradient_sync(const struct pricing *x, int group)
{
    return kept_link(x, group, LINK_SYNC);
}

struct link_price link_of_expert_sync(const struct pricing *x, int group)
{
    return kept_link(x, group, LINK_EXPERT_SYNC);
}

struct link_price link_of_shards(const struct pricing *x, int group, bool experts)
{
    if (x->R_C <= 1) return kept_link(x, group, experts ? LINK_EXPERT_SYNC : LINK_SYNC);
    return kept_link(x, group, experts ? LINK_EXPERT_SHARDS : LINK_SHARDS);
}

struct link_price link_of_groups(const struct pricing *x, int group)
{
    return kept_link(x, group, LINK_GROUPS);
}

// All ranks of a node send at the same time, each to all others.
struct link_price link_of_experts(const struct pricing *x, int group)
{
    return link_over(x, group, outgrow_node(x, group, x->t_e * x->x),
                     (struct ring){x->x, x->t_e, false}, x->t_e * x->x, true);
}

struct pool_spread spread_of_pool(const struct pricing *x, const struct layer_run *run)
{
    real devices = run->pool.shared ? x->D * x->p : x->D, stated = x->problem->job.layout.pool,
         parts = stated > 0 ? stated : devices;
    return (struct pool_spread){parts, devices / parts};
}

struct link_price link_of_pool(const struct pricing *x, const struct layer_run *run, int group)
{
    real parts = spread_of_pool(x, run).parts;
    return link_over(x, group, outgrow_node(x, group, parts), (struct ring){parts, 1, false}, parts,
                     true);
}

// So many copies of each of `parts` parts: a ring for each of these leaves a node.
static struct link_price link_of_parts(const struct pricing *x, int group, real parts, real copies)
{
    return link_over(x, group, outgrow_node(x, group, parts * copies),
                     (struct ring){copies, parts, false}, parts, false);
}

struct link_price link_of_copies(const struct pricing *x, int group)
{
    return link_of_parts(x, group, x->t, x->R * x->p);
}

struct link_price link_of_pool_copies(const struct pricing *x, const struct layer_run *run,
                                      int group)
{
    struct pool_spread s = spread_of_pool(x, run);
    return link_of_parts(x, group, s.parts, s.copies);
}

void find_sends(const struct pricing *x, struct link_price *price, int from, int to)
{
    const struct cluster *cluster = &x->problem->cluster;
    if (!x->problem->costs.collective_count || !price->by_cards ||
        strcmp(cluster->groups[from].gpu, cluster->groups[to].gpu))
        return;
    price->table = find_collective(x, from, 2, !price->intra, true);
}

// Stated links join nodes. Within a node, messages stay inside.
static struct link_price one_way(const struct pricing *x, int from, int to)
{
    const struct node_group *groups = x->problem->cluster.groups;
    bool inside = from == to && x->D * x->p <= groups[from].gpus_per_node;
    struct link_price price =
        inside ? inside_price(x, from, message)
               : network_price(x, from, to, fminl(groups[from].gpus_per_node, x->D),
                               fminl(groups[to].gpus_per_node, x->D), true, false);
    find_sends(x, &price, from, to);
    return price;
}

struct message_ends ends_of_stages(const struct pricing *x, int from, int to)
{
    const struct priced_group *groups = x->priced->groups;
    struct message_ends ends = {from, to, one_way(x, from, to), {0}};
    ends.back = from == to ? ends.there : one_way(x, to, from);
    ends.there.joined = ends.back.joined = ends.there.joined && ends.back.joined &&
                                           !groups[from].excluded && !groups[to].excluded;
    return ends;
}

// How many stages fit. Tensor and context ranks stay together in a node if they can; otherwise they
// take whole nodes.
int64_t group_slots(const struct pricing *x, const struct node_group *group)
{
    int64_t ranks = (int64_t)(x->t * x->c), replicas = (int64_t)x->d, nodes = group->nodes,
            gpus = group->gpus_per_node;
    int64_t slots = ranks <= gpus ? nodes * (gpus / ranks) / replicas
                                  : nodes / ((ranks + gpus - 1) / gpus) / replicas;
    return slots < INT_MAX ? slots : INT_MAX;
}
