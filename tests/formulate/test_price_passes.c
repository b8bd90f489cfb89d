// Prices of passes, against closed forms and laws: the backward pass, values beyond the samples,
// and sums over slices, splits and collectives of a pass.
#include "data/kinds/schedules.h"
#include "formulate/price/range.h"

#include "tests/support/price_bench.h"
#include "tests/support/check.h"

static void near_to(int64_t a, int64_t b)
{
    if (llabs(a - b) > 1) fail_msg("%lld and %lld", (long long)a, (long long)b);
}

// ---- recomputation that stops

static int64_t again_of(struct bench *b) { return block_of(b).again_ns[RECOMPUTE_FULL][0]; }

// 2 x 1024 x 1024 x 4096 at 100e12 FLOP/s; by shapes, what a block saves whose FFN has no width.
TEST(recomputation_may_stop_before_the_last_product)
{
    struct bench *b = bench_gated();
    struct priced_run whole = block_of(b);
    int64_t all = again_of(b);
    b->problem.job.stopped_recompute = true;
    struct priced_run stopped = block_of(b);
    near_to(all - again_of(b), 85899);
    assert_int_equal(whole.forward_ns[0], stopped.forward_ns[0]);
    assert_int_equal(whole.backward_ns[0], stopped.backward_ns[0]);
    assert_int_equal(whole.again_ns[RECOMPUTE_SELECTIVE][0],
                     stopped.again_ns[RECOMPUTE_SELECTIVE][0]);
    b->gpus[0].forward_factor = exactly(2);
    near_to(block_of(b).forward_ns[0] - again_of(b), 2 * 85899);
    b->gpus[0].forward_factor = exactly(0);
    b->problem.job.layout.tensor = 4;
    near_to(block_of(b).forward_ns[0] - again_of(b), 85899 / 4);
    b->problem.job.layout.tensor = 1;
    b->problem.model.shape.dropout = true;
    assert_int_equal(again_of(b), block_of(b).forward_ns[0]);
    b->problem.model.shape.dropout = false;
    b->runs[BLOCK].frozen = true;
    assert_int_equal(again_of(b), block_of(b).forward_ns[0]);
}

// ---- rates of the way back

static int64_t backward_of(struct bench *b) { return block_of(b).backward_ns[0]; }

// FL = 32 212 254 720, FA = 4 x 2 x 512 x 256 x 1024 = 1 073 741 824 and 2.5 times that backward;
// FM = 10 x 1024 x 1024 x 2 + 3 x 1024 x 4096 x 2 = 46 137 344, twice backward.
TEST(rates_of_the_way_back)
{
    struct bench *b = bench_gated();
    int64_t before = backward_of(b), forward = block_of(b).forward_ns[0];
    near_to(before, 10000 + 2 * 322123 + 53687 + 92275);
    b->precisions[0].data_gradient_flop_per_s = exactly(50e12);
    near_to(backward_of(b), before + 322123);
    b->precisions[0].weight_gradient_flop_per_s = exactly(200e12);
    near_to(backward_of(b), before + 322123 - 161061);
    b->precisions[0].backward_attention_flop_per_s = exactly(25e12);
    near_to(backward_of(b), before + 322123 - 161061 + 53687);
    b->gpus[0].backward_memory_bytes_per_s = exactly(2e12);
    near_to(backward_of(b), before + 322123 - 161061 + 53687 - 46137);
    b->gpus[0].backward_overhead_s = exactly(30e-6);
    near_to(backward_of(b), before + 322123 - 161061 + 53687 - 46137 + 20000);
    near_to(block_of(b).forward_ns[0], forward);
    b->gpus[0].forward_factor = exactly(1.5), b->gpus[0].backward_factor = exactly(2);
    near_to(block_of(b).forward_ns[0], 10000 + (forward - 10000) * 3 / 2);
    int64_t kernels = before - 10000 + 322123 - 161061 + 53687 - 46137;
    assert_in_range(backward_of(b), 30000 + 2 * kernels - 4, 30000 + 2 * kernels + 4);
    b->problem.job.layout.schedule = SCHEDULE_ZB_H1;
    near_to(block_of(b).weight_ns[0], 322123); // half of it at twice the rate, twice
}

