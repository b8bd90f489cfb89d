// The inequalities that bound a layout, one rank at a time, in planner and checker, against the
// schedule's own graph: random plans of every schedule, timed by the oracle. A plan in which a rank
// holds k main layers takes at least what both state for k layers on that rank, with memory limits
// that the plan just meets; and the basis of a search over k: no bound falls as k grows, nor when a
// layer moves from the ranks before to the rank. usage: test_layout_paths [PLANS]
#include "data/kinds/schedules.h"
#include "solve/checker/space/arguments.h"
#include "solve/layouts/bound.h"
#include "tests/support/check.h"
#include "tests/support/draws/kinds.h"
#include "tests/support/trials/check_trials.h"
#include "tests/support/oracle/oracle.h"
#include "tests/support/random_priced.h"

enum { TIME_MOST = 1 << 20 };
static int plans = 6000;

struct trial {
    int number;
    struct priced p;
    struct schedule schedule;
    struct plan_stage decision[STAGES_MAX];
    int64_t rank_bytes[STAGES_MAX], time_ns;
    uint64_t state;
    struct arena arena;
};

static int below(struct trial *t, int n) { return (int)random_less(&t->state, n); }

// ---- a problem

// One of: nothing, as drawn, ten times, a thousand times.
static void scale(struct trial *t, int64_t *const *prices, int arrays, int count)
{
    static const int64_t factors[] = {0, 1, 1, 1, 10, 1000};
    int64_t factor = factors[below(t, ARRAY_LENGTH(factors))];
    for (int a = 0; a < arrays; a++)
        for (int i = 0; i < count; i++)
            if (prices[a][i] != PRICE_NONE) prices[a][i] *= factor;
}

static void scale_runs(struct trial *t)
{
    struct priced *p = &t->p;
    int passes = p->slice_count * p->group_count;
    for (int r = 0; r < p->run_count && below(t, 2); r++) {
        struct priced_run *run = &p->runs[r];
        scale(t, &run->forward_ns, 1, passes);
        scale(t, &run->backward_ns, 1, passes);
        scale(t, &run->again_ns[RECOMPUTE_FULL], 1, passes);
        scale(t, &run->again_ns[RECOMPUTE_SELECTIVE], 1, passes);
        scale(t, &run->optimizer_ns, 1, p->group_count);
        scale(t, run->sync_ns, p->gradient_option_count, p->group_count);
        if (schedule_splits_backward(p->layout.schedule))
            scale(t, &run->weight_ns, 1, p->group_count);
        // A measured layer's modes may be in any order.
        for (int mode = 1; mode < 3 && below(t, 4) == 0; mode++)
            run->stash_bytes[mode] = below(t, 30);
    }
    for (int g = 0; g < p->group_count && below(t, 4) == 0; g++)
        scale(t, &p->groups[g].sync_constant_ns, 1, p->gradient_option_count);
}

static void scale_links(struct trial *t)
{
    struct priced *p = &t->p;
    int count = p->slice_count * p->group_count * p->group_count * PART_COUNT;
    for (int c = 0; c < p->cut_count; c++) {
        for (int i = 0; i < count; i++) {
            if (p->cuts[c].forward_ns[i] == PRICE_NONE) p->cuts[c].forward_ns[i] = 0;
            for (int o = 0; o < p->boundary_option_count; o++)
                if (p->cuts[c].backward_ns[o][i] == PRICE_NONE) p->cuts[c].backward_ns[o][i] = 0;
        }
        if (below(t, 3)) continue;
        scale(t, &p->cuts[c].forward_ns, 1, count);
        scale(t, p->cuts[c].backward_ns, p->boundary_option_count, count);
    }
    for (int i = 0; i < p->group_count * p->group_count; i++)
        if (p->embedding_sync_ns[i] == PRICE_NONE) p->embedding_sync_ns[i] = 0;
}

static void clear(int64_t *prices, int count) { memset(prices, 0, (size_t)count * sizeof *prices); }

