// The queue of the fake device's stream.
#pragma once

#include <cuda_runtime_api.h>
#include <stdbool.h>

#include "measure/cuda/kernels/kernels.h"

enum operation_kind {
    OPERATION_KERNEL,
    OPERATION_GEMM,
    OPERATION_COPY,
    OPERATION_CLEAR,
    OPERATION_EVENT,
    OPERATION_GRAPH,
    OPERATION_CALL
};

struct fake_matrix {
    int element;
    int64_t rows, columns, leading, stride;
    int batch;
    const char *at;
};

// Of a matrix whose rows of `depth` values are summed along.
struct fake_scales {
    const void *at; // NULL: none
    int mode;
    int64_t rows, depth;
};

struct operation {
    enum operation_kind kind;
    const void *function;
    dim3 grid, block;
    struct kernel_arguments arguments;
    struct fake_matrix a, b, d;
    struct fake_scales a_scales, b_scales;
    bool transpose_a, transpose_b;
    float alpha, beta;
    const char *bias;
    int algorithm;
    void *to;
    const void *from;
    size_t bytes;
    struct event *event;
    struct cudaGraph *graph;
    void (*call)(const struct operation *operation); // OPERATION_CALL
    const void *context;
};

struct operation *fake_queue(enum operation_kind kind);
bool fake_may(void);                            // false: this call is to fail
bool fake_holds(const void *at, int64_t bytes); // whether that is allocated
void fake_multiply(const struct operation *operation);
