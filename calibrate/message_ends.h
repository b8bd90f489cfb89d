// What a trainer's ranks themselves do at the ends of a message, from a run's passes.
#pragma once

#include "data/results/plan_run.h"

// Of all runs: passes of a rank whose operands were there when the pass before ended, the time that
// passed between the two, and how many messages were sent or received in it.
struct message_ends {
    int64_t ns, count;
};

void message_ends_add(struct message_ends *ends, const struct plan_run *run, struct arena *arena);
double message_ends_s(const struct message_ends *ends); // of one; 0: none was seen

// Messages of the GPU between devices take two of them longer, as overhead of their ends; bytes: of
// a message, for which the share of overhead holds (docs/FORMULAS.md 6). Without ends seen the
// costs stay as they are.
// Of the collectives the first `measured` are of the run that shows them; the others are kept from
// costs before, and have ends of their own already if those state a share of overhead.
void message_ends_to_costs(const struct message_ends *ends, struct costs *c, const char *gpu,
                           int measured, double bytes);
