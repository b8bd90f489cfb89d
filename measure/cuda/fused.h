// Attention as one kernel that keeps no scores, where a library has one: fused_cudnn.c, or
// otherwise fused_none.c. Half precision only.
#pragma once

#include "data/base/arena.h"
#include "data/base/status.h"
#include "measure/cuda/steps.h"

struct fused;

// UNAVAILABLE without such a library.
enum status fused_open(struct fused **fused, cudaStream_t stream, struct arena *arena,
                       struct error *err);
const char *fused_library(struct fused *fused, struct arena *arena);

// Finds or makes the plan for an attention: *plan. UNAVAILABLE if the library has no kernel for
// it.
enum status fused_plan(struct fused *fused, const struct attention *attention, int *plan,
                       struct error *err);
int64_t fused_workspace_bytes(const struct fused *fused); // of all plans so far

// Pointers as a step's places have them.
enum status fused_run(struct fused *fused, int plan, const void *const in[6], void *const out[4],
                      float scale, void *workspace, struct error *err);

// ---- fused_cudnn.c: for tests: plans for a described device, which need not be present. Such a
// session cannot run them.

// device: cuDNN's JSON of a device's properties.
enum status fused_open_described(struct fused **fused, const char *device, struct arena *arena,
                                 struct error *err);
