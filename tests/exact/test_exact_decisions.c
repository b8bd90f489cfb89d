// One decision, or one kind of model, at a time: random small problems that have a plan, where it
// is offered, against the enumeration of all plans, with the judge and a certificate, as in
// test_exact.c.
//
//   test_exact_decisions [PROBLEMS] [DECISION] [SEED]
//     PROBLEMS of each decision, or of the one named; make test runs 12, make test-exact 500
#include "data/kinds/schedules.h"
#include "formulate/price/price.h"
#include "tests/support/check.h"
#include "tests/support/draws/layouts.h"
#include "tests/support/draws/models.h"
#include "tests/support/draws/tiers.h"
#include "tests/support/draws/towers.h"
#include "tests/support/trials/exact_trials.h"
#include "tests/support/textbook/textbook.h"

enum { PLANS_MAX = 20000, DEFAULT_PROBLEMS = 12 };

static int problem_count = DEFAULT_PROBLEMS;
static uint64_t first_seed = 1;
static const char *only; // NULL: all decisions

static struct {
    int feasible, taken;
    int64_t draws, plans, prices, textbook;
} seen;

// ---- models

static bool has_run(const struct exact_trial *t, bool (*is)(const struct layer_run *))
{
    for (int i = 0; i < t->problem.model.run_count; i++)
        if (is(&t->problem.model.runs[i])) return true;
    return false;
}
static bool is_pool(const struct layer_run *r) { return r->kind == LAYER_MEMORY && r->pool.shared; }
static bool is_shared(const struct layer_run *r) { return r->shared_weights; }
static bool is_quantised(const struct layer_run *r) { return r->weight_bits > 0; }

static bool offers_pools(const struct exact_trial *t) { return has_run(t, is_pool); }
static bool offers_weights(const struct exact_trial *t) { return has_run(t, is_shared); }
static bool offers_weight_bits(const struct exact_trial *t) { return has_run(t, is_quantised); }

static bool draw_pools(struct problem *p, struct random *rng, struct arena *arena)
{
    return random_pools(p, rng->state, arena);
}
static bool offers_pool_groups(const struct exact_trial *t)
{
    const struct layout *l = &t->problem.job.layout;
    return l->pool && l->pool < layout_pool_devices(l, model_pool_span(&t->problem.model));
}
static bool draw_pool_groups(struct problem *p, struct random *rng, struct arena *arena)
{
    return random_pool_groups(p, rng->state, arena);
}
static bool draw_weights(struct problem *p, struct random *rng, struct arena *arena)
{
    for (int i = 0; i < p->job.rule_count; i++)
        if (p->job.rules[i].group_count) return false;
    return random_chance(rng, 30) ? random_pools(p, rng->state, arena) : share_weights(p);
}
static bool draw_weight_bits(struct problem *p, struct random *rng, struct arena *arena)
{
    return random_frozen(p, rng->state, arena);
}
static bool draw_tower(struct problem *p, struct random *rng, struct arena *arena)
{
    return random_small_tower(p, rng->state, arena);
}

static bool draw_further(struct problem *p, struct random *rng, struct arena *arena)
{
    return predict_further(p, rng->state, arena);
}
static bool offers_further(const struct exact_trial *t)
{
    return model_mtp_depth(&t->problem.model) > 0;
}

// ---- compressions, shares, swaps

static bool is_form(const struct compression_option *o, enum compression_method method)
{
    return o->form.amount > 0 && o->form.method == method;
}

static bool offers_form(const struct priced *p, enum compression_method method)
{
    bool some = false;
    for (int i = 1; i < p->boundary_option_count; i++)
        some = some || is_form(&p->boundary_options[i], method);
    for (int i = 1; i < p->gradient_option_count; i++)
        some = some || is_form(&p->gradient_options[i], method);
    return some;
}

