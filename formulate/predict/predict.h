// Prediction of one given configuration: iteration time and memory. Prices are those of the solver
// (formulate/price/), the sums over stages are those of its choices, and the time is the longest
// path through the schedule's own graph; nothing is decided here. Made for thousands of
// configurations: graphs are kept by layout, everything else is scratch.
#pragma once

#include "formulate/example/example.h"
#include "data/results/plan.h"
#include "formulate/predict/row.h"

struct predict_settings {
    const char *cluster, *costs;  // files or shipped names; NULL: what is shipped for the row's GPU
    double margin;                // the part of a GPU's memory that may be filled
    int64_t margin_bytes;         // of that, to be kept free
    struct gpu_likeness likeness; // of GPUs that no cluster has
    bool ranges;                  // also how much of the time the costs leave open
    int64_t operations_kept;      // of the graphs of layouts, about 100 bytes each; 0: 2^23
};

enum { REASON_TEXT = 200 };

struct prediction {
    char reason[REASON_TEXT]; // why there is none; "": there is one
    bool impossible;          // no run has this layout: a stage would hold no layer, or the program
                              // asserts that there are more micro-batches
    int64_t iteration_ns;
    int64_t low_ns, high_ns; // what the costs leave open (formulate/price/range.h); 0: not
                             // requested
    const char *widest;      // what widens this most, and the time with that alone
    int64_t widest_ns;
    int64_t launched_ns; // with all launches at their slow end; 0: not requested
    int fullest_rank;
    struct memory_parts memory; // of a device of that rank
    int64_t device_bytes;       // the same with the allocator's overhead: what the device shows
    int64_t capacity_bytes, limit_bytes; // of a device; what the margin leaves
    bool fits;
    struct memory_parts last_memory; // of the last stage's rank, which some programs report
    int64_t ends_bytes;    // the larger of the first and the last stage's rank, as device_bytes
    int64_t held_bytes;    // by the allocator of the fullest, whose figure programs report;
                           // nanotron's is the first rank's
    int64_t outside_bytes; // of a device: context, libraries, communicators
    int64_t library_bytes; // inside the allocator, whatever the stage
    int64_t block_forward_ns, block_backward_ns; // one block, recomputation included
    int64_t embedding_ns;                        // the first layer, forward and backward
    int micro_batches;
    int64_t sequences; // the global batch
    double gpus;
    const char *gpu; // as named in the costs
    int value_bytes; // of the precision
    // What the row does not state, and what was taken instead.
    struct run_origin origin;
    struct assumption {
        struct run_default taken;
        int64_t low_ns, high_ns; // times with what remains open; 0: nothing, or not requested
    } assumptions[TRAIT_COUNT];
    // docs/FORMULAS.md 18, for the row's GPUs; 0: not known
    double tokens_per_s, model_flop_per_gpu_s, mfu, price_per_hour, price_per_million_tokens;
    double causal_flop_per_gpu_s, causal_mfu; // of masked scores only those left
};

// How the layers are divided over the stages: layer_count[stage], all recomputed alike.
struct placement {
    int stage_count;
    int layer_count[STAGES_MAX];
    enum recompute recompute;
    int recomputed_layers; // of each stage
    // The job's first option, for all messages backward and for the syncs of all stages.
    bool compresses_boundaries, compresses_gradients;
};

// The blocks divided equally as for a row, the embedding before and the head after them; other
// models layer by layer.
enum status placement_equal(struct placement *to, const struct problem *problem,
                            enum recompute recompute, struct error *err);

// As stated by the user: blocks on each stage, "8,8,9,7"; embedding and head are on the first and
// the last stage. BAD_INPUT: the problem has other stages or layers.
enum status placement_stated(struct placement *to, const struct problem *problem,
                             const char *blocks, enum recompute recompute, struct error *err);

// The plan of this placement for the problem's one layout, with all claims and no bound, however
// full its GPUs are. Groups are used in their order, each with as many ranks as it has room for.
// BAD_INPUT: there is not enough room.
enum status placement_plan(struct plan *plan, const struct problem *problem,
                           const struct placement *placement, struct arena *arena,
                           struct error *err);
bool placement_fits(const struct plan *plan); // into memory

struct predictor;

// Loads what the settings name. The arena must outlive the predictor.
enum status predictor_open(struct predictor **p, const struct predict_settings *settings,
                           struct arena *arena, struct error *err);
// The costs in use, so that their estimates can be changed between predictions (call
// predictor_costs_changed afterwards).
struct costs *predictor_costs(struct predictor *p);
void predictor_costs_changed(struct predictor *p);
void predictor_ask_ranges(struct predictor *p, bool asked); // sets settings.ranges from now on
// What a GPU is like that no cluster has, from now on.
void predictor_set_likeness(struct predictor *p, const struct gpu_likeness *likeness);
// Sets estimates: "name=value,...", with names as in data/inputs/cost_keys.h and values without an
// interval. BAD_INPUT names the word.
enum status predictor_set(struct predictor *p, const char *text, struct error *err);

// A number of the costs of every GPU that a program, not its machine, is known for; name: of
// data/inputs/cost_keys.h.
void predictor_assume(struct predictor *p, const char *name, const struct estimate *value);

// Never fails because of what the row says: prediction.reason says why there is no prediction.
void predict_row(struct predictor *p, const struct run_row *row, struct prediction *prediction);

// The problem and the placement of the row that was predicted last.
void predictor_problem(const struct predictor *p, struct problem *problem,
                       struct placement *placement, struct arena *arena);
// Whether the host's launches decide, rather than the GPUs: by how much the time grows if they take
// as long as is known, a twentieth at least; else 0, and where whole iterations are graphs.
double prediction_launches_share(const struct prediction *x);
// "overlap_tensor 1 (unknown: 1.268 to 1.458 s), flash te": what the prediction assumes, first what
// is open, the widest of it before all; "": nothing.
const char *prediction_assumed(const struct prediction *x, struct arena *arena);
// The logarithm of its times' ratio; 0: nothing is open.
double assumption_width(const struct assumption *a);
// A trait of a row: its cell (NOT_STATED: blank).
int row_trait(const struct run_row *row, enum trait trait);
void row_set_trait(struct run_row *row, enum trait trait, int value);

// A whole problem in this placement; every stage is on the first node group that can hold a stage.
void predict_problem(struct predictor *p, const struct problem *problem,
                     const struct placement *placement, struct prediction *prediction);