// Sets kinds of work to zero time: the rest is alone on its paths.
static void clear_kinds(struct trial *t)
{
    struct priced *p = &t->p;
    int passes = p->slice_count * p->group_count, kinds = below(t, 1 << 7);
    for (int r = 0; r < p->run_count; r++) {
        struct priced_run *run = &p->runs[r];
        if (kinds & 1) clear(run->forward_ns, passes);
        if (kinds & 2) clear(run->backward_ns, passes);
        if (kinds & 4) clear(run->weight_ns, p->group_count);
        if (kinds & 8) clear(run->optimizer_ns, p->group_count);
        for (int o = 0; o < p->gradient_option_count && kinds & 16; o++)
            clear(run->sync_ns[o], p->group_count);
        if (kinds & 32) clear(run->again_ns[RECOMPUTE_FULL], passes);
        if (kinds & 64) clear(run->again_ns[RECOMPUTE_SELECTIVE], passes);
    }
}

static void fill_with_first(int64_t *prices, int count, int step)
{
    for (int i = 0; i < count; i++) prices[i] = prices[i % step];
}

// Where what a plan may choose costs the same, bounds that take the least of it have no room left.
static void make_groups_equal(struct priced *p)
{
    int groups = p->group_count;
    for (int r = 0; r < p->run_count; r++) {
        int64_t *const passes[] = {p->runs[r].forward_ns, p->runs[r].backward_ns,
                                   p->runs[r].again_ns[RECOMPUTE_FULL],
                                   p->runs[r].again_ns[RECOMPUTE_SELECTIVE]},
                       *const once[] = {p->runs[r].weight_ns, p->runs[r].optimizer_ns};
        for (size_t i = 0; i < ARRAY_LENGTH(passes); i++)
            for (int slice = 0; slice < p->slice_count; slice++)
                fill_with_first(passes[i] + slice * groups, groups, 1);
        for (size_t i = 0; i < ARRAY_LENGTH(once); i++) fill_with_first(once[i], groups, 1);
        for (int o = 0; o < p->gradient_option_count; o++)
            fill_with_first(p->runs[r].sync_ns[o], groups, 1);
    }
    for (int g = 1; g < groups; g++)
        memcpy(p->groups[g].sync_constant_ns, p->groups[0].sync_constant_ns,
               (size_t)p->gradient_option_count * sizeof(int64_t));
}

static void make_options_equal(struct priced *p)
{
    for (int r = 0; r < p->run_count; r++)
        for (int o = 1; o < p->gradient_option_count; o++)
            p->runs[r].sync_ns[o] = p->runs[r].sync_ns[0];
    for (int g = 0; g < p->group_count; g++)
        fill_with_first(p->groups[g].sync_constant_ns, p->gradient_option_count, 1);
}

static void make_links_equal(struct priced *p)
{
    int count = p->slice_count * p->group_count * p->group_count * PART_COUNT;
    int64_t *forward = p->cuts[0].forward_ns, *backward = p->cuts[0].backward_ns[0];
    fill_with_first(forward, count, PART_COUNT);
    fill_with_first(backward, count, PART_COUNT);
    for (int c = 0; c < p->cut_count; c++) {
        p->cuts[c].forward_ns = forward;
        for (int o = 0; o < p->boundary_option_count; o++) p->cuts[c].backward_ns[o] = backward;
    }
}

static void make_layers_equal(struct priced *p)
{
    for (int r = 1; r < p->run_count; r++) {
        struct priced_run run = p->runs[0];
        run.name = p->runs[r].name, run.count = p->runs[r].count;
        p->runs[r] = run;
    }
}

// Few kinds of layers, half of them in slices; or anything, of which some is scaled, missing or all
// equal.
static bool has_kinds(const struct trial *t) { return t->number / SCHEDULE_KIND_COUNT % 2; }

