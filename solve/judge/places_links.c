// What joins two nodes by the judge's own reading of places (docs/FORMULAS.md section 15):
// measured, stated, a level of switches, or cards; for a ring over the kind of card that all its
// nodes have.
#include <math.h>
#include <string.h>

#include "data/base/least.h"
#include "solve/judge/places.h"

static long double card_rate(const struct node_group *g, int kind, int64_t streams, bool one_card,
                             long double efficiency, long double *latency_s)
{
    for (int i = 0; i < g->nic_count; i++) {
        if ((int)g->nics[i].kind != kind) continue;
        int64_t shares = one_card && streams < g->nics[i].count ? g->nics[i].count : streams;
        *latency_s = g->nics[i].link.latency_s;
        return g->nics[i].count * (long double)g->nics[i].link.bytes_per_s * efficiency /
               (long double)shares;
    }
    return 0;
}

static long double efficiency_of(const struct costs *c, int kind, bool ring)
{
    bool apart = !ring && c->transfer_network_efficiency[kind].value > 0;
    return apart ? c->transfer_network_efficiency[kind].value : c->network_efficiency[kind].value;
}

static long double inside_rate(const struct price_audit *a, int group, bool ring)
{
    const struct costs *c = &a->problem->costs;
    bool apart = !ring && c->transfer_intra_efficiency.value > 0;
    return (long double)a->problem->cluster.groups[group].intra.bytes_per_s *
           (apart ? c->transfer_intra_efficiency.value : c->intra_efficiency.value);
}

int64_t judged_slots_on(const struct price_audit *a, int group)
{
    return a->problem->cluster.groups[group].gpus_per_node / a->collective;
}

// What passes between two nodes: of a ring, how many rings leave either of them; else a message.
struct passing {
    bool ring;
    int64_t rings[2];
};

// Streams that ask for the cards of one end: of messages, those of one stage's replicas.
static int64_t streams_at(const struct price_audit *a, int group, const struct passing *what,
                          int end)
{
    if (what->ring) return what->rings[end] * layout_of(a)->tensor;
    int64_t room = judged_slots_on(a, group), data = layout_of(a)->data;
    return a->collective * (room > data ? data : room);
}

// What the cards of one kind give between nodes of two groups; 0: not both have it.
static struct link cards_of_kind(const struct price_audit *a, int from, int to,
                                 const struct passing *what, int kind)
{
    const struct node_group *groups = a->problem->cluster.groups;
    long double latencies[2] = {0, 0},
                efficiency = efficiency_of(&a->problem->costs, kind, what->ring);
    long double rate = least(card_rate(&groups[from], kind, streams_at(a, from, what, 0),
                                       !what->ring, efficiency, &latencies[0]),
                             card_rate(&groups[to], kind, streams_at(a, to, what, 1), !what->ring,
                                       efficiency, &latencies[1]));
    return (struct link){(double)rate, (double)greatest(latencies[0], latencies[1])};
}

// The fastest kind that both have, for one ring where it is one; NO_KIND: none.
static int fastest_kind(const struct price_audit *a, int from, int to, bool ring)
{
    const struct passing alone = {ring, {1, 1}};
    int best = NO_KIND;
    double best_rate = 0;
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++) {
        double rate = cards_of_kind(a, from, to, &alone, kind).bytes_per_s;
        if (rate <= best_rate * (1 + 1e-12)) continue;
        best_rate = rate;
        best = kind;
    }
    return best;
}

// A ring is one group, which talks over one kind of card: of those that all its nodes have the one
// whose slowest is fastest, in whole bytes per second. Nodes without cards go along with any.
// NO_KIND: they have none in common.
int judged_ring_kind(const struct price_audit *a, const int *nodes, int count)
{
    const struct cluster *c = &a->problem->cluster;
    int best = NO_KIND;
    long double best_rate = 0;
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++) {
        long double slowest = -1, latency = 0;
        for (int i = 0; i < count; i++) {
            int group = c->places.nodes[nodes[i]].group;
            if (!c->groups[group].nic_count) continue;
            long double rate = card_rate(&c->groups[group], kind, layout_of(a)->tensor, false,
                                         efficiency_of(&a->problem->costs, kind, true), &latency);
            if (rate > 0) rate = floorl(least(rate, 0x1p51L) + 0.5L) + 1;
            if (slowest < 0 || rate < slowest) slowest = rate;
        }
        if (slowest <= best_rate) continue;
        best_rate = slowest;
        best = kind;
    }
    return best;
}

// The kinds of network card of a group's nodes, one bit each.
static unsigned kinds_of(const struct node_group *g)
{
    unsigned kinds = 0;
    for (int i = 0; i < g->nic_count; i++) kinds |= 1u << g->nics[i].kind;
    return kinds;
}

