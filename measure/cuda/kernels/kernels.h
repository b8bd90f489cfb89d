// Our own kernels on a CUDA device: what no library offers, or what a framework also does by plain
// kernels. Every kernel takes the one struct below, so that launching only needs a table of them,
// and a test can run them on the CPU. Matrices are dense, by rows.
#pragma once

#include <cuda_runtime_api.h>
#include <stdint.h>

enum element { ELEMENT_FLOAT, ELEMENT_HALF, ELEMENT_BFLOAT, ELEMENT_E4M3, ELEMENT_E5M2 };

// T is the element type given at launch: one of the first three.
enum kernel {
    KERNEL_FILL, // out[0]: size[0] values; size[1]: enum fill, size[2]: bound of tokens, size[3]:
                 // seed
    KERNEL_GATE, // waits for int in[0] on the host to be set, at most size[0] ns; then sets int
                 // out[0]
    KERNEL_ADD,  // out[0] = in[0] + in[1], size[0] values of T
    KERNEL_NORM, // in: x, weight, bias or NULL (then a norm without mean); out: y, float2 (mean, 1
                 // / deviation)
    KERNEL_NORM_BACKWARD, // in: x, weight, statistics, dy, bias or NULL; out: dx. size: rows,
                          // columns
    KERNEL_NORM_WEIGHTS,  // in: x, statistics, dy; float out += : weight's gradient, bias' or NULL.
                          // size: rows, columns
    KERNEL_COLUMN_SUM,    // float out[0] += the columns' sums of in[0]. size: rows, columns
    KERNEL_GELU,          // out[0] = gelu(in[0]), size: rows, columns
    KERNEL_GELU_BACKWARD, // out[0] = gelu'(in[0]) in[1]
    KERNEL_GATED, // out[0] = silu(gate) up, in[0]: rows of columns of gate and as many of up
    KERNEL_GATED_BACKWARD, // out[0]: as in[0], from in[1]
    KERNEL_ROTARY, // in: x, float angles [tokens][2 x size[1]], cosines before sines; out[0]. size:
                   // heads of all tokens, half a head's width, heads of a token
    KERNEL_DROPOUT, // in: x; out: y, bytes that say what was kept. size: values, seed; scalar[0]:
                    // the share dropped
    KERNEL_DROPOUT_BACKWARD, // in: dy, bytes; out: dx. size[0] values; scalar[0] as above
    KERNEL_SOFTMAX, // out[0] = softmax(scalar[0] in[0]) by rows; size: rows, columns, causal. May
                    // be in place
    KERNEL_SOFTMAX_BACKWARD, // out[0] = scalar[0] P (dP - sum(P dP)); in: P, dP; size: rows,
                             // columns
    KERNEL_LOSS, // in: logits, int32 targets; float out: softmax, loss of each row. size: rows,
                 // columns
    KERNEL_LOSS_BACKWARD, // in: float softmax, targets; out: gradient of the logits times scalar[0]
    KERNEL_EMBED,         // in: table, int32 tokens; out: rows. size: rows, columns
    KERNEL_EMBED_BACKWARD, // in: dy, tokens; float out += . size: rows, columns
    KERNEL_ADAM, // in: float gradient; float out: state m, state v, weights; out[3]: weights in T
                 // or NULL. size[0] values; scalar: step size, decay of m, decay of v, epsilon
    KERNEL_CAST, // out[0] = in[0] in 8 bits, size: rows, columns, E5M2 rather than E4M3
    KERNEL_CAST_TRANSPOSED, // the same; out[1]: its transpose. in[1]: float to multiply by, or
                            // NULL; out[2]: float, at least the largest magnitude, or NULL
    KERNEL_CAST_RUNS,       // of 16 bits; out: bytes, their transpose, scales of runs of rows, of
                      // columns. size: rows, columns, E5M2 rather than E4M3, values of a run (128,
                      // 32)
    KERNEL_CHOLESKY,    // in: float Gram matrix [n][n]; float out[0]: scratch [n][n]; out[1]: T
                        // [n][n], the inverse of its upper factor. size[0]: n; scalar[0]: ridge,
                        // relative to the trace / n
    KERNEL_RADIX_OPEN,  // out: struct radix, cleared; size[0]: kept
    KERNEL_RADIX_COUNT, // in: values; out: struct radix. size[0] values
    KERNEL_RADIX_PICK,  // out: struct radix
    KERNEL_COLLECT,     // in: values; out: struct radix, int32 positions, T values. size[0] values
    KERNEL_SCATTER,     // in: int32 positions, T values; out: T. size[0]: kept
    KERNEL_QUANTISE, // in: T values; out: bytes, float scales, float losses or NULL. size: values,
                     // bits
    KERNEL_DEQUANTISE, // in: bytes, scales; out: T values. size: values, bits
    KERNEL_COUNT
};

enum fill {
    FILL_SIGNED,    // T, -scalar[0] .. scalar[0]
    FILL_POSITIVE,  // T, 0 .. scalar[0]
    FILL_TOKENS,    // int32, 0 .. size[2] - 1
    FILL_BYTES,     // bytes that are finite numbers in both 8-bit formats
    FILL_EXPONENTS, // bytes 120 to 127: powers of two from 2^-7 to 1
};

enum {
    QUANTISE_GROUP = 256, // values that share a scale
    RADIX_BITS = 31,      // of a float's magnitude
    RADIX_BINS = 2048,
    RADIX_PASSES = 3, // of 11, 10 and 10 bits
};

// Search for the magnitude of the k-th largest value, digit by digit from the top.
struct radix {
    uint32_t prefix;    // the digits found so far
    uint32_t bits_left; // below them
    uint32_t wanted;    // of those that share them, so many are kept
    uint32_t collected, ties;
    uint32_t bins[RADIX_BINS];
};

struct kernel_arguments {
    const void *in[5];
    void *out[4];
    int64_t size[4];
    float scalar[4];
};

#ifdef __cplusplus
extern "C" {
#endif

// Of the devices that the kernels were compiled for, the least: 80 is compute capability 8.0.
int kernel_least_capability(void);

// processors: of the device, for the number of blocks.
cudaError_t kernel_launch(enum kernel kernel, enum element type,
                          const struct kernel_arguments *arguments, int processors,
                          cudaStream_t stream);

#ifdef __cplusplus
}
#endif