static void draw_problem(struct trial *t)
{
    struct priced *p = &t->p;
    int kind = (int)(t->number % SCHEDULE_KIND_COUNT);
    if (has_kinds(t)) {
        random_kinds(p, below(t, 2) ? SCHEDULE_TOKEN_SLICED : kind, &t->state, &t->arena);
        return;
    }
    random_priced_of(p, kind, &t->state, &t->arena);
    if (below(t, 2)) p->micro_batches = 1 + below(t, 4 * p->rank_count + 2);
    p->rule_count = 0;
    p->budget = (struct quality_budget){-1, -1, -1, 0};
    int longest = 0, more = below(t, 3) ? 0 : below(t, 6);
    for (int r = 1; r < p->run_count; r++)
        if (p->runs[r].count > p->runs[longest].count) longest = r;
    p->runs[longest].count += more, p->layer_count += more;
    for (int g = 0; g < p->group_count; g++)
        p->groups[g].excluded = NULL, p->groups[g].slots = p->rank_count;
    scale_runs(t);
    scale_links(t);
    if (below(t, 2)) clear_kinds(t);
    if (below(t, 2)) make_groups_equal(p);
    if (below(t, 2)) make_options_equal(p);
    if (below(t, 2)) make_links_equal(p);
    if (below(t, 3) == 0) make_layers_equal(p);
}

// Layers equal in the sum of their slices, some with all their time in one; one micro-batch, so
// that a slice on its way counts. From separate random numbers.
static void turn_slices(struct trial *t)
{
    struct priced *p = &t->p;
    uint64_t own = t->state * 0x9e3779b97f4a7c15u + 11;
    int count = p->slice_count * p->group_count;
    if (p->slice_count == 1 || random_less(&own, has_kinds(t) ? 6 : 2)) return;
    p->micro_batches = 1;
    make_layers_equal(p);
    for (int i = 0; i < 2 * p->run_count; i++) {
        int64_t **prices = i % 2 ? &p->runs[i / 2].backward_ns : &p->runs[i / 2].forward_ns;
        int64_t all = random_less(&own, 2 * p->slice_count), *values = *prices;
        if (all >= p->slice_count) continue;
        *prices = TAKE(&t->arena, count, int64_t);
        for (int j = 0; j < count; j++)
            (*prices)[all * p->group_count + j % p->group_count] += values[j];
    }
}

// ---- a plan

static int rank_of(const struct priced *p, int stage)
{
    bool folded = schedule_kinds[p->layout.schedule].folds && stage >= p->rank_count;
    return folded ? 2 * p->rank_count - 1 - stage : stage % p->rank_count;
}

static bool sends_gradient(const struct priced *p, int boundary)
{
    int every = p->layout.local_loss_every;
    return boundary >= 0 && rank_of(p, boundary) != rank_of(p, boundary + 1) &&
           !(every && (boundary + 1) % every == 0);
}

static int recomputable_layers(const struct priced *p, const struct plan_stage *d)
{
    int count = 0;
    for (int l = d->first_layer; l < d->first_layer + d->layer_count; l++)
        count += p->runs[priced_run_of(p, l)].recomputable;
    return count;
}

// From separate random numbers: the first layers swapped, after them none or the rest recomputed.
static void draw_swap(struct trial *t, struct plan_stage *d, int layers)
{
    uint64_t own = t->state * 0x9e3779b97f4a7c15u + 5;
    if (!layers || !priced_swaps_on(&t->p, d->group, d->gradient_option) || random_less(&own, 2))
        return;
    d->recompute = RECOMPUTE_SWAP;
    d->swapped_layers = 1 + (int)random_less(&own, layers);
    d->recomputed_layers =
        t->p.recompute[RECOMPUTE_FULL] && random_less(&own, 2) ? layers - d->swapped_layers : 0;
}

// As the layout has all stages recompute.
static void take_setting(const struct trial *t, struct plan_stage *d, int layers)
{
    int asked = t->p.layout.recomputed_layers;
    d->recompute = (enum recompute)(t->p.layout.recompute - 1);
    d->swapped_layers = 0;
    d->recomputed_layers = asked < layers ? asked : layers;
    if (asked && !layers) d->recompute = RECOMPUTE_NONE;
}

