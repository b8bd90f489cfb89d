// Collectives over a link: by the volume and steps of a ring, or by a table of measured times where
// the costs have one for exactly this number of ranks. docs/FORMULAS.md section 2.
#include <string.h>

#include "formulate/price/pricing.h"

const struct collective_times *find_collective(const struct pricing *x, int group, real ranks,
                                               bool between_nodes, bool send)
{
    const struct costs *costs = &x->problem->costs;
    const char *gpu = x->problem->cluster.groups[group].gpu;
    for (int i = 0; i < costs->collective_count; i++) {
        const struct collective_times *t = &costs->collectives[i];
        if (!t->nodes && (real)t->ranks == ranks && t->between_nodes == between_nodes &&
            t->send == send && !strcmp(t->gpu, gpu))
            return t;
    }
    return NULL;
}

static real segment_at_s(const struct segment *s, real bytes)
{
    return s->seconds.value + (bytes - s->from_bytes) / s->bytes_per_s.value;
}

// Segments may fall where one follows another; more bytes then take as long as fewer.
static real segment_price_s(const struct collective_times *table, real bytes)
{
    const struct segment *s = table->segments, *end = s + table->segment_count;
    real fewer = 0;
    for (; s + 1 < end && reaches(bytes, s[1].from_bytes); s++)
        fewer = fmaxl(fewer, segment_at_s(s, s[1].from_bytes));
    return fmaxl(fewer, segment_at_s(s, bytes));
}

// Between two points, linear interpolation of the logarithms; a point that was measured faster than
// one of fewer bytes counts as that one.
real table_price_s(const struct collective_times *table, real bytes)
{
    int at = 0;
    real below = 0, here = table->segment_count ? 0 : table->seconds[0];
    if (bytes <= 0) return 0;
    if (table->segment_count) return segment_price_s(table, bytes);
    while (table->bytes[at] < bytes && at + 1 < table->point_count)
        below = here, here = fmaxl(here, table->seconds[++at]);
    if (table->bytes[at] < bytes) return bytes / table->bytes[at] * here;
    if (at == 0) return here;
    real share = logl(bytes / table->bytes[at - 1]) /
                 logl((real)table->bytes[at] / table->bytes[at - 1]);
    return below * expl(share * logl(here / below));
}

// ---- by the number of nodes

static const struct collective_times *table_by_nodes(const struct costs *c, const char *gpu, int i)
{
    const struct collective_times *t = &c->collectives[i];
    return t->nodes && !strcmp(t->gpu, gpu) ? t : NULL;
}

// The fewest nodes that were measured; infinite: none.
static real fewest_nodes(const struct costs *c, const char *gpu)
{
    real fewest = INFINITY;
    for (int i = 0; i < c->collective_count; i++) {
        const struct collective_times *t = table_by_nodes(c, gpu, i);
        if (t) fewest = fminl(fewest, (real)t->nodes);
    }
    return fewest;
}

// What is left of the bandwidth over so many times as many nodes.
static real left_of_bandwidth(const struct costs *c, real times)
{
    real share = c->node_doubling_share.value;
    return share > 0 && share < 1 && times > 1 ? powl(share, log2l(times)) : 1;
}

// The time of the bytes of all rings of a node at the bandwidth measured over its nodes: between
// two measured numbers, linear interpolation of the logarithms. More nodes never take less.
static real bus_s(const struct link_price *link, real bytes)
{
    const struct costs *c = link->by_nodes;
    real fewer = 0, more = INFINITY, below = 0, above = 0;
    for (int i = 0; i < c->collective_count; i++) {
        const struct collective_times *t = table_by_nodes(c, link->gpu, i);
        if (!t) continue;
        real nodes = (real)t->nodes, ranks = (real)t->ranks,
             seconds = table_price_s(t, bytes * link->side_by_side) * ranks / (2 * (ranks - 1));
        if (nodes <= link->nodes) {
            fewer = fmaxl(fewer, nodes), below = fmaxl(below, seconds);
        } else if (nodes <= more) {
            above = nodes < more ? seconds : fmaxl(above, seconds);
            more = nodes;
        }
    }
    if (isinf(more)) return below / left_of_bandwidth(c, link->nodes / fewer);
    real way = logl(link->nodes / fewer) / logl(more / fewer);
    return below <= 0 ? 0 : below * expl(way * logl(fmaxl(above, below) / below));
}

void spread_over_nodes(const struct pricing *x, struct link_price *link, int group, real ranks,
                       real apart, bool one_channel)
{
    const struct costs *c = &x->problem->costs;
    const struct node_group *g = &x->problem->cluster.groups[group];
    if (link->intra || !link->by_cards || ranks <= 1 || link->table) return;
    bool all_leave = ranks * apart > g->gpus_per_node; // else some stages stay within a node
    real fewest = all_leave && !one_channel ? fewest_nodes(c, g->gpu) : INFINITY;
    link->nodes = fmaxl(2, fminl(ranks, ceill(ranks * apart / g->gpus_per_node)));
    link->side_by_side = fminl(g->gpus_per_node, apart * fmaxl(1, link->rings));
    link->gpu = g->gpu;
    link->by_nodes = isinf(fewest) ? NULL : c;
    if (link->by_nodes) link->nodes = fmaxl(link->nodes, fewest);
    else link->bytes_per_s *= left_of_bandwidth(c, link->nodes / 2);
}

