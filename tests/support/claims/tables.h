// Converts a layout's prices between their two forms, the checker's tables and a priced document.
#pragma once

#include "data/priced/priced.h"
#include "solve/checker/read/problem.h"

void priced_of_tables(struct priced *to, const struct check_problem *p, const struct layout *layout,
                      struct arena *arena);
// Without rules. The tables share the document's arrays.
void tables_of_priced(struct check_problem *to, const struct priced *p, struct arena *arena);
