// Prices of a mixture of experts: copies of tokens against every way to choose experts, waits and
// starts against sums by hand, and laws: hidden dispatch is never slower than shown, and never
// faster than what it is hidden behind; more tokens never take less time; dense layers do not care.
#include "data/inputs/model/size.h"
#include "tests/support/check.h"
#include "tests/support/draws/dispatch.h"
#include "tests/support/price_bench.h"

static void near_to(int64_t a, int64_t b)
{
    if (llabs(a - b) > 1) fail_msg("%lld and %lld", (long long)a, (long long)b);
}

// Blocks with 16 experts of width 512, of which a token takes 2.
static struct bench *bench_mixture(int expert)
{
    struct bench *b = bench_gated();
    b->runs[BLOCK].kind = LAYER_MOE;
    b->runs[BLOCK].experts = (struct expert_shape){.experts = 16, .top_k = 2, .ffn = 512};
    b->problem.job.layout.data = 16;
    b->problem.job.layout.expert = expert;
    b->problem.job.global_batch = 64;
    return b;
}

static int64_t forward_of(struct bench *b) { return block_of(b).forward_ns[0]; }
static int64_t both_of(struct bench *b)
{
    struct priced_run run = block_of(b);
    return run.forward_ns[0] + run.backward_ns[0];
}

// ---- copies

// The mean number of places other than place 0 that `left` choices of a place add to `taken`.
static double others_chosen(int places, int left, unsigned taken)
{
    double sum = 0;
    if (!left) return __builtin_popcount(taken & ~1U);
    for (int i = 0; i < places; i++) sum += others_chosen(places, left - 1, taken | 1U << i);
    return sum / places;
}

// 1024 tokens of 1024 values of 2 bytes; nodes of 4 GPUs, 100e9 B/s inside, one NIC of 10e9 B/s.
// A copy to each device, and between nodes one to each node.
TEST(a_token_is_sent_once_to_each_place)
{
    const double bytes = 1024.0 * 1024 * 2;
    for (int top_k = 1; top_k <= 5; top_k++)
        for (int expert = 2; expert <= 16; expert *= 2) {
            struct bench *b = bench_mixture(expert);
            b->problem.job.dispatcher = DISPATCH_HYBRIDEP;
            b->runs[BLOCK].experts.top_k = top_k;
            int64_t with = forward_of(b);
            double inside = bytes * others_chosen(expert > 8 ? 8 : expert, top_k, 0) / 100e9,
                   across = expert > 4 ? bytes * others_chosen(expert / 4, top_k, 0) / 2.5e9 : 0;
            double latency = expert > 4 ? 5e-6 : 1e-6;
            double longest = across > inside ? across : inside;
            // The products differ with the experts on a device; nothing else does.
            b->groups[0].intra = (struct link){1e18, 0};
            b->nics[0][0].link = (struct link){1e18, 0};
            near_to(with - forward_of(b), llround(2e9 * (longest + latency)));
        }
}

// The mean number of places other than the first that tokens of 16 experts in `groups` go to, over
// every set of groups and every row of experts in it; place p has 16/places experts one after
// another.
static double others_of_groups(int places, int groups, int top, int top_k)
{
    double sum = 0, ways = 0;
    for (unsigned set = 0; set < 1U << groups; set++) {
        if (__builtin_popcount(set) != top) continue;
        int experts = 16 / groups * top, rows = 1;
        for (int i = 0; i < top_k; i++) rows *= experts;
        for (int row = 0; row < rows; row++, ways++) {
            unsigned taken = 0;
            for (int i = 0, left = row; i < top_k; i++, left /= experts) {
                int nth = left % experts / (16 / groups), group = -1;
                for (int j = 0; j <= nth; j++)
                    for (group++; !(set >> group & 1);) group++;
                int expert = group * (16 / groups) + left % experts % (16 / groups);
                taken |= 1U << expert * places / 16;
            }
            sum += __builtin_popcount(taken & ~1U);
        }
    }
    return sum / ways;
}

