// One operation at one size, as a back end repeats it. Most kinds of work read only the sample's
// dimensions; a whole layer also reads its shape. Every back end supports the same list, so that
// costs of any device follow from the same samples. cells.h decides which cells a run has.
#ifndef PLUMBLINE_MEASURE_SAMPLING_CELL_H
#define PLUMBLINE_MEASURE_SAMPLING_CELL_H

#include "data/inputs/model/model.h"
#include "data/numbers/samples.h"

// What a repetition does, with the sample's dimensions that it reads; a back end without a kind of
// work says so in prepare.
enum work {
    WORK_GEMM,        // {m, n, k}: activations [m][k] x weights [k][n]
    WORK_GEMM_DATA,   // {m, n, k} of that product: outputs' gradient [m][n] x weights^T =
                      // activations' gradient
    WORK_GEMM_WEIGHT, // {m, n, k} of that product: activations^T x outputs' gradient, added to the
                      // weights' [k][n]
    WORK_GROUPED,     // {m, n, k, products}: as the three above, of so many experts together
    WORK_GROUPED_DATA,
    WORK_GROUPED_WEIGHT,
    WORK_ATTENTION, // {heads x batch, sequence, head width}: scores, softmax, context, scores kept
                    // (unfused)
    WORK_ATTENTION_BACKWARD, // the same: gradients of query, key and value from the kept scores
    WORK_FUSED_ATTENTION, // the same dimensions: causal, scores never written, where the device has
                          // such a kernel
    WORK_FUSED_ATTENTION_BACKWARD, // computes the scores again
    WORK_CONTEXT_ATTENTION, // {heads x batch, queries, keys, head width}: without a mask, as in a
                            // step of a ring; then as above
    WORK_CONTEXT_ATTENTION_BACKWARD,
    WORK_FUSED_CONTEXT_ATTENTION,
    WORK_FUSED_CONTEXT_ATTENTION_BACKWARD,
    WORK_ELEMENTWISE, // {bytes, tokens, hidden, ffn}: two norms, two residual sums, the activation
    WORK_ELEMENTWISE_BACKWARD, // the same, their gradients
    WORK_GATED_ELEMENTWISE,    // the same two with gate x up
    WORK_GATED_ELEMENTWISE_BACKWARD,
    WORK_NORM, // {bytes, tokens, hidden}
    WORK_NORM_BACKWARD,
    WORK_ACTIVATION, // {bytes, rows, width, 1 if gated: gate x up}: the activation alone
    WORK_ACTIVATION_BACKWARD,
    WORK_ROTARY,  // {tokens, heads, head width}: both halves of every head are rotated
    WORK_DROPOUT, // {values}: a tenth becomes zero, a byte for each says which
    WORK_DROPOUT_BACKWARD,
    WORK_CAST,  // {rows, columns}: to 8 bits by the sample's recipe, and the transpose
    WORK_COPY,  // {bytes}: half of them read, half written, on the device
    WORK_LAYER, // {micro-batch, sequence, tensor, context}, and cell.layer: a whole layer in one
                // pass
    WORK_OPTIMIZER,        // {values}: one step of Adam over weights, gradients and both moments
    WORK_COMPRESS,         // {rows, columns, rank}: P = M Q, orthogonalised; Q = M^T P
    WORK_DECOMPRESS,       // {rows, columns, rank}: P Q^T
    WORK_TOP_K_COMPRESS,   // {values, kept}: the `kept` of largest magnitude, and their positions
    WORK_TOP_K_DECOMPRESS, // {values, kept}: back to their positions, zero elsewhere
    WORK_QUANTISE,   // {values, bits}: 8, 4: by the largest of a run of QUANTISE_RUN; 1: signs and
                     // mean size, what is lost kept and added next time
    WORK_DEQUANTISE, // {values, bits}
    WORK_EMPTY_BLOCKS, // {blocks}: the calls of a block's forward pass with next to nothing to do
    WORK_TO_DEVICE_PINNED, // {bytes}: transfers between a device and its host
    WORK_TO_DEVICE_PAGEABLE,
    WORK_TO_HOST_PINNED,
    WORK_TO_HOST_PAGEABLE,
    WORK_COUNT
};

enum { QUANTISE_RUN = 256 };

// A layer's pass. Backward makes both gradients, of its input and of its weights, from what forward
// kept; selective recomputes scores and context before it, full the whole forward pass.
enum pass { PASS_FORWARD, PASS_BACKWARD, PASS_BACKWARD_SELECTIVE, PASS_BACKWARD_FULL, PASS_COUNT };
extern const char
    *const pass_names[]; // "forward", "backward", "backward selective", "backward full"

// What a backward pass makes, where a schedule splits it: both gradients, its input's, its
// weights'.
enum gradients { GRADIENTS_BOTH, GRADIENTS_OF_INPUT, GRADIENTS_OF_WEIGHTS };

struct layer_cell {
    enum layer_kind kind; // LAYER_EMBEDDING, LAYER_BLOCK, LAYER_HEAD (with the loss)
    enum pass pass;
    const struct shape *shape;
    bool fused; // with the fused attention
    bool graph; // started as one captured graph, where the device has such a thing; else by kernels
    enum gradients gradients;
    int parts; // sequence parallelism: norms and residual sums have 1 / parts of the tokens; 0: all
};

// One operation at one size, while it is being measured.
struct cell {
    enum work work;
    const struct layer_cell *layer; // WORK_LAYER, else NULL
    struct sample sample;
    int capacity;          // of sample.seconds
    bool done;             // its interval is narrow enough
    int target;            // repetitions until the next look (rounds.c)
    double spent_s;        // by all its repetitions and warm-ups, what is not timed included
    double relative_width; // of its interval at the last look
};

#endif
