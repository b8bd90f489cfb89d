// Tiers besides the GPU's own memory: the old forms are cases of tier options, with the same
// prices; laws of their prices; plans and proofs that overfill a tier, or read it faster than it
// is, are refused. That the best plans are exact: test_exact_decisions.
//
//   test_tiers [PROBLEMS] [SEED]     make test runs 120, make test-exact 1000
#include "data/inputs/job_fields.h"
#include "formulate/price/price.h"
#include "solve/checker/prices/open.h"
#include "solve/judge/verify.h"
#include "tests/support/check.h"
#include "tests/support/draws/models.h"
#include "tests/support/draws/tiers.h"
#include "tests/support/trials/check_trials.h"
#include "tests/support/trials/exact_trials.h"
#include "tests/support/trials/space_trials.h"

enum { PLANS_MAX = 4000 };
static int problem_count = 120;
static uint64_t first_seed;

// ---- shares as tier options

static void same_numbers(const int64_t *a, const int64_t *b, int count, const char *what)
{
    for (int i = 0; i < count; i++)
        if (a[i] != b[i])
            fail_msg("%s: %lld as shares, %lld as tier options", what, (long long)a[i],
                     (long long)b[i]);
}

// Also the passes and bytes that tier options could have changed.
static void same_prices(const struct priced *a, const struct priced *b)
{
    assert_int_equal(a->gradient_option_count, b->gradient_option_count);
    for (int r = 0; r < a->run_count; r++) {
        const struct priced_run *x = &a->runs[r], *y = &b->runs[r];
        for (int o = 0; o < a->gradient_option_count; o++) {
            const struct priced_tiered *s = &x->tiered[o], *t = &y->tiered[o];
            int passes = a->group_count * a->slice_count;
            same_numbers(&s->optimizer_bytes, &t->optimizer_bytes, 1, "state");
            same_numbers(s->optimizer_ns, t->optimizer_ns, a->group_count, "step");
            same_numbers(x->sync_ns[o], y->sync_ns[o], a->group_count, "sync");
            same_numbers(&x->weight_bytes, &t->weight_bytes, 1, "weights");
            same_numbers(x->forward_ns, priced_forward_ns(y, o), passes, "forward");
            same_numbers(x->backward_ns, priced_backward_ns(y, o), passes, "backward");
            assert_int_equal(t->buffer_bytes, 0);
        }
    }
    for (int g = 0; g < a->group_count; g++)
        assert_int_equal(!a->groups[g].excluded, !b->groups[g].excluded);
}

// The job's options as reading makes them of a document with the old key.
static void read_as_shares(struct job *j, struct arena *arena)
{
    struct error err = {OK, ""};
    struct json_writer w;
    struct json root;
    struct job old = *j, read = {0};
    size_t length;
    int *percents = TAKE(arena, j->tier_option_count, int);
    for (int i = 0; i < j->tier_option_count; i++)
        percents[i] = j->tier_options[i].parts[TIER_OPTIMIZER].percent;
    old.tier_option_count = 0;
    json_begin(&w, arena);
    json_open_object(&w, NULL);
    members_put(&w, &job_members, &old, NULL);
    json_put_ints(&w, "offload_percents", percents, j->tier_option_count);
    json_close_object(&w);
    const char *text = json_end(&w, &length);
    CHECK_OK(json_parse(&root, "job", text, length, arena, &err));
    CHECK_OK(members_read(&root, &job_members, &read, NULL, arena, &err));
    assert_int_equal(read.tier_option_count, j->tier_option_count);
    j->tier_options = read.tier_options;
}

TEST(shares_of_the_state_are_tier_options)
{
    struct random rng = {7 + first_seed};
    struct random_limits limits = random_limits_small();
    struct arena_mark mark = arena_set_mark(arena);
    for (int found = 0; found < problem_count; arena_reset(arena, mark)) {
        struct problem p;
        struct priced shares, options;
        random_problem(&p, &rng, &limits, arena);
        struct job *j = &p.job;
        if (!j->tier_option_count) continue;
        read_as_shares(j, arena);
        CHECK_OK(price_problem(&shares, &p, arena, &err));
        for (int i = 0; i < j->tier_option_count; i++)
            j->tier_options[i] = (struct tier_option){
                .name = arena_print(arena, "share %d", i),
                .parts[TIER_OPTIMIZER] = {TIER_HOST,
                                          j->tier_options[i].parts[TIER_OPTIMIZER].percent}};
        CHECK_OK(price_problem(&options, &p, arena, &err));
        same_prices(&shares, &options);
        found++;
    }
}

