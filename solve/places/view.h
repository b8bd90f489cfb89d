// One replica as a pipeline problem of its own while only some ranks of the replicas have nodes.
// Transfers and syncs whose nodes are known have these nodes' prices; the others have the least
// that the free nodes allow. Its least time bounds every placement that continues from there.
#pragma once

#include "solve/places/internal.h"

// A partial placement.
struct placed_part {
    int *node; // [replica * ranks + rank], -1: not yet
    int *left; // [node]: device groups that are free
};

struct placed_views; // shared by all views of a problem: syncs of every choice by link, computed on
                     // demand

struct placed_views *placed_views_open(struct placed *p, struct arena *arena);

struct placed_view {
    struct choices choices; // of the replica; fewer than the problem's
    struct priced priced;   // with the embedding sync and the slots that the part leaves
    int **number;           // [stage][choice]: its number in the problem's choices
};

// Choices with barred[stage][choice] (numbered as in the problem) are left out; NULL: none. false:
// some stage has no choice left, or no link joins it, so there is no plan.
bool placed_view_make(struct placed_view *v, struct placed_views *views,
                      const struct placed_part *part, int replica, bool *const *barred,
                      struct arena *arena);
