// Which operations are measured, at which sizes: the kernels and the layers of a model, at token
// counts that fit the budget. cells.c: kernels; cells_layers.c: whole layers and the optimizer;
// cells_compress.c: compression. cells_parts.c: parts that only some models have.
#pragma once

#include "data/inputs/model/model.h"
#include "data/numbers/samples.h"
#include "data/base/least.h"

// One operation at one size, as a back end repeats it. Most kinds of work read only the sample's
// dimensions; a whole layer also reads its shape. Every back end supports the same list, so that
// costs of any device follow from the same samples. cells.h decides which cells a run has.

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

enum { CELLS_LIST_MAX = 16, REPETITIONS_MIN = 8 };

// A list as given by the user: "1,2,4".
struct cells_list {
    int64_t values[CELLS_LIST_MAX];
    int count;
};

struct cells_request {
    const struct shape *shapes;
    int shape_count;
    struct cells_list tensors, contexts, micro_batches, ranks, experts;
    bool recompute[PASS_COUNT]; // by enum pass: PASS_BACKWARD_SELECTIVE, PASS_BACKWARD_FULL
    bool fused;                 // attention is the fused one
    bool graphs;                // whole layers once more as a graph
    enum recipe recipe;         // of products in 8 bits
    bool yardstick;             // a small layer of fixed sizes follows the cells
    bool cut_layers;            // whole layers of context degrees above 1, too
    bool fp32_gradients;        // of weights are added to fp32 numbers, where those are wider
    bool quick; // two sizes of a kernel instead of three, and only those that costs need
    int64_t sequence;
    enum precision precision;
    int threads;
    double largest_s; // approximate time of a repetition at a kernel's largest size
    double gemm_flop_per_s, copy_bytes_per_s; // a first guess, used only to choose sizes
};

// The basis of the first guess: one product and one copy.
void cells_probe(struct cell cells[2]);

// Kernels, layers, the optimizer's step, low-rank compression: everything that costs are derived
// from. All cells are still without repetitions. Layers that take far too long even at their
// shortest sequence are left out.
void cells_choose(struct cell **cells, int *cell_count, const struct cells_request *request,
                  struct arena *arena);

// Forward and backward of a block, at the largest micro-batch, for turns without a rest; the number
// of cells is even.
void cells_choose_sustained(struct cell **cells, int *cell_count,
                            const struct cells_request *request, struct arena *arena);

// Compression only: low rank at request->ranks, a hundredth and a tenth kept, 8, 4 and 1 bits.
// Sizes range up to messages of sequence x micro-batch rows of the shapes' hidden width.
void cells_choose_compression(struct cell **cells, int *cell_count,
                              const struct cells_request *request, struct arena *arena);

// The unavoidable repetitions of a run, in units of request->largest_s: for dividing a budget.
double cells_least_work(const struct cells_request *request);
double cells_least_work_of_compression(const struct cells_request *request);

// Shared by the files that choose cells.

enum { MATRIX_VALUES_MAX = 1 << 28, SIZES = 3 };

struct chooser {
    const struct cells_request *request;
    const struct shape *shape; // the current one, like the tensor and context degrees
    int64_t tensor, context;
    struct cell *cells;
    int count, capacity;
    struct arena *arena;
};

// With as many dimensions as are above 0.
struct cell *cells_add(struct chooser *c, enum work work, enum sample_kind kind,
                       const char *operation, double flop, double bytes,
                       const int64_t dimensions[4]);
#define SIZE(...) ((const int64_t[4]){__VA_ARGS__})

// The smallest of three sizes; the largest, four times this, takes about the requested time and is
// at most `limit`.
int64_t cells_quarter(double seconds_per_unit, double largest_s, int64_t limit);
// The number of sizes in a ladder, and the factor between them: a quarter, a half, the whole; or a
// quarter and the whole.
int cells_sizes(const struct cells_request *request);
int64_t cells_step(const struct cells_request *request);

int64_t cells_largest(const struct cells_list *list);
int64_t cells_smallest(const struct cells_list *list);

// The three products of a linear layer, at the same sizes. experts: of so many layers together,
// each with its share of the rows; 0: of one.
void cells_add_products(struct chooser *c, const char *operation, int64_t columns, int64_t inner,
                        int64_t experts);

void cells_add_experts(struct chooser *c);
void cells_add_elementwise(struct chooser *c);
// Of the shape: rows of `width` values, once more as many of the gate where it is gated.
struct cell *cells_add_activation(struct chooser *c, int64_t rows, int64_t width, bool backward);
void cells_add_low_rank(struct chooser *c, int64_t rank);
// One pass of the chooser's shape and degrees; of `what` the kind, the pass, the gradients and
// whether it is a graph.
struct cell *cells_add_pass(struct chooser *c, const struct layer_cell *what, int64_t micro_batch,
                            int64_t sequence);
void cells_add_layers(struct chooser *c);
// A small layer of fixed sizes, forward and backward, which tells how fast the machine is now.
struct cell *cells_add_yardstick(struct chooser *c);
void cells_add_optimizer(struct chooser *c);

// In units of request->largest_s.
double cells_layers_work(const struct cells_request *request);
