// Whether one layout is no worse than another for every plan: the same graph, the same choices,
// every time and byte at most the other's. Then no plan of the other takes less than the first
// one's bound. Graphs are equal if schedule, ranks, stages, slices, micro-batches and local
// boundaries are equal; a barrier only adds waits, and so does what has a cost in the other alone.
// A sync that overlaps gradients shrinks as they grow, so it is compared only where both syncs are
// exposed or gradients are equal.
#include <string.h>

#include "solve/checker/space/arguments.h"

static bool none_above(const int64_t *a, const int64_t *b, int count)
{
    for (int i = 0; i < count; i++)
        if (a[i] > b[i]) return false;
    return true;
}

static bool all_equal(const int64_t *a, const int64_t *b, int count)
{
    return none_above(a, b, count) && none_above(b, a, count);
}

// -1, no link between two groups: on both sides, or only on the other's.
static bool transfers_no_worse(const int64_t *a, const int64_t *b, int count)
{
    for (int i = 0; i < count; i++)
        if (b[i] >= 0 && (a[i] < 0 || a[i] > b[i])) return false;
    return true;
}

// How all stages recompute, or that each chooses.
static bool same_setting(const struct check_layout *a, const struct check_layout *b)
{
    return a->value[KEY_RECOMPUTE] == b->value[KEY_RECOMPUTE] && a->recomputed == b->recomputed;
}

static bool same_graph(const struct check_problem *a, const struct check_problem *b)
{
    return a->kind == b->kind && a->ranks == b->ranks && a->stages == b->stages &&
           a->slices == b->slices && a->micro_batches == b->micro_batches &&
           a->local_every == b->local_every && a->stored == b->stored &&
           !memcmp(a->layout.in_flight, b->layout.in_flight, sizeof a->layout.in_flight) &&
           same_setting(&a->layout, &b->layout) && a->barrier <= b->barrier &&
           !a->embedding == !b->embedding && !a->head == !b->head;
}

static bool same_choices(const struct check_problem *a, const struct check_problem *b)
{
    if (a->layers != b->layers || a->run_count != b->run_count ||
        a->group_count != b->group_count || a->cut_count != b->cut_count ||
        a->boundary_count != b->boundary_count || a->gradient_count != b->gradient_count)
        return false;
    for (int r = 0; r < a->run_count; r++) {
        const struct check_run *x = &a->runs[r], *y = &b->runs[r];
        if (x->count != y->count || x->recomputable != y->recomputable || x->cut != y->cut)
            return false;
    }
    return true;
}

// Keeping less gives less room for swapped layers to use, and a longer wait: compared only where
// the bytes and times that determine this are equal.
static bool same_swaps(const struct check_problem *a, const struct check_problem *b)
{
    int groups = a->group_count, passes = groups * a->slices;
    if (!a->modes[MODE_SWAP] && !b->modes[MODE_SWAP]) return true;
    if (a->modes[MODE_SWAP] != b->modes[MODE_SWAP]) return false;
    for (int r = 0; r < a->run_count; r++) {
        const struct check_run *x = &a->runs[r], *y = &b->runs[r];
        if (!all_equal(x->stash, y->stash, MODES) || !all_equal(x->weight, y->weight, groups))
            return false;
        for (int mode = 0; mode < MODES; mode++)
            if (x->again[mode] && !all_equal(x->again[mode], y->again[mode], passes)) return false;
        for (int o = 0; o < a->gradient_count; o++)
            if (!all_equal(check_forward(x, o), check_forward(y, o), passes) ||
                !all_equal(check_backward(x, o), check_backward(y, o), passes) ||
                !all_equal(check_swap(x, o, false), check_swap(y, o, false), groups) ||
                !all_equal(check_swap(x, o, true), check_swap(y, o, true), groups))
                return false;
    }
    return true;
}

