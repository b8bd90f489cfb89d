// The current box of a preorder walk of the tree of boxes, and the second halves of splits that
// are still to be visited.
#pragma once

#include "solve/checker/boxes/mix.h"

// What a split sorts by: the choices of a stage, or decisions by the layers of a rank.
struct check_property {
    int rank, layers_below; // rank -1: unused
    int kind;               // of these layers; -1: all
    int stage;
    int64_t load_below;           // -1: unused
    struct check_decision choice; // -1: any
};

// For a stage, how many choices it had; for a rank, one of its spans.
struct check_change {
    int stage, span_at, count; // one of stage and span_at is -1
    struct check_span span;
};
struct check_waiting {
    size_t change_count; // when it was split
    struct check_property property;
};

struct check_halves {
    const struct check_choices *choices;
    // The current box, and its state when it was last remembered. Choices removed from a stage are
    // kept after the remaining ones, the last removed first, so that restoring them only changes
    // counts.
    struct check_box box, before;
    struct check_change *changes; // of the box, in order
    struct check_waiting *waiting;
    size_t change_count, change_room, waiting_count, waiting_room;
    struct arena *arena;
};

enum status check_open_halves(struct check_halves *h, const struct check_choices *choices,
                              struct arena *arena);
// Called before and after anything that removes choices from the box or narrows it.
enum status check_remember(struct check_halves *h);
void check_note(struct check_halves *h);
// The box becomes the half with the property, and the other half waits. *splits: whether the
// property distinguishes anything; if not, nothing is done.
enum status check_split(struct check_halves *h, const struct check_property *q, bool *splits);
// The box becomes the half that was added last; *is false: none is left.
enum status check_next_half(struct check_halves *h, bool *is);