// Named nodes take the optimizer in tiers, in either form, and nothing else.
TEST(named_nodes_take_states_alone)
{
    struct random rng = {41 + first_seed};
    struct random_limits limits = random_limits_small();
    struct arena_mark mark = arena_set_mark(arena);
    for (int found = 0; found < problem_count; arena_reset(arena, mark)) {
        struct problem p;
        random_problem(&p, &rng, &limits, arena);
        struct job *j = &p.job;
        int nodes = 0, groups = p.cluster.group_count;
        for (int g = 0; g < groups; g++) nodes += p.cluster.groups[g].nodes;
        p.cluster.places.nodes = TAKE(arena, nodes, struct cluster_node);
        for (int g = 0; g < groups; g++)
            for (int i = 0; i < p.cluster.groups[g].nodes; i++)
                p.cluster.places.nodes[p.cluster.places.node_count++] =
                    (struct cluster_node){arena_print(arena, "n%d-%d", g, i), g, NULL};
        if (!j->tier_option_count || problem_check(&p, &err) != OK ||
            problem_check_places(&p, &err) != OK) {
            err = (struct error){OK, ""};
            continue;
        }
        found++;
        j->tier_options[0].name = "by another name";
        CHECK_OK(problem_check_places(&p, &err));
        j->tier_options[0].parts[TIER_FROZEN] = (struct tier_share){TIER_HOST, 50};
        assert_int_equal(problem_check_places(&p, &err), BAD_INPUT);
        err = (struct error){OK, ""};
    }
}

// As priced documents and plans said it before.
TEST(older_options_state_their_share)
{
    static const char text[] = "{\"rank\": 0, \"offloaded_percent\": 25}";
    struct json root;
    struct compression_option read = {.tier_option = NULL};
    CHECK_OK(json_parse(&root, "options", text, strlen(text), arena, &err));
    CHECK_OK(members_read(&root, &gradient_option_members, &read, NULL, arena, &err));
    assert_string_equal(read.tier_option, "optimizer 25 %");
    assert_int_equal(members_read(&root, &gradient_offer_members, &read, NULL, arena, &err),
                     BAD_INPUT); // a job offers it by tier_options
}

// A layout whose optimizer is on the host has the bytes and steps of the option that has all of it
// there, in turn.
TEST(an_offloaded_optimizer_is_a_tier_option)
{
    struct random rng = {37 + first_seed};
    struct random_limits limits = random_limits_small();
    struct arena_mark mark = arena_set_mark(arena);
    int shorter = 0;
    for (int found = 0; found < problem_count; arena_reset(arena, mark)) {
        struct problem p;
        struct priced layout, option;
        limits.flavour = (int)random_between(&rng, 0, FLAVOUR_COUNT - 1);
        random_problem(&p, &rng, &limits, arena);
        if (!random_tiers(&p, rng.state, arena)) continue;
        struct job *j = &p.job;
        struct tier_option in_turn = {.name = "in turn",
                                      .parts[TIER_OPTIMIZER] = {TIER_HOST, 100, true}};
        j->gradient_option_count = 0;
        j->tier_options = &in_turn, j->tier_option_count = 1;
        j->layout.offload_optimizer = false;
        if (problem_check(&p, &err) != OK) {
            err = (struct error){OK, ""};
            continue;
        }
        CHECK_OK(price_problem(&option, &p, arena, &err));
        j->tier_option_count = 0, j->layout.offload_optimizer = true;
        CHECK_OK(price_problem(&layout, &p, arena, &err));
        for (int r = 0; r < layout.run_count; r++) {
            const struct priced_run *x = &layout.runs[r], *y = &option.runs[r];
            same_numbers(&x->optimizer_bytes, &y->tiered[1].optimizer_bytes, 1, "state");
            same_numbers(x->tiered[0].tier_bytes, y->tiered[1].tier_bytes, layout.tier_count,
                         "tiers");
            for (int g = 0; g < layout.group_count; g++) {
                if (layout.groups[g].excluded) continue;
                same_numbers(&x->optimizer_ns[g], &y->tiered[1].optimizer_ns[g], 1, "step");
                shorter += x->optimizer_ns[g] != y->optimizer_ns[g];
            }
        }
        found++;
    }
    assert_true(shorter > problem_count / 2);
}

// ---- swaps as tier options

