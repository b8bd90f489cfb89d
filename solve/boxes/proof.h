// The records of a search by boxes: one per box, from which anybody can prove the bound again. The
// first record is the whole problem. A box that was split names its two parts; every other one
// states the least time of its plans. The records hold the boxes themselves, so each can be
// evaluated on its own.
#pragma once

#include "solve/boxes/box.h"

struct box_record {
    unsigned char
        *given; // one bit per choice, stages in order: the box before anything was removed
    struct layer_span *spans; // likewise, as in struct choice_box
    int64_t claim_ns; // of a split box: what was removed takes at least this; of another: all its
                      // plans do
    const struct box_step *steps;
    int step_count;
    int64_t of;        // number of the record on whose box they were found: this one's, or one
                       // around it
    int64_t target_ns; // what steps found on this box removed reaches it
    int64_t proven_ns; // by the steps, of the box as given; of a single decision: its time
    bool single; // what the steps left is one decision, which takes proven_ns (INT64_MAX: it does
                 // not fit)
    int64_t parent;         // -1: none
    bool turned;            // the second part has the choice or the group, not the first
    int64_t first_part;     // number of the first of the two parts; -1: not split
    struct box_split split; // how; only at its stage, or for its rank's span, may the parts differ
                            // from what the steps left
    const struct choice *branched; // by a choice: it; else NULL
};

struct box_proof {
    int *path_counts; // [paths * (symbols + 1)], which the ids of the steps refer to
    int paths;
    struct box_record *records;
    int64_t count, capacity;
    bool sure; // the checker's dynamic programme is as strong on every step (docs/PROOFS.md 6)
    const bool *counted; // [resource]: the steps that are not relaxed follow its use exactly
    bool uncounted;      // the search's setting: its tables follow none
};

// allowed: one per choice, stages in order; spans may be NULL. The new record is not split. Returns
// its number.
int64_t box_proof_add(struct box_proof *p, const bool *allowed, int choice_count,
                      const struct layer_span *spans, int span_count, struct arena *arena);
// Takes over the closer's paths, and what its table counts.
void box_proof_take_paths(struct box_proof *p, const struct box_closer *closer, int symbols,
                          struct arena *arena);
// A copy that lives in this arena.
const struct box_step *box_steps_copy(const struct box_step *steps, int count, int resources,
                                      struct arena *arena);

// Evaluates every record from its numbers alone: that the first one is the whole problem, that each
// split box is covered by its parts, and that every other one proves its claim, bound_ns or more.
// Returns how many do not hold.
int64_t box_proof_recheck(const struct box_proof *p, int64_t bound_ns, const struct choices *c,
                          struct graph *g, struct arena *arena);
