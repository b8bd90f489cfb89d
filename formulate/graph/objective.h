// The objective as a graph: the longest path for a plan's durations is the value of the objective.
// Everything that proves a bound (paths, boxes, tree) works on this graph; memory and the plan's
// claims come from the schedule itself.
#pragma once

#include "data/results/plan.h"
#include "formulate/graph/longest.h"

// The schedule's own graph if the iteration time is minimised; the loads of one micro-batch for
// "max_load".
enum status objective_graph(struct graph **graph, const struct priced *p,
                            const struct schedule *schedule, struct arena *arena,
                            struct error *err);

// The same with the loads of all micro-batches of an iteration: m x load. These can be compared
// between layouts, since m micro-batches of all replicas are the global batch.
enum status objective_batch_graph(struct graph **graph, const struct priced *p,
                                  const struct schedule *schedule, struct arena *arena,
                                  struct error *err);

// For a plan whose iteration_ns holds the value of the objective: moves that value to objective_ns
// and sets iteration_ns to the iteration time, by a walk of the schedule. Does nothing if the two
// are the same. Without stages, only the objective is named.
enum status objective_state(struct plan *plan, const struct priced *p,
                            const struct schedule *schedule, struct arena *arena,
                            struct error *err);

// For a plan whose iteration_ns and bound_ns come from such a graph: as above, with both values for
// one micro-batch and the bound rounded down.
enum status objective_state_batch(struct plan *plan, const struct priced *p,
                                  const struct schedule *schedule, struct arena *arena,
                                  struct error *err);

// The durations of a plan's decision at these prices, by symbol; false: it cannot be priced.
bool objective_durations(int64_t *durations, const struct plan *plan, const struct priced *p,
                         const struct schedule *schedule, struct arena *arena);
// Of a plan's decision: what memories use, where the prices state it.
int64_t objective_energy_uj(const struct plan *plan, const struct priced *p,
                            const struct schedule *schedule, struct arena *arena);
// The iteration time of a plan's decision at these prices, by a walk over a graph of its schedule;
// 0: it cannot be priced.
int64_t objective_iteration_ns(const struct plan *plan, const struct priced *p,
                               const struct schedule *schedule, struct graph *graph,
                               struct arena *arena);
