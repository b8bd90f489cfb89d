// A space of layouts on a cluster with places.
#ifndef PLUMBLINE_SOLVE_PLACES_SPACE_H
#define PLUMBLINE_SOLVE_PLACES_SPACE_H

#include "solve/layouts/layouts.h"

enum { PLACED_LAYOUTS_MAX = 1000 * 1000 };

// As layouts_search; layouts that places do not know (sharded gradients, no barrier ...) are
// refused with their reason. No part of a space is searched alone.
enum status placed_space_search(struct layouts_result *r, const struct problem *problem,
                                const struct solve_settings *settings,
                                const struct layouts_task *task, const volatile int *stop,
                                struct arena *arena, struct error *err);

// Layouts that are likely good, the best first: by the search over the same space where nodes have
// no names, which prices thousands in the time that one takes node by node. None where the cluster
// cannot do without names.
struct placed_likely {
    int64_t number, value_ns;
    struct layout layout;
};
enum status placed_find_likely(struct placed_likely **likely, int *count,
                               const struct problem *problem, const struct solve_settings *settings,
                               const volatile int *stop, struct arena *arena, struct error *err);

#endif
