// Costs out of samples: straight lines through the medians, with intervals.
#ifndef PLUMBLINE_CALIBRATE_CALIBRATE_H
#define PLUMBLINE_CALIBRATE_CALIBRATE_H

#include <stdio.h>

#include "calibrate/fit.h"
#include "data/costs.h"
#include "data/samples.h"

struct calibrate_settings {
    const char *name;               // of the device in the costs; NULL: the samples'
    int64_t constant_bytes;         // assumed: samples do not tell what the process itself takes
    const char *output;             // the costs' own path, for naming the samples relative to it
};

struct precision_fits {
    enum precision precision;
    struct fit gemm, attention, low_rank;
    bool softmax_apart;             // the attention's memory traffic was taken off at the memory rate
};

struct calibration {
    struct precision_fits *precisions;
    int precision_count;
    struct fit memory, blocks;      // blocks: empty blocks per second
    struct costs costs;
};

// BAD_INPUT: a kind of operation is missing, or its samples do not make a line.
enum status calibrate(struct calibration *c, const struct samples *samples, const struct calibrate_settings *settings,
                      struct arena *arena, struct error *err);

// Every fit against its samples, for people.
void calibration_show(const struct calibration *c, FILE *to);

#endif
