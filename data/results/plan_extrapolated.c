// Where a plan's prices left the range of the samples on which its costs were fitted: reported, not
// judged.
#include "data/results/internal.h"

double plan_extrapolation_times(const struct plan_extrapolation *e)
{
    double above = e->valid_high > 0 ? e->greatest / e->valid_high : 1,
           below = e->least > 0 ? e->valid_low / e->least : 1;
    return fmax(above, below);
}

PUT_MEMBER(put_times) { json_put_number(w, key, plan_extrapolation_times(from)); }

static const struct member extrapolation_rows[] = {
    KEY_TEXT(plan_extrapolation, cost, REQUIRED),
    KEY_TEXT(plan_extrapolation, gpu, REQUIRED),
    KEY_TEXT(plan_extrapolation, of, REQUIRED),
    KEY_NUMBER(plan_extrapolation, least, REQUIRED, ALWAYS_WRITTEN, 0, HUGE_VAL),
    KEY_NUMBER(plan_extrapolation, greatest, REQUIRED, ALWAYS_WRITTEN, 0, HUGE_VAL),
    KEY_NUMBER(plan_extrapolation, valid_low, REQUIRED, ALWAYS_WRITTEN, 0, HUGE_VAL),
    KEY_NUMBER(plan_extrapolation, valid_high, REQUIRED, ALWAYS_WRITTEN, 0, HUGE_VAL),
    KEY_PUT("times", 0, put_times),
};
MEMBERS(extrapolation, struct plan_extrapolation, NULL, true, NULL);
