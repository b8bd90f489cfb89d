// The sub-commands of plumbline-measure that need several processes.
#pragma once

#include "data/base/command.h"

#define LINKS_TEXT "time messages between every two ranks (under mpirun or srun)"
#define COLLECTIVES_TEXT                                                                           \
    "time all-reduce and other collectives over groups of ranks (under mpirun or srun)"
extern const struct command measure_links, measure_collectives, measure_run;

#define RUN_TEXT "carry out a plan with these kernels, on one process for each rank (mpirun)"
