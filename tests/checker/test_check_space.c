// Certificates of whole spaces: random problems, with every layout solved by itself as the oracle.
// The writer's certificate is accepted and proves the least of all layouts' times; no argument of
// the checker for a single layout is ever above that layout's best plan; its walk, refusals and
// tables equal those of the planner, which are different code.
//
//   test_check_space [PROBLEMS] [SEED]
#include "data/kinds/schedules.h"
#include "formulate/price/price.h"
#include "solve/checker/space/arguments.h"
#include "solve/checker/prices/prices.h"
#include "solve/layouts/group.h"
#include "tests/support/draws/models.h"
#include "tests/support/draws/tiers.h"
#include "tests/support/trials/check_trials.h"
#include "data/inputs/framework.h"
#include "tests/support/trials/space_trials.h"
#include "tests/support/check.h"

enum { DEFAULT_PROBLEMS = 40 };

static int problem_count = DEFAULT_PROBLEMS;
static uint64_t first_seed = 1;
static struct {
    int64_t layouts, fates[FATES], plans, infeasible, gaps, tables, terms, bounds, rooms, reached,
        groups, tight;
} seen;

// ---- certificates

static void try_certificate(uint64_t seed)
{
    struct space_trial t;
    struct check_space_result audited;
    const char *why;
    unsigned long long name = seed;
    double gap = seed % 3 ? 0 : 0.05;
    struct arena_mark mark = arena_set_mark(&own_arena);
    space_trial_open(&t, seed, gap, &own_arena);
    const struct plan *plan = &t.found.solved.plan;
    if (!t.certificate.text)
        fail_msg("seed %llu: no certificate of %s, bound %lld", name, outcome_names[plan->outcome],
                 (long long)plan->bound_ns);
    if (!space_trial_audit(&t, &t.certificate, &audited, &why, &own_arena) ||
        !audited.proof.accepted)
        fail_msg("seed %llu: refused: %s", name, why);
    assert_int_equal(audited.proof.infeasible, t.alone.best_ns == INT64_MAX);
    assert_int_equal(audited.layouts, t.found.layouts.count);
    if (t.alone.best_ns != INT64_MAX) {
        if (audited.proof.bound_ns > t.alone.best_ns)
            fail_msg("seed %llu: proves %lld ns, the best of all plans takes %lld", name,
                     (long long)audited.proof.bound_ns, (long long)t.alone.best_ns);
        if (audited.proof.bound_ns != plan->bound_ns)
            fail_msg("seed %llu: proves %lld ns, the search's bound is %lld", name,
                     (long long)audited.proof.bound_ns, (long long)plan->bound_ns);
        assert_int_equal(audited.proof.iteration_ns, plan->iteration_ns);
        assert_int_equal(audited.doubtful, 0);
        assert_int_equal(audited.chosen, t.found.layouts.chosen);
        seen.gaps += audited.proof.bound_ns < t.alone.best_ns;
    }
    const int64_t counts[FATES] = {audited.refused,   audited.memory, audited.bounded,
                                   audited.dominated, audited.proven, audited.grouped};
    for (int f = 0; f < FATES; f++) seen.fates[f] += counts[f];
    *(t.alone.best_ns == INT64_MAX ? &seen.infeasible : &seen.plans) += 1;
    arena_reset(&own_arena, mark);
}

TEST(writer_proves_what_all_layouts_say)
{
    for (int i = 0; i < problem_count; i++) try_certificate(first_seed + (uint64_t)i);
    print_message(
        "%lld spaces with a plan, %lld without; layouts: %lld refused, %lld without "
        "room, %lld by a bound, %lld dominated, %lld with a proof, %lld in groups; %lld gaps\n",
        (long long)seen.plans, (long long)seen.infeasible, (long long)seen.fates[0],
        (long long)seen.fates[1], (long long)seen.fates[2], (long long)seen.fates[3],
        (long long)seen.fates[4], (long long)seen.fates[5], (long long)seen.gaps);
    assert_true(seen.plans > problem_count / 4 && seen.infeasible > 0 && seen.gaps > 0);
    for (int f = 0; f < FATES; f++) assert_true(seen.fates[f] > 0);
}

// ---- arguments for one layout: the least time at which none holds any more is at most the best
// plan's

struct sounding {
    const struct spaces_alone *alone;
    struct check_layouts x;
    struct problem *problem;
    struct group_bounds groups;
};

