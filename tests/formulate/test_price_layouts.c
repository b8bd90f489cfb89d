// Prices of layouts and layers beyond the dense, unsharded, whole ones, against published counts,
// closed forms and laws: what slices, splits and shards of a pass add up to; parameters of a
// published mixture and of published adapters.
#include "formulate/price/extrapolate.h"
#include "formulate/price/price.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { EMBEDDING, BLOCK, HEAD };

struct bench {
    struct problem problem;
    struct layer_run runs[3];
    struct node_group group;
    struct nic nic;
    struct gpu_costs gpu;
    struct precision_costs precisions[2];
    struct layer_time time;
    struct collective_times table;
    struct priced priced;
    struct arena arena;
    struct error err;
};

static struct estimate exactly(double value)
{
    return (struct estimate){.value = value, .low = value, .high = value, .origin = ORIGIN_ASSUMED};
}

static void set_costs(struct bench *b)
{
    for (int i = 0; i < 2; i++)
        b->precisions[i] = (struct precision_costs){.precision = i ? FP8 : BF16,
                                                    .gemm_flop_per_s = exactly(i ? 200e12 : 100e12),
                                                    .attention_flop_per_s = exactly(50e12),
                                                    .low_rank_flop_per_s = exactly(10e12)};
    b->gpu = (struct gpu_costs){.gpu = "G",
                                .precisions = b->precisions,
                                .precision_count = 2,
                                .memory_bytes_per_s = exactly(1e12),
                                .layer_overhead_s = exactly(10e-6),
                                .constant_bytes = exactly(1e9)};
    b->problem.costs = (struct costs){.name = "test",
                                      .gpus = &b->gpu,
                                      .gpu_count = 1,
                                      .intra_efficiency = exactly(1),
                                      .transfer_share = {0, 1, 0}};
    for (int i = 0; i < NIC_KIND_COUNT; i++) b->problem.costs.network_efficiency[i] = exactly(1);
}

// h 1024, f 4096, 16 heads of 64, 8 KV heads, gated; sequences of 512, micro-batches of 2: n = 1024
// tokens. Fused attention.
static void begin(struct bench *b)
{
    *b = (struct bench){.err = {OK, ""}};
    arena_open(&b->arena, NULL);
    b->runs[EMBEDDING] =
        (struct layer_run){.name = "embedding", .kind = LAYER_EMBEDDING, .count = 1};
    b->runs[BLOCK] =
        (struct layer_run){.name = "block", .kind = LAYER_BLOCK, .count = 6, .recomputable = true};
    b->runs[HEAD] = (struct layer_run){.name = "head", .kind = LAYER_HEAD, .count = 1};
    b->problem.name = "test";
    b->problem.model = (struct model){.name = "test",
                                      .has_shape = true,
                                      .runs = b->runs,
                                      .run_count = 3,
                                      .layer_count = 8,
                                      .shape = {.hidden = 1024,
                                                .ffn = 4096,
                                                .heads = 16,
                                                .kv_heads = 8,
                                                .head_width = 64,
                                                .vocabulary = 32000,
                                                .gated_ffn = true,
                                                .rms_norm = true}};
    b->nic = (struct nic){NIC_INFINIBAND, 1, {10e9, 5e-6}};
    b->group = (struct node_group){"nodes", "G", 64, 4, 80000000000, {100e9, 1e-6}, &b->nic, 1};
    b->problem.cluster = (struct cluster){.name = "test", .groups = &b->group, .group_count = 1};
    set_costs(b);
    b->problem.job = (struct job){.name = "test",
                                  .sequence = 512,
                                  .global_batch = 64,
                                  .precision = BF16,
                                  .gradient_bytes_per_value = 2,
                                  .adam = true,
                                  .layout = {.tensor = 1,
                                             .context = 1,
                                             .data = 1,
                                             LAYOUT_PLAIN(2),
                                             .micro_batch = 2,
                                             .schedule = SCHEDULE_1F1B,
                                             .fused_attention = true},
                                  .recompute = {true, true, true, true},
                                  .budget = {-1, -1, -1, 0},
                                  .memory_fraction = 1};
}

static void end(struct bench *b) { arena_close(&b->arena); }

static const struct priced *price(struct bench *b)
{
    if (price_problem(&b->priced, &b->problem, &b->arena, &b->err) != OK)
        fail_msg("%s", b->err.text);
    return &b->priced;
}

static struct priced_run block_of(struct bench *b) { return price(b)->runs[BLOCK]; }

static void near_to(int64_t a, int64_t b)
{
    if (llabs(a - b) > 1) fail_msg("%lld and %lld", (long long)a, (long long)b);
}

// ---- rates of the way back

static int64_t backward_of(struct bench *b) { return block_of(b).backward_ns[0]; }