TEST(groups_of_experts_limit_the_places_of_a_token)
{
    const double bytes = 1024.0 * 1024 * 2;
    for (int groups = 2; groups <= 16; groups *= 2)
        for (int top = 1; top <= groups; top++)
            for (int top_k = 1; top_k <= 3 && top_k <= 16 / groups * top; top_k++)
                for (int expert = 2; expert <= 16; expert *= 2) {
                    struct bench *b = bench_mixture(expert);
                    struct expert_shape *e = &b->runs[BLOCK].experts;
                    b->problem.job.dispatcher = DISPATCH_HYBRIDEP;
                    e->top_k = top_k;
                    int64_t free = forward_of(b);
                    e->router_groups = groups, e->router_top_groups = top;
                    int64_t with = forward_of(b);
                    assert_true(with <= free && (top < groups || with == free));
                    double inside = bytes * others_of_groups(expert, groups, top, top_k) / 100e9,
                           across = expert > 4
                                        ? bytes * others_of_groups(expert / 4, groups, top, top_k) /
                                              2.5e9
                                        : 0,
                           latency = expert > 4 ? 5e-6 : 1e-6;
                    b->groups[0].intra = (struct link){1e18, 0};
                    b->nics[0][0].link = (struct link){1e18, 0};
                    near_to(with - forward_of(b),
                            llround(2e9 * ((across > inside ? across : inside) + latency)));
                }
}

// Three nodes: the first has two groups of eight and two thirds of a third, as the formula says, of
// whose experts a token of all groups takes as many as without.
TEST(groups_that_are_split_change_nothing_where_all_are_taken)
{
    for (int expert = 3; expert <= 15; expert += 3) {
        struct bench *b = bench_mixture(expert);
        struct expert_shape *e = &b->runs[BLOCK].experts;
        *e = (struct expert_shape){.experts = 360, .top_k = 4, .ffn = 512};
        b->problem.job.layout.data = expert, b->problem.job.dispatcher = DISPATCH_DEEPEP;
        b->problem.job.global_batch = expert * 2;
        int64_t before = forward_of(b), last = 0;
        e->router_groups = 8;
        for (int top = 1; top <= 8; top++) {
            e->router_top_groups = top;
            int64_t now = forward_of(b);
            assert_true(now >= last);
            last = now;
        }
        assert_int_equal(last, before);
    }
}

// A latent as wide as a token changes nothing; of a quarter, a quarter is sent, and experts have a
// quarter of the values: 16 of 3 matrices.
TEST(experts_on_a_latent_read_and_send_less)
{
    for (int expert = 1; expert <= 16; expert *= 2) {
        struct bench *b = bench_mixture(expert);
        b->problem.job.dispatcher = DISPATCH_HYBRIDEP;
        int64_t whole = forward_of(b), both = both_of(b);
        b->runs[BLOCK].experts.latent = 1024;
        assert_true(forward_of(b) == whole && both_of(b) == both);
        b->runs[BLOCK].experts.latent = 256;
        int64_t with = forward_of(b);
        assert_true(with < whole);
        double bytes = 1024.0 * 256 * 2,
               latency = expert > 4   ? 5e-6
                         : expert > 1 ? 1e-6
                                      : 0,
               inside = bytes * others_chosen(expert > 8 ? 8 : expert, 2, 0) / 100e9,
               across = expert > 4 ? bytes * others_chosen(expert / 4, 2, 0) / 2.5e9 : 0;
        b->groups[0].intra = (struct link){1e18, 0};
        b->nics[0][0].link = (struct link){1e18, 0};
        near_to(with - forward_of(b),
                llround(2e9 * ((across > inside ? across : inside) + latency)));
        struct model_size narrow = model_size_of(&b->problem.model), wide;
        b->runs[BLOCK].experts.latent = 0, wide = model_size_of(&b->problem.model);
        int64_t layers = b->runs[BLOCK].count;
        assert_int_equal(wide.all - narrow.all, layers * 16 * 3 * (1024 - 256) * 512);
        assert_int_equal(wide.active - narrow.active, layers * 2 * 3 * (1024 - 256) * 512);
    }
}

TEST(copies_are_never_slower_than_an_all_to_all)
{
    for (int top_k = 1; top_k <= 8; top_k++)
        for (int expert = 2; expert <= 16; expert *= 2) {
            struct bench *b = bench_mixture(expert);
            b->runs[BLOCK].experts.top_k = top_k;
            b->groups[0].intra.bytes_per_s = 1e15; // which an all-to-all does not count
            int64_t all = both_of(b);
            b->problem.job.dispatcher = DISPATCH_DEEPEP;
            assert_true(both_of(b) <= all);
        }
}

