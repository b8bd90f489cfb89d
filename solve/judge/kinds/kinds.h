// The judge's table of schedules: all that it decides by schedule.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// ROW(constant after SCHEDULE_, written order, closed form or NULL (orders.c), properties or 0)
#define JUDGED_KINDS(ROW)                                                                          \
    ROW(GPIPE, gpipe_place, gpipe_form, .form_of_unlike = true)                                    \
    ROW(1F1B, one_f_one_b_place, one_f_one_b_form, .turns_at_once = true)                          \
    ROW(INTERLEAVED, interleaved_place, interleaved_form, .in_groups = true,                       \
        .turns_at_once = true)                                                                     \
    ROW(ZB_H1, zb_h1_place, zb_h1_form, 0)                                                         \
    ROW(ZB_H2, zb_h2_place, zb_h2_form, 0)                                                         \
    ROW(ZB_V, zb_v_place, NULL, 0)                                                                 \
    ROW(LOOPED_BFS, looped_place, looped_form, .gathers_by_stage = true)                           \
    ROW(TOKEN_SLICED, sliced_place, NULL, 0)                                                       \
    ROW(V_HALF, v_half_place, v_half_form, 0)                                                      \
    ROW(V_MIN, v_min_place, v_min_form, 0)

struct judged_properties {
    bool form_of_unlike;   // the closed form holds for stages that differ, too
    bool in_groups;        // micro-batches pass the rank's stages in groups
    bool turns_at_once;    // the last stage runs each micro-batch backward right after its forward
    bool gathers_by_stage; // sharded values of a stage are gathered once for all micro-batches
};
extern const struct judged_properties judged_kinds[]; // by kind, as all of these

enum { FORWARD, BACKWARD, WEIGHT, PASSES };
struct place {
    int pass, turn, micro_batch, slice;
};
// Position of one rank's turn in the written order; larger is later.
struct schedule_request;
typedef int64_t judged_place(const struct schedule_request *r, int rank, const struct place *at);
extern judged_place *const judged_places[];

struct closed_form {
    const char *name;
    int64_t ns;
}; // NULL: there is none for this plan
// Of stages that are alike, with messages of no time and no ending; NULL: none.
struct plan;
typedef struct closed_form judged_form(const struct plan *p, const struct schedule_request *r);
extern judged_form *const judged_forms[];
