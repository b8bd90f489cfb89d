// What if a node were gone, or a link slower, or a space had only this layout? The changed
// documents and a problem that names them are written next to the new plan, so that verify and
// report read them like any others. The answer states what is lost, and what moves.
#ifndef PLUMBLINE_SOLVE_QUESTIONS_WHAT_IF_H
#define PLUMBLINE_SOLVE_QUESTIONS_WHAT_IF_H

#include "data/places/cluster_change.h"
#include "data/results/plan.h"
#include "data/inputs/problem.h"
#include "solve/places/placed.h"

struct problem_change {
    const struct cluster_change *cluster; // of nodes and links, if any
    const struct layout *layout; // one of the job's space, then the only one; NULL: unchanged
};

// *changed is the changed problem. path: of the new plan; next to PLAN.json go PLAN.problem.json
// and, if changed, PLAN.cluster.json and PLAN.job.json. NULL: nothing is written, and the problem
// has no hash. BAD_INPUT: the change makes no sense; one of the files exists with other content.
enum status what_if_change(struct problem *changed, const struct problem *problem,
                           const struct problem_change *change, const char *path,
                           struct arena *arena, struct error *err);

// The time of the best of all layouts on the changed cluster, compared with the plan that keeps the
// earlier layout; a solve without --start writes that plan.
const char *what_if_layouts_text(const struct plan *kept, const struct plan *best, size_t *length,
                                 struct arena *arena);

// Checks that the judge accepts the earlier plan as one of this very problem. BAD_INPUT: it does
// not.
enum status what_if_check_earlier(const struct plan *earlier, const struct problem *problem,
                                  struct arena *arena, struct error *err);

// For a cluster without places: the unchanged plan's time there; 0: it does not fit.
enum status what_if_standing(int64_t *standing_ns, const struct plan *earlier,
                             const struct priced *priced, struct arena *arena, struct error *err);

// The answer as lines. start->plan NULL: there is no earlier plan.
struct what_if_answer {
    const struct problem *changed;
    const struct cluster_change *change;
    const struct placed_start *start;
    const struct plan *now;
};
const char *what_if_text(const struct what_if_answer *x, size_t *length, struct arena *arena);

#endif
