// The solver's priced document against the judge's single terms: two computations from
// docs/FORMULAS.md that share no code.
#pragma once

#include <stdint.h>

#include "data/inputs/problem.h"

struct price_count {
    int64_t terms, doubtful;
}; // compared; those that the judge could not distinguish from the next

// Fails the test on any term that differs, and on anything else in a priced document that the judge
// states differently. `name` is the problem's, for the message. Adds to *count.
void compare_prices(const struct problem *problem, int64_t name, struct price_count *count,
                    struct arena *arena);

// All integers of a priced problem, in one order: layers, messages, groups, embeddings. Backward
// passes that recompute are whole.
struct numbers {
    int64_t *items;
    int count;
};
struct check_problem;
struct numbers numbers_of(const struct check_problem *p, struct arena *arena);
