// A row of a table of runs: the configuration of one training run and, if it was measured, the
// result. The columns are those of the shared validation sets (docs/FORMATS.md, runs); a blank cell
// means "not stated".
#pragma once

#include "data/frameworks/defaults.h"

// METRIC(constant after METRIC_, name)
#define RUN_METRICS(METRIC)                                                                        \
    METRIC(ITERATION_TIME, "iteration_time")                                                       \
    METRIC(PEAK_MEMORY, "peak_memory")                                                             \
    METRIC(STATIC_MEMORY, "static_memory")                                                         \
    METRIC(TFLOPS_PER_GPU, "tflops_per_gpu") /* of arXiv 2104.04473: with recomputed FLOP */       \
    METRIC(MODEL_TFLOPS_PER_GPU, "model_tflops_per_gpu")   /* FORMULAS.md 18, of all scores */     \
    METRIC(CAUSAL_TFLOPS_PER_GPU, "causal_tflops_per_gpu") /* those that the mask leaves */        \
    METRIC(MFU, "mfu") /* the same two over the peak of the GPU in the run's precision */          \
    METRIC(CAUSAL_MFU, "causal_mfu")                                                               \
    METRIC(LAYER_FORWARD_TIME, "layer_forward_time")                                               \
    METRIC(LAYER_BACKWARD_TIME, "layer_backward_time")                                             \
    METRIC(THROUGHPUT, "throughput")                                                               \
    METRIC(OOM, "oom")                                                                             \
    METRIC(FAILED_OR_OOM, "failed_or_oom")
#define METRIC_CONSTANT(constant, name) METRIC_##constant,
enum run_metric { RUN_METRICS(METRIC_CONSTANT) METRIC_COUNT };
#undef METRIC_CONSTANT
extern const char *const run_metric_names[]; // [METRIC_COUNT], NULL

// The unit of value after reading. A throughput keeps what it counts.
enum run_unit {
    UNIT_PLAIN,
    UNIT_SAMPLES,
    UNIT_SAMPLES_PER_GPU,
    UNIT_TOKENS,
    UNIT_TOKENS_PER_GPU,
    UNIT_GB,
    UNIT_SHARE // was a percentage
};

// The device whose peak memory it is: the fullest; the fuller of the first and the last stage's;
// the last stage's, as the allocator counts it; the fullest, as the allocator counts it.
enum run_memory_of { MEMORY_OF_FULLEST, MEMORY_OF_ENDS, MEMORY_OF_LAST, MEMORY_OF_ALLOCATOR };

// Whole numbers are NOT_STATED, and texts have length 0, where the cell is blank.
struct run_row {
    int line, row; // of the file; row from 0
    struct cell id, source, gpu, notes, split, model, framework, version, lora_modules;
    struct cell origin; // the source, for the program and the date that it names
    int64_t num_gpus, layers, hidden, ffn, heads, kv_heads, head_width, vocab, positions, seq,
        document_tokens, lora_rank, lora_dropout, frozen_bits;
    int64_t query_rank, kv_rank, rotary_width, value_width; // latent attention
    int64_t experts, top_k, expert_ffn, shared_ffn, dense_layers;
    int64_t tp, pp, cp, dp, dp_shard, ep, etp, vpp, micro_batch, global_batch, sp, zero,
        gpus_per_node;
    int64_t gated, rms_norm, tied, dropout, bias, gradient_bytes, adam, state_bytes, overlap,
        overlap_messages, overlap_tensor, overlap_input_gradients, boundary_rank, boundary_drain,
        gradient_rank, fused_loss, gathered_logits, gathered_inputs, chunked_loss, kept_logits,
        loss_in_place, fp8_activation_input, overlap_dispatch, fixed_capacity, stopped_recompute,
        whole_gradient_sums, owner_broadcasts, split_gate, scattered_messages, barrier, compiled;
    int unfused; // bits of enum unfused, or NOT_STATED
    int fused;   // enum attention_stated, or NOT_STATED
    int precision, schedule, trainer, dispatcher, expert_products, graphs, checkpoints,
        context_kind;                 // enums, or NOT_STATED
    int recompute;                    // enum recompute, or NOT_STATED
    int recomputed_layers;            // of each stage, for RECOMPUTE_FIRST_LAYERS
    int memory_of;                    // enum run_memory_of, or NOT_STATED
    int metric;                       // enum run_metric, NOT_STATED, METRIC_COUNT: an unknown one
    double imbalance, expert_padding; // of experts; NAN where blank
    double value; // seconds, bytes, FLOP/s of a GPU or a share of it, samples or tokens per s, a
                  // flag; NAN where blank
    enum run_unit unit;
    char misread[200];    // the first cell that cannot be read, and why; "": none
    char unmeasured[200]; // the same of value and unit, which no prediction needs
};