// What the planner says of a group, the checker accepts; one more only where the layers of another
// run than the planner's say so.
static void sound_group(struct sounding *s, const struct check_layout *layout)
{
    struct layout own = space_layout_back(layout, &s->problem->job.layout);
    int64_t bound_ns = group_bound_ns(&s->groups, &own), takes_ns;
    bool holds;
    const char *why;
    if (s->problem->job.objective == OBJECTIVE_MAX_LOAD || !bound_ns) return;
    s->x.bound_ns = bound_ns;
    assert_int_equal(check_fate_holds(&s->x, layout, FATE_IS_GROUP, &holds, &why), OK);
    assert_true(holds);
    assert_int_equal(check_group_takes(&s->x, layout, &takes_ns), OK);
    assert_true(takes_ns >= bound_ns);
    s->x.bound_ns = takes_ns + 1;
    assert_int_equal(check_fate_holds(&s->x, layout, FATE_IS_GROUP, &holds, &why), OK);
    assert_true(!holds);
    seen.groups++, seen.tight += takes_ns == bound_ns;
}

static bool sound_layout(void *argument, int64_t number, const struct check_layout *layout)
{
    struct sounding *s = argument;
    int64_t optimum_ns = s->alone->optimum_ns[number];
    bool holds, in_group = false;
    const char *why;
    if (s->alone->refused[number]) return true;
    assert_int_equal(check_fate_holds(&s->x, layout, FATE_IS_MEMORY, &holds, &why), OK);
    if (holds && optimum_ns)
        fail_msg("layout %lld has a plan, and is said not to fit", (long long)number);
    seen.rooms += holds;
    s->x.bound_ns = (optimum_ns ? optimum_ns : ((int64_t)1 << 50)) + 1;
    assert_int_equal(check_fate_holds(&s->x, layout, FATE_IS_BOUND, &holds, &why), OK);
    if (holds && optimum_ns)
        fail_msg("layout %lld has a plan of %lld ns, and is said to take more", (long long)number,
                 (long long)optimum_ns);
    s->x.bound_ns = optimum_ns / 10 * 8;
    if (optimum_ns)
        assert_int_equal(check_fate_holds(&s->x, layout, FATE_IS_BOUND, &holds, &why), OK);
    s->x.bound_ns = (optimum_ns ? optimum_ns : (int64_t)1 << 50) + 1;
    if (optimum_ns)
        assert_int_equal(check_fate_holds(&s->x, layout, FATE_IS_GROUP, &in_group, &why), OK);
    sound_group(s, layout);
    if (in_group && optimum_ns)
        fail_msg("layout %lld has a plan of %lld ns, and its group is said to take more",
                 (long long)number, (long long)optimum_ns);
    seen.bounds += optimum_ns > 0;
    seen.reached += optimum_ns && holds;
    return true;
}

static void draw_sounding(struct problem *p, struct random *rng, struct arena *arena)
{
    spaces_draw(p, rng, arena);
    // Syncs and optimizers that weigh, recomputation that pays: what the bounds turn on.
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
        p->job.recompute[mode] = p->job.recompute[mode] || random_chance(rng, 60);
}

TEST(arguments_never_exceed_the_best_plan)
{
    struct random rng = {first_seed + 1000};
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < 3 * problem_count; i++, arena_reset(arena, mark)) {
        struct arena scratch;
        struct problem p;
        struct spaces_alone alone;
        struct check_space space;
        struct check_pricer pricer;
        uint64_t work = UINT64_MAX / 2;
        arena_open(&scratch, NULL);
        draw_sounding(&p, &rng, arena);
        spaces_solve(&alone, &p, arena);
        space_read(&space, &p, arena);
        CHECK_OK(space_pricer_open(&pricer, &p, arena, &err));
        struct sounding s = {&alone,
                             {.space = &space,
                              .pricer = &pricer,
                              .reader = {"prices", &err},
                              .held = {.work = &work, .arena = arena, .scratch = &scratch}},
                             &p};
        group_bounds_open(&s.groups, &p, arena);
        check_space_walk(&space, sound_layout, &s);
        group_bounds_close(&s.groups);
        arena_close(&scratch);
    }
    print_message("%lld layouts with plans, of %lld of them 80 %% of the best plan's time follow "
                  "from the prices alone; %lld without room\n",
                  (long long)seen.bounds, (long long)seen.reached, (long long)seen.rooms);
    assert_true(seen.bounds > 50 && seen.reached > seen.bounds / 10 && seen.rooms > 0);
}

// ---- the walk and the refusals, against the planner's

struct listing {
    struct layout *layouts;
    int64_t count;
};

