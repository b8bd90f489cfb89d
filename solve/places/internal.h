// Internals shared by the files of placing.
#pragma once

#include "solve/places/placed.h"
#include "solve/layout/solve.h"

enum { PLACED_ROWS_MAX = 128, PLACED_ROWS_OF_MANY = 40 };

// Everything that depends on a replica's number of micro-batches: its schedule, what fits into
// memory with it, and the paths that were critical before (a plan that is too slow usually is on
// one of them).
struct placed_variant {
    int micro_batches;
    struct priced *priced;
    struct schedule *schedule;
    struct choices *choices; // shared by variants that hold the same activations
    struct graph *graph;
    struct placed_row {
        int *symbols, *counts, count;
    } * rows;
    int row_count, row_next, rows_max;
};

struct placed {
    const struct priced *priced;
    struct placed_variant *own; // with priced's number of micro-batches
    const struct choices *c;    // its choices: positions of the stages and decisions
    int replicas, ranks, stages, nodes, symbols;
    bool uneven;
    bool nested;                      // the schedule of fewer micro-batches is part of that of more
    int unit;                         // a replica's micro-batches are a multiple of this
    int64_t together;                 // micro-batches of all replicas
    int most;                         // most micro-batches of one replica
    struct placed_variant **variants; // [most / unit + 1], NULL: not built yet
    int64_t *durations;               // [symbol]
    int *counts;                      // [symbol + 1]
    int64_t *syncs;                   // [replica * stages + stage], of the current plan
    int64_t *queued_syncs;            // the same; 0 where the graph has none
    int *leaving;                     // [node] rings that leave it, of the current plan
    struct placed_known_ring *rings;  // computed before
    int *ring_next;                   // [stage]
    struct placed_embedding *embedding; // computed last
    int64_t embedding_ns;               // the fused sync, of the current plan
    bool keep_rings;                    // they are evaluated as they are
    bool (*should_stop)(void *);        // NULL: never; ends improvements that would take long
    void *stop_argument;
    enum status status; // of building variants
    struct error error;
    struct arena *arena;
};

static inline bool placed_is_stopped(const struct placed *p)
{
    return p->should_stop && p->should_stop(p->stop_argument);
}

// ---- rings.c

struct placed_known_ring *placed_rings_open(const struct placed *p, struct arena *arena);
// Puts the rings into the plan, in their best order, and sets p's syncs. false: one of them is not
// joined.
bool placed_sync_all(struct placed *p, struct placed_plan *plan);

// ---- embedding.c

struct placed_embedding *placed_embedding_open(const struct placed *p, struct arena *arena);
bool placed_fuses_embeddings(const struct placed *p);
// Puts the ring of both ends into the plan, in its best order, and sets p->embedding_ns. false: it
// is not joined.
bool placed_sync_embedding(struct placed *p, struct placed_plan *plan);
// The least time of the fused sync with these nodes, [replica * ranks + rank], -1: none yet.
int64_t placed_embedding_floor(const struct placed *p, const int *node, struct arena *arena);

// ---- variants.c

// Built on first use; one that cannot be built has no choices, and p->status says why. No mark may
// be set in p's arena.
struct placed_variant *placed_variant(struct placed *p, int micro_batches);

// The choice of a variant with the layers and options of `like` (from any variant) on the group:
// `like` itself, or the one of least load; -1: there is none.
int placed_choice_in(const struct placed_variant *v, int stage, const struct choice *like,
                     int group);
// The same for p's own number of micro-batches, with the layers and options of its choice `like`.
static inline int placed_choice_on(const struct placed *p, int stage, int like, int group)
{
    return placed_choice_in(p->own, stage, &p->c->stages[stage].items[like], group);
}
// The choice of least load with these layers.
int placed_find_choice(const struct placed_variant *v, int stage, int first_layer, int layer_count,
                       int group, const struct choice *like);