// Bytes of all matrices of a pass of products: e (Q + n (4 h + 2 q + 2 kv + 3 f)), Q = 1024 x (2048
// + 1024 + 12288).
TEST(operands_take_time)
{
    struct bench *b = bench_gated();
    struct priced_run before = block_of(b);
    int64_t head = b->priced.runs[HEAD].forward_ns[0];
    b->precisions[0].operand_bytes_per_s = exactly(1e12);
    double bytes = 2 * (1024.0 * 15360 + 1024.0 * (4096 + 2048 + 1024 + 12288));
    struct priced_run with = block_of(b);
    near_to(with.forward_ns[0], before.forward_ns[0] + (int64_t)(bytes / 1e3));
    near_to(with.backward_ns[0], before.backward_ns[0] + 2 * (int64_t)(bytes / 1e3));
    near_to(b->priced.runs[HEAD].forward_ns[0],
            head + (int64_t)(2 * (1024.0 * 32000 + 1024.0 * 33024) / 1e3));
    // Those of weights' gradients at their own rate.
    b->precisions[0].weight_operand_bytes_per_s = exactly(4e12);
    near_to(block_of(b).forward_ns[0], with.forward_ns[0]);
    near_to(backward_of(b), before.backward_ns[0] + (int64_t)(1.25 * bytes / 1e3));
}