static bool list_layout(void *argument, int64_t number, const struct layout *layout)
{
    struct listing *l = argument;
    if (number < l->count) l->layouts[number] = *layout;
    return number < l->count;
}

struct comparison {
    const struct problem *problem;
    const struct listing *theirs;
    int64_t refused;
};

static bool compare_layout(void *argument, int64_t number, const struct check_layout *layout)
{
    struct comparison *c = argument;
    struct error err = {OK, ""};
    assert_true(number < c->theirs->count);
    struct layout own = space_layout_back(layout, &c->problem->job.layout);
    if (!layout_equal(&own, &c->theirs->layouts[number]))
        fail_msg("layout %lld is another", (long long)number);
    struct check_space space;
    struct arena_mark mark = arena_set_mark(&own_arena);
    space_read(&space, c->problem, &own_arena);
    struct problem one = problem_with_layout(c->problem, &own);
    bool refused = problem_check_layout(&one, &err) != OK;
    const char *why = check_space_refusal(&space, layout);
    if (refused != (why != NULL))
        fail_msg("layout %lld: the planner: %s; the checker: %s", (long long)number,
                 refused ? err.text : "fine", why ? why : "fine");
    c->refused += refused;
    arena_reset(&own_arena, mark);
    return true;
}

// What its framework can do whatever the layout, and more layouts that it runs than chance has.
static void use_framework(struct job *job, struct random *rng)
{
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
        job->recompute[mode] = job->recompute[mode] &&
                               framework_recomputes(job->space.framework, (enum recompute)mode);
    job->boundary_option_count = job->gradient_option_count = job->tier_option_count = 0;
    job->layout.barrier = true, job->layout.fused_embedding_sync = false,
    job->layout.local_loss_every = 0, job->layout.stored_inputs = false;
    job->space.axes[SPACE_SCHEDULE].kind = AXIS_ALL;
    if (random_chance(rng, 70)) job->space.axes[SPACE_ZERO].kind = AXIS_ALL;
    if (random_chance(rng, 70)) job->space.axes[SPACE_GRADIENT_SYNC].kind = AXIS_ALL;
}

// Any space, of any size, for shapes as well as mixtures; lists of values, slices that the layout
// fixes.
static void draw_any_space(struct problem *p, struct random *rng, struct arena *arena)
{
    struct random_limits limits = random_limits_small();
    struct error err = {OK, ""};
    limits.groups_max = 2;
    int64_t count;
    do {
        random_problem(p, rng, &limits, arena);
        // Layouts without a barrier and sharded ones are refused where ranks share something.
        bool barrier = p->job.layout.barrier;
        if (!random_pools(p, rng->state, arena) && rng->state / 4 % 2)
            predict_further(p, rng->state, arena);
        p->job.layout.barrier = barrier;
        struct space *space = &p->job.space;
        struct layout *base = &p->job.layout;
        *space = (struct space){.given = true,
                                .fewer_devices = random_chance(rng, 40),
                                .framework = random_chance(rng, 50)
                                                 ? FRAMEWORK_ANY
                                                 : (enum framework)random_between(rng, 1, 5)};
        if (space->framework != FRAMEWORK_ANY) use_framework(&p->job, rng);
        if (random_chance(rng, 15) && p->job.sequence > 3)
            base->schedule = SCHEDULE_TOKEN_SLICED, base->virtual_stages = 1, base->slice_count = 2,
            base->slices[0] = 1, base->slices[1] = (int)p->job.sequence - 1;
        struct random own = {rng->state};
        if (random_chance(&own, 40)) space->axes[SPACE_RECOMPUTE].kind = AXIS_ALL;
        if (random_chance(&own, 40) && p->model.has_shape && !p->model.shape.kv_rank)
            p->model.shape.kv_heads = 1; // which tensor ranks share
        p->job.context_kind = (enum context_kind)random_between(&own, 0, 2);
        for (int key = SPACE_CONTEXT_KIND; key <= SPACE_OVERLAPPED_DISPATCH; key++)
            if (random_chance(&own, 50)) space->axes[key].kind = AXIS_ALL;
        if (random_chance(&own, 20)) base->overlapped_dispatch = true;
        if (random_chance(&own, 20))
            base->context_kind = 1 + (int)random_between(&own, 0, CONTEXT_ALL_GATHER);
        for (int key = 0; key < SPACE_CONTEXT_KIND; key++) {
            struct space_axis *axis = &space->axes[key];
            if (key == SPACE_EXPERT || key == SPACE_EXPERT_TENSOR)
                axis->kind = AXIS_ALL; // without mixtures: 1
            else if (random_chance(rng, 40)) axis->kind = AXIS_ALL;
            else if (key <= SPACE_DATA && random_chance(rng, 40)) {
                axis->kind = AXIS_LIST;
                axis->count = 2;
                axis->values = TAKE(arena, 2, int);
                axis->values[0] = (int)random_between(rng, 1, 3),
                axis->values[1] = (int)random_between(rng, 4, 8);
            }
        }
        if (space->axes[SPACE_SLICE_COUNT].kind != AXIS_FIXED && random_chance(rng, 60))
            space->slice_tokens = (int)random_between(rng, 1, p->job.sequence);
        count = spaces_count(p);
    } while (count < 2 || count > 3000 || problem_check(p, &err) != OK);
}

