// The ends of a model, the optimizer's step, casts to 8 bits, random operands and the gate of
// timing.
#pragma once

#include "measure/cuda/kernels/device_code.cuh"

// The number's place and the seed decide its value, so the fill does not depend on the grid.
static __device__ inline uint64_t hash_of(uint64_t at, uint64_t seed)
{
    uint64_t z = (at + seed * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 31)) * 0x94d049bb133111ebu;
    return z ^ (z >> 29);
}

template <typename T> __global__ void kernel_fill(arguments a)
{
    for (int64_t i = first_item(); i < a.size[0]; i += item_step()) {
        const uint64_t h = hash_of((uint64_t)i, (uint64_t)a.size[3]);
        const float positive = (float)(h >> 40) * 0x1p-24f;
        switch ((int)a.size[1]) {
        case FILL_SIGNED: set_value(((T *)a.out[0])[i], (2 * positive - 1) * a.scalar[0]); break;
        case FILL_POSITIVE: set_value(((T *)a.out[0])[i], positive * a.scalar[0]); break;
        case FILL_TOKENS:
            ((int32_t *)a.out[0])[i] = (int32_t)((h >> 32) % (uint64_t)a.size[2]);
            break;
        case FILL_BYTES: ((uint8_t *)a.out[0])[i] = (uint8_t)(h >> 56) & 0xbfu; break;
        case FILL_EXPONENTS: ((uint8_t *)a.out[0])[i] = (uint8_t)(120 + (h >> 61)); break;
        }
    }
}

// One thread. The limit keeps a queue that is fuller than the device takes from waiting for ever.
static __global__ void kernel_gate(arguments a)
{
    const unsigned long long begin = timer_ns();
    while (!*(const volatile int *)a.in[0]) {
        if (timer_ns() - begin < (unsigned long long)a.size[0]) continue;
        *(volatile int *)a.out[0] = 1;
        break;
    }
}

template <typename T, int N> __global__ void kernel_loss(arguments a)
{
    const int64_t rows = a.size[0], columns = a.size[1];
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const int64_t base = row * columns;
        float largest = -INFINITY, sum = 0;
        for (int64_t j = threadIdx.x * N; j < columns; j += blockDim.x * N) {
            pack<T, N> x = load<T, N>(a.in[0], base + j);
            for (int k = 0; k < N; k++) largest = fmaxf(largest, to_float(x.value[k]));
        }
        largest = block_largest(largest);
        for (int64_t j = threadIdx.x * N; j < columns; j += blockDim.x * N) {
            pack<T, N> x = load<T, N>(a.in[0], base + j);
            for (int k = 0; k < N; k++) sum += __expf(to_float(x.value[k]) - largest);
        }
        sum = block_sum(sum);
        if (threadIdx.x == 0) {
            const int32_t target = ((const int32_t *)a.in[1])[row];
            ((float *)a.out[1])[row] = largest + logf(sum) -
                                       to_float(((const T *)a.in[0])[base + target]);
        }
        for (int64_t j = threadIdx.x * N; j < columns; j += blockDim.x * N) {
            pack<T, N> x = load<T, N>(a.in[0], base + j);
            pack<float, N> share;
            for (int k = 0; k < N; k++)
                share.value[k] = __expf(to_float(x.value[k]) - largest) / sum;
            store<float, N>(a.out[0], base + j, share);
        }
    }
}

template <typename T, int N> __global__ void kernel_loss_backward(arguments a)
{
    const int64_t rows = a.size[0], columns = a.size[1];
    for (int64_t i = first_item() * N; i < rows * columns; i += item_step() * N) {
        const int64_t row = i / columns, target = row * columns + ((const int32_t *)a.in[1])[row];
        pack<float, N> share = load<float, N>(a.in[0], i);
        pack<T, N> d;
        for (int k = 0; k < N; k++)
            set_value(d.value[k], (share.value[k] - (i + k == target ? 1.0f : 0.0f)) * a.scalar[0]);
        store<T, N>(a.out[0], i, d);
    }
}

