// One replica as a chain problem of its own while only some ranks of the replicas stand on nodes:
// what is known of its transfers and syncs at its nodes' prices, what is not at the least that the
// free nodes leave open. Its least time bounds every placement that goes on from there.
#ifndef PLUMBLINE_SOLVE_PLACES_VIEW_H
#define PLUMBLINE_SOLVE_PLACES_VIEW_H

#include "solve/places/internal.h"

// Some ranks on nodes.
struct placed_part {
    int *node; // [replica * ranks + rank], -1: not yet
    int *left; // [node]: device groups that are free
};

struct placed_views; // what all views of a problem share: syncs of every choice by link, worked out
                     // when asked for

struct placed_views *placed_views_open(struct placed *p, struct arena *arena);

struct placed_view {
    struct choices choices; // of the replica; fewer than the problem's
    struct priced priced;   // with the embedding sync and the slots that the part leaves
    int **number;           // [stage][choice]: its number in the problem's choices
};

// barred[stage][choice] of the problem's choices are left out; NULL: none. false: some stage has no
// choice left, or no link joins it: there is no plan.
bool placed_view_make(struct placed_view *v, struct placed_views *views,
                      const struct placed_part *part, int replica, bool *const *barred,
                      struct arena *arena);

#endif
