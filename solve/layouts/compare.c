// Whether one layout is no worse than another for every plan: the same graph (or one with fewer
// waits), the same choices, and every priced time and byte at most the other's. Then a bound of the
// first holds for the second.

#include <string.h>

#include "solve/layouts/work.h"

static bool none_above(const int64_t *a, const int64_t *b, int count)
{
    for (int i = 0; i < count; i++)
        if (a[i] > b[i]) return false;
    return true;
}

static bool all_equal(const int64_t *a, const int64_t *b, int count)
{
    for (int i = 0; i < count; i++)
        if (a[i] != b[i]) return false;
    return true;
}

// And the same choices of recomputation.
static bool same_graph(const struct priced *a, const struct priced *b)
{
    const struct layout *x = &a->layout, *y = &b->layout;
    assert(a->layer_count == b->layer_count && a->objective == b->objective); // of one problem
    if (x->schedule != y->schedule || a->rank_count != b->rank_count ||
        a->stage_count != b->stage_count || a->slice_count != b->slice_count ||
        a->micro_batches != b->micro_batches || x->local_loss_every != y->local_loss_every)
        return false;
    if (x->local_loss_every &&
        (a->local_forward_ns > b->local_forward_ns || a->local_backward_ns > b->local_backward_ns ||
         a->local_bytes > b->local_bytes))
        return false;
    for (int i = 0; i < a->slice_count && a->slice_count > 1; i++)
        if (x->slices[i] != y->slices[i]) return false;
    if (memcmp(x->in_flight, y->in_flight, sizeof x->in_flight)) return false;
    if (x->recompute != y->recompute || x->recomputed_layers != y->recomputed_layers) return false;
    return x->barrier <= y->barrier; // a barrier only adds waits
}

// Recomputation in every mode that is priced.
static bool again_no_worse(const struct priced_run *u, const struct priced_run *v, int passes)
{
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
        if (u->again_ns[mode] && !none_above(u->again_ns[mode], v->again_ns[mode], passes))
            return false;
    return true;
}

// What a sync beside the gradients leaves behind them is at most the whole sync, and rises by no
// more than the gradients fall; it starts behind its stage's last one, which ends as much sooner.
static bool syncs_no_worse(const struct layout *x, const struct layout *y)
{
    return x->gradient_sync == SYNC_OVERLAPPED || y->gradient_sync == SYNC_EXPOSED;
}

// Compares the optimizer's step and state, and what is in tiers, with one option of a stage.
// As no budget can tell from less.
static bool energy_no_worse(const struct priced_tiered *x, const struct priced_tiered *y,
                            int groups)
{
    if (!x->energy_uj) return true;
    return none_above(x->energy_uj, y->energy_uj, groups) &&
           none_above(x->again_uj, y->again_uj, groups) &&
           none_above(x->swap_uj, y->swap_uj, groups);
}

static bool option_no_worse(const struct priced *a, const struct priced_run *u,
                            const struct priced_run *v, int option)
{
    int n = a->group_count * a->slice_count;
    for (int g = 0; g < a->group_count; g++)
        if (priced_optimizer_ns(u, option, g) > priced_optimizer_ns(v, option, g)) return false;
    if (priced_optimizer_bytes(u, option) > priced_optimizer_bytes(v, option)) return false;
    if (!u->tiered_count) return true;
    const struct priced_tiered *x = &u->tiered[option], *y = &v->tiered[option];
    return x->weight_bytes <= y->weight_bytes && x->buffer_bytes <= y->buffer_bytes &&
           none_above(x->tier_bytes, y->tier_bytes, a->tier_count) &&
           none_above(priced_forward_ns(u, option), priced_forward_ns(v, option), n) &&
           none_above(priced_backward_ns(u, option), priced_backward_ns(v, option), n) &&
           energy_no_worse(x, y, a->group_count);
}

static bool run_no_worse(const struct priced *a, const struct priced_run *u,
                         const struct priced_run *v)
{
    int groups = a->group_count, n = groups * a->slice_count;
    if (u->count != v->count || u->recomputable != v->recomputable || u->cut != v->cut)
        return false;
    if (u->weight_bytes > v->weight_bytes || u->gradient_bytes > v->gradient_bytes ||
        u->unsharded_bytes > v->unsharded_bytes)
        return false;
    if (!none_above(u->stash_bytes, v->stash_bytes, RECOMPUTE_COUNT) ||
        !none_above(u->working_bytes, v->working_bytes, RECOMPUTE_COUNT))
        return false;
    for (int option = 0; option < a->gradient_option_count; option++)
        if (!none_above(u->sync_ns[option], v->sync_ns[option], groups) ||
            !option_no_worse(a, u, v, option))
            return false;
    return none_above(u->feedback_bytes, v->feedback_bytes, a->gradient_option_count) &&
           none_above(u->forward_ns, v->forward_ns, n) &&
           none_above(u->backward_ns, v->backward_ns, n) &&
           none_above(u->weight_ns, v->weight_ns, groups) && again_no_worse(u, v, n);
}

