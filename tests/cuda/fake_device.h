// The device as a kernel's code sees it, to run it on the CPU: included before it by the compiler's
// -include. Threads of a block are fibers that switch at every barrier and shuffle
// (fake_device.cpp).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <cuda_runtime_api.h>
#include <vector_functions.h>
#include <vector_types.h>

struct fake_place {
    unsigned x, y, z;
};
extern fake_place threadIdx, blockIdx, blockDim, gridDim;

void fake_barrier(void); // all threads of the block
float fake_exchange(float x,
                    int mask); // of the thread of the same warp whose number differs by mask

#define __CUDA_ARCH_LIST__ 750, 900 // compiled for these

#undef __shared__
#define __shared__ static
#undef __forceinline__
#define __forceinline__ inline

static inline void __syncthreads(void) { fake_barrier(); }
static inline float __shfl_xor_sync(unsigned, float x, int mask) { return fake_exchange(x, mask); }
template <typename T> static inline T atomicAdd(T *at, T value)
{
    T before = *at;
    *at += value;
    return before;
}
template <typename T> static inline T atomicMax(T *at, T value)
{
    T before = *at;
    if (value > before) *at = value;
    return before;
}
static inline float __uint_as_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
#define __expf(x) expf(x) // the C library has a function of that name
static inline float rsqrtf(float x) { return 1 / sqrtf(x); }
static inline uint32_t __float_as_uint(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
