// Tables of extreme prices, and the claims about them.
#include "data/kinds/schedules.h"
#include "tests/support/claims/extreme.h"

#include "data/schedule/schedule.h"
#include "solve/checker/space/arguments.h"
#include "tests/support/claims/tables.h"
#include "tests/support/oracle/oracle.h"
#include "tests/support/random_priced.h"
#include "tests/support/check.h"

static bool chance(struct random *rng, int percent) { return random_chance(rng, percent); }
static int between(struct random *rng, int low, int high)
{
    return (int)random_between(rng, low, high);
}

// ---- values

static void draw_values(struct extreme *x, struct random *rng)
{
    int64_t power = (int64_t)1 << between(rng, 2, chance(rng, 10) ? 46 : 20),
            odd = random_between(rng, 2, 1000);
    const int64_t palettes[][6] = {{0, 1, 0, 1, 2, 3},
                                   {0, 1, 1, 1, 1, 1},
                                   {0, power, power, power + 1, power - 1, 1},
                                   {1, odd, odd, 2 * odd, 3 * odd, 0},
                                   {0, 0, 0, 1, power, 2},
                                   {odd, odd, odd, odd, odd + 1, odd},
                                   {0, odd, power, 1, odd + power, 2}};
    memcpy(x->values, palettes[between(rng, 0, 6)], sizeof x->values);
    x->value_count = between(rng, 2, 6);
}

static int64_t value(const struct extreme *x, struct random *rng)
{
    return x->values[between(rng, 0, x->value_count - 1)];
}

static int64_t *values(const struct extreme *x, struct random *rng, int count, struct arena *arena)
{
    int64_t *to = TAKE(arena, count, int64_t), one = value(x, rng);
    bool equal = chance(rng, 40);
    for (int i = 0; i < count; i++) to[i] = equal ? one : value(x, rng);
    return to;
}

// ---- a layout's prices

static void draw_layout(struct priced *p, struct random *rng)
{
    int kind = (int)between(rng, 0, SCHEDULE_KIND_COUNT - 1);
    const struct schedule_properties *is = &schedule_kinds[kind];
    int turns = is->virtual_stages ? is->virtual_stages : 2 + chance(rng, 20),
        ranks = turns > 1 ? 2 + (turns == 2 && chance(rng, 30)) : between(rng, 1, 4);
    if (is->layered && turns == 3) ranks = 1;
    p->layout = (struct layout){.tensor = 1,
                                .context = 1,
                                .data = 1,
                                LAYOUT_PLAIN(ranks),
                                .micro_batch = 1,
                                .schedule = kind,
                                .gradient_sync = chance(rng, 40) ? SYNC_OVERLAPPED : SYNC_EXPOSED};
    p->layout.virtual_stages = turns;
    p->layout.barrier = chance(rng, 60);
    p->layout.local_loss_every = chance(rng, 85) ? 0 : between(rng, 1, 2);
    p->slice_count = p->layout.slice_count = is->slices ? between(rng, 2, 3) : 1;
    for (int i = 0; i < p->slice_count && p->slice_count > 1; i++) p->layout.slices[i] = 1;
    p->rank_count = ranks, p->stage_count = ranks * turns;
    p->micro_batches = between(rng, 1, chance(rng, 50) ? 2 : 7);
    if (is->in_groups) p->micro_batches = ranks + between(rng, 0, ranks + 1);
    p->group_count = chance(rng, 65) ? 1 : between(rng, 2, 3);
    p->cut_count = chance(rng, 70) ? 1 : 2;
}

static void draw_run(struct priced *p, const struct extreme *x, int count, struct random *rng,
                     struct arena *arena)
{
    struct priced_run *r = &p->runs[p->run_count];
    int passes = p->slice_count * p->group_count;
    bool splits = schedule_splits_backward(p->layout.schedule), steps = chance(rng, 50),
         syncs = chance(rng, 70);
    *r = (struct priced_run){.name = arena_print(arena, "run%d", p->run_count),
                             .count = count,
                             .recomputable = chance(rng, 80),
                             .cut = between(rng, 0, p->cut_count - 1)};
    r->weight_bytes = value(x, rng), r->gradient_bytes = value(x, rng),
    r->optimizer_bytes = value(x, rng);
    for (int i = 0; i < 3; i++)
        r->stash_bytes[i] = value(x, rng), r->working_bytes[i] = value(x, rng);
    if (r->working_bytes[2] % 3 == 0) r->unsharded_bytes = r->working_bytes[1];
    if (chance(rng, 60)) r->stash_bytes[2] = r->stash_bytes[1] = r->stash_bytes[0] / 2;
    r->feedback_bytes = values(x, rng, p->gradient_option_count, arena);
    r->feedback_bytes[0] = 0;
    r->forward_ns = values(x, rng, passes, arena), r->backward_ns = values(x, rng, passes, arena);
    r->weight_ns = splits ? values(x, rng, p->group_count, arena)
                          : TAKE(arena, p->group_count, int64_t);
    r->again_ns[RECOMPUTE_SELECTIVE] = values(x, rng, passes, arena),
    r->again_ns[RECOMPUTE_FULL] = values(x, rng, passes, arena);
    r->optimizer_ns = steps ? values(x, rng, p->group_count, arena)
                            : TAKE(arena, p->group_count, int64_t);
    r->sync_ns = TAKE(arena, p->gradient_option_count, int64_t *);
    for (int o = 0; o < p->gradient_option_count; o++)
        r->sync_ns[o] = syncs ? values(x, rng, p->group_count, arena)
                              : TAKE(arena, p->group_count, int64_t);
    p->run_count++, p->layer_count += count;
}

