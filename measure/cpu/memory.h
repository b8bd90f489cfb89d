// The memory of a process on this machine before any tensor.
#ifndef PLUMBLINE_MEASURE_CPU_MEMORY_H
#define PLUMBLINE_MEASURE_CPU_MEMORY_H

#include "data/numbers/samples.h"

// memory_bytes; context_bytes: currently resident, including the libraries the process is linked
// to; and, from several processes each: library_bytes (added by the first products on so many
// threads), allocator_granularity_bytes (added by one byte of a new piece of memory). Must be
// called before anything else takes memory.
enum status cpu_observe(int threads, struct quantity **quantities, int *quantity_count,
                        struct arena *arena, struct error *err);

#endif