static void draw_mode(struct trial *t, struct plan_stage *d)
{
    int layers = recomputable_layers(&t->p, d), mode = below(t, RECOMPUTE_SWAP);
    if (!t->p.recompute[mode] || (mode == RECOMPUTE_FIRST_LAYERS && layers == 0))
        mode = RECOMPUTE_NONE;
    d->recompute = (enum recompute)mode;
    d->recomputed_layers = mode == RECOMPUTE_FIRST_LAYERS ? 1 + below(t, layers) : 0;
    draw_swap(t, d, layers);
    if (t->p.layout.recompute) take_setting(t, d, layers);
}

static void draw_plan(struct trial *t)
{
    struct priced *p = &t->p;
    int groups[STAGES_MAX], layer = 0;
    for (int rank = 0; rank < p->rank_count; rank++) groups[rank] = below(t, p->group_count);
    for (int s = 0; s < p->stage_count; s++) {
        int after = p->stage_count - 1 - s, spare = p->layer_count - layer - after;
        struct plan_stage *d = &t->decision[s];
        *d = (struct plan_stage){.first_layer = layer, .group = groups[rank_of(p, s)]};
        d->layer_count =
            after == 0 ? spare : 1 + below(t, below(t, 3) ? (spare + after) / (after + 1) : spare);
        draw_mode(t, d);
        d->gradient_option = below(t, p->gradient_option_count);
        d->boundary_option = sends_gradient(p, s - 1) ? below(t, p->boundary_option_count) : 0;
        layer += d->layer_count;
    }
}

// Memory limits that the plan keeps, most of them to the byte.
static void draw_limits(struct trial *t)
{
    struct priced *p = &t->p;
    for (int g = 0; g < p->group_count; g++) {
        int64_t *limit = &p->groups[g].memory_limit_bytes, most = 0;
        for (int rank = 0; rank < p->rank_count; rank++)
            if (t->decision[rank].group == g && t->rank_bytes[rank] > most)
                most = t->rank_bytes[rank];
        *limit = below(t, 3) ? most : most + below(t, 40);
    }
}

// The fastest of a few random plans: near the optimum, bounds have little room.
static void draw_fast_plan(struct trial *t)
{
    struct plan_stage best[STAGES_MAX];
    int64_t best_bytes[STAGES_MAX];
    t->time_ns = INT64_MAX;
    for (int left = 1 + below(t, 30); left > 0; left--) {
        struct arena_mark mark = arena_set_mark(&t->arena);
        draw_plan(t);
        int64_t time = oracle_time(&t->p, &t->schedule, t->decision, t->rank_bytes, &t->arena);
        arena_reset(&t->arena, mark);
        if (time >= t->time_ns) continue;
        t->time_ns = time;
        memcpy(best, t->decision, sizeof best);
        memcpy(best_bytes, t->rank_bytes, sizeof best_bytes);
    }
    memcpy(t->decision, best, sizeof best);
    memcpy(t->rank_bytes, best_bytes, sizeof best_bytes);
}

// The best plan within the limits as they were drawn, if all plans can be enumerated.
static bool find_best_plan(struct trial *t)
{
    enum { PLANS_MOST = 1000 };
    struct oracle oracle;
    if (!has_kinds(t) || oracle_size(&t->p, PLANS_MOST, &t->arena) > PLANS_MOST) return false;
    MUST(oracle_answer(&oracle, &t->p, &t->schedule, &t->arena, &own_err));
    if (oracle.best_ns == INT64_MAX) return false;
    memcpy(t->decision, oracle.best, (size_t)t->p.stage_count * sizeof *t->decision);
    t->time_ns = oracle.best_ns;
    return true;
}

