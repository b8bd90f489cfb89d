// Choices against an enumeration of every decision that prices each stage layer by layer with
// separate code: the best plans of both must agree to the nanosecond, and either both or neither
// exist. This detects choices wrongly removed as dominated, memory or rules read wrongly, and
// forgotten modes.
#include "data/kinds/schedules.h"
#include "formulate/choices/choices.h"
#include "formulate/graph/longest.h"
#include "tests/support/random_priced.h"
#include "tests/support/check.h"

// ---- the oracle: a raw decision of one stage, and its price

struct raw {
    int first, count, group, mode, swapped, recomputed, gradient, boundary;
    int64_t forward, backward, sync, optimizer;
};

static int layer_mode(const struct priced *p, const struct raw *x, int layer)
{
    if (!p->runs[priced_run_of(p, layer)].recomputable) return RECOMPUTE_NONE;
    if (x->mode != RECOMPUTE_FIRST_LAYERS && x->mode != RECOMPUTE_SWAP) return x->mode;
    int before = 0;
    for (int l = x->first; l < layer; l++) before += p->runs[priced_run_of(p, l)].recomputable;
    if (before < x->swapped) return RECOMPUTE_SWAP;
    return before < x->swapped + x->recomputed ? RECOMPUTE_FULL : RECOMPUTE_NONE;
}

static int64_t layer_backward(const struct priced *p, const struct raw *x, int layer)
{
    const struct priced_run *run = &p->runs[priced_run_of(p, layer)];
    int mode = layer_mode(p, x, layer);
    return run->backward_ns[x->group] + (run->again_ns[mode] ? run->again_ns[mode][x->group] : 0);
}

// The pass as executed by a machine with this many bytes of room: a layer without room waits for
// the next transfer to end. Returns its time.
static int64_t swapped_pass(const struct priced *p, const struct raw *x, bool backward,
                            int64_t *buffers)
{
    int64_t end[64], bytes[64], now = 0, link = 0, free = 0, most = 0;
    int gone = 0;
    for (int i = 0; i < x->count; i++) {
        const struct priced_run *run = &p->runs[priced_run_of(p, x->first + i)];
        int mode = layer_mode(p, x, x->first + i);
        bytes[i] = run->stash_bytes[mode == RECOMPUTE_SWAP ? RECOMPUTE_NONE : mode];
        if (mode != RECOMPUTE_SWAP) free += bytes[i];
        if (run->recomputable && run->stash_bytes[0] > most) most = run->stash_bytes[0];
    }
    *buffers = 2 * most;
    free += 2 * most;
    for (int i = 0; i < x->count; i++) {
        const struct priced_run *run = &p->runs[priced_run_of(p, x->first + i)];
        bool swaps = layer_mode(p, x, x->first + i) == RECOMPUTE_SWAP;
        free -= bytes[i];
        for (; free < 0 && gone < i; gone++) {
            if (end[gone] == INT64_MAX) continue;
            if (end[gone] > now) now = end[gone];
            free += bytes[gone];
        }
        now += backward ? layer_backward(p, x, x->first + i) : run->forward_ns[x->group];
        end[i] = INT64_MAX;
        if (swaps)
            end[i] = link = (link > now ? link : now) + run->tiered[x->gradient].away_ns[x->group];
    }
    return link > now ? link : now;
}

// The syncs one after the other on a clock that is zero when the last backward of the stage ends.
static int64_t sync_tail(const struct priced *p, const struct raw *x)
{
    int64_t clock = 0, free_at = INT64_MIN / 2;
    for (int l = x->first; l < x->first + x->count; l++) clock -= layer_backward(p, x, l);
    for (int l = x->first + x->count - 1; l >= x->first; l--) {
        clock += layer_backward(p, x, l);
        int64_t start = p->layout.gradient_sync == SYNC_EXPOSED && free_at < 0 ? 0
                        : clock > free_at                                      ? clock
                                                                               : free_at;
        free_at = start + p->runs[priced_run_of(p, l)].sync_ns[x->gradient][x->group];
    }
    return free_at + p->groups[x->group].sync_constant_ns[x->gradient];
}