// With an option: what stays and is buffered, what is in tiers, and the passes.
static bool tiered_no_worse(const struct check_problem *p, const struct check_run *x,
                            const struct check_run *y, int o)
{
    int passes = p->group_count * p->slices;
    const struct check_tiered *a = &x->tiered[o], *b = &y->tiered[o];
    return a->weight_bytes <= b->weight_bytes && a->buffer_bytes <= b->buffer_bytes &&
           none_above(a->tier_bytes, b->tier_bytes, p->tier_count) &&
           none_above(check_forward(x, o), check_forward(y, o), passes) &&
           none_above(check_backward(x, o), check_backward(y, o), passes) &&
           (!a->energy || (none_above(a->energy, b->energy, p->group_count) &&
                           none_above(a->again, b->again, p->group_count) &&
                           none_above(a->swapped, b->swapped, p->group_count)));
}

static bool run_no_worse(const struct check_problem *p, const struct check_run *a,
                         const struct check_run *b)
{
    int groups = p->group_count, passes = groups * p->slices;
    for (int o = 0; o < p->gradient_count; o++)
        if (!none_above(a->sync[o], b->sync[o], groups) ||
            !none_above(a->optimizer[o], b->optimizer[o], groups))
            return false;
    for (int mode = 0; mode < MODES; mode++)
        if (a->again[mode] && !none_above(a->again[mode], b->again[mode], passes)) return false;
    for (int o = 0; a->tiered && o < p->gradient_count; o++)
        if (!tiered_no_worse(p, a, b, o)) return false;
    return a->weight_bytes <= b->weight_bytes && a->gradient_bytes <= b->gradient_bytes &&
           none_above(a->optimizer_bytes, b->optimizer_bytes, p->gradient_count) &&
           a->unsharded_bytes <= b->unsharded_bytes && none_above(a->stash, b->stash, MODES) &&
           none_above(a->working, b->working, MODES) &&
           none_above(a->feedback, b->feedback, p->gradient_count) &&
           none_above(a->forward, b->forward, passes) &&
           none_above(a->backward, b->backward, passes) && none_above(a->weight, b->weight, groups);
}

static bool group_no_worse(const struct check_problem *p, const struct check_group *a,
                           const struct check_group *b)
{
    if (b->excluded) return true;
    for (int i = 0; i < p->tier_count; i++) { // below 0: no limit
        int64_t x = a->tier_limit[i], y = b->tier_limit[i];
        if (x >= 0 && (y < 0 || x < y)) return false;
    }
    return !a->excluded && a->slots >= b->slots && a->memory_limit >= b->memory_limit &&
           a->constant_bytes <= b->constant_bytes &&
           none_above(a->sync_constant, b->sync_constant, p->gradient_count);
}

static bool cut_no_worse(const struct check_problem *p, const struct check_cut *a,
                         const struct check_cut *b)
{
    int prices = p->slices * p->group_count * p->group_count * PARTS;
    for (int o = 0; o < p->boundary_count; o++)
        if (!transfers_no_worse(a->backward[o], b->backward[o], prices)) return false;
    return a->message_bytes <= b->message_bytes &&
           none_above(a->feedback, b->feedback, p->boundary_count) &&
           transfers_no_worse(a->forward, b->forward, prices);
}

// A group that is excluded in a has no times there; it must be excluded in b as well, and then
// none count.
static bool excluded_alike(const struct check_problem *a, const struct check_problem *b)
{
    for (int g = 0; g < a->group_count; g++)
        if (a->groups[g].excluded != b->groups[g].excluded) return false;
    return true;
}

bool check_no_worse(const struct check_problem *a, const struct check_problem *b)
{
    if (!same_graph(a, b) || !same_choices(a, b) || !excluded_alike(a, b)) return false;
    if (!same_swaps(a, b)) return false;
    if (a->overlapped < b->overlapped) return false;
    if (a->head && !run_no_worse(a, a->head, b->head)) return false;
    if (a->local_forward > b->local_forward || a->local_backward > b->local_backward ||
        a->local_bytes > b->local_bytes)
        return false;
    if (a->embedding &&
        !transfers_no_worse(a->embedding, b->embedding, a->group_count * a->group_count))
        return false;
    for (int g = 0; g < a->group_count; g++)
        if (!group_no_worse(a, &a->groups[g], &b->groups[g])) return false;
    for (int r = 0; r < a->run_count; r++)
        if (!run_no_worse(a, &a->runs[r], &b->runs[r])) return false;
    for (int c = 0; c < a->cut_count; c++)
        if (!cut_no_worse(a, &a->cuts[c], &b->cuts[c])) return false;
    return true;
}