// false: not a problem (more stages than layers).
static bool open_trial(struct trial *t, int number)
{
    struct error err = {OK, ""};
    *t = (struct trial){.number = number, .state = (uint64_t)number * 104729 + 7};
    arena_open(&t->arena, NULL);
    draw_problem(t), turn_slices(t);
    if (t->p.layer_count < t->p.stage_count ||
        schedule_build_priced(&t->schedule, &t->p, &t->arena, &err) != OK)
        return false;
    if (find_best_plan(t)) return true;
    draw_fast_plan(t);
    draw_limits(t);
    return true;
}

// ---- what the bounds speak of

static bool same(const int64_t *a, const int64_t *b, int count)
{
    return !memcmp(a, b, (size_t)count * sizeof *a);
}

// On each group, in the sum of all slices.
static bool same_sums(const struct priced *p, const int64_t *a, const int64_t *b)
{
    for (int g = 0; g < p->group_count; g++) {
        int64_t difference = 0;
        for (int i = g; i < p->slice_count * p->group_count; i += p->group_count)
            difference += a[i] - b[i];
        if (difference) return false;
    }
    return true;
}

// Equal in everything that the bounds use of a layer.
static bool alike(const struct priced *p, int a, int b)
{
    const struct priced_run *x = &p->runs[a], *y = &p->runs[b];
    bool like = a == b ||
                (x->recomputable == y->recomputable && same(x->stash_bytes, y->stash_bytes, 3) &&
                 same(x->working_bytes, y->working_bytes, 3) &&
                 x->weight_bytes + x->gradient_bytes + x->optimizer_bytes ==
                     y->weight_bytes + y->gradient_bytes + y->optimizer_bytes &&
                 same_sums(p, x->forward_ns, y->forward_ns) &&
                 same_sums(p, x->backward_ns, y->backward_ns) &&
                 same_sums(p, x->again_ns[RECOMPUTE_SELECTIVE], y->again_ns[RECOMPUTE_SELECTIVE]) &&
                 same_sums(p, x->again_ns[RECOMPUTE_FULL], y->again_ns[RECOMPUTE_FULL]) &&
                 same(x->weight_ns, y->weight_ns, p->group_count) &&
                 same(x->optimizer_ns, y->optimizer_ns, p->group_count));
    for (int o = 0; like && o < p->gradient_option_count; o++)
        like = same(x->sync_ns[o], y->sync_ns[o], p->group_count);
    return like;
}

// Layers of a rank that are like those of a run, and those that are not, the model's ends left out.
struct share {
    int64_t main, other;
};
static struct share share_of(const struct trial *t, int run, int rank)
{
    const struct priced *p = &t->p;
    struct share share = {0, 0};
    for (int s = 0; s < p->stage_count; s++)
        for (int i = 0; i < t->decision[s].layer_count && rank_of(p, s) == rank; i++) {
            int layer = t->decision[s].first_layer + i;
            bool end = layer == 0 || layer == p->layer_count - 1,
                 like = alike(p, priced_run_of(p, layer), run);
            share.main += like;
            share.other += !like && !end;
        }
    return share;
}

struct tally {
    int plans, bounds, tight, unlike; // unlike: plans in which others are counted
};

// bound: of k on a rank, before of them on those before it. all: those that are counted.
struct bounds {
    const char *who;
    int64_t (*of)(const void *sketch, int group, int rank, struct share before, struct share k);
    const void *sketch;
    struct share all;
};

static int64_t planned(const void *sketch, int group, int rank, struct share before, struct share k)
{
    return layout_rank_bound(sketch, group, rank, (struct layer_share){before.main, before.other},
                             (struct layer_share){k.main, k.other});
}

static int64_t checked(const void *sketch, int group, int rank, struct share before, struct share k)
{
    return check_rank_takes(sketch, group, rank, (struct check_share){before.main, before.other},
                            (struct check_share){k.main, k.other});
}