// Everything on the GPU, and each option with the activations on the host: what the old form has.
static void state_swaps(struct job *j, struct arena *arena)
{
    int ways = job_tier_ways(j);
    struct tier_option *options = TAKE(arena, ways, struct tier_option);
    for (int way = 0; way < ways; way++) {
        options[way] = job_tiering(j, way);
        options[way].name = arena_print(arena, "way %d", way);
    }
    j->tier_options = options, j->tier_option_count = ways;
    j->recompute[RECOMPUTE_SWAP] = false;
}

// The same best time, and the same times and bytes of swaps.
TEST(swaps_are_tier_options)
{
    struct random rng = {29 + first_seed};
    struct arena_mark mark = arena_set_mark(arena);
    int found = 0, taken = 0;
    for (int i = 0; found < problem_count; i++, arena_reset(arena, mark)) {
        struct exact_trial t;
        struct random_limits limits = random_limits_small();
        limits.plans_max = 20000;
        random_problem(&t.problem, &rng, &limits, arena);
        if (random_chance(&rng, 50)) random_tiers(&t.problem, rng.state, arena);
        struct job *j = &t.problem.job;
        bool own = false;
        for (int o = 0; o < j->tier_option_count; o++)
            own = own || j->tier_options[o].parts[TIER_ACTIVATIONS].tier;
        if (own || !j->recompute[RECOMPUTE_SWAP] || problem_check(&t.problem, &err) != OK ||
            !exact_trial_enumerate(&t, PLANS_MAX, arena) || !t.priced.recompute[RECOMPUTE_SWAP])
            continue;
        struct priced options;
        struct oracle again;
        struct schedule schedule;
        state_swaps(j, arena);
        CHECK_OK(problem_check(&t.problem, &err));
        CHECK_OK(price_problem(&options, &t.problem, arena, &err));
        for (int r = 0; r < t.priced.run_count; r++)
            for (int o = 0; o < options.gradient_option_count; o++) {
                const struct priced_run *x = &t.priced.runs[r], *y = &options.runs[r];
                if (!options.gradient_options[o].activations) continue;
                const int64_t *old = x->tiered[0].away_ns;
                same_numbers(old, y->tiered[o].away_ns, options.group_count, "there");
                same_numbers(old, y->tiered[o].back_ns, options.group_count, "back");
                same_numbers(x->stash_bytes, y->stash_bytes, 3, "stash");
            }
        struct schedule_request request = schedule_request_of(&options);
        CHECK_OK(schedule_build(&schedule, &request, arena, &err));
        if (oracle_size(&options, 16 * PLANS_MAX, arena) > 16 * PLANS_MAX) continue;
        CHECK_OK(oracle_answer(&again, &options, &schedule, arena, &err));
        assert_int_equal(again.plans > 0, t.oracle.plans > 0);
        if (again.plans && again.best_ns != t.oracle.best_ns)
            fail_msg("problem %d: %lld ns as swaps, %lld as tier options", i,
                     (long long)t.oracle.best_ns, (long long)again.best_ns);
        for (int s = 0; again.plans && s < options.stage_count; s++)
            taken += again.best[s].recompute == RECOMPUTE_SWAP;
        found++;
    }
    print_message("%d problems, activations in a tier in %d stages of the best\n", found, taken);
    assert_true(taken > 0);
}

static const struct tier_option *option_named(const struct job *j, const char *name)
{
    for (int i = 0; name && i < j->tier_option_count; i++)
        if (!strcmp(j->tier_options[i].name, name)) return &j->tier_options[i];
    return NULL;
}

// ---- laws

static bool draw(struct problem *p, struct random *rng, struct arena *arena)
{
    struct random_limits limits = random_limits_small();
    limits.flavour = (int)random_between(rng, 0, FLAVOUR_COUNT - 1);
    limits.plans_max = 20000;
    random_problem(p, rng, &limits, arena);
    if (random_chance(rng, 50)) random_frozen(p, rng->state, arena);
    return random_tiers(p, rng->state, arena) && p->job.tier_option_count;
}

static void for_each_tier(struct problem *p, void (*change)(struct tier *t))
{
    for (int g = 0; g < p->cluster.group_count; g++)
        for (int i = 0; i < p->cluster.groups[g].tier_count; i++)
            if (strcmp(p->cluster.groups[g].tiers[i].name, TIER_HOST))
                change(&p->cluster.groups[g].tiers[i]);
}

static void make_faster(struct tier *t) { t->read_bytes_per_s *= 3; }
static void share_twice(struct tier *t)
{
    t->gpus *= 2, t->bytes *= 2, t->read_bytes_per_s *= 2, t->write_bytes_per_s *= 2;
}
static void make_free(struct tier *t) { t->read_bytes_per_s = t->write_bytes_per_s = 1e18; }

