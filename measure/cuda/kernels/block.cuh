// A transformer block beside its matrix products: norms, sums, activations, softmax. N is how many
// values a thread takes at once; rows whose length is no multiple of it are taken by the kernels
// with N = 1.
#pragma once

#include "measure/cuda/kernels/device_code.cuh"

template <typename T, int N> __global__ void kernel_add(arguments a)
{
    for (int64_t i = first_item() * N; i < a.size[0]; i += item_step() * N) {
        pack<T, N> x = load<T, N>(a.in[0], i), y = load<T, N>(a.in[1], i), z;
        for (int j = 0; j < N; j++)
            set_value(z.value[j], to_float(x.value[j]) + to_float(y.value[j]));
        store<T, N>(a.out[0], i, z);
    }
}

template <typename T, int N> __global__ void kernel_norm(arguments a)
{
    const int64_t rows = a.size[0], columns = a.size[1];
    const bool centred = a.in[2] != NULL;
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const int64_t base = row * columns;
        float sum = 0, squares = 0;
        for (int64_t j = threadIdx.x * N; j < columns; j += blockDim.x * N) {
            pack<T, N> x = load<T, N>(a.in[0], base + j);
            for (int k = 0; k < N; k++) {
                float v = to_float(x.value[k]);
                sum += v, squares += v * v;
            }
        }
        float mean = centred ? block_sum(sum) / (float)columns : 0;
        float scale =
            rsqrtf(fmaxf(block_sum(squares) / (float)columns - mean * mean, 0.0f) + 1e-5f);
        if (threadIdx.x == 0) ((float2 *)a.out[1])[row] = make_float2(mean, scale);
        for (int64_t j = threadIdx.x * N; j < columns; j += blockDim.x * N) {
            pack<T, N> x = load<T, N>(a.in[0], base + j), w = load<T, N>(a.in[1], j), b, y;
            if (centred) b = load<T, N>(a.in[2], j);
            for (int k = 0; k < N; k++) {
                float v = (to_float(x.value[k]) - mean) * scale * to_float(w.value[k]);
                set_value(y.value[k], centred ? v + to_float(b.value[k]) : v);
            }
            store<T, N>(a.out[0], base + j, y);
        }
    }
}

// With xh = (x - mean) scale and g = dy weight: dx = scale (g - mean(g) - xh mean(g xh)), without
// mean(g) if not centred.
template <typename T, int N> __global__ void kernel_norm_backward(arguments a)
{
    const int64_t rows = a.size[0], columns = a.size[1];
    const bool centred = a.in[4] != NULL;
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const int64_t base = row * columns;
        const float2 statistics = ((const float2 *)a.in[2])[row];
        float sum = 0, product = 0;
        for (int64_t j = threadIdx.x * N; j < columns; j += blockDim.x * N) {
            pack<T, N> x = load<T, N>(a.in[0], base + j), w = load<T, N>(a.in[1], j),
                       dy = load<T, N>(a.in[3], base + j);
            for (int k = 0; k < N; k++) {
                float g = to_float(dy.value[k]) * to_float(w.value[k]);
                sum += g;
                product += g * (to_float(x.value[k]) - statistics.x) * statistics.y;
            }
        }
        sum = centred ? block_sum(sum) / (float)columns : 0;
        product = block_sum(product) / (float)columns;
        for (int64_t j = threadIdx.x * N; j < columns; j += blockDim.x * N) {
            pack<T, N> x = load<T, N>(a.in[0], base + j), w = load<T, N>(a.in[1], j),
                       dy = load<T, N>(a.in[3], base + j);
            pack<T, N> dx;
            for (int k = 0; k < N; k++) {
                float g = to_float(dy.value[k]) * to_float(w.value[k]);
                float centre = (to_float(x.value[k]) - statistics.x) * statistics.y;
                set_value(dx.value[k], statistics.y * (g - sum - centre * product));
            }
            store<T, N>(a.out[0], base + j, dx);
        }
    }
}