static int64_t *pair_values(const struct priced *p, const struct extreme *x, const bool *parts,
                            struct random *rng, struct arena *arena)
{
    int count = p->slice_count * p->group_count * p->group_count * PART_COUNT;
    int64_t *to = values(x, rng, count, arena);
    for (int i = 0; i < count; i++)
        if (!parts[i % PART_COUNT]) to[i] = 0;
    return to;
}

static void draw_links(struct priced *p, const struct extreme *x, struct random *rng,
                       struct arena *arena)
{
    bool parts[PART_COUNT];
    for (int i = 0; i < PART_COUNT; i++)
        parts[i] = chance(rng, i == PART_BLOCKING || i == PART_OVERHEAD ? 45 : 25);
    p->cuts = TAKE(arena, p->cut_count, struct priced_cut);
    for (int c = 0; c < p->cut_count; c++) {
        struct priced_cut *cut = &p->cuts[c];
        cut->message_bytes = value(x, rng);
        cut->feedback_bytes = values(x, rng, p->boundary_option_count, arena);
        cut->feedback_bytes[0] = 0;
        cut->forward_ns = pair_values(p, x, parts, rng, arena);
        cut->backward_ns = TAKE(arena, p->boundary_option_count, int64_t *);
        for (int o = 0; o < p->boundary_option_count; o++)
            cut->backward_ns[o] = pair_values(p, x, parts, rng, arena);
    }
    p->has_embedding_sync = p->stage_count > 1 && chance(rng, 15);
    p->embedding_sync_ns = values(x, rng, p->group_count * p->group_count, arena);
}

static void draw_groups(struct priced *p, const struct extreme *x, struct random *rng,
                        struct arena *arena)
{
    int64_t need = 0;
    bool tight = chance(rng, 35);
    for (int r = 0; r < p->run_count; r++)
        need += p->runs[r].count *
                (p->runs[r].weight_bytes + p->runs[r].gradient_bytes + p->runs[r].optimizer_bytes +
                 p->micro_batches * p->runs[r].stash_bytes[0]);
    p->groups = TAKE(arena, p->group_count, struct priced_group);
    for (int g = 0; g < p->group_count; g++) {
        int64_t limit = tight ? need / p->rank_count / 2 * between(rng, 1, 4) + value(x, rng)
                              : (int64_t)1 << 53;
        p->groups[g] = (struct priced_group){
            .name = arena_print(arena, "group%d", g),
            .gpu = "gpu",
            .slots = p->group_count == 1 || chance(rng, 40) ? p->rank_count
                                                            : between(rng, 1, p->rank_count),
            .memory_limit_bytes = limit < (int64_t)1 << 53 ? limit : ((int64_t)1 << 53) - 1,
            .constant_bytes = chance(rng, 70) ? 0 : value(x, rng),
            .sync_constant_ns = values(x, rng, p->gradient_option_count, arena)};
        for (int o = 0; o < p->gradient_option_count && chance(rng, 60); o++)
            p->groups[g].sync_constant_ns[o] = 0;
    }
}