// FL = 32 212 254 720, FA = 4 x 2 x 512 x 256 x 1024 = 1 073 741 824 and 2.5 times that backward;
// FM = 10 x 1024 x 1024 x 2 + 3 x 1024 x 4096 x 2 = 46 137 344, twice backward.
static void rates_of_the_way_back(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    int64_t before = backward_of(&b), forward = block_of(&b).forward_ns[0];
    near_to(before, 10000 + 2 * 322123 + 53687 + 92275);
    b.precisions[0].data_gradient_flop_per_s = exactly(50e12);
    near_to(backward_of(&b), before + 322123);
    b.precisions[0].weight_gradient_flop_per_s = exactly(200e12);
    near_to(backward_of(&b), before + 322123 - 161061);
    b.precisions[0].backward_attention_flop_per_s = exactly(25e12);
    near_to(backward_of(&b), before + 322123 - 161061 + 53687);
    b.gpu.backward_memory_bytes_per_s = exactly(2e12);
    near_to(backward_of(&b), before + 322123 - 161061 + 53687 - 46137);
    b.gpu.backward_overhead_s = exactly(30e-6);
    near_to(backward_of(&b), before + 322123 - 161061 + 53687 - 46137 + 20000);
    near_to(block_of(&b).forward_ns[0], forward);
    b.gpu.forward_factor = exactly(1.5), b.gpu.backward_factor = exactly(2);
    near_to(block_of(&b).forward_ns[0], 10000 + (forward - 10000) * 3 / 2);
    int64_t kernels = before - 10000 + 322123 - 161061 + 53687 - 46137;
    assert_in_range(backward_of(&b), 30000 + 2 * kernels - 4, 30000 + 2 * kernels + 4);
    b.problem.job.layout.schedule = SCHEDULE_ZB_H1;
    near_to(block_of(&b).weight_ns[0], 322123); // half of it at twice the rate, twice
    end(&b);
}

// Bytes of all matrices of a pass of products: e (Q + n (4 h + 2 q + 2 kv + 3 f)), Q = 1024 x (2048
// + 1024 + 12288).
static void operands_take_time(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    struct priced_run before = block_of(&b);
    int64_t head = b.priced.runs[HEAD].forward_ns[0];
    b.precisions[0].operand_bytes_per_s = exactly(1e12);
    double bytes = 2 * (1024.0 * 15360 + 1024.0 * (4096 + 2048 + 1024 + 12288));
    struct priced_run with = block_of(&b);
    near_to(with.forward_ns[0], before.forward_ns[0] + (int64_t)(bytes / 1e3));
    near_to(with.backward_ns[0], before.backward_ns[0] + 2 * (int64_t)(bytes / 1e3));
    near_to(b.priced.runs[HEAD].forward_ns[0],
            head + (int64_t)(2 * (1024.0 * 32000 + 1024.0 * 33024) / 1e3));
    end(&b);
}

static void set_range(struct estimate *e, double low, double high)
{
    e->valid_low = low, e->valid_high = high;
}

static const struct plan_extrapolation *find_cost(const struct plan *p, const char *cost)
{
    for (int i = 0; i < p->extrapolated_count; i++)
        if (!strcmp(p->extrapolated[i].cost, cost)) return &p->extrapolated[i];
    return NULL;
}

// A plan says which numbers it used beyond their samples, and how far; within them it says nothing.
static void beyond_the_samples(void **state)
{
    (void)state;
    struct bench b;
    struct plan plan = {.stage_count = 2};
    struct plan_stage stages[2] = {{.first_layer = 0, .layer_count = 4},
                                   {.first_layer = 4, .layer_count = 4}};
    static struct segment segments[1];
    begin(&b);
    plan.stages = stages;
    if (extrapolation_of_plan(&plan, &b.problem, &b.arena, &b.err) != OK)
        fail_msg("%s", b.err.text);
    assert_int_equal(plan.extrapolated_count, 0); // no range is stated
    // Products: attention projection 2 x 1024 x 1024 x 1024, ..., logits 2 x 1024 x 1024 x 32000.
    double least = 2147483648.0, greatest = 67108864000.0;
    set_range(&b.precisions[0].gemm_flop_per_s, least, greatest);
    set_range(&b.precisions[0].attention_flop_per_s, 1e9, 2e9);
    b.precisions[0].data_gradient_flop_per_s = exactly(1e14);
    set_range(&b.precisions[0].data_gradient_flop_per_s, least * 2, greatest / 4);
    segments[0] = (struct segment){0, exactly(1e-5), exactly(1e10)};
    set_range(&segments[0].seconds, 1, 1048576), set_range(&segments[0].bytes_per_s, 1, 1048576);
    b.table = (struct collective_times){
        .gpu = "G", .send = true, .ranks = 2, .segment_count = 1, .segments = segments};
    b.problem.costs.collectives = &b.table;
    b.problem.costs.collective_count = 1;
    if (extrapolation_of_plan(&plan, &b.problem, &b.arena, &b.err) != OK)
        fail_msg("%s", b.err.text);
    assert_int_equal(plan.extrapolated_count, 2);
    const struct plan_extrapolation *e = find_cost(&plan, "data_gradient_flop_per_s");
    assert_non_null(e);
    assert_true(fabs(e->least / least - 1) < 1e-9 && fabs(e->greatest / greatest - 1) < 1e-9 &&
                fabs(plan_extrapolation_times(e) - 4) < 1e-9);
    assert_string_equal(e->of, "head, logits");
    e = find_cost(&plan, "collectives: messages of 2 in a node"); // n h e = 2 MiB
    assert_non_null(e);
    assert_true(fabs(plan_extrapolation_times(e) - 2) < 1e-9);
    assert_string_equal(e->gpu, "G");
    end(&b);
}

