// The solver's priced document against the judge's single terms: two computations from docs/FORMULAS.md that share no code.
#ifndef PLUMBLINE_TESTS_SUPPORT_PRICES_H
#define PLUMBLINE_TESTS_SUPPORT_PRICES_H

#include <stdint.h>

#include "data/problem.h"

struct price_count { int64_t terms, halves; };      // compared; differing by 1

// Fails the test on any term that differs by more than 1 ns or byte, and on anything else that a priced document says and
// the judge says otherwise. `name` is the problem's, for the message. Adds to *count.
void compare_prices(const struct problem *problem, int64_t name, struct price_count *count, struct arena *arena);

#endif
