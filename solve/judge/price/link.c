// Links as the judge prices them (docs/FORMULAS.md, section 2): what joins the GPUs of a group,
// and two stages.
#include "data/base/least.h"
#include "solve/judge/price/verify_price.h"

#include <string.h>

// The share of a link that transfers between stages reach, where the costs state it.
static long double efficiency_of(const struct estimate *of_messages, const struct estimate *of_all,
                                 bool message)
{
    return message && of_messages->value > 0 ? of_messages->value : of_all->value;
}

// What the group states of rings of such a form: the entry that stands first. Else its intra.
static double stated_inside(const struct node_group *g, struct form form)
{
    const struct ring_rate *found = NULL;
    for (int i = g->ring_count - 1; i >= 0 && form.ranks > 0; i--) {
        const struct ring_rate *r = &g->rings[i];
        bool distance = r->apart == 0 || r->apart == form.apart;
        if (r->gpus == form.ranks && distance) found = r;
    }
    return found ? found->bytes_per_s : g->intra.bytes_per_s;
}

// Of sums in switches: the last entry for no more ranks; 0: none.
static double stated_of_sums(const struct node_group *g, int64_t ranks)
{
    int entry = g->switch_sum_count - 1;
    while (entry >= 0 && g->switch_sums[entry].gpus > ranks) entry--;
    return entry < 0 ? 0 : g->switch_sums[entry].bytes_per_s;
}

struct joint judged_inside(const struct price_audit *a, int group, struct form form)
{
    const struct node_group *g = &a->problem->cluster.groups[group];
    const struct costs *c = &a->problem->costs;
    long double share =
        efficiency_of(&c->transfer_intra_efficiency, &c->intra_efficiency, form.ranks == 0);
    return (struct joint){.joined = true,
                          .inside = true,
                          .bytes_per_s = stated_inside(g, form) * share,
                          .latency_s = g->intra.latency_s,
                          .rings = 1,
                          .in_switches = stated_of_sums(g, form.ranks)};
}

struct joint judged_pass_inside(const struct price_audit *a, int group, struct joint link)
{
    struct form all = {a->problem->cluster.groups[group].gpus_per_node, 1};
    struct joint inside = judged_inside(a, group, all);
    link.bytes_per_s = least(link.bytes_per_s, inside.bytes_per_s);
    link.latency_s = greatest(link.latency_s, inside.latency_s);
    return link;
}

struct joint judged_stated(const struct price_audit *a, int from, int to)
{
    const struct cluster *c = &a->problem->cluster;
    for (int i = 0; i < c->link_count; i++)
        if (c->links[i].from == from && c->links[i].to == to)
            return a->joints ? a->joints[i] : (struct joint){true,
                                                             false,
                                                             true,
                                                             c->links[i].link.bytes_per_s,
                                                             c->links[i].link.latency_s,
                                                             1};
    return (struct joint){0};
}

static const struct nic *nic_of(const struct node_group *g, int kind)
{
    for (int i = 0; i < g->nic_count; i++)
        if ((int)g->nics[i].kind == kind && g->nics[i].count > 0) return &g->nics[i];
    return NULL;
}

long double judged_card_rate(const struct price_audit *a, int group, int kind, int64_t streams,
                             bool message, bool one_nic)
{
    const struct costs *c = &a->problem->costs;
    const struct nic *x = nic_of(&a->problem->cluster.groups[group], kind);
    if (!x) return 0;
    int64_t shares = one_nic && x->count > streams ? x->count : streams;
    return x->count * (long double)x->link.bytes_per_s *
           efficiency_of(&c->transfer_network_efficiency[kind], &c->network_efficiency[kind],
                         message) /
           (long double)shares;
}

struct joint judged_cards(const struct price_audit *a, int from, int to, const struct passing *what,
                          int kind)
{
    const struct node_group *groups = a->problem->cluster.groups;
    const struct nic *x = nic_of(&groups[from], kind), *y = nic_of(&groups[to], kind);
    if (!x || !y) return (struct joint){0};
    long double sending =
                    judged_card_rate(a, from, kind, what->streams[0], what->message, what->one_nic),
                receiving =
                    judged_card_rate(a, to, kind, what->streams[1], what->message, what->one_nic);
    return (struct joint){true,
                          false,
                          false,
                          least(sending, receiving),
                          greatest(x->link.latency_s, y->link.latency_s),
                          1};
}

