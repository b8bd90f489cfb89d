// What each span of layers is as a stage on each width, where replicas take whole micro-batches in
// turn (docs/PROOFS.md 15.6): the ways to treat its layers of which none is worse than another.
#ifndef PLUMBLINE_SOLVE_LAYOUT_SPANS_H
#define PLUMBLINE_SOLVE_LAYOUT_SPANS_H

#include "formulate/choices/choice.h"

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

#endif