// A head's and an embedding's kernels in a row relative to the same alone; overheads are separate.
TEST(ends_have_factors)
{
    struct bench *b = bench_gated();
    struct priced_run block = block_of(b), head = b->priced.runs[HEAD],
                      embedding = b->priced.runs[EMBEDDING];
    b->gpus[0].head_forward_factor = exactly(1.5), b->gpus[0].head_backward_factor = exactly(0.5);
    b->gpus[0].embedding_forward_factor = exactly(3);
    b->gpus[0].embedding_backward_factor = exactly(2);
    near_to(block_of(b).forward_ns[0], block.forward_ns[0]);
    near_to(block_of(b).backward_ns[0], block.backward_ns[0]);
    near_to(b->priced.runs[HEAD].forward_ns[0], 10000 + (head.forward_ns[0] - 10000) * 3 / 2);
    near_to(b->priced.runs[HEAD].backward_ns[0], 10000 + (head.backward_ns[0] - 10000) / 2);
    near_to(b->priced.runs[EMBEDDING].forward_ns[0], 3 * embedding.forward_ns[0]);
    near_to(b->priced.runs[EMBEDDING].backward_ns[0], 2 * embedding.backward_ns[0]);
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

// A plan states which numbers it used beyond their samples, and how far; within them it states
// nothing.
TEST(beyond_the_samples)
{
    struct bench *b = bench_gated();
    struct plan plan = {.stage_count = 2};
    struct plan_stage stages[2] = {{.first_layer = 0, .layer_count = 4},
                                   {.first_layer = 4, .layer_count = 4}};
    static struct segment segments[1];
    plan.stages = stages;
    MUST(extrapolation_of_plan(&plan, &b->problem, arena, &own_err));
    assert_int_equal(plan.extrapolated_count, 0); // no range is stated
    // Products: attention projection 2 x 1024 x 1024 x 1024, ..., logits 2 x 1024 x 1024 x 32000.
    double least = 2147483648.0, greatest = 67108864000.0;
    set_range(&b->precisions[0].gemm_flop_per_s, least, greatest);
    set_range(&b->precisions[0].attention_flop_per_s, 1e9, 2e9);
    b->precisions[0].data_gradient_flop_per_s = exactly(1e14);
    set_range(&b->precisions[0].data_gradient_flop_per_s, least * 2, greatest / 4);
    segments[0] = (struct segment){0, exactly(1e-5), exactly(1e10)};
    set_range(&segments[0].seconds, 1, 1048576), set_range(&segments[0].bytes_per_s, 1, 1048576);
    b->table = (struct collective_times){
        .gpu = "G", .send = true, .ranks = 2, .segment_count = 1, .segments = segments};
    b->problem.costs.collectives = &b->table;
    b->problem.costs.collective_count = 1;
    MUST(extrapolation_of_plan(&plan, &b->problem, arena, &own_err));
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
}

// ---- passes

TEST(split_backward_is_the_joint_one)
{
    struct bench *b = bench_gated();
    int64_t joint = block_of(b).backward_ns[0];
    assert_int_equal(block_of(b).weight_ns[0], 0);
    b->problem.job.layout.schedule = SCHEDULE_ZB_H1;
    struct priced_run block = block_of(b);
    near_to(block.backward_ns[0] + block.weight_ns[0], joint);
    // FL = 2 x 1024 x (1024 x 2048 + 1024 x 1024 + 3 x 1024 x 4096) = 32 212 254 720
    assert_int_equal(block.weight_ns[0], 322123);
    assert_int_equal(b->priced.runs[EMBEDDING].weight_ns[0], 0);
    assert_int_equal(b->priced.runs[HEAD].weight_ns[0], 671089); // 2 x 1024 x 1024 x 32000
    // times of the costs: as stated, else by half
    b->times[0] = (struct layer_time){
        .run = "block", .gpu = "G", .forward_s = 1e-3, .backward_s = 3e-3, .full_s = 1e-3};
    b->problem.costs.layer_times = &b->times[0];
    b->problem.costs.layer_time_count = 1;
    assert_int_equal(block_of(b).weight_ns[0], 1500000);
    b->times[0].weight_s = 1e-3;
    assert_int_equal(block_of(b).weight_ns[0], 1000000);
    assert_int_equal(b->priced.runs[BLOCK].backward_ns[0], 2000000);
}

// Every formula but the overhead is additive over slices, causal attention too: l (before + l/2)
// sums to s^2 / 2.
TEST(slices_add_up)
{
    for (int fused = 0; fused < 2; fused++) {
        struct bench *b = bench_gated();
        b->problem.job.layout.fused_attention = fused;
        b->gpus[0].layer_overhead_s = exactly(0);
        struct priced_run whole = block_of(b);
        int64_t message = b->priced.cuts[whole.cut].forward_ns[PART_LINK];
        struct layout *l = &b->problem.job.layout;
        l->schedule = SCHEDULE_TOKEN_SLICED;
        l->slice_count = 3;
        l->slices[0] = 256, l->slices[1] = 192, l->slices[2] = 64;
        struct priced_run sliced = block_of(b);
        int64_t forward = 0, backward = 0, full = 0, sent = 0;
        for (int i = 0; i < 3; i++) {
            forward += sliced.forward_ns[i], backward += sliced.backward_ns[i],
                full += sliced.again_ns[RECOMPUTE_FULL][i];
            sent += b->priced.cuts[sliced.cut].forward_ns[i * PART_COUNT + PART_LINK];
        }
        near_to(sent, message);
        if (!fused) assert_true(forward < whole.forward_ns[0]); // what a slice need not look at
        assert_in_range(llabs(forward - whole.forward_ns[0]), 0, fused ? 2 : whole.forward_ns[0]);
        assert_in_range(llabs(backward - whole.backward_ns[0]), 0,
                        fused ? 2 : whole.backward_ns[0]);
        assert_in_range(llabs(full - whole.again_ns[RECOMPUTE_FULL][0]), 0,
                        fused ? 2 : whole.again_ns[RECOMPUTE_FULL][0]);
        // 2 sequences x 256 tokens x (0 + 128), 192 x (256 + 96), 64 x (448 + 32): the middle one
        // has the most scores
        int64_t equal_linear = sliced.forward_ns[0] * 192 / 256;
        assert_true(sliced.forward_ns[1] > equal_linear);
        assert_int_equal(sliced.stash_bytes[0], whole.stash_bytes[0]);
    }
}

TEST(launches_bound_small_layers)
{
    struct bench *b = bench_gated();
    struct priced_run free = block_of(b);
    b->gpus[0].layer_launch_s = exactly((double)free.forward_ns[0] * 1e-9 + 1e-6);
    struct priced_run bound = block_of(b);
    assert_int_equal(bound.forward_ns[0], free.forward_ns[0] + 1000);
    assert_int_equal(bound.again_ns[RECOMPUTE_FULL][0], bound.forward_ns[0]);
    assert_int_equal(
        bound.backward_ns[0],
        2 * bound.forward_ns[0]);     // the GPU's own is less than twice forward: one overhead
    b->problem.job.layout.tensor = 2; // collectives are launched too
    assert_int_equal(block_of(b).forward_ns[0], bound.forward_ns[0]);
    b->gpus[0].layer_launch_s = exactly(0);
    int64_t before = block_of(b).forward_ns[0];
    b->gpus[0].collective_launch_s = exactly(7e-6);
    near_to(block_of(b).forward_ns[0], before + 14000);
    b->problem.costs.tensor_overlap = exactly(1);
    struct priced_run hidden = block_of(b);
    b->groups[0].intra.bytes_per_s /= 1.5; // more to hide, as long as the products last
    assert_int_equal(block_of(b).forward_ns[0], hidden.forward_ns[0]);
    b->groups[0].intra = (struct link){1e7, 0}; // two sums of 2 097 152 B in half a second
    near_to(block_of(b).forward_ns[0], 419430400 + 14000);
}

TEST(tables_of_collectives)
{
    struct bench *b = bench_gated();
    static double bytes[] = {1048576, 4194304}, seconds[] = {100e-6, 400e-6};
    b->problem.job.layout.tensor = 2;
    b->gpus[0].layer_overhead_s = exactly(0);
    b->groups[0].intra = (struct link){1e18, 0};
    int64_t compute = block_of(b).forward_ns[0];
    b->table = (struct collective_times){
        .gpu = "G", .ranks = 2, .point_count = 2, .bytes = bytes, .seconds = seconds};
    b->problem.costs.collectives = &b->table;
    b->problem.costs.collective_count = 1;
    // n h e = 2 097 152 B: half-way between the logarithms, 200 us; twice
    near_to(block_of(b).forward_ns[0], compute + 400000);
    bytes[0] = 2097152;
    near_to(block_of(b).forward_ns[0], compute + 200000);
    bytes[0] = 524288, bytes[1] = 1048576,
    seconds[1] = 300e-6; // beyond the last point at its bandwidth
    near_to(block_of(b).forward_ns[0], compute + 1200000);
    b->table.ranks = 4;
    near_to(block_of(b).forward_ns[0], compute);
    b->table.ranks = 2, b->table.send = true; // a message of 2 MiB
    assert_int_equal(price(b)->cuts[b->priced.runs[BLOCK].cut].forward_ns[PART_LINK], 600000);
    b->problem.costs.transfer_launch_s = exactly(5e-6);
    assert_int_equal(price(b)->cuts[b->priced.runs[BLOCK].cut].forward_ns[PART_LINK], 605000);
    b->problem.costs.schedule_share_stated[SCHEDULE_1F1B] = true;
    b->problem.costs.schedule_share[SCHEDULE_1F1B][PART_BLOCKING] = 1;
    assert_int_equal(price(b)->cuts[b->priced.runs[BLOCK].cut].forward_ns[PART_BLOCKING], 605000);
    b->problem.job.scattered_messages = true; // half of it: 1 MiB
    assert_int_equal(price(b)->cuts[b->priced.runs[BLOCK].cut].forward_ns[PART_BLOCKING], 305000);
}

// The last segment that has begun gives the time; a message in two segments takes the time of the
// later one.
TEST(segments_of_collectives)
{
    struct bench *b = bench_gated();
    static struct segment segments[2];
    b->problem.job.layout.tensor = 2;
    b->gpus[0].layer_overhead_s = exactly(0);
    b->groups[0].intra = (struct link){1e18, 0};
    int64_t compute = block_of(b).forward_ns[0];
    segments[0] = (struct segment){0, exactly(10e-6), exactly(2097152 / 100e-6)};
    segments[1] = (struct segment){2097153, exactly(500e-6), exactly(1e12)};
    b->table =
        (struct collective_times){.gpu = "G", .ranks = 2, .segment_count = 2, .segments = segments};
    b->problem.costs.collectives = &b->table;
    b->problem.costs.collective_count = 1;
    near_to(block_of(b).forward_ns[0],
            compute + 2 * 110000); // n h e = 2 097 152 B: the last byte of the first
    segments[1].from_bytes = 2097152;
    near_to(block_of(b).forward_ns[0], compute + 2 * 500000);
    segments[1].from_bytes = 1097152; // a million bytes further, 1 us
    near_to(block_of(b).forward_ns[0], compute + 2 * 501000);
}

TEST(transfers_have_their_own_bandwidth)
{
    struct bench *b = bench_gated();
    int64_t before = price(b)->cuts[b->priced.runs[BLOCK].cut].forward_ns[PART_LINK],
            forward = b->priced.runs[BLOCK].forward_ns[0];
    b->problem.costs.transfer_intra_efficiency = exactly(0.25);
    assert_in_range(price(b)->cuts[b->priced.runs[BLOCK].cut].forward_ns[PART_LINK], 4 * before - 2,
                    4 * before + 2);
    assert_int_equal(b->priced.runs[BLOCK].forward_ns[0], forward);
}

// A step of the ring takes 2 n (kv/t) e / 100e9 + 1 us = 11.48576 us, its attention FA / (c
// r_attn): 2 b (s/2) s q / 2 / 50e12.
TEST(attention_hides_the_ring)
{
    struct bench *b = bench_gated();
    b->problem.job.layout.context = 2;
    int64_t exposed = block_of(b).forward_ns[0], backward = b->priced.runs[BLOCK].backward_ns[0];
    b->problem.costs.context_overlap = exactly(1);
    // FA = 4 x 2 x 512 x 128 x 1024 = 536 870 912: 10.73741824 us; half of it hides a step
    near_to(block_of(b).forward_ns[0], exposed - 5369);
    near_to(b->priced.runs[BLOCK].backward_ns[0], backward - 13422);
    b->precisions[0].attention_flop_per_s = exactly(5e12);
    int64_t hidden = block_of(b).forward_ns[0];
    b->groups[0].intra.bytes_per_s = 90e9;
    assert_int_equal(block_of(b).forward_ns[0], hidden);
}

// For any trainer: norms of 18 passes instead of 2, which keep their input in fp32 and what they
// weigh; rotations of 10; gates of 5 instead of 3, which keep the activation's result.
TEST(single_steps_move_more)
{
    static const int64_t more[UNFUSED_COUNT] = {2 * 16 * 1024, 10 * (1024 + 512), 2 * 4096, 0};
    struct bench *b = bench_gated();
    struct priced_run fused = block_of(b);
    for (int i = 0; i < UNFUSED_COUNT; i++) {
        int64_t kept = i == UNFUSED_NORMS        ? 2 * 4 * 1024 * 1024
                       : i == UNFUSED_ACTIVATION ? 2 * 1024 * 4096
                                                 : 0;
        b->problem.job.unfused[i] = true;
        struct priced_run stepped = block_of(b);
        b->problem.job.unfused[i] = false;
        near_to(stepped.forward_ns[0],
                fused.forward_ns[0] + llround(1024 * 2 * (double)more[i] / 1e3));
        assert_int_equal(stepped.stash_bytes[RECOMPUTE_NONE],
                         fused.stash_bytes[RECOMPUTE_NONE] + kept);
        assert_int_equal(stepped.stash_bytes[RECOMPUTE_FULL], fused.stash_bytes[RECOMPUTE_FULL]);
    }
}

// Two machines, one that multiplies and one that sends, and as many chunks as ranks, whichever is
// first: when the last chunk is through.
static double chunk_by_chunk_s(double first, double second, int chunks)
{
    double done = 0, through = 0;
    for (int i = 0; i < chunks; i++) {
        done += first / chunks;
        through = fmax(through, done) + second / chunks;
    }
    return through;
}

TEST(sums_go_beside_products)
{
    int hidden = 0, shown = 0;
    for (int ranks = 2; ranks <= 8; ranks *= 2) {
        for (double rate = 1e8; rate < 1e13; rate *= 7) {
            struct bench *b = bench_gated();
            b->problem.job.layout.tensor = ranks;
            b->problem.job.layout.sequence_parallel = true;
            b->groups[0].intra = (struct link){1e18, 0};
            struct priced_run compute = block_of(b);
            b->groups[0].intra = (struct link){rate, 0};
            struct priced_run after = block_of(b);
            b->problem.job.overlapped_tensor = true;
            struct priced_run beside = block_of(b);
            double products = (double)compute.forward_ns[0], back = (double)compute.backward_ns[0],
                   sent = (double)(after.forward_ns[0] - compute.forward_ns[0]);
            if (ranks > b->groups[0].gpus_per_node) { // over nodes they are alone
                assert_int_equal(beside.forward_ns[0], after.forward_ns[0]);
                continue;
            }
            near_to(beside.forward_ns[0], llround(chunk_by_chunk_s(products, sent, ranks)));
            near_to(beside.forward_ns[0], llround(chunk_by_chunk_s(sent, products, ranks)));
            near_to(beside.backward_ns[0], llround(chunk_by_chunk_s(back, sent, ranks)));
            hidden += sent<products, shown += sent> products;
            // Not without sequence parallelism.
            b->problem.job.layout.sequence_parallel = false;
            struct priced_run whole = block_of(b);
            b->problem.job.overlapped_tensor = false;
            assert_int_equal(block_of(b).forward_ns[0], whole.forward_ns[0]);
        }
    }
    assert_true(hidden > 3 && shown > 3);
}

// ---- sums beside the products for weights' gradients

// What is left to see of y seconds beside x, which slow each other by an eighth of the shorter.
static double left_of(double y, double x) { return y <= x ? y / 8 : y - x * 7 / 8; }

// Queries, keys and values are 2 x 1024 x 1024 x 2048 FLOP, gate and up 2 x 1024 x 1024 x 8192, at
// 100e12 a second; 2 MiB are summed for each.
TEST(input_gradients_go_beside_those_of_weights)
{
    int hidden = 0, shown = 0;
    for (int ranks = 2; ranks <= 4; ranks *= 2)
        for (double rate = 1e9; rate < 1e13; rate *= 5)
            for (int scattered = 0; scattered < 2; scattered++) {
                struct bench *b = bench_gated();
                b->problem.costs.overlap_slowdown = exactly(0.125);
                b->problem.job.layout.tensor = ranks;
                b->problem.job.layout.sequence_parallel = scattered;
                b->problem.job.exposed_input_gradients = true;
                b->groups[0].intra = (struct link){1e18, 0};
                struct priced_run compute = block_of(b);
                b->groups[0].intra = (struct link){rate, 0};
                struct priced_run after = block_of(b);
                b->problem.job.exposed_input_gradients = false;
                struct priced_run beside = block_of(b);
                double sum = 2.0 * (ranks - 1) / ranks * 2 * 1024 * 1024 / rate * 1e9, left = 0;
                const double products[] = {42949.67 / ranks, 171798.69 / ranks};
                for (int i = 0; i < 2; i++) {
                    left += scattered ? sum / 2 + 2 * left_of(sum / 2, products[i])
                                      : left_of(sum, products[i]);
                    hidden += sum<products[i], shown += sum> products[i];
                }
                // Not before the link has passed on all of it.
                double all = (double)compute.backward_ns[0] + left,
                       link = scattered ? 3 * sum : 2 * sum;
                near_to(beside.backward_ns[0], llround(all > link ? all : link));
                assert_int_equal(beside.forward_ns[0], after.forward_ns[0]);
                b->problem.job.overlapped_tensor = true; // chunk by chunk instead
                b->problem.job.exposed_input_gradients = true;
                struct priced_run chunks = block_of(b);
                b->problem.job.exposed_input_gradients = false;
                if (scattered) assert_int_equal(block_of(b).backward_ns[0], chunks.backward_ns[0]);
                b->problem.job.overlapped_tensor = false, b->runs[BLOCK].frozen = true;
                struct priced_run frozen = block_of(b);
                b->problem.job.exposed_input_gradients = true;
                assert_int_equal(block_of(b).backward_ns[0], frozen.backward_ns[0]);
            }
    assert_true(hidden > 3 && shown > 3);
}

// ---- a program of one's own

// All sums to every rank, in fp32, and then the gather of weights: over 4 devices of a node at
// 100e9 3/4 x (2 x 4 + 2) x 15 730 688 B, and three times round the ring; 28 B a value of the
// memory at 1e12. DeepSpeed's only where there are no shares.
TEST(gradients_are_summed_whole)
{
    struct bench *b = bench_gated();
    const int64_t narrow = 471921, passes = 440459;
    const int64_t expected[2][2] = {{943841 + passes, 1179802 + passes}, // other: ZeRO 0, 1
                                    {943841 + passes, narrow}};          // DeepSpeed
    b->problem.job.layout.data = 4, b->problem.job.layout.pipeline = 1;
    for (int deepspeed = 0; deepspeed < 2; deepspeed++)
        for (int zero = 0; zero < 2; zero++) {
            b->problem.job.trainer = deepspeed ? TRAINER_DEEPSPEED : TRAINER_OTHER;
            b->problem.job.layout.zero = zero;
            b->problem.job.whole_gradient_sums = false;
            near_to(block_of(b).sync_ns[0][0], narrow);
            assert_int_equal(b->priced.groups[0].sync_constant_ns[0], 6000);
            b->problem.job.whole_gradient_sums = true;
            near_to(block_of(b).sync_ns[0][0], expected[deepspeed][zero]);
            assert_int_equal(b->priced.groups[0].sync_constant_ns[0],
                             zero && !deepspeed ? 9000 : 6000);
        }
}

// Each owner sends what it has by itself: beside an all-reduce of the gradients and the gather of
// as many bytes, a round of the devices for each tensor of a mean stage, or for each device where
// there are fewer. A block has five matrices and two norms here, the ends one each. No layer's own
// price depends on the others, so a layer more makes nothing shorter.
static void check_owners(struct bench *b, int devices, int stages, int of_block)
{
    struct job *j = &b->problem.job;
    struct model *m = &b->problem.model;
    int64_t zero[2][8], rounds, sent[2], tensors = 2 + of_block * m->runs[BLOCK].count;
    j->layout.pipeline = stages;
    j->layout.data = devices, j->global_batch = 2 * devices, j->owner_broadcasts = false;
    for (int stage = 0; stage < 2; stage++) {
        j->layout.zero = stage;
        block_of(b);
        for (int i = 0; i < m->run_count; i++) zero[stage][i] = b->priced.runs[i].sync_ns[0][0];
    }
    rounds = b->priced.groups[0].sync_constant_ns[0];
    j->owner_broadcasts = true;
    for (int more = 0; more < 2; more++, tensors += of_block) {
        block_of(b);
        for (int i = 0; i < m->run_count; i++)
            near_to(b->priced.runs[i].sync_ns[0][0], zero[0][i] + zero[1][i] - zero[0][i] / 2);
        sent[more] = b->priced.groups[0].sync_constant_ns[0] - rounds;
        near_to(sent[more],
                stages * devices < tensors ? devices * rounds / 2 : tensors * rounds / 2 / stages);
        m->runs[BLOCK].count++, m->layer_count++;
    }
    m->runs[BLOCK].count -= 2, m->layer_count -= 2;
    assert_true(sent[1] > sent[0] || (sent[1] == sent[0] && stages * devices < tensors));
    j->layout.zero = 0;
    block_of(b);
    assert_int_equal(b->priced.groups[0].sync_constant_ns[0], rounds);
    for (int i = 0; i < m->run_count; i++)
        assert_int_equal(b->priced.runs[i].sync_ns[0][0], zero[0][i]);
}

TEST(owners_send_their_tensors_by_themselves)
{
    struct bench *b = bench_gated();
    b->problem.job.trainer = TRAINER_OTHER;
    for (int stages = 1; stages < 3; stages++) {
        b->runs[BLOCK].frozen = false, b->runs[BLOCK].adapter_rank = 0;
        check_owners(b, 4, stages, 7);
        check_owners(b, 64, stages, 7);
        // Factors of its seven adapters.
        b->runs[BLOCK].frozen = true, b->runs[BLOCK].adapter_rank = 8;
        check_owners(b, 4, stages, 14);
        check_owners(b, 64, stages, 14);
    }
}

// One sum more backward, as a block with a parallel residual has one less in each pass; none where
// they are scattered. The input, 1024 x 1024 values of 2 bytes, is read once more in each.
TEST(a_gate_is_multiplied_apart)
{
    struct bench *b = bench_gated();
    b->problem.job.trainer = TRAINER_OTHER;
    b->problem.job.layout.tensor = 2;
    struct priced_run joint = block_of(b);
    b->problem.model.shape.parallel_residual = true;
    int64_t sum = joint.forward_ns[0] - block_of(b).forward_ns[0];
    b->problem.model.shape.parallel_residual = false;
    b->problem.job.split_gate = true;
    assert_true(sum > 20000);
    assert_int_equal(block_of(b).forward_ns[0], joint.forward_ns[0]);
    near_to(block_of(b).backward_ns[0], joint.backward_ns[0] + sum);
    b->problem.job.layout.sequence_parallel = true;
    int64_t scattered = backward_of(b);
    b->precisions[0].operand_bytes_per_s = exactly(1e12);
    int64_t read = backward_of(b);
    b->problem.job.split_gate = false;
    near_to(backward_of(b), read - 4194);
    b->precisions[0].operand_bytes_per_s = exactly(0);
    assert_int_equal(backward_of(b), scattered);
}

static void refused_as(const struct job *j, const char *words)
{
    struct error err = {OK, ""};
    CHECK_REFUSED(job_check(j, &err), words);
}

TEST(others_have_neither)
{
    struct bench *b = bench_gated();
    struct job *j = &b->problem.job;
    j->trainer = TRAINER_OTHER, j->whole_gradient_sums = j->split_gate = true;
    MUST(job_check(j, &own_err));
    j->trainer = TRAINER_MEGATRON;
    refused_as(j, "whole_gradient_sums: expected trainer other or deepspeed");
    j->whole_gradient_sums = false;
    refused_as(j, "split_gate: expected trainer other, found megatron");
    j->trainer = TRAINER_OTHER, j->whole_gradient_sums = true;
    j->gradient_options = b->gradient, j->gradient_option_count = 1;
    b->gradient[0] = (struct compression_option){.form.amount = 4, .quality_cost = 1};
    refused_as(j, "no gradient_options next to it, found other and 1");
    j->gradient_option_count = 0, j->owner_broadcasts = true;
    refused_as(j, "owner_broadcasts: expected trainer other, and neither whole_gradient_sums");
    j->whole_gradient_sums = false;
    MUST(job_check(j, &own_err));
    j->trainer = TRAINER_TORCHTITAN, j->split_gate = false;
    refused_as(j, "gradient_options next to it, found torchtitan");
}

// Other scales: what is moved for each value, and what of a product's input is kept.
TEST(matrices_in_few_bits_with_scales_of_blocks)
{
    static const struct {
        enum precision precision;
        int moved, scaled; // bytes; 32nds of a byte kept
    } cases[] = {{FP8_BLOCK, 6, 33}, {MXFP8, 6, 33}, {NVFP4, 7, 18}};
    struct bench *b = bench_gated();
    struct priced_run wide = block_of(b);
    b->problem.job.precision = FP8;
    struct precision_costs rates[] = {*costs_find_precision(&b->gpus[0], FP8),
                                      *costs_find_precision(&b->gpus[0], BF16)};
    int64_t one_scale = block_of(b).forward_ns[0];
    b->gpus[0].precisions = rates, b->gpus[0].precision_count = 2;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        b->problem.job.precision = rates[0].precision = cases[i].precision;
        struct priced_run narrow = block_of(b);
        near_to(narrow.forward_ns[0] - one_scale,
                (int64_t)(cases[i].moved - 4) * 1024 * (2048 + 1024 + 4096) / 1000);
        near_to(wide.stash_bytes[RECOMPUTE_NONE] - narrow.stash_bytes[RECOMPUTE_NONE],
                1024 * ((64 - cases[i].scaled) * (2 * 1024 + 4096) - cases[i].scaled * 1024) / 32);
    }
}
