// Solving: choices -> plan with a proven bound. Incumbent, elimination, the tree over GLPK's dual
// simplex, in processes of their own; or glp_intopt on the same rows as the second engine.
#ifndef PLUMBLINE_SOLVE_LAYOUT_SOLVE_H
#define PLUMBLINE_SOLVE_LAYOUT_SOLVE_H

#include "data/results/plan.h"
#include "data/inputs/problem.h"
#include "data/schedule/schedule.h"
#include "formulate/graph/longest.h"
#include "solve/boxes/proof.h"

enum engine { ENGINE_TREE, ENGINE_INTOPT };
extern const char *const engine_names[]; // "tree", "intopt"
enum formulation_kind { FORMULATION_CHOICES, FORMULATION_TEXTBOOK };
extern const char *const formulation_names[]; // "choices", "textbook"

// What is known in the middle of a search. 0: nothing yet. Of the objective.
struct solve_progress {
    double seconds;
    int64_t plan_ns, bound_ns;
    const char *text; // the same as a line
};

struct solve_settings {
    double time_limit_s;    // 0: none
    double gap;             // stop when (iteration - bound) / iteration <= gap
    int64_t cutoff_ns;      // plans that take so long or longer are of no interest; 0: all are
    int64_t known_bound_ns; // holds for every plan, as an earlier search proved; 0: none. With
                            // evidence it is stated, and searched for again
    int threads;            // worker processes; 0: the caller's thread does it all, and stops and
                 // limits of time wait for a step to end. The answer does not depend on it
    int64_t boxes_max; // of the tree, or where ranks have several stages; 0: no limit
    int64_t seed;
    enum engine engine;
    enum formulation_kind formulation;
    int progress; // -1: when stderr is a terminal, 0 never, 1 always
    void (*tell)(void *argument, const struct solve_progress *progress); // NULL: stderr
    void *tell_argument;
    int alternatives;  // 0, or how many of the best distinct plans are wanted
    bool evidence;     // hand out what a certificate is made of
    bool recheck;      // evaluate every closed box a second time from the stored numbers
    bool start_search; // false: no incumbent search (for tests of the tree)
    bool eliminate;    // false: no elimination (for tests)
    bool whole_batch;  // of objective max_load: values are objective_batch_graph's, and plans have
                       // them as their times
    const char *program_path; // NULL, or where the program after elimination with all path rows is
                              // written (.mps or .lp)
    const char *map_path;     // NULL, or where the meaning of that program's columns is written
    int64_t memory_limit_bytes; // of one worker; 0: none
};
void solve_defaults(struct solve_settings *s);
bool solve_tells(const struct solve_settings *s); // whether progress is wanted
void solve_tell(const struct solve_settings *s, const struct solve_progress *p);

// What a certificate is made of (solve/certificate/certificate.h): the graph, which has kept its
// paths, and the search by boxes. Its records name choices as choices_build numbers them.
struct solve_evidence {
    const struct schedule *schedule;
    struct graph *graph;
    struct box_proof proof; // count 0: boxes were not tried
    int64_t proof_bound_ns; // what the records prove
};

struct solve_result {
    struct plan plan;
    struct plan *alternatives; // ascending iteration time, the first is the plan
    int alternative_count;
    bool finished; // all that was asked for is known; false: stopped by a limit or a signal
    bool limited;  // by boxes_max: more boxes may prove more
    bool cut_off;  // proven, and finished: every plan takes cutoff_ns at least, as plan.bound_ns
                   // says. No plan, or one that is no better
    struct solve_evidence *evidence; // NULL where it was not asked for
    bool evidence_by_nodes; // on places: of the problem with each node as a group, not of that over
                            // groups
    int64_t free_links_ns;  // on places: what the plan would take if its links took nothing; 0: not
                            // worked out
    const char *sidelined;  // NULL, or what went wrong and was recovered from (a worker died ...)
};

// start: a plan to begin from, or NULL. *stop turning nonzero (a signal) ends the search with the
// best so far.
enum status solve_run(struct solve_result *r, const struct priced *priced,
                      const struct solve_settings *settings, const struct plan *start,
                      const volatile int *stop, struct arena *arena, struct error *err);

// A proven bound on every plan, quickly: one box, no search for plans. INT64_MAX: there is no plan.
// *time_ns is a plan's that was met on the way, 0 without one. should_stop (may be NULL): true ends
// it with what is proven so far, 0 at worst.
enum status solve_bound(int64_t *bound_ns, int64_t *time_ns, const struct priced *priced,
                        bool (*should_stop)(void *argument), void *argument, struct arena *arena,
                        struct error *err);

#endif
