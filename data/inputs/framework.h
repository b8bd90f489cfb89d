// What training frameworks run of the layouts that a space holds, from what they document
// (docs/FORMATS.md, job). The checker of proofs has a table of its own
// (solve/checker/space/frameworks.c).
#ifndef PLUMBLINE_DATA_INPUTS_FRAMEWORK_H
#define PLUMBLINE_DATA_INPUTS_FRAMEWORK_H

#include "data/inputs/job.h"

// The key of the layout that it does not run as it is, NULL: it runs it. layers: of the model.
const char *framework_refusal(enum framework framework, const struct layout *l, int layers);
bool framework_recomputes(enum framework framework, enum recompute mode);

// A job whose space names a framework offers nothing that it cannot do whatever the layout.
enum status framework_check(const struct job *j, const char *file, struct error *err);

#endif