static void expect_below_plan(const struct trial *t, const struct bounds *b, int run,
                              struct tally *tally)
{
    struct share before = {0, 0};
    for (int rank = 0; rank < t->p.rank_count; rank++) {
        struct share k = share_of(t, run, rank);
        int64_t most = 0;
        int group = t->decision[rank].group;
        if (!b->all.other) k.other = 0;
        for (int i = 0; i < 2; i++) {
            int64_t bound = b->of(b->sketch, group, rank, i ? (struct share){0, 0} : before, k);
            if (bound < 0 || bound > t->time_ns)
                fail_msg("plan %d, %s, %d ranks, %d stages, %d micro-batches, barrier %d: %s "
                         "bounds rank %d with %lld main layers and %lld others by %lld, the plan "
                         "takes %lld",
                         t->number, schedule_names[t->p.layout.schedule], t->p.rank_count,
                         t->p.stage_count, t->p.micro_batches, t->p.layout.barrier, b->who, rank,
                         (long long)k.main, (long long)k.other, (long long)bound,
                         (long long)t->time_ns);
            most = bound > most ? bound : most;
        }
        before.main += k.main, before.other += k.other;
        tally->bounds++, tally->tight += most == t->time_ns;
    }
}

static void expect_order_at(const struct trial *t, const struct bounds *b, int rank, int group,
                            struct share before, struct share k)
{
    for (int other = 0; other < 2; other++) {
        struct share step = {!other, other};
        if (before.main + k.main + step.main > b->all.main ||
            before.other + k.other + step.other > b->all.other)
            continue;
        struct share k_more = {k.main + step.main, k.other + step.other},
                     before_more = {before.main + step.main, before.other + step.other};
        int64_t here = b->of(b->sketch, group, rank, before, k),
                more = b->of(b->sketch, group, rank, before, k_more),
                moved = b->of(b->sketch, group, rank, before_more, k),
                anywhere = b->of(b->sketch, group, rank, (struct share){0, 0}, k);
        if (more < 0) continue; // never fits: above all
        if (here < 0 || here > more || moved > more || anywhere > here)
            fail_msg("plan %d, %s, %s: rank %d, %lld and %lld before: %lld and %lld layers %lld, "
                     "one more (%s) %lld, one moved before %lld, wherever they stand %lld",
                     t->number, schedule_names[t->p.layout.schedule], b->who, rank,
                     (long long)before.main, (long long)before.other, (long long)k.main,
                     (long long)k.other, (long long)here, other ? "another" : "a main one",
                     (long long)more, (long long)moved, (long long)anywhere);
    }
}

static void expect_order(const struct trial *t, const struct bounds *b)
{
    for (int rank = 0; rank < t->p.rank_count; rank++)
        for (int group = 0; group < t->p.group_count; group++)
            for (int64_t before = 0; before <= b->all.main; before++)
                for (int64_t others = 0; others <= b->all.other; others++)
                    for (int64_t k = 0; before + k <= b->all.main; k++)
                        for (int64_t other = 0; others + other <= b->all.other; other++)
                            expect_order_at(t, b, rank, group, (struct share){before, others},
                                            (struct share){k, other});
}

// A rank's bound for any contents is at most its bound for any number of layers that it may hold,
// wherever the others are.
static void expect_least_anyway(const struct trial *t, const struct bounds *b)
{
    const struct check_sketch *sketch = b->sketch;
    for (int rank = 0; rank < t->p.rank_count; rank++)
        for (int group = 0; group < t->p.group_count; group++) {
            int64_t anyway = check_rank_takes_anyway(sketch, group, rank),
                    forced = check_forced(sketch, rank);
            for (int64_t k = forced > 0 ? forced : 0; k <= b->all.main; k++)
                for (int64_t before = 0; before + k <= b->all.main; before++) {
                    int64_t here = checked(sketch, group, rank, (struct share){before, 0},
                                           (struct share){k, 0});
                    if (here >= 0 && (anyway < 0 || anyway > here))
                        fail_msg("plan %d, %s: the checker bounds rank %d, whatever it holds, by "
                                 "%lld, and with %lld layers, %lld before, by %lld",
                                 t->number, schedule_names[t->p.layout.schedule], rank,
                                 (long long)anyway, (long long)k, (long long)before,
                                 (long long)here);
                }
        }
}

