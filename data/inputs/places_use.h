// What a layout's messages and rings get of the links between nodes: places.h with the costs'
// efficiencies and with the sharing of a node's cards.
// Both pricing and the reports of a plan use this, so reports show what was priced
// (docs/FORMULAS.md section 15).
#pragma once

#include "data/places/places.h"
#include "data/inputs/problem.h"

// Device groups of the job's layout that fit on a node.
int places_slots(const struct problem *p, int node);

// Within a node of the group: for a ring of so many ranks, so far apart in the order of ranks, or
// for a message (ranks 0).
struct place_link places_inside_link(const struct problem *p, int group, int64_t ranks,
                                     int64_t apart);

// Between unnamed nodes of two groups or of one group: for a message between stages, or for a ring
// or exchange, with the traffic at that time. false: no link connects them.
bool places_used_group_link(struct place_link *to, const struct problem *p, int from, int to_group,
                            const struct place_traffic *traffic, bool ring);

// From a node to another, or (from = to) between two of its device groups: for a message between
// stages, or for a part of a ring of gradient syncs that is the only ring to leave either node.
// false: no link connects them.
bool places_used_link(struct place_link *to, const struct problem *p, int from, int to_node,
                      bool ring);

// For a part of a ring over this transport (places.h), which all its nodes have in common. rings:
// the number of pipeline ranks whose rings leave either node.
bool places_ring_link(struct place_link *to, const struct problem *p, int from, int to_node,
                      const int rings[2], int transport);

// What a ring's stream of a group's node gets of its cards: alone (places_card_rate), or if `rings`
// rings leave the node (places_card_share). And the transport of a ring over these nodes.
int64_t places_ring_rate(const struct problem *p, int group, int transport);
double places_ring_share(const struct problem *p, int group, int transport, int rings);
int places_transport(const struct problem *p, const int *nodes, int count);

// rings[node]: the number of ranks whose ring leaves the node, that is, with one replica's rank on
// the node and another's elsewhere; node[replica * ranks + rank], -1: nowhere yet.
void places_leaving_rings(int *rings, int node_count, const int *node, int replicas, int ranks);

// "measured", "stated", "level rack", "cards infiniband", "inside"
const char *place_origin_text(const struct place_link *l, const struct places *p,
                              struct arena *arena);
