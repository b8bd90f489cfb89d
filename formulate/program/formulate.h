// Choices -> MILP. Two formulations of the same problem: `choices` (one binary per choice, flows
// over boundaries, level columns to branch on, rows of memory where stages share a rank's devices)
// and `textbook` (binary layer-to-stage assignment, big-M for the groups; a cross-check).
#ifndef PLUMBLINE_FORMULATE_PROGRAM_FORMULATE_H
#define PLUMBLINE_FORMULATE_PROGRAM_FORMULATE_H

#include "data/program/milp.h"
#include "formulate/choices/choices.h"
#include "formulate/graph/longest.h"

struct formulation {
    struct milp milp;
    const struct choices *choices;
    int *symbol_column;  // [symbol_count], -1: the symbol is zero in every plan
    int **choice_column; // [stage][choice]
    int **level_column;  // [stage][level], levels 1..level_count-1; level 0 is always reached, -1
    int64_t **level_load_ns; // [stage][level], ascending distinct loads of the stage's choices
    int *level_count; // [stage]; 0 where ranks have several stages: their loads are summed up, and
                      // no column is
    int64_t **working_bytes; // [rank][level]: what COLUMN_WORKING reaches; NULL where the rank has
                             // no row of memory
    int *resource_row; // [group, then budget of boundaries, stages, cost]: the row of its limit,
                       // -1: it cannot bind
    int path_row_count;
};

// The program without path rows. Column bounds are tight: a symbol's are its least and greatest
// value over the choices. time_upper_ns is the upper bound of column 0 (an incumbent's time, or a
// sum that no plan exceeds).
enum status formulate_choices(struct formulation *f, const struct choices *c, int64_t time_upper_ns,
                              struct arena *arena, struct error *err);
// The same problem in textbook rows. Only time and symbol columns are shared with the other.
enum status formulate_textbook(struct formulation *f, const struct choices *c,
                               int64_t time_upper_ns, struct arena *arena, struct error *err);
// laps x T >= counts . symbols, counts as graph_longest gives them; the row's index.
int formulate_add_path(struct formulation *f, const int *counts);

// The decision in a solution's column values (0..1 rounded): chosen[stage]; false if it is none.
bool formulation_decode(const struct formulation *f, const double *values, int *chosen);

// Exact writers: integers as integers, never rounded. BAD_INPUT: not writable.
enum status milp_write_mps(const struct milp *m, const char *path, struct arena *arena,
                           struct error *err);
enum status milp_write_lp(const struct milp *m, const char *path, struct arena *arena,
                          struct error *err);
// By the name's ending; "-": LP on standard output. The name is to be checked before the work:
// BAD_INPUT, another ending or a place that cannot be written; option is what the user called it.
enum status milp_write(const struct milp *m, const char *path, struct arena *arena,
                       struct error *err);
enum status milp_check_name(const char *path, const char *option, struct error *err);
// What every column means and which choices were removed, why: JSON.
enum status formulation_write_map(const struct formulation *f, const char *path,
                                  struct arena *arena, struct error *err);

#endif