real all_reduce_price_s(const struct link_price *link, real bytes, real ranks)
{
    if (ranks <= 1) return 0;
    if (link->table) return table_price_s(link->table, bytes);
    if (link->by_nodes) return 2 * (ranks - 1) / ranks * bus_s(link, bytes);
    return 2 * (ranks - 1) / ranks * bytes / link->bytes_per_s + 2 * (ranks - 1) * link->latency_s;
}

enum { LONG_MESSAGE = 1 << 29 };

// ---- trees of ranks over nodes, where the costs describe them: up to the root and down again

static real tree_latency_s(const struct link_price *link, real ranks)
{
    int height = 0;
    while (ldexpl(1, height) < ranks) height++;
    return height * link->latency_s;
}

static bool has_trees(const struct pricing *x, const struct link_price *link, real ranks)
{
    return ranks > 1 && !link->intra && !link->table && !link->by_nodes &&
           x->problem->costs.tree_bandwidth_share.value > 0;
}

// A message that is not long counts as larger than it is.
static real bytes_of_trees(real bytes) { return fminl(2 * bytes, fmaxl(bytes, LONG_MESSAGE)); }

static real tree_price_s(const struct pricing *x, const struct link_price *link, real bytes,
                         real ranks)
{
    real share = x->problem->costs.tree_bandwidth_share.value;
    return 2 * bytes_of_trees(bytes) / (share * link->bytes_per_s) +
           2 * tree_latency_s(link, ranks);
}

// ---- sums

static bool sums_in_switches(const struct link_price *link)
{
    return link->sums_bytes_per_s > 0 && !link->table;
}

real sum_price_s(const struct pricing *x, const struct link_price *link, real bytes, real ranks)
{
    struct link_price best = *link; // of ring and switches, which take as many steps
    if (sums_in_switches(link)) best.bytes_per_s = fmaxl(best.bytes_per_s, link->sums_bytes_per_s);
    real ring = all_reduce_price_s(&best, bytes, ranks);
    return has_trees(x, link, ranks) ? fminl(ring, tree_price_s(x, link, bytes, ranks)) : ring;
}

bool syncs_are_sums(const struct pricing *x)
{
    return x->zero == 0 && !x->problem->job.gradient_option_count;
}

real sync_tree_share(const struct pricing *x, const struct link_price *own, real ranks)
{
    if (!own->joined || !has_trees(x, own, ranks) || !syncs_are_sums(x)) return 0;
    real ring = all_reduce_price_s(own, LONG_MESSAGE, ranks);
    return reaches(tree_price_s(x, own, LONG_MESSAGE, ranks), ring)
               ? 0
               : x->problem->costs.tree_bandwidth_share.value;
}

// Bytes that the trainer sends together, of a layer that has so many: messages of one size whatever
// a stage holds, or FSDP2's, each of a layer.
static real message_bytes(const struct pricing *x, real bytes)
{
    switch (x->problem->job.trainer) {
    case TRAINER_DEEPSPEED: return 5e8L * x->e_g;
    case TRAINER_TORCHTITAN: return bytes;
    default: return x->overlapped ? fmaxl(4e7L, 1e6L * x->R) * x->e_g : LONG_MESSAGE;
    }
}

// Half of an all-reduce whose times were measured, of each of the rings that share the link.
static real measured_half_s(const struct link_price *link, real bytes, real ranks)
{
    real rings = link->table && link->rings > 1 ? link->rings : 1;
    return rings * all_reduce_price_s(link, bytes, ranks) / 2;
}

// Of one byte, over as few nodes as were measured: what a stage's sync takes whatever it sends, but
// where every layer's messages take it.
static real first_byte_s(const struct pricing *x, const struct link_price *link, real ranks)
{
    struct link_price few = *link;
    if (x->problem->job.trainer == TRAINER_TORCHTITAN) return 0;
    if (link->by_nodes) few.nodes = fewest_nodes(link->by_nodes, link->gpu);
    return measured_half_s(&few, 1, ranks);
}

real scatter_s(const struct pricing *x, const struct link_price *link, real bytes, real ranks)
{
    if (ranks <= 1 || bytes <= 0) return 0;
    if (link->table || link->by_nodes) {
        real message = message_bytes(x, bytes);
        return bytes / message *
               fmaxl(0, measured_half_s(link, message, ranks) - first_byte_s(x, link, ranks));
    }
    real part = link->tree_share > 0 ? 1 / link->tree_share : (ranks - 1) / ranks,
         seconds = part * bytes / link->bytes_per_s;
    return sums_in_switches(link)
               ? fminl(seconds, (ranks - 1) / ranks * bytes / link->sums_bytes_per_s)
               : seconds;
}

real scatter_latency_s(const struct pricing *x, const struct link_price *link, real ranks)
{
    if (ranks <= 1) return 0;
    if (link->table || link->by_nodes) return first_byte_s(x, link, ranks);
    return link->tree_share > 0 ? tree_latency_s(link, ranks) : (ranks - 1) * link->latency_s;
}
