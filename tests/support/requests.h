// Random schedule requests of all kinds and options, small enough for slow oracles.
#pragma once

#include "data/schedule/schedule.h"
#include "tests/support/problems.h"

struct schedule_request request_random(struct random *rng, int ranks_max, int micro_batches_max);

// Some schedules fix the number of stages per rank: sets the stage count too.
void request_shape(struct schedule_request *r, int kind, int ranks, int virtual_stages, int slices);
