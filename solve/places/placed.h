// Ranks placed on nodes: the time of a placement, the search for a good one, and a bound on all of
// them. A placed plan gives the node of each rank of every replica of the pipeline, and the order
// of every stage's ring of replicas. All replicas have the same layers and options in a stage;
// recomputation may differ with the GPU, and if the job permits it they take unequal numbers of
// micro-batches.
//
// The time is exact. What joins replicas (a sync waits for all of a stage's replicas and takes as
// long as over the ring's slowest link) only takes the maximum, so the iteration takes as long as
// the slowest replica would alone, with the syncs of its rings (docs/FORMULAS.md section 15).
#pragma once

#include "formulate/choices/choices.h"
#include "formulate/graph/longest.h"

struct placed_plan {
    int *micro_batches; // [replica]
    int *
        chosen; // [replica * stage_count + stage]: choices of the replica's number of micro-batches
    int *node;  // [replica * rank_count + rank]
    int *ring;  // [stage * replica_count + at]: replicas, each sends to the next
    // [2 * replica_count], for the fused embedding sync: r is replica r's first stage,
    // replica_count + r its last one; each sends to the next.
    int *embedding_ring;
    int64_t time_ns; // of the slowest replica; INT64_MAX: some link is not joined
    int slowest;     // the first of the slowest replicas
};

struct placed; // a prepared problem: choices, graphs, paths that were critical before

// For the priced document's own number of micro-batches; others are built when needed.
enum status placed_open(struct placed **placed, const struct priced *priced, struct arena *arena,
                        struct error *err);
const struct choices *placed_choices(const struct placed *p); // of that number
struct placed_plan placed_plan_empty(const struct placed *p, struct arena *arena);
void placed_plan_copy(const struct placed *p, struct placed_plan *to,
                      const struct placed_plan *from);

// Puts rings in their best order (exactly, up to PLACED_RING_EXACT replicas; else improved by
// exchanges), then sets time and slowest. Stops as soon as the time is known to be `at_least` or
// more, with that as the time; INT64_MAX: never stops early.
enum { PLACED_RING_EXACT = 8 };
void placed_evaluate(struct placed *p, struct placed_plan *plan, int64_t at_least);

// placed_sync_kept computes the syncs of a plan's rings as they are; false: some link joins
// nothing. After it placed_durations gives the durations of a replica's symbols in this plan,
// [symbol_count]; false: as before.
bool placed_sync_kept(struct placed *p, const struct placed_plan *plan);
bool placed_durations(struct placed *p, const struct placed_plan *plan, int replica,
                      int64_t *durations);

// The plan's time if transfers and syncs took none: the rest of its time is the cost of links.
int64_t placed_free_links_ns(struct placed *p, const struct placed_plan *plan);

// Search from the decision chosen[stage] of one pipeline (placed_choices): orders of nodes, then
// exchanges of nodes and moves of layers and of micro-batches as long as they help, `evaluations`
// of them. false: no placement was found. If there is a start, it is the first plan, and only a
// faster one replaces it.
struct placed_settings {
    int64_t evaluations;
    uint64_t seed;
    bool (*should_stop)(void *);
    void *stop_argument;
    const struct placed_plan *start;
    int64_t enough_ns; // a plan that takes at most this ends the search; 0: none does
};
bool placed_search(struct placed *p, struct placed_plan *best, const int *chosen,
                   const struct placed_settings *settings, struct arena *arena);

// An earlier plan to start from: of this problem, or of one with other nodes, links or replicas.
// The other fields are computed on the way.
struct plan;
struct placed_start {
    const struct plan *plan;
    int64_t standing_ns; // of the plan unchanged, with its rings as they are; 0: it does not fit
    int64_t repaired_ns; // if only ranks that cannot stay get other nodes; 0: there is no room for
                         // these ranks
    const char **repaired_nodes; // [replica * rank_count + rank]
};

// like[stage]: a choice with the plan's layers and options. retained[replica * rank_count + rank]:
// the node it had, -1 if it cannot stay. repaired: the plan with only those ranks moved; time_ns
// INT64_MAX if there is none. false: the plan fits no choices.
bool placed_take_start(struct placed *p, struct placed_start *start, int *like, int *retained,
                       struct placed_plan *repaired, struct arena *arena);

// The plan's layers and options with its ranks in the order in which a framework numbers them, node
// after node; rings in their best order. *found false: they do not fit in this order.
enum status placed_in_order(struct plan *to, bool *found, const struct plan *of,
                            const struct priced *priced, struct arena *arena, struct error *err);

// number[replica of `after`]: a replica of `before`, each once, such that the fewest ranks change
// their node. before and after are [replica * ranks + rank].
void placed_match(int *number, const int *before, const int *after, int replicas, int ranks,
                  struct arena *arena);

// Restores the layers of `like`, and ranks to their nodes in before (-1: none), wherever that makes
// the plan no slower, or no slower than enough_ns. Numbers replicas so that the fewest ranks move.
void placed_settle(struct placed *p, struct placed_plan *plan, const int *like, const int *before,
                   int64_t enough_ns);

// Fills the plan with its placement and the claims of its slowest replica.
void placed_put_plan(struct plan *plan, struct placed *p, struct placed_plan *best,
                     struct arena *arena);

// As solve_run, for a priced document with places. start: NULL, or a plan; the answer is never
// worse. BAD_INPUT: it does not fit.
struct solve_result;
struct solve_settings;
enum status placed_solve(struct solve_result *r, const struct priced *priced,
                         const struct solve_settings *settings, struct placed_start *start,
                         const volatile int *stop, struct arena *arena, struct error *err);

// The same with less effort, for one of many problems.
struct placed_effort {
    int64_t evaluations; // of the search
    int64_t tree;        // tree.c
    double share_of_gap; // share of the requested gap that the program over groups may leave open
    bool repeats;        // under a time limit the search, as often as its share of that has room
};
enum status placed_solve_with(struct solve_result *r, const struct priced *priced,
                              const struct solve_settings *settings, struct placed_start *start,
                              const struct placed_effort *effort, const volatile int *stop,
                              struct arena *arena, struct error *err);

// Makes `best` the best placed plan there is, whatever it was, where replicas take unequal numbers
// of micro-batches. false: it would have taken more than `effort_max` steps, or ranks have several
// stages, or there are more replicas than PLACED_RING_EXACT, or it was stopped.
bool placed_prove(struct placed *p, struct placed_plan *best, int64_t effort_max,
                  struct arena *arena);

// The program over groups that bounds every placement: p's, with syncs no faster than the best
// ring's.
void placed_relax(struct priced *relaxed, const struct priced *p, struct arena *arena);
