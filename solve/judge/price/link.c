// Links as the judge sees them (docs/FORMULAS.md, section 2): what joins the GPUs of a group, and
// two stages.
#include "data/base/least.h"
#include "solve/judge/price/verify_price.h"

#include <math.h>
#include <string.h>

static struct joint intra(const struct price_audit *a, int group)
{
    const struct link *l = &a->problem->cluster.groups[group].intra;
    long double rate = (long double)l->bytes_per_s * a->problem->costs.intra_efficiency.value;
    return (struct joint){true, true, false, rate, l->latency_s, 1};
}

static struct joint stated(const struct price_audit *a, int from, int to)
{
    const struct cluster *c = &a->problem->cluster;
    for (int i = 0; i < c->link_count; i++)
        if (c->links[i].from == from && c->links[i].to == to) {
            struct stated_for what = a->stated_for ? a->stated_for[i]
                                                   : (struct stated_for){false, false, 1};
            return (struct joint){true,
                                  what.inside,
                                  !what.by_cards,
                                  c->links[i].link.bytes_per_s,
                                  c->links[i].link.latency_s,
                                  what.rings};
        }
    return (struct joint){0};
}

static const struct nic *nic_of(const struct node_group *g, enum nic_kind kind)
{
    for (int i = 0; i < g->nic_count; i++)
        if (g->nics[i].kind == kind && g->nics[i].count > 0) return &g->nics[i];
    return NULL;
}

// The best kind of NIC that both groups have, shared by so many streams per node at each end. A
// message takes one NIC: its share of the node is never more than that one's. efficiencies: which,
// where above 0, take the place of the usual ones.
static struct joint network(const struct price_audit *a, const struct estimate *efficiencies,
                            int from, int to, int64_t from_streams, int64_t to_streams,
                            bool one_nic)
{
    struct joint best = {0};
    const struct node_group *f = &a->problem->cluster.groups[from],
                            *t = &a->problem->cluster.groups[to];
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++) {
        const struct nic *x = nic_of(f, (enum nic_kind)kind), *y = nic_of(t, (enum nic_kind)kind);
        if (!x || !y) continue;
        long double efficiency = a->problem->costs.network_efficiency[kind].value;
        if (efficiencies && efficiencies[kind].value > 0) efficiency = efficiencies[kind].value;
        int64_t from_shares = one_nic && x->count > from_streams ? x->count : from_streams;
        int64_t to_shares = one_nic && y->count > to_streams ? y->count : to_streams;
        long double sending = x->count * (long double)x->link.bytes_per_s * efficiency /
                              (long double)from_shares;
        long double receiving = y->count * (long double)y->link.bytes_per_s * efficiency /
                                (long double)to_shares;
        long double rate = least(sending, receiving);
        // Products of decimal fractions tie only up to rounding, and a tie goes to the earlier
        // kind.
        if (!best.joined || !judged_reaches(a, best.bytes_per_s, rate))
            best = (struct joint){
                true, false, false, rate, greatest(x->link.latency_s, y->link.latency_s), 1};
    }
    return best;
}

// A group's nodes among themselves: what is stated, else its NICs, and no better than what a node
// passes on inside.
static struct joint across_nodes(const struct price_audit *a, int group, int64_t streams,
                                 bool one_nic)
{
    struct joint link = stated(a, group, group);
    if (link.joined) return link;
    link = network(a, NULL, group, group, streams, streams, one_nic);
    link.bytes_per_s = least(link.bytes_per_s, intra(a, group).bytes_per_s);
    link.latency_s = greatest(link.latency_s, intra(a, group).latency_s);
    return link;
}

// Stages one behind the other on a group's device groups: of one that begins on a node and ends on
// another the ring leaves both, and where the one before it ends on the node it begins on, two
// rings share that node's cards. More never do.
static int64_t rings_on_a_node(const struct price_audit *a, int64_t room)
{
    int64_t data = layout_of(a)->data, behind = -1, most = 0;
    for (int64_t stage = 0; stage < a->pipeline && most < 2; stage++) {
        int64_t first = stage * data / room, last = (stage * data + data - 1) / room;
        if (first == last) continue;
        most = behind == first ? 2 : larger(most, 1);
        behind = last;
    }
    return most;
}

