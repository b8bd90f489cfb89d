// A whole search by boxes alone (box.h): best bound first, diving into the lighter half of every
// split where the dynamic programme does not work by ranks. No linear program is involved. If it
// ends within its limits the answer is exact and proven; if not, its bound and its plan still hold
// and the tree over relaxations continues from there.
#pragma once

#include "solve/boxes/proof.h"

struct box_search_settings {
    int64_t target_ns; // the time of a known plan: only better ones are searched for; INT64_MAX: no
                       // plan is known
    double gap;        // (target - bound) / target at which to stop; 0: exact
    int64_t cutoff_ns; // plans at or above it are of no interest; 0: all are
    int64_t boxes_max, labelled_max;     // the latter where boxes go by labels; 0: the same
    bool labels, uncounted;              // of the boxes (box.h); only without a certificate
    bool recheck;                        // afterwards prove every box a second time from its record
    bool (*should_stop)(void *argument); // may be NULL
    void (*report)(void *argument, int64_t best_ns, int64_t bound_ns, int64_t boxes, int open,
                   int paths); // may be NULL
    // Where ranks have several stages: a further search for plans, number `step`, from the best one
    // found (*found_ns INT64_MAX: none but the known one). false: none was found. May be NULL.
    bool (*improve)(void *argument, int step, int *found, int64_t *found_ns);
    void (*found)(void *argument, const int *chosen, int64_t time_ns); // each better plan, or NULL
    void (*rechecks)(void *argument, int64_t bound_ns); // begins to recheck this bound; may be NULL
    void *argument;
};

struct box_search_result {
    bool finished;   // nothing better than best_ns (and the gap) is left
    int64_t best_ns; // target_ns, or the time of found; INT64_MAX: there is no plan (finished) or
                     // none is known
    bool found_better;
    int *found;       // [stage_count], numbered as in `choices`
    int64_t bound_ns; // the best proven for every plan of the choices; at most best_ns, and above
                      // what the gap asks for if the boxes are
    int64_t boxes, closed, bad; // bad: records whose recheck failed
    struct box_proof proof;     // of bound_ns; its paths are those that it uses, and others
};

void box_search(struct box_search_result *r, const struct choices *c, struct graph *g,
                const struct box_search_settings *settings, struct arena *arena);