static int64_t raw_memory(const struct priced *p, const struct schedule *s, int stage,
                          const struct raw *x)
{
    int64_t bytes = p->groups[x->group].constant_bytes, working = 0;
    int end = x->first + x->count;
    for (int l = x->first; l < end; l++) {
        const struct priced_run *run = &p->runs[priced_run_of(p, l)];
        int mode = layer_mode(p, x, l);
        bytes += run->weight_bytes + run->gradient_bytes + run->feedback_bytes[x->gradient];
        bytes += p->gradient_options[x->gradient].tier_option
                     ? run->tiered[x->gradient].optimizer_bytes
                     : run->optimizer_bytes;
        if (mode == RECOMPUTE_SWAP) mode = RECOMPUTE_NONE;
        else bytes += s->in_flight[stage] * run->stash_bytes[mode];
        bytes += run->unsharded_bytes;
        if (run->working_bytes[mode] > working) working = run->working_bytes[mode];
    }
    if (x->first > 0) {
        const struct priced_cut *cut = &p->cuts[p->runs[priced_run_of(p, x->first - 1)].cut];
        bytes += 2 * cut->message_bytes + cut->feedback_bytes[x->boundary];
    }
    if (end < p->layer_count)
        bytes += 2 * p->cuts[p->runs[priced_run_of(p, end - 1)].cut].message_bytes;
    int64_t buffers = 0;
    if (x->mode == RECOMPUTE_SWAP) swapped_pass(p, x, false, &buffers);
    return bytes + working + buffers;
}

static bool raw_meets(const struct priced *p, const struct raw *x, const struct rule *r)
{
    bool all = true, named = r->group_count == 0;
    for (int i = 0; i < r->group_count; i++)
        named = named || !strcmp(r->groups[i], p->groups[x->group].name);
    all = all && named;
    for (int l = r->holds_first; r->holds_first >= 0 && l <= r->holds_last; l++)
        all = all && l >= x->first && l < x->first + x->count;
    int counted = 0;
    for (int l = x->first; l < x->first + x->count; l++)
        counted += !r->run || !strcmp(r->run, p->runs[priced_run_of(p, l)].name);
    if (r->layers_min >= 0) all = all && counted >= r->layers_min;
    if (r->layers_max >= 0) all = all && counted <= r->layers_max;
    if (r->recompute_stated) all = all && r->recompute[x->mode];
    if (r->compresses_gradient >= 0)
        all = all && (p->gradient_options[x->gradient].form.amount != 0) == r->compresses_gradient;
    if (r->compresses_boundary >= 0)
        all = all && (p->boundary_options[x->boundary].form.amount != 0) == r->compresses_boundary;
    return all;
}

static bool raw_allowed(const struct priced *p, const struct schedule *s, int stage,
                        const struct raw *x)
{
    if (p->groups[x->group].excluded || p->groups[x->group].slots == 0) return false;
    const struct compression_form gradient = p->gradient_options[x->gradient].form,
                                  boundary = p->boundary_options[x->boundary].form;
    if (gradient.method == COMPRESS_LOW_RANK && gradient.amount &&
        gradient.amount < p->budget.rank_min)
        return false;
    if (boundary.method == COMPRESS_LOW_RANK && boundary.amount &&
        boundary.amount < p->budget.rank_min)
        return false;
    for (int i = 0; i < p->rule_count; i++)
        if ((p->rules[i].stage == stage || p->rules[i].stage < 0) &&
            raw_meets(p, x, &p->rules[i]) == (p->rules[i].action == RULE_FORBID))
            return false;
    return raw_memory(p, s, stage, x) <= p->groups[x->group].memory_limit_bytes;
}

struct oracle {
    const struct priced *p;
    const struct schedule *s;
    struct graph *graph;
    struct raw chosen[8];
    int64_t durations[8 * SYMBOL_KIND_COUNT], best;
    long plans, plans_max;
};

static bool put_transfers(struct oracle *o, int boundary)
{
    const struct priced *p = o->p;
    const struct raw *a = &o->chosen[boundary], *b = a + 1;
    const struct priced_cut *cut = &p->cuts[p->runs[priced_run_of(p, b->first - 1)].cut];
    int pair = (a->group * p->group_count + b->group) * PART_COUNT,
        steady = p->boundary_options[b->boundary].epilogue_only ? 0 : b->boundary;
    for (int i = 0; i < PART_COUNT; i++) {
        if (cut->forward_ns[pair + i] < 0) return false;
        o->durations[symbol_index(p->stage_count, SYMBOL_SEND_FORWARD + i, boundary)] =
            cut->forward_ns[pair + i];
        o->durations[symbol_index(p->stage_count, SYMBOL_SEND_BACKWARD + i, boundary)] =
            cut->backward_ns[steady][pair + i];
        o->durations[symbol_index(p->stage_count, SYMBOL_SEND_EPILOGUE + i, boundary)] =
            cut->backward_ns[b->boundary][pair + i];
    }
    return true;
}

