// The state of a best-first search: open boxes (or parts, layouts) ordered by least bound, what has
// ended, and what is still wanted. The proven bound of the whole is the least of the bounds of what
// is open, of what has ended, and the best plan's time.
#pragma once

#include "data/base/arena.h"
#include "data/results/bound.h"

struct open_item {
    int64_t bound_ns, order; // among equal bounds the least order comes first; no two are equal
    void *content;           // belongs to the search
};

struct frontier {
    int64_t best_ns;     // of the plan to beat; INT64_MAX: any plan is wanted
    double gap;          // requested: plans that are better by no more than it are of no interest
    int64_t cutoff_ns;   // nor are plans at or above it; 0: all are
    int64_t ended_ns;    // the least bound of what has ended; INT64_MAX: nothing has
    int64_t reported_ns; // the best bound reported
    struct open_item *open; // a heap
    int count, capacity;
    struct arena *arena;
};

void frontier_push(struct frontier *f, int64_t bound_ns, int64_t order, void *content);
void *frontier_pop(struct frontier *f);
void *frontier_first(const struct frontier *f);        // NULL: nothing is open
int64_t frontier_open_ns(const struct frontier *f);    // the first one's bound; INT64_MAX: none
int64_t frontier_closing_ns(const struct frontier *f); // what a box must reach to be closed
bool frontier_is_wanted(const struct frontier *f);     // something open is below that
// A box was closed, given up, or had plans removed: what is left out takes at least this long.
void frontier_end(struct frontier *f, int64_t bound_ns);
int64_t frontier_bound(const struct frontier *f); // proven for the whole, at most NEVER_NS
// Returns the bound and records it as reported. Asserts that no bound falls.
int64_t frontier_tell(struct frontier *f, int64_t bound_ns);