static bool takes_form(const struct priced *p, const struct plan_stage *s,
                       enum compression_method method)
{
    return is_form(&p->boundary_options[s->boundary_option], method) ||
           is_form(&p->gradient_options[s->gradient_option], method);
}

// All that is compressed, in this form; half of the time over slow links and at little expense, so
// that it is worth it. Options in equal forms are refused.
static bool draw_form(struct problem *p, struct random *rng, enum compression_method method)
{
    static const int kept[] = {5, 40}, bits[] = {1, 4};
    struct job *j = &p->job;
    bool cheap = random_chance(rng, 60);
    if (random_chance(rng, 30)) random_layout(p, rng);
    for (int i = 0; i < j->boundary_option_count; i++)
        j->boundary_options[i].form =
            (struct compression_form){method, method == COMPRESS_TOP_K ? kept[i] : bits[i]};
    for (int i = 0; i < j->gradient_option_count; i++)
        j->gradient_options[i].form =
            (struct compression_form){method, method == COMPRESS_TOP_K ? kept[i] : bits[i]};
    for (int g = 0; g < p->costs.gpu_count; g++) {
        struct gpu_costs *gpu = &p->costs.gpus[g];
        struct estimate rate = exactly((double)random_between(rng, 1, 90) * (cheap ? 1e12 : 1e9));
        gpu->top_k_values_per_s = gpu->top_k_back_values_per_s = rate;
        gpu->quantise_values_per_s = gpu->quantise_back_values_per_s = rate;
        if (cheap) gpu->compression_overhead_s = exactly(0);
    }
    for (int g = 0; g < p->cluster.group_count && cheap; g++)
        for (int k = 0; k < p->cluster.groups[g].nic_count; k++)
            p->cluster.groups[g].nics[k].link.bytes_per_s /= 50;
    return true;
}
static bool draw_kept(struct problem *p, struct random *rng, struct arena *arena)
{
    (void)arena;
    return draw_form(p, rng, COMPRESS_TOP_K);
}
static bool draw_bits(struct problem *p, struct random *rng, struct arena *arena)
{
    (void)arena;
    return draw_form(p, rng, COMPRESS_QUANTISE);
}

static bool offers_rank(const struct exact_trial *t)
{
    return offers_form(&t->priced, COMPRESS_LOW_RANK);
}
static bool takes_rank(const struct priced *p, const struct plan_stage *s)
{
    return takes_form(p, s, COMPRESS_LOW_RANK);
}
static bool offers_kept(const struct exact_trial *t)
{
    return offers_form(&t->priced, COMPRESS_TOP_K);
}
static bool takes_kept(const struct priced *p, const struct plan_stage *s)
{
    return takes_form(p, s, COMPRESS_TOP_K);
}
static bool offers_bits(const struct exact_trial *t)
{
    return offers_form(&t->priced, COMPRESS_QUANTISE);
}
static bool takes_bits(const struct priced *p, const struct plan_stage *s)
{
    return takes_form(p, s, COMPRESS_QUANTISE);
}
static bool offers_offload(const struct exact_trial *t)
{
    bool some = false;
    for (int o = 0; o < t->priced.gradient_option_count; o++)
        some = some || t->priced.gradient_options[o].tier_option;
    return some;
}
static bool takes_offload(const struct priced *p, const struct plan_stage *s)
{
    return p->gradient_options[s->gradient_option].tier_option != NULL;
}
static bool offers_swap(const struct exact_trial *t) { return t->priced.recompute[RECOMPUTE_SWAP]; }
static bool takes_swap(const struct priced *p, const struct plan_stage *s)
{
    (void)p;
    return s->recompute == RECOMPUTE_SWAP;
}

