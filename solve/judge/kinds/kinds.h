// The judge's table of schedules: all that it decides by schedule.
#ifndef PLUMBLINE_SOLVE_JUDGE_KINDS_KINDS_H
#define PLUMBLINE_SOLVE_JUDGE_KINDS_KINDS_H

#include "data/results/plan.h"
#include "data/schedule/schedule.h"

enum { FORWARD, BACKWARD, WEIGHT, PASSES };

struct closed_form {
    const char *name;
    int64_t ns;
}; // NULL: there is none for this plan

struct place {
    int pass, turn, micro_batch, slice;
};
typedef struct closed_form closed_form_of_stages(const struct plan *p,
                                                 const struct schedule_request *r);
struct judged_kind {
    // Position of one rank's turn in the written order; larger is later.
    int64_t (*place)(const struct schedule_request *r, int rank, const struct place *at);
    // Of stages that are alike, with messages of no time and no ending; NULL: none.
    closed_form_of_stages *closed_form;
    bool form_of_unlike; // it holds for stages that differ, too
    bool in_groups;      // micro-batches pass the rank's stages in groups
    bool turns_at_once; // the last stage's backward follows its forward, micro-batch by micro-batch
    bool gathers_by_stage; // sharded values of a stage are gathered once for all micro-batches
};
extern const struct judged_kind judged_kinds[];

#endif
