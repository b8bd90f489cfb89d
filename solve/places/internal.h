// What the files of placing share; for them alone.
#ifndef PLUMBLINE_SOLVE_PLACES_INTERNAL_H
#define PLUMBLINE_SOLVE_PLACES_INTERNAL_H

#include "solve/places/placed.h"
#include "solve/layout/solve.h"

enum { PLACED_ROWS_MAX = 128, PLACED_ROWS_OF_MANY = 40 };

// What hangs on how many micro-batches a replica takes: its schedule, what fits into memory under
// it, and the paths that were critical before (a plan that is too slow is mostly so on one of
// them).
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
    const struct choices *c;    // its: where stages stand, what the decisions are
    int replicas, ranks, stages, nodes, symbols;
    bool uneven;
    bool nested;                      // the schedule of fewer micro-batches is part of that of more
    int unit;                         // a replica's micro-batches are a multiple of this
    int64_t together;                 // of all replicas
    int most;                         // of one
    struct placed_variant **variants; // [most / unit + 1], NULL: not built yet
    int64_t *durations;               // [symbol]
    int *counts;                      // [symbol + 1]
    int64_t *syncs;                   // [replica * stages + stage], of the plan at hand
    int64_t walks;                    // of the whole graph
    int *leaving;                     // [node] rings that leave it, of the plan at hand
    struct placed_known_ring *rings;  // worked out before
    int *ring_next;                   // [stage]
    struct placed_embedding *embedding; // worked out last
    int64_t embedding_ns;               // the fused sync, of the plan at hand
    bool keep_rings;                    // they are evaluated as they are
    enum status status;                 // of building variants
    struct error error;
    struct arena *arena;
};

// ---- rings.c

struct placed_known_ring *placed_rings_open(const struct placed *p, struct arena *arena);
// Rings into the plan, in their best order, and p->syncs. false: one of them is not joined.
bool placed_sync_all(struct placed *p, struct placed_plan *plan);

// ---- embedding.c

struct placed_embedding *placed_embedding_open(const struct placed *p, struct arena *arena);
bool placed_fuses_embeddings(const struct placed *p);
// The ring of both ends into the plan, in its best order, and p->embedding_ns. false: it is not
// joined.
bool placed_sync_embedding(struct placed *p, struct placed_plan *plan);
// What the fused sync takes at least with these nodes, [replica * ranks + rank], -1: none yet.
int64_t placed_embedding_floor(const struct placed *p, const int *node, struct arena *arena);

// ---- variants.c

// Built when first asked for; one that cannot be built has no choices, and p->status says why. No
// mark may be set in p's arena.
struct placed_variant *placed_variant(struct placed *p, int micro_batches);

// The choice of a variant with the layers and options of `like` (any variant's) on the group:
// itself, or the one of least load; -1: there is none.
int placed_choice_in(const struct placed_variant *v, int stage, const struct choice *like,
                     int group);
// Of p's own number of micro-batches, with the layers and options of its choice `like`.
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

// Whether each of 0 .. count - 1 stands there once (told by sums).
static inline bool placed_is_order(const int *order, int count)
{
    int64_t sum = 0, squares = 0;
    for (int64_t i = 0; i < count; i++)
        sum += order[i] - i, squares += (int64_t)order[i] * order[i] - i * i;
    return sum == 0 && squares == 0;
}

// links[replica][from * replicas + to]: what the stage's sync takes of a replica over a ring like
// that link; -1: not joined.
void placed_fill_links(struct placed *p, const struct placed_plan *plan, int stage, int64_t *links);
// A replica's time with the syncs p holds (placed_evaluate leaves the plan's there); at_least or
// more where it is known to be.
int64_t placed_replica_ns(struct placed *p, const struct placed_plan *plan, int replica,
                          int64_t at_least);
// The rings of an evaluated plan in the orders that are best for its slowest replica, up to
// PLACED_RING_EXACT replicas.
void placed_improve_rings(struct placed *p, struct placed_plan *plan);
// Two members of a ring change places wherever that makes its dearest link cheaper, down to
// `enough`. links[from * count + to] in ns.
void placed_improve_ring(const int64_t *links, int *ring, int count, int64_t enough);

// As many micro-batches for each replica, or one unit less: the first ones have more. Nothing is
// chosen anew.
void placed_spread(const struct placed *p, struct placed_plan *plan);
// Another number of micro-batches for a replica, with what it has chosen. false: that does not fit.
bool placed_give(struct placed *p, struct placed_plan *plan, int replica, int micro_batches);
// The layers and options of like[stage], choices under p's own number, on the plan's nodes. false:
// they do not fit.
bool placed_choose(struct placed *p, struct placed_plan *plan, const int *like);
bool placed_schedules_nest(const struct priced *priced); // struct placed, nested

// Raises a bound on all plans, which some replica with p's own number of micro-batches keeps
// already, towards the one wanted (share.c). relaxed: the program over groups
// (placed_relax).
struct placed_share_settings {
    const struct solve_settings *solve;
    double time_limit_s;       // of one program
    const struct watch *watch; // of all of them; NULL: none
};
enum status placed_share(struct placed *p, const struct priced *relaxed, int64_t wanted_ns,
                         int64_t *bound_ns, const struct placed_share_settings *settings,
                         struct arena *arena, struct error *err);

// Whether stages that share a rank stand on one group and fit into its memory.
bool placed_fits_ranks(struct placed *p, const struct placed_plan *plan);

// counts[group * priced_ring_links + link]: the links of which every ring with a node of the group
// has one at least, those that are no better than the dearest link of the best ring over the same
// transport, nor than the best beside the group's nodes, by the sync of a mean stage.
void placed_ring_links(bool *counts, const struct priced *p, struct arena *arena);

// solve.c: the plan with its placement, and the claims of its slowest replica.
void placed_put_plan(struct plan *plan, struct placed *p, struct placed_plan *best,
                     struct arena *arena);

// pipette.c: as placed_solve, for the objective pipette.
struct solve_result;
struct solve_settings;
enum status placed_solve_pipette(struct solve_result *r, const struct priced *priced,
                                 const struct solve_settings *settings, const volatile int *stop,
                                 struct arena *arena, struct error *err);

#endif