// Frozen blocks now and then, where the model can have them.
static bool draw_tiers(struct problem *p, struct random *rng, struct arena *arena)
{
    if (random_chance(rng, 60)) random_frozen(p, rng->state, arena);
    return random_tiers(p, rng->state, arena);
}
static bool offers_tiers(const struct exact_trial *t) { return t->problem.job.tier_option_count; }
static bool draw_energy(struct problem *p, struct random *rng, struct arena *arena)
{
    return draw_tiers(p, rng, arena) && random_energy(p, rng->state, arena);
}
static bool offers_energy(const struct exact_trial *t)
{
    return t->priced.budget.energy_max_uj && t->problem.job.tier_option_count;
}
// Nothing but activations can go anywhere, to a host that takes nothing itself.
static bool draw_swap_energy(struct problem *p, struct random *rng, struct arena *arena)
{
    p->job.tier_option_count = 0;
    return p->job.recompute[RECOMPUTE_SWAP] && random_energy(p, rng->state, arena);
}
static bool offers_swap_energy(const struct exact_trial *t)
{
    return t->priced.budget.energy_max_uj && offers_swap(t);
}

// Within the least time, or up to twice that; or a little less, so that there is no plan.
static bool draw_least_energy(struct problem *p, struct random *rng, struct arena *arena)
{
    static const volatile int never = 0;
    struct priced priced;
    struct solve_result r;
    struct solve_settings settings;
    struct error err = {OK, ""};
    solve_defaults(&settings);
    settings.progress = 0, settings.gap = 0.1;
    if (!draw_energy(p, rng, arena)) return false;
    struct random own = {rng->state + 17};
    if (random_chance(&own, 60)) p->job.budget.energy_max_uj = 0;
    CHECK_OK(price_problem(&priced, p, arena, &err));
    CHECK_OK(solve_run(&r, &priced, &settings, NULL, &never, arena, &err));
    if (r.plan.iteration_ns < 2) return false;
    p->job.objective = OBJECTIVE_ENERGY;
    p->job.iteration_limit_s = (double)(r.plan.iteration_ns - 1 +
                                        r.plan.iteration_ns * random_between(&own, -15, 100) / 100 +
                                        random_between(&own, 0, 1)) /
                               1e9;
    return true;
}
static bool offers_least_energy(const struct exact_trial *t)
{
    return t->priced.objective == OBJECTIVE_ENERGY && t->problem.job.tier_option_count;
}
static bool offers_host(const struct exact_trial *t)
{
    return t->priced.tier_count && t->priced.recompute[RECOMPUTE_SWAP];
}
static bool offers_activations(const struct exact_trial *t)
{
    bool some = false;
    for (int o = 0; o < t->priced.gradient_option_count; o++)
        some = some || t->priced.gradient_options[o].activations;
    return some && t->priced.recompute[RECOMPUTE_SWAP];
}
static bool offers_across(const struct exact_trial *t) { return priced_swaps_across(&t->priced); }
static bool takes_across(const struct priced *p, const struct plan_stage *s)
{
    return s->recompute == RECOMPUTE_SWAP && p->gradient_options[s->gradient_option].across_passes;
}
static bool takes_activations(const struct priced *p, const struct plan_stage *s)
{
    return s->recompute == RECOMPUTE_SWAP && p->gradient_options[s->gradient_option].activations;
}
static bool takes_tiers(const struct priced *p, const struct plan_stage *s)
{
    return p->gradient_options[s->gradient_option].tier_option != NULL;
}

// ---- layouts

static bool offers_slices(const struct exact_trial *t) { return t->priced.slice_count > 1; }
static bool draw_layout(struct problem *p, struct random *rng, struct arena *arena)
{
    (void)arena;
    random_layout(p, rng);
    return true;
}
static bool offers_breadth_first(const struct exact_trial *t)
{
    return t->priced.layout.schedule == SCHEDULE_LOOPED_BFS;
}
// Weights gathered and gradients scattered once a stage.
static bool offers_layered(const struct exact_trial *t)
{
    return offers_breadth_first(t) && t->priced.layout.zero > 1 && t->priced.layout.data > 1;
}
static bool draw_breadth_first(struct problem *p, struct random *rng, struct arena *arena)
{
    (void)arena;
    return random_breadth_first(p, rng);
}
static bool offers_grid(const struct exact_trial *t) { return layout_has_grid(&t->priced.layout); }
static bool offers_tower(const struct exact_trial *t)
{
    return t->problem.model.runs[0].tokens > 0;
}

