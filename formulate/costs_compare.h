// What differs between two documents of costs, and what drifted over many; printed.
#ifndef PLUMBLINE_FORMULATE_COSTS_COMPARE_H
#define PLUMBLINE_FORMULATE_COSTS_COMPARE_H

#include "data/base/command.h"

// words: "diff", A, B.
enum status costs_diff(const struct option_texts *words, struct arena *arena, struct error *err);
// words: "history", and a folder, or documents in their order.
enum status costs_history(const struct option_texts *words, struct arena *arena, struct error *err);

#endif