static bool is_free(const struct problem *p, const struct tier_option *t)
{
    (void)p;
    for (int part = 0; part < TIER_ACTIVATIONS; part++)
        if (t->parts[part].tier && !strcmp(t->parts[part].tier, TIER_HOST)) return false;
    return true;
}

static void set_energies(struct problem *p, double by, double to)
{
    for (int g = 0; g < p->cluster.group_count; g++) {
        struct node_group *group = &p->cluster.groups[g];
        double *numbers[] = {&group->memory_read_pj_per_byte, &group->memory_write_pj_per_byte};
        for (int i = 0; i < 2; i++) *numbers[i] = *numbers[i] * by + to;
        for (int i = 0; i < group->tier_count; i++) {
            struct tier *t = &group->tiers[i];
            t->read_pj_per_byte = t->read_pj_per_byte * by + to;
            t->write_pj_per_byte = t->write_pj_per_byte * by + to;
        }
    }
}

// Whether the option's weights are all in a tier that is read in place, and nothing else is moved.
static bool is_in_place(const struct problem *p, const struct tier_option *t)
{
    bool all = !t->parts[TIER_OPTIMIZER].tier && !p->job.layout.offload_optimizer;
    for (int part = TIER_FROZEN; part <= TIER_TRAINED; part++)
        all = all && (!t->parts[part].tier || !strcmp(t->parts[part].tier, "dense"));
    return all;
}

// Memories that take twice as much take twice as much of an iteration; where all take the same,
// weights that are read in place take as much wherever they are, and copies take more.
TEST(energy_obeys_its_laws)
{
    struct random rng = {17 + first_seed};
    struct arena_mark mark = arena_set_mark(arena);
    int in_place = 0, copied = 0;
    for (int found = 0; found < problem_count; arena_reset(arena, mark)) {
        struct problem p;
        struct priced was, twice, alike;
        if (!draw(&p, &rng, arena) || !random_energy(&p, rng.state, arena)) continue;
        found++;
        CHECK_OK(price_problem(&was, &p, arena, &err));
        set_energies(&p, 2, 0);
        CHECK_OK(price_problem(&twice, &p, arena, &err));
        set_energies(&p, 0, 1e5);
        CHECK_OK(price_problem(&alike, &p, arena, &err));
        for (int r = 0; r < was.run_count; r++)
            for (int k = 0; k < was.gradient_option_count * was.group_count; k++) {
                int o = k / was.group_count, g = k % was.group_count;
                if (was.groups[g].excluded) continue;
                const struct priced_tiered *a = &was.runs[r].tiered[o],
                                           *b = &twice.runs[r].tiered[o],
                                           *c = &alike.runs[r].tiered[o],
                                           *all = &alike.runs[r].tiered[0];
                assert_true(llabs((long long)(b->energy_uj[g] - 2 * a->energy_uj[g])) <= 1);
                assert_true(llabs((long long)(b->again_uj[g] - 2 * a->again_uj[g])) <= 1);
                assert_true(llabs((long long)(b->swap_uj[g] - 2 * a->swap_uj[g])) <= 1);
                const struct tier_option *t =
                    option_named(&p.job, was.gradient_options[o].tier_option);
                if (!t) continue;
                assert_true(c->again_uj[g] >= all->again_uj[g]);
                copied += c->again_uj[g] > all->again_uj[g];
                if (!is_in_place(&p, t)) continue;
                assert_true(llabs((long long)(c->energy_uj[g] - all->energy_uj[g])) <= 1);
                in_place++;
            }
    }
    assert_true(in_place > 0 && copied > 0);
}

