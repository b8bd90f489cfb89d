// What a search has open, what has ended and what is still wanted: open boxes (or parts, layouts)
// stand least bound first; what is proven for the whole is the least bound of what is open, of what
// has ended and of the best plan's time.
#ifndef PLUMBLINE_SOLVE_BOXES_FRONTIER_H
#define PLUMBLINE_SOLVE_BOXES_FRONTIER_H

#include <stdbool.h>

#include "data/base/arena.h"
#include "data/results/bound.h"

struct open_item {
    int64_t bound_ns, order; // of equal bounds the least order comes first; no two are alike
    void *content;           // the search's own
};

struct frontier {
    int64_t best_ns;        // of the plan that is to be beaten; INT64_MAX: any is wanted
    double gap;             // asked: plans that are better by no more are of no interest
    int64_t cutoff_ns;      // nor are plans at or above it; 0: all are
    int64_t ended_ns;       // the least bound of what has ended; INT64_MAX: nothing has
    int64_t told_ns;        // the best bound that was told
    struct open_item *open; // a heap
    int count, capacity;
    struct arena *arena;
};

void frontier_push(struct frontier *f, int64_t bound_ns, int64_t order, void *content);
void *frontier_pop(struct frontier *f);
void *frontier_first(const struct frontier *f);        // NULL: nothing is open
int64_t frontier_open_ns(const struct frontier *f);    // the first one's bound; INT64_MAX likewise
int64_t frontier_closing_ns(const struct frontier *f); // what a box must reach to be closed
bool frontier_is_wanted(const struct frontier *f);     // something open is below that
// A box was closed, given up, or rid of plans: what is left out takes this long at least.
void frontier_end(struct frontier *f, int64_t bound_ns);
int64_t frontier_bound(const struct frontier *f); // what is proven for the whole, at most NEVER_NS
// Returns the bound, which is told from now on. An assert: no bound falls.
int64_t frontier_tell(struct frontier *f, int64_t bound_ns);

#endif