// Of nodes without any cards those of one group are alike.
bool judged_may_ring(const struct price_audit *a, int from_group, int to_group)
{
    const struct node_group *groups = a->problem->cluster.groups;
    unsigned kinds = kinds_of(&groups[from_group]);
    bool alike = from_group == to_group || (kinds && kinds == kinds_of(&groups[to_group]));
    return alike || !a->problem->job.placement.homogeneous_groups;
}

// The nearest level whose switch both nodes hang on, or NULL.
static const struct link *level_between(const struct places *p, int from, int to)
{
    for (int level = 0; level < p->level_count; level++) {
        int one = p->nodes[from].switches[level], other = p->nodes[to].switches[level];
        if (one == other && one >= 0) return &p->levels[level].link;
    }
    return NULL;
}

// Whatever the link is, less what it has lost.
static bool degraded(const struct places *p, int from, int to, struct link *link)
{
    if (p->factors)
        link->bytes_per_s *= p->factors[(size_t)from * (size_t)p->node_count + (size_t)to];
    return true;
}

// Known between two nodes, by measurement or for their groups.
static bool is_known(const struct cluster *c, int from, int to, struct link *link)
{
    const struct places *p = &c->places;
    *link = p->measured ? p->measured[(size_t)from * (size_t)p->node_count + (size_t)to]
                        : (struct link){0, 0};
    for (int i = 0; i < c->link_count && link->bytes_per_s <= 0; i++)
        if (c->links[i].from == p->nodes[from].group && c->links[i].to == p->nodes[to].group)
            *link = c->links[i].link;
    return link->bytes_per_s > 0;
}

// A ring that leaves a node over its cards passes inside it as well, and is no better for it.
static void pass_inside(const struct price_audit *a, int group, struct link *link)
{
    link->bytes_per_s = (double)least(link->bytes_per_s, inside_rate(a, group, true));
    link->latency_s =
        (double)greatest(link->latency_s, a->problem->cluster.groups[group].intra.latency_s);
}

// One stream from a node to another, over this kind of card or OWN_KIND: the best of the two. What
// is known holds for the best; over another kind it is no better than the cards. false: nothing
// joins them.
static bool link_over(const struct price_audit *a, int from, int to, const struct passing *what,
                      int kind, struct node_link *found)
{
    const struct cluster *c = &a->problem->cluster;
    const struct places *p = &c->places;
    int groups[2] = {p->nodes[from].group, p->nodes[to].group};
    struct link *link = &found->link;
    found->what = (struct stated_for){from == to, from == to, 1};
    *link = (struct link){(double)inside_rate(a, groups[0], what->ring),
                          c->groups[groups[0]].intra.latency_s};
    if (from == to) return true;
    bool cards = c->groups[groups[0]].nic_count && c->groups[groups[1]].nic_count;
    int own = fastest_kind(a, groups[0], groups[1], what->ring),
        used = kind == OWN_KIND ? own : kind;
    struct link over = cards && used != NO_KIND ? cards_of_kind(a, groups[0], groups[1], what, used)
                                                : (struct link){0, 0};
    if (is_known(c, from, to, link)) {
        if (cards && used != own && used != NO_KIND)
            *link = (struct link){(double)least(link->bytes_per_s, over.bytes_per_s),
                                  (double)greatest(link->latency_s, over.latency_s)};
        return degraded(p, from, to, link) && link->bytes_per_s > 0;
    }
    const struct link *level = level_between(p, from, to);
    const struct passing alone = {what->ring, {1, 1}};
    *link = over;
    if (cards && link->bytes_per_s <= 0) return false;
    if (level && (!cards || level->bytes_per_s <
                                cards_of_kind(a, groups[0], groups[1], &alone, used).bytes_per_s)) {
        *link = *level;
        if (cards && over.bytes_per_s < level->bytes_per_s) link->bytes_per_s = over.bytes_per_s;
        return degraded(p, from, to, link);
    }
    if (!cards) return false;
    found->what.by_cards = used == own && (!what->ring || groups[0] == groups[1]);
    if (what->ring) found->what.rings = larger(what->rings[0], what->rings[1]);
    degraded(p, from, to, link);
    for (int end = 0; end < 2 && what->ring; end++) pass_inside(a, groups[end], link);
    return true;
}

bool judged_node_link(const struct price_audit *a, int from, int to, struct node_link *link)
{
    const struct passing message = {false, {0, 0}};
    return link_over(a, from, to, &message, OWN_KIND, link);
}

bool judged_ring_part(const struct price_audit *a, int from, int to, const int64_t rings[2],
                      int kind, struct node_link *link)
{
    const struct passing ring = {true, {rings[0], rings[1]}};
    return link_over(a, from, to, &ring, kind, link);
}
