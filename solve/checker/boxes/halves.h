// The box at hand while the tree of boxes is walked in preorder, and the second halves of splits
// that wait for their turn.
#ifndef PLUMBLINE_SOLVE_CHECKER_BOXES_HALVES_H
#define PLUMBLINE_SOLVE_CHECKER_BOXES_HALVES_H

#include "solve/checker/boxes/mix.h"

// What a split sorts the choices of a stage by, or the decisions by the layers of a rank.
struct check_property {
    int rank, layers_below; // rank -1: not this one
    int stage;
    int64_t load_below; // -1: not this one
    int first_layer, layers, group, mode, swapped, recomputed, gradient, boundary; // -1: whatever
};

// Of a stage how many choices it had, of a rank its span.
struct check_change {
    int stage, rank, count; // one of stage and rank is -1
    struct check_span span;
};
struct check_waiting {
    size_t change_count; // at its split
    struct check_property property;
};

struct check_halves {
    const struct check_choices *choices;
    // At hand; as it was remembered. What has left a stage stands behind what is left of it, the
    // last first, so that putting it back is a matter of counts.
    struct check_box box, before;
    struct check_change *changes; // of the box, in their order
    struct check_waiting *waiting;
    size_t change_count, change_room, waiting_count, waiting_room;
    struct arena *arena;
};

enum status check_open_halves(struct check_halves *h, const struct check_choices *choices,
                              struct arena *arena);
// Around whatever takes choices out of the box, or narrows it.
enum status check_remember(struct check_halves *h);
void check_note(struct check_halves *h);
// The box becomes the half with the property, the other one waits. *splits: whether the property
// tells anything apart; nothing is done where not.
enum status check_split(struct check_halves *h, const struct check_property *q, bool *splits);
// The box becomes the half that has waited shortest; *is false: there is none.
enum status check_next_half(struct check_halves *h, bool *is);

#endif