// ---- passes

static void split_backward_is_the_joint_one(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    int64_t joint = block_of(&b).backward_ns[0];
    assert_int_equal(block_of(&b).weight_ns[0], 0);
    b.problem.job.layout.schedule = SCHEDULE_ZB_H1;
    struct priced_run block = block_of(&b);
    near_to(block.backward_ns[0] + block.weight_ns[0], joint);
    // FL = 2 x 1024 x (1024 x 2048 + 1024 x 1024 + 3 x 1024 x 4096) = 32 212 254 720
    assert_int_equal(block.weight_ns[0], 322123);
    assert_int_equal(b.priced.runs[EMBEDDING].weight_ns[0], 0);
    assert_int_equal(b.priced.runs[HEAD].weight_ns[0], 671089); // 2 x 1024 x 1024 x 32000
    // times of the costs: as stated, else by half
    b.time = (struct layer_time){
        .run = "block", .gpu = "G", .forward_s = 1e-3, .backward_s = 3e-3, .full_s = 1e-3};
    b.problem.costs.layer_times = &b.time;
    b.problem.costs.layer_time_count = 1;
    assert_int_equal(block_of(&b).weight_ns[0], 1500000);
    b.time.weight_s = 1e-3;
    assert_int_equal(block_of(&b).weight_ns[0], 1000000);
    assert_int_equal(b.priced.runs[BLOCK].backward_ns[0], 2000000);
    end(&b);
}

// Every formula but the overhead is additive over slices, causal attention too: l (before + l/2)
// sums to s^2 / 2.
static void slices_add_up(void **state)
{
    (void)state;
    for (int fused = 0; fused < 2; fused++) {
        struct bench b;
        begin(&b);
        b.problem.job.layout.fused_attention = fused;
        b.gpu.layer_overhead_s = exactly(0);
        struct priced_run whole = block_of(&b);
        int64_t message = b.priced.cuts[whole.cut].forward_ns[PART_LINK];
        struct layout *l = &b.problem.job.layout;
        l->schedule = SCHEDULE_TOKEN_SLICED;
        l->slice_count = 3;
        l->slices[0] = 256, l->slices[1] = 192, l->slices[2] = 64;
        struct priced_run sliced = block_of(&b);
        int64_t forward = 0, backward = 0, full = 0, sent = 0;
        for (int i = 0; i < 3; i++) {
            forward += sliced.forward_ns[i], backward += sliced.backward_ns[i],
                full += sliced.full_ns[i];
            sent += b.priced.cuts[sliced.cut].forward_ns[i * PART_COUNT + PART_LINK];
        }
        near_to(sent, message);
        if (!fused) assert_true(forward < whole.forward_ns[0]); // what a slice need not look at
        assert_in_range(llabs(forward - whole.forward_ns[0]), 0, fused ? 2 : whole.forward_ns[0]);
        assert_in_range(llabs(backward - whole.backward_ns[0]), 0,
                        fused ? 2 : whole.backward_ns[0]);
        assert_in_range(llabs(full - whole.full_ns[0]), 0, fused ? 2 : whole.full_ns[0]);
        // 2 sequences x 256 tokens x (0 + 128), 192 x (256 + 96), 64 x (448 + 32): the middle one
        // has the most scores
        int64_t equal_linear = sliced.forward_ns[0] * 192 / 256;
        assert_true(sliced.forward_ns[1] > equal_linear);
        assert_int_equal(sliced.stash_bytes[0], whole.stash_bytes[0]);
        end(&b);
    }
}

static void launches_bound_small_layers(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    struct priced_run free = block_of(&b);
    b.gpu.layer_launch_s = exactly((double)free.forward_ns[0] * 1e-9 + 1e-6);
    struct priced_run bound = block_of(&b);
    assert_int_equal(bound.forward_ns[0], free.forward_ns[0] + 1000);
    assert_int_equal(bound.full_ns[0], bound.forward_ns[0]);
    assert_int_equal(
        bound.backward_ns[0],
        2 * bound.forward_ns[0]);    // the GPU's own is less than twice forward: one overhead
    b.problem.job.layout.tensor = 2; // collectives are among what is launched
    assert_int_equal(block_of(&b).forward_ns[0], bound.forward_ns[0]);
    b.gpu.layer_launch_s = exactly(0);
    int64_t before = block_of(&b).forward_ns[0];
    b.gpu.collective_launch_s = exactly(7e-6);
    near_to(block_of(&b).forward_ns[0], before + 14000);
    b.problem.costs.tensor_overlap = exactly(1);
    struct priced_run hidden = block_of(&b);
    b.group.intra.bytes_per_s = 1e7;
    assert_int_equal(block_of(&b).forward_ns[0], hidden.forward_ns[0]);
    end(&b);
}

