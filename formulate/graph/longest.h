// The longest path through a schedule's graph for given durations, and how often each symbol occurs
// on it: the solver's own walk. Its length is the iteration time; its counts are a row of the MILP,
// valid for every plan of the layout.
#ifndef PLUMBLINE_FORMULATE_GRAPH_LONGEST_H
#define PLUMBLINE_FORMULATE_GRAPH_LONGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "data/schedule/schedule.h"

struct graph; // a schedule compiled for walking: topological order, predecessors, symbols

enum status graph_compile(struct graph **graph, const struct schedule *schedule,
                          struct arena *arena, struct error *err);
int graph_symbol_count(const struct graph *g);

// durations[symbol_count] >= 0, in any integer unit whose sums stay below 2^62 (fractional
// durations are scaled by the caller). Returns the iteration time. counts[symbol_count + 1], if not
// NULL, receives the occurrences on one longest path, and last how many iterations it goes through:
// its laps. With a barrier that is 1 and sum(counts x durations) the time. Without one the time is
// the period of the graph repeated for ever, set by the cycle whose length per lap is greatest:
// ceil(sum(counts x durations) / laps). Ties are broken by the graph alone: same durations, same
// path.
int64_t graph_longest(struct graph *g, const int64_t *durations, int *counts);

// From here on the operations of every path that counts were asked for are kept in this arena: in
// order of time, once for each distinct counts; of a cycle all its laps. NULL: none is known.
void graph_keep_paths(struct graph *g, struct arena *arena);
bool graph_keeps_paths(const struct graph *g);
// One more, which another process met.
void graph_remember_path(struct graph *g, const int *counts, const int *operations,
                         int operation_count);
const int *graph_path_operations(const struct graph *g, const int *counts, int *operation_count);

// Whether the paths that end at different places are all the paths there are: so it is with loads.
// They are then the starting rows, and complete.
bool graph_is_chains(const struct graph *g);

// Starting rows: counts of the critical paths when the stages a..b, or the transfers between them,
// are made heavy, for all a <= b (of ranks, where they hold several stages). Distinct ones: paths[i
// * (symbol_count + 1) + symbol], behind each its laps; returns how many, at least one. should_stop
// (may be NULL), asked before each but the first: true leaves the others out.
int graph_starting_paths(struct graph *g, int **paths, bool (*should_stop)(void *argument),
                         void *argument, struct arena *arena);

#endif