// All layers are main ones, others or the model's ends. false: slices that differ with equal sums.
static bool expect_counts(const struct trial *t, const struct bounds *b, int run,
                          struct tally *tally)
{
    struct share sum = {0, 0};
    for (int rank = 0; rank < t->p.rank_count; rank++) {
        struct share k = share_of(t, run, rank);
        sum.main += k.main, sum.other += k.other;
    }
    if (sum.main != b->all.main) return false;
    assert_true(b->all.other == 0 || b->all.other == sum.other);
    tally->plans++;
    tally->unlike += b->all.other > 0;
    return true;
}

static void try_planner(struct trial *t, struct tally *tally)
{
    struct layout_sketch sketch;
    struct kept_cache kept = {.arena = &t->arena};
    const char *why = "";
    assert_true(layout_sketch(&sketch, &t->p, &kept, &why));
    layout_forget_loads(&sketch);
    const struct bounds b = {.who = "planner",
                             .of = planned,
                             .sketch = &sketch,
                             .all = {sketch.main_count, sketch.others}};
    if (!expect_counts(t, &b, sketch.main_run, tally)) return;
    expect_below_plan(t, &b, sketch.main_run, tally);
    if (t->number % 4 == 0) expect_order(t, &b);
    assert_int_equal(layout_missing_bytes(&sketch), 0);
    assert_true(layout_filling_bound(&sketch, INT64_MAX) <= t->time_ns); // and so the average
    assert_true(layout_filling_bound(&sketch, t->time_ns + 1) <= t->time_ns);
}

static void try_checker(struct trial *t, struct tally *tally)
{
    struct check_problem problem;
    struct check_sketch sketch;
    const struct check_held *held;
    uint64_t work = 1u << 30;
    struct arena scratch;
    struct check_held_cache cache = {.work = &work, .arena = &t->arena, .scratch = &scratch};
    t->p.layout.expert = 1;
    struct check_text text = check_trial_save(&t->p, "priced.json", &t->arena);
    MUST(check_read_problem(&problem, &text, &t->arena, &own_err));
    arena_open(&scratch, NULL);
    MUST(check_find_held(&cache, &problem, &held));
    arena_close(&scratch);
    check_sketch_bytes(&sketch, &problem, held);
    assert_false(check_never_fits(&sketch));
    check_sketch_times(&sketch);
    const struct bounds b = {.who = "checker",
                             .of = checked,
                             .sketch = &sketch,
                             .all = {sketch.main_count, sketch.others}};
    if (!expect_counts(t, &b, sketch.main_run, tally)) return;
    expect_below_plan(t, &b, sketch.main_run, tally);
    if (t->number % 4 == 0) expect_order(t, &b);
    expect_least_anyway(t, &b);
    if (check_average_reaches(&sketch, t->time_ns + 1) ||
        check_filling_reaches(&sketch, t->time_ns + 1))
        fail_msg("plan %d, %s: the checker says that no plan takes %lld", t->number,
                 schedule_names[t->p.layout.schedule], (long long)t->time_ns);
}

TEST(no_rank_bounds_more_than_a_plan_takes)
{
    struct tally planner = {0}, checker = {0};
    for (int i = 0; i < plans; i++) {
        struct trial t;
        if (open_trial(&t, i)) {
            try_planner(&t, &planner);
            try_checker(&t, &checker);
        }
        arena_close(&t.arena);
    }
    print_message("planner: %d plans, %d with others, %d bounds of ranks, %d reached; checker: %d, "
                  "%d, %d, %d\n",
                  planner.plans, planner.unlike, planner.bounds, planner.tight, checker.plans,
                  checker.unlike, checker.bounds, checker.tight);
    assert_true(planner.plans > plans / 2 && checker.plans > plans / 2);
    assert_true(planner.unlike > plans / 20 && checker.unlike > plans / 20);
    assert_true(planner.tight > planner.bounds / 50 && checker.tight > checker.bounds / 50);
}

ARGUMENT(plans)
