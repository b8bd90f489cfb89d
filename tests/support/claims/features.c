// Counts the features of the drawn problems.
#include "data/kinds/schedules.h"
#include "tests/support/claims/features.h"

struct seen {
    const struct space_truth *t;
    const struct layout_truth *l;
    const struct problem *p;
    const struct priced *q;
    const struct layout *x;
};

static bool is_schedule(const struct seen *s, int kind) { return (int)s->x->schedule == kind; }
static bool has_part(const struct seen *s, int part)
{
    return s->q->rank_count > 1 && priced_uses_part(s->q, (enum transfer_part)part);
}
static bool has_barrier(const struct seen *s, int so) { return s->x->barrier == so; }
static bool has_groups(const struct seen *s, int count)
{
    return count < 3 ? s->q->group_count == count : s->q->group_count >= count;
}
static bool has_turns(const struct seen *s, int turns) { return s->x->virtual_stages >= turns; }
static bool has_zero(const struct seen *s, int zero) { return s->x->zero == zero; }
static bool offers(const struct seen *s, int mode) { return s->q->recompute[mode]; }

static bool syncs(const struct seen *s, int overlapped)
{
    return priced_uses_sync(s->q) && (s->x->gradient_sync == SYNC_OVERLAPPED) == overlapped;
}

static bool has_ranks(const struct seen *s, int ranks) { return s->x->pipeline == ranks; }

static int64_t most_pass(const struct priced *q, int run)
{
    return q->runs[run].forward_ns[0] + q->runs[run].backward_ns[0];
}

// 0: some layer's optimizer step takes longer than a pass of any; 1: some pass takes nothing; 2: an
// end's pass is 4 times a middle layer's; 3: nothing.
static bool has_prices(const struct seen *s, int which)
{
    int64_t optimizer = 0, pass = 0, least = INT64_MAX;
    const struct priced *q = s->q;
    for (int r = 0; r < q->run_count; r++) {
        if (q->groups[0].excluded) return false;
        int64_t own = most_pass(q, r);
        if (q->runs[r].optimizer_ns[0] > optimizer) optimizer = q->runs[r].optimizer_ns[0];
        if (own > pass) pass = own;
        if (q->runs[r].forward_ns[0] < least) least = q->runs[r].forward_ns[0];
    }
    if (which == 0) return optimizer > pass;
    if (which == 1) return least == 0;
    int64_t middle = most_pass(q, q->run_count / 2), first = most_pass(q, 0),
            last = most_pass(q, q->run_count - 1), end = first > last ? first : last;
    return q->run_count > 1 && (which == 2 ? end > 4 * middle : end == 0 || last == 0);
}

static bool has_option(const struct seen *s, int which)
{
    const struct job *j = &s->p->job;
    const struct quality_budget *b = &j->budget;
    switch (which) {
    case 0: return j->boundary_option_count > 0;
    case 1: return j->gradient_option_count > 0;
    case 2:
        return (j->boundary_option_count || j->gradient_option_count) &&
               (b->boundaries_max >= 0 || b->stages_max >= 0 || b->cost_max >= 0);
    case 3: return j->rule_count > 0;
    case 4: return s->x->local_loss_every > 0;
    case 5: return s->x->offload_optimizer;
    case 6: return s->x->micro_batch > 1;
    case 7: return s->x->tensor > 1;
    case 8: return s->x->context > 1;
    case 9: return s->q->has_embedding_sync && !s->x->fused_embedding_sync;
    case 10: return s->q->has_embedding_sync && s->x->fused_embedding_sync;
    case 11: return s->p->model.has_shape;
    case 12: return j->objective == OBJECTIVE_MAX_LOAD;
    default: return s->t->count > 1;
    }
}

// 0: layers that share a pool, 1: that share weights, 2: frozen ones in few bits.
static bool has_runs(const struct seen *s, int which)
{
    for (int i = 0; i < s->p->model.run_count; i++) {
        const struct layer_run *r = &s->p->model.runs[i];
        if (which == 0   ? r->kind == LAYER_MEMORY && r->pool.shared
            : which == 1 ? r->shared_weights
                         : r->weight_bits > 0)
            return true;
    }
    return false;
}

static bool is_tight(const struct seen *s, int g)
{
    return s->p->cluster.groups[g].memory_bytes < (int64_t)1 << 40;
}

