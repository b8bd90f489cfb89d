// What joins nodes, by the judge's own reading of places (docs/FORMULAS.md section 15). Nodes are
// indices into the cluster's places, groups are the cluster's.
#pragma once

#include "solve/judge/price/verify_price.h"

// Device groups (tensor x context devices) on one node of the group.
int64_t judged_slots_on(const struct price_audit *a, int group);

// The kind of network card that a ring over these nodes uses; NO_KIND: their cards have none in
// common.
int judged_ring_kind(const struct price_audit *a, const int *nodes, int count);

// Whether the job allows nodes of the two groups to be neighbours in a ring.
bool judged_may_ring(const struct price_audit *a, int from_group, int to_group);

// One stream of a message between stages, over the fastest kind of card for the two.
struct joint judged_node_link(const struct price_audit *a, int from, int to);
// One stream of a ring over this kind of card, or OWN_KIND, where so many rings leave each of the
// two nodes.
struct joint judged_ring_part(const struct price_audit *a, int from, int to, const int64_t rings[2],
                              int kind);
