// For tests: plans for a described device, which need not be present. Such a session cannot run
// them.
#pragma once

#include "measure/cuda/fused.h"

// device: cuDNN's JSON of a device's properties.
enum status fused_open_described(struct fused **fused, const char *device, struct arena *arena,
                                 struct error *err);