static void draw_options(struct priced *p, struct random *rng, struct arena *arena)
{
    bool any = p->slice_count == 1 && chance(rng, 15);
    p->boundary_option_count = 1 + (any && chance(rng, 70)),
    p->gradient_option_count = 1 + (any && chance(rng, 70));
    p->boundary_options = TAKE(arena, 2, struct compression_option),
    p->gradient_options = TAKE(arena, 2, struct compression_option);
    p->boundary_options[1] = (struct compression_option){.form.amount = 1,
                                                         .epilogue_only = chance(rng, 50),
                                                         .quality_cost = between(rng, 0, 2),
                                                         .forgets = chance(rng, 30)};
    p->gradient_options[1] = (struct compression_option){
        .form.amount = 1, .quality_cost = between(rng, 0, 2), .forgets = chance(rng, 30)};
    p->budget = (struct quality_budget){-1, -1, -1, 0};
    if (any && chance(rng, 50)) p->budget.boundaries_max = between(rng, 0, 2);
    if (any && chance(rng, 50)) p->budget.stages_max = between(rng, 0, 2);
    if (any && chance(rng, 30)) p->budget.cost_max = between(rng, 0, 3);
    for (int mode = 0; mode < RECOMPUTE_SWAP; mode++)
        p->recompute[mode] = mode == RECOMPUTE_NONE ||
                             chance(rng, p->layout.virtual_stages > 1 ? 15 : 30);
}

// From numbers of its own, so that the others are as without.
static void draw_swaps(struct priced *p, const struct extreme *x, uint64_t state,
                       struct arena *arena)
{
    struct random own = {state * 0x9e3779b97f4a7c15u + 5};
    if (schedule_splits_backward(p->layout.schedule) || p->slice_count > 1 || chance(&own, 70))
        return;
    p->recompute[RECOMPUTE_SWAP] = true;
    for (int r = 0; r < p->run_count; r++)
        priced_swap(p, &p->runs[r], values(x, &own, p->group_count, arena), arena);
}

// Now and then a few layers of another kind, before or after the rest.
static void draw_middle(struct priced *p, const struct extreme *x, int layers, struct random *rng,
                        struct arena *arena)
{
    int few = layers > 1 && chance(rng, 30) ? between(rng, 1, layers > 2 ? 2 : 1) : 0;
    bool after = chance(rng, 50);
    if (few && !after) draw_run(p, x, few, rng, arena);
    draw_run(p, x, layers - few, rng, arena);
    if (few && after) draw_run(p, x, few, rng, arena);
}

static void draw_priced(struct priced *p, const struct extreme *x, struct random *rng,
                        struct arena *arena)
{
    *p = (struct priced){
        .name = "extreme", .devices_per_stage = 1, .rules = TAKE(arena, 1, struct rule)};
    draw_layout(p, rng);
    draw_options(p, rng, arena);
    p->runs = TAKE(arena, 4, struct priced_run);
    int layers = p->stage_count + between(rng, 0, p->stage_count > 4 ? 1 : 3),
        first = layers > 1 && chance(rng, 35), last = layers - first > 1 && chance(rng, 35);
    if (first) draw_run(p, x, 1, rng, arena);
    draw_middle(p, x, layers - first - last, rng, arena);
    if (last) draw_run(p, x, 1, rng, arena);
    draw_groups(p, x, rng, arena);
    draw_links(p, x, rng, arena);
    draw_swaps(p, x, rng->state, arena);
}

// ---- changes

#define COPY(arena, array, count)                                                                  \
    ((array) = arena_grow(arena, array, (size_t)(count), (size_t)(count), sizeof *(array)))

static void copy_arrays(struct priced *p, struct arena *arena)
{
    int passes = p->slice_count * p->group_count, prices = passes * p->group_count * PART_COUNT;
    COPY(arena, p->runs, p->run_count), COPY(arena, p->groups, p->group_count),
        COPY(arena, p->cuts, p->cut_count),
        COPY(arena, p->embedding_sync_ns, p->group_count * p->group_count);
    for (int i = 0; i < p->run_count; i++) {
        struct priced_run *r = &p->runs[i];
        COPY(arena, r->forward_ns, passes), COPY(arena, r->backward_ns, passes),
            COPY(arena, r->again_ns[RECOMPUTE_SELECTIVE], passes),
            COPY(arena, r->again_ns[RECOMPUTE_FULL], passes);
        COPY(arena, r->weight_ns, p->group_count), COPY(arena, r->optimizer_ns, p->group_count),
            COPY(arena, r->sync_ns, p->gradient_option_count);
        for (int o = 0; o < p->gradient_option_count; o++)
            COPY(arena, r->sync_ns[o], p->group_count);
        if (!r->tiered) continue;
        int64_t *away_ns = r->tiered[0].away_ns;
        r->tiered = NULL, r->tiered_count = 0, p->budget.energy_max_uj = 0;
        priced_swap(p, r, COPY(arena, away_ns, p->group_count), arena);
    }
    for (int g = 0; g < p->group_count; g++)
        COPY(arena, p->groups[g].sync_constant_ns, p->gradient_option_count);
    for (int c = 0; c < p->cut_count; c++) {
        COPY(arena, p->cuts[c].forward_ns, prices),
            COPY(arena, p->cuts[c].backward_ns, p->boundary_option_count);
        for (int o = 0; o < p->boundary_option_count; o++)
            COPY(arena, p->cuts[c].backward_ns[o], prices);
    }
}

