// Linear programs of up to some hundred rows and columns, to which rows are added one at a time:
// the dual simplex on a dense dictionary. Floating point: nothing is proven here.
#pragma once

#include "data/base/arena.h"

struct simplex;

struct simplex *simplex_open(int variables_max, int rows_max, struct arena *arena);
// Minimise variable 0, which is not negative and has no upper end. Every other one is between 0 and
// its end. There are no rows yet.
void simplex_begin(struct simplex *s, int variables, const double *upper);
// sum of row[j] x variable j >= least. false: there is no room.
bool simplex_add_row(struct simplex *s, const double *row, double least);
// From the solution before the rows that were added since. false: no solution, or none after this
// many steps.
bool simplex_solve(struct simplex *s, int steps_max);
// Where simplex_solve found that there is no solution: multipliers that prove at least this value
// of any, until it is used again. false: it found no such thing.
bool simplex_climb(struct simplex *s, double value);
int simplex_row_count(const struct simplex *s);
double simplex_value(const struct simplex *s, int variable);
// What the least rises by per unit of the row's right-hand side.
double simplex_multiplier(const struct simplex *s, int row);
