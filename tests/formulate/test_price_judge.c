// The solver's priced document against the judge's single terms on random models of real size:
// every kind of layer, every switch of the layout, every cost that can be stated, over shared,
// different and missing links (small problems: test_verify_price.c): equal to the nanosecond and
// the byte. And the judge's bound on its own error, at a coarser precision.
#include "data/kinds/schedules.h"
#include "formulate/price/price.h"
#include "solve//checker/prices/prices.h"
#include "solve/judge/price/verify_price.h"
#include "tests/support/oracle/prices.h"
#include "tests/support/draws/dispatch.h"
#include "tests/support/draws/costs.h"
#include "tests/support/draws/grids.h"
#include "tests/support/oracle/jobs.h"
#include "tests/support/draws/models.h"
#include "tests/support/draws/towers.h"
#include "tests/support/check.h"

// ---- the comparison

struct tally {
    int problems, refused, excluded, unjoined, kinds[LAYER_PROJECTOR + 1],
        schedules[SCHEDULE_KIND_COUNT], zero[4], fully_sharded, shared, copied, towers, further,
        folds, sharing, quantised[LAYER_MEMORY + 1], rules[LINEAR_CONVOLUTION + 1], beside,
        parts[2], widths, adapted, headed, same_heads, steps, states, groups;
};

static void note(struct tally *t, const struct problem *p)
{
    struct price_audit a = price_audit_of(p);
    t->problems++;
    t->excluded += exclusion_of(&a, 0) != NULL;
    t->unjoined += !judged_stage_link(&a, 0, 1).joined;
    for (int i = 0; i < p->model.run_count && !exclusion_of(&a, 0); i++)
        t->kinds[p->model.runs[i].kind]++;
    if (exclusion_of(&a, 0)) return;
    t->schedules[p->job.layout.schedule]++;
    t->zero[p->job.layout.zero]++;
    t->fully_sharded += shards_fully(&a);
    t->shared += model_shared_pool(&p->model) != NULL;
    t->copied += model_shares_weights(&p->model);
    t->towers += model_has_towers(&p->model);
    t->further += model_mtp_depth(&p->model) > 0;
    t->folds += p->job.layout.expert_tensor > 0;
    t->sharing += a.held > a.key;
    t->states += p->job.state_bytes_per_value > 0;
    for (int i = 0; i < p->model.run_count; i++) {
        const struct layer_run *r = &p->model.runs[i];
        if (r->weight_bits) t->quantised[r->kind]++;
        if (run_has_linear(r)) t->rules[run_shape(&p->model, r)->linear.rule]++;
        t->beside += r->linear_beside;
        t->parts[0] += r->no_attention, t->parts[1] += r->no_feed_forward;
    }
}

static void check_tally(const struct tally *t)
{
    print_message("%d problems, %d refused, first group excluded in %d, unjoined %d, shared pools "
                  "%d, weights %d, towers %d, further tokens %d, folds of "
                  "experts %d, shared KV heads %d\n",
                  t->problems, t->refused, t->excluded, t->unjoined, t->shared, t->copied,
                  t->towers, t->further, t->folds, t->sharing);
    assert_true(t->problems > 2000 && t->excluded > 50 && t->unjoined > 50);
    for (int i = 0; i <= LAYER_PROJECTOR; i++)
        if (i != LAYER_MEASURED) assert_true(t->kinds[i] > 50);
    for (int i = 0; i < SCHEDULE_KIND_COUNT; i++) assert_true(t->schedules[i] > 30);
    for (int i = 0; i < 4; i++) assert_true(t->zero[i] > 100);
    assert_true(t->fully_sharded > 100 && t->shared > 300 && t->copied > 200 && t->towers > 800 &&
                t->further > 120 && t->folds > 50 && t->sharing > 100 && t->states > 600);
    for (int i = 0; i <= LAYER_MEMORY; i++)
        if (i != LAYER_MEASURED) assert_true(t->quantised[i] > 30);
}

// Stages before local boundaries get a head: now and then the model's own.
static void own_head(struct problem *p, uint64_t seed)
{
    struct random own = {seed * 0x9e3779b97f4a7c15u + 17};
    struct error unfit = {OK, ""};
    struct local_head *h = &p->job.local_loss.head;
    if (!p->job.layout.local_loss_every || !p->model.has_shape) return;
    *h = (struct local_head){p->model.shape.vocabulary, p->model.shape.embedding_width};
    if (random_chance(&own, 60)) h->vocabulary = random_between(&own, 1, 200000);
    if (random_chance(&own, 40)) h->embedding_width = random_between(&own, 1, 4096);
    if (problem_check(p, &unfit) != OK) *h = (struct local_head){0, 0};
}

