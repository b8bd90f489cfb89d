// Which of a space's layouts training frameworks can run, according to their documentation
// (docs/FORMATS.md, job). The checker of proofs has its own table
// (solve/checker/space/frameworks.c).
#ifndef PLUMBLINE_DATA_INPUTS_FRAMEWORK_H
#define PLUMBLINE_DATA_INPUTS_FRAMEWORK_H

#include "data/inputs/job.h"

// The key of the layout that the framework cannot run as it is; NULL: it runs the layout. layers:
// of the model; micro_batches: of a replica.
const char *framework_refusal(enum framework framework, const struct layout *l, int layers,
                              int64_t micro_batches);
bool framework_recomputes(enum framework framework, enum recompute mode);

// A job whose space names a framework must not offer anything that the framework cannot do in any
// layout.
enum status framework_check(const struct job *j, const char *file, struct error *err);

#endif
