// The document of a run.
#ifndef PLUMBLINE_MEASURE_RUN_DOCUMENT_H
#define PLUMBLINE_MEASURE_RUN_DOCUMENT_H

#include "measure/run/running.h"

struct run_words {
    const char *output, *name, *command;
    int64_t seed;
    bool interrupted;
};

// All ranks, with the iterations that all of them have finished; the first one writes.
enum status run_save(struct running *r, const struct run_iteration *iterations, int count,
                     const struct run_words *words, struct error *err);
// A process's items at the first one, in rank order; there *count becomes their number. The
// process itself gets NULL, and so do the others.
void *run_gather(struct running *r, int from, const void *own, int *count, size_t each);

#endif
