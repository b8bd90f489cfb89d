// A mixed-integer linear program with integer data, and the meaning of its columns and rows. It
// minimises column 0, the iteration time. Every column has finite bounds. Durations are whole
// nanoseconds, sizes whole bytes, everything else is plain numbers.
#pragma once

#include <stdint.h>

#include "data/base/arena.h"

enum column_role {
    COLUMN_TIME,    // column 0
    COLUMN_SYMBOL,  // a = symbol index                          [ns]
    COLUMN_CHOICE,  // a = stage, b = index of its choice        binary
    COLUMN_LEVEL,   // a = stage, b = level; 1 if the stage's load reaches the level        binary
    COLUMN_STATE,   // a = stage, b = state (see formulate)      0..1
    COLUMN_FLOW,    // a = boundary, b = left state, c = right state      0..1
    COLUMN_WORKING, // a = rank, b = level; 1 if the working memory of one of its stages reaches the
                    // level      0..1
    COLUMN_OTHER,   // of a program that is not plumbline's own
};

struct milp_column {
    enum column_role role;
    int a, b, c;
    int64_t lower, upper;
    bool integer, time; // time: in ns
};

enum row_sense { ROW_AT_MOST, ROW_EQUAL, ROW_AT_LEAST };
enum row_role {
    ROW_COVER,
    ROW_CHOOSE_ONE,
    ROW_SLOTS,
    ROW_BUDGET,
    ROW_LINK_STATE,
    ROW_SYMBOL,
    ROW_FLOW,
    ROW_LEVEL,
    ROW_POSITION,
    ROW_RANK,
    ROW_WORKING,
    ROW_MEMORY,
    ROW_PATH,
    ROW_OTHER
};

struct milp_row {
    enum row_role role;
    enum row_sense sense;
    int64_t right;    // right-hand side
    int first, count; // entries [first, first + count)
};

struct milp {
    struct milp_column *columns;
    int column_count, column_capacity;
    struct milp_row *rows;
    int row_count, row_capacity;
    int *entry_column;
    int64_t *entry_value;
    int entry_count, entry_capacity;
    struct arena *arena;
};

void milp_begin(struct milp *m, struct arena *arena);
int milp_add_column(struct milp *m, struct milp_column column); // its index
void milp_add_entry(struct milp *m, int column,
                    int64_t value); // to the row that the next milp_add_row closes; zero is dropped
int milp_add_row(struct milp *m, enum row_role role, enum row_sense sense,
                 int64_t right);                                         // its index
bool milp_row_in_time(const struct milp *m, const struct milp_row *row); // has a column in ns
// A name without blanks or brackets, unique, at most 60 characters.
const char *milp_column_name(const struct milp *m, int column, char name[64]);
const char *milp_row_name(const struct milp *m, int row, char name[64]);
