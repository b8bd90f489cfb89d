// An oracle for schedules: ranks execute their compute streams, in rounds, with its own rules for
// everything else: who waits for which message, links, syncs, optimizers, and how the next
// iteration begins. Of a schedule's tables it only reads the compute streams.
#pragma once

#include <stdint.h>

#include "data/schedule/schedule.h"

// The iteration time in whole nanoseconds: with a barrier of one iteration, without one the period,
// taken from many. -1: it does not terminate, -2: no period is found.
int64_t pipeline_time(const struct schedule *s, const int64_t *durations, struct arena *arena);
