// The commands' claims about a problem: solve's log, plan and layouts, check's answer and
// statement.
#pragma once

#include "tests/support/claims/judge.h"

// The programs are in BIN ("bin"); folder: an empty one, for the documents. false: a program or a
// document was missing.
bool claims_printed(struct claims *c, const struct space_truth *t, const char *folder);
