// A model: a sequence of layers, given as runs of identical ones. Either a transformer shape, from which FLOPs, bytes and
// activations follow (docs/FORMULAS.md), or measured layers whose bytes stand here and whose times stand in the costs.
#ifndef PLUMBLINE_DATA_MODEL_H
#define PLUMBLINE_DATA_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "data/document.h"

enum layer_kind { LAYER_EMBEDDING, LAYER_BLOCK, LAYER_HEAD, LAYER_MEASURED };
extern const char *const layer_kind_names[];            // "embedding", "block", "head", "measured"

struct shape {
    int64_t hidden, ffn, heads, kv_heads, head_width, vocabulary;
    int64_t positions;          // rows of a learned position embedding, 0 without one
    bool gated_ffn;             // three matrices instead of two
    bool rms_norm;              // h parameters per norm instead of 2h
    bool qkv_bias, linear_bias; // on the query, key, value projections; on the others
    bool dropout;               // masks are kept for backward
    bool tied_embeddings;       // head and embedding share one matrix
};

// Bytes of a measured layer on one device, outright. Stash and boundary are per micro-batch.
struct measured_bytes {
    int64_t weight_bytes, gradient_bytes, optimizer_bytes;
    int64_t stash_bytes[3];     // by enum recompute: none, selective, full
    int64_t working_bytes[3];   // by enum recompute: while the layer runs, beside the stash
    int64_t boundary_bytes;     // its output, one message
    int64_t matrix_rows, matrix_columns;    // what low-rank compression works on; 0: not compressible
};

struct layer_run {
    const char *name;           // unique in the model
    enum layer_kind kind;
    int count;                  // >= 1
    bool recomputable;          // full and first_layers apply; blocks are, embedding and head are not
    struct measured_bytes measured;     // LAYER_MEASURED only
};

struct model {
    struct document document;
    const char *name;
    bool has_shape;
    struct shape shape;         // required when a run is an embedding, block or head
    struct layer_run *runs;
    int run_count;
    int layer_count;            // sum of counts, at most LAYERS_MAX
};

enum { LAYERS_MAX = 4096 };

enum status model_load(struct model *m, const char *path, struct arena *arena, struct error *err);
enum status model_check(const struct model *m, struct error *err);     // what load checks beyond types; for models made in memory
enum status model_save(const struct model *m, const char *path, struct arena *arena, struct error *err);
int model_run_of(const struct model *m, int layer);                    // index of the run that holds layer 0..layer_count-1

#endif
