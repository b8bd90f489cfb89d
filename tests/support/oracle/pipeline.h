// An oracle for schedules: ranks that do what their compute streams say, in rounds, by rules of its
// own for everything else: who waits for which message, links, syncs, optimizers, and how the next
// iteration begins. Of a schedule's tables it reads the compute streams alone.
#ifndef PLUMBLINE_TESTS_SUPPORT_ORACLE_PIPELINE_H
#define PLUMBLINE_TESTS_SUPPORT_ORACLE_PIPELINE_H

#include <stdint.h>

#include "data/schedule/schedule.h"

// The iteration time in whole nanoseconds: with a barrier of one iteration, without one the period,
// read off many. -1: it comes to no end, -2: the period does not show.
int64_t pipeline_time(const struct schedule *s, const int64_t *durations, struct arena *arena);

#endif
