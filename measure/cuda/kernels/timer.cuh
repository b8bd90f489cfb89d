// The device's own clock in nanoseconds (PTX special register; it ticks coarsely, which is good
// enough for a limit).
#pragma once

static __device__ __forceinline__ unsigned long long timer_ns(void)
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}
