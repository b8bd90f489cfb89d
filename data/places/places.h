// Links between the nodes of a cluster with places: what was measured, else what is stated for
// their groups, else the fastest kind of network card that both have (InfiniBand to RoCE falls back
// to Ethernet), no faster than the network level they share.
#ifndef PLUMBLINE_DATA_PLACES_PLACES_H
#define PLUMBLINE_DATA_PLACES_PLACES_H

#include <stdbool.h>

#include "data/places/cluster.h"

enum { PLACES_MAX = 4096 };
#define PLACES_FACTOR_LEAST 1e-9
#define PLACES_FACTOR_MOST 1e9

enum place_origin { PLACE_MEASURED, PLACE_STATED, PLACE_LEVEL, PLACE_CARDS, PLACE_INSIDE };

struct place_link {
    struct link link;        // of one stream
    long double bytes_per_s; // of it, as exact as the prices that are made of it
    enum place_origin
        origin; // PLACE_CARDS: efficiency and sharing are in it; the others are taken as they are
    enum nic_kind nic; // the common kind; NIC_KIND_COUNT: not asked
    int level;         // that both share; level_count: none
};

static inline void place_link_set(struct place_link *to, long double bytes_per_s, double latency_s)
{
    to->bytes_per_s = bytes_per_s;
    to->link = (struct link){(double)bytes_per_s, latency_s};
}

// What passes at once: streams[0] messages leave the first node through its cards, streams[1] reach
// the second, each through one card. Of rings (rings[0] > 0) so many leave either node, each of as
// many streams, which have channels on all cards. The kind of card is what is fastest for one ring.
struct place_traffic {
    int streams[2], rings[2];
};

int places_find(const struct places *p, const char *name); // -1: no such node

// Whether nodes of the two groups have the same kinds of network card. A group that states none is
// like itself alone.
bool places_alike(const struct cluster *c, int group_a, int group_b);

double places_factor(const struct places *p, int from,
                     int to); // on the bandwidth; it is in places_link's answer

// The link between nodes of two groups, or of one, by what is stated for the groups or by their
// cards: that of a cluster whose nodes have no names. false: nothing joins them.
bool places_group_link(struct place_link *to, const struct cluster *c, int from, int to_group,
                       const struct place_traffic *traffic, const double *efficiency);

// The link from node a to node b, a != b; efficiency[NIC_KIND_COUNT] of nominal bandwidths. false:
// nothing joins them.
bool places_link(struct place_link *to, const struct cluster *c, int a, int b,
                 const struct place_traffic *traffic, const double *efficiency);

// The same over one kind of card, as one link of a group that has this in common: a link that is
// known (measured, stated) for the fastest kind of the two ends alone is then no better than such
// cards. TRANSPORT_NONE: cards give nothing, what is known is taken as it is. Ends without cards
// are joined as they are in any case.
enum { TRANSPORT_OWN = -1, TRANSPORT_NONE = NIC_KIND_COUNT, TRANSPORT_COUNT };
bool places_link_over(struct place_link *to, const struct cluster *c, int a, int b,
                      const struct place_traffic *traffic, const double *efficiency, int transport);

// What a ring's stream of a node gets of its cards where the ring is the only one that leaves the
// node, in whole bytes per second: a ring goes over the transport whose least among its nodes is
// greatest (the first of equals). 0: the node has no such cards; CARD_RATE_ANY: it states none at
// all; TRANSPORT_NONE: 1, less than any cards.
#define CARD_RATE_ANY ((int64_t)1 << 52)
int64_t places_card_rate(const struct node_group *g, int transport, int streams,
                         const double *efficiency);

// The same where so many streams share the cards, not rounded; 0: the node has none of them.
double places_card_share(const struct node_group *g, int transport, int streams,
                         const double *efficiency);

#endif