static void judge(struct oracle *o)
{
    const struct priced *p = o->p;
    int n = p->stage_count, used[8] = {0}, boundaries = 0, stages = 0;
    int64_t cost = 0;
    for (int s = 0; s < n; s++) {
        const struct raw *x = &o->chosen[s];
        if (++used[x->group] > p->groups[x->group].slots) return;
        boundaries += p->boundary_options[x->boundary].form.amount > 0;
        stages += p->gradient_options[x->gradient].form.amount > 0;
        cost += p->boundary_options[x->boundary].quality_cost +
                p->gradient_options[x->gradient].quality_cost;
        o->durations[symbol_index(n, SYMBOL_FORWARD, s)] = x->forward;
        o->durations[symbol_index(n, SYMBOL_BACKWARD, s)] = x->backward;
        o->durations[symbol_index(n, SYMBOL_SYNC, s)] = x->sync;
        o->durations[symbol_index(n, SYMBOL_OPTIMIZER, s)] = x->optimizer;
        if (s < n - 1 && !put_transfers(o, s)) return;
    }
    if ((p->budget.boundaries_max >= 0 && boundaries > p->budget.boundaries_max) ||
        (p->budget.stages_max >= 0 && stages > p->budget.stages_max) ||
        (p->budget.cost_max >= 0 && cost > p->budget.cost_max))
        return;
    if (p->has_embedding_sync) {
        int64_t sync =
            p->embedding_sync_ns[o->chosen[0].group * p->group_count + o->chosen[n - 1].group];
        if (sync < 0) return;
        o->durations[symbol_index(n, SYMBOL_EMBEDDING_SYNC, 0)] = sync;
    }
    int64_t time = graph_longest(o->graph, o->durations, NULL);
    if (o->best < 0 || time < o->best) o->best = time;
}

static void try_stage(struct oracle *o, int stage, int first);

static void try_raw(struct oracle *o, int stage, struct raw x);

static void try_swaps(struct oracle *o, int stage, struct raw x, int most)
{
    const bool *offered = o->p->recompute;
    if (!offered[RECOMPUTE_SWAP] || o->p->runs[0].tiered[0].away_ns[x.group] < 0) return;
    for (x.swapped = 1; x.swapped <= most; x.swapped++)
        for (x.recomputed = 0; x.recomputed <= most - x.swapped; x.recomputed++)
            if (!x.recomputed || offered[RECOMPUTE_FIRST_LAYERS] ||
                (offered[RECOMPUTE_FULL] && x.recomputed == most - x.swapped))
                try_raw(o, stage, x);
}

static void try_raw(struct oracle *o, int stage, struct raw x)
{
    if (!raw_allowed(o->p, o->s, stage, &x)) return;
    x.forward = x.backward = x.optimizer = 0;
    for (int l = x.first; l < x.first + x.count; l++) {
        x.forward += o->p->runs[priced_run_of(o->p, l)].forward_ns[x.group];
        x.backward += layer_backward(o->p, &x, l);
        const struct priced_run *run = &o->p->runs[priced_run_of(o->p, l)];
        bool shares = o->p->gradient_options[x.gradient].tier_option;
        x.optimizer += shares ? run->tiered[x.gradient].optimizer_ns[x.group]
                              : run->optimizer_ns[x.group];
    }
    x.sync = sync_tail(o->p, &x);
    int64_t buffers;
    if (x.mode == RECOMPUTE_SWAP) {
        x.forward = swapped_pass(o->p, &x, false, &buffers);
        x.backward = swapped_pass(o->p, &x, true, &buffers);
    }
    o->chosen[stage] = x;
    try_stage(o, stage + 1, x.first + x.count);
}

static void try_stage(struct oracle *o, int stage, int first)
{
    const struct priced *p = o->p;
    if (o->plans > o->plans_max) return;
    if (stage == p->stage_count) {
        o->plans++;
        judge(o);
        return;
    }
    struct raw x = {.first = first};
    for (x.count = 1; first + x.count <= p->layer_count; x.count++) {
        if (stage == p->stage_count - 1 && first + x.count < p->layer_count) continue;
        for (x.group = 0; x.group < p->group_count; x.group++)
            for (x.gradient = 0; x.gradient < p->gradient_option_count; x.gradient++)
                for (x.boundary = 0; x.boundary < (stage ? p->boundary_option_count : 1);
                     x.boundary++)
                    for (x.mode = 0; x.mode < RECOMPUTE_COUNT; x.mode++) {
                        int most = 0;
                        for (int l = first; l < first + x.count; l++)
                            most += p->runs[priced_run_of(p, l)].recomputable;
                        x.swapped = 0;
                        if (x.mode == RECOMPUTE_SWAP) {
                            try_swaps(o, stage, x, most);
                            continue;
                        }
                        for (x.recomputed = x.mode == RECOMPUTE_FIRST_LAYERS;
                             p->recompute[x.mode] &&
                             x.recomputed <= (x.mode == RECOMPUTE_FIRST_LAYERS ? most : 0);
                             x.recomputed++)
                            try_raw(o, stage, x);
                    }
    }
}

