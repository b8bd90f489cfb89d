// A solution of an integer program as solvers write it: glpsol (-o and -w), CBC, HiGHS (in each of
// its styles but the pretty one), SCIP, Gurobi and MIPLIB. The text says which.
#pragma once

#include "data/base/arena.h"

struct solution_value {
    const char *name; // NULL: the file numbers its columns
    int number;       // from 1, in the order of the program's columns; 0: it names them
    double value;
    int line;
};

struct solution {
    const char *path;
    const char *writer; // "glpsol -o" ...
    const char *status; // in the solver's words; "" if the file has none
    bool has_objective;
    double objective;
    bool complete; // every column is listed; otherwise those that are not are 0
    struct solution_value *values;
    int count;
};

// BAD_INPUT: not such a file, or one that says that there is no solution.
enum status solution_read(struct solution *s, const char *path, struct arena *arena,
                          struct error *err);
