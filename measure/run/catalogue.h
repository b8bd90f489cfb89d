// The kernels of a plan while they are put together.
#ifndef PLUMBLINE_MEASURE_RUN_CATALOGUE_H
#define PLUMBLINE_MEASURE_RUN_CATALOGUE_H

#include "measure/run/running.h"
#include "measure/sampling/cells_take.h"

struct catalogue {
    struct chooser chooser;
    int zero;                    // of the passes and syncs
    const struct shape **shapes; // [run of the model]: what its layers' kernels run
};

#endif
