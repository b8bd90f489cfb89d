// A piece of work on a CUDA device as a list of steps over numbered areas of memory. Only
// arithmetic of shapes, leading dimensions and bytes: nothing here calls CUDA, so all of it is
// tested without a device.
//
// Areas of one kind are in one pool, filled once with random numbers of that kind. Each repetition
// begins at another position of the pool, so that no cache holds what it reads. Scratch is written
// before it is read.
#pragma once

#include "data/base/arena.h"
#include "data/base/units.h"
#include "data/numbers/samples.h"
#include "measure/cuda/kernels/kernels.h"

#include <stdbool.h>

enum area_kind {
    AREA_VALUES,    // of the session's type, -1 .. 1
    AREA_WEIGHTS,   // the same, smaller: products of many of them stay in range
    AREA_FLOATS,    // float, -1 .. 1
    AREA_POSITIVE,  // float, 0 .. 1
    AREA_TOKENS,    // int32 below the vocabulary
    AREA_BYTES,     // numbers of 8 bits
    AREA_EXPONENTS, // of scales, a byte each
    AREA_SCRATCH,
    AREA_KINDS
};

enum { AREA_ALIGNMENT = 256 };

struct area {
    enum area_kind kind;
    int64_t bytes, offset; // offset from the program's position in the kind's pool
};

struct place {
    int area;       // NO_AREA: a NULL pointer
    int64_t offset; // bytes
};
enum { NO_AREA = -1 };

// Scales of an operand in 8 bits, as the library reads them.
enum scaling {
    SCALING_NONE,
    SCALING_ONE,    // one float
    SCALING_RUNS,   // a float for 128 values along the summed axis
    SCALING_BLOCKS, // a float for 128 x 128 values
    SCALING_MX      // an exponent for 32 values along the summed axis
};

// D = op(A) op(B) + bias, or D += op(A) op(B); by columns, as cuBLAS has it.
struct gemm {
    enum element a_type, b_type, d_type;
    bool transpose_a, transpose_b, bias, accumulate;
    enum scaling a_scaling, b_scaling;
    bool fast_sums; // 8 bits: partial sums stay in the tensor cores' own precision
    int64_t m, n, k, lda, ldb, ldd;
    int64_t batch, stride_a, stride_b, stride_d; // strides in elements
    int alignment_a, alignment_b,
        alignment_d; // bytes that every operand's address is a multiple of
};

// Queries, keys and values of a token are in one row of qkv_row values, heads of a kind in
// sequence; sequences follow each other. The context has rows of heads x width. With `keys`, which
// are those of other tokens, queries are in rows of their own, keys and values in others, and every
// query sees every key.
struct attention {
    int64_t batch, heads, kv_heads, sequence, width;
    int64_t keys; // of a sequence; 0: its own tokens, each seen by itself and later ones
    enum element type;
    bool backward;
};

enum step_kind { STEP_KERNEL, STEP_GEMM, STEP_ATTENTION, STEP_COPY, STEP_CLEAR };

struct step {
    enum step_kind kind;
    struct place in[6], out[4];
    // gemm: in A, B, bias, scales of A, of B; out D. copy, clear: size[0] bytes attention:
    // in q, k, v, kept; out context, kept backward: in q, k, v,
    // context, its gradient, kept; out gradients of q, k, v
    enum kernel kernel;
    enum element type;
    int64_t size[4];
    float scalar[4];
    struct gemm gemm;
    struct attention attention;
    int plan; // the session's plan for the product or the attention
};

struct program {
    struct area *areas;
    int area_count, area_capacity;
    struct step *steps;
    int step_count, step_capacity;
    int begins_at;  // earlier steps clear what is added to
    int timed_from; // earlier steps make what the timed ones read
    int64_t bytes[AREA_KINDS];
    int64_t tokens_bound; // tokens are below it
    enum precision precision;
    enum element type;   // of values that are not in 8 bits
    enum recipe recipe;  // of those that are
    bool fused;          // attention is one step, else scores are written and read
    bool fp32_gradients; // of weights are added to float; else written in the program's type
    struct arena *arena;
};