// The sum of what stays and what is in tiers is all of it, faster tiers read no slower, twice the
// GPUs at twice the tier change nothing, and tiers that take no time cost none.
TEST(tiers_obey_their_laws)
{
    struct random rng = {11 + first_seed};
    struct arena_mark mark = arena_set_mark(arena);
    int seen = 0;
    for (int found = 0; found < problem_count; arena_reset(arena, mark)) {
        struct problem p;
        struct priced was, now;
        if (!draw(&p, &rng, arena)) continue;
        found++;
        CHECK_OK(price_problem(&was, &p, arena, &err));
        for_each_tier(&p, share_twice);
        CHECK_OK(price_problem(&now, &p, arena, &err));
        for (int step = 0; step < 3; step++) {
            for (int r = 0; r < was.run_count; r++)
                for (int o = 0; o < was.gradient_option_count; o++) {
                    const struct priced_tiered *a = &was.runs[r].tiered[o],
                                               *b = &now.runs[r].tiered[o];
                    const int64_t *before = priced_forward_ns(&was.runs[r], o),
                                  *behind = priced_forward_ns(&now.runs[r], o);
                    int64_t there = a->weight_bytes;
                    for (int i = 0; i < was.tier_count; i++) there += a->tier_bytes[i];
                    assert_true(llabs((long long)(a->weight_bytes - b->weight_bytes)) == 0);
                    const struct tier_option *t =
                        option_named(&p.job, was.gradient_options[o].tier_option);
                    if (!(t && t->parts[TIER_OPTIMIZER].percent) && !p.job.layout.offload_optimizer)
                        assert_true(llabs((long long)(there - was.runs[r].weight_bytes)) <= 2);
                    for (int g = 0; g < was.group_count; g++) {
                        if (was.groups[g].excluded) continue;
                        if (step == 0) assert_int_equal(behind[g], before[g]);
                        assert_true(behind[g] <= before[g]);
                        assert_true(priced_backward_ns(&now.runs[r], o)[g] <=
                                    priced_backward_ns(&was.runs[r], o)[g]);
                        if (step == 2 && (!t || is_free(&p, t)))
                            assert_int_equal(behind[g], was.runs[r].forward_ns[g]);
                        seen += behind[g] < before[g];
                    }
                }
            for_each_tier(&p, step ? make_free : make_faster);
            CHECK_OK(price_problem(&now, &p, arena, &err));
        }
    }
    assert_true(seen > problem_count / 4);
}

// ---- forgeries

static bool solve(struct exact_trial *t, struct random *rng, struct arena *arena)
{
    return draw(&t->problem, rng, arena) && exact_trial_enumerate(t, PLANS_MAX, arena) &&
           t->oracle.plans;
}

static bool rejects(const struct plan *plan, const struct problem *p, const char *rule,
                    struct arena *arena)
{
    struct verdict v = {0};
    MUST(verify_plan(&v, plan, p, arena, &own_err));
    for (int i = 0; i < v.violation_count; i++)
        if (!strcmp(v.violations[i].rule, rule)) return true;
    return false;
}

// The most that the plan has in a limited tier; *tier: which. 0: nothing.
static int64_t fullest(const struct exact_trial *t, const struct plan *plan, int *stage, int *tier)
{
    int64_t most = 0;
    for (int s = 0; s < plan->stage_count; s++)
        for (int i = 0; i < t->priced.tier_count; i++) {
            const struct plan_stage *x = &plan->stages[s];
            int64_t sum = 0;
            for (int l = x->first_layer; l < x->first_layer + x->layer_count; l++)
                sum += t->priced.runs[priced_run_of(&t->priced, l)]
                           .tiered[x->gradient_option]
                           .tier_bytes[i];
            if (sum > most) most = sum, *stage = s, *tier = i;
        }
    return most;
}

static bool swaps(const struct plan *plan)
{
    for (int s = 0; s < plan->stage_count; s++)
        if (plan->stages[s].recompute == RECOMPUTE_SWAP) return true;
    return false;
}

// A byte too little room in the tier for what the plan has there; a tier option of another name.
TEST(overfull_tiers_are_found)
{
    struct random rng = {13 + first_seed};
    int overfull = 0, renamed = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < 8 * problem_count && overfull < 30; i++, arena_reset(arena, mark)) {
        struct exact_trial t;
        int stage = 0, tier = 0;
        if (!solve(&t, &rng, arena)) continue;
        exact_trial_check(&t, (uint64_t)i, arena);
        struct plan *plan = &t.result.plan;
        int64_t most = fullest(&t, plan, &stage, &tier);
        struct node_group *g = &t.problem.cluster.groups[plan->stages[stage].group];
        if (most < 2 || swaps(plan)) continue;
        struct tier *of = (struct tier *)(uintptr_t)group_tier(g, t.priced.tiers[tier]);
        int64_t before = of->bytes;
        of->bytes = most * of->gpus;
        assert_false(rejects(plan, &t.problem, "tier", arena));
        of->bytes = (most - 1) * of->gpus;
        assert_true(rejects(plan, &t.problem, "tier", arena));
        of->bytes = before;
        overfull++;
        struct compression_option *o = &plan->gradient_options[plan->stages[stage].gradient_option];
        if (!o->tier_option) continue;
        o->tier_option = "another";
        assert_true(rejects(plan, &t.problem, "tiers", arena));
        renamed++;
    }
    assert_true(overfull > 10 && renamed > 5);
}

