// One replica on nodes is the problem of ranks on groups with every node a group of its own: no
// ring joins nodes, and the engines for groups treat slots, links between groups and layers
// together. Up to GROUPS_MAX nodes.
#pragma once

#include "solve/places/placed.h"

bool placed_is_single(const struct placed *p);

// Raises *bound_ns, already proven, to what is proven of all placed plans, at most best's time
// (INT64_MAX: there is no plan); `best` may improve. The settings used are gap, cut-off, time
// limit, threads, seed, boxes_max, memory of workers and evidence: if the bound rose and evidence
// was requested, *evidence is what the bound rests on.
struct solve_settings;
struct solve_evidence;
enum status placed_single(struct placed *p, struct placed_plan *best, int64_t *bound_ns,
                          struct solve_evidence **evidence, const struct solve_settings *settings,
                          const volatile int *stop, struct arena *arena, struct error *err);