// States in groups of data ranks, wherever a job may have them.
static bool share_in_groups(struct problem *p, uint64_t seed)
{
    struct random own = {seed * 0x9e3779b97f4a7c15u + 23};
    struct error unfit = {OK, ""};
    const struct problem before = *p;
    struct layout *l = &p->job.layout;
    if (l->zero == 0 || l->data == 1 || random_chance(&own, 30)) return false;
    l->data_shard = divisor_of(&own, l->data);
    p->job.whole_gradient_sums = false, p->job.gradient_option_count = 0;
    if (problem_check(p, &unfit) == OK) return l->data_shard < l->data;
    *p = before;
    return false;
}

// Where stages learn alone, a step after each micro-batch in place of one: of every layer the
// backward pass takes as much longer.
static bool step_each(struct problem *p, uint64_t seed, struct arena *arena)
{
    struct random own = {seed * 0x9e3779b97f4a7c15u + 19};
    struct error err = {OK, ""};
    struct layout *l = &p->job.layout;
    struct problem before = *p;
    struct priced once, each;
    if (!p->model.has_shape || random_chance(&own, 80)) return false;
    p->model.shape.tied_embeddings = false;
    l->local_loss_every = 1, l->schedule = SCHEDULE_1F1B, l->virtual_stages = l->slice_count = 1;
    l->data = l->context = 1, l->offload_optimizer = false;
    p->job.tier_option_count = 0;
    if (problem_check(p, &err) != OK) return *p = before, false;
    CHECK_OK(price_problem(&once, p, arena, &err));
    p->job.local_loss.step_each_micro_batch = true;
    CHECK_OK(price_problem(&each, p, arena, &err));
    for (int run = 0; run < once.run_count; run++)
        for (int g = 0; g < once.group_count; g++) {
            const struct priced_run *a = &once.runs[run], *b = &each.runs[run];
            if (once.groups[g].excluded) continue;
            assert_int_equal(b->backward_ns[g], a->backward_ns[g] + a->optimizer_ns[g]);
            assert_int_equal(b->optimizer_ns[g], 0);
            assert_int_equal(b->forward_ns[g], a->forward_ns[g]);
        }
    return true;
}

static void expect_prices(const int64_t *a, const int64_t *b, int count)
{
    if (a) assert_memory_equal(a, b, (size_t)count * sizeof *a);
}

// A head that is the model's own costs what that layer costs, where it has a matrix of its own.
static bool own_head_costs_the_same(const struct problem *p, struct arena *arena)
{
    const struct shape *s = &p->model.shape;
    const struct local_head *h = &p->job.local_loss.head;
    struct priced priced;
    struct error err = {OK, ""};
    const struct layer_run *head = &p->model.runs[p->model.run_count - 1];
    if (!job_has_local_head(&p->job) || h->vocabulary != s->vocabulary ||
        h->embedding_width != s->embedding_width || s->tied_embeddings || head->frozen ||
        head->kind != LAYER_HEAD || head->more_values || p->costs.layer_time_count)
        return false;
    CHECK_OK(price_problem(&priced, p, arena, &err));
    const struct priced_run *a = priced.local_heads, *b = &priced.runs[priced.run_count - 1];
    int groups = priced.group_count, passes = groups * priced.slice_count;
    const int64_t bytes[] = {
        a->weight_bytes - b->weight_bytes,         a->gradient_bytes - b->gradient_bytes,
        a->optimizer_bytes - b->optimizer_bytes,   a->stash_bytes[0] - b->stash_bytes[0],
        a->working_bytes[0] - b->working_bytes[0], a->unsharded_bytes - b->unsharded_bytes};
    for (size_t i = 0; i < ARRAY_LENGTH(bytes); i++) assert_int_equal(bytes[i], 0);
    expect_prices(a->forward_ns, b->forward_ns, passes);
    expect_prices(a->backward_ns, b->backward_ns, passes);
    expect_prices(a->weight_ns, b->weight_ns, groups);
    expect_prices(a->optimizer_ns, b->optimizer_ns, groups);
    expect_prices(a->feedback_bytes, b->feedback_bytes, priced.gradient_option_count);
    for (int o = 0; o < priced.gradient_option_count; o++)
        expect_prices(a->sync_ns[o], b->sync_ns[o], groups);
    return true;
}