// ---- the best over the choices

struct search {
    const struct choices *c;
    struct graph *graph;
    int chosen[8];
    int64_t best;
    long plans;
    struct arena *arena;
};

static void check_round_trip(struct search *s, int64_t time)
{
    struct plan plan;
    int again[8];
    choices_to_plan(&plan, s->c, s->chosen, time, s->arena);
    assert_true(choices_from_plan(again, s->c, &plan));
    for (int i = 0; i < s->c->priced->stage_count; i++) assert_int_equal(again[i], s->chosen[i]);
    assert_int_equal(plan.stages[0].first_layer, 0);
    for (int i = 1; i < plan.stage_count; i++)
        assert_int_equal(plan.stages[i].first_layer,
                         plan.stages[i - 1].first_layer + plan.stages[i - 1].layer_count);
}

static void search_stage(struct search *s, int stage)
{
    if (stage < s->c->priced->stage_count) {
        for (s->chosen[stage] = 0; s->chosen[stage] < s->c->stages[stage].count; s->chosen[stage]++)
            search_stage(s, stage + 1);
        return;
    }
    int64_t durations[8 * SYMBOL_KIND_COUNT];
    bool joined = choices_durations(s->c, s->chosen, durations);
    if (!choices_fit_together(s->c, s->chosen)) return;
    assert_true(joined);
    int64_t time = graph_longest(s->graph, durations, NULL);
    s->plans++;
    if (s->best >= 0 && time >= s->best) return;
    s->best = time;
    struct arena_mark mark = arena_set_mark(s->arena);
    check_round_trip(s, time);
    arena_reset(s->arena, mark);
}

static long combinations(const struct choices *c)
{
    double product = 1;
    for (int s = 0; s < c->priced->stage_count; s++) product *= c->stages[s].count;
    return product > 1e6 ? 1000000 : (long)product;
}

TEST(best_of_choices_is_best_of_all)
{
    uint64_t seed = 20;
    int compared = 0, infeasible = 0, by_position = 0, hopeless = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < 1200; i++, arena_reset(arena, mark)) {
        struct priced p;
        struct schedule schedule;
        struct choices c;
        struct graph *graph;
        const char *why;
        random_priced(&p, &seed, arena);
        priced_without_setting(&p);
        priced_schedule(&schedule, &p, arena);
        CHECK_OK(graph_compile(&graph, &schedule, arena, &err));
        CHECK_OK(choices_build(&c, &p, &schedule, arena, &err));
        struct oracle oracle = {
            .p = &p, .s = &schedule, .graph = graph, .best = -1, .plans_max = 20000};
        if (p.stage_count <= p.layer_count) try_stage(&oracle, 0, 0);
        if (oracle.plans <= oracle.plans_max && combinations(&c) < 200000) {
            struct search search = {.c = &c, .graph = graph, .best = -1, .arena = arena};
            search_stage(&search, 0);
            assert_int_equal(search.best, oracle.best);
            if (choices_hopeless_stage(&c, &why) >= 0) {
                assert_int_equal(oracle.best, -1);
                assert_non_null(why);
                hopeless++;
            }
            compared++;
            infeasible += oracle.best < 0;
            by_position += c.free_from == p.layer_count;
        }
    }
    print_message("compared %d, infeasible %d (hopeless %d), by position %d\n", compared,
                  infeasible, hopeless, by_position);
    assert_true(compared > 600 && infeasible > 100 && compared - infeasible > 200 &&
                by_position > 100 && compared - by_position > 100);
}