static void tables_of_collectives(void **state)
{
    (void)state;
    struct bench b;
    static double bytes[] = {1048576, 4194304}, seconds[] = {100e-6, 400e-6};
    begin(&b);
    b.problem.job.layout.tensor = 2;
    b.gpu.layer_overhead_s = exactly(0);
    b.group.intra = (struct link){1e18, 0};
    int64_t compute = block_of(&b).forward_ns[0];
    b.table = (struct collective_times){
        .gpu = "G", .ranks = 2, .point_count = 2, .bytes = bytes, .seconds = seconds};
    b.problem.costs.collectives = &b.table;
    b.problem.costs.collective_count = 1;
    // n h e = 2 097 152 B: half-way between the logarithms, 200 us; twice
    near_to(block_of(&b).forward_ns[0], compute + 400000);
    bytes[0] = 2097152;
    near_to(block_of(&b).forward_ns[0], compute + 200000);
    bytes[0] = 524288, bytes[1] = 1048576,
    seconds[1] = 300e-6; // beyond the last point at its bandwidth
    near_to(block_of(&b).forward_ns[0], compute + 1200000);
    b.table.ranks = 4;
    near_to(block_of(&b).forward_ns[0], compute);
    b.table.ranks = 2, b.table.send = true; // a message of 2 MiB
    assert_int_equal(price(&b)->cuts[b.priced.runs[BLOCK].cut].forward_ns[PART_LINK], 600000);
    b.problem.costs.transfer_launch_s = exactly(5e-6);
    assert_int_equal(price(&b)->cuts[b.priced.runs[BLOCK].cut].forward_ns[PART_LINK], 605000);
    b.problem.costs.schedule_share_stated[SCHEDULE_1F1B] = true;
    b.problem.costs.schedule_share[SCHEDULE_1F1B][PART_BLOCKING] = 1;
    assert_int_equal(price(&b)->cuts[b.priced.runs[BLOCK].cut].forward_ns[PART_BLOCKING], 605000);
    b.problem.job.scattered_messages = true; // half of it: 1 MiB
    assert_int_equal(price(&b)->cuts[b.priced.runs[BLOCK].cut].forward_ns[PART_BLOCKING], 305000);
    end(&b);
}

// The last segment that has begun gives the time, and a message that takes two is as long as the
// later one says.
static void segments_of_collectives(void **state)
{
    (void)state;
    struct bench b;
    static struct segment segments[2];
    begin(&b);
    b.problem.job.layout.tensor = 2;
    b.gpu.layer_overhead_s = exactly(0);
    b.group.intra = (struct link){1e18, 0};
    int64_t compute = block_of(&b).forward_ns[0];
    segments[0] = (struct segment){0, exactly(10e-6), exactly(2097152 / 100e-6)};
    segments[1] = (struct segment){2097153, exactly(500e-6), exactly(1e12)};
    b.table =
        (struct collective_times){.gpu = "G", .ranks = 2, .segment_count = 2, .segments = segments};
    b.problem.costs.collectives = &b.table;
    b.problem.costs.collective_count = 1;
    near_to(block_of(&b).forward_ns[0],
            compute + 2 * 110000); // n h e = 2 097 152 B: the last byte of the first
    segments[1].from_bytes = 2097152;
    near_to(block_of(&b).forward_ns[0], compute + 2 * 500000);
    segments[1].from_bytes = 1097152; // a million bytes further, 1 us
    near_to(block_of(&b).forward_ns[0], compute + 2 * 501000);
    end(&b);
}

static void transfers_have_their_own_bandwidth(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    int64_t before = price(&b)->cuts[b.priced.runs[BLOCK].cut].forward_ns[PART_LINK],
            forward = b.priced.runs[BLOCK].forward_ns[0];
    b.problem.costs.transfer_intra_efficiency = exactly(0.25);
    assert_in_range(price(&b)->cuts[b.priced.runs[BLOCK].cut].forward_ns[PART_LINK], 4 * before - 2,
                    4 * before + 2);
    assert_int_equal(b.priced.runs[BLOCK].forward_ns[0], forward);
    end(&b);
}

// A step of the ring takes 2 n (kv/t) e / 100e9 + 1 us = 11.48576 us, its attention FA / (c
// r_attn): 2 b (s/2) s q / 2 / 50e12.
static void attention_hides_the_ring(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.problem.job.layout.context = 2;
    int64_t exposed = block_of(&b).forward_ns[0], backward = b.priced.runs[BLOCK].backward_ns[0];
    b.problem.costs.context_overlap = exactly(1);
    // FA = 4 x 2 x 512 x 128 x 1024 = 536 870 912: 10.73741824 us, of which half hides a step
    near_to(block_of(&b).forward_ns[0], exposed - 5369);
    near_to(b.priced.runs[BLOCK].backward_ns[0], backward - 13422);
    b.precisions[0].attention_flop_per_s = exactly(5e12);
    int64_t hidden = block_of(&b).forward_ns[0];
    b.group.intra.bytes_per_s = 90e9;
    assert_int_equal(block_of(&b).forward_ns[0], hidden);
    end(&b);
}

