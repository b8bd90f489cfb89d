// What people ask of a training run: FLOP of the model, tokens, utilisation, price
// (docs/FORMULAS.md, Figures of a run). They decide nothing.
#ifndef PLUMBLINE_DATA_INPUTS_FIGURES_H
#define PLUMBLINE_DATA_INPUTS_FIGURES_H

#include "data/inputs/problem.h"

// FLOP of one layer of the run on one sequence forward: its products, and its attention (all score
// cells, as if none were masked). Measured layers: 0, nobody knows.
struct layer_flop {
    double products, attention;
};
// Forward and backward of one sequence, nothing recomputed; 0: the model has measured layers.
double model_flop(const struct model *m, int64_t sequence);
// What recomputing adds to one sequence of the job, of `count` layers from `first` on that are one
// stage's; first_layers: of its `recomputed` first ones that can be.
double recomputed_flop(const struct model *m, int first, int count, enum recompute mode,
                       int recomputed, const struct job *job);

// Of a GPU of the group at the job's precision, as the costs state it; 0: they do not.
double gpu_peak_flop_per_s(const struct problem *p, const struct node_group *g);

// Where a figure is 0, it is not known, and `without` says why for MFU and price.
struct figures {
    int64_t gpus; // that are paid for, idle ones too
    double tokens_per_s, tokens_per_gpu_hour;
    double model_flop_per_s, hardware_flop_per_s; // of all GPUs together
    double peak_flop_per_s;                       // likewise, at the job's precision
    const char *gpu_without_peak, *group_without_price;
    double price_per_hour;
    double price_per_million_tokens;
    double run_hours, run_price; // of the job's run_tokens
};
// All GPUs of the cluster, for an iteration that takes iteration_ns > 0 and recomputes so much FLOP
// a sequence.
void figures_find(struct figures *f, const struct problem *p, int64_t iteration_ns,
                  double recomputed_flop);

#endif
