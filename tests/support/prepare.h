// Prepares a priced problem for tests of the searches: its schedule, graph and choices.
#pragma once

#include "formulate/choices/choices.h"
#include "formulate/graph/longest.h"

struct prepared {
    struct priced priced;
    struct schedule schedule;
    struct choices choices;
    struct graph *graph;
};

// Schedule, graph and choices of p->priced. Aborts with a message on failure.
void prepare(struct prepared *p, struct arena *arena);
