// What rings over a mesh of links get together (docs/FORMULAS.md section 2).
#pragma once

#include "data/base/arena.h"

enum { RINGS_GPUS_MAX = 16 }; // the search keeps a number for each subset and its last GPU

// capacity[i * count + j], the same as [j * count + i] and at least 0: what the links between GPUs
// i and j carry in one direction. The greatest sum of rates of rings, each through all `count` GPUs
// once, that no link carries more than its capacity; rings may share links. 0: there is no ring.
// count: 2 to RINGS_GPUS_MAX.
double rings_rate(const double *capacity, int count, struct arena *arena);
