// A problem solved, with one layout or a space of them: priced, searched (in a process of its own,
// solve/process/supervise.h), judged, saved.
#ifndef PLUMBLINE_SOLVE_QUESTIONS_SOLVED_H
#define PLUMBLINE_SOLVE_QUESTIONS_SOLVED_H

#include "data/base/watch.h"
#include "solve/layouts/layouts.h"
#include "solve/places/placed.h"
#include "solve/process/supervise.h"

struct solved {
    const struct problem *problem; // as requested
    const struct problem *one;     // with the layout of the plan
    const struct problem *judged;  // the problem that the plan is judged by: only the space's job
                                   // states cost and limits
    struct priced *priced;         // of `one`; for a space NULL without a plan
    struct layouts_result *space;  // NULL: the problem has one layout
    struct solve_result *result;
    struct watch watch;            // its time limit, from the beginning of the search
    enum bound_claim claim;        // of the bounds of all its plans, and of `layouts`
    struct taken_over *taken_over; // [taken_over_count]
    int taken_over_count;
};

// Prices the one layout; for a space, only checks whether it can be searched.
enum status solve_prepare(struct solved *s, const struct problem *problem, struct arena *arena,
                          struct error *err);
// What a search starts from: for one layout a plan (placed: on places, plan: otherwise); for a
// space a task. Each may be NULL.
struct solve_from {
    struct placed_start *placed;
    const struct plan *plan;
    const struct layouts_task *task;
};
// Searches; from NULL: from nothing.
enum status solve_find(struct solved *s, const struct solve_settings *settings,
                       const struct solve_from *from, const volatile int *stop, struct arena *arena,
                       struct error *err);
// Then lowers the plan's quality cost in the time that is left (solve_least_quality), and states
// what stands behind the bounds.
enum status solve_search(struct solved *s, const struct solve_settings *settings,
                         const struct solve_from *from, const volatile int *stop,
                         struct arena *arena, struct error *err);
// States what stands behind the bounds, in the results and in plans that are settled later.
// files: CLAIM_TAKEN_OVER; else none.
void solve_claim(struct solved *s, enum bound_claim claim, struct taken_over *files, int count);
// States what stands behind the bound and what the costs leave open, and has the judge check the
// plan. SOLVER: it is rejected. The plan has its sources.
enum status solve_settle(struct plan *plan, const struct solved *s, struct arena *arena,
                         struct error *err);

// solve_search in a process of its own, which goes on with the command; this one stays, and ends
// with it. It returns here only if the search was lost (*lost): then s->result has the plan and the
// bound that it had handed over, and there is no evidence. SOLVER: the search died of an error.
enum status solve_supervised(struct solved *s, const struct solve_settings *settings,
                             const struct solve_from *from, bool *lost, struct arena *arena,
                             struct error *err);
// The same for a command that goes on in this process: *left says how the other one ended. There it
// returns with left->as SUPERVISED_CHILD, and the caller ends it, unless it is the only one
// (supervised_is). Here there is a result only if it was lost before it saved one (left->saved).
enum status solve_apart(struct solved *s, const struct solve_settings *settings,
                        const struct solve_from *from, struct supervised *left, struct arena *arena,
                        struct error *err);
// From here on the result is safe: what follows, `what`, may take limit_s (0: without limit), and
// is only lost with the process. Exit code then: late_code, or EXIT_OPEN after a signal.
// The limit of what follows a search with this one: as long, and at least a minute; 0: none.
double solve_time_behind_s(double limit_s);
void solve_goes_on(const char *what, double limit_s, bool stoppable, int late_code);

enum { EXIT_LOST = 2 }; // the exit code where a document could not be written after a search
// Saves the plan. If it cannot be written, it goes to standard output, stderr says so, and *lost is
// set. BAD_INPUT: neither can be written.
enum status keep_plan(const struct plan *plan, const char *path, bool *lost, struct arena *arena,
                      struct error *err);
// For a document besides the plan: if writing it failed with BAD_INPUT, says so on stderr, sets
// *lost and returns OK with *err empty.
enum status keep_going(enum status status, bool *lost, struct error *err);

#endif
