// A box: which choices each stage may still take, and how many layers each rank's stages may hold.
#pragma once

#include "solve/checker/layout/choices.h"

struct check_span {
    int least, most;
};

struct check_box {
    int **left, *count; // [stage]: numbers of the allowed choices, ascending
    // [rank]: how many layers its stages hold together; [(kind + 1) * ranks + rank]: how many of a
    // kind, where span_count says that they are stated.
    struct check_span *spans;
    int span_count;
};

struct check_box check_whole_box(const struct check_choices *c, struct arena *arena);
// For ranks with several stages: removes choices that fit with no choices of the rank's other
// stages, and narrows the spans of kinds to what the stages and the other ranks leave.
enum status check_couple_ranks(const struct check_choices *c, struct check_box *box);
