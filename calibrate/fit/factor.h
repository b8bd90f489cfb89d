// The allocator's bytes per requested byte, from runs that failed for lack of memory, runs that
// did not, and measured peaks: the maximum likelihood over factor and spread, and the
// profile-likelihood interval of the factor. docs/FORMULAS.md section 12.
#ifndef PLUMBLINE_CALIBRATE_FIT_FACTOR_H
#define PLUMBLINE_CALIBRATE_FIT_FACTOR_H

#include "data/base/status.h"

enum memory_sign_kind { SIGN_PEAK, SIGN_FAILED, SIGN_RAN };

// One run: predicted bytes from the allocator, with factor 1, and outside of it; the measured
// peak, or the device's capacity.
struct memory_sign {
    enum memory_sign_kind kind;
    double inside_bytes, outside_bytes, bytes;
};

struct factor_fit {
    double factor, low, high; // 95 %; an end at 1 or FACTOR_MAX is only that limit
    double spread;            // standard deviation of ln(truth / prediction)
    int counts[3];            // by kind
};

#define FACTOR_MAX 10.0 // limit of the costs' allocator_factor, which is at least 1
#define SPREAD_MIN 0.02
#define SPREAD_MAX 0.5

// BAD_INPUT: nothing bounds the factor from below (no run that failed, no peak), or from above.
enum status factor_fit(struct factor_fit *fit, const struct memory_sign *signs, int count,
                       struct error *err);

#endif
