// What joins nodes by the judge's own reading of places (docs/FORMULAS.md section 15). Nodes are
// told by their indices in the cluster's places, groups are the cluster's.
#ifndef PLUMBLINE_SOLVE_JUDGE_PLACES_H
#define PLUMBLINE_SOLVE_JUDGE_PLACES_H

#include "solve/judge/price/verify_price.h"

// Rates of links between nodes are held in double: three roundings of a half of 2^-52 each.
#define NODE_LINK_ERROR 0x1p-50L

// Device groups (tensor x context devices) of one of the group's nodes.
int64_t judged_slots_on(const struct price_audit *a, int group);

// The kind of network card that a ring over these nodes goes over; NO_KIND: their cards have none
// in common.
enum { NO_KIND = NIC_KIND_COUNT, OWN_KIND };
int judged_ring_kind(const struct price_audit *a, const int *nodes, int count);

// Whether the job lets nodes of the two groups be neighbours in a ring.
bool judged_may_ring(const struct price_audit *a, int from_group, int to_group);

// One stream; false: nothing joins them. kind: that the ring goes over; of messages OWN_KIND.
bool judged_link_over(const struct price_audit *a, int from, int to, bool ring, int kind,
                      struct link *link);
// Over the kind that is fastest for the two.
bool judged_node_link(const struct price_audit *a, int from, int to, bool ring, struct link *link);

#endif
