// Compression: the small factor of an orthogonalisation, choice of the largest values, quantisation
// in groups.
#pragma once

#include "measure/cuda/kernels/device_code.cuh"

// One block. G = R^T R, R upper triangular (Cholesky, by rows), then X = R^-1 by back substitution,
// a thread per column: P X has orthonormal columns where G = P^T P. The ridge keeps columns that
// depend on each other finite.
template <typename T> __global__ void kernel_cholesky(arguments a)
{
    const int n = (int)a.size[0];
    const float *gram = (const float *)a.in[0];
    float *r = (float *)a.out[0];
    T *inverse = (T *)a.out[1];
    float trace = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) trace += gram[(int64_t)i * n + i];
    const float ridge = a.scalar[0] * block_sum(trace) / (float)n;
    for (int i = threadIdx.x; i < n * n; i += blockDim.x)
        r[i] = gram[i] + (i / n == i % n ? ridge : 0.0f);
    __syncthreads();
    for (int k = 0; k < n; k++) {
        const float pivot = sqrtf(fmaxf(r[k * n + k], 1e-30f));
        __syncthreads();
        for (int j = k + threadIdx.x; j < n; j += blockDim.x)
            r[k * n + j] = j == k ? pivot : r[k * n + j] / pivot;
        __syncthreads();
        const int left = n - k - 1;
        for (int i = threadIdx.x; i < left * left; i += blockDim.x) {
            const int row = k + 1 + i / left, column = k + 1 + i % left;
            if (column >= row) r[row * n + column] -= r[k * n + row] * r[k * n + column];
        }
        __syncthreads();
    }
    // Column c of X: R X = 1. What is below the diagonal of r is not needed any more and takes X,
    // transposed; its diagonal is 1 / R's.
    for (int c = threadIdx.x; c < n; c += blockDim.x)
        for (int i = c; i >= 0; i--) {
            float sum = i == c ? 1.0f : 0.0f;
            for (int j = i + 1; j <= c; j++)
                sum -= r[i * n + j] * (j == c ? 1 / r[c * n + c] : r[c * n + j]);
            const float x = sum / r[i * n + i];
            if (i < c) r[c * n + i] = x;
            set_value(inverse[i * n + c], x);
        }
    for (int i = threadIdx.x; i < n * n; i += blockDim.x)
        if (i % n < i / n) set_value(inverse[i], 0.0f);
}

// The magnitude of a float without its sign grows with its bits.
static __device__ inline uint32_t magnitude_bits(float x)
{
    return __float_as_uint(x) & 0x7fffffffu;
}

static __device__ inline uint32_t digit_bits(uint32_t bits_left)
{
    return bits_left == RADIX_BITS ? 11 : 10;
}

static __global__ void kernel_radix_open(arguments a)
{
    struct radix *radix = (struct radix *)a.out[0];
    radix->bits_left = RADIX_BITS;
    radix->wanted = (uint32_t)a.size[0];
}

