// Random priced documents: numbers are small, so that ties and tight limits are frequent.
#include "data/kinds/schedules.h"
#include "tests/support/random_priced.h"
#include "tests/support/check.h"
#include "tests/support/draws/settings.h"

static uint64_t next_bits(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int64_t random_less(uint64_t *state, int64_t n)
{
    return (int64_t)(next_bits(state) % (uint64_t)n);
}

static int below(uint64_t *state, int n) { return (int)random_less(state, n); }

static int64_t *numbers(struct arena *arena, uint64_t *state, int count, int64_t limit)
{
    int64_t *values = TAKE(arena, count, int64_t);
    for (int i = 0; i < count; i++) values[i] = random_less(state, limit);
    return values;
}

static void draw_runs(struct priced *p, uint64_t *state, struct arena *arena)
{
    static const int counts[][4] = {{1, 3, 1},    {4},       {1, 3}, {3, 1},    {2, 2},
                                    {1, 1, 1, 1}, {1, 4, 1}, {5},    {2, 1, 2}, {1, 5}};
    const int *drawn = counts[below(state, (int)(sizeof counts / sizeof *counts))];
    int count[4] = {0}, layers = 0, longest = 0;
    for (; p->run_count < 4 && drawn[p->run_count]; p->run_count++) {
        count[p->run_count] = drawn[p->run_count];
        layers += count[p->run_count];
        if (count[p->run_count] > count[longest]) longest = p->run_count;
    }
    bool splits = schedule_splits_backward(p->layout.schedule);
    int passes = p->slice_count * p->group_count;
    if (p->stage_count > 4 && layers < p->stage_count)
        count[longest] += p->stage_count - layers + below(state, 3);
    p->runs = TAKE(arena, p->run_count, struct priced_run);
    bool sync = below(state, 2), optimizer = below(state, 3) == 0;
    for (int r = 0; r < p->run_count; r++) {
        struct priced_run *run = &p->runs[r];
        *run = (struct priced_run){.name = arena_print(arena, "run%d", r),
                                   .count = count[r],
                                   .recomputable = below(state, 4) > 0,
                                   .weight_bytes = random_less(state, 8),
                                   .gradient_bytes = random_less(state, 5),
                                   .optimizer_bytes = random_less(state, 5),
                                   .cut = below(state, p->cut_count)};
        p->layer_count += run->count;
        run->stash_bytes[0] = 4 + random_less(state, 12);
        run->stash_bytes[1] = random_less(state, run->stash_bytes[0] + 1);
        run->stash_bytes[2] = random_less(state, run->stash_bytes[1] + 1);
        if (below(state, 12) == 0)
            run->stash_bytes[2] = run->stash_bytes[0] +
                                  random_less(state, 3); // senseless, but allowed
        for (int i = 0; i < 3; i++) run->working_bytes[i] = random_less(state, 6);
        if (run->stash_bytes[0] % 5 == 0) run->unsharded_bytes = run->working_bytes[1];
        run->feedback_bytes = numbers(arena, state, p->gradient_option_count, 4);
        run->feedback_bytes[0] = 0;
        run->forward_ns = numbers(arena, state, passes, 20);
        run->backward_ns = numbers(arena, state, passes, 40);
        run->weight_ns = splits ? numbers(arena, state, p->group_count, 30)
                                : TAKE(arena, p->group_count, int64_t);
        run->again_ns[RECOMPUTE_SELECTIVE] = numbers(arena, state, passes, 6);
        run->again_ns[RECOMPUTE_FULL] = numbers(arena, state, passes, 20);
        run->optimizer_ns = numbers(arena, state, p->group_count, optimizer ? 9 : 1);
        run->sync_ns = TAKE(arena, p->gradient_option_count, int64_t *);
        for (int o = 0; o < p->gradient_option_count; o++)
            run->sync_ns[o] = numbers(arena, state, p->group_count, sync ? 60 : 1);
    }
}

// Further modes in which a layer runs, a few of them where there are any: numbers of their own that
// change nothing else of the problem.
static void draw_modes(struct priced *p, uint64_t state, struct arena *arena)
{
    uint64_t own = state ^ 0x6d6f6465;
    if (below(&own, 3)) return;
    for (int mode = RECOMPUTE_SETS; mode < RECOMPUTE_COUNT; mode++) {
        if (below(&own, RECOMPUTE_COUNT - RECOMPUTE_SWAP)) continue;
        p->recompute[mode] = true;
        for (int r = 0; r < p->run_count; r++) {
            struct priced_run *run = &p->runs[r];
            run->stash_bytes[mode] = random_less(&own, run->stash_bytes[0] + 1);
            run->working_bytes[mode] = random_less(&own, 6);
            run->again_ns[mode] = numbers(arena, &own, p->slice_count * p->group_count, 10);
        }
    }
}

static int64_t *pair_prices(const struct priced *p, uint64_t *state, struct arena *arena,
                            const bool *joined, const bool *parts, int64_t limit)
{
    int pairs = p->group_count * p->group_count, links = p->slice_count * pairs * PART_COUNT;
    int64_t *prices = TAKE(arena, links, int64_t);
    for (int i = 0; i < links; i++)
        prices[i] = !joined[i / PART_COUNT % pairs] ? PRICE_NONE
                    : parts[i % PART_COUNT]         ? random_less(state, limit)
                                                    : 0;
    return prices;
}

static void draw_links(struct priced *p, uint64_t *state, struct arena *arena)
{
    int n = p->group_count;
    bool *joined = TAKE(arena, n * n, bool), parts[PART_COUNT], sparse = below(state, 3) == 0;
    for (int a = 0; a < n; a++)
        for (int b = a; b < n; b++)
            joined[a * n + b] = joined[b * n + a] = !sparse || below(state, 3) > 0;
    for (int i = 0; i < PART_COUNT; i++) parts[i] = below(state, 2);
    int64_t limit = below(state, 3) ? 12 : 2;
    p->cuts = TAKE(arena, p->cut_count, struct priced_cut);
    for (int c = 0; c < p->cut_count; c++) {
        struct priced_cut *cut = &p->cuts[c];
        cut->message_bytes = random_less(state, 5);
        cut->feedback_bytes = numbers(arena, state, p->boundary_option_count, 5);
        cut->feedback_bytes[0] = 0;
        cut->forward_ns = pair_prices(p, state, arena, joined, parts, limit);
        cut->backward_ns = TAKE(arena, p->boundary_option_count, int64_t *);
        for (int o = 0; o < p->boundary_option_count; o++)
            cut->backward_ns[o] = pair_prices(p, state, arena, joined, parts, limit);
    }
    p->has_embedding_sync = p->stage_count > 1 && below(state, 3) == 0;
    p->embedding_sync_ns = TAKE(arena, n * n, int64_t);
    for (int i = 0; i < n * n; i++)
        p->embedding_sync_ns[i] = joined[i] ? random_less(state, 50) : PRICE_NONE;
}

static void draw_groups(struct priced *p, uint64_t *state, struct arena *arena)
{
    p->groups = TAKE(arena, p->group_count, struct priced_group);
    for (int g = 0; g < p->group_count; g++) {
        p->groups[g] = (struct priced_group){
            .name = arena_print(arena, "group%d", g),
            .gpu = "gpu",
            .slots = below(state, p->stage_count + 1),
            .memory_limit_bytes = 20 + random_less(state, 20) * random_less(state, 20),
            .constant_bytes = random_less(state, 4),
            .excluded = below(state, 9) ? NULL : "drawn",
            .sync_constant_ns = numbers(arena, state, p->gradient_option_count, 9)};
        if (below(state, 3) == 0) p->groups[g].slots = p->stage_count;
        for (int o = 0; o < p->gradient_option_count && below(state, 2); o++)
            p->groups[g].sync_constant_ns[o] = 0;
    }
}

static void draw_rules(struct priced *p, uint64_t *state, struct arena *arena)
{
    p->rule_count = below(state, 3) ? 0 : 1 + below(state, 2);
    p->rules = TAKE(arena, p->rule_count, struct rule);
    for (int i = 0; i < p->rule_count; i++) {
        struct rule *r = &p->rules[i];
        *r = rule_empty;
        r->action = below(state, 2) ? RULE_FORBID : RULE_REQUIRE;
        r->stage = below(state, p->stage_count + 1) - 1;
        for (int condition = below(state, 6), left = 1 + below(state, 2); left > 0;
             left--, condition = (condition + 1) % 6) {
            if (condition == 0) {
                r->groups = TAKE(arena, 1, const char *);
                r->groups[0] = p->groups[below(state, p->group_count)].name;
                r->group_count = 1;
            } else if (condition == 1) {
                r->holds_first = below(state, p->layer_count);
                r->holds_last = r->holds_first + below(state, 2);
                if (r->holds_last >= p->layer_count) r->holds_last = p->layer_count - 1;
            } else if (condition == 2) {
                r->run = below(state, 2) ? p->runs[below(state, p->run_count)].name : NULL;
                r->layers_min = below(state, 3);
                r->layers_max = below(state, 2) ? r->layers_min + below(state, 2) : -1;
            } else if (condition == 3) {
                r->recompute_stated = true;
                for (int k = 0; k < RECOMPUTE_SWAP; k++) r->recompute[k] = below(state, 2);
            } else if (condition == 4) r->compresses_gradient = below(state, 2);
            else r->compresses_boundary = below(state, 2);
        }
    }
}

static void draw_options(struct priced *p, uint64_t *state, struct arena *arena)
{
    p->boundary_option_count = 1 + (below(state, 2) ? below(state, 3) : 0);
    p->gradient_option_count = 1 + (below(state, 2) ? below(state, 3) : 0);
    p->boundary_options = TAKE(arena, p->boundary_option_count, struct compression_option);
    p->gradient_options = TAKE(arena, p->gradient_option_count, struct compression_option);
    for (int o = 1; o < p->boundary_option_count; o++)
        p->boundary_options[o] = (struct compression_option){.form.amount = 1 + below(state, 4),
                                                             .epilogue_only = below(state, 2),
                                                             .quality_cost = random_less(state, 3)};
    for (int o = 1; o < p->gradient_option_count; o++)
        p->gradient_options[o] = (struct compression_option){.form.amount = 1 + below(state, 4),
                                                             .quality_cost = random_less(state, 3)};
    p->budget = (struct quality_budget){-1, -1, -1, 0};
    if (below(state, 2)) p->budget.boundaries_max = below(state, 3);
    if (below(state, 2)) p->budget.stages_max = below(state, 3);
    if (below(state, 2)) p->budget.cost_max = below(state, 4);
    if (below(state, 4) == 0) p->budget.rank_min = below(state, 4);
}

// The rest of a layer's state bytes, and steps of any time; option 0 has the values without shares.
static void draw_shares_of(struct priced *p, struct priced_run *run, uint64_t *state,
                           struct arena *arena)
{
    run->tiered_count = p->gradient_option_count;
    run->tiered = TAKE(arena, run->tiered_count, struct priced_tiered);
    for (int o = 0; o < run->tiered_count; o++) {
        struct priced_tiered *t = &run->tiered[o];
        bool shares = p->gradient_options[o].tier_option;
        t->weight_bytes = run->weight_bytes, t->tier_bytes = TAKE(arena, 1, int64_t);
        t->optimizer_bytes = shares ? random_less(state, run->optimizer_bytes + 1)
                                    : run->optimizer_bytes;
        t->optimizer_ns = shares ? numbers(arena, state, p->group_count, 30) : run->optimizer_ns;
    }
}

// Some are of another form, which rank_min does not limit.
static void draw_form(struct compression_option *option, uint64_t *state)
{
    if (below(state, 2)) return;
    option->form.method = (enum compression_method)below(state, COMPRESSION_METHOD_COUNT);
    if (option->form.method == COMPRESS_QUANTISE) option->form.amount = 1 << (below(state, 2) * 3);
}

// Some options become a share of the stage's state on the host, alone or with a compression; from
// separate random numbers, so that other documents do not change.
static void draw_shares(struct priced *p, uint64_t state, struct arena *arena)
{
    uint64_t own = state * 0x9e3779b97f4a7c15u + 1;
    for (int o = 1; o < p->boundary_option_count; o++) draw_form(&p->boundary_options[o], &own);
    for (int o = 1; o < p->gradient_option_count; o++) {
        struct compression_option *option = &p->gradient_options[o];
        draw_form(option, &own);
        int which = below(&own, 6);
        if (which > 1) continue;
        option->tier_option = arena_print(arena, "optimizer %d %%", 1 + below(&own, 100));
        if (which == 0) option->form = (struct compression_form){0}, option->quality_cost = 0;
    }
    for (int r = 0; r < p->run_count && priced_tiers(p); r++)
        draw_shares_of(p, &p->runs[r], &own, arena);
}

void priced_swap(const struct priced *p, struct priced_run *run, int64_t *away_ns,
                 struct arena *arena)
{
    if (!run->tiered) run->tiered = TAKE(arena, p->gradient_option_count, struct priced_tiered);
    for (int o = run->tiered_count; o < p->gradient_option_count; o++)
        run->tiered[o] = (struct priced_tiered){.weight_bytes = run->weight_bytes,
                                                .optimizer_bytes = run->optimizer_bytes,
                                                .optimizer_ns = run->optimizer_ns,
                                                .tier_bytes = TAKE(arena, 1, int64_t)};
    run->tiered_count = p->gradient_option_count;
    for (int o = 0; o < run->tiered_count; o++)
        run->tiered[o].away_ns = run->tiered[o].back_ns = away_ns;
}

// Stages may swap now and then, from numbers of their own; not on every group.
static void draw_swaps(struct priced *p, uint64_t state, struct arena *arena)
{
    uint64_t own = state * 0x9e3779b97f4a7c15u + 5;
    if (schedule_splits_backward(p->layout.schedule) || p->slice_count > 1 || below(&own, 3))
        return;
    int without = below(&own, 3) ? -1 : below(&own, p->group_count), longest = 2 + below(&own, 40);
    p->recompute[RECOMPUTE_SWAP] = true;
    for (int r = 0; r < p->run_count; r++) {
        int64_t *away_ns = numbers(arena, &own, p->group_count, longest);
        if (without >= 0) away_ns[without] = PRICE_NONE;
        priced_swap(p, &p->runs[r], away_ns, arena);
    }
    for (int i = 0; i < p->rule_count; i++)
        if (p->rules[i].recompute_stated) p->rules[i].recompute[RECOMPUTE_SWAP] = below(&own, 2);
}

void priced_without_setting(struct priced *p)
{
    p->layout.recompute = p->layout.recomputed_layers = 0;
}

void priced_without_swaps(struct priced *p)
{
    if (p->layout.recompute >= RECOMPUTE_SETS) p->layout.recompute = 0;
    for (int mode = RECOMPUTE_SWAP; mode < RECOMPUTE_COUNT; mode++) p->recompute[mode] = false;
    for (int r = 0; r < p->run_count; r++) {
        struct priced_run *run = &p->runs[r];
        if (!priced_tiers(p)) run->tiered = NULL, run->tiered_count = 0;
        for (int o = 0; o < run->tiered_count; o++)
            run->tiered[o].away_ns = run->tiered[o].back_ns = NULL;
    }
}

static void draw_all(struct priced *p, uint64_t *state, struct arena *arena)
{
    draw_options(p, state, arena);
    draw_runs(p, state, arena);
    draw_groups(p, state, arena);
    draw_links(p, state, arena);
    draw_rules(p, state, arena);
}

void random_priced(struct priced *p, uint64_t *state, struct arena *arena)
{
    *p = (struct priced){.name = "random",
                         .stage_count = 1 + below(state, 4),
                         .micro_batches = 1 + below(state, 6),
                         .group_count = 1 + below(state, 3),
                         .cut_count = 1 + below(state, 2),
                         .devices_per_stage = 1};
    p->layout = (struct layout){.tensor = 1,
                                .context = 1,
                                .data = 1,
                                LAYOUT_PLAIN(p->stage_count),
                                .micro_batch = 1,
                                .schedule = below(state, 2) ? SCHEDULE_1F1B : SCHEDULE_GPIPE,
                                .gradient_sync = below(state, 2) ? SYNC_OVERLAPPED : SYNC_EXPOSED};
    p->recompute[RECOMPUTE_NONE] = true;
    for (int i = 1; i < RECOMPUTE_SWAP; i++) p->recompute[i] = below(state, 2);
    p->rank_count = p->stage_count, p->slice_count = 1;
    draw_all(p, state, arena);
    draw_shares(p, *state, arena);
    draw_swaps(p, *state, arena);
    draw_modes(p, *state, arena);
    settings_draw(&p->layout, p->recompute, *state);
}

// The layout that a schedule of this kind requires: ranks with several stages, slices; and optional
// features.
static void draw_layout(struct priced *p, int kind, uint64_t *state)
{
    int virtual_stages = schedule_kinds[kind].virtual_stages;
    if (!virtual_stages) virtual_stages = 2 + below(state, 2);
    p->rank_count = virtual_stages > 1 ? 2 + (virtual_stages == 2 && below(state, 2))
                                       : 1 + below(state, 4);
    if (schedule_kinds[kind].layered && virtual_stages == 3) p->rank_count = 1;
    p->stage_count = p->rank_count * virtual_stages;
    p->slice_count = schedule_kinds[kind].slices ? 2 + below(state, 2) : 1;
    p->layout = (struct layout){.tensor = 1,
                                .context = 1,
                                .expert = 1,
                                .data = 1,
                                .pipeline = p->rank_count,
                                .virtual_stages = virtual_stages,
                                .micro_batch = 1,
                                .schedule = kind,
                                .gradient_sync = below(state, 2) ? SYNC_OVERLAPPED : SYNC_EXPOSED,
                                .barrier = below(state, schedule_splits_backward(kind) ? 2 : 5) > 0,
                                .local_loss_every = below(state, 4) ? 0 : 1 + below(state, 2),
                                .slice_count = p->slice_count};
    for (int i = 0; i < p->slice_count && p->slice_count > 1; i++) p->layout.slices[i] = 1 + i;
    if (p->layout.local_loss_every) {
        p->local_forward_ns = random_less(state, 12);
        p->local_backward_ns = random_less(state, 12);
        p->local_bytes = random_less(state, 6);
    }
}

// Bytes as they are in life, with differences of a few in ten thousand millions: there floating
// tolerances fail.
static int64_t enlarged(uint64_t *state, int64_t bytes)
{
    return bytes * 1000000007 + (bytes ? random_less(state, 5) : 0);
}

static void enlarge_bytes(struct priced *p, uint64_t *state)
{
    for (int r = 0; r < p->run_count; r++) {
        struct priced_run *run = &p->runs[r];
        int64_t *const bytes[] = {&run->weight_bytes, &run->gradient_bytes, &run->optimizer_bytes};
        for (int i = 0; i < 3; i++) {
            *bytes[i] = enlarged(state, *bytes[i]);
            run->stash_bytes[i] = enlarged(state, run->stash_bytes[i]);
            run->working_bytes[i] = enlarged(state, run->working_bytes[i]);
        }
        if (run->unsharded_bytes) run->unsharded_bytes++;
        for (int o = 0; o < p->gradient_option_count; o++)
            run->feedback_bytes[o] = enlarged(state, run->feedback_bytes[o]);
    }
    for (int c = 0; c < p->cut_count; c++)
        p->cuts[c].message_bytes = enlarged(state, p->cuts[c].message_bytes);
    for (int g = 0; g < p->group_count; g++) {
        p->groups[g].memory_limit_bytes = enlarged(state, p->groups[g].memory_limit_bytes) +
                                          random_less(state, 40);
        p->groups[g].constant_bytes = enlarged(state, p->groups[g].constant_bytes);
    }
}

void random_priced_of(struct priced *p, int kind, uint64_t *state, struct arena *arena)
{
    *p = (struct priced){.name = "random",
                         .micro_batches = 1 + below(state, 5),
                         .group_count = 1 + below(state, 3),
                         .cut_count = 1 + below(state, 2),
                         .devices_per_stage = 1};
    draw_layout(p, kind, state);
    if (p->stage_count > 4 && p->group_count > 2) p->group_count = 2;
    p->recompute[RECOMPUTE_NONE] = true;
    for (int i = 1; i < RECOMPUTE_SWAP; i++) p->recompute[i] = below(state, 2);
    draw_all(p, state, arena);
    if (below(state, 3) == 0) enlarge_bytes(p, state);
    draw_shares(p, *state, arena);
    draw_swaps(p, *state, arena);
    draw_modes(p, *state, arena);
    settings_draw(&p->layout, p->recompute, *state);
}

// ---- the chain family

static int64_t whole(double x) { return (int64_t)floor(x + 0.5); }

static int64_t *times(struct arena *arena, int types, double ms)
{
    static const double speed[4] = {1, 0.55, 0.75, 0.4};
    int64_t *ns = TAKE(arena, types, int64_t);
    for (int k = 0; k < types; k++) ns[k] = whole(ms / speed[k] * 1e6);
    return ns;
}

static void chain_run(struct priced_run *run, struct arena *arena, int types, const char *name,
                      int count, double factor)
{
    *run = (struct priced_run){.name = name,
                               .count = count,
                               .forward_ns = times(arena, types, factor),
                               .backward_ns = times(arena, types, 2 * factor),
                               .again_ns[RECOMPUTE_SELECTIVE] = TAKE(arena, types, int64_t),
                               .again_ns[RECOMPUTE_FULL] = times(arena, types, factor),
                               .optimizer_ns = TAKE(arena, types, int64_t),
                               .weight_ns = TAKE(arena, types, int64_t),
                               .feedback_bytes = TAKE(arena, 1, int64_t),
                               .sync_ns = TAKE(arena, 1, int64_t *)};
    run->sync_ns[0] = TAKE(arena, types, int64_t);
}

static void chain_links(struct priced *p, int types, struct arena *arena)
{
    p->cuts = TAKE(arena, 1, struct priced_cut);
    p->cuts[0].feedback_bytes = TAKE(arena, 1, int64_t);
    p->cuts[0].forward_ns = TAKE(arena, types * types * PART_COUNT, int64_t);
    p->cuts[0].backward_ns = TAKE(arena, 1, int64_t *);
    p->cuts[0].backward_ns[0] = p->cuts[0].forward_ns;
    for (int i = 0; i < types * types; i++)
        p->cuts[0].forward_ns[i * PART_COUNT + PART_DELAY] = i / types == i % types ? 200000
                                                                                    : 1500000;
}

void chain_priced(struct priced *p, int layers, int stages, int types, int micro_batches,
                  struct arena *arena)
{
    *p = (struct priced){.name = "chain",
                         .stage_count = stages,
                         .rank_count = stages,
                         .slice_count = 1,
                         .micro_batches = micro_batches,
                         .layer_count = layers + 2,
                         .run_count = 3,
                         .group_count = types,
                         .cut_count = 1,
                         .boundary_option_count = 1,
                         .gradient_option_count = 1,
                         .devices_per_stage = 1,
                         .recompute = {true, false, true, true},
                         .budget = {-1, -1, -1, 0}};
    p->layout = (struct layout){.tensor = 1,
                                .context = 1,
                                .data = 1,
                                LAYOUT_PLAIN(stages),
                                .micro_batch = 1,
                                .schedule = SCHEDULE_1F1B};
    p->runs = TAKE(arena, 3, struct priced_run);
    chain_run(&p->runs[0], arena, types, "embedding", 1, 0.3);
    chain_run(&p->runs[1], arena, types, "block", layers, 1);
    chain_run(&p->runs[2], arena, types, "head", 1, 1.2);
    p->runs[0].weight_bytes = p->runs[2].weight_bytes = (int64_t)4e9;
    p->runs[1].weight_bytes = whole(80e9 * 0.35 * stages / layers);
    p->runs[1].recomputable = true;
    p->runs[1].stash_bytes[0] = p->runs[1].stash_bytes[1] = whole(80e9 * 0.65 / layers);
    p->runs[1].stash_bytes[2] = whole(0.08 * 80e9 * 0.65 / layers);
    p->groups = TAKE(arena, types, struct priced_group);
    for (int k = 0; k < types; k++)
        p->groups[k] = (struct priced_group){.name = arena_print(arena, "type%d", k),
                                             .gpu = "gpu",
                                             .slots = stages / types + (k < stages % types),
                                             .memory_limit_bytes = (int64_t)(k % 2 ? 40e9 : 80e9),
                                             .sync_constant_ns = TAKE(arena, 1, int64_t)};
    chain_links(p, types, arena);
    p->boundary_options = TAKE(arena, 1, struct compression_option);
    p->gradient_options = TAKE(arena, 1, struct compression_option);
    p->embedding_sync_ns = TAKE(arena, types * types, int64_t);
    p->rules = TAKE(arena, 1, struct rule);
    p->rule_count = 1; // every stage holds a block
    p->rules[0] = rule_empty;
    p->rules[0].run = "block", p->rules[0].layers_min = 1;
}

void priced_schedule(struct schedule *s, const struct priced *p, struct arena *arena)
{
    struct error err = {OK, ""};
    CHECK_OK(schedule_build_priced(s, p, arena, &err));
}
