// What joins two nodes in one direction: measured, stated, or what their network cards have in
// common below the level they share. A ring is one group: all its links go over one kind of card,
// also where two neighbours have a faster one in common.
#include "data/places/places.h"

#include <math.h>

#define TIE 1e-12 // relative: less is rounding

static const struct link *measured_link(const struct places *p, int from, int to)
{
    return &p->measured[(size_t)from * (size_t)p->node_count + (size_t)to];
}

// Bandwidth of the cards of `kind` in a node for each of `streams` messages at once, and their
// latency; 0: it has none.
static struct link card_link(const struct node_group *g, enum nic_kind kind, int streams,
                             bool spread, const double *efficiency)
{
    for (int i = 0; i < g->nic_count; i++) {
        const struct nic *n = &g->nics[i];
        if (n->kind != kind) continue;
        int shared = spread || streams > n->count ? streams : n->count;
        return (struct link){n->count * n->link.bytes_per_s * efficiency[kind] / shared,
                             n->link.latency_s};
    }
    return (struct link){0, 0};
}

static int rings_of(const struct place_traffic *t, int end)
{
    return t->rings[end] ? t->rings[end] : 1;
}

static struct link link_over(const struct node_group *a, const struct node_group *b,
                             const struct place_traffic *t, const double *efficiency,
                             enum nic_kind kind)
{
    bool spread = t->rings[0] > 0;
    struct link from = card_link(a, kind, t->streams[0] * rings_of(t, 0), spread, efficiency),
                to = card_link(b, kind, t->streams[1] * rings_of(t, 1), spread, efficiency);
    return (struct link){from.bytes_per_s < to.bytes_per_s ? from.bytes_per_s : to.bytes_per_s,
                         from.latency_s > to.latency_s ? from.latency_s : to.latency_s};
}

// The same where no other ring leaves the nodes.
static struct place_traffic alone(const struct place_traffic *t)
{
    return (struct place_traffic){{t->streams[0], t->streams[1]},
                                  {t->rings[0] > 0, t->rings[1] > 0}};
}

// The kind that both ends have and that is fastest between them for one ring, or for the messages;
// NIC_KIND_COUNT: none.
static enum nic_kind common_kind(const struct node_group *a, const struct node_group *b,
                                 const struct place_traffic *t, const double *efficiency)
{
    const struct place_traffic one = alone(t);
    enum nic_kind best = NIC_KIND_COUNT;
    double best_rate = 0;
    for (int k = 0; k < NIC_KIND_COUNT; k++) {
        double rate = link_over(a, b, &one, efficiency, (enum nic_kind)k).bytes_per_s;
        if (rate <= best_rate * (1 + TIE)) continue;
        best_rate = rate;
        best = (enum nic_kind)k;
    }
    return best;
}

// The nearest; level_count: none
static int places_shared_level(const struct places *p, int a, int b)
{
    for (int k = 0; k < p->level_count; k++)
        if (p->nodes[a].switches[k] >= 0 && p->nodes[a].switches[k] == p->nodes[b].switches[k])
            return k;
    return p->level_count;
}

// Measured or stated between the two; NULL: neither.
static const struct link *known_link(const struct cluster *c, int a, int b,
                                     enum place_origin *origin)
{
    const struct places *p = &c->places;
    *origin = PLACE_MEASURED;
    if (p->measured && measured_link(p, a, b)->bytes_per_s > 0) return measured_link(p, a, b);
    *origin = PLACE_STATED;
    for (int i = 0; i < c->link_count; i++)
        if (c->links[i].from == p->nodes[a].group && c->links[i].to == p->nodes[b].group)
            return &c->links[i].link;
    return NULL;
}

// A known link is one over the fastest kind that the two have in common; over another it is no
// better than that.
static struct link slower_of(const struct link *known, const struct link *cards)
{
    return (struct link){known->bytes_per_s < cards->bytes_per_s ? known->bytes_per_s
                                                                 : cards->bytes_per_s,
                         known->latency_s > cards->latency_s ? known->latency_s : cards->latency_s};
}

static bool whole_link(struct place_link *to, const struct cluster *c, int a, int b,
                       const struct place_traffic *traffic, const double *efficiency, int transport)
{
    const struct places *p = &c->places;
    const struct node_group *from_group = &c->groups[p->nodes[a].group],
                            *to_group = &c->groups[p->nodes[b].group];
    *to = (struct place_link){.nic = NIC_KIND_COUNT, .level = places_shared_level(p, a, b)};
    const struct link *known = known_link(c, a, b, &to->origin);
    bool cards = from_group->nic_count && to_group->nic_count;
    enum nic_kind own = common_kind(from_group, to_group, traffic, efficiency);
    bool other = cards && transport != TRANSPORT_OWN && transport != (int)own;
    enum nic_kind used = other ? (enum nic_kind)transport : own;
    struct link over = link_over(from_group, to_group, traffic, efficiency, used);
    if (known) {
        to->link = other && transport != TRANSPORT_NONE ? slower_of(known, &over) : *known;
        return to->link.bytes_per_s > 0;
    }
    if (cards && !(over.bytes_per_s > 0)) return false;
    to->origin = PLACE_CARDS;
    to->link = over;
    to->nic = used;
    const struct place_traffic one = alone(traffic);
    double cards_alone = link_over(from_group, to_group, &one, efficiency, used).bytes_per_s;
    if (to->level < p->level_count &&
        (!cards || p->levels[to->level].link.bytes_per_s < cards_alone)) {
        to->origin = PLACE_LEVEL;
        to->link = p->levels[to->level].link;
        if (cards) to->link.bytes_per_s = fmin(to->link.bytes_per_s, over.bytes_per_s);
    }
    return to->link.bytes_per_s > 0;
}

bool places_link_over(struct place_link *to, const struct cluster *c, int a, int b,
                      const struct place_traffic *traffic, const double *efficiency, int transport)
{
    bool joined = whole_link(to, c, a, b, traffic, efficiency, transport);
    to->link.bytes_per_s *= places_factor(&c->places, a, b);
    return joined;
}

bool places_link(struct place_link *to, const struct cluster *c, int a, int b,
                 const struct place_traffic *traffic, const double *efficiency)
{
    return places_link_over(to, c, a, b, traffic, efficiency, TRANSPORT_OWN);
}

// ---- groups

static bool has_cards(const struct node_group *g, enum nic_kind kind)
{
    for (int i = 0; i < g->nic_count; i++)
        if (g->nics[i].kind == kind) return true;
    return false;
}

bool places_alike(const struct cluster *c, int group_a, int group_b)
{
    const struct node_group *a = &c->groups[group_a], *b = &c->groups[group_b];
    if (group_a == group_b) return true;
    bool alike = a->nic_count > 0;
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++)
        alike = alike && has_cards(a, (enum nic_kind)kind) == has_cards(b, (enum nic_kind)kind);
    return alike;
}

double places_card_share(const struct node_group *g, int transport, int streams,
                         const double *efficiency)
{
    return card_link(g, (enum nic_kind)transport, streams, true, efficiency).bytes_per_s;
}

int64_t places_card_rate(const struct node_group *g, int transport, int streams,
                         const double *efficiency)
{
    if (transport == TRANSPORT_NONE) return 1;
    if (!g->nic_count) return CARD_RATE_ANY;
    double rate = places_card_share(g, transport, streams, efficiency);
    return rate > 0 ? (int64_t)fmin(floor(rate + 0.5), 0x1p51) + 2 : 0;
}