// Two choices that differ only in what couples stages must both stay: quality cost against time, a
// budget's flag.
TEST(dominance_respects_budget)
{
    struct priced p;
    struct schedule schedule;
    struct choices c;
    chain_priced(&p, 4, 2, 1, 4, arena);
    priced_schedule(&schedule, &p, arena);
    CHECK_OK(choices_build(&c, &p, &schedule, arena, &err));
    int before = c.stages[0].count;
    assert_int_equal(c.free_from, 0);
    p.gradient_option_count = 2;
    p.gradient_options = TAKE(arena, 2, struct compression_option);
    p.gradient_options[1].form.amount = 4;
    for (int r = 0; r < p.run_count; r++) {
        p.runs[r].feedback_bytes = TAKE(arena, 2, int64_t);
        int64_t *none = p.runs[r].sync_ns[0], *low = TAKE(arena, 1, int64_t);
        none[0] = 100;
        low[0] = 50;
        p.runs[r].sync_ns = TAKE(arena, 2, int64_t *);
        p.runs[r].sync_ns[0] = none;
        p.runs[r].sync_ns[1] = low;
    }
    p.groups[0].sync_constant_ns = TAKE(arena, 2, int64_t);
    CHECK_OK(choices_build(&c, &p, &schedule, arena, &err));
    assert_int_equal(c.stages[0].count, 2 * before);
    p.runs[1].sync_ns[1][0] = 1000; // compressed and slower: of no use
    CHECK_OK(choices_build(&c, &p, &schedule, arena, &err));
    assert_int_equal(c.stages[0].count, before);
}

// The chain interleaved: two stages a rank.
static void expect_hopeless_interleaved(int64_t limit_bytes, int stage, const char *words)
{
    struct priced p;
    struct schedule schedule;
    struct choices c;
    const char *why;
    struct arena_mark mark = arena_set_mark(&own_arena);
    chain_priced(&p, 8, 2, 1, 4, &own_arena);
    p.layout.schedule = SCHEDULE_INTERLEAVED;
    p.layout.virtual_stages = 2;
    p.stage_count = 4;
    p.groups[0].memory_limit_bytes = limit_bytes;
    priced_schedule(&schedule, &p, &own_arena);
    MUST(choices_build(&c, &p, &schedule, &own_arena, &own_err));
    assert_int_equal(choices_hopeless_stage(&c, &why), stage);
    if (words && !strstr(why, words)) fail_msg("'%s' does not say '%s'", why, words);
    arena_reset(&own_arena, mark);
}

// The choices' message when there is no plan; damage(p) removes all plans.
static void expect_hopeless(void (*damage)(struct priced *p), int stage, const char *words)
{
    struct priced p;
    struct schedule schedule;
    struct choices c;
    const char *why;
    struct arena_mark mark = arena_set_mark(&own_arena);
    chain_priced(&p, 8, 3, 2, 4, &own_arena);
    damage(&p);
    priced_schedule(&schedule, &p, &own_arena);
    MUST(choices_build(&c, &p, &schedule, &own_arena, &own_err));
    assert_int_equal(choices_hopeless_stage(&c, &why), stage);
    if (words && !strstr(why, words)) fail_msg("'%s' does not say '%s'", why, words);
    if (!words) assert_null(why);
    arena_reset(&own_arena, mark);
}

static void nothing(struct priced *p) { (void)p; }
static void little_memory(struct priced *p)
{
    p->groups[0].memory_limit_bytes = p->groups[1].memory_limit_bytes = 1000;
}
static void little_memory_plain(struct priced *p)
{
    little_memory(p);
    for (int i = 1; i < RECOMPUTE_COUNT; i++) p->recompute[i] = false;
}
// Blocks of 10.5 GB, end layers of 4 GB: two layers at each end, one block between them.
static void medium_memory(struct priced *p)
{
    p->groups[0].memory_limit_bytes = p->groups[1].memory_limit_bytes = (int64_t)21e9;
}
static void few_slots(struct priced *p) { p->groups[0].slots = 1; }
static void excluded(struct priced *p) { p->groups[0].excluded = "it has no bf16"; }
static void strict_rule(struct priced *p) { p->rules[0].layers_min = 9; }
static void few_layers(struct priced *p)
{
    p->stage_count = p->rank_count = p->layout.pipeline = 11;
}

TEST(hopeless_stages_say_why)
{
    expect_hopeless(nothing, -1, NULL);
    expect_hopeless(little_memory, 0,
                    "stage 0: memory on every group even with full recomputation");
    expect_hopeless(little_memory_plain, 0, "without recomputation");
    expect_hopeless(medium_memory, 0, "all stages together hold at most 5 of 10 layers");
    expect_hopeless(few_slots, 0, "slots: the groups have room for 2 of 3 stages");
    expect_hopeless(excluded, 0, "group type0 is excluded: it has no bf16");
    expect_hopeless(strict_rule, 0, "stage 0: rule 0 excludes every choice");
    expect_hopeless(few_layers, 0, "layers: 10 for 11 stages");
    // A block's states take 7 GB, an end layer's 4 GB; the rule wants a block in every stage.
    expect_hopeless_interleaved((int64_t)80e9, -1, NULL);
    expect_hopeless_interleaved((int64_t)10e9, 0, "including the least of the rank's other stages");
    expect_hopeless_interleaved((int64_t)32e9, 0, "all stages together hold at most");
}
