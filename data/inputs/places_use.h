// What a layout's messages and rings get of the links between nodes: places.h with the costs'
// efficiencies and with the sharing of a node's cards.
// Pricing asks here, and so do the reports of a plan: what they show is what was priced
// (docs/FORMULAS.md section 15).
#ifndef PLUMBLINE_DATA_INPUTS_PLACES_USE_H
#define PLUMBLINE_DATA_INPUTS_PLACES_USE_H

#include "data/places/places.h"
#include "data/inputs/problem.h"

// Device groups of the job's layout that a node holds.
int places_slots(const struct problem *p, int node);

// Within a node of the group.
struct place_link places_inside_link(const struct problem *p, int group, bool ring);

// Between nodes of two groups, or of one, none of which has a name: of a message between stages,
// or of a ring or exchange, with what passes at once. false: nothing joins them.
bool places_used_group_link(struct place_link *to, const struct problem *p, int from, int to_group,
                            const struct place_traffic *traffic, bool ring);

// From a node to another, or (from = to) from one of its device groups to another: a message
// between stages, or a part of a ring of gradient syncs that is the only one to leave either node.
// false: nothing joins them.
bool places_used_link(struct place_link *to, const struct problem *p, int from, int to_node,
                      bool ring);

// A part of a ring over this transport (places.h): what all its nodes have in common. rings: of
// that many ranks of the pipeline the rings leave either node.
bool places_ring_link(struct place_link *to, const struct problem *p, int from, int to_node,
                      const int rings[2], int transport);

// What a ring's stream of a group's node gets of its cards: alone (places_card_rate), or where so
// many rings leave the node (places_card_share). And the transport of a ring over these nodes.
int64_t places_ring_rate(const struct problem *p, int group, int transport);
double places_ring_share(const struct problem *p, int group, int transport, int rings);
int places_transport(const struct problem *p, const int *nodes, int count);

// rings[node]: of how many ranks the ring leaves it, which is where one replica's rank stands there
// and another's elsewhere; node[replica * ranks + rank], -1: nowhere yet.
void places_leaving_rings(int *rings, int node_count, const int *node, int replicas, int ranks);

// "measured", "stated", "level rack", "cards infiniband", "inside"
const char *place_origin_text(const struct place_link *l, const struct places *p,
                              struct arena *arena);

#endif