// After an all-to-all, rows are sorted by expert and back: 4 more passes over 2048 rows of 2 kB.
TEST(rows_are_sorted_behind_an_all_to_all)
{
    struct bench *b = bench_mixture(4);
    b->groups[0].intra = (struct link){1e18, 0};
    int64_t sorted = forward_of(b);
    b->problem.job.dispatcher = DISPATCH_DEEPEP;
    near_to(sorted - forward_of(b), llround(1e9 * 4 * 2048 * 2048 / 1e12));
    b = bench_mixture(16); // one expert on a device
    b->groups[0].intra = b->nics[0][0].link = (struct link){1e18, 0};
    sorted = forward_of(b);
    b->problem.job.dispatcher = DISPATCH_DEEPEP;
    assert_int_equal(sorted, forward_of(b));
}

// ---- the host

TEST(the_device_waits_for_counts)
{
    struct bench *b = bench_mixture(4);
    struct priced_run none = block_of(b);
    int64_t full = none.again_ns[RECOMPUTE_FULL][0];
    b->gpus[0].dispatch_wait_s = exactly(100e-6);
    struct priced_run waits = block_of(b);
    near_to(waits.forward_ns[0], none.forward_ns[0] + 100000);
    assert_int_equal(waits.backward_ns[0], none.backward_ns[0]);
    near_to(waits.again_ns[RECOMPUTE_FULL][0], full + 100000);
    b->gpus[0].all_to_all_wait_s = exactly(300e-6);
    near_to(forward_of(b), none.forward_ns[0] + 300000);
    b->gpus[0].all_to_all_wait_s = (struct estimate){.stated = true}; // 0, not as the other
    assert_int_equal(forward_of(b), none.forward_ns[0]);
    b->gpus[0].all_to_all_wait_s = exactly(300e-6);
    b->problem.job.fixed_capacity = true;
    assert_int_equal(forward_of(b), none.forward_ns[0]);
    b->problem.job.fixed_capacity = false, b->problem.job.graphs = GRAPHS_STEP;
    assert_int_equal(forward_of(b), none.forward_ns[0]);
    b->problem.job.graphs = GRAPHS_PARTS;
    near_to(forward_of(b), none.forward_ns[0] + 300000);
}

TEST(graphs_replay_launches)
{
    struct bench *b = bench_mixture(4);
    int64_t work = forward_of(b);
    b->gpus[0].layer_launch_s = exactly(0.5), b->gpus[0].mixture_launch_s = exactly(0.25);
    near_to(forward_of(b), 750000000);
    near_to(block_of(b).backward_ns[0], 1500000000);
    near_to(price(b)->runs[HEAD].forward_ns[0], 500000000);
    b->problem.job.graphs = GRAPHS_PARTS;
    near_to(forward_of(b), 250000000);
    near_to(price(b)->runs[HEAD].forward_ns[0], 500000000);
    b->problem.job.graphs = GRAPHS_STEP;
    assert_int_equal(forward_of(b), work);
    assert_true(price(b)->runs[HEAD].forward_ns[0] < 500000000);
    b->runs[BLOCK].kind = LAYER_BLOCK, b->problem.job.layout.expert = 1;
    b->problem.job.graphs = GRAPHS_NONE;
    near_to(forward_of(b), 500000000);
    b->problem.job.graphs = GRAPHS_PARTS;
    assert_true(forward_of(b) < 500000000);
}