// A document whose tiers read faster than its own passes, or which keeps more than there is.
TEST(documents_that_read_too_fast_are_refused)
{
    struct random rng = {17 + first_seed};
    int refused = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < 8 * problem_count && refused < 30; i++, arena_reset(arena, mark)) {
        struct exact_trial t;
        struct error no = {OK, ""};
        struct check_problem *read = TAKE(arena, 1, struct check_problem);
        if (!solve(&t, &rng, arena) || t.priced.groups[0].excluded) continue;
        int run = (int)random_between(&rng, 0, t.priced.run_count - 1),
            option = (int)random_between(&rng, 0, t.priced.gradient_option_count - 1);
        struct priced_tiered *x = &t.priced.runs[run].tiered[option];
        if (!x->forward_ns || random_chance(&rng, 50))
            x->weight_bytes = t.priced.runs[run].weight_bytes + 1;
        else x->forward_ns[0] = t.priced.runs[run].forward_ns[0] - 1;
        if (x->forward_ns && x->forward_ns[0] < 0) continue;
        struct check_text text = check_trial_save(&t.priced, "priced.json", arena);
        assert_int_equal(check_read_problem(read, &text, arena, &no), BAD_INPUT);
        refused++;
    }
    assert_true(refused > 10);
}

// The best plan without the tiers' limits, claimed where there are some that it exceeds.
TEST(proofs_of_overfull_plans_are_refused)
{
    struct random rng = {19 + first_seed};
    int refused = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < 40 * problem_count && refused < 15; i++, arena_reset(arena, mark)) {
        struct exact_trial t;
        struct oracle free;
        struct error no = {OK, ""};
        struct check_result result;
        size_t size;
        if (!solve(&t, &rng, arena)) continue;
        int64_t limits[GROUPS_MAX][8];
        for (int g = 0; g < t.priced.group_count; g++)
            for (int k = 0; k < t.priced.tier_count; k++)
                limits[g][k] = t.priced.groups[g].tier_limit_bytes[k],
                t.priced.groups[g].tier_limit_bytes[k] = -1;
        MUST(oracle_answer(&free, &t.priced, &t.schedule, arena, &own_err));
        for (int g = 0; g < t.priced.group_count; g++)
            for (int k = 0; k < t.priced.tier_count; k++)
                t.priced.groups[g].tier_limit_bytes[k] = limits[g][k];
        if (free.best_ns >= t.oracle.best_ns) continue;
        struct check_text text = check_trial_save(&t.priced, "priced.json", arena);
        struct certify_claim claim = {.iteration_ns = free.best_ns,
                                      .bound_ns = free.best_ns,
                                      .incumbent = free.best,
                                      .counts = true,
                                      .boxes_most = 2000};
        struct check_text certificate = {"certificate.json", certify(&claim, &text, &size, arena),
                                         0};
        if (!certificate.text) continue;
        certificate.size = size;
        enum status status =
            check_certificate(&result, &certificate, &text, CHECK_WORK_DEFAULT, arena, &no);
        assert_false(status == OK && result.accepted);
        refused++;
    }
    assert_true(refused > 3);
}

// ---- spaces

// Layouts that are left out by argument are none that would be best, with tiers and their limits.
TEST(spaces_with_tiers_are_exact)
{
    struct random rng = {23 + first_seed};
    int solved = 0, taken = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int found = 0; found < problem_count / 3; arena_reset(arena, mark)) {
        struct space_trial t;
        struct check_space_result audited;
        spaces_draw(&t.problem, &rng, arena);
        if (random_chance(&rng, 50)) random_frozen(&t.problem, rng.state, arena);
        if (!random_tiers(&t.problem, rng.state, arena) || problem_check(&t.problem, &err) != OK) {
            err = (struct error){OK, ""};
            continue;
        }
        found++;
        space_trial_of_problem(&t, (uint64_t)found, 0, arena);
        if (space_trial_best(&t, (uint64_t)found, &audited, arena) <= 0) continue;
        solved++;
        const struct plan *plan = &t.found.solved.plan;
        for (int s = 0; s < plan->stage_count; s++)
            taken += plan->gradient_options[plan->stages[s].gradient_option].tier_option != NULL;
    }
    print_message("%d spaces with a plan; a tier option in %d stages of the best\n", solved, taken);
    assert_true(solved > problem_count / 10);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
