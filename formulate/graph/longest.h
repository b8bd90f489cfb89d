// The longest path through a schedule's graph for given durations, and the number of times that
// each symbol occurs on it: the solver's own walk. Its length is the iteration time. Its counts are
// a row of the MILP, valid for every plan of the layout.
#pragma once

#include "data/schedule/schedule.h"

struct graph; // a schedule compiled for walks: topological order, predecessors, symbols

enum status graph_compile(struct graph **graph, const struct schedule *schedule,
                          struct arena *arena, struct error *err);
int graph_symbol_count(const struct graph *g);

// durations[symbol_count] >= 0, in any integer unit in which sums stay below 2^62 (the caller
// scales fractional durations). Returns the iteration time. counts[symbol_count + 1], if not NULL,
// receives the occurrences on one longest path and, as the last value, the number of iterations
// that the path goes through: its laps. With a barrier that is 1, and sum(counts x durations) is
// the time. Without a barrier, the time is the period of the graph repeated for ever. It is set by
// the cycle with the greatest length per lap: ceil(sum(counts x durations) / laps). Ties are broken
// by the graph alone: the same durations give the same path.
int64_t graph_longest(struct graph *g, const int64_t *durations, int *counts);

// From now on, keeps in this arena the operations of every path whose counts were requested: in
// order of time, once for each distinct counts; for a cycle, all its laps.
void graph_keep_paths(struct graph *g, struct arena *arena);
bool graph_keeps_paths(const struct graph *g);
// Adds a path that another process found.
void graph_remember_path(struct graph *g, const int *counts, const int *operations,
                         int operation_count);
// NULL: the path is not known.
const int *graph_path_operations(const struct graph *g, const int *counts, int *operation_count);

// Paths that a caller found from these durations, for whoever comes to look for the same ones; they
// outlast what the caller allocates. Recalled: how many; 0: none, or operations are kept by now.
void graph_note_paths(struct graph *g, const int64_t *durations, const int *paths, int count);
int graph_recall_paths(const struct graph *g, const int64_t *durations, const int **paths);

// Whether the paths that end at different nodes are all the paths there are, as is the case with
// loads. They are then the starting rows, and complete.
bool graph_is_chains(const struct graph *g);

// Starting rows: counts of the critical paths when the stages a..b, or the transfers between them,
// are made heavy, for all a <= b (of ranks, if they hold several stages). All are distinct: paths[i
// * (symbol_count + 1) + symbol], each followed by its laps. Returns their number, at least one.
// should_stop (may be NULL) is called before each except the first; if it returns true, the
// remaining ones are left out.
int graph_starting_paths(struct graph *g, int **paths, bool (*should_stop)(void *argument),
                         void *argument, struct arena *arena);