// 4 of 16 experts on each device; in turn with another micro-batch's pass all of a mixture's
// launches take longer, the head's not; a graph of the step spares them.
TEST(the_host_launches_expert_by_expert)
{
    struct bench *b = bench_mixture(4);
    int64_t work = forward_of(b);
    b->gpus[0].mixture_launch_s = exactly(0.25), b->gpus[0].layer_launch_s = exactly(0.5);
    b->precisions[0].expert_launch_s = exactly(0.125);
    b->gpus[0].paired_launch_factor = exactly(2);
    near_to(forward_of(b), 1250000000);
    near_to(block_of(b).backward_ns[0], 2500000000);
    b->problem.job.overlapped_dispatch = true;
    near_to(forward_of(b), 2500000000);
    near_to(price(b)->runs[HEAD].forward_ns[0], 500000000);
    b->problem.job.layout.expert = 1; // nothing is dispatched, so nothing is launched in turn
    near_to(forward_of(b), 2750000000);
    b->problem.job.layout.expert = 4, b->problem.job.graphs = GRAPHS_PARTS;
    near_to(forward_of(b), 1500000000);
    b->gpus[0].paired_launch_factor = exactly(0); // not stated
    near_to(forward_of(b), 750000000);
    b->problem.job.layout.expert = 16, b->problem.job.overlapped_dispatch = false;
    near_to(forward_of(b), 375000000);
    b->problem.job.layout.expert = 4, b->problem.job.graphs = GRAPHS_STEP;
    assert_int_equal(forward_of(b), work);
}

// Of the products by shape: 2 forward, 4 backward, 4 experts on each device.
TEST(experts_start_one_by_one)
{
    struct bench *b = bench_mixture(4);
    b->precisions[0].product_flop_per_s = exactly(100e12);
    struct priced_run together = block_of(b);
    b->precisions[0].expert_start_s = exactly(10e-6);
    struct priced_run apart = block_of(b);
    near_to(apart.forward_ns[0], together.forward_ns[0] + 80000);
    near_to(apart.backward_ns[0], together.backward_ns[0] + 160000);
    b->problem.job.graphs = GRAPHS_STEP;
    near_to(forward_of(b), together.forward_ns[0]);
}

// A grouped product starts, and is launched, as often as one expert's, however many there are: 2
// products forward, 4 backward.
TEST(grouped_experts_start_at_once)
{
    struct bench *b = bench_mixture(4);
    b->precisions[0].product_flop_per_s = exactly(100e12);
    b->problem.job.trainer = TRAINER_TORCHTITAN;
    struct priced_run together = block_of(b);
    b->precisions[0].expert_start_s = exactly(10e-6);
    struct priced_run apart = block_of(b);
    near_to(apart.forward_ns[0], together.forward_ns[0] + 20000);
    near_to(apart.backward_ns[0], together.backward_ns[0] + 40000);
    b->gpus[0].mixture_launch_s = exactly(0.25), b->gpus[0].layer_launch_s = exactly(0.5);
    b->precisions[0].expert_launch_s = exactly(0.125);
    near_to(forward_of(b), 875000000);
    b->problem.job.layout.expert = 1;
    near_to(forward_of(b), 875000000);
    b->problem.job.trainer = TRAINER_OTHER; // one by one
    near_to(forward_of(b), 2750000000);
    b->problem.job.expert_products = EXPERTS_GROUPED;
    near_to(forward_of(b), 875000000);
    b->problem.job.trainer = TRAINER_TORCHTITAN, b->problem.job.expert_products = EXPERTS_SINGLE;
    near_to(forward_of(b), 2750000000);
}

// Padded rows are multiplied and kept like others: 2 x 3 x 1024 x 512 x 2048 FLOP at 100e12 for all
// that come, of which half as many more are padding. They are sent only if the capacity is fixed.
TEST(padded_rows_of_experts_are_multiplied)
{
    struct bench *b = bench_mixture(4);
    const double flop = 2.0 * 3 * 1024 * 512 * 2048;
    struct priced_run bare = block_of(b);
    b->problem.job.expert_padding = 1.5;
    struct priced_run padded = block_of(b);
    assert_true(padded.forward_ns[0] - bare.forward_ns[0] >= (int64_t)(0.5 * flop / 100e12 * 1e9));
    assert_true(padded.backward_ns[0] - bare.backward_ns[0] >= (int64_t)(flop / 100e12 * 1e9));
    b->problem.job.fixed_capacity = true;
    int64_t sent = forward_of(b);
    assert_true(sent > padded.forward_ns[0]);
    b->problem.job.expert_padding = 0, b->runs[BLOCK].experts.imbalance = 1.5;
    struct priced_run uneven = block_of(b);
    assert_int_equal(uneven.forward_ns[0], sent); // as if they were tokens
    assert_int_equal(uneven.stash_bytes[0], padded.stash_bytes[0]);
    assert_true(uneven.stash_bytes[0] > bare.stash_bytes[0]);
    b->problem.job.layout.expert = 1; // nothing is sent
    sent = forward_of(b);
    b->problem.job.expert_padding = 1.5, b->runs[BLOCK].experts.imbalance = 1;
    b->problem.job.fixed_capacity = false;
    assert_int_equal(forward_of(b), sent);
}

