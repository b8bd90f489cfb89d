// Which device this is, and whether the kernels were built for it.
#pragma once

#include <stdio.h>
#include <string.h>

#include "data/base/status.h"
#include "measure/cuda/kernels/kernels.h"

enum { IDENTITY_BYTES = 48 };

// A part of a GPU by MIG, which the GPU's address on the bus does not tell from others.
static inline bool is_slice(const struct cudaDeviceProp *p) { return strstr(p->name, " MIG "); }

// As NVML and CUDA_VISIBLE_DEVICES have it: "GPU-" or "MIG-" and the UUID.
static inline void identity_of(const struct cudaDeviceProp *p, char text[IDENTITY_BYTES])
{
    static const int ends[] = {4, 6, 8, 10, 16};
    int length = snprintf(text, IDENTITY_BYTES, "%s", is_slice(p) ? "MIG" : "GPU");
    for (int i = 0, part = 0; part < 5; part++) {
        text[length++] = '-';
        for (; i < ends[part]; i++)
            length += snprintf(text + length, (size_t)(IDENTITY_BYTES - length), "%02x",
                               (unsigned char)p->uuid.bytes[i]);
    }
}

static inline enum status capability_check(const struct cudaDeviceProp *p, struct error *err)
{
    int own = 10 * p->major + p->minor, least = kernel_least_capability();
    if (own >= least) return OK;
    return fail(err, UNAVAILABLE,
                "cuda: %s has compute capability %d.%d, and the kernels were built for %d.%d and "
                "above: build with CUDA_ARCHS=\"-gencode arch=compute_%d,code=sm_%d\"",
                p->name, own / 10, own % 10, least / 10, least % 10, own, own);
}