// Over the replicas of a stage. Where no stage need leave its node, none does, and where there are
// nodes enough for each stage to have its own, it does.
static struct joint replicas_link(const struct price_audit *a, int group)
{
    const struct node_group *g = &a->problem->cluster.groups[group];
    int64_t room = g->gpus_per_node / a->collective, data = layout_of(a)->data, rings = 1;
    bool one_channel = a->problem->job.trainer == TRAINER_DEEPSPEED && a->zero == 3;
    if (!room)
        return across_nodes(a, group, smaller(layout_of(a)->tensor, g->gpus_per_node), one_channel);
    int64_t of_a_stage = data / room + (data % room > 0); // nodes
    bool within = room >= data &&
                  (room / data * data == room || g->nodes * (room / data) >= a->pipeline);
    if (within) return intra(a, group);
    if (data <= room || of_a_stage * a->pipeline > g->nodes) rings = rings_on_a_node(a, room);
    struct joint apart = across_nodes(a, group, rings * layout_of(a)->tensor, one_channel);
    struct joint inside = intra(a, group);
    if (!a->stated_for) apart.rings = rings;
    if (data > room) return apart;
    if (!apart.joined) return inside;
    apart.bytes_per_s = least(apart.bytes_per_s, inside.bytes_per_s);
    apart.latency_s = greatest(apart.latency_s, inside.latency_s);
    return apart;
}

struct joint judged_tensor_link(const struct price_audit *a, int group)
{
    if (a->problem->job.layout.tensor <= a->problem->cluster.groups[group].gpus_per_node)
        return intra(a, group);
    return across_nodes(a, group, 1, false);
}

struct joint judged_axis_link(const struct price_audit *a, int group, int64_t apart, int64_t ranks)
{
    int64_t per_node = a->problem->cluster.groups[group].gpus_per_node;
    if (apart * ranks <= per_node) return intra(a, group);
    return across_nodes(a, group, smaller(apart, per_node), false);
}

struct joint judged_ring_link(const struct price_audit *a, int group)
{
    int64_t per_node = a->problem->cluster.groups[group].gpus_per_node;
    if (a->collective <= per_node) return intra(a, group);
    return across_nodes(a, group, smaller(a->problem->job.layout.tensor, per_node), true);
}

struct joint judged_gradient_link(const struct price_audit *a, int group)
{
    return replicas_link(a, group);
}

struct joint judged_expert_link(const struct price_audit *a, int group)
{
    int64_t per_node = a->problem->cluster.groups[group].gpus_per_node;
    int64_t together = (int64_t)layout_of(a)->tensor * layout_of(a)->expert;
    if (together <= per_node) return intra(a, group);
    return across_nodes(a, group, smaller(together, per_node), true);
}

int64_t judged_pool_devices(const struct price_audit *a, const struct layer_run *r)
{
    return r->pool.shared ? a->devices * a->pipeline : a->devices;
}

struct joint judged_pool_link(const struct price_audit *a, const struct layer_run *r, int group)
{
    int64_t per_node = a->problem->cluster.groups[group].gpus_per_node,
            devices = judged_pool_devices(a, r);
    if (devices <= per_node) return intra(a, group);
    return across_nodes(a, group, smaller(devices, per_node), true);
}

struct joint judged_copies_link(const struct price_audit *a, int group)
{
    int64_t per_node = a->problem->cluster.groups[group].gpus_per_node;
    if (a->devices * a->pipeline <= per_node) return intra(a, group);
    return across_nodes(a, group, smaller(layout_of(a)->tensor, per_node), false);
}