// ---- sharding

// Published bytes per value (16-bit gradients, Adam): 16, 4 + 12/d, 2 + 14/d, 16/d.
static void states_by_zero_stage(void **state)
{
    (void)state;
    const double d = 8, expected[] = {16, 4 + 12 / d, 2 + 14 / d, 16 / d};
    struct bench b;
    begin(&b);
    b.problem.job.layout.data = 8;
    b.problem.job.global_batch = 64;
    const double values = 15730688; // 1024 x 2048 + 1024 x 1024 + 3 x 1024 x 4096 + 2 x 1024
    for (int zero = 0; zero < 4; zero++) {
        b.problem.job.layout.zero = zero;
        struct priced_run block = block_of(&b);
        double all = (double)(block.weight_bytes + block.gradient_bytes + block.optimizer_bytes);
        assert_true(fabs(all - expected[zero] * values) < 3);
        near_to(block.optimizer_ns[0],
                llround((2.0 * (double)block.optimizer_bytes + (double)block.gradient_bytes +
                         (double)block.weight_bytes) /
                        1e3));
    }
    end(&b);
}

static void gathers_of_sharded_weights(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    struct layout *l = &b.problem.job.layout;
    l->data = 4;
    struct priced_run plain = block_of(&b);
    // over 4 devices of a node at 100e9: 3/4 x 2 x 15 730 688 B = 235.96 us, and 3 us
    const int64_t gather = 238960;
    near_to(plain.sync_ns[0][0], 2 * 235960);
    assert_int_equal(b.priced.groups[0].sync_constant_ns[0], 6000);
    l->zero = 1;
    near_to(block_of(&b).sync_ns[0][0], 2 * 235960);
    l->zero = 2;
    struct priced_run two = block_of(&b);
    near_to(two.forward_ns[0], plain.forward_ns[0]);
    near_to(two.backward_ns[0], plain.backward_ns[0] + gather);
    near_to(two.sync_ns[0][0], 235960);
    assert_int_equal(b.priced.groups[0].sync_constant_ns[0], 3000);
    near_to(two.working_bytes[0], plain.working_bytes[0] + 2 * 15730688);
    l->zero = 3;
    struct priced_run three = block_of(&b);
    near_to(three.forward_ns[0], plain.forward_ns[0] + gather);
    near_to(three.backward_ns[0], plain.backward_ns[0] + 2 * gather);
    near_to(three.full_ns[0], plain.full_ns[0]);
    assert_int_equal(three.sync_ns[0][0], 0);
    assert_int_equal(b.priced.groups[0].sync_constant_ns[0], 0);
    l->gradient_sync = SYNC_OVERLAPPED;
    near_to(block_of(&b).forward_ns[0],
            plain.forward_ns[0] > gather ? plain.forward_ns[0] : gather);
    b.problem.costs.overlap_slowdown = exactly(0.1);
    near_to(block_of(&b).forward_ns[0], plain.forward_ns[0] + gather / 10);
    l->schedule = SCHEDULE_ZB_H1; // the gradients' scatter goes with the weight gradient
    assert_true(block_of(&b).weight_ns[0] > 322123);
    // without a barrier the optimizer's gather runs under the next forward
    l->schedule = SCHEDULE_1F1B, l->zero = 1, l->barrier = false;
    near_to(block_of(&b).sync_ns[0][0], 235960);
    b.group.intra.bytes_per_s = 10e9; // 2359.6 us do not fit
    near_to(block_of(&b).sync_ns[0][0], 2 * 2359603 - b.priced.runs[BLOCK].forward_ns[0]);
    end(&b);
}

static void states_leave_for_the_host(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.problem.job.layout.offload_optimizer = true;
    assert_non_null(strstr(price(&b)->groups[0].excluded, "host_link_bytes_per_s"));
    b.gpu.host_link_bytes_per_s = exactly(10e9);
    b.gpu.host_memory_bytes_per_s = exactly(20e9);
    struct priced_run block = block_of(&b);
    assert_int_equal(block.optimizer_bytes, 0);
    // 4 P over the link, (24 + 4) P in host memory, P = 15 730 688
    near_to(block.optimizer_ns[0], llround(15730688 * (4 / 10.0 + 28 / 20.0)));
    end(&b);
}

// ---- kinds of layers