enum { ROWS_PER_STRIP = 32 };

// A thread keeps N columns of a strip of rows; strips are added up by atomic additions. blockIdx.y
// counts strips.
template <typename T, int N> __global__ void kernel_norm_weights(arguments a)
{
    const int64_t rows = a.size[0], columns = a.size[1], column = first_item() * N;
    if (column >= columns) return;
    for (int64_t top = (int64_t)blockIdx.y * ROWS_PER_STRIP; top < rows;
         top += (int64_t)gridDim.y * ROWS_PER_STRIP) {
        float weight[N] = {0}, bias[N] = {0};
        for (int64_t row = top; row < rows && row < top + ROWS_PER_STRIP; row++) {
            const float2 statistics = ((const float2 *)a.in[1])[row];
            pack<T, N> x = load<T, N>(a.in[0], row * columns + column);
            pack<T, N> dy = load<T, N>(a.in[2], row * columns + column);
            for (int k = 0; k < N; k++) {
                float g = to_float(dy.value[k]);
                weight[k] += g * (to_float(x.value[k]) - statistics.x) * statistics.y;
                bias[k] += g;
            }
        }
        for (int k = 0; k < N; k++) {
            atomicAdd((float *)a.out[0] + column + k, weight[k]);
            if (a.out[1]) atomicAdd((float *)a.out[1] + column + k, bias[k]);
        }
    }
}

template <typename T, int N> __global__ void kernel_column_sum(arguments a)
{
    const int64_t rows = a.size[0], columns = a.size[1], column = first_item() * N;
    if (column >= columns) return;
    for (int64_t top = (int64_t)blockIdx.y * ROWS_PER_STRIP; top < rows;
         top += (int64_t)gridDim.y * ROWS_PER_STRIP) {
        float sum[N] = {0};
        for (int64_t row = top; row < rows && row < top + ROWS_PER_STRIP; row++) {
            pack<T, N> x = load<T, N>(a.in[0], row * columns + column);
            for (int k = 0; k < N; k++) sum[k] += to_float(x.value[k]);
        }
        for (int k = 0; k < N; k++) atomicAdd((float *)a.out[0] + column + k, sum[k]);
    }
}

// gelu by its tanh form, x / (1 + e^-2u), u = 0.79788456 (x + 0.044715 x^3).
static __device__ inline float gelu_share(float x)
{
    return 1 / (1 + __expf(-1.5957691f * (x + 0.044715f * x * x * x)));
}

template <typename T, int N> __global__ void kernel_gelu(arguments a)
{
    for (int64_t i = first_item() * N; i < a.size[0] * a.size[1]; i += item_step() * N) {
        pack<T, N> x = load<T, N>(a.in[0], i), y;
        for (int k = 0; k < N; k++) {
            float v = to_float(x.value[k]);
            set_value(y.value[k], v * gelu_share(v));
        }
        store<T, N>(a.out[0], i, y);
    }
}

template <typename T, int N> __global__ void kernel_gelu_backward(arguments a)
{
    for (int64_t i = first_item() * N; i < a.size[0] * a.size[1]; i += item_step() * N) {
        pack<T, N> x = load<T, N>(a.in[0], i), dy = load<T, N>(a.in[1], i), dx;
        for (int k = 0; k < N; k++) {
            float v = to_float(x.value[k]), s = gelu_share(v);
            float slope = s + v * s * (1 - s) * 1.5957691f * (1 + 0.134145f * v * v);
            set_value(dx.value[k], slope * to_float(dy.value[k]));
        }
        store<T, N>(a.out[0], i, dx);
    }
}

