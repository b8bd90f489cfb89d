// What the kernels share: element types, packs of 16 bytes, sums over a block. Arithmetic is in
// float throughout.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "measure/cuda/kernels/kernels.h"
#include "measure/cuda/kernels/timer.cuh"

typedef struct kernel_arguments arguments;

enum { WARP = 32, THREADS = 256 };

static __device__ inline float to_float(float x) { return x; }
static __device__ inline float to_float(__half x) { return __half2float(x); }
static __device__ inline float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }
static __device__ inline void set_value(float &y, float x) { y = x; }
static __device__ inline void set_value(__half &y, float x) { y = __float2half_rn(x); }
static __device__ inline void set_value(__nv_bfloat16 &y, float x) { y = __float2bfloat16_rn(x); }

static __device__ inline uint8_t to_byte(float x, bool e5m2)
{
    return (uint8_t)__nv_cvt_float_to_fp8(x, __NV_SATFINITE, e5m2 ? __NV_E5M2 : __NV_E4M3);
}

// N values that are read or written by one instruction.
template <typename T, int N> struct alignas(sizeof(T) * N) pack {
    T value[N];
};

template <typename T, int N> static __device__ inline pack<T, N> load(const void *base, int64_t at)
{
    return *(const pack<T, N> *)((const T *)base + at);
}

template <typename T, int N>
static __device__ inline void store(void *base, int64_t at, const pack<T, N> &values)
{
    *(pack<T, N> *)((T *)base + at) = values;
}

// First item of this thread, and the step to its next.
static __device__ inline int64_t first_item(void)
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}
static __device__ inline int64_t item_step(void) { return (int64_t)gridDim.x * blockDim.x; }

// Over all threads of the block, which must all call it; every thread gets the result.
template <bool LARGEST> static __device__ inline float block_reduce(float x)
{
    __shared__ float of_warp[WARP];
    for (int i = WARP / 2; i; i /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, x, i);
        x = LARGEST ? fmaxf(x, other) : x + other;
    }
    __syncthreads(); // of_warp may still be read from the call before
    if (threadIdx.x % WARP == 0) of_warp[threadIdx.x / WARP] = x;
    __syncthreads();
    x = of_warp[0];
    for (int i = 1; i < (int)blockDim.x / WARP; i++)
        x = LARGEST ? fmaxf(x, of_warp[i]) : x + of_warp[i];
    return x;
}

static __device__ inline float block_sum(float x) { return block_reduce<false>(x); }
static __device__ inline float block_largest(float x) { return block_reduce<true>(x); }
