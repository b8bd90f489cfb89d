// Ranges as Nsight Systems projects them onto the device: nsys stats --report nvtx_gpu_proj_trace
// or nvtx_gpu_proj_sum, --format csv.
#pragma once

#include "data/import/trace/ranges.h"

// Whether a file begins as such a table.
bool nsight_is(const char *path, struct arena *arena);
// precision: of operators that PyTorch's emit_nvtx names with their sizes; negative: not known,
// and they are ranges like others. *medians: of a sum, where each range has its median alone.
enum status nsight_read(struct trace *t, const char *path, int precision, bool *medians,
                        struct arena *arena, struct error *err);