template <typename T, int N> __global__ void kernel_gated(arguments a)
{
    const int64_t columns = a.size[1];
    for (int64_t i = first_item() * N; i < a.size[0] * columns; i += item_step() * N) {
        const int64_t row = i / columns, at = i + row * columns;
        pack<T, N> gate = load<T, N>(a.in[0], at), up = load<T, N>(a.in[0], at + columns), y;
        for (int k = 0; k < N; k++) {
            float g = to_float(gate.value[k]);
            set_value(y.value[k], g / (1 + __expf(-g)) * to_float(up.value[k]));
        }
        store<T, N>(a.out[0], i, y);
    }
}

template <typename T, int N> __global__ void kernel_gated_backward(arguments a)
{
    const int64_t columns = a.size[1];
    for (int64_t i = first_item() * N; i < a.size[0] * columns; i += item_step() * N) {
        const int64_t row = i / columns, at = i + row * columns;
        pack<T, N> gate = load<T, N>(a.in[0], at), up = load<T, N>(a.in[0], at + columns),
                   dy = load<T, N>(a.in[1], i);
        pack<T, N> d_gate, d_up;
        for (int k = 0; k < N; k++) {
            float g = to_float(gate.value[k]), s = 1 / (1 + __expf(-g)), d = to_float(dy.value[k]);
            set_value(d_gate.value[k], d * to_float(up.value[k]) * s * (1 + g * (1 - s)));
            set_value(d_up.value[k], d * g * s);
        }
        store<T, N>(a.out[0], at, d_gate);
        store<T, N>(a.out[0], at + columns, d_up);
    }
}

// Causal: row r of every square of `columns` rows sees columns 0 .. r; what it does not see becomes
// 0.
template <typename T, int N> __global__ void kernel_softmax(arguments a)
{
    const int64_t rows = a.size[0], columns = a.size[1];
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const int64_t base = row * columns, seen = a.size[2] ? row % columns + 1 : columns;
        float largest = -INFINITY, sum = 0;
        for (int64_t j = threadIdx.x * N; j < seen; j += blockDim.x * N) {
            pack<T, N> x = load<T, N>(a.in[0], base + j);
            for (int k = 0; k < N; k++)
                if (j + k < seen) largest = fmaxf(largest, to_float(x.value[k]));
        }
        largest = block_largest(largest);
        for (int64_t j = threadIdx.x * N; j < seen; j += blockDim.x * N) {
            pack<T, N> x = load<T, N>(a.in[0], base + j);
            for (int k = 0; k < N; k++)
                if (j + k < seen) sum += __expf((to_float(x.value[k]) - largest) * a.scalar[0]);
        }
        const float share = 1 / block_sum(sum);
        for (int64_t j = threadIdx.x * N; j < columns; j += blockDim.x * N) {
            pack<T, N> x = load<T, N>(a.in[0], base + j), y;
            for (int k = 0; k < N; k++)
                set_value(y.value[k],
                          j + k < seen
                              ? __expf((to_float(x.value[k]) - largest) * a.scalar[0]) * share
                              : 0.0f);
            store<T, N>(a.out[0], base + j, y);
        }
    }
}

template <typename T, int N> __global__ void kernel_softmax_backward(arguments a)
{
    const int64_t rows = a.size[0], columns = a.size[1];
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const int64_t base = row * columns;
        float sum = 0;
        for (int64_t j = threadIdx.x * N; j < columns; j += blockDim.x * N) {
            pack<T, N> p = load<T, N>(a.in[0], base + j), d = load<T, N>(a.in[1], base + j);
            for (int k = 0; k < N; k++) sum += to_float(p.value[k]) * to_float(d.value[k]);
        }
        sum = block_sum(sum);
        for (int64_t j = threadIdx.x * N; j < columns; j += blockDim.x * N) {
            pack<T, N> p = load<T, N>(a.in[0], base + j), d = load<T, N>(a.in[1], base + j), y;
            for (int k = 0; k < N; k++)
                set_value(y.value[k],
                          a.scalar[0] * to_float(p.value[k]) * (to_float(d.value[k]) - sum));
            store<T, N>(a.out[0], base + j, y);
        }
    }
}
