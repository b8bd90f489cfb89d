// Links between the nodes of a cluster with places: as measured; otherwise as stated for their
// groups; otherwise the fastest kind of network card that both nodes have (InfiniBand to RoCE falls
// back to Ethernet), limited by the network level that they share.
#pragma once

#include "data/places/cluster.h"

enum { PLACES_MAX = 4096 };
#define PLACES_FACTOR_LEAST 1e-9
#define PLACES_FACTOR_MOST 1e9

enum place_origin { PLACE_MEASURED, PLACE_STATED, PLACE_LEVEL, PLACE_CARDS, PLACE_INSIDE };

struct place_link {
    struct link link;        // for one stream
    long double bytes_per_s; // the same, as exact as the prices that are computed from it
    enum place_origin
        origin; // PLACE_CARDS: includes efficiency and sharing; the others are used as they are
    enum nic_kind nic;       // the common kind; NIC_KIND_COUNT: not determined
    int level;               // that both share; level_count: none
    double sums_bytes_per_s; // of PLACE_INSIDE, of sums in switches; 0: these do not add up
};

static inline void place_link_set(struct place_link *to, long double bytes_per_s, double latency_s)
{
    to->bytes_per_s = bytes_per_s;
    to->link = (struct link){(double)bytes_per_s, latency_s};
}

// Simultaneous traffic: streams[0] messages leave the first node through its cards and streams[1]
// reach the second, each through one card. With rings (rings[0] > 0): rings[i] rings leave each
// node, each with streams[i] streams, which have channels on all cards. The kind of card is the
// fastest for one ring.
struct place_traffic {
    int streams[2], rings[2];
};

int places_find(const struct places *p, const char *name); // -1: no such node

// Whether nodes of the two groups have the same kinds of network card. A group that states none is
// only like itself.
bool places_alike(const struct cluster *c, int group_a, int group_b);

double places_factor(const struct places *p, int from,
                     int to); // on the bandwidth; places_link includes it

// The link between nodes of two groups, or of one group, as stated for the groups or by their
// cards, as in a cluster whose nodes have no names. false: no link connects them.
bool places_group_link(struct place_link *to, const struct cluster *c, int from, int to_group,
                       const struct place_traffic *traffic, const double *efficiency);

// The link from node a to node b, a != b; efficiency[NIC_KIND_COUNT] of nominal bandwidths. false:
// no link connects them.
bool places_link(struct place_link *to, const struct cluster *c, int a, int b,
                 const struct place_traffic *traffic, const double *efficiency);

// The same over one kind of card, as one link of a group that has this kind in common. A link that
// is known (measured, stated) only for the fastest kind of the two ends is then no better than such
// cards. TRANSPORT_NONE: cards provide nothing, and known links are used as they are. Ends without
// cards are joined as they are in any case.
enum { TRANSPORT_OWN = -1, TRANSPORT_NONE = NIC_KIND_COUNT, TRANSPORT_COUNT };
bool places_link_over(struct place_link *to, const struct cluster *c, int a, int b,
                      const struct place_traffic *traffic, const double *efficiency, int transport);

// What a ring's stream of a node gets of its cards if the ring is the only one that leaves the
// node, in whole bytes per second. A ring uses the transport whose minimum over its nodes is
// greatest (the first of equal ones). 0: the node has no such cards; CARD_RATE_ANY: it states no
// cards at all; TRANSPORT_NONE: 1, less than any cards.
#define CARD_RATE_ANY ((int64_t)1 << 52)
int64_t places_card_rate(const struct node_group *g, int transport, int streams,
                         const double *efficiency);

// The same if `streams` streams share the cards, not rounded; 0: the node has none of them.
double places_card_share(const struct node_group *g, int transport, int streams,
                         const double *efficiency);