// `parts`: also linear attention by any rule, alone or beside attention, and layers of one part.
static void compare_models(uint64_t seed, int models, bool parts, struct tally *tally,
                           struct price_count *count, struct arena *arena)
{
    struct random rng = {seed};
    char last[ERROR_TEXT_MAX] = "";
    for (int i = 0; i < models; i++) {
        struct error err = (struct error){OK, ""};
        struct problem problem = {.name = "random"};
        struct arena_mark mark = arena_set_mark(arena);
        random_model(&problem.model, &rng, arena);
        random_cluster(&problem.cluster, &rng, arena);
        random_costs(&problem, &rng, arena);
        random_job(&problem.job, &problem.model, &rng, arena);
        dispatch_draw(&problem, rng.state);
        if (problem.job.layout.slice_count > 1) model_look_back(&problem.model);
        share_keys(&problem, rng.state);
        if (parts) random_parts(&problem.model, rng.state);
        if (parts && problem.model.shape.linear.rule == LINEAR_SCAN) problem.job.layout.tensor = 1;
        if (rng.state / 2 % 4) quantise_frozen(&problem.model, rng.state);
        int adapted = rng.state / 64 % 2 ? adapt_mixtures(&problem.model, rng.state) : 0;
        if (parts) tally->widths += random_widths(&problem.model, rng.state, arena);
        if (rng.state % 2) share_pools(&problem);
        if (rng.state / 16 % 2) random_tower(&problem, rng.state, 64, arena);
        if (rng.state / 8 % 4 == 0) share_weights(&problem);
        if (rng.state / 32 % 8) predict_further(&problem, rng.state, arena);
        own_head(&problem, rng.state);
        tally->steps += step_each(&problem, rng.state, arena);
        tally->groups += share_in_groups(&problem, rng.state);
        if (problem_check(&problem, &err) == OK) {
            compare_prices(&problem, i, count, arena);
            note(tally, &problem);
            tally->adapted += adapted;
            tally->headed += job_has_local_head(&problem.job);
            tally->same_heads += own_head_costs_the_same(&problem, arena);
        } else {
            tally->refused++;
            snprintf(last, sizeof last, "%s", err.text);
        }
        arena_reset(arena, mark);
    }
    if (tally->refused > 1500) print_message("refused: %s\n", last);
    print_message("%lld terms, %lld of them in doubt; %d mixtures with adapters\n",
                  (long long)count->terms, (long long)count->doubtful, tally->adapted);
    assert_int_equal(count->doubtful, 0);
    assert_true(tally->adapted > 15);
}

TEST(random_models)
{
    struct price_count count = {0};
    struct tally tally = {0};
    compare_models(11, 6000, false, &tally, &count, arena);
    check_tally(&tally);
    print_message("%d with heads of stages, %d of them the model's own; %d step each time; %d with "
                  "states in groups\n",
                  tally.headed, tally.same_heads, tally.steps, tally.groups);
    assert_true(tally.groups > 300 && tally.headed > 100 && tally.same_heads > 10 &&
                tally.steps > 50);
    assert_true(count.terms > 400000);
}

TEST(random_layers_of_parts)
{
    struct price_count count = {0};
    struct tally tally = {0};
    compare_models(43, 3000, true, &tally, &count, arena);
    for (int i = 0; i <= LINEAR_CONVOLUTION; i++) assert_true(tally.rules[i] > 20);
    print_message("%d with widths of their own\n", tally.widths);
    assert_true(tally.widths > 300 && tally.beside > 50 && tally.parts[0] > 50 &&
                tally.parts[1] > 50);
}