// Of a capacity that drops rows the same share is multiplied, sent and kept.
TEST(dropped_rows_of_experts_are_not_multiplied)
{
    struct bench *b = bench_mixture(4);
    b->problem.job.fixed_capacity = true;
    struct priced_run whole = block_of(b);
    b->problem.job.expert_padding = 1.5;
    struct priced_run padded = block_of(b);
    b->problem.job.expert_padding = 0.5;
    struct priced_run dropped = block_of(b);
    near_to(whole.forward_ns[0] - dropped.forward_ns[0],
            padded.forward_ns[0] - whole.forward_ns[0]);
    near_to(whole.backward_ns[0] - dropped.backward_ns[0],
            padded.backward_ns[0] - whole.backward_ns[0]);
    near_to(whole.stash_bytes[0] - dropped.stash_bytes[0],
            padded.stash_bytes[0] - whole.stash_bytes[0]);
    assert_true(dropped.stash_bytes[0] < whole.stash_bytes[0]);
}

// Where a graph replays a fixed number of rows, experts still start one by one.
TEST(experts_in_graphs_of_fixed_rows_start_one_by_one)
{
    struct bench *b = bench_mixture(4);
    b->precisions[0].product_flop_per_s = exactly(100e12);
    b->problem.job.graphs = GRAPHS_STEP, b->problem.job.fixed_capacity = true;
    struct priced_run together = block_of(b);
    b->precisions[0].expert_start_s = exactly(10e-6);
    near_to(block_of(b).forward_ns[0] - together.forward_ns[0], 8 * 10000);
    b->problem.job.fixed_capacity = false;
    struct priced_run free = block_of(b);
    b->precisions[0].expert_start_s = exactly(0);
    assert_int_equal(free.forward_ns[0], block_of(b).forward_ns[0]);
}

// Their biases add three kernels to each of the 24 products, no more than products take to start.
TEST(biases_of_experts_start_kernels)
{
    for (int steps = 0; steps < 2; steps++) {
        struct bench *b = bench_mixture(4);
        b->precisions[0].product_flop_per_s = exactly(100e12);
        b->gpus[0].product_launch_s = exactly(5e-6);
        b->runs[BLOCK].more_values = 16 * (1 + 2 * 512 + 1024) + 16;
        if (steps) b->problem.job.graphs = GRAPHS_STEP;
        struct priced_run together = block_of(b);
        b->precisions[0].expert_start_s = exactly(10e-6);
        struct priced_run apart = block_of(b);
        near_to(apart.forward_ns[0] - together.forward_ns[0], steps ? 0 : 8 * 25000);
        near_to(apart.backward_ns[0] - together.backward_ns[0], steps ? 0 : 16 * 25000);
        b->problem.job.trainer = TRAINER_TORCHTITAN; // fused
        together = block_of(b);
        b->precisions[0].expert_start_s = exactly(0);
        near_to(together.forward_ns[0] - block_of(b).forward_ns[0], steps ? 0 : 2 * 10000);
    }
}

// 2 x 3 x 1024 x 512 x 2048 FLOP forward, twice that backward, at 100e12 as all others.
TEST(experts_have_rates_of_their_own)
{
    struct bench *b = bench_mixture(4);
    const double flop = 2.0 * 3 * 1024 * 512 * 2048;
    struct priced_run as_others = block_of(b);
    b->precisions[0].grouped_flop_per_s = exactly(50e12);
    struct priced_run own = block_of(b);
    near_to(own.forward_ns[0] - as_others.forward_ns[0], llround(1e9 * flop / 100e12));
    near_to(own.backward_ns[0] - as_others.backward_ns[0], llround(2e9 * flop / 100e12));
    b->precisions[0].backward_grouped_flop_per_s = exactly(200e12);
    struct priced_run back = block_of(b);
    assert_int_equal(back.forward_ns[0], own.forward_ns[0]);
    near_to(as_others.backward_ns[0] - back.backward_ns[0], llround(1e9 * flop / 100e12));
    b->precisions[0].product_flop_per_s = exactly(100e12); // by shape: not used
    struct priced_run shaped = block_of(b);
    b->precisions[0].grouped_flop_per_s = exactly(1e12);
    assert_int_equal(block_of(b).forward_ns[0], shaped.forward_ns[0]);
}