// Layers of one part each: Megatron's hybrid, but where some have a shape or a window of their own.
static void take_apart(struct problem *p, uint64_t state)
{
    struct random own = {state};
    for (int i = 0; i < p->model.run_count; i++) {
        struct layer_run *r = &p->model.runs[i];
        if (r->kind != LAYER_BLOCK && r->kind != LAYER_MOE) continue;
        r->no_attention = r->kind == LAYER_MOE, r->no_feed_forward = r->kind == LAYER_BLOCK;
        if (random_chance(&own, 90)) r->shape = NULL, r->mtp = false, r->window = 0;
    }
}

TEST(walk_and_refusals_are_the_planners)
{
    struct random rng = {first_seed + 7};
    int64_t layouts = 0, refused = 0, framed = 0, hybrids = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < 4 * problem_count; i++, arena_reset(arena, mark)) {
        struct problem p;
        draw_any_space(&p, &rng, arena);
        if (i % 4 == 0) random_tiers(&p, rng.state, arena);
        if (i % 4 == 1) p.job.layout.pool = (int)(rng.state / 8 % 3);
        if (i % 4 > 1) p.job.space.axes[SPACE_POOL].kind = AXIS_ALL;
        if (spaces_count(&p) > 3000) p.job.space.axes[SPACE_POOL].kind = AXIS_FIXED;
        if (rng.state / 64 % 3 == 0) take_apart(&p, rng.state);
        struct space_limits limits = problem_space_limits(&p);
        struct listing theirs = {NULL, spaces_count(&p)};
        theirs.layouts = TAKE(arena, theirs.count, struct layout);
        space_each(&p.job.space, &limits, list_layout, &theirs);
        struct comparison c = {&p, &theirs, 0};
        struct check_space space;
        space_read(&space, &p, arena);
        assert_int_equal(space.parts, limits.hybrid);
        assert_int_equal(check_space_walk(&space, compare_layout, &c), theirs.count);
        hybrids += limits.hybrid;
        layouts += theirs.count, refused += c.refused;
        if (p.job.space.framework != FRAMEWORK_ANY) framed += theirs.count;
    }
    print_message("%lld layouts walked, %lld for a framework, %lld refused; %lld hybrids\n",
                  (long long)layouts, (long long)framed, (long long)refused, (long long)hybrids);
    assert_true(layouts - refused > problem_count && refused > problem_count &&
                framed > problem_count && hybrids > 0);
}

static bool same_layout(void *argument, int64_t number, const struct check_layout *layout)
{
    struct comparison *c = argument;
    struct layout own = space_layout_back(layout, &c->problem->job.layout);
    assert_true(layout_equal(&own, &c->theirs->layouts[number]));
    return true;
}

enum { LISTED_MAX = 50000 };

// Its experts have biases, and attention has sinks; without, its last run has a value too many.
static void make_gpt_oss(struct model *m, bool whole)
{
    struct shape *s = &m->shape;
    s->gated_ffn = s->qkv_bias = true, s->linear_bias = false, s->output_bias = 1;
    s->activation = NULL, s->kv_rank = 0, m->has_shape = true;
    for (int i = 0; i < m->run_count; i++) {
        struct layer_run *r = &m->runs[i];
        bool end = i == 0 || i == m->run_count - 1;
        *r = (struct layer_run){.name = r->name, .count = r->count, .kind = LAYER_MOE};
        if (end) r->kind = i ? LAYER_HEAD : LAYER_EMBEDDING;
        else r->experts = (struct expert_shape){.experts = 6, .top_k = 1, .ffn = 8};
        if (!end) r->more_values = s->heads + 6 * (8 + 8 + s->hidden + 1) + !whole;
    }
    assert_int_equal(model_has_sinks(m), whole);
}

