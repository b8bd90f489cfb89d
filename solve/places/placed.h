// Ranks placed on nodes: what a placement takes, the search for a good one, and a bound on all of
// them. A placed plan says of every replica of the pipeline on which node each of its ranks stands,
// and of every stage in which order its ring of replicas goes. All replicas have the same layers
// and options in a stage; its recomputation may differ with the GPU, and where the job permits it
// they take unlike numbers of micro-batches.
//
// The time is exact: what joins replicas (a sync waits for all of a stage's replicas and takes as
// long as over the ring's dearest link) only ever takes the latest, so that the iteration takes as
// long as the slowest replica would alone, with the syncs of its rings (docs/FORMULAS.md section
// 15).
#ifndef PLUMBLINE_SOLVE_PLACES_PLACED_H
#define PLUMBLINE_SOLVE_PLACES_PLACED_H

#include "formulate/choices/choices.h"
#include "formulate/graph/longest.h"

struct placed_plan {
    int *micro_batches; // [replica]
    int *
        chosen; // [replica * stage_count + stage]: choices of the replica's number of micro-batches
    int *node;  // [replica * rank_count + rank]
    int *ring;  // [stage * replica_count + at]: replicas, each sends to the next
    // [2 * replica_count], of the fused embedding sync: r is replica r's first stage, replica_count
    // + r its last one; each sends to the next.
    int *embedding_ring;
    int64_t time_ns; // of the slowest replica; INT64_MAX: some of it is not joined
    int slowest;     // the first of the slowest replicas
};

struct placed; // a problem made ready: choices, graphs, paths that were critical before

// For the priced document's own number of micro-batches; others follow when they are needed.
enum status placed_open(struct placed **placed, const struct priced *priced, struct arena *arena,
                        struct error *err);
const struct choices *placed_choices(const struct placed *p); // of that number
struct placed_plan placed_plan_empty(const struct placed *p, struct arena *arena);
void placed_plan_copy(const struct placed *p, struct placed_plan *to,
                      const struct placed_plan *from);

// Rings in their best order (exactly, up to PLACED_RING_EXACT replicas; else improved by
// exchanges), then time and slowest. Stops as soon as the time is known to be `at_least` or more,
// with that; INT64_MAX: works it out.
enum { PLACED_RING_EXACT = 8 };
void placed_evaluate(struct placed *p, struct placed_plan *plan, int64_t at_least);

// Works out the syncs of a plan's rings as they are; false: some link joins nothing. Then, of this
// plan, the durations of a replica's symbols, [symbol_count]; false likewise.
bool placed_sync_kept(struct placed *p, const struct placed_plan *plan);
bool placed_durations(struct placed *p, const struct placed_plan *plan, int replica,
                      int64_t *durations);

// The plan's time if transfers and syncs took none: what is beyond it, links cost.
int64_t placed_free_links_ns(struct placed *p, const struct placed_plan *plan);

// Search from the decision chosen[stage] of one pipeline (placed_choices): orders of nodes, then
// exchanges of nodes, moves of layers and of micro-batches as long as they help, `evaluations` of
// them. false: no placement was found. Where there is a start, it is the first plan, which only a
// faster one replaces.
struct placed_settings {
    int64_t evaluations;
    uint64_t seed;
    bool (*should_stop)(void *);
    void *stop_argument;
    const struct placed_plan *start;
    int64_t enough_ns; // a plan that takes no more ends the search; 0: none does
};
bool placed_search(struct placed *p, struct placed_plan *best, const int *chosen,
                   const struct placed_settings *settings, struct arena *arena);

// An earlier plan to begin from: of this problem, or of one with other nodes, links or replicas.
// What became of it is worked out on the way.
struct plan;
struct placed_start {
    const struct plan *plan;
    int64_t standing_ns; // as it stands, its rings as they are; 0: it does not
    int64_t mended_ns; // where only ranks that cannot stay get other nodes; 0: there is no room for
                       // them
    const char **mended_nodes; // [replica * rank_count + rank]
};

// like[stage]: a choice with the plan's layers and options. home[replica * rank_count + rank]: the
// node it had, -1 where it cannot stay. mended: the plan with those alone moved, time_ns INT64_MAX
// where there is none. false: the plan fits no choices.
bool placed_take_start(struct placed *p, struct placed_start *start, int *like, int *home,
                       struct placed_plan *mended, struct arena *arena);

// The plan's layers and options with its ranks in the order in which a framework numbers them, node
// behind node; rings in their best order. *found false: they do not fit so.
enum status placed_in_order(struct plan *to, bool *found, const struct plan *of,
                            const struct priced *priced, struct arena *arena, struct error *err);

// number[replica of `after`]: a replica of `before`, each once, so that the fewest ranks change
// their node, of [replica * ranks + rank].
void placed_match(int *number, const int *before, const int *after, int replicas, int ranks,
                  struct arena *arena);

// The layers of `like`, and ranks on their nodes of before (-1: none), wherever that makes nothing
// slower, or not slower than enough_ns; replicas numbered so that the fewest ranks move.
void placed_settle(struct placed *p, struct placed_plan *plan, const int *like, const int *before,
                   int64_t enough_ns);

// As solve_run, for a priced document with places. start: NULL, or what is never worse than the
// answer. BAD_INPUT: it does not fit.
struct solve_result;
struct solve_settings;
enum status placed_solve(struct solve_result *r, const struct priced *priced,
                         const struct solve_settings *settings, struct placed_start *start,
                         const volatile int *stop, struct arena *arena, struct error *err);

// The same with less effort, for one of many problems.
struct placed_effort {
    int64_t evaluations; // of the search
    int64_t tree;        // solve/places/tree.h
    double share_of_gap; // of the gap asked: what the program over groups may leave open
};
enum status placed_solve_with(struct solve_result *r, const struct priced *priced,
                              const struct solve_settings *settings, struct placed_start *start,
                              const struct placed_effort *effort, const volatile int *stop,
                              struct arena *arena, struct error *err);

// Makes `best` the best placed plan there is, whatever it was. false: it would have taken more than
// `effort_max` steps, or ranks have several stages, or there are more replicas than rings are put
// in order exactly, or should_stop (may be NULL) said so.
bool placed_prove(struct placed *p, struct placed_plan *best, int64_t effort_max,
                  bool (*should_stop)(void *argument), void *argument, struct arena *arena);

// The program over groups that bounds every placement: p's, with syncs no cheaper than the best
// ring's.
void placed_relax(struct priced *relaxed, const struct priced *p, struct arena *arena);

#endif
