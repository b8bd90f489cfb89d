// What a layout's messages and rings get of the links between nodes: places.h with the costs'
// efficiencies and with the sharing among the device groups (tensor x context devices) of a node.
// Pricing asks here, and so do the reports of a plan: what they show is what was priced
// (docs/FORMULAS.md section 15).
#ifndef PLUMBLINE_DATA_INPUTS_PLACES_USE_H
#define PLUMBLINE_DATA_INPUTS_PLACES_USE_H

#include "data/places/places.h"
#include "data/inputs/problem.h"

// Device groups of the job's layout that a node holds.
int places_slots(const struct problem *p, int node);

// From a node to another, or (from = to) from one of its device groups to another: a message
// between stages, or a part of a ring of gradient syncs. false: nothing joins them.
bool places_used_link(struct place_link *to, const struct problem *p, int from, int to_node,
                      bool ring);

// The same of a ring over this transport (places.h): what all its nodes have in common.
bool places_ring_link(struct place_link *to, const struct problem *p, int from, int to_node,
                      int transport);

// What a ring's stream of a group's node gets of its cards (places_card_rate), and the transport of
// a ring over these nodes.
int64_t places_ring_rate(const struct problem *p, int group, int transport);
int places_transport(const struct problem *p, const int *nodes, int count);

// "measured", "stated", "level rack", "cards infiniband", "inside"
const char *place_origin_text(const struct place_link *l, const struct places *p,
                              struct arena *arena);

#endif