static int64_t *some_time(struct priced *p, struct random *rng)
{
    struct priced_run *r = &p->runs[between(rng, 0, p->run_count - 1)];
    struct priced_cut *c = &p->cuts[between(rng, 0, p->cut_count - 1)];
    int passes = p->slice_count * p->group_count, at = between(rng, 0, passes - 1),
        g = at % p->group_count, price = between(rng, 0, passes * p->group_count * PART_COUNT - 1);
    int64_t *const times[] = {&r->forward_ns[at],
                              &r->backward_ns[at],
                              &r->forward_ns[at],
                              &r->backward_ns[at],
                              &r->again_ns[RECOMPUTE_SELECTIVE][at],
                              &r->again_ns[RECOMPUTE_FULL][at],
                              &r->optimizer_ns[g],
                              &r->optimizer_ns[g],
                              &r->sync_ns[0][g],
                              &r->sync_ns[0][g],
                              &p->groups[g].sync_constant_ns[0],
                              &c->forward_ns[price],
                              &c->backward_ns[0][price],
                              &p->embedding_sync_ns[g]};
    if (schedule_splits_backward(p->layout.schedule) && chance(rng, 15)) return &r->weight_ns[g];
    if (r->tiered && chance(rng, 15)) return &r->tiered[0].away_ns[g];
    return times[between(rng, 0, 13)];
}

static int64_t *some_bytes(struct priced *p, struct random *rng)
{
    struct priced_run *r = &p->runs[between(rng, 0, p->run_count - 1)];
    struct priced_group *g = &p->groups[between(rng, 0, p->group_count - 1)];
    int mode = between(rng, 0, 2);
    int64_t *const bytes[] = {
        &r->weight_bytes,       &r->gradient_bytes,
        &r->optimizer_bytes,    &r->stash_bytes[mode],
        &r->stash_bytes[mode],  &r->working_bytes[mode],
        &g->memory_limit_bytes, &g->memory_limit_bytes,
        &g->constant_bytes,     &p->cuts[between(rng, 0, p->cut_count - 1)].message_bytes};
    return bytes[between(rng, 0, 9)];
}

static const int64_t most = (int64_t)1 << 47;

static void change_number(int64_t *at, const struct extreme *x, struct random *rng)
{
    int64_t n = *at, other = value(x, rng);
    const int64_t to[] = {0, 1, other, n + 1, n - 1, 2 * n, n / 2, n + other, n - other};
    n = to[between(rng, 0, 8)];
    *at = n < 0 ? 0 : n > most && n > *at ? *at : n;
}

static void change_priced(struct priced *p, const struct extreme *x, struct random *rng)
{
    switch (between(rng, 0, 11)) {
    case 0: p->layout.barrier = !p->layout.barrier; break;
    case 1:
        p->layout.gradient_sync = p->layout.gradient_sync == SYNC_EXPOSED ? SYNC_OVERLAPPED
                                                                          : SYNC_EXPOSED;
        break;
    case 2:
        p->groups[between(rng, 0, p->group_count - 1)].slots = between(rng, 1, p->rank_count);
        break;
    case 3:
    case 4:
    case 5: change_number(some_bytes(p, rng), x, rng); break;
    default: change_number(some_time(p, rng), x, rng); break;
    }
    for (int r = 0; r < p->run_count; r++)
        for (int o = 0; o < p->runs[r].tiered_count; o++)
            p->runs[r].tiered[o].weight_bytes = p->runs[r].weight_bytes,
            p->runs[r].tiered[o].optimizer_bytes = p->runs[r].optimizer_bytes;
}

// One of its prices outweighs all others.
static void put_weight(struct priced *p, struct random *rng)
{
    int64_t *at = some_time(p, rng), weight = (int64_t)1 << between(rng, 4, 24);
    if (*at < (int64_t)1 << 20) *at = *at * weight + (chance(rng, 50) ? weight : 0);
}

// ---- all of it

static bool is_small(const struct priced *p, struct arena *arena)
{
    enum { PLANS = 6000 };
    return oracle_size(p, PLANS, arena) <= PLANS;
}

