// What joins two nodes, by the judge's own reading of places (docs/FORMULAS.md section 15):
// measured, stated, a level of switches, or cards; for a ring, over the kind of card that all its
// nodes have.

#include "data/base/least.h"
#include "solve/judge/places.h"

int64_t judged_slots_on(const struct price_audit *a, int group)
{
    return a->problem->cluster.groups[group].gpus_per_node / a->collective;
}

// A ring is one group and uses one kind of card: among the kinds that all its nodes have, the one
// whose slowest card is fastest, in whole bytes per second. Nodes without cards accept any kind.
// NO_KIND: they have none in common.
int judged_ring_kind(const struct price_audit *a, const int *nodes, int count)
{
    const struct cluster *c = &a->problem->cluster;
    int best = NO_KIND;
    long double best_rate = 0;
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++) {
        long double slowest = -1;
        for (int i = 0; i < count; i++) {
            int group = c->places.nodes[nodes[i]].group;
            if (!c->groups[group].nic_count) continue;
            long double rate = judged_card_rate(a, group, kind, layout_of(a)->tensor, false, false);
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

// Nodes without cards may form a ring only within one group.
bool judged_may_ring(const struct price_audit *a, int from_group, int to_group)
{
    const struct node_group *groups = a->problem->cluster.groups;
    unsigned kinds = kinds_of(&groups[from_group]);
    bool alike = from_group == to_group || (kinds && kinds == kinds_of(&groups[to_group]));
    return alike || !a->problem->job.placement.homogeneous_groups;
}

// The nearest level with a switch above both nodes, or NULL.
static const struct link *level_between(const struct places *p, int from, int to)
{
    for (int level = 0; level < p->level_count; level++) {
        int one = p->nodes[from].switches[level], other = p->nodes[to].switches[level];
        if (one == other && one >= 0) return &p->levels[level].link;
    }
    return NULL;
}

// Measured, or stated for the groups.
static struct joint known_link(const struct price_audit *a, int from, int to)
{
    const struct places *p = &a->problem->cluster.places;
    const struct link *l =
        p->measured ? &p->measured[(size_t)from * (size_t)p->node_count + (size_t)to] : NULL;
    return l && l->bytes_per_s > 0
               ? (struct joint){true, false, true, l->bytes_per_s, l->latency_s, 1}
               : judged_stated(a, p->nodes[from].group, p->nodes[to].group);
}

// Traffic between nodes of two groups: a ring, with so many rings leaving each node, or the
// messages of one stage's replicas.
static struct passing passing_of(const struct price_audit *a, const int groups[2],
                                 const int64_t *rings)
{
    struct passing what = {!rings, !rings, {0, 0}};
    for (int end = 0; end < 2; end++)
        what.streams[end] =
            rings ? rings[end] * layout_of(a)->tensor
                  : a->collective * smaller(judged_slots_on(a, groups[end]), layout_of(a)->data);
    return what;
}

static void slow_to(struct joint *link, long double bytes_per_s, long double latency_s)
{
    link->bytes_per_s = least(link->bytes_per_s, bytes_per_s);
    link->latency_s = greatest(link->latency_s, latency_s);
}

// One stream from one node to another over this kind of card or OWN_KIND: the better of the two. A
// known link describes the best; over another kind it is no better than the cards.
static struct joint link_over(const struct price_audit *a, int from, int to, const int64_t *rings,
                              int kind)
{
    static const int64_t one[2] = {1, 1};
    const struct cluster *c = &a->problem->cluster;
    const struct places *p = &c->places;
    const int groups[2] = {p->nodes[from].group, p->nodes[to].group};
    if (from == to)
        return judged_inside(a, groups[0],
                             rings ? (struct form){a->ranks, layout_of(a)->tensor}
                                   : (struct form){0, 0});
    const struct passing what = passing_of(a, groups, rings),
                         alone = passing_of(a, groups, rings ? one : NULL);
    bool cards = c->groups[groups[0]].nic_count && c->groups[groups[1]].nic_count, by_cards = false;
    int own = judged_fastest_kind(a, groups[0], groups[1], &alone),
        used = kind == OWN_KIND ? own : kind;
    struct joint link = known_link(a, from, to),
                 over = judged_cards(a, groups[0], groups[1], &what, used);
    const struct link *level = level_between(p, from, to);
    if (link.joined) {
        if (cards && used != own && used != NO_KIND)
            slow_to(&link, over.bytes_per_s, over.latency_s);
    } else if (cards && !over.joined) {
        return over;
    } else if (level &&
               (!cards ||
                !judged_reaches(a, level->bytes_per_s,
                                judged_cards(a, groups[0], groups[1], &alone, used).bytes_per_s))) {
        link = (struct joint){true, false, true, level->bytes_per_s, level->latency_s, 1};
        if (cards) slow_to(&link, over.bytes_per_s, 0);
    } else {
        link = over;
        link.stated = used != own || (rings && groups[0] != groups[1]);
        by_cards = true;
    }
    if (p->factors)
        link.bytes_per_s *= p->factors[(size_t)from * (size_t)p->node_count + (size_t)to];
    if (rings && by_cards) {
        link.rings = larger(rings[0], rings[1]);
        link.per_node = c->groups[groups[0]].gpus_per_node;
        for (int end = 0; end < 2; end++) link = judged_pass_inside(a, groups[end], link);
    }
    link.joined = link.joined && link.bytes_per_s > 0;
    return link;
}

struct joint judged_node_link(const struct price_audit *a, int from, int to)
{
    return link_over(a, from, to, NULL, OWN_KIND);
}

struct joint judged_ring_part(const struct price_audit *a, int from, int to, const int64_t rings[2],
                              int kind)
{
    return link_over(a, from, to, rings, kind);
}