// Tensor ranks as a grid, from half of the problems; and there the nodes are small, so that axes
// stay within them or leave them.
TEST(random_grids)
{
    struct random rng = {13};
    struct price_count count = {0};
    int problems = 0, inside = 0, rows = 0;
    for (int i = 0; i < 3000; i++) {
        err = (struct error){OK, ""};
        struct problem problem = {.name = "random"};
        struct arena_mark mark = arena_set_mark(arena);
        random_model(&problem.model, &rng, arena);
        random_cluster(&problem.cluster, &rng, arena);
        random_costs(&problem, &rng, arena);
        random_job(&problem.job, &problem.model, &rng, arena);
        dispatch_draw(&problem, rng.state);
        grids_fit(&problem);
        grids_give(&problem, &rng, 3);
        grids_decide(&problem, (uint64_t)i);
        if (problem.job.layout.slice_count > 1) model_look_back(&problem.model);
        if (problem_check(&problem, &err) == OK) {
            const struct layout *l = &problem.job.layout;
            compare_prices(&problem, i, &count, arena);
            problems++, rows += l->grid_rows > 1;
            inside += l->tensor <= problem.cluster.groups[0].gpus_per_node;
        }
        arena_reset(arena, mark);
    }
    print_message("%d grids, %d within a node, %d with a third axis: %lld terms, %lld in doubt\n",
                  problems, inside, rows, (long long)count.terms, (long long)count.doubtful);
    assert_true(problems > 1500 && inside > 100 && problems - inside > 500 && rows > 500);
    assert_true(count.terms > 100000 && count.doubtful == 0);
}

// ---- the judge's bound on its own error, of 256 roundings: with 24 bits instead of 64 every price
// must be within 16 roundings of these.

#if defined(__x86_64__)

enum { CONTROL_64_BITS = 0x37f, CONTROL_24_BITS = 0x07f };

static void set_precision(unsigned short control) { __asm__ volatile("fldcw %0" : : "m"(control)); }

struct coarse {
    int64_t prices, decided, problems, skipped;
};

static bool price_at(struct numbers *to, const struct problem *problem, unsigned short control,
                     int direction, struct arena *arena)
{
    struct check_pricer pricer;
    struct check_problem *p;
    struct check_layout layout = space_layout(&problem->job.layout);
    MUST(space_pricer_open(&pricer, problem, arena, &own_err));
    if (control == CONTROL_24_BITS) space_pricer_lean(&pricer, direction, 0x1p-24L * 16);
    set_precision(control);
    bool priced = pricer.bytes(pricer.context, &layout, &p) && pricer.times(pricer.context);
    set_precision(CONTROL_64_BITS);
    if (priced) *to = numbers_of(p, arena);
    return priced && !*pricer.doubtful_sizes;
}

static void try_coarse(struct coarse *seen, const struct problem *p, int name, struct arena *arena)
{
    struct numbers exact, low, high;
    if (!price_at(&exact, p, CONTROL_64_BITS, 0, arena) ||
        !price_at(&low, p, CONTROL_24_BITS, -1, arena) ||
        !price_at(&high, p, CONTROL_24_BITS, 1, arena)) {
        seen->skipped++;
        return;
    }
    for (int i = 0; i < exact.count; i++) {
        if (low.items[i] > exact.items[i] || exact.items[i] > high.items[i])
            fail_msg("problem %d, number %d: %lld is not within %lld and %lld", name, i,
                     (long long)exact.items[i], (long long)low.items[i], (long long)high.items[i]);
        seen->decided += low.items[i] == high.items[i] && exact.items[i] > 0;
        seen->prices += exact.items[i] > 0;
    }
    seen->problems++;
}

TEST(errors_are_bounded)
{
    struct random rng = {12};
    struct coarse seen = {0};
    for (int i = 0; i < 2000; i++) {
        err = (struct error){OK, ""};
        struct problem problem = {.name = "random"};
        struct arena_mark mark = arena_set_mark(arena);
        random_model(&problem.model, &rng, arena);
        random_cluster(&problem.cluster, &rng, arena);
        random_costs(&problem, &rng, arena);
        random_job(&problem.job, &problem.model, &rng, arena);
        dispatch_draw(&problem, rng.state);
        if (problem.job.layout.slice_count > 1) model_look_back(&problem.model);
        if (rng.state / 16 % 2) random_tower(&problem, rng.state, 64, arena);
        // Logarithms reduce their arguments with 64 bits, whatever the processor's precision
        // setting.
        for (int k = 0; k < problem.costs.collective_count; k++)
            if (problem.costs.collectives[k].point_count > 1)
                problem.costs.collectives[k].point_count = 1;
        if (problem_check(&problem, &err) == OK) try_coarse(&seen, &problem, i, arena);
        arena_reset(arena, mark);
    }
    print_message("%lld problems, %lld skipped; %lld prices, of them %lld decided by 24 bits\n",
                  (long long)seen.problems, (long long)seen.skipped, (long long)seen.prices,
                  (long long)seen.decided);
    assert_true(seen.problems > 500 && seen.decided > 10000);
}

#endif
