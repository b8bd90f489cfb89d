// A fake CUDA device in the CPU's memory: the functions of the runtime and of cuBLASLt that the C
// files of measure/cuda call. Operations on the stream are queued and done when the host waits for
// it, as on a device; kernels are those of measure/cuda/kernels/kernels.cu, run by fake_device.cpp;
// products are naive loops that check every operand's place. Time is a simulated clock.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fake_settings {
    int devices;          // 0: none
    int capability;       // 90
    int64_t memory_bytes; // more cannot be allocated
    int fail_at;          // the n-th call from now on fails, and all after it; 0: none
    int proposals;        // algorithms that cuBLASLt offers
    int refused;          // the algorithm of that number cannot run; -1: none
    int late; // the n-th gate gives up, and what follows it takes a second more; 0: none
};
extern struct fake_settings fake;

struct fake_counts {
    int calls, kernels, products, copies, clears, graphs, allocations;
};
extern struct fake_counts fake_counts;

void fake_reset(void);
extern int fake_algorithm_uses[16];                          // how many products each algorithm did
float fake_read(const void *at, int element, int64_t index); // by enum element
void fake_write(void *at, int element, int64_t index, float value);
