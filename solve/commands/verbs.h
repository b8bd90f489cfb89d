// What the commands do beside reading options and naming files: the library (library/) does it,
// too.
#ifndef PLUMBLINE_SOLVE_COMMANDS_VERBS_H
#define PLUMBLINE_SOLVE_COMMANDS_VERBS_H

#include "solve/layouts/layouts.h"
#include "solve/places/placed.h"

// ---- search.c: a problem solved, with one layout or a space of them

struct solved {
    const struct problem *problem; // as asked
    const struct problem *one;     // with the layout of the plan
    const struct problem *judged;  // what the plan is held against: of cost and limits only the
                                   // space's job says something
    struct priced *priced;         // of `one`; of a space there is none without a plan
    struct layouts_result *space;  // NULL: the problem has one layout
    struct solve_result *result;
};

// Prices the one layout; of a space, only asks whether it can be searched.
enum status solve_prepare(struct solved *s, const struct problem *problem, struct arena *arena,
                          struct error *err);
// from, start: for one layout, on places and on others; NULL: from nothing.
enum status solve_search(struct solved *s, const struct solve_settings *settings,
                         struct placed_start *from, const struct plan *start,
                         const volatile int *stop, struct arena *arena, struct error *err);
// States what costs leave open, and has the judge look at the plan. SOLVER: it is rejected. The
// plan has its sources.
enum status solve_settle(struct plan *plan, const struct solved *s, struct arena *arena,
                         struct error *err);

// ---- remedies.c: of a space without a plan, in the plan's reason: how many nodes, how much
// memory, which batch would do, each by itself, as far as seconds are enough to find out. Nothing
// of a cluster with places.
void solve_advise(struct plan *plan, const struct layouts *layouts, const struct problem *problem,
                  const struct solve_settings *settings, const volatile int *stop,
                  struct arena *arena);

// ---- report.c

// What is at hand of a plan that is not in a file yet; NULL: looked for beside the plan's file.
struct report_request {
    const struct plan *plan;
    const struct problem *problem;
    const struct layouts *layouts;
    bool html; // false: text
};
enum status report_run(const struct report_request *r, const char **text, size_t *length,
                       struct arena *arena, struct error *err);

#endif
