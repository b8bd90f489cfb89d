// From choices to a MILP: one binary per choice, flows over boundaries, level columns for
// branching, rows of memory if stages share a rank's devices.
#pragma once

#include "data/program/milp.h"
#include "formulate/choices/choices.h"
#include "formulate/graph/longest.h"
#include "data/text/pieces.h"

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

// Exact writers: every number is a decimal in the units below, and never rounded. BAD_INPUT:
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

// Shared by the files of the choices formulation while they build it.

// What the neighbours of a stage see of its choice: to them, all choices of one state are alike.
struct state {
    int group, boundary_option, cut;
    int column; // sum of its choices; -1: the stage's only state, the sum is 1
};

struct stage_states {
    struct state *items;
    int count;
    int *of_choice; // [choice]
};

struct builder {
    struct formulation *f;
    const struct choices *c;
    const struct priced *p;
    struct arena *arena;
    bool *used;                  // [symbol]: an operation of the schedule has it
    struct stage_states *states; // [stage]
};

// Adds entries for coefficient x (choices of the stage on this group); returns the constant part.
int64_t put_group(struct builder *b, int stage, int group, int64_t coefficient);
// Couples the stages of one rank: one group, and memory.
void add_rank_rows(struct builder *b);

bool *symbols_used(const struct choices *c, struct arena *arena); // by the paths of the objective
// A symbol's column with its range; none if it is always 0.
int add_symbol_column(struct formulation *f, int symbol, int64_t least, int64_t greatest);
// The symbols whose duration two stages determine together: transfers over boundaries, the
// embedding sync.
void add_joints(struct builder *b);

// The units in which a program is written for other solvers. They are powers of ten, so that every
// whole number is a decimal of the file, exactly. In nanoseconds and bytes, coefficients differ by
// a factor of 1e10 or more, which is beyond the tolerances of floating-point solvers.

struct milp_units {
    int time_log10; // a time of 10^this ns is written as 1
    int *row_log10; // [row_count]: both sides of the row are divided by 10^this
};

// The greatest coefficient in ns is written as less than 100. Rows without a column in ns (memory
// of ranks with several stages, budgets) have a power of ten of their own where their coefficients
// are large.
struct milp_units milp_units_of(const struct milp *m, struct arena *arena);
int milp_units_column_log10(const struct milp_units *u, const struct milp_column *c);
int64_t milp_units_power(int log10); // 10^log10, at most 10^18

// value / 10^log10 as a decimal without an exponent and without needless digits.
void milp_units_put(struct text *t, int64_t value, int log10);
// The lines that say what the numbers mean, each after `mark`, a format's sign for comments.
void milp_units_explain(struct text *t, const struct milp *m, const struct milp_units *u,
                        const char *mark);
