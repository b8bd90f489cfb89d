// How the worker processes learn of the end of a search.
#pragma once

#include "data/base/arena.h"
#include "data/base/watch.h"

struct shared_stop {
    volatile int *flag;        // in memory shared with all processes forked later
    const struct watch *watch; // the search's
    double set_s;
};
enum status shared_stop_open(struct shared_stop *s, const struct watch *watch, struct arena *arena,
                             struct error *err);
// For worker_pool_run, with a struct shared_stop: once the watch has ended it sets the flag, and it
// returns true when the workers have had a few seconds to return what they have.
bool shared_stop_asked(void *stop);
