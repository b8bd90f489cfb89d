// Shared by the files that make the certificate of a space.
#ifndef PLUMBLINE_SOLVE_CERTIFICATE_SPACE_INTERNAL_H
#define PLUMBLINE_SOLVE_CERTIFICATE_SPACE_INTERNAL_H

#include "solve/certificate/join.h"

struct space_fates_request {
    const struct check_space *space;
    const struct check_pricer *pricer;
    int64_t count, bound_ns, chosen; // layouts; -1: there is no plan; -1: none
    int threads;
};
// Sets fates[layout] where it is FATE_IS_UNKNOWN: enum check_fate; FATE_IS_PROVEN where a proof is
// needed.
enum status space_find_fates(unsigned char *fates, const struct space_fates_request *request,
                             struct arena *arena, struct error *err);

#endif
