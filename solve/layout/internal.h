// Shared by the files of the search of one layout: elimination by bound of the choices that no plan
// better than the incumbent can contain, and spans of layers as stages.
#pragma once

#include "solve/boxes/proof.h"
#include "formulate/choices/choice.h"

// Removes every choice whose own bound shows that any plan containing it takes at least `target_ns`
// (the incumbent's time). The bounds come from a path of the graph that the choice is on, and from
// a forward-backward dynamic programme over the stages with path weights (a Lagrangian bound, in
// exact integer arithmetic). weights: path_count rows of counts[symbol_count] with multipliers >= 0
// that sum to at most one (multiples of 2^-40); path_count 0: the dynamic programme chooses its
// own. Returns a proven lower bound on every plan of the remaining choices and of those removed, as
// long as it is below target_ns; or target_ns when nothing better can exist; then with removed_ns,
// not NULL, the proven bound itself, which may be more. *removed_ns: the least bound of what was
// removed, at least target_ns; INT64_MAX: nothing was. should_stop (may be NULL) is called between
// its steps; true ends it with what is proven so far.
int64_t eliminate(struct choices *c, struct graph *g, int64_t target_ns, const int *paths,
                  const int64_t *weights, int path_count, bool (*should_stop)(void *argument),
                  void *argument, int64_t *removed_ns, struct arena *arena);

// The same with weights of its own; *proof gets one record of all steps.
int64_t eliminate_recorded(struct choices *c, struct graph *g, int64_t target_ns,
                           bool (*should_stop)(void *argument), void *argument,
                           struct box_proof *proof, int64_t *removed_ns, struct arena *arena);

// What each span of layers is as a stage on each width, where replicas take whole micro-batches in
// turn (docs/PROOFS.md 15.6): the ways to treat its layers of which none is worse than another.

// A way to treat a span's layers on a width: its passes, and how many micro-batches fit.
struct way {
    int64_t passes_ns, depth;
    enum recompute recompute;
    int recomputed_layers;
    bool set; // some set of layers is recomputed in full (spans_choose_set)
};

// Of one span of layers on one width; a longer pass has a greater depth.
struct span {
    struct way *ways;
    int count;
    int64_t ends_ns, link_ns; // of one micro-batch: at its ends of messages, most over a link
    bool joined;
};

struct spans {
    const struct priced *p;
    struct choices choices; // that stages are evaluated with
    int layers, stages, groups;
    bool any, alone;    // any number of stages will do; also one alone
    struct span *items; // [(first * (layers + 1) + end) * groups + group]
    struct way *scratch;
    int scratch_count;
    struct arena *arena;
    bool (*should_stop)(void *argument);
    void *argument;
};

static inline struct span *span_at(const struct spans *s, int first, int end, int group)
{
    return &s->items[((size_t)first * (size_t)(s->layers + 1) + (size_t)end) * (size_t)s->groups +
                     (size_t)group];
}
// Whether some stage may have these layers.
bool spans_has(const struct spans *s, int first, int end);
void spans_fill(struct spans *s); // those that it has
// recomputed[layer of the model] for the layers of the span: the set that the way, one of the
// span's, is of.
void spans_choose_set(struct spans *s, int first, int end, int group, const struct way *way,
                      bool *recomputed);