static inline const struct choice *placed_choice_of(struct placed *p,
                                                    const struct placed_plan *plan, int replica,
                                                    int stage)
{
    return &placed_variant(p, plan->micro_batches[replica])
                ->choices->stages[stage]
                .items[plan->chosen[replica * p->stages + stage]];
}

// Whether each of 0 .. count - 1 occurs once (checked by sums).
static inline bool placed_is_order(const int *order, int count)
{
    int64_t sum = 0, squares = 0;
    for (int64_t i = 0; i < count; i++)
        sum += order[i] - i, squares += (int64_t)order[i] * order[i] - i * i;
    return sum == 0 && squares == 0;
}

// links[replica][from * replicas + to]: time that the stage's sync costs a replica over a ring of
// such links; -1: not joined. Where the graph has queued syncs, theirs follow, which are the same
// for every replica (it has the stage's layers and options).
void placed_fill_links(struct placed *p, const struct placed_plan *plan, int stage, int64_t *links);
// A replica's time with the syncs in p (placed_evaluate leaves the plan's there); at_least or more
// as soon as it is known to be that.
int64_t placed_replica_ns(struct placed *p, const struct placed_plan *plan, int replica,
                          int64_t at_least);
// Puts the rings of an evaluated plan into the orders that are best for its slowest replica, up to
// PLACED_RING_EXACT replicas.
void placed_improve_rings(struct placed *p, struct placed_plan *plan);
// Exchanges two members of a ring wherever that makes its slowest link faster, down to `enough`.
// links[from * count + to] in ns.
void placed_improve_ring(const int64_t *links, int *ring, int count, int64_t enough);

// Gives each replica the same number of micro-batches, or one unit less: the first ones have more.
// Choices stay.
void placed_spread(const struct placed *p, struct placed_plan *plan);
// Gives a replica another number of micro-batches, with its choices. false: that does not fit.
bool placed_give(struct placed *p, struct placed_plan *plan, int replica, int micro_batches);
// Chooses the layers and options of like[stage] (choices for p's own number of micro-batches; NULL:
// of the plan's own) on the plan's nodes. false: they do not fit.
bool placed_fit(struct placed *p, struct placed_plan *plan, int replica, const int *like);
bool placed_fit_all(struct placed *p, struct placed_plan *plan, const int *like);
bool placed_schedules_nest(const struct priced *priced); // struct placed, nested

// Raises a bound on all plans towards the one wanted (share.c). On entry it is a bound on any
// replica with p's own number of micro-batches. relaxed: the program over groups (placed_relax).
struct placed_share_settings {
    const struct solve_settings *solve;
    double time_limit_s;       // of one program
    const struct watch *watch; // of all of them; NULL: none
};
enum status placed_share(struct placed *p, const struct priced *relaxed, int64_t wanted_ns,
                         int64_t *bound_ns, const struct placed_share_settings *settings,
                         struct arena *arena, struct error *err);

// Whether stages that share a rank are on one group and fit into its memory.
bool placed_fits_ranks(struct placed *p, const struct placed_plan *plan);

// counts[group * priced_ring_links + link]: a set of links of which every ring with a node of the
// group has at least one. They are those that are no better than the slowest link of the best ring
// over the same transport, nor than the best link at the group's nodes, by the sync of a mean
// stage.
void placed_ring_links(bool *counts, const struct priced *p, struct arena *arena);

// The measure by which a ring's links are compared: the sync of a mean stage, uncompressed.
// CHAIN_NONE: no link connects the pair.
int64_t placed_link_weight(const struct priced *p, size_t link);
// The least weight of the slowest link of any ring over nodes of these groups, a bit each: of one
// within a node, and of one that leaves it (if whole rings fit into nodes, the least weight of any
// link).
int64_t placed_least_bottleneck(const struct priced *p, const int64_t *weights, unsigned groups,
                                struct arena *arena);

