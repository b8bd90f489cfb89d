// What is made least, as a graph: its longest path for a plan's durations is the objective's value.
// Everything that proves a bound (paths, boxes, tree) works on this graph; memory and the plan's
// claims come from the schedule itself.
#ifndef PLUMBLINE_FORMULATE_GRAPH_OBJECTIVE_H
#define PLUMBLINE_FORMULATE_GRAPH_OBJECTIVE_H

#include "data/results/plan.h"
#include "data/priced/priced.h"
#include "formulate/graph/longest.h"

// The schedule's own graph where the iteration time is made least; the loads of one micro-batch for
// "max_load".
enum status objective_graph(struct graph **graph, const struct priced *p,
                            const struct schedule *schedule, struct arena *arena,
                            struct error *err);

// The same with the loads of all micro-batches of an iteration: m x load. Those of different
// layouts compare, since m micro- batches of all replicas are the global batch.
enum status objective_batch_graph(struct graph **graph, const struct priced *p,
                                  const struct schedule *schedule, struct arena *arena,
                                  struct error *err);

// Of a plan whose iteration_ns holds the objective's value: moves that to objective_ns and puts the
// iteration time there, by a walk of the schedule. Nothing to do where the two are the same;
// without stages only the objective is named.
enum status objective_state(struct plan *plan, const struct priced *p,
                            const struct schedule *schedule, struct arena *arena,
                            struct error *err);

// Of a plan whose iteration_ns and bound_ns are of such a graph: as above, both for one
// micro-batch, the bound rounded down.
enum status objective_state_batch(struct plan *plan, const struct priced *p,
                                  const struct schedule *schedule, struct arena *arena,
                                  struct error *err);

// The iteration time of a plan's decision at these prices, walked over a graph of its schedule; 0:
// it cannot be priced.
int64_t objective_iteration_ns(const struct plan *plan, const struct priced *p,
                               const struct schedule *schedule, struct graph *graph,
                               struct arena *arena);

#endif