// Every key open, of every framework, for all numbers of layers that stages may not divide.
TEST(frameworks_are_the_planners)
{
    struct problem p;
    struct random rng = {first_seed};
    struct random_limits limits = random_limits_small();
    random_problem(&p, &rng, &limits, arena);
    p.cluster.group_count = 1, p.cluster.groups[0].nodes = 2, p.cluster.groups[0].gpus_per_node = 4;
    p.job.global_batch = 8, p.job.space = (struct space){.given = true};
    p.model.runs[1].kind = LAYER_MOE, p.model.runs[1].experts.experts = 6;
    for (int key = 0; key < SPACE_KEY_COUNT; key++) p.job.space.axes[key].kind = AXIS_ALL;
    struct arena_mark mark = arena_set_mark(arena);
    for (int layers = 3; layers <= 20; layers++)
        for (int f = FRAMEWORK_MEGATRON; framework_names[f]; f++) {
            p.job.precision = layers % 2 ? FP32 : BF16;
            make_gpt_oss(&p.model, layers % 3 == 0);
            p.model.runs[1].window = layers % 5 ? 0 : 4;
            p.job.context_kind = (enum context_kind)(layers % 7 % 3);
            p.job.recompute[RECOMPUTE_FULL] = layers % 2 == 0; // in BF16: experts sent twice
            p.model.layer_count = layers, p.job.space.framework = (enum framework)f;
            p.job.space.uneven_stages = layers / 2 % 2;
            p.job.space.tensor_grids = f == FRAMEWORK_AXONN;
            struct space_limits within = problem_space_limits(&p);
            struct listing theirs = {TAKE(arena, LISTED_MAX, struct layout), LISTED_MAX};
            theirs.count = space_each(&p.job.space, &within, list_layout, &theirs);
            struct comparison c = {&p, &theirs, 0};
            struct check_space space;
            space_read(&space, &p, arena);
            assert_int_equal(check_space_walk(&space, same_layout, &c), theirs.count);
            assert_true(theirs.count > (f == FRAMEWORK_AXONN ? 20 : 100) &&
                        theirs.count < LISTED_MAX);
            arena_reset(arena, mark);
        }
}

// ---- tables, against the planner's priced document as the checker reads it

static void same(const char *what, int64_t a, int64_t b)
{
    seen.terms++;
    if (a != b) fail_msg("%s: %lld and %lld", what, (long long)a, (long long)b);
}

static void same_numbers(const char *what, const int64_t *a, const int64_t *b, int count)
{
    for (int i = 0; i < count; i++) same(what, a[i], b[i]);
}

static void same_runs(const struct check_problem *a, const struct check_problem *b)
{
    int passes = a->slices * a->group_count;
    for (int r = 0; r < a->run_count; r++) {
        const struct check_run *x = &a->runs[r], *y = &b->runs[r];
        assert_string_equal(x->name, y->name);
        assert_true(x->count == y->count && x->recomputable == y->recomputable && x->cut == y->cut);
        same("weight", x->weight_bytes, y->weight_bytes),
            same("gradient", x->gradient_bytes, y->gradient_bytes);
        same_numbers("optimizer", x->optimizer_bytes, y->optimizer_bytes, a->gradient_count);
        same("unsharded", x->unsharded_bytes, y->unsharded_bytes);
        same_numbers("stash", x->stash, y->stash, 3),
            same_numbers("working", x->working, y->working, 3);
        same_numbers("feedback", x->feedback, y->feedback, a->gradient_count);
        for (int g = 0; g < a->group_count; g++) {
            if (a->groups[g].excluded) continue;
            for (int k = g; k < passes; k += a->group_count) {
                same("forward", x->forward[k], y->forward[k]),
                    same("backward", x->backward[k], y->backward[k]);
                for (int mode = 0; mode < MODES; mode++)
                    if (x->again[mode]) same("again", x->again[mode][k], y->again[mode][k]);
            }
            same("weight gradient", x->weight[g], y->weight[g]);
            for (int o = 0; o < a->gradient_count; o++)
                same("sync", x->sync[o][g], y->sync[o][g]),
                    same("optimizer", x->optimizer[o][g], y->optimizer[o][g]);
        }
    }
}