template <typename T, int N> __global__ void kernel_embed(arguments a)
{
    const int64_t columns = a.size[1];
    for (int64_t i = first_item() * N; i < a.size[0] * columns; i += item_step() * N) {
        const int64_t row = i / columns, token = ((const int32_t *)a.in[1])[row];
        store<T, N>(a.out[0], i, load<T, N>(a.in[0], token * columns + i % columns));
    }
}

template <typename T, int N> __global__ void kernel_embed_backward(arguments a)
{
    const int64_t columns = a.size[1];
    for (int64_t i = first_item() * N; i < a.size[0] * columns; i += item_step() * N) {
        const int64_t row = i / columns, token = ((const int32_t *)a.in[1])[row];
        pack<T, N> d = load<T, N>(a.in[0], i);
        for (int k = 0; k < N; k++)
            atomicAdd((float *)a.out[0] + token * columns + i % columns + k, to_float(d.value[k]));
    }
}

// m and v without correction of their bias: that is a factor of the step size, which the host
// knows.
template <typename T, int N> __global__ void kernel_adam(arguments a)
{
    const float step = a.scalar[0], keep_m = a.scalar[1], keep_v = a.scalar[2],
                epsilon = a.scalar[3];
    for (int64_t i = first_item() * N; i < a.size[0]; i += item_step() * N) {
        pack<float, N> g = load<float, N>(a.in[0], i), m = load<float, N>(a.out[0], i),
                       v = load<float, N>(a.out[1], i);
        pack<float, N> w = load<float, N>(a.out[2], i);
        pack<T, N> narrow;
        for (int k = 0; k < N; k++) {
            m.value[k] = keep_m * m.value[k] + (1 - keep_m) * g.value[k];
            v.value[k] = keep_v * v.value[k] + (1 - keep_v) * g.value[k] * g.value[k];
            w.value[k] -= step * m.value[k] / (sqrtf(v.value[k]) + epsilon);
            set_value(narrow.value[k], w.value[k]);
        }
        store<float, N>(a.out[0], i, m);
        store<float, N>(a.out[1], i, v);
        store<float, N>(a.out[2], i, w);
        if (a.out[3]) store<T, N>(a.out[3], i, narrow);
    }
}

template <typename T, int N> __global__ void kernel_cast(arguments a)
{
    const bool e5m2 = a.size[2] != 0;
    for (int64_t i = first_item() * N; i < a.size[0] * a.size[1]; i += item_step() * N) {
        pack<T, N> x = load<T, N>(a.in[0], i);
        pack<uint8_t, N> y;
        for (int k = 0; k < N; k++) y.value[k] = to_byte(to_float(x.value[k]), e5m2);
        store<uint8_t, N>(a.out[0], i, y);
    }
}

enum { TILE = 64, TILE_STRIPS = THREADS / TILE };

// Square tiles through shared memory, so that both copies are written in whole lines. A thread
// keeps one column.
template <typename T> __global__ void kernel_cast_transposed(arguments a)
{
    __shared__ uint8_t tile[TILE][TILE + 4];
    const int64_t rows = a.size[0], columns = a.size[1], across = (columns + TILE - 1) / TILE;
    const int64_t tiles = across * ((rows + TILE - 1) / TILE);
    const int x = threadIdx.x % TILE;
    const float scale = a.in[1] ? *(const float *)a.in[1] : 1;
    float largest = 0;
    for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const int64_t top = t / across * TILE, left = t % across * TILE;
        for (int y = threadIdx.x / TILE; y < TILE; y += TILE_STRIPS)
            if (top + y < rows && left + x < columns) {
                const int64_t at = (top + y) * columns + left + x;
                const float value = to_float(((const T *)a.in[0])[at]);
                largest = fmaxf(largest, fabsf(value));
                tile[y][x] = to_byte(value * scale, a.size[2] != 0);
                ((uint8_t *)a.out[0])[at] = tile[y][x];
            }
        __syncthreads();
        for (int y = threadIdx.x / TILE; y < TILE; y += TILE_STRIPS)
            if (top + x < rows && left + y < columns)
                ((uint8_t *)a.out[1])[(left + y) * rows + top + x] = tile[x][y];
        __syncthreads();
    }
    if (!a.out[2]) return; // magnitudes are ordered as their bits
    largest = block_largest(largest);
    if (threadIdx.x == 0) atomicMax((unsigned *)a.out[2], __float_as_uint(largest));
}