// Half the rate in steps of a ring doubles attention, 2.5 times as long backward.
TEST(a_step_of_a_ring_has_its_rate)
{
    struct bench *b = bench_gated();
    b->precisions[0].ring_attention_flop_per_s = exactly(25e12);
    struct priced_run alone = block_of(b);
    b->precisions[0].ring_attention_flop_per_s = exactly(0);
    assert_int_equal(alone.forward_ns[0], block_of(b).forward_ns[0]);
    b->problem.job.layout.context = 2, b->groups[0].intra = (struct link){1e18, 0};
    struct priced_run as_whole = block_of(b);
    b->precisions[0].ring_attention_flop_per_s = exactly(25e12);
    struct priced_run steps = block_of(b);
    int64_t attention = steps.forward_ns[0] - as_whole.forward_ns[0];
    near_to(attention, llround(1e9 * 1073741824 / 2 / 50e12));
    assert_in_range(steps.backward_ns[0] - as_whole.backward_ns[0], 5 * attention / 2 - 2,
                    5 * attention / 2 + 2);
    b->precisions[0].backward_ring_attention_flop_per_s = exactly(50e12);
    near_to(block_of(b).backward_ns[0], as_whole.backward_ns[0]);
}

TEST(casts_have_their_rate)
{
    struct bench *b = bench_gated();
    b->problem.job.precision = FP8;
    struct priced_run as_all = block_of(b);
    b->precisions[0].cast_bytes_per_s = b->precisions[1].cast_bytes_per_s = exactly(1e18);
    struct priced_run free = block_of(b);
    b->precisions[0].cast_bytes_per_s = b->precisions[1].cast_bytes_per_s = exactly(5e11);
    struct priced_run slow = block_of(b);
    int64_t casts = as_all.forward_ns[0] - free.forward_ns[0];
    assert_true(casts > 1000);
    assert_in_range(slow.forward_ns[0] - free.forward_ns[0], 2 * casts - 2, 2 * casts + 2);
    assert_in_range(slow.backward_ns[0] - free.backward_ns[0], 2 * casts - 2, 2 * casts + 2);
}

// 2048 rows: the halves of a gate of 2 x 512 values clamped and put side by side, 8 passes of 2
// bytes; the bias of 1024 values scaled in fp32, added, gathered, narrowed, 28 bytes a value.
TEST(biases_of_experts_are_kernels_of_their_own)
{
    struct bench *b = bench_mixture(4);
    struct priced_run without = block_of(b);
    b->runs[BLOCK].more_values = 16 * (1 + 2 * 512 + 1024) + 16;
    struct priced_run with = block_of(b);
    near_to(with.forward_ns[0] - without.forward_ns[0],
            llround(1e9 * 2048 * (8.0 * 2 * 512 + 28.0 * 1024) / 1e12));
    b->problem.job.graphs = GRAPHS_STEP; // a graph starts them, it does not spare them
    assert_int_equal(forward_of(b), with.forward_ns[0]);
    b->problem.job.graphs = GRAPHS_NONE, b->problem.job.trainer = TRAINER_TORCHTITAN;
    int64_t eager = forward_of(b);
    b->runs[BLOCK].more_values = 0;
    assert_int_equal(forward_of(b), eager);
}

// ---- laws