// Mixtral 8x7B has 46 702 792 704 parameters (published: 46.7 billion), of which a token meets 12.9
// billion.
static void mixtral(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.problem.model.shape = (struct shape){.hidden = 4096,
                                           .ffn = 14336,
                                           .heads = 32,
                                           .kv_heads = 8,
                                           .head_width = 128,
                                           .vocabulary = 32000,
                                           .gated_ffn = true,
                                           .rms_norm = true};
    b.runs[BLOCK] = (struct layer_run){.name = "block",
                                       .kind = LAYER_MOE,
                                       .count = 32,
                                       .recomputable = true,
                                       .experts = {.experts = 8, .top_k = 2, .ffn = 14336}};
    b.problem.model.layer_count = 34;
    const struct priced *p = price(&b);
    int64_t all = p->runs[EMBEDDING].weight_bytes + 32 * p->runs[BLOCK].weight_bytes +
                  p->runs[HEAD].weight_bytes;
    assert_int_equal(all / 2, 46702792704);
    // over 4 expert ranks a device keeps two experts of eight; their states are sharded over the
    // rest
    int64_t whole = p->runs[BLOCK].weight_bytes, experts = 2LL * 3 * 4096 * 14336 * 8;
    b.problem.job.layout.data = 8, b.problem.job.layout.expert = 4, b.problem.job.layout.zero = 1;
    struct priced_run block = block_of(&b);
    assert_int_equal(block.weight_bytes, whole - experts / 4 * 3);
    near_to(block.optimizer_bytes, 6 * (whole - experts) / 8 + 6 * experts / 4 / 2);
    end(&b);
}

// One expert that every token goes to is the dense block and a router of one column.
static void one_expert_is_a_dense_block(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.gpu.memory_bytes_per_s = exactly(1e21); // its tokens are moved in and out
    struct priced_run dense = block_of(&b);
    b.runs[BLOCK].kind = LAYER_MOE;
    b.runs[BLOCK].experts = (struct expert_shape){.experts = 1, .top_k = 1, .ffn = 4096};
    struct priced_run moe = block_of(&b);
    assert_int_equal(moe.weight_bytes, dense.weight_bytes + 2 * 1024);
    near_to(moe.forward_ns[0], dense.forward_ns[0] + 21); // 2 x 1024 x 1024 FLOP of the router
    near_to(moe.stash_bytes[2], dense.stash_bytes[2]);
    // inputs and outputs of the expert are kept: 2 n h e, and 16 n of the router
    near_to(moe.stash_bytes[0], dense.stash_bytes[0] + 2 * 1024 * 1024 * 2 + 16 * 1024);
    b.runs[BLOCK].experts.shared_ffn = 4096;
    assert_int_equal(block_of(&b).weight_bytes, moe.weight_bytes + 2 * 3 * 1024 * 4096);
    // half as many tokens again on the fullest GPU
    b.runs[BLOCK].experts.shared_ffn = 0;
    b.runs[BLOCK].experts.imbalance = 1.5;
    near_to(block_of(&b).forward_ns[0],
            moe.forward_ns[0] + 128849); // 2 x 3 x 1024 x 4096 x 512 FLOP
    end(&b);
}

static void experts_exchange_tokens(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.runs[BLOCK].kind = LAYER_MOE;
    b.runs[BLOCK].experts = (struct expert_shape){.experts = 4, .top_k = 2, .ffn = 4096};
    b.problem.job.layout.data = 4;
    int64_t together = block_of(&b).forward_ns[0];
    b.problem.job.layout.expert = 4;
    // twice 3/4 of n h e top_k = 4 194 304 B over 100e9, and 3 us each
    near_to(block_of(&b).forward_ns[0], together + 2 * (31457 + 3000));
    assert_int_equal(b.priced.runs[BLOCK].sync_ns[0][0] > 0, true);
    b.problem.job.layout.data = 8,
    b.problem.job.layout.expert = 8; // two nodes: half of them are near
    b.runs[BLOCK].experts.experts = 8;
    b.problem.job.global_batch = 64;
    int64_t spread = block_of(&b).forward_ns[0];
    b.problem.job.layout.expert = 1;
    // 1/2 x 4 194 304 over a quarter of 10e9, 7 x 5 us
    near_to(spread, block_of(&b).forward_ns[0] + 2 * (838861 + 35000));
    b.problem.job.layout.expert = 3;
    assert_int_equal(price_problem(&b.priced, &b.problem, &b.arena, &b.err), BAD_INPUT);
    end(&b);
}

