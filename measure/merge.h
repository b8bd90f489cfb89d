// Several launches on one machine in one document: the same operations, with each launch's
// repetitions in sequence.
#ifndef PLUMBLINE_MEASURE_MERGE_H
#define PLUMBLINE_MEASURE_MERGE_H

#include "data/numbers/samples.h"

// documents[count], count >= 2, of the same machine and the same operations; otherwise BAD_INPUT
// names the file and the difference. With `partial`, operations may be missing in some of them.
// The sources are the caller's.
enum status samples_merge(struct samples *merged, const struct samples *documents, int count,
                          bool partial, struct arena *arena, struct error *err);

#endif