// ---- decisions

static const struct one_decision {
    const char *name;
    int flavour;
    // Adds it to a random problem, besides what occurs by itself; NULL: nothing. false: the problem
    // cannot have it.
    bool (*draw)(struct problem *p, struct random *rng, struct arena *arena);
    bool (*offers)(const struct exact_trial *t);
    bool (*takes)(const struct priced *p, const struct plan_stage *s); // NULL: it is no stage's own
} decisions[] = {
    {"pools", FLAVOUR_SHAPE, draw_pools, offers_pools, NULL},
    {"pool-groups", FLAVOUR_SHAPE, draw_pool_groups, offers_pool_groups, NULL},
    {"weights", FLAVOUR_SHAPE, draw_weights, offers_weights, NULL},
    {"weight-bits", FLAVOUR_SHAPE, draw_weight_bits, offers_weight_bits, NULL},
    {"towers", FLAVOUR_SHAPE, draw_tower, offers_tower, NULL},
    {"further-tokens", FLAVOUR_SHAPE, draw_further, offers_further, NULL},
    {"rank", FLAVOUR_ANY, NULL, offers_rank, takes_rank},
    {"kept", FLAVOUR_ANY, draw_kept, offers_kept, takes_kept},
    {"bits", FLAVOUR_ANY, draw_bits, offers_bits, takes_bits},
    {"offload", FLAVOUR_ANY, NULL, offers_offload, takes_offload},
    {"swap", FLAVOUR_ANY, NULL, offers_swap, takes_swap},
    {"tiers", FLAVOUR_ANY, draw_tiers, offers_tiers, takes_tiers},
    {"tiers-shape", FLAVOUR_SHAPE, draw_tiers, offers_tiers, takes_tiers},
    {"host", FLAVOUR_ANY, draw_tiers, offers_host, takes_swap},
    {"activations", FLAVOUR_ANY, draw_tiers, offers_activations, takes_activations},
    {"across", FLAVOUR_ANY, draw_tiers, offers_across, takes_across},
    {"energy", FLAVOUR_ANY, draw_energy, offers_energy, takes_tiers},
    {"energy-shape", FLAVOUR_SHAPE, draw_energy, offers_energy, takes_tiers},
    {"swap-energy", FLAVOUR_ANY, draw_swap_energy, offers_swap_energy, takes_swap},
    {"least-energy", FLAVOUR_ANY, draw_least_energy, offers_least_energy, takes_tiers},
    {"least-energy-shape", FLAVOUR_SHAPE, draw_least_energy, offers_least_energy, takes_tiers},
    {"slices", FLAVOUR_SHAPE, draw_layout, offers_slices, NULL},
    {"looped-bfs", FLAVOUR_ANY, draw_breadth_first, offers_breadth_first, NULL},
    {"layered", FLAVOUR_ANY, draw_breadth_first, offers_layered, NULL},
    {"grids", FLAVOUR_SHAPE, NULL, offers_grid, NULL},
};

// Different problems for each decision, whatever is next to it in the table.
static struct random random_of(const struct one_decision *d, uint64_t seed)
{
    struct random rng = {seed};
    for (const char *c = d->name; *c; c++) rng.state = (rng.state ^ (uint64_t)*c) * 0x100000001b3u;
    return rng;
}