// Llama 3.1 70B with rank 16 on every matrix: 207 093 760 trained values (as adapter tools print
// for it).
static void adapters(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.problem.model.shape = (struct shape){.hidden = 8192,
                                           .ffn = 28672,
                                           .heads = 64,
                                           .kv_heads = 8,
                                           .head_width = 128,
                                           .vocabulary = 128256,
                                           .gated_ffn = true,
                                           .rms_norm = true};
    b.runs[BLOCK].count = 80;
    b.problem.model.layer_count = 82;
    b.problem.job.gradient_bytes_per_value = 4;
    struct priced_run trained = block_of(&b);
    int64_t sync = b.priced.cuts[trained.cut].backward_ns[0][PART_LINK];
    for (int i = 0; i < 3; i++) b.runs[i].frozen = true;
    b.runs[BLOCK].adapter_rank = 16;
    const struct priced *p = price(&b);
    assert_int_equal(80 * p->runs[BLOCK].gradient_bytes, 4LL * 207093760);
    assert_int_equal(p->runs[BLOCK].weight_bytes, trained.weight_bytes + 2 * 207093760 / 80);
    assert_int_equal(p->runs[EMBEDDING].gradient_bytes + p->runs[EMBEDDING].optimizer_bytes +
                         p->runs[HEAD].gradient_bytes,
                     0);
    // nothing is learnt before the first block: no backward, nothing kept, nothing sent back to the
    // embedding
    assert_int_equal(p->runs[EMBEDDING].backward_ns[0] + p->runs[EMBEDDING].stash_bytes[0], 0);
    assert_true(p->runs[EMBEDDING].forward_ns[0] > 0);
    assert_int_equal(p->cuts[p->runs[EMBEDDING].cut].backward_ns[0][PART_LINK], 0);
    assert_true(p->cuts[p->runs[EMBEDDING].cut].forward_ns[PART_LINK] > 0);
    assert_int_equal(p->cuts[p->runs[BLOCK].cut].backward_ns[0][PART_LINK], sync);
    assert_true(p->runs[BLOCK].backward_ns[0] < trained.backward_ns[0] * 7 / 10);
    // 4 bits a value and 2 bytes for 128: 0.515625; the norms stay
    b.runs[BLOCK].weight_bits = 4;
    int64_t matrices = (trained.weight_bytes - 2 * 2 * 8192) / 2;
    near_to(block_of(&b).weight_bytes, 33 * matrices / 64 + 2 * 2 * 8192 + 2 * 207093760 / 80);
    // a batch so small that reading the weights is what counts
    b.problem.job.sequence = 1, b.problem.job.layout.micro_batch = 1;
    b.gpu.layer_overhead_s = exactly(0);
    int64_t bound = 33 * matrices / 64 / 1000;
    assert_in_range(block_of(&b).forward_ns[0], bound, bound + bound / 5);
    end(&b);
}

static void tables_of_values(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.runs[BLOCK] = (struct layer_run){
        .name = "table",
        .kind = LAYER_MEMORY,
        .count = 6,
        .pool = {.values = 1 << 20, .width = 1024, .heads = 4, .key_width = 512, .top_k = 32}};
    struct priced_run one = block_of(&b);
    const int64_t pool = 1024LL * 1048576,
                  rest = 1024 * 4 * 512 + 1024 * 4 * 512 + 1024 * 1024 + 1024;
    assert_int_equal(one.weight_bytes, 2 * (pool + rest));
    // the values of all tokens are read once, 4 x 32 of 2048 B each: next to no FLOP for them
    assert_true(one.forward_ns[0] > 1024LL * 4 * 32 * 2048 / 1000);
    b.problem.job.layout.data = 4;
    struct priced_run four = block_of(&b);
    assert_int_equal(four.weight_bytes, 2 * (pool / 4 + rest));
    assert_int_equal(four.optimizer_bytes, 12 * (pool / 4 + rest));
    assert_in_range(four.sync_ns[0][0], 1, 2 * 2 * rest); // of the pool nothing is synchronised
    b.runs[BLOCK].pool.values = 1000;
    assert_int_equal(price_problem(&b.priced, &b.problem, &b.arena, &b.err), BAD_INPUT);
    assert_non_null(strstr(b.err.text, "square"));
    end(&b);
}

static void matrices_in_eight_bits(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    struct priced_run wide = block_of(&b);
    int64_t head = b.priced.runs[HEAD].forward_ns[0];
    b.problem.job.precision = FP8;
    // half of 322.12254720 us, and 4 x 1024 x (2048 + 1024 + 4096) bytes more
    near_to(block_of(&b).forward_ns[0], wide.forward_ns[0] - 161061 + 29360);
    assert_int_equal(b.priced.runs[HEAD].forward_ns[0], head);
    assert_int_equal(b.priced.runs[BLOCK].weight_bytes, wide.weight_bytes);
    end(&b);
}

// ---- memory of a device

static void outside_of_the_allocator(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    assert_int_equal(price(&b)->groups[0].memory_limit_bytes, 80000000000);
    b.gpu.communicator_bytes = exactly(5e8);
    b.gpu.library_bytes = exactly(2e7);
    b.problem.costs.allocator_factor = exactly(1.25);
    b.problem.job.layout.tensor = 2; // and a pipeline: two dimensions
    const struct priced *p = price(&b);
    assert_int_equal(p->groups[0].constant_bytes, 2020000000);
    assert_int_equal(p->groups[0].memory_limit_bytes, 2000000000 + 62400000000);
    b.problem.job.trainer = TRAINER_DEEPSPEED; // a bucket of 5e8 gradients, 6 more bytes a value
    int64_t states = p->runs[BLOCK].optimizer_bytes;
    b.problem.job.layout.zero = 1;
    assert_int_equal(price(&b)->groups[0].constant_bytes, 3000000000);
    assert_int_equal(b.priced.runs[BLOCK].optimizer_bytes, states * 18 / 12);
    b.problem.job.gradient_bytes_per_value = 4;
    assert_int_equal(price(&b)->runs[BLOCK].gradient_bytes, 3 * b.priced.runs[BLOCK].weight_bytes);
    assert_int_equal(b.priced.runs[BLOCK].optimizer_bytes, states);
    end(&b);
}

