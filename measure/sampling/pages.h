// The memory of this process, as the system counts it.
#ifndef PLUMBLINE_MEASURE_SAMPLING_PAGES_H
#define PLUMBLINE_MEASURE_SAMPLING_PAGES_H

#include <stddef.h>
#include <stdint.h>

// From the sums over the process's mappings, which are exact (statm lags behind); 0: not known.
int64_t pages_resident_bytes(void);
// Of the machine, without taking any from others; INT64_MAX: not known.
int64_t pages_available_bytes(void);
// Memory that the system has not handed out before, none of it resident yet; malloc could return a
// used piece. It ends by munmap. NULL: there is none.
char *pages_take(size_t bytes);

#endif