template <typename T, int N> __global__ void kernel_radix_count(arguments a)
{
    __shared__ uint32_t bins[RADIX_BINS];
    struct radix *radix = (struct radix *)a.out[0];
    const uint32_t left = radix->bits_left, digit = digit_bits(left), mask = (1u << digit) - 1;
    for (int i = threadIdx.x; i < RADIX_BINS; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    for (int64_t i = first_item() * N; i < a.size[0]; i += item_step() * N) {
        pack<T, N> x = load<T, N>(a.in[0], i);
        for (int k = 0; k < N; k++) {
            const uint32_t bits = magnitude_bits(to_float(x.value[k]));
            if (left == RADIX_BITS || bits >> left == radix->prefix)
                atomicAdd(&bins[bits >> (left - digit) & mask], 1u);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < RADIX_BINS; i += blockDim.x)
        if (bins[i]) atomicAdd(&radix->bins[i], bins[i]);
}

// One block of THREADS. The digit at which the count from the top reaches what is wanted.
static __global__ void kernel_radix_pick(arguments a)
{
    enum { SHARE = RADIX_BINS / THREADS };
    __shared__ uint32_t above[THREADS];
    struct radix *radix = (struct radix *)a.out[0];
    const uint32_t left = radix->bits_left, digit = digit_bits(left), wanted = radix->wanted;
    uint32_t count = 0;
    for (int i = 0; i < SHARE; i++) count += radix->bins[threadIdx.x * SHARE + i];
    above[threadIdx.x] = count;
    __syncthreads();
    uint32_t sum = 0;
    for (int i = threadIdx.x + 1; i < THREADS; i++) sum += above[i];
    __syncthreads(); // every thread has read what one of them changes now
    if (sum < wanted && sum + count >= wanted) {
        int bin = (int)threadIdx.x * SHARE + SHARE - 1;
        while (sum + radix->bins[bin] < wanted) sum += radix->bins[bin--];
        radix->prefix = radix->prefix << digit | (uint32_t)bin;
        radix->bits_left = left - digit;
        radix->wanted = wanted - sum;
    }
    __syncthreads();
    for (int i = 0; i < SHARE; i++) radix->bins[threadIdx.x * SHARE + i] = 0;
}

// Takes what is larger than the prefix found, and of what equals it as many as are wanted.
template <typename T, int N> __global__ void kernel_collect(arguments a)
{
    struct radix *radix = (struct radix *)a.out[0];
    const uint32_t left = radix->bits_left, prefix = radix->prefix, wanted = radix->wanted;
    for (int64_t i = first_item() * N; i < a.size[0]; i += item_step() * N) {
        pack<T, N> x = load<T, N>(a.in[0], i);
        for (int k = 0; k < N; k++) {
            const uint32_t bits = magnitude_bits(to_float(x.value[k])) >> left;
            if (bits < prefix || (bits == prefix && atomicAdd(&radix->ties, 1u) >= wanted))
                continue;
            const uint32_t at = atomicAdd(&radix->collected, 1u);
            ((int32_t *)a.out[1])[at] = (int32_t)(i + k);
            ((T *)a.out[2])[at] = x.value[k];
        }
    }
}

template <typename T> __global__ void kernel_scatter(arguments a)
{
    for (int64_t i = first_item(); i < a.size[0]; i += item_step())
        ((T *)a.out[0])[((const int32_t *)a.in[0])[i]] = ((const T *)a.in[1])[i];
}

enum { QUANTISE_SHARE = QUANTISE_GROUP / WARP };

template <bool LARGEST> static __device__ inline float warp_reduce(float x)
{
    for (int i = WARP / 2; i; i /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, x, i);
        x = LARGEST ? fmaxf(x, other) : x + other;
    }
    return x;
}

// A warp per group, 8 neighbouring values a thread. 8 and 4 bits: signed steps of the group's
// largest magnitude / 127 or 7; 1 bit: the sign, times the mean magnitude. With out[2], what was
// lost before is added and what is lost is kept.
template <typename T> __global__ void kernel_quantise(arguments a)
{
    const int64_t values = a.size[0], groups = (values + QUANTISE_GROUP - 1) / QUANTISE_GROUP;
    const int bits = (int)a.size[1], lane = threadIdx.x % WARP;
    for (int64_t group = first_item() / WARP; group < groups; group += item_step() / WARP) {
        const int64_t at = group * QUANTISE_GROUP + lane * QUANTISE_SHARE,
                      whole = values - group * QUANTISE_GROUP;
        const float members = (float)(whole < QUANTISE_GROUP ? whole : QUANTISE_GROUP);
        float x[QUANTISE_SHARE], largest = 0, sum = 0;
        for (int k = 0; k < QUANTISE_SHARE; k++) {
            x[k] = at + k < values ? to_float(((const T *)a.in[0])[at + k]) : 0.0f;
            if (a.out[2] && at + k < values) x[k] += ((const float *)a.out[2])[at + k];
            largest = fmaxf(largest, fabsf(x[k]));
            sum += fabsf(x[k]);
        }
        const float scale = bits == 1 ? warp_reduce<false>(sum) / members
                                      : warp_reduce<true>(largest) / (bits == 8 ? 127.0f : 7.0f);
        const float steps = scale > 0 ? 1 / scale : 0;
        if (lane == 0) ((float *)a.out[1])[group] = scale;
        if (at >= values) continue;
        uint64_t word = 0;
        for (int k = 0; k < QUANTISE_SHARE; k++) {
            const int step = bits == 1 ? (x[k] >= 0 ? 1 : -1) : (int)rintf(x[k] * steps);
            const uint64_t code = bits == 1 ? (uint64_t)(step > 0)
                                            : (uint64_t)(step & ((1 << bits) - 1));
            word |= code << (k * bits);
            if (a.out[2] && at + k < values)
                ((float *)a.out[2])[at + k] = x[k] - (float)step * scale;
        }
        if (bits == 8) ((uint64_t *)a.out[0])[at / QUANTISE_SHARE] = word;
        if (bits == 4) ((uint32_t *)a.out[0])[at / QUANTISE_SHARE] = (uint32_t)word;
        if (bits == 1) ((uint8_t *)a.out[0])[at / QUANTISE_SHARE] = (uint8_t)word;
    }
}

template <typename T> __global__ void kernel_dequantise(arguments a)
{
    const int64_t values = a.size[0];
    const int bits = (int)a.size[1];
    for (int64_t i = first_item(); i * QUANTISE_SHARE < values; i += item_step()) {
        const float scale = ((const float *)a.in[1])[i * QUANTISE_SHARE / QUANTISE_GROUP];
        uint64_t word = 0;
        if (bits == 8) word = ((const uint64_t *)a.in[0])[i];
        if (bits == 4) word = ((const uint32_t *)a.in[0])[i];
        if (bits == 1) word = ((const uint8_t *)a.in[0])[i];
        for (int k = 0; k < QUANTISE_SHARE && i * QUANTISE_SHARE + k < values; k++) {
            const int code = (int)(word >> (k * bits)) & ((1 << bits) - 1);
            const int step = bits == 1                 ? 2 * code - 1
                             : code >= 1 << (bits - 1) ? code - (1 << bits)
                                                       : code;
            set_value(((T *)a.out[0])[i * QUANTISE_SHARE + k], (float)step * scale);
        }
    }
}
