// A transformer block in double precision, written from its definition: the reference for the
// device's passes. Its gradients are computed by differences, so no backward pass is written twice.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    BLOCK_X,
    NORM1,
    NORM1_BIAS,
    NORM2,
    NORM2_BIAS,
    QKV,
    QKV_BIAS,
    PROJECTION,
    PROJECTION_BIAS,
    UP,
    UP_BIAS,
    DOWN,
    DOWN_BIAS,
    BLOCK_PARTS
};

struct reference {
    int batch, sequence, hidden, heads, kv_heads, width, ffn;
    bool gated, rms, qkv_bias, linear_bias;
    double *part[BLOCK_PARTS]; // NULL: not there
    int64_t count[BLOCK_PARTS];
};

// out [batch x sequence][hidden]
void reference_forward(const struct reference *r, double *out);
