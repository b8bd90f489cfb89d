// The linear program in GLPK's terms, for the two files that use GLPK.
#pragma once

#include <glpk.h>

#include "solve/tree/lp.h"

struct lp {
    const struct milp *milp;
    glp_prob *problem;
    double unit;
    int first_path_row;
    int *index_of_column; // [column_count] GLPK's, 0: left out
    bool *defined; // [column_count]: a symbol that a row defines needs no lower bound of its own
    int first_elastic, elastic_count;
    int *index_of_row; // [row_capacity] GLPK's, 0: not in
    int *row_of_index; // [row_capacity + 1]
    int row_capacity;
    int *indices; // scratch for one row
    double *values;
    long lost; // glpk_lost when it was created
    const struct watch *watch;
    glp_tree *tree;            // of the search in progress
    int root_rows, known_rows; // while it is: those that every node has; those last read
    struct arena *arena;
};
