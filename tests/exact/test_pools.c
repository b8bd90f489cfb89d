// Groups that hold a memory layer's pool once: random problems with memory layers of which every
// layout is solved by itself, and those whose pools have copies by enumeration, too. The search
// finds the best of them; its certificate is accepted and proves that time, and not a nanosecond
// more; the checker's walk equals the planner's. Prices of memory layers by hand. usage: test_pools
// [PROBLEMS] [SEED]
#include "solve/judge/verify.h"
#include "tests/support/check.h"
#include "tests/support/price_bench.h"
#include "tests/support/trials/kind_trials.h"

static int problem_count = 60;
static uint64_t first_seed = 1;

static bool copies_pools(const struct layout *l) { return l->pool > 0; }

TEST(best_groups_are_found_and_proven)
{
    struct kind_trials x = {
        .what = "pools with copies", .open = space_trial_of_pools, .is_kind = copies_pools};
    for (int i = 0; i < problem_count; i++) kind_trial(&x, first_seed + (uint64_t)i);
    kind_trials_print(&x);
    assert_true(x.plans > problem_count / 3 && x.chosen > 0 && x.of_kind > problem_count &&
                x.bounded > problem_count / 2);
}

// A plan of one group claimed for another, with the same stages and figures.
TEST(forged_groups_are_refused)
{
    int forged = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (uint64_t seed = 1; seed <= 30; seed++, arena_reset(arena, mark)) {
        struct space_trial t;
        space_trial_of_pools(&t, seed, 0, arena);
        struct plan plan = t.found.solved.plan;
        int own = plan.layout.pool;
        int64_t devices = layout_pool_devices(&plan.layout, model_pool_span(&t.problem.model));
        for (int group = 0; plan.stage_count && group < devices; group++) {
            struct verdict verdict;
            plan.layout.pool = group;
            MUST(verify_plan(&verdict, &plan, &t.problem, arena, &own_err));
            if (verdict.accepted != (group == own))
                fail_msg("seed %llu: group %d for %d: %s", (unsigned long long)seed, group, own,
                         verdict.accepted ? "accepted" : verdict.violations[0].text);
            forged += group != own;
        }
    }
    print_message("%d forged groups refused\n", forged);
    assert_true(forged > 20);
}

static void near_to(int64_t a, int64_t b)
{
    if (llabs(a - b) > 1) fail_msg("%lld and %lld", (long long)a, (long long)b);
}

TEST(tables_of_values)
{
    struct bench *b = bench_gated();
    b->runs[BLOCK] = (struct layer_run){
        .name = "table",
        .kind = LAYER_MEMORY,
        .count = 6,
        .pool = {.values = 1 << 20, .width = 1024, .heads = 4, .key_width = 512, .top_k = 32}};
    struct priced_run one = block_of(b);
    const int64_t pool = 1024LL * 1048576,
                  rest = 1024 * 4 * 512 + 1024 * 4 * 512 + 1024 * 1024 + 1024;
    assert_int_equal(one.weight_bytes, 2 * (pool + rest));
    // the values of all tokens are read once, 4 x 32 of 2048 B each: next to no FLOP for them
    assert_true(one.forward_ns[0] > 1024LL * 4 * 32 * 2048 / 1000);
    b->problem.job.layout.data = 4;
    struct priced_run four = block_of(b);
    assert_int_equal(four.weight_bytes, 2 * (pool / 4 + rest));
    assert_int_equal(four.optimizer_bytes, 12 * (pool / 4 + rest));
    assert_in_range(four.sync_ns[0][0], 1, 2 * 2 * rest); // of the pool nothing is synchronised
    int64_t apart = b->priced.groups[0].constant_bytes; // one for the six, the same on both ranks:
    b->runs[BLOCK].pool.shared = true, b->problem.job.layout.pipeline = 2;
    assert_int_equal(block_of(b).weight_bytes, 2 * rest);
    assert_int_equal(b->priced.groups[0].constant_bytes - apart,
                     (2 + b->problem.job.gradient_bytes_per_value + 12) * (pool / 8));
}

// Eight devices on two nodes hold it once, each node does, or each device, by hand.
TEST(groups_of_a_table)
{
    struct bench *b = bench_gated();
    struct layout *l = &b->problem.job.layout;
    const int64_t pool = 1024LL * 1048576;
    b->runs[BLOCK] = (struct layer_run){
        .name = "table",
        .kind = LAYER_MEMORY,
        .count = 6,
        .pool = {.values = 1 << 20, .width = 1024, .heads = 4, .key_width = 512, .top_k = 32}};
    l->data = 8, b->problem.job.global_batch = 64;
    const struct priced_run all = block_of(b);
    l->pool = 8;
    assert_int_equal(block_of(b).forward_ns[0], all.forward_ns[0]);
    l->pool = 1;
    const struct priced_run each = block_of(b);
    l->pool = 4;
    const struct priced_run node = block_of(b);
    // 2^20 B of indices and weights for each other device, 2^21 B of values less the own part:
    // over a quarter of 10e9 and 5 us, over 100e9 and 1 us
    near_to(all.forward_ns[0], each.forward_ns[0] + 2936013 + 734003 + 14 * 5000);
    near_to(node.forward_ns[0], each.forward_ns[0] + 31457 + 15729 + 6 * 1000);
    near_to(node.backward_ns[0], each.backward_ns[0] + 31457 + 15729 + 6 * 1000);
    assert_int_equal(node.weight_bytes - all.weight_bytes, 2 * (pool / 4 - pool / 8));
    assert_int_equal(each.weight_bytes - all.weight_bytes, 2 * (pool - pool / 8));
    // two copies over a quarter of 10e9, 2 bytes a value there and back; eight over all of it
    near_to(node.sync_ns[0][0], all.sync_ns[0][0] + pool / 4 * 2 * 2 / 5 + 2 * 5000);
    near_to(each.sync_ns[0][0], all.sync_ns[0][0] + pool * 7 / 4 * 2 / 10 + 14 * 5000);
    l->zero = 1;
    const struct priced_run shared = block_of(b);
    assert_int_equal(shared.weight_bytes, node.weight_bytes);
    near_to(shared.optimizer_bytes, (node.optimizer_bytes - 12 * pool / 4) / 8 + 12 * pool / 8);
    l->pool = 3;
    assert_int_equal(price_problem(&b->priced, &b->problem, arena, &own_err), BAD_INPUT);
    l->pool = 2, b->runs[BLOCK].kind = LAYER_BLOCK;
    assert_int_equal(price_problem(&b->priced, &b->problem, arena, &own_err), BAD_INPUT);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
