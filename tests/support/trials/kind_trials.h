// Random problems with a space of which every layout is solved by itself, and those of one kind by
// enumeration, too. The search finds the best of them; its certificate is accepted and proves that
// time, and not a nanosecond more; the checker's walk equals the planner's.
#pragma once

#include "tests/support/trials/space_trials.h"

struct kind_trials {
    const char *what; // layouts of the kind, in words
    void (*open)(struct space_trial *t, uint64_t seed, double gap, struct arena *arena);
    bool (*is_kind)(const struct layout *layout);
    // Of all trials so far. Layouts: all, of the kind, enumerated; by their fates.
    int64_t layouts, of_kind, enumerated, enumerated_plans, refused, bounded, dominated, proven;
    int64_t plans, chosen, infeasible; // spaces with a plan, with one of the kind, without
};

// Fails naming the seed.
void kind_trial(struct kind_trials *x, uint64_t seed);
void kind_trials_print(const struct kind_trials *x);