// Draws until it is offered, there are few enough plans, and there is one.
static void draw(struct exact_trial *t, const struct one_decision *d, uint64_t seed,
                 struct arena *arena)
{
    struct random rng = random_of(d, seed);
    struct random_limits limits = random_limits_small();
    struct error err = {OK, ""};
    limits.flavour = d->flavour;
    limits.grids = d->offers == offers_grid;
    limits.plans_max = PLANS_MAX;
    struct arena_mark mark = arena_set_mark(arena);
    for (;; arena_reset(arena, mark)) {
        seen.draws++;
        random_problem(&t->problem, &rng, &limits, arena);
        if (!d->draw && !limits.grids && random_chance(&rng, 30)) random_layout(&t->problem, &rng);
        if ((!d->draw || d->draw(&t->problem, &rng, arena)) &&
            problem_check(&t->problem, &err) == OK) {
            struct problem *p = &t->problem;
            CHECK_OK(price_problem(&t->priced, p, arena, &err));
            if (d->offers(t) && exact_trial_enumerate(t, PLANS_MAX, arena) &&
                (t->oracle.plans || t->priced.objective == OBJECTIVE_ENERGY))
                return;
        }
        err = (struct error){OK, ""};
    }
}

static void check_one(const struct one_decision *d, uint64_t seed)
{
    struct exact_trial t;
    bool taken = !d->takes;
    struct arena_mark mark = arena_set_mark(&own_arena);
    draw(&t, d, seed, &own_arena);
    exact_trial_check(&t, seed, &own_arena);
    seen.prices += exact_trial_prices(&t, seed, &own_arena);
    // A swap's times are no sums over layers, which the textbook's rows need.
    if (t.priced.objective == OBJECTIVE_ITERATION_TIME && textbook_covers(&t.priced))
        exact_trial_textbook(&t, seed, &own_arena), seen.textbook++;
    for (int s = 0; s < t.priced.stage_count && !taken && t.oracle.plans; s++)
        taken = d->takes(&t.priced, &t.oracle.best[s]);
    seen.feasible += t.oracle.plans > 0, seen.taken += taken, seen.plans += t.oracle.plans;
    arena_reset(&own_arena, mark);
}

TEST(each_decision_is_exact)
{
    int known = 0;
    for (size_t k = 0; k < ARRAY_LENGTH(decisions); k++) {
        const struct one_decision *d = &decisions[k];
        if (only && strcmp(only, d->name)) continue;
        known++;
        memset(&seen, 0, sizeof seen);
        for (int i = 0; i < problem_count; i++) check_one(d, first_seed + (uint64_t)i);
        printf("%s: %d problems with a plan where it is offered, of %lld drawn; %lld plans; in the "
               "first best plan in %d; %lld prices of planner, judge and checker; %lld by the "
               "textbook\n",
               d->name, seen.feasible, (long long)seen.draws, (long long)seen.plans, seen.taken,
               (long long)seen.prices, (long long)seen.textbook);
        bool any = d->draw == draw_least_energy; // those without a plan, too
        assert_true(seen.feasible <= problem_count &&
                    seen.feasible >= (any ? problem_count / 4 : problem_count));
        // the least energy of a tight limit is often one plan without tiers, or without a swap
        bool rare = any || d->draw == draw_swap_energy;
        assert_true(seen.taken > problem_count / 20 || (rare && problem_count < 50));
    }
    if (!known) fail_msg("no decision is called \"%s\"", only);
}

// Of these the certificates were once refused: of two stages a rank the checker states no starts,
// and a split must state where the last stage starts.
TEST(starts_that_are_known)
{
    static const struct {
        const char *decision;
        uint64_t seed;
    } problems[] = {{"looped-bfs", 37}, {"looped-bfs", 164}, {"layered", 122}, {"layered", 447}};
    for (size_t i = 0; i < ARRAY_LENGTH(problems); i++)
        for (size_t k = 0; k < ARRAY_LENGTH(decisions); k++)
            if (!strcmp(problems[i].decision, decisions[k].name))
                check_one(&decisions[k], problems[i].seed);
}

ARGUMENT(problem_count)
ARGUMENT(only)
ARGUMENT(first_seed)
