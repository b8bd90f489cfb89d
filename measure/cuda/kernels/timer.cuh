// The device's own clock in nanoseconds (PTX special register; it ticks coarsely, which is good
// enough for a limit).
#ifndef PLUMBLINE_MEASURE_CUDA_KERNELS_TIMER_CUH
#define PLUMBLINE_MEASURE_CUDA_KERNELS_TIMER_CUH

static __device__ __forceinline__ unsigned long long timer_ns(void)
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

#endif
