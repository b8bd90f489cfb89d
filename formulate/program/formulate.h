// From choices to a MILP: one binary per choice, flows over boundaries, level columns for
// branching, rows of memory if stages share a rank's devices.
#ifndef PLUMBLINE_FORMULATE_PROGRAM_FORMULATE_H
#define PLUMBLINE_FORMULATE_PROGRAM_FORMULATE_H

#include "data/inputs/problem.h"
#include "data/program/milp.h"
#include "formulate/choices/choices.h"
#include "formulate/graph/longest.h"

struct formulation {
    struct milp milp;
    const struct choices *choices;
    int *symbol_column;  // [symbol_count], -1: the symbol is zero in every plan
    int **choice_column; // [stage][choice]
    int **level_column;  // [stage][level], levels 1..level_count-1; level 0 is always reached: -1
    int64_t **level_load_ns; // [stage][level], ascending distinct loads of the stage's choices
    int *level_count; // [stage]; 0 if ranks have several stages: their loads are summed, and there
                      // is no such column
    int64_t **working_bytes; // [rank][level]: sizes of COLUMN_WORKING; NULL if the rank has no row
                             // of memory
    int *resource_row; // [group, then budget of boundaries, stages, cost, energy]: the row of its
                       // limit; -1: it cannot bind
    int path_row_count;
};

// The program without path rows. Column bounds are tight: a symbol's bounds are its minimum and
// maximum over the choices. time_upper_ns is the upper bound of column 0 (the time of an incumbent,
// or a sum that no plan exceeds).
enum status formulate_choices(struct formulation *f, const struct choices *c, int64_t time_upper_ns,
                              struct arena *arena, struct error *err);
// Adds laps x T >= counts . symbols, with counts as graph_longest returns them; returns the row's
// index.
int formulate_add_path(struct formulation *f, const int *counts);

// Exact writers: every number is a decimal in the units of units.h, and never rounded. BAD_INPUT:
// the file cannot be written.
enum status milp_write_mps(const struct milp *m, const char *path, struct arena *arena,
                           struct error *err);
enum status milp_write_lp(const struct milp *m, const char *path, struct arena *arena,
                          struct error *err);
// By the ending of the name; "-": LP on standard output. Check the name before the work: BAD_INPUT
// for another ending or a place that cannot be written; option is the name that the user knows it
// by.
enum status milp_write(const struct milp *m, const char *path, struct arena *arena,
                       struct error *err);
enum status milp_check_name(const char *path, const char *option, struct error *err);
// The meaning of every column, the units, and which choices were removed and why: JSON. problem is
// what the map says it was made from; NULL: nothing.
enum status formulation_write_map(const struct formulation *f, const char *path,
                                  const struct problem *problem, struct arena *arena,
                                  struct error *err);

#endif
