// A space of layouts on a cluster with places.
#pragma once

#include "solve/layouts/layouts.h"

enum { PLACED_LAYOUTS_MAX = 1000 * 1000 };

// As layouts_search; layouts that are not supported on places (sharded gradients, no barrier ...)
// are refused with their reason. A part of a space cannot be searched alone.
enum status placed_space_search(struct layouts_result *r, const struct problem *problem,
                                const struct solve_settings *settings,
                                const struct layouts_task *task, const volatile int *stop,
                                struct arena *arena, struct error *err);

// Promising layouts, the best first, found by the search over the same space with
// unnamed nodes, which prices thousands of layouts in the time that one takes node by node. None if
// the cluster needs named nodes.
struct placed_promising {
    int64_t number, value_ns;
    struct layout layout;
};
enum status placed_find_promising(struct placed_promising **promising, int *count,
                                  const struct problem *problem,
                                  const struct solve_settings *settings, const volatile int *stop,
                                  struct arena *arena, struct error *err);
