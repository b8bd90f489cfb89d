// Random priced problems with one kind of decision that check_trial_draw has not, or seldom: their
// best time by the oracle's enumeration, and a certificate of it.
#pragma once

#include "tests/support/trials/check_trials.h"

enum other_kind {
    OTHER_SHARDED,
    OTHER_TIERS,
    OTHER_WIDTHS,
    OTHER_LOCAL,
    OTHER_LISTED,
    OTHER_KINDS
};
extern const char *const other_names[];

// false: no valid document, too many plans, or too many boxes. Of four without a plan one is kept.
bool other_trial_open(struct check_trial *t, enum other_kind kind, uint64_t seed,
                      struct arena *arena);
// The best of the trial's document, which has been changed. false: it is not valid any more, or has
// too many plans.
bool other_trial_answer(struct check_trial *t, struct arena *arena);
