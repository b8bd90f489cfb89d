// For tests: plans for a described device, which need not be present. Such a session cannot run
// them.
#ifndef PLUMBLINE_MEASURE_CUDA_FUSED_PLANS_H
#define PLUMBLINE_MEASURE_CUDA_FUSED_PLANS_H

#include "measure/cuda/fused.h"

// device: cuDNN's JSON of a device's properties.
enum status fused_open_described(struct fused **fused, const char *device, struct arena *arena,
                                 struct error *err);

#endif
