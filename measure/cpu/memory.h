// What a process on this machine takes before any tensor does.
#ifndef PLUMBLINE_MEASURE_CPU_MEMORY_H
#define PLUMBLINE_MEASURE_CPU_MEMORY_H

#include "data/inputs/samples.h"

// memory_bytes; context_bytes: resident now, with the libraries the process is linked to; and of
// several processes each: library_bytes (what the first products on so many threads add),
// allocator_granularity_bytes (what one byte of a new piece of memory adds). To be asked before
// anything else takes memory.
enum status cpu_observe(int threads, struct quantity **quantities, int *quantity_count,
                        struct arena *arena, struct error *err);

#endif