// Products of decimal fractions tie only up to rounding; ties go to the earlier kind.
int judged_fastest_kind(const struct price_audit *a, int from, int to, const struct passing *what)
{
    int best = NO_KIND;
    long double best_rate = 0;
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++) {
        struct joint link = judged_cards(a, from, to, what, kind);
        if (!link.joined || (best != NO_KIND && judged_reaches(a, best_rate, link.bytes_per_s)))
            continue;
        best_rate = link.bytes_per_s;
        best = kind;
    }
    return best;
}

// Between the nodes of a group: the stated link, else its NICs, limited by what passes inside a
// node.
static struct joint across_nodes(const struct price_audit *a, int group, int64_t streams,
                                 bool one_nic)
{
    const struct passing what = {false, one_nic, {streams, streams}};
    struct joint link = judged_stated(a, group, group);
    if (link.joined) return link;
    link = judged_cards(a, group, group, &what, judged_fastest_kind(a, group, group, &what));
    return judged_pass_inside(a, group, link);
}

// Stages in sequence on a group's device groups. If a stage begins on one node and ends on
// another, its ring leaves both; if the previous stage ends on the node where it begins, two rings
// share that node's cards. There are never more.
static int64_t rings_on_a_node(int64_t data, int64_t stages, int64_t room)
{
    int64_t behind = -1, most = 0;
    for (int64_t stage = 0; stage < stages && most < 2; stage++) {
        int64_t first = stage * data / room, last = (stage * data + data - 1) / room;
        if (first == last) continue;
        most = behind == first ? 2 : larger(most, 1);
        behind = last;
    }
    return most;
}

// Over `data` replicas in sequence, of which `stages` lots are on the group: those of a stage, or
// of a part of one. In the order of ranks they are so far apart that as many rings pass side by
// side. If no stage has to leave its node, none does; if there are enough nodes for each stage to
// have its own, each does.
static struct joint replicas_link(const struct price_audit *a, int group, int64_t apart_by,
                                  int64_t ranks, int64_t data, bool one_channel)
{
    const struct node_group *g = &a->problem->cluster.groups[group];
    int64_t room = g->gpus_per_node / a->collective, rings = 1,
            stages = a->pipeline * (layout_of(a)->data / data);
    const struct form ring = {ranks, apart_by};
    enum spread spread = one_channel ? SPREAD_ONE_CHANNEL : SPREAD_OVER_ALL;
    if (!room) {
        struct joint wide =
            across_nodes(a, group, smaller(apart_by, g->gpus_per_node), one_channel);
        return judged_spread(a, group, wide, ranks, apart_by, spread);
    }
    int64_t of_a_stage = data / room + (data % room > 0); // nodes
    bool within = room >= data &&
                  (room / data * data == room || g->nodes * (room / data) >= stages);
    if (within) return judged_inside(a, group, ring);
    if (data <= room || of_a_stage * stages > g->nodes) rings = rings_on_a_node(data, stages, room);
    struct joint apart =
        across_nodes(a, group, smaller(rings * apart_by, g->gpus_per_node), one_channel);
    if (!a->joints) apart.rings = rings;
    apart = judged_spread(a, group, apart, ranks, apart_by, spread);
    if (data > room) return apart;
    struct joint near = judged_inside(a, group, ring);
    if (!apart.joined) return near;
    apart.bytes_per_s = least(apart.bytes_per_s, near.bytes_per_s);
    apart.latency_s = greatest(apart.latency_s, near.latency_s);
    return apart;
}

struct joint judged_tensor_link(const struct price_audit *a, int group)
{
    if (a->problem->job.layout.tensor <= a->problem->cluster.groups[group].gpus_per_node)
        return judged_inside(a, group, (struct form){a->problem->job.layout.tensor, 1});
    return judged_spread(a, group, across_nodes(a, group, 1, false), layout_of(a)->tensor, 1,
                         SPREAD_OVER_ALL);
}

struct joint judged_axis_link(const struct price_audit *a, int group, int64_t apart, int64_t ranks)
{
    int64_t per_node = a->problem->cluster.groups[group].gpus_per_node;
    if (apart * ranks <= per_node) return judged_inside(a, group, (struct form){ranks, apart});
    bool alone = apart == 1 || per_node == 1; // on its node: as measured rings are
    return judged_spread(a, group, across_nodes(a, group, smaller(apart, per_node), false), ranks,
                         apart, alone ? SPREAD_OVER_ALL : SPREAD_WITHOUT_TABLE);
}