void program_open(struct program *p, enum precision precision, bool fused, struct arena *arena);

static inline struct place place_none(void) { return (struct place){NO_AREA, 0}; }
static inline struct place place_after(struct place at, int64_t bytes)
{
    return (struct place){at.area, at.offset + bytes};
}

int64_t element_bytes(enum element type);
enum element element_of(enum precision precision); // of values; FP8: of those not in 8 bits

struct place program_area(struct program *p, enum area_kind kind, int64_t bytes);
struct place program_values(struct program *p, enum area_kind kind,
                            int64_t values); // of the program's type
struct step *program_add(struct program *p, enum step_kind kind);
struct step *program_kernel(struct program *p, enum kernel kernel, int64_t size0, int64_t size1);
void program_clear(struct program *p, struct place at, int64_t bytes);
struct step *program_gemm(struct program *p, const struct gemm *gemm, struct place a,
                          struct place b, struct place d, struct place bias);
bool gemm_same(const struct gemm *x, const struct gemm *y);

// One linear layer, y [tokens][outputs] = x [tokens][inputs] weights^T, weights [outputs][inputs],
// as PyTorch has it.
enum product { PRODUCT_FORWARD, PRODUCT_INPUT, PRODUCT_WEIGHT };

struct gemm gemm_of_linear(enum product product, int64_t tokens, int64_t outputs, int64_t inputs,
                           enum element type);
// The same in 8 bits, where both operands must have the summed axis innermost: B and A are given
// transposed as needed.
struct gemm gemm_of_linear_bytes(enum product product, int64_t tokens, int64_t outputs,
                                 int64_t inputs, enum element out, enum recipe recipe);

// Scales of a matrix whose rows of `depth` values are summed along.
struct place program_scales(struct program *p, enum scaling scaling, int64_t rows, int64_t depth);
// Sizes of products in 8 bits are multiples of it.
int64_t bytes_multiple(enum recipe recipe);

// x [rows][columns] in 8 bits and transposed, with scales, by one kernel.
struct casted {
    struct place bytes, transposed, scales, scales_transposed;
};
struct casted steps_cast(struct program *p, struct place x, int64_t rows, int64_t columns,
                         bool e5m2);

struct linear {
    int64_t tokens, outputs, inputs;
    struct place weights, bias; // bias: none, or a place
    struct casted weight_bytes; // in 8 bits
    struct place x;             // kept for the weights' gradient
    struct casted x_bytes;
    struct place gradient; // of the weights; none: nothing was there before
    bool bytes;            // multiplied in 8 bits
};

// Takes weights, and bias where there is one; with fp32_gradients also the cleared gradient;
// `bytes` follows from the precision and the sizes (multiples of 16).
struct linear steps_linear_open(struct program *p, int64_t tokens, int64_t outputs, int64_t inputs,
                                bool bias);
void steps_linear(struct program *p, struct linear *linear, struct place x, struct place y);
void steps_linear_backward(struct program *p, const struct linear *linear, struct place dy,
                           struct place dx); // dx may be none

// Where queries and keys (before values) of an attention, or their gradients, are.
struct attended {
    struct place query, key;
};
static inline int64_t attention_keys(const struct attention *a)
{
    return a->keys ? a->keys : a->sequence;
}
// Values of a row of queries, and of keys and values.
static inline int64_t query_row(const struct attention *a)
{
    return (a->heads + (a->keys ? 0 : 2 * a->kv_heads)) * a->width;
}
static inline int64_t key_row(const struct attention *a)
{
    return a->keys ? 2 * a->kv_heads * a->width : query_row(a);
}
struct attended attended_rows(const struct attention *a, struct place qkv); // of one row each

int64_t attention_kept_bytes(const struct attention *a, bool fused);
void steps_attention(struct program *p, const struct attention *a, struct attended at,
                     struct place context, struct place kept);
void steps_attention_backward(struct program *p, const struct attention *a, struct attended at,
                              struct place context, struct place d_context, struct place kept,
                              struct attended d);
