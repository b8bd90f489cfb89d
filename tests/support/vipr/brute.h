// Solves tiny integer programs of VIPR files by trying every point, to compare with the reader's
// verdict.
#pragma once

#include "solve/checker/check.h"

// NULL: nothing speaks against an accepted file (or the program is too large, or has continuous
// variables, to say); else what does: a point that should not exist, or is better than the proven
// limit. Points within -4 .. 4 are tried. infeasible: what the reader says of the program.
const char *vipr_contradiction(const struct check_text *file, bool infeasible, struct arena *arena);
