// Solving: choices -> plan with a proven bound. Incumbent, elimination, then the tree over GLPK's
// dual simplex, in worker processes; or GLPK's branch and bound, each node bounded exactly.
#pragma once

#include "solve/boxes/proof.h"

enum engine { ENGINE_TREE, ENGINE_GLPK };
extern const char *const engine_names[]; // "tree", "glpk"

// What is known in the middle of a search, as values of the objective. 0: nothing yet.
struct solve_progress {
    double seconds;
    int64_t plan_ns, bound_ns;
    const char *text; // the same as a line
};

struct solve_settings {
    double time_limit_s;    // 0: none
    double gap;             // stop when (iteration - bound) / iteration <= gap
    int64_t cutoff_ns;      // plans at or above it are of no interest; 0: all are
    int64_t known_bound_ns; // a bound on every plan, proven by an earlier search; 0: none. With
                            // evidence it is stated, and searched for again
    // Worker processes; 0: the caller's thread does all the work, and stops and time limits take
    // effect only at the end of a step. The answer does not depend on it.
    int threads;
    int64_t boxes_max; // of the tree, or where ranks have several stages; 0: no limit
    int64_t seed;
    enum engine engine;
    int progress; // -1: if stderr is a terminal, 0: never, 1: always
    void (*tell)(void *argument, const struct solve_progress *progress); // NULL: stderr
    void *tell_argument;
    // What is to survive the end of this process: called with every better plan of `keep_of`, as it
    // would be the result, with the value by which it was better; and with bounds alone (plan
    // NULL). keep_of: the priced document or, for a space, the problem that is solved, so that no
    // plan or bound of a part of it is taken for one of the whole. NULL: nobody asks.
    void (*keep)(void *argument, const struct plan *plan, int64_t value_ns, int64_t bound_ns);
    // Called with keep_of, too: the proof is rechecked from here on (true), or has been (false).
    // That may take longer than the limit of the search.
    void (*rechecks)(void *argument, bool begins);
    void *keep_argument;
    const void *keep_of;
    int alternatives;  // how many of the best distinct plans are wanted; 0: one
    bool evidence;     // return what a certificate is made of
    bool recheck;      // evaluate every closed box a second time from the stored numbers
    bool start_search; // false: no incumbent search (for tests of the tree)
    bool eliminate;    // false: no elimination (for tests)
    bool whole_batch;  // for objective max_load: values are objective_batch_graph's, and are the
                       // plans' times
    const char *program_path; // NULL, or the file to write the program to, after elimination and
                              // with all path rows (.mps or .lp)
    const char *map_path;     // NULL, or the file to write the meaning of that program's columns to
    const struct problem *map_problem; // that the map says it was made from; NULL: none
    int64_t memory_limit_bytes;        // of one worker; 0: none
};
#define SOLVE_DEFAULTS .threads = 1, .progress = -1, .start_search = true, .eliminate = true
void solve_defaults(struct solve_settings *s);
bool solve_tells(const struct solve_settings *s); // whether progress is wanted
void solve_tell(const struct solve_settings *s, const struct solve_progress *p); // if it is wanted
bool solve_keeps(const struct solve_settings *s, const void *of);
void solve_keep_plan(const struct solve_settings *s, const void *of, const struct plan *plan,
                     int64_t value_ns);
void solve_keep_bound(const struct solve_settings *s, const void *of, int64_t bound_ns);
void solve_rechecks(const struct solve_settings *s, const void *of, bool begins);

// What a certificate is made of (solve/certificate/certificate.h): the graph, which has kept its
// paths, and the search by boxes. Records refer to choices by the numbers of choices_build.
struct solve_evidence {
    const struct schedule *schedule;
    struct graph *graph;
    struct box_proof proof; // count 0: the search by boxes was not tried
    int64_t proof_bound_ns; // what the records prove
};

struct solve_result {
    struct plan plan;
    struct plan *alternatives; // ascending iteration time, the first is the plan
    int alternative_count;
    bool finished; // everything requested is known; false: stopped by a limit or a signal
    bool limited;  // by boxes_max: more boxes may prove more
    bool cut_off;  // finished, and proven: every plan takes at least cutoff_ns, as plan.bound_ns
                   // says. There is no plan, or one that is no better
    struct solve_evidence *evidence; // NULL if it was not requested
    // On places: of the program over groups, with each node as a group, or with each group once for
    // every reach of a ring.
    enum { EVIDENCE_GROUPS, EVIDENCE_NODES, EVIDENCE_REACHES } evidence_of;
    int64_t free_links_ns; // on places: the plan's time if its links took none; 0: not computed
    // With widths of stages: the best value that a short search finds with one width for all
    // stages, and a group that has it. 0: none was found.
    int64_t one_width_ns;
    int one_width_group;
    const char *sidelined; // NULL, or the failure that was recovered from (a worker died ...)
    const char *unwritten; // why the program could not be written; NULL
};

// start: a plan to start from, or NULL. When *stop becomes nonzero (a signal), the search ends with
// the best so far.
enum status solve_run(struct solve_result *r, const struct priced *priced,
                      const struct solve_settings *settings, const struct plan *start,
                      const volatile int *stop, struct arena *arena, struct error *err);

// The same for the objective energy (energy.c): the plan of least energy among those within the
// priced limit of time. Its value and bound are microjoules; its evidence is of energy_below.
enum status solve_least_energy(struct solve_result *r, const struct priced *priced,
                               const struct solve_settings *settings, const struct plan *start,
                               const volatile int *stop, struct arena *arena, struct error *err);
// The same layout, whose time is minimised with less energy than the bound (at most 1: as its
// budget says): no plan needs less than the bound if none of these is within the limit.
struct priced energy_below(const struct priced *p, int64_t bound_uj);

// Only the searches for a plan that solve_run begins with, each of so many replays; no bound, and
// stage_count 0: none found.
enum status solve_start(struct solve_result *r, const struct priced *priced,
                        const struct solve_settings *settings, int64_t replays,
                        const volatile int *stop, struct arena *arena, struct error *err);

// Where replicas take whole micro-batches in turn: the least load of a micro-batch with any number
// of stages, by one table (turns.c), for a priced document of more than two stages whose prices
// hold for every number. alone: one stage may have all layers.
struct any_stages {
    int stages;       // of the best; 0: none was found
    int64_t load_ns;  // the best's
    int64_t bound_ns; // no load is less, of any number
    bool finished;    // to the gap, or there is none
    struct plan_effort effort;
};
enum status solve_any_stages(struct any_stages *a, const struct priced *priced, bool alone,
                             const struct solve_settings *settings, const volatile int *stop,
                             struct arena *arena, struct error *err);

// A quick proven bound on every plan: one box, no search for plans. INT64_MAX: there is no plan.
// *time_ns is the time of a plan found on the way, 0 if none was. should_stop (may be NULL): true
// ends it with what is proven so far, 0 at worst.
enum status solve_bound(int64_t *bound_ns, int64_t *time_ns, const struct priced *priced,
                        bool (*should_stop)(void *argument), void *argument, struct arena *arena,
                        struct error *err);