static struct form context_form(const struct price_audit *a)
{
    return (struct form){layout_of(a)->context, layout_of(a)->tensor};
}

struct joint judged_ring_link(const struct price_audit *a, int group)
{
    int64_t per_node = a->problem->cluster.groups[group].gpus_per_node;
    if (a->collective <= per_node) return judged_inside(a, group, context_form(a));
    return across_nodes(a, group, smaller(a->problem->job.layout.tensor, per_node), true);
}

struct joint judged_heads_link(const struct price_audit *a, int group)
{
    int64_t per_node = a->problem->cluster.groups[group].gpus_per_node;
    if (a->collective <= per_node) return judged_inside(a, group, context_form(a));
    return across_nodes(a, group, per_node, true); // a device group fills its nodes
}

static bool has_one_channel(const struct price_audit *a)
{
    return a->problem->job.trainer == TRAINER_DEEPSPEED && a->zero == 3;
}

struct joint judged_gradient_link(const struct price_audit *a, int group)
{
    return replicas_link(a, group, layout_of(a)->tensor, a->ranks, layout_of(a)->data,
                         has_one_channel(a));
}

struct joint judged_expert_gradient_link(const struct price_audit *a, int group)
{
    return replicas_link(a, group, a->expert_parts * layout_of(a)->expert, a->expert_ranks,
                         layout_of(a)->data, has_one_channel(a));
}

struct joint judged_sharing_link(const struct price_audit *a, int group, bool of_experts)
{
    const struct layout *l = layout_of(a);
    if (a->alike == 1)
        return of_experts ? judged_expert_gradient_link(a, group) : judged_gradient_link(a, group);
    return replicas_link(a, group, of_experts ? a->expert_parts * l->expert : l->tensor,
                         of_experts ? a->expert_sharing : a->sharing, l->data_shard,
                         has_one_channel(a));
}

// Each device of such a group has a ring of its own.
struct joint judged_alike_link(const struct price_audit *a, int group)
{
    return replicas_link(a, group, a->devices / a->alike, a->alike, layout_of(a)->data, false);
}

struct joint judged_parts_link(const struct price_audit *a, int group)
{
    if (a->expert_parts <= a->problem->cluster.groups[group].gpus_per_node)
        return judged_inside(a, group, (struct form){a->expert_parts, 1});
    return judged_spread(a, group, across_nodes(a, group, 1, false), a->expert_parts, 1,
                         SPREAD_OVER_ALL);
}

struct joint judged_expert_link(const struct price_audit *a, int group)
{
    int64_t per_node = a->problem->cluster.groups[group].gpus_per_node;
    int64_t together = a->expert_parts * layout_of(a)->expert;
    if (together <= per_node)
        return judged_inside(a, group, (struct form){layout_of(a)->expert, a->expert_parts});
    return across_nodes(a, group, smaller(together, per_node), true);
}

static int64_t pool_devices(const struct price_audit *a, const struct layer_run *r)
{
    return r->pool.shared ? a->devices * a->pipeline : a->devices;
}

int64_t judged_pool_group(const struct price_audit *a, const struct layer_run *r)
{
    return layout_of(a)->pool > 0 ? layout_of(a)->pool : pool_devices(a, r);
}

int64_t judged_pool_copies(const struct price_audit *a, const struct layer_run *r)
{
    return pool_devices(a, r) / judged_pool_group(a, r);
}

struct joint judged_pool_link(const struct price_audit *a, const struct layer_run *r, int group)
{
    int64_t per_node = a->problem->cluster.groups[group].gpus_per_node,
            together = judged_pool_group(a, r);
    if (together <= per_node) return judged_inside(a, group, (struct form){together, 1});
    return across_nodes(a, group, smaller(together, per_node), true);
}

struct joint judged_pool_ring(const struct price_audit *a, const struct layer_run *r, int group)
{
    int64_t per_node = a->problem->cluster.groups[group].gpus_per_node,
            apart = judged_pool_group(a, r);
    if (pool_devices(a, r) <= per_node)
        return judged_inside(a, group, (struct form){judged_pool_copies(a, r), apart});
    return across_nodes(a, group, smaller(apart, per_node), false);
}