void extreme_draw(struct extreme *x, struct random *rng, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    do {
        arena_reset(arena, mark);
        draw_values(x, rng);
        draw_priced(&x->layouts[0], x, rng, arena);
        if (chance(rng, 30)) put_weight(&x->layouts[0], rng);
    } while (!is_small(&x->layouts[0], arena));
    x->count = between(rng, 1, EXTREME_LAYOUTS);
    for (int i = 1; i < x->count; i++) {
        x->layouts[i] = x->layouts[between(rng, 0, i - 1)];
        copy_arrays(&x->layouts[i], arena);
        for (int left = between(rng, 1, 4); left > 0; left--) change_priced(&x->layouts[i], x, rng);
    }
}

void extreme_change(struct extreme *to, const struct extreme *from, struct random *rng,
                    struct arena *arena)
{
    uint64_t state = rng->state;
    int only = chance(rng, 50) ? between(rng, 0, from->count - 1) : -1;
    *to = *from;
    for (int i = 0; i < to->count; i++) {
        struct random own = {state}; // the same change
        if (only >= 0 && i != only) continue;
        copy_arrays(&to->layouts[i], arena);
        change_priced(&to->layouts[i], to, &own);
    }
    random_bits(rng);
}

// ---- truth

static bool give_bytes(void *context, const struct check_layout *layout, struct check_problem **p)
{
    return (void)layout, *p = context, true;
}
static bool give_times(void *context) { return context != NULL; }

// A space of this layout alone.
static void put_space(struct layout_truth *l, const struct priced *p, struct arena *arena)
{
    struct check_space *s = TAKE(arena, 1, struct check_space);
    struct check_layout *own = &l->own;
    const struct layout *x = &p->layout;
    const int values[KEYS] = {[KEY_TENSOR] = 1,
                              [KEY_CONTEXT] = 1,
                              [KEY_PIPELINE] = x->pipeline,
                              [KEY_DATA] = 1,
                              [KEY_SCHEDULE] = (int)l->tables->kind,
                              [KEY_TURNS] = x->virtual_stages,
                              [KEY_EXPERT] = 1,
                              [KEY_MICRO_BATCH] = 1,
                              [KEY_OVERLAPPED] = l->tables->overlapped,
                              [KEY_BARRIER] = x->barrier,
                              [KEY_LOCAL] = x->local_loss_every,
                              [KEY_SLICES] = p->slice_count,
                              [KEY_RECOMPUTE] = x->recompute};
    *own = (struct check_layout){.recomputed = x->recomputed_layers};
    memcpy(own->value, values, sizeof values);
    for (int i = 0; i < p->slice_count; i++) own->slice[i] = 1;
    *s = (struct check_space){.base = *own,
                              .limit_ns = INT64_MAX,
                              .limit_device_ns = INT64_MAX,
                              .devices = x->pipeline,
                              .global_batch = p->micro_batches,
                              .sequence = p->slice_count,
                              .layers = p->layer_count,
                              .rule_stage = -1,
                              .rule_layer = -1};
    for (int mode = 0; mode < MODES; mode++) s->modes[mode] = p->recompute[mode];
    l->space = s;
    static const int64_t none;
    l->pricer = (struct check_pricer){give_bytes, give_times, l->tables, &none, &none};
    l->dear_tables = l->tables;
}

// Sums that the checker does not count are none of a document.
static bool is_counted(const struct check_problem *p)
{
    return check_problem_bytes(p) == OK && check_problem_times(p) == OK;
}

void extreme_truth(struct space_truth *t, const struct extreme *x, int64_t plans_most,
                   struct arena *arena)
{
    *t = (struct space_truth){.layouts = TAKE(arena, x->count, struct layout_truth),
                              .count = x->count,
                              .value_ns = INT64_MAX,
                              .time_ns = INT64_MAX,
                              .plans_most = plans_most,
                              .arena = arena};
    for (int i = 0; i < x->count; i++) {
        struct layout_truth *l = &t->layouts[i];
        struct error *err = TAKE(arena, 1, struct error);
        *l = (struct layout_truth){.number = i,
                                   .layout = x->layouts[i].layout,
                                   .priced = x->layouts[i],
                                   .tables = TAKE(arena, 1, struct check_problem),
                                   .alike = true};
        tables_of_priced(l->tables, &l->priced, arena);
        l->tables->reader = (struct reader){"prices", err};
        put_space(l, &l->priced, arena);
        if (!is_counted(l->tables))
            l->refused = l->refused_by_checker = true, l->tables = NULL,
            l->value_ns = l->time_ns = INT64_MAX;
        else
            l->value_ns = l->time_ns =
                priced_optimum(&l->priced, plans_most, &l->enumerated, arena);
        l->known = l->value_ns >= 0;
        t->unknown += !l->known;
    }
}
