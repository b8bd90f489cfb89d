// The certificate of one layout elaborated for the referee in
// solve/proofs/, in the file `to`: its choices, operations and boxes as lists, a line each. The
// certificate must be one that the checker accepts. No claim of the checker rests on it.
#pragma once

#include "solve/checker/check.h"

enum status certificate_elaborate(const char *to, const struct check_text *certificate,
                                  const struct check_text *priced, struct arena *arena,
                                  struct error *err);
