// A solved problem's proof as a certificate that the checker has audited.
#pragma once

#include "solve/certificate/certificate.h"

struct certified {
    struct certificate_result made;
    struct check_result audited; // meaningless where made.text is NULL
};

// of: by solve_run with evidence. text: of the priced document. false: *err says what went wrong; a
// refused one is none of that.
bool certify_solved(struct certified *c, const struct priced *p, const struct check_text *text,
                    const struct solve_result *of, bool shrink, struct arena *arena,
                    struct error *err);
// Whether the certificate is accepted and proves that best_ns is the least time (INT64_MAX: that
// there is no plan); *err: why not.
bool certify_best(struct certified *c, const struct priced *p, const struct solve_result *of,
                  int64_t best_ns, struct arena *arena, struct error *err);
