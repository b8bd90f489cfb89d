// Figures that users want of a training run: FLOP of the model, tokens, utilisation, price
// (docs/FORMULAS.md, Figures of a run). Nothing is decided by them.
#pragma once

#include "data/inputs/problem.h"

// Forward and backward of one sequence, without recomputation; 0: the model has measured layers.
double model_flop(const struct model *m, int64_t sequence);
// The same, with only the scores that attention's mask leaves: half of them if it is causal.
double model_flop_masked(const struct model *m, int64_t sequence);
// FLOP that recomputation adds to one sequence of the job, for the `count` layers of one stage from
// `first` on; first_layers: for the first `recomputed` of those that can be recomputed.
double recomputed_flop(const struct model *m, int first, int count, enum recompute mode,
                       int recomputed, const struct job *job);

// For a GPU of the group at the job's precision, as stated in the costs; 0: not stated.
double gpu_peak_flop_per_s(const struct problem *p, const struct node_group *g);

// A figure that is 0 is not known; for MFU and price, `without` gives the reason.
struct figures {
    int64_t gpus; // that are paid for, including idle ones
    double tokens_per_s, tokens_per_gpu_hour;
    double model_flop_per_s, hardware_flop_per_s; // of all GPUs together
    double peak_flop_per_s;                       // of all GPUs together, at the job's precision
    double tflops_per_gpu, mfu_percent;           // of the model
    double causal_tflops_per_gpu, causal_mfu_percent; // of masked scores only those left
    const char *gpu_without_peak, *group_without_price;
    double price_per_hour;
    double price_per_million_tokens;
    double run_hours, run_price; // for the job's run_tokens
};
// For all GPUs of the cluster, with an iteration that takes iteration_ns > 0 and recomputes this
// much FLOP per sequence.
void figures_find(struct figures *f, const struct problem *p, int64_t iteration_ns,
                  double recomputed_flop);