static bool is_unjoined(const struct seen *s, int unused)
{
    (void)unused;
    for (int i = 0; i < s->q->group_count * s->q->group_count; i++)
        if (s->q->cuts[0].forward_ns[i * PART_COUNT] == PRICE_NONE &&
            !s->q->groups[i / s->q->group_count].excluded &&
            !s->q->groups[i % s->q->group_count].excluded)
            return true;
    return false;
}

#define OF_SCHEDULE(constant, name, ...) {name, is_schedule, SCHEDULE_##constant},
static const struct feature {
    const char *name;
    bool (*has)(const struct seen *s, int which);
    int which;
} features[] = {
    SCHEDULE_KINDS(OF_SCHEDULE){"blocking", has_part, PART_BLOCKING},
    {"link", has_part, PART_LINK},
    {"delay", has_part, PART_DELAY},
    {"overhead", has_part, PART_OVERHEAD},
    {"barrier", has_barrier, 1},
    {"no barrier", has_barrier, 0},
    {"1 group", has_groups, 1},
    {"2 groups", has_groups, 2},
    {"3 groups", has_groups, 3},
    {"1 rank", has_ranks, 1},
    {"2 ranks", has_ranks, 2},
    {"3 ranks", has_ranks, 3},
    {"4 ranks", has_ranks, 4},
    {"several stages a rank", has_turns, 2},
    {"exposed syncs", syncs, 0},
    {"overlapped syncs", syncs, 1},
    {"heavy steps", has_prices, 0},
    {"free passes", has_prices, 1},
    {"heavy ends", has_prices, 2},
    {"free ends", has_prices, 3},
    {"ZeRO 0", has_zero, 0},
    {"ZeRO 1", has_zero, 1},
    {"ZeRO 2", has_zero, 2},
    {"ZeRO 3", has_zero, 3},
    {"offload", has_option, 5},
    {"selective", offers, RECOMPUTE_SELECTIVE},
    {"full", offers, RECOMPUTE_FULL},
    {"first layers", offers, RECOMPUTE_FIRST_LAYERS},
    {"swap", offers, RECOMPUTE_SWAP},
    {"tight memory", is_tight, 0},
    {"boundary options", has_option, 0},
    {"gradient options", has_option, 1},
    {"budget", has_option, 2},
    {"rules", has_option, 3},
    {"local losses", has_option, 4},
    {"micro-batches of several", has_option, 6},
    {"tensor", has_option, 7},
    {"context", has_option, 8},
    {"embedding sync", has_option, 9},
    {"fused embedding sync", has_option, 10},
    {"shapes", has_option, 11},
    {"shared pools", has_runs, 0},
    {"shared weights", has_runs, 1},
    {"weights in few bits", has_runs, 2},
    {"max_load", has_option, 12},
    {"several layouts", has_option, 13},
    {"groups that no link connects", is_unjoined, 0},
};
enum { FEATURES = (int)(sizeof features / sizeof *features) };
_Static_assert((int)FEATURES <= (int)FEATURES_MAX, "room for all features");

void features_count(struct features *f, const struct space_truth *t)
{
    f->problems++;
    for (int64_t i = 0; i < t->count; i++) {
        const struct layout_truth *l = &t->layouts[i];
        const struct seen s = {t, l, t->problem, &l->priced, &l->layout};
        f->layouts++, f->refused += l->refused, f->unknown += !l->known;
        if (l->refused || !l->known) continue;
        f->enumerated += l->enumerated;
        *(l->value_ns == INT64_MAX ? &f->infeasible : &f->feasible) += 1;
        for (int k = 0; k < FEATURES && l->value_ns != INT64_MAX; k++)
            f->counts[k] += features[k].has(&s, features[k].which);
    }
}

const char *features_text(const struct features *f, struct arena *arena)
{
    const char *text = "";
    for (int k = 0; k < FEATURES; k++)
        text = arena_print(arena, "%s%s%s %lld", text, k ? ", " : "", features[k].name,
                           (long long)f->counts[k]);
    return text;
}

const char *features_rarest(const struct features *f, int64_t *count)
{
    int least = 0;
    for (int k = 1; k < FEATURES; k++)
        if (f->counts[k] < f->counts[least]) least = k;
    *count = f->counts[least];
    return features[least].name;
}