struct joint judged_stage_link(const struct price_audit *a, int from, int to)
{
    const struct node_group *groups = a->problem->cluster.groups;
    const struct costs *c = &a->problem->costs;
    struct joint link = stated(a, from, to);
    if (link.joined) return link;
    if (from == to && a->devices * a->pipeline <= groups[from].gpus_per_node) {
        link = intra(a, from);
        if (c->transfer_intra_efficiency.value > 0)
            link.bytes_per_s = (long double)groups[from].intra.bytes_per_s *
                               c->transfer_intra_efficiency.value;
        return link;
    }
    return network(a, c->transfer_network_efficiency, from, to,
                   smaller(a->devices, groups[from].gpus_per_node),
                   smaller(a->devices, groups[to].gpus_per_node), true);
}

// Ring: every rank sends and receives 2(r-1)/r of the bytes, in 2(r-1) steps.
long double judged_all_reduce_s(struct joint link, long double bytes, int64_t ranks)
{
    if (ranks <= 1) return 0;
    long double steps = 2.0L * (long double)(ranks - 1);
    return steps / (long double)ranks * bytes / link.bytes_per_s + steps * link.latency_s;
}

long double judged_tree_climb_s(struct joint link, int64_t ranks)
{
    int levels = 0;
    for (int64_t reached = 1; reached < ranks; reached *= 2) levels++;
    return levels * link.latency_s;
}

// From 2^29 bytes on all of what trees reach, half of it up to 2^28, and between them such a share
// that no message takes less than a smaller one.
long double judged_tree_share(const struct price_audit *a, long double bytes)
{
    long double share = a->problem->costs.tree_bandwidth_share.value, whole = 0x1p29L;
    if (bytes >= whole) return share;
    return bytes > whole / 2 ? share * (bytes / whole) : share / 2;
}

long double judged_sum_s(const struct price_audit *a, struct joint link, long double bytes,
                         int64_t ranks)
{
    long double ring = judged_all_reduce_s(link, bytes, ranks), share = judged_tree_share(a, bytes);
    if (link.inside || ranks <= 1 || !(share > 0)) return ring;
    return least(ring, 2 * (bytes / (share * link.bytes_per_s) + judged_tree_climb_s(link, ranks)));
}

const struct collective_times *judged_table(const struct price_audit *a, int group,
                                            struct joint link, int64_t ranks, bool send)
{
    const struct costs *c = &a->problem->costs;
    for (int i = 0; !link.stated && i < c->collective_count; i++) {
        const struct collective_times *t = &c->collectives[i];
        if (t->ranks == ranks && t->send == send && t->between_nodes == !link.inside &&
            !strcmp(t->gpu, a->problem->cluster.groups[group].gpu))
            return t;
    }
    return NULL;
}

// Straight lines between the points on paper with two logarithmic scales; flat before the first, a
// rate after the last. Of segments, the last that has begun.
struct computed judged_table_s(const struct price_audit *a, const struct collective_times *table,
                               long double bytes)
{
    int last = table->point_count - 1, above = 0;
    for (int i = table->segment_count - 1; i >= 0; i--) {
        const struct segment *line = &table->segments[i];
        if (i == 0 || judged_reaches(a, bytes, line->from_bytes))
            return (struct computed){
                (bytes - line->from_bytes) / (long double)line->bytes_per_s.value +
                    line->seconds.value,
                (bytes + line->from_bytes) / (long double)line->bytes_per_s.value};
    }
    if (bytes <= table->bytes[0]) return (struct computed){table->seconds[0], 0};
    if (bytes >= table->bytes[last])
        return (struct computed){table->seconds[last] * (bytes / table->bytes[last]), 0};
    while (table->bytes[above] < bytes) above++;
    long double from = table->bytes[above - 1], span = log1pl((table->bytes[above] - from) / from),
                way = log1pl((bytes - from) / from) / span;
    long double rise = logl(table->seconds[above] / (long double)table->seconds[above - 1]),
                seconds = table->seconds[above - 1] * expl(way * rise);
    return (struct computed){seconds, seconds * fabsl(rise) * (1 + 1 / span)};
}
