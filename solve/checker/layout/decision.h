// The checker's own table of what is decided of a stage: the keys of incumbents and of splits, and
// what two choices are compared by.
#ifndef PLUMBLINE_SOLVE_CHECKER_LAYOUT_DECISION_H
#define PLUMBLINE_SOLVE_CHECKER_LAYOUT_DECISION_H

#include "solve/checker/read/problem.h"

// Ints only. first below 0: any layer from -1 - first on; the stage is the same wherever it stands.
#define CHECK_DECISION_MEMBERS                                                                     \
    int first, layers, group, mode, swapped, recomputed, sharded, vocabulary, gradient, boundary;
struct check_decision {
    CHECK_DECISION_MEMBERS
};
// The members, and all of them as `decision`.
#define CHECK_DECISION                                                                             \
    union {                                                                                        \
        struct check_decision decision;                                                            \
        struct {                                                                                   \
            CHECK_DECISION_MEMBERS                                                                 \
        };                                                                                         \
    }

struct check_decision_row {
    const char *key;          // with '?' before it
    size_t at;                // in struct check_decision
    const char *const *names; // of the values; NULL: a number
    bool if_set;              // incumbents leave it out if it is 0
};
extern const struct check_decision_row check_decision_rows[];
extern const int check_decision_row_count;
static inline int check_decision_value(const struct check_decision *d,
                                       const struct check_decision_row *row)
{
    return *(const int *)((const char *)d + row->at);
}

// Whether the decision is as stated; -1 in `stated`: any.
bool check_decision_is(const struct check_decision *stated, const struct check_decision *d);

enum { CHECK_DECISION_FIELDS = 12 };
// The group and the rows as fields of an incumbent's stage, or of a split, which may leave any of
// them out; then the field that ends the list. names: room for MOST_SEATS + 1.
void check_decision_fields(struct value_field *fields, const struct check_problem *p,
                           struct check_decision *d, bool of_split, const char **names);

#endif