// reaches.c: the bound of the program over groups with each group once for every reach, the set of
// groups that a stage's ring is on, in every case of how many ranks have rings of which reach.
struct placed_reaches_result {
    int64_t enough_ns; // no case matters once one proves no more than this
    bool repeats;      // with every group to share, not only the one of the program over groups
    int64_t bound_ns;  // 0: nothing beyond the program over groups; NEVER_NS: there is no plan
    // Places a plan by groups that is faster than the best plan. Returns the best plan's time.
    int64_t (*place)(void *context, const struct plan *plan);
    void *context;
    double gap; // that the best plan may leave
};
enum status placed_reaches_solve(struct placed_reaches_result *r, const struct priced *p,
                                 const struct priced *relaxed,
                                 const struct solve_settings *settings, const volatile int *stop,
                                 struct arena *arena, struct error *err);

// pipette.c: as placed_solve, for the objective pipette.
struct solve_result;
struct solve_settings;
enum status placed_solve_pipette(struct solve_result *r, const struct priced *priced,
                                 const struct solve_settings *settings, const volatile int *stop,
                                 struct arena *arena, struct error *err);

// ---- tree.c: the proof of placements by a tree over nodes.

struct placed_tree_settings {
    double gap;                          // at which to stop; 0: exact
    int64_t cutoff_ns;                   // plans at or above it are of no interest; 0: all are
    int64_t effort_max;                  // in boxes of choices x stages squared
    bool (*should_stop)(void *argument); // may be NULL
    void *stop_argument;
};

// Returns a bound on all placed plans, at least `bound_ns` (already proven); `best` may improve. If
// the tree ended, the bound is best's time, less the gap.
int64_t placed_tree(struct placed *p, struct placed_plan *best, int64_t bound_ns,
                    const struct placed_tree_settings *settings, struct arena *arena);

// ---- single.c: one replica on nodes is the problem of ranks on groups with every node a group of
// its own: no ring joins nodes, and the engines for groups treat slots, links between groups and
// layers together. Up to GROUPS_MAX nodes.

bool placed_is_single(const struct placed *p);

// Raises *bound_ns, already proven, to what is proven of all placed plans, at most best's time
// (INT64_MAX: there is no plan); `best` may improve. The settings used are gap, cut-off, time
// limit, threads, seed, boxes_max, memory of workers and evidence: if the bound rose and evidence
// was requested, *evidence is what the bound rests on.
struct solve_settings;
struct solve_evidence;
enum status placed_single(struct placed *p, struct placed_plan *best, int64_t *bound_ns,
                          struct solve_evidence **evidence, const struct solve_settings *settings,
                          const volatile int *stop, struct arena *arena, struct error *err);

// ---- view.c: one replica as a pipeline problem of its own while only some ranks of the replicas
// have nodes. Transfers and syncs whose nodes are known have these nodes' prices; the others have
// the least that the free nodes allow. Its least time bounds every placement that continues from
// there.

// A partial placement.
struct placed_part {
    int *node; // [replica * ranks + rank], -1: not yet
    int *left; // [node]: device groups that are free
};

struct placed_views; // shared by all views of a problem: syncs of every choice by link, computed on
                     // demand

struct placed_views *placed_views_open(struct placed *p, struct arena *arena);

struct placed_view {
    struct choices choices; // of the replica; fewer than the problem's
    struct priced priced;   // with the embedding sync and the slots that the part leaves
    int **number;           // [stage][choice]: its number in the problem's choices
};

// Choices with barred[stage][choice] (numbered as in the problem) are left out; NULL: none. false:
// some stage has no choice left, or no link joins it, so there is no plan.
bool placed_view_make(struct placed_view *v, struct placed_views *views,
                      const struct placed_part *part, int replica, bool *const *barred,
                      struct arena *arena);

// ---- joint.c: a joint bound on the transfers of a replica's ranks that have no node yet: each
// takes a device group of its own.

// For a view with one stage per rank whose boundary_cuts are made. NULL: every boundary has its
// nodes.
const struct joint_transfers *placed_joint_make(const struct placed *p,
                                                const struct choices *of_view, const int *node,
                                                const int *left, struct arena *arena);
