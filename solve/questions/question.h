// Questions: a changed problem is searched, with limits, for what the change makes of it. Each
// family states its change, what is of interest and what it does with the answer; asking is the
// same for all.
#pragma once

#include "data/base/watch.h"
#include "solve/layouts/layouts.h"
#include "solve/places/placed.h"
#include "solve/process/supervise.h"
#include "data/places/cluster_change.h"

// A problem solved, with one layout or a space of them: priced, searched (in a process of its own,
// solve/process/supervise.h), judged, saved.

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

// Is there a plan of this problem, below the cut-off?
struct question {
    const struct problem *problem;     // as changed
    const struct solve_settings *like; // seed, threads, memory as in this search
    const struct watch *watch;         // ends it
    double gap;
    int64_t cutoff_ns, boxes_max;                                        // 0: none
    bool quiet;                                                          // no progress
    void (*tell)(void *argument, const struct solve_progress *progress); // NULL: as that search
    void *tell_argument;
};
enum answer {
    ANSWER_NONE, // proven
    ANSWER_PLAN,
    ANSWER_OPEN // also where the watch was over before it began
};
// *to: the search, where there was one (to->result is NULL otherwise). Its plan is not judged.
enum status question_ask(enum answer *answer, struct solved *to, const struct question *question,
                         struct arena *arena, struct error *err);

// ---- quality.c

// The quality cost of a plan's compression: the sum of its options' costs, then how many of its
// options are not none.
struct quality {
    int64_t cost;
    int taken;
};
// Replaces the plan by one of this layout that takes no longer and has the least quality cost, as
// far as a search of a few thousand boxes within settings->time_limit_s finds; its effort is added
// to the plan's. Does nothing on places, nor for another objective.
enum status solve_least_quality(struct plan *plan, const struct problem *problem,
                                const struct solve_settings *settings, const volatile int *stop,
                                struct arena *arena, struct error *err);

// The Pareto front of time and quality: the first point is the plan found; each next one is the
// fastest found that costs less quality than the one before, with the bound on all that do. Fewer
// than `most` points if a limit ends the search.
struct front_point {
    struct plan plan;   // its bound is the first one's, which holds for all plans
    struct problem one; // with its layout
    int64_t bound_ns;   // of all plans of at most this quality cost
    struct quality quality;
};
enum status solve_front(struct front_point *points, int *count, const struct solved *first,
                        const struct solve_settings *settings, int most, const volatile int *stop,
                        struct arena *arena, struct error *err);
const char *solve_front_text(const struct front_point *points, int count, size_t *length,
                             struct arena *arena);

// ---- remedies.c: for a space without a plan, adds to the plan's reason: how many nodes, how much
// memory, or which batch would be enough, each by itself, as far as can be found within seconds of
// the time that s->watch leaves.
// Nothing for a cluster with places.
void solve_advise(const struct solved *s, const struct solve_settings *settings,
                  struct arena *arena);

// The results of earlier searches of the same problem, for --resume and --part, and of concurrent
// ones, for --share.

struct resume {
    struct layouts_task task;         // of a space
    const struct plan *plan;          // the best earlier one, with its bound; NULL: none
    const struct document **rests_on; // [rests_on_count]: plans, or layouts documents of a space
    int rests_on_count;
};

// Reads the plans that --resume names and, for a space, the layouts documents next to them.
// BAD_INPUT unless each was made from these very documents by this version, and the judge accepts
// it.
enum status resume_read(struct resume *resume, const struct option_texts *plans,
                        const struct problem *problem, struct arena *arena, struct error *err);

// known.c: solves the layout of plan `at`, or of the problem with one layout, in a share of the
// time, and lets the search of the problem's space start from its plan. BAD_INPUT: the layout is
// not of the space, unless there are several: then it is left out.
enum { KNOWN_SHARE = 5 };
enum status known_take(struct layouts_task *task, const struct option_texts *paths, int at,
                       const struct problem *problem, const struct solve_settings *settings,
                       const volatile int *stop, struct arena *arena, struct error *err);

// States in the results that their bound rests on these documents. plan_path: where the plan goes.
void resume_claim(struct solved *s, const struct resume *resume, const char *plan_path,
                  struct arena *arena);

// Plans of searches that share a folder: each writes its best as FOLDER/best-ID.json and reads the
// others', which it takes if the judge accepts them.
struct share {
    const char *folder, *own;
    const struct problem *problem;
    int64_t reported_ns;
    struct share_seen *seen;
    int seen_count, seen_capacity;
    struct arena *arena;
};
enum status share_open(struct share *s, const char *folder, const struct problem *problem,
                       struct arena *arena, struct error *err);
layouts_exchange share_exchange; // argument: struct share *

// What if a node were gone, or a link slower, or a space had only this layout? The changed
// documents and a problem that names them are written next to the new plan, so that verify and
// report read them like any others. The answer states what is lost, and what moves.

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