static void vocabularies_are_padded(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.problem.model.shape.vocabulary = 50257;
    b.problem.model.shape.vocabulary_multiple = 128;
    b.precisions[0].misaligned_gemm_share = exactly(0.5);
    b.problem.job.layout.tensor = 2;
    assert_int_equal(price(&b)->runs[EMBEDDING].weight_bytes, 2 * 50432 / 2 * 1024);
    int64_t aligned = b.priced.runs[HEAD].forward_ns[0];
    b.problem.model.shape.vocabulary_multiple = 0;
    assert_true(price(&b)->runs[HEAD].forward_ns[0] > aligned * 3 / 2);
    end(&b);
}

static void no_room_is_a_reason(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.problem.job.layout.data = 512;
    b.problem.job.global_batch = 1024;
    assert_non_null(strstr(price(&b)->groups[0].excluded, "512 devices"));
    end(&b);
}

static void widen(struct estimate *e, const struct cost_key *key, void *context)
{
    (void)context;
    e->low = 0.8 * e->value, e->high = fmin(1.25 * e->value, key->high);
}

// No pass is faster with slow costs, none slower with fast ones; memory is the same.
static void ends_of_intervals(void **state)
{
    (void)state;
    struct bench b;
    struct priced ends[2];
    begin(&b);
    struct layout *l = &b.problem.job.layout;
    l->tensor = 2, l->context = 2, l->data = 2;
    b.group.intra.bytes_per_s = 100e9;
    b.problem.costs.intra_efficiency = exactly(0.7);
    b.problem.costs.network_efficiency[NIC_INFINIBAND] = exactly(0.7);
    b.gpu.layer_launch_s = exactly(50e-6);
    b.gpu.collective_launch_s = exactly(5e-6);
    for (int key = 0; key < cost_key_count; key++)
        costs_visit(&b.problem.costs, key, NULL, 0, widen, NULL);
    for (l->zero = 0; l->zero < 4; l->zero++) {
        struct priced_run plain = block_of(&b);
        for (int end = 0; end < 2; end++)
            if (price_problem_at_end(&ends[end], &b.problem, (enum cost_end)end, &b.arena,
                                     &b.err) != OK)
                fail_msg("%s", b.err.text);
        const struct priced_run *slow = &ends[COSTS_SLOW].runs[BLOCK],
                                *fast = &ends[COSTS_FAST].runs[BLOCK];
        assert_true(slow->forward_ns[0] > plain.forward_ns[0] &&
                    plain.forward_ns[0] > fast->forward_ns[0]);
        assert_true(slow->backward_ns[0] > plain.backward_ns[0] &&
                    plain.backward_ns[0] > fast->backward_ns[0]);
        assert_true(slow->optimizer_ns[0] > plain.optimizer_ns[0] &&
                    plain.optimizer_ns[0] > fast->optimizer_ns[0]);
        assert_true(slow->sync_ns[0][0] >= plain.sync_ns[0][0] &&
                    plain.sync_ns[0][0] >= fast->sync_ns[0][0]);
        assert_int_equal(slow->stash_bytes[0] + slow->weight_bytes,
                         fast->stash_bytes[0] + fast->weight_bytes);
        assert_int_equal(ends[0].groups[0].memory_limit_bytes,
                         ends[1].groups[0].memory_limit_bytes);
    }
    l->zero = 0;
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(split_backward_is_the_joint_one),
        cmocka_unit_test(slices_add_up),
        cmocka_unit_test(launches_bound_small_layers),
        cmocka_unit_test(tables_of_collectives),
        cmocka_unit_test(segments_of_collectives),
        cmocka_unit_test(rates_of_the_way_back),
        cmocka_unit_test(operands_take_time),
        cmocka_unit_test(beyond_the_samples),
        cmocka_unit_test(transfers_have_their_own_bandwidth),
        cmocka_unit_test(attention_hides_the_ring),
        cmocka_unit_test(states_by_zero_stage),
        cmocka_unit_test(gathers_of_sharded_weights),
        cmocka_unit_test(states_leave_for_the_host),
        cmocka_unit_test(mixtral),
        cmocka_unit_test(one_expert_is_a_dense_block),
        cmocka_unit_test(experts_exchange_tokens),
        cmocka_unit_test(adapters),
        cmocka_unit_test(tables_of_values),
        cmocka_unit_test(matrices_in_eight_bits),
        cmocka_unit_test(outside_of_the_allocator),
        cmocka_unit_test(vocabularies_are_padded),
        cmocka_unit_test(no_room_is_a_reason),
        cmocka_unit_test(ends_of_intervals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
