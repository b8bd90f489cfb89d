// The link between two nodes in one direction: measured, stated, or given by the network cards that
// they have in common, limited by the level they share. A ring is one group: all its links use one
// kind of card, even if two neighbours have a faster one in common.
#include "data/places/places.h"

#include "data/base/units.h"
#include "data/places/internal.h"

struct share {
    long double bytes_per_s;
    double latency_s;
};

// Bandwidth of the cards of `kind` in a node for each of `streams` simultaneous messages, and their
// latency; 0: it has none.
static struct share card_link(const struct node_group *g, enum nic_kind kind, int streams,
                              bool spread, const double *efficiency)
{
    for (int i = 0; i < g->nic_count; i++) {
        const struct nic *n = &g->nics[i];
        if (n->kind != kind) continue;
        int shared = spread || streams > n->count ? streams : n->count;
        return (struct share){n->count * (long double)n->link.bytes_per_s * efficiency[kind] /
                                  shared,
                              n->link.latency_s};
    }
    return (struct share){0, 0};
}

static int rings_of(const struct place_traffic *t, int end)
{
    return t->rings[end] ? t->rings[end] : 1;
}

static struct share slower_of(struct share a, struct share b)
{
    return (struct share){fminl(a.bytes_per_s, b.bytes_per_s), fmax(a.latency_s, b.latency_s)};
}

static struct share link_over(const struct node_group *a, const struct node_group *b,
                              const struct place_traffic *t, const double *efficiency,
                              enum nic_kind kind)
{
    bool spread = t->rings[0] > 0;
    return slower_of(card_link(a, kind, t->streams[0] * rings_of(t, 0), spread, efficiency),
                     card_link(b, kind, t->streams[1] * rings_of(t, 1), spread, efficiency));
}

// The same if no other ring leaves the nodes.
static struct place_traffic alone(const struct place_traffic *t)
{
    return (struct place_traffic){{t->streams[0], t->streams[1]},
                                  {t->rings[0] > 0, t->rings[1] > 0}};
}

// The kind that both ends have and that is fastest between them, for one ring or for the messages;
// NIC_KIND_COUNT: none.
static enum nic_kind common_kind(const struct node_group *a, const struct node_group *b,
                                 const struct place_traffic *t, const double *efficiency)
{
    const struct place_traffic one = alone(t);
    enum nic_kind best = NIC_KIND_COUNT;
    long double best_rate = 0;
    for (int k = 0; k < NIC_KIND_COUNT; k++) {
        long double rate = link_over(a, b, &one, efficiency, (enum nic_kind)k).bytes_per_s;
        if (reaches(best_rate, rate)) continue; // a smaller one is a tie, up to rounding
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

// The link stated for two groups; NULL: none.
static const struct link *stated_link(const struct cluster *c, int from, int to)
{
    for (int i = 0; i < c->link_count; i++)
        if (c->links[i].from == from && c->links[i].to == to) return &c->links[i].link;
    return NULL;
}

// A known link holds for the fastest kind that the two ends have in common; over another kind, the
// link is no faster than cards of that kind.
static struct share over_known(const struct link *known, const struct node_group *a,
                               const struct node_group *b, const struct place_traffic *traffic,
                               const double *efficiency, int transport)
{
    struct share as_is = {known->bytes_per_s, known->latency_s};
    if (!a->nic_count || !b->nic_count || transport == TRANSPORT_OWN ||
        transport == TRANSPORT_NONE || transport == (int)common_kind(a, b, traffic, efficiency))
        return as_is;
    return slower_of(as_is, link_over(a, b, traffic, efficiency, (enum nic_kind)transport));
}

// Over cards, or over the level that both share if it is slower than the cards are for one ring.
static struct share over_cards(struct place_link *to, const struct places *p,
                               const struct node_group *a, const struct node_group *b,
                               const struct place_traffic *traffic, const double *efficiency,
                               int transport)
{
    const struct place_traffic one = alone(traffic);
    const struct link *level = to->level < p->level_count ? &p->levels[to->level].link : NULL;
    bool cards = a->nic_count && b->nic_count;
    to->origin = PLACE_CARDS;
    to->nic = cards && transport != TRANSPORT_OWN ? (enum nic_kind)transport
                                                  : common_kind(a, b, traffic, efficiency);
    struct share over = link_over(a, b, traffic, efficiency, to->nic);
    if (!level || (cards && (!(over.bytes_per_s > 0) ||
                             reaches(level->bytes_per_s,
                                     link_over(a, b, &one, efficiency, to->nic).bytes_per_s))))
        return over;
    to->origin = PLACE_LEVEL;
    return (struct share){cards ? fminl(level->bytes_per_s, over.bytes_per_s) : level->bytes_per_s,
                          level->latency_s};
}

// Between nodes of two groups that share to->level.
static bool whole_link(struct place_link *to, const struct cluster *c, int from, int to_group,
                       const struct link *measured, double factor,
                       const struct place_traffic *traffic, const double *efficiency, int transport)
{
    const struct node_group *a = &c->groups[from], *b = &c->groups[to_group];
    const struct link *known = measured ? measured : stated_link(c, from, to_group);
    to->origin = measured ? PLACE_MEASURED : PLACE_STATED;
    struct share got = known ? over_known(known, a, b, traffic, efficiency, transport)
                             : over_cards(to, &c->places, a, b, traffic, efficiency, transport);
    place_link_set(to, got.bytes_per_s * factor, got.latency_s);
    return got.bytes_per_s > 0;
}

bool places_group_link(struct place_link *to, const struct cluster *c, int from, int to_group,
                       const struct place_traffic *traffic, const double *efficiency)
{
    *to = (struct place_link){.nic = NIC_KIND_COUNT, .level = c->places.level_count};
    return whole_link(to, c, from, to_group, NULL, 1, traffic, efficiency, TRANSPORT_OWN);
}

bool places_link_over(struct place_link *to, const struct cluster *c, int a, int b,
                      const struct place_traffic *traffic, const double *efficiency, int transport)
{
    const struct places *p = &c->places;
    const struct link *measured = p->measured ? measured_link(p, a, b) : NULL;
    *to = (struct place_link){.nic = NIC_KIND_COUNT, .level = places_shared_level(p, a, b)};
    return whole_link(to, c, p->nodes[a].group, p->nodes[b].group,
                      measured && measured->bytes_per_s > 0 ? measured : NULL,
                      places_factor(p, a, b), traffic, efficiency, transport);
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
    return (double)card_link(g, (enum nic_kind)transport, streams, true, efficiency).bytes_per_s;
}

int64_t places_card_rate(const struct node_group *g, int transport, int streams,
                         const double *efficiency)
{
    if (transport == TRANSPORT_NONE) return 1;
    if (!g->nic_count) return CARD_RATE_ANY;
    long double rate =
        card_link(g, (enum nic_kind)transport, streams, true, efficiency).bytes_per_s;
    return rate > 0 ? (int64_t)fminl(floorl(rate + 0.5L), 0x1p51L) + 2 : 0;
}
