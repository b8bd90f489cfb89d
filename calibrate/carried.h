// Costs from plans that were carried out (plumbline run): the layers as they ran, the trainer's
// factor over them, its step and its memory. What no run shows stays as in the costs that the plans
// were made with.
#ifndef PLUMBLINE_CALIBRATE_CARRIED_H
#define PLUMBLINE_CALIBRATE_CARRIED_H

#include "calibrate/layers.h"
#include "calibrate/message_ends.h"
#include "data/base/command.h"
#include "data/results/plan_run.h"

struct carried {
    struct plan_run run;
    struct plan plan;
    struct problem problem; // with the plan's layout, and the costs that are calibrated
};

struct carried_fits {
    struct carried *runs; // [run_count]
    int run_count;
    struct calibration calibration; // its costs are the result
    struct layer_fits layers;
    double factor, low, high; // of the trainer, over its layers: by all iterations
    double apart;             // 95 % error of another plan
    const char *factor_key;   // its name in the costs
    double step_values_per_s; // of an optimizer step; 0: not shown
    double split_s;           // of a block's two backward passes over one; -1: not shown
    int64_t constant_bytes;   // of a process; -1: no run observed its memory
    struct message_ends ends; // of messages, between passes
};

bool carried_is_run(const char *path, struct arena *arena); // a file of plumbline run
// base NULL: the costs of the first plan's problem. BAD_INPUT: a run whose plan or problem is not
// where it says, or of another GPU or trainer than the first.
enum status carried_fit(struct carried_fits *f, const struct option_texts *paths,
                        const struct costs *base, const char *name, const char *output,
                        struct arena *arena, struct error *err);
void carried_show(const struct carried_fits *f, FILE *to);

#endif