static void same_cuts(const struct check_problem *a, const struct check_problem *b)
{
    int prices = a->slices * a->group_count * a->group_count * PARTS;
    for (int c = 0; c < a->cut_count; c++) {
        const struct check_cut *x = &a->cuts[c], *y = &b->cuts[c];
        same("message", x->message_bytes, y->message_bytes);
        same_numbers("feedback", x->feedback, y->feedback, a->boundary_count);
        same_numbers("send", x->forward, y->forward, prices);
        for (int o = 0; o < a->boundary_count; o++)
            same_numbers("send back", x->backward[o], y->backward[o], prices);
    }
}

static void same_rest(const struct check_problem *a, const struct check_problem *b)
{
    assert_true(a->kind == b->kind && a->barrier == b->barrier && a->overlapped == b->overlapped &&
                a->splits_backward == b->splits_backward);
    assert_true(a->local_every == b->local_every && a->stages == b->stages &&
                a->ranks == b->ranks && a->turns == b->turns && a->slices == b->slices);
    assert_true(a->micro_batches == b->micro_batches && a->layers == b->layers &&
                a->rank_min == b->rank_min && a->rule_count == b->rule_count);
    assert_true(a->group_count == b->group_count && a->run_count == b->run_count &&
                a->cut_count == b->cut_count);
    assert_true(a->boundary_count == b->boundary_count && a->gradient_count == b->gradient_count &&
                !a->embedding == !b->embedding);
    assert_memory_equal(a->modes, b->modes, sizeof a->modes);
    same_numbers("budget", a->budget, b->budget, BUDGETS);
    same("local", a->local_forward, b->local_forward),
        same("local", a->local_backward, b->local_backward),
        same("local", a->local_bytes, b->local_bytes);
    if (a->embedding)
        same_numbers("embedding sync", a->embedding, b->embedding, a->group_count * a->group_count);
    for (int i = 0; i < a->boundary_count; i++)
        assert_true(a->boundary[i].form == b->boundary[i].form &&
                    a->boundary[i].amount == b->boundary[i].amount &&
                    a->boundary[i].cost == b->boundary[i].cost &&
                    a->boundary[i].epilogue_only == b->boundary[i].epilogue_only);
    for (int i = 0; i < a->gradient_count; i++)
        assert_true(a->gradient[i].form == b->gradient[i].form &&
                    a->gradient[i].amount == b->gradient[i].amount &&
                    a->gradient[i].cost == b->gradient[i].cost);
    for (int g = 0; g < a->group_count; g++) {
        const struct check_group *x = &a->groups[g], *y = &b->groups[g];
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->excluded, y->excluded);
        if (x->excluded) continue;
        assert_int_equal(x->slots, y->slots);
        same("limit", x->memory_limit, y->memory_limit),
            same("constant", x->constant_bytes, y->constant_bytes);
        same_numbers("sync constant", x->sync_constant, y->sync_constant, a->gradient_count);
    }
    for (int i = 0; i < a->rule_count; i++) {
        const struct check_rule *x = &a->rules[i], *y = &b->rules[i];
        assert_true(x->forbids == y->forbids && x->stage == y->stage && x->groups == y->groups &&
                    x->holds_first == y->holds_first && x->holds_last == y->holds_last);
        assert_true(x->run == y->run && x->layers_min == y->layers_min &&
                    x->layers_max == y->layers_max && x->modes_stated == y->modes_stated);
        assert_true((!x->modes_stated || x->modes == y->modes) &&
                    x->compresses_gradient == y->compresses_gradient &&
                    x->compresses_boundary == y->compresses_boundary);
    }
}

TEST(tables_are_the_priced_documents)
{
    struct random rng = {first_seed + 70};
    struct random_limits limits = random_limits_small();
    limits.plans_max = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < 10 * problem_count; i++, arena_reset(arena, mark)) {
        struct problem p;
        struct priced priced;
        struct check_problem read, *own;
        struct check_pricer pricer;
        random_problem(&p, &rng, &limits, arena);
        struct check_layout layout = space_layout(&p.job.layout);
        CHECK_OK(price_problem(&priced, &p, arena, &err));
        struct check_text text = check_trial_save(&priced, "priced.json", arena);
        if (check_read_problem(&read, &text, arena, &err) != OK)
            fail_msg("problem %d: %s", i, err.text);
        CHECK_OK(space_pricer_open(&pricer, &p, arena, &err));
        assert_true(pricer.bytes(pricer.context, &layout, &own) && pricer.times(pricer.context));
        same_rest(own, &read);
        same_runs(own, &read);
        same_cuts(own, &read);
        seen.tables++;
    }
    print_message("%lld tables, %lld numbers\n", (long long)seen.tables, (long long)seen.terms);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