struct row_reader {
    struct table table;
    int *column_of;          // [field]: the table's column, -1: it has none
    struct run_row defaults; // for blank cells
    const char *ignored;     // names of columns that nothing reads, "" if there are none
    int *foreign;            // of these, the ones that change what runs (spellings.c)
    int foreign_count;
    bool strict; // a cell that cannot be read is an error
};

// `defaults`: "column=value,..." for cells that are blank or missing; NULL: none. BAD_INPUT: the
// table or the defaults are malformed. An unknown column is no error, but is listed in `ignored`.
enum status rows_open(struct row_reader *r, const char *path, const char *defaults,
                      struct arena *arena, struct error *err);
// The same on text in memory; text[size] is '\0'.
enum status rows_open_text(struct row_reader *r, const char *path, const char *text, size_t size,
                           const char *defaults, struct arena *arena, struct error *err);
// *more false: there are no more rows. BAD_INPUT: there was none, or it is malformed. A cell that
// cannot be read counts as blank, and the row says so (misread).
enum status rows_next(struct row_reader *r, struct run_row *row, bool *more, struct error *err);

// Notes and source are prose: their settings are read only if the user asks for it (what ran, and
// when, is read from the source if no column says it). This blanks them; the first time that some
// of their words would have set columns (docs/FORMATS.md, runs), it says so to `to`.
void row_drop_notes(struct run_row *row, FILE *to, bool *told);

// Sets cells of a row: "column=value,...". BAD_INPUT begins with `what`.
enum status row_set_columns(struct run_row *row, const char *what, const char *text,
                            struct arena *arena, struct error *err);

// One row from "column=value" words.
enum status row_of_words(struct run_row *row, const char *const *words, int count,
                         struct arena *arena, struct error *err);

// ---- spellings.c: how tables spell what they hold.

enum { NUMBER_MAX = 64 };
// "1,602" -> "1602", in the buffer; other cells as they are.
struct cell cell_without_separators(struct cell cell, char buffer[NUMBER_MAX]);
// A measured value, perhaps with k (thousands), M (millions) or % at its end. A blank one is left.
// *unit: UNIT_SHARE where it ends with %, else left, too.
enum status value_read(const struct table *t, int column, double *value, enum run_unit *unit,
                       struct error *err);

// A unit in any usual spelling ("tok/s/GPU", "tokens per second"); BAD_INPUT names all.
enum status run_unit_read(const struct table *t, int column, double *factor, enum run_unit *unit,
                          struct error *err);

// A precision by its name or by that of its recipe ("FP8-MX", "mxfp8", "tensorwise").
enum status precision_read(const struct table *t, int column, int *precision, struct error *err);

// Whether a column that is not read changes what runs; *known: the column that it is here, NULL:
// none.
bool column_is_foreign(struct cell name, const char **known);

// Of own columns the nearest to a name, by its own name or by one that others have for it. `close`:
// NULL unless it is likely the one that is meant.
const char *column_nearest(const char *name, const char *const *own, int count, bool close,
                           struct arena *arena);
