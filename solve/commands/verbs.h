// What the commands do apart from reading options and naming files; shared with the library
// (library/).
#ifndef PLUMBLINE_SOLVE_COMMANDS_VERBS_H
#define PLUMBLINE_SOLVE_COMMANDS_VERBS_H

#include "data/base/watch.h"
#include "solve/layouts/layouts.h"
#include "solve/places/placed.h"
#include "solve/process/supervise.h"

// ---- search.c: a problem solved, with one layout or a space of them

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
// from NULL: from nothing.
enum status solve_search(struct solved *s, const struct solve_settings *settings,
                         const struct solve_from *from, const volatile int *stop,
                         struct arena *arena, struct error *err);
// What a search says to a question: is there a plan of the changed problem, below the cut-off?
enum answer {
    ANSWER_NONE, // proven
    ANSWER_PLAN,
    ANSWER_OPEN
};
enum answer solve_answer(const struct solve_result *r, const struct solve_settings *asked);
// After the search of a space: prices the layout of its plan, and finds what it is judged by.
enum status solve_take_layout(struct solved *s, struct arena *arena, struct error *err);
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

// ---- origin.c: the problem that a plan was made from, at the place that the plan states

// Whether the plan was made from the document as it is now ("model", "costs" ...).
bool origin_matches(const struct plan *plan, const char *role, const struct document *now);
// false: it is missing, or has changed. Does not include its costs.
bool origin_problem(const struct plan *plan, struct problem *problem, struct arena *arena);
// With its costs; NULL: missing, or changed.
const struct problem *origin_whole_problem(const struct plan *plan, struct arena *arena);

// BAD_INPUT: the plan's stages do not hold the layers of its problem, each once and in order. NULL:
// the problem is missing.
enum status origin_check_layers(const struct plan *plan, const struct problem *problem,
                                struct error *err);

// ---- report.c

// What is in memory of a plan that is not in a file yet; NULL: searched for next to the plan's
// file.
struct report_request {
    const struct plan *plan;
    const struct problem *problem;
    const struct layouts *layouts;
    bool html; // false: text
};
enum status report_run(const struct report_request *r, const char **text, size_t *length,
                       struct arena *arena, struct error *err);

// ---- report_page.c: a plan as text, links, heatmap or page, with what is next to it

enum format {
    FORMAT_TEXT,
    FORMAT_TRACE,
    FORMAT_MEGATRON,
    FORMAT_SBATCH,
    FORMAT_TORCHRUN,
    FORMAT_TORCHTITAN,
    FORMAT_TORCHTITAN_PYTHON,
    FORMAT_PYTORCH_SCHEDULE,
    FORMAT_DEEPSPEED,
    FORMAT_NEMO,
    FORMAT_CSV,
    FORMAT_LATEX,
    FORMAT_LINKS,
    FORMAT_HEATMAP,
    FORMAT_HTML,
    FORMAT_HOSTFILE,
    FORMAT_RANKFILE,
    FORMAT_HOSTS
};

struct about_links {
    const char *problem;
    int64_t top;
    int format, node_order;
    const struct report_request *at_hand; // NULL: everything shown comes from files
};

// FORMAT_TEXT, _LINKS, _HEATMAP.
enum status make_with_links(const struct plan *plan, const struct about_links *about,
                            const char **text, size_t *length, struct arena *arena,
                            struct error *err);
// FORMAT_HTML. layouts, progress: files to read; NULL: none, and the layouts next to the plan.
enum status make_page(const struct plan *plan, const struct about_links *about, const char *layouts,
                      const char *progress, const char **text, size_t *length, struct arena *arena,
                      struct error *err);

#endif
