// Prediction of one given configuration: iteration time and memory. Prices are those of the solver
// (formulate/price/), the stages' sums those of its choices, the time the longest path through the
// schedule's own graph; nothing is decided here. Made for thousands of configurations: graphs are
// kept by layout, all else is scratch.
#ifndef PLUMBLINE_FORMULATE_PREDICT_PREDICT_H
#define PLUMBLINE_FORMULATE_PREDICT_PREDICT_H

#include "data/results/plan.h"
#include "data/inputs/problem.h"
#include "formulate/predict/row.h"

struct predict_settings {
    const char *cluster, *costs; // files or shipped names; NULL: what is shipped for the row's GPU
    double margin;               // of a GPU's memory that may be filled
    int64_t margin_bytes;        // kept free of that
    bool ranges;                 // also how far the costs leave the time open
};

enum { REASON_TEXT = 200 };

struct prediction {
    char reason[REASON_TEXT]; // why there is none; "": there is one
    int64_t iteration_ns;
    int64_t low_ns, high_ns; // how far the costs leave it open (formulate/price/range.h); 0: not
                             // asked for
    int fullest_rank;
    struct memory_parts memory; // of a device of that rank
    int64_t device_bytes; // of it, with what the allocator takes beside: what the device shows
    int64_t capacity_bytes, limit_bytes; // of a device; what the margin leaves
    bool fits;
    struct memory_parts last_memory; // of the last stage's rank: what some programs report
    int64_t ends_bytes;    // the fuller of the first and the last stage's rank, as device_bytes
    int64_t outside_bytes; // of a device: context, libraries, communicators
    int64_t library_bytes; // inside the allocator, whatever the stage
    int64_t block_forward_ns, block_backward_ns; // one block, recomputation included
    int64_t embedding_ns;                        // the first layer, forward and backward
    int micro_batches;
    int64_t sequences; // the global batch
    double gpus;
    const char *gpu; // the costs' name of it
    int value_bytes; // of the precision
    // docs/FORMULAS.md 18, of the row's GPUs; 0: not known
    double tokens_per_s, model_flop_per_gpu_s, mfu, price_per_hour, price_per_million_tokens;
};

// How the layers stand on the stages: layer_count[stage], all recomputed alike.
struct placement {
    int stage_count;
    int layer_count[STAGES_MAX];
    enum recompute recompute;
    int recomputed_layers; // of each stage
    // The job's first option for all messages backward, and for all stages' syncs.
    bool compresses_boundaries, compresses_gradients;
};

// The blocks spread equally as for a row, the embedding before and the head behind them; other
// models layer by layer.
enum status placement_equal(struct placement *to, const struct problem *problem,
                            enum recompute recompute, struct error *err);

// Stated by somebody: blocks on each stage, "8,8,9,7"; embedding and head stand with the first and
// the last. BAD_INPUT: other stages or layers than the problem's.
enum status placement_stated(struct placement *to, const struct problem *problem,
                             const char *blocks, enum recompute recompute, struct error *err);

// The plan that it is of the problem's one layout, with all claims and no bound, however full its
// GPUs are; groups in their order, each with as many ranks as it has room for. BAD_INPUT: there is
// no room for all of it.
enum status placement_plan(struct plan *plan, const struct problem *problem,
                           const struct placement *placement, struct arena *arena,
                           struct error *err);
bool placement_fits(const struct plan *plan); // into memory

struct predictor;

// Loads what the settings name. The arena must outlive the predictor.
enum status predictor_open(struct predictor **p, const struct predict_settings *settings,
                           struct arena *arena, struct error *err);
// The costs in use, for changes of its estimates between predictions (predictor_costs_changed after
// them).
struct costs *predictor_costs(struct predictor *p);
void predictor_costs_changed(struct predictor *p);
void predictor_ask_ranges(struct predictor *p, bool asked); // as settings.ranges, from now on
// Sets estimates: "name=value,...", names as in data/inputs/cost_keys.h, values without an
// interval. BAD_INPUT names the word.
enum status predictor_set(struct predictor *p, const char *text, struct error *err);

// Never fails for what stands in the row: prediction.reason says why there is none.
void predict_row(struct predictor *p, const struct run_row *row, struct prediction *prediction);

// A whole problem in this placement, its first node group that can hold a stage under every stage.
void predict_problem(struct predictor *p, const struct problem *problem,
                     const struct placement *placement, struct prediction *prediction);

#endif