// How long passes wait for room depends on bytes and times together: layouts whose stages may swap
// are compared only if all of these are the same.
static bool swaps_alike(const struct priced *a, const struct priced *b)
{
    int n = a->group_count;
    if (a->recompute[RECOMPUTE_SWAP] != b->recompute[RECOMPUTE_SWAP]) return false;
    for (int r = 0; r < a->run_count && a->recompute[RECOMPUTE_SWAP]; r++) {
        const struct priced_run *u = &a->runs[r], *v = &b->runs[r];
        if (!all_equal(u->again_ns[RECOMPUTE_FULL], v->again_ns[RECOMPUTE_FULL], n) ||
            !all_equal(u->stash_bytes, v->stash_bytes, RECOMPUTE_FULL + 1))
            return false;
        for (int o = 0; o < a->gradient_option_count; o++)
            if (!all_equal(u->tiered[o].away_ns, v->tiered[o].away_ns, n) ||
                !all_equal(u->tiered[o].back_ns, v->tiered[o].back_ns, n) ||
                !all_equal(priced_forward_ns(u, o), priced_forward_ns(v, o), n) ||
                !all_equal(priced_backward_ns(u, o), priced_backward_ns(v, o), n))
                return false;
    }
    return true;
}

static bool group_no_worse(const struct priced *a, const struct priced_group *u,
                           const struct priced_group *v)
{
    if (v->excluded) return true;
    for (int i = 0; i < a->tier_count; i++) // -1: no limit
        if (u->tier_limit_bytes[i] >= 0 &&
            (v->tier_limit_bytes[i] < 0 || u->tier_limit_bytes[i] < v->tier_limit_bytes[i]))
            return false;
    return !u->excluded && u->slots >= v->slots && u->memory_limit_bytes >= v->memory_limit_bytes &&
           u->constant_bytes <= v->constant_bytes &&
           none_above(u->sync_constant_ns, v->sync_constant_ns, a->gradient_option_count);
}

// PRICE_NONE (no link connects the two groups) is below every price: if the first price is none, so
// must the other be.
static bool prices_no_worse(const int64_t *u, const int64_t *v, int count)
{
    for (int i = 0; i < count; i++)
        if (v[i] != PRICE_NONE && (u[i] == PRICE_NONE || u[i] > v[i])) return false;
    return true;
}

static bool cut_no_worse(const struct priced *a, const struct priced_cut *u,
                         const struct priced_cut *v)
{
    int pairs = a->group_count * a->group_count * PART_COUNT;
    if (u->message_bytes > v->message_bytes ||
        !none_above(u->feedback_bytes, v->feedback_bytes, a->boundary_option_count))
        return false;
    if (!prices_no_worse(u->forward_ns, v->forward_ns, pairs * a->slice_count)) return false;
    for (int option = 0; option < a->boundary_option_count; option++)
        if (!prices_no_worse(u->backward_ns[option], v->backward_ns[option],
                             pairs * a->slice_count))
            return false;
    return true;
}

bool layout_no_worse(const struct priced *a, const struct priced *b)
{
    if (priced_has_widths(a) || priced_mixes_layouts(a) || !same_graph(a, b) ||
        a->run_count != b->run_count || a->group_count != b->group_count ||
        a->cut_count != b->cut_count || a->local_head_count != b->local_head_count ||
        !syncs_no_worse(&a->layout, &b->layout))
        return false;
    if (!swaps_alike(a, b)) return false;
    if (a->has_embedding_sync &&
        (!b->has_embedding_sync || !prices_no_worse(a->embedding_sync_ns, b->embedding_sync_ns,
                                                    a->group_count * a->group_count)))
        return false;
    for (int g = 0; g < a->group_count; g++)
        if (!group_no_worse(a, &a->groups[g], &b->groups[g])) return false;
    for (int r = 0; r < a->run_count; r++)
        if (!run_no_worse(a, &a->runs[r], &b->runs[r])) return false;
    for (int h = 0; h < a->local_head_count; h++)
        if (!run_no_worse(a, &a->local_heads[h], &b->local_heads[h])) return false;
    for (int c = 0; c < a->cut_count; c++)
        if (!cut_no_worse(a, &a->cuts[c], &b->cuts[c])) return false;
    return true;
}