struct joint judged_copies_link(const struct price_audit *a, int group)
{
    int64_t per_node = a->problem->cluster.groups[group].gpus_per_node;
    if (a->devices * a->pipeline <= per_node)
        return judged_inside(a, group,
                             (struct form){a->ranks * a->pipeline, a->problem->job.layout.tensor});
    return across_nodes(a, group, smaller(layout_of(a)->tensor, per_node), false);
}

// A stated link joins nodes; where the whole pipeline fits in one node, messages stay inside.
struct joint judged_stage_link(const struct price_audit *a, int from, int to)
{
    const struct node_group *groups = a->problem->cluster.groups;
    if (from == to && a->devices * a->pipeline <= groups[from].gpus_per_node)
        return judged_inside(a, from, (struct form){0, 0});
    const struct passing what = {true,
                                 true,
                                 {smaller(a->devices, groups[from].gpus_per_node),
                                  smaller(a->devices, groups[to].gpus_per_node)}};
    struct joint link = judged_stated(a, from, to);
    return link.joined ? link
                       : judged_cards(a, from, to, &what, judged_fastest_kind(a, from, to, &what));
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

// From 2^29 bytes on, all of what trees reach; up to 2^28, half of it; between, a share such that
// no message takes less time than a smaller one.
long double judged_tree_share(const struct price_audit *a, long double bytes)
{
    long double share = a->problem->costs.tree_bandwidth_share.value, whole = 0x1p29L;
    if (bytes >= whole) return share;
    return bytes > whole / 2 ? share * (bytes / whole) : share / 2;
}

// Counted as a ring's steps and bytes, at the rate that sums reach. Infinite where switches form
// none.
long double judged_switches_s(struct joint link, long double bytes, int64_t ranks)
{
    link.bytes_per_s = link.in_switches;
    return link.inside && link.in_switches > 0 ? judged_all_reduce_s(link, bytes, ranks)
                                               : HUGE_VALL;
}

long double judged_sum_s(const struct price_audit *a, struct joint link, long double bytes,
                         int64_t ranks)
{
    long double ring = judged_all_reduce_s(link, bytes, ranks), share = judged_tree_share(a, bytes);
    if (link.inside) return least(ring, judged_switches_s(link, bytes, ranks));
    if (ranks <= 1 || !(share > 0)) return ring;
    return least(ring, 2 * (bytes / (share * link.bytes_per_s) + judged_tree_climb_s(link, ranks)));
}

const struct collective_times *judged_table(const struct price_audit *a, int group,
                                            struct joint link, int64_t ranks, bool send)
{
    const struct costs *c = &a->problem->costs;
    for (int i = 0; !link.stated && i < c->collective_count; i++) {
        const struct collective_times *t = &c->collectives[i];
        if (t->nodes == 0 && t->ranks == ranks && t->send == send &&
            t->between_nodes == !link.inside &&
            !strcmp(t->gpu, a->problem->cluster.groups[group].gpu))
            return t;
    }
    return NULL;
}

// Linear interpolation on logarithmic scales; constant before the first point, a constant rate
// after the last. Of segments, the slowest that has begun. No point is faster than one before it.
struct computed judged_table_s(const struct price_audit *a, const struct collective_times *table,
                               long double bytes)
{
    struct computed most = {0, 0};
    long double slowest = 0, slower = 0;
    int above = 0;
    for (int i = 0; i < table->segment_count; i++) {
        const struct segment *line = &table->segments[i];
        long double rate = line->bytes_per_s.value,
                    to = i + 1 < table->segment_count ? least(bytes, line[1].from_bytes) : bytes;
        if (i > 0 && !judged_reaches(a, bytes, line->from_bytes)) break;
        most.value = greatest(most.value, (to - line->from_bytes) / rate + line->seconds.value);
        most.lost = greatest(most.lost, (to + line->from_bytes) / rate);
    }
    if (table->segment_count > 0) return most;
    for (; above < table->point_count; above++) {
        slower = slowest, slowest = greatest(slowest, table->seconds[above]);
        if (bytes <= table->bytes[above]) break;
    }
    if (above == 0) return (struct computed){slowest, 0};
    long double from = table->bytes[above - 1];
    if (above == table->point_count) return (struct computed){slowest * (bytes / from), 0};
    long double span = log1pl((table->bytes[above] - from) / from),
                way = log1pl((bytes - from) / from) / span, rise = logl(slowest / slower),
                seconds = slower * expl(way * rise);
    return (struct computed){seconds, seconds * fabsl(rise) * (1 + 1 / span)};
}

// ---- by the number of nodes

// Each doubling of the nodes, from two on, leaves a share of the bandwidth.
static long double after_doublings(const struct price_audit *a, long double from, long double to)
{
    long double kept = a->problem->costs.node_doubling_share.value;
    if (!(kept > 0) || kept >= 1 || to <= from) return 1;
    return expl(logl(kept) * logl(to / from) / logl(2));
}

struct joint judged_spread(const struct price_audit *a, int group, struct joint link, int64_t ranks,
                           int64_t apart, enum spread spread)
{
    int64_t per_node = link.per_node ? link.per_node
                                     : a->problem->cluster.groups[group].gpus_per_node,
            span = ranks * apart, nodes = span / per_node + (span % per_node > 0);
    if (!link.joined || link.stated || link.inside || ranks <= 1 ||
        (spread != SPREAD_WITHOUT_TABLE && judged_table(a, group, link, ranks, false)))
        return link;
    link.nodes = larger(2, smaller(nodes, ranks));
    link.side_by_side = spread == SPREAD_ONE_CHANNEL || span <= per_node
                            ? 0
                            : smaller(per_node, apart * larger(1, link.rings));
    if (!judged_by_nodes(a, group, link))
        link.bytes_per_s *= after_doublings(a, 2, (long double)link.nodes);
    return link;
}

static const struct collective_times *of_nodes(const struct price_audit *a, int group, int entry)
{
    const struct collective_times *t = &a->problem->costs.collectives[entry];
    return t->nodes > 0 && !strcmp(t->gpu, a->problem->cluster.groups[group].gpu) ? t : NULL;
}

bool judged_by_nodes(const struct price_audit *a, int group, struct joint link)
{
    bool found = false;
    for (int i = 0; i < a->problem->costs.collective_count && link.side_by_side > 0; i++)
        found = found || of_nodes(a, group, i);
    return found;
}

// The slowest of all that were measured on at most so many nodes, as if every rank of the ring had
// received each byte twice; 0: none. exactly: only on so many.
static struct computed slowest_s(const struct price_audit *a, int group, int64_t nodes,
                                 bool exactly, long double bytes)
{
    struct computed most = {0, 0};
    for (int i = 0; i < a->problem->costs.collective_count; i++) {
        const struct collective_times *t = of_nodes(a, group, i);
        if (!t || t->nodes > nodes || (exactly && t->nodes != nodes)) continue;
        struct computed s = judged_table_s(a, t, bytes);
        long double whole = (long double)t->ranks / (long double)(t->ranks - 1) / 2;
        most.value = greatest(most.value, s.value * whole);
        most.lost = greatest(most.lost, s.lost * whole);
    }
    return most;
}

struct computed judged_nodes_s(const struct price_audit *a, int group, struct joint link,
                               long double bytes, int64_t ranks)
{
    int64_t under = 0, over = 0;
    if (!(bytes > 0)) return (struct computed){0, 0};
    for (int i = 0; i < a->problem->costs.collective_count; i++) {
        const struct collective_times *t = of_nodes(a, group, i);
        if (t && t->nodes <= link.nodes) under = larger(under, t->nodes);
        else if (t) over = over && over < t->nodes ? over : t->nodes;
    }
    // Fewer than were measured: as the fewest.
    if (under == 0) link.nodes = under = over, over = 0;
    long double all = bytes * (long double)link.side_by_side,
                twice = 2 * (long double)(ranks - 1) / (long double)ranks;
    struct computed s = slowest_s(a, group, link.nodes, false, all);
    if (over) {
        struct computed next = slowest_s(a, group, over, true, all);
        long double way = logl((long double)link.nodes / (long double)under) /
                          logl((long double)over / (long double)under);
        long double rise = s.value > 0 ? logl(greatest(next.value, s.value) / s.value) : 0;
        s.value *= expl(rise * way);
        s.lost = s.lost * expl(rise) + next.lost + s.value * fabsl(rise);
    } else {
        s.value /= after_doublings(a, (long double)under, (long double)link.nodes);
        s.lost = s.lost / after_doublings(a, (long double)under, (long double)link.nodes) + s.value;
    }
    return (struct computed){twice * s.value, twice * s.lost};
}