// C of the pass, K of dispatch: hidden, both take between max(C, K) and C + K.
TEST(hidden_dispatch_is_between_both_streams)
{
    int hidden = 0;
    for (double share = 0; share <= 1; share += 0.125)
        for (double rate = 1e8; rate < 1e13; rate *= 4) {
            struct bench *b = bench_mixture(4);
            // An all-to-all's share, where it is stated; else that of all.
            bool own = share > 0;
            b->problem.costs.dispatch_overlap = exactly(own ? 1 - share : share);
            b->problem.costs.all_to_all_overlap = exactly(share);
            b->groups[0].intra = (struct link){1e18, 0};
            struct priced_run compute = block_of(b);
            b->groups[0].intra = (struct link){rate, 0};
            struct priced_run shown = block_of(b);
            b->problem.job.overlapped_dispatch = true;
            struct priced_run beside = block_of(b);
            if (own) {
                b->problem.costs.all_to_all_overlap = exactly(0);
                b->problem.costs.dispatch_overlap = exactly(share);
                struct priced_run alike = block_of(b);
                assert_int_equal(alike.forward_ns[0], beside.forward_ns[0]);
                // The slow end of a share's range hides nothing.
                b->problem.costs.all_to_all_overlap.high = 1;
                assert_int_equal(block_of(b).forward_ns[0], shown.forward_ns[0]);
            }
            const int64_t passes[2][3] = {
                {compute.forward_ns[0], shown.forward_ns[0], beside.forward_ns[0]},
                {compute.backward_ns[0], shown.backward_ns[0], beside.backward_ns[0]}};
            for (int i = 0; i < 2; i++) {
                double c = (double)passes[i][0], k = (double)(passes[i][1] - passes[i][0]);
                assert_true(passes[i][2] <= passes[i][1]);
                assert_true((double)passes[i][2] + 1 >= fmax(c, k));
                near_to(passes[i][2], llround(c + k - share * fmin(c, k)));
                hidden += passes[i][2] < passes[i][1];
            }
        }
    assert_true(hidden > 100);
}

TEST(more_tokens_never_take_less_time)
{
    struct random rng = {71};
    for (int i = 0; i < 2000; i++) {
        int expert = 1 << random_between(&rng, 0, 4);
        struct bench *b = bench_mixture(expert);
        dispatch_draw(&b->problem, rng.state);
        struct expert_shape *e = &b->runs[BLOCK].experts;
        e->top_k = random_between(&rng, 1, 15);
        if (16 / (e->router_groups ? e->router_groups : 16) * e->router_top_groups <= e->top_k)
            e->router_top_groups = e->router_groups; // one expert more is asked for below
        if (random_chance(&rng, 50)) b->precisions[0].product_flop_per_s = exactly(100e12);
        int64_t before = both_of(b);
        b->runs[BLOCK].experts.imbalance = 1.5;
        int64_t uneven = both_of(b);
        double padding = b->problem.job.expert_padding;
        b->problem.job.expert_padding = job_expert_padding(&b->problem.job) * 1.5;
        assert_true(uneven <= both_of(b));
        b->problem.job.expert_padding = padding;
        b->runs[BLOCK].experts.imbalance = 1, b->runs[BLOCK].experts.top_k++;
        assert_true(before <= uneven && before <= both_of(b));
        b->runs[BLOCK].experts.top_k--, b->problem.job.layout.micro_batch = 4;
        assert_true(before <= both_of(b));
        b->problem.job.layout.micro_batch = 2, b->problem.job.graphs = GRAPHS_STEP;
        assert_true(both_of(b) <= before);
    }
}

// Experts that are all on one rank are sent nowhere: a setting that hides their dispatch is none.
TEST(nothing_hides_where_nothing_is_sent)
{
    struct random rng = {73};
    for (int i = 0; i < 500; i++) {
        struct bench *b = bench_mixture(1);
        if (random_chance(&rng, 50)) b->problem.job.layout.data = 4;
        dispatch_draw(&b->problem, rng.state);
        b->problem.job.overlapped_dispatch = false;
        int64_t alone = both_of(b);
        b->problem.job.overlapped_dispatch = true;
        assert_int_equal(both_of(b), alone);
    }
}

TEST(dense_layers_do_not_care)
{
    struct random rng = {72};
    for (int i = 0; i < 500; i++) {
        struct bench *b = bench_gated();
        struct priced_run before = block_of(b);
        random_between(&rng, 0, 1);
        dispatch_draw(&b->problem, rng.state);
        struct priced_run after = block_of(b);
        assert_int_equal(before.forward_ns[0], after.forward_ns[0]);
        assert_int_equal(before.backward_ns[0], after.backward_ns[0]);
    }
}
