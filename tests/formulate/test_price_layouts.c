// Prices of layouts and layers other than dense, unsharded, whole ones, against published counts,
// closed forms and laws: shards, parameters of a published MoE model and of adapters, memory.
#include "data/kinds/schedules.h"
#include "tests/support/price_bench.h"
#include "tests/support/check.h"

// The same with every cost at the slow or at the fast end of its interval; memory as it is.
static enum status price_problem_at_end(struct priced *priced, const struct problem *problem,
                                        enum cost_end end, struct arena *arena, struct error *err)
{
    struct problem moved = *problem;
    moved.costs = costs_copy(&problem->costs, arena);
    for (int group = 0; group < COST_GROUPS; group++)
        costs_move_to(&moved.costs, (enum cost_group)group, end);
    return price_problem(priced, &moved, arena, err);
}

static void near_to(int64_t a, int64_t b)
{
    if (llabs(a - b) > 1) fail_msg("%lld and %lld", (long long)a, (long long)b);
}

// ---- sharding

// Published bytes per value (16-bit gradients, Adam): 16, 4 + 12/d, 2 + 14/d, 16/d.
TEST(states_by_zero_stage)
{
    const double d = 8, expected[] = {16, 4 + 12 / d, 2 + 14 / d, 16 / d};
    struct bench *b = bench_gated();
    b->problem.job.layout.data = 8;
    b->problem.job.layout.pipeline = 1;
    b->problem.job.global_batch = 64;
    const double values = 15730688; // 1024 x 2048 + 1024 x 1024 + 3 x 1024 x 4096 + 2 x 1024
    for (int zero = 0; zero < 4; zero++) {
        b->problem.job.layout.zero = zero;
        struct priced_run block = block_of(b);
        double all = (double)(block.weight_bytes + block.gradient_bytes + block.optimizer_bytes);
        assert_true(fabs(all - expected[zero] * values) < 3);
        // Weights of its own share are written: the others' are gathered.
        near_to(block.optimizer_ns[0],
                llround((2.0 * (double)block.optimizer_bytes + (double)block.gradient_bytes +
                         2 * values / (zero ? d : 1)) /
                        1e3));
    }
}

// With a pipeline, gradients are scattered once, whole: ZeRO 2 is then ZeRO 1. Not in DeepSpeed.
TEST(gradients_add_up_under_a_pipeline)
{
    struct bench *b = bench_gated();
    struct priced_run blocks[2][2]; // [trainer][ZeRO - 1]
    b->problem.job.layout.data = 4;
    b->problem.job.layout.pipeline = 2;
    for (int trainer = TRAINER_MEGATRON; trainer <= TRAINER_DEEPSPEED; trainer++)
        for (int zero = 1; zero < 3; zero++) {
            b->problem.job.trainer = (enum trainer)trainer;
            b->problem.job.layout.zero = zero;
            blocks[trainer][zero - 1] = block_of(b);
        }
    const struct priced_run *megatron = blocks[TRAINER_MEGATRON],
                            *deepspeed = blocks[TRAINER_DEEPSPEED];
    assert_int_equal(megatron[1].backward_ns[0], megatron[0].backward_ns[0]);
    assert_int_equal(megatron[1].sync_ns[0][0], megatron[0].sync_ns[0][0]);
    assert_int_equal(megatron[1].gradient_bytes, megatron[0].gradient_bytes);
    assert_true(deepspeed[1].backward_ns[0] > deepspeed[0].backward_ns[0]);
    assert_true(deepspeed[1].gradient_bytes < deepspeed[0].gradient_bytes);
}

TEST(gathers_of_sharded_weights)
{
    struct bench *b = bench_gated();
    struct layout *l = &b->problem.job.layout;
    l->data = 4, l->pipeline = 1;
    struct priced_run plain = block_of(b);
    // over 4 devices of a node at 100e9: 3/4 x 2 x 15 730 688 B = 235.96 us, and 3 us
    const int64_t gather = 238960;
    near_to(plain.sync_ns[0][0], 2 * 235960);
    assert_int_equal(b->priced.groups[0].sync_constant_ns[0], 6000);
    l->zero = 1;
    near_to(block_of(b).sync_ns[0][0], 2 * 235960);
    l->zero = 2;
    struct priced_run two = block_of(b);
    near_to(two.forward_ns[0], plain.forward_ns[0]);
    near_to(two.backward_ns[0], plain.backward_ns[0] + gather);
    near_to(two.sync_ns[0][0], 235960);
    assert_int_equal(b->priced.groups[0].sync_constant_ns[0], 3000);
    near_to(two.working_bytes[0], plain.working_bytes[0] + 2 * 15730688);
    l->zero = 3;
    struct priced_run three = block_of(b);
    near_to(three.forward_ns[0], plain.forward_ns[0] + gather);
    near_to(three.backward_ns[0], plain.backward_ns[0] + 2 * gather);
    near_to(three.again_ns[RECOMPUTE_FULL][0], plain.again_ns[RECOMPUTE_FULL][0]);
    assert_int_equal(three.sync_ns[0][0], 0);
    assert_int_equal(b->priced.groups[0].sync_constant_ns[0], 0);
    l->gradient_sync = SYNC_OVERLAPPED;
    near_to(block_of(b).forward_ns[0], plain.forward_ns[0] > gather ? plain.forward_ns[0] : gather);
    b->problem.costs.overlap_slowdown = exactly(0.1);
    near_to(block_of(b).forward_ns[0], plain.forward_ns[0] + gather / 10);
    l->schedule = SCHEDULE_ZB_H1; // the gradients' scatter belongs to the weight gradient
    assert_true(block_of(b).weight_ns[0] > 322123);
    // without a barrier the optimizer's gather runs under the next forward
    l->schedule = SCHEDULE_1F1B, l->zero = 1, l->barrier = false;
    near_to(block_of(b).sync_ns[0][0], 235960);
    b->groups[0].intra.bytes_per_s = 10e9; // 2359.6 us do not fit
    near_to(block_of(b).sync_ns[0][0], 2 * 2359603 - b->priced.runs[BLOCK].forward_ns[0]);
}

// Stage by stage, shards are gathered twice and scattered once per iteration, for any number of
// micro-batches; a stage's layers are then whole at the same time.
TEST(gathers_of_stages)
{
    struct bench *b = bench_gated();
    struct layout *l = &b->problem.job.layout;
    l->data = 4, l->pipeline = 1, l->virtual_stages = 2, l->schedule = SCHEDULE_LOOPED_BFS;
    b->problem.job.global_batch = 4 * 8;
    struct priced_run plain = block_of(b);
    const int64_t gather = 238960, micro_batches = 8 / l->micro_batch; // as above
    l->zero = 3;
    struct priced_run three = block_of(b);
    assert_int_equal(b->priced.micro_batches, micro_batches);
    near_to(three.forward_ns[0], plain.forward_ns[0] + gather / micro_batches);
    near_to(three.backward_ns[0], plain.backward_ns[0] + 2 * gather / micro_batches);
    assert_int_equal(three.sync_ns[0][0], 0);
    near_to(three.working_bytes[0], plain.working_bytes[0]);
    near_to(three.unsharded_bytes, 4 * 15730688); // weights and gradients of 2 bytes each
    l->gradient_sync = SYNC_OVERLAPPED;           // and those of the stage before or after
    near_to(block_of(b).unsharded_bytes, 8 * 15730688);
    l->zero = 2;
    struct priced_run two = block_of(b);
    near_to(two.sync_ns[0][0], 235960); // of the weights, after the step
    near_to(two.unsharded_bytes, 4 * 15730688);
    b->problem.job.trainer = TRAINER_TORCHTITAN; // FSDP2 gathers for every micro-batch
    assert_int_equal(block_of(b).unsharded_bytes, 0);
}

// ---- kinds of layers

// Mixtral 8x7B has 46 702 792 704 parameters (published: 46.7 billion); a token uses 12.9 billion.
TEST(mixtral)
{
    struct bench *b = bench_gated();
    b->problem.model.shape = (struct shape){.hidden = 4096,
                                            .ffn = 14336,
                                            .heads = 32,
                                            .kv_heads = 8,
                                            .head_width = 128,
                                            .vocabulary = 32000,
                                            .gated_ffn = true,
                                            .rms_norm = true};
    b->runs[BLOCK] = (struct layer_run){.name = "block",
                                        .kind = LAYER_MOE,
                                        .count = 32,
                                        .recomputable = true,
                                        .experts = {.experts = 8, .top_k = 2, .ffn = 14336}};
    b->problem.model.layer_count = 34;
    const struct priced *p = price(b);
    int64_t all = p->runs[EMBEDDING].weight_bytes + 32 * p->runs[BLOCK].weight_bytes +
                  p->runs[HEAD].weight_bytes;
    assert_int_equal(all / 2, 46702792704);
    // over 4 expert ranks a device keeps two experts of eight; their states are sharded over the
    // rest
    int64_t whole = p->runs[BLOCK].weight_bytes, experts = 2LL * 3 * 4096 * 14336 * 8;
    b->problem.job.layout.data = 8, b->problem.job.layout.expert = 4,
    b->problem.job.layout.zero = 1;
    struct priced_run block = block_of(b);
    assert_int_equal(block.weight_bytes, whole - experts / 4 * 3);
    near_to(block.optimizer_bytes, 6 * (whole - experts) / 8 + 6 * experts / 4 / 2);
}

// One expert that gets every token is the dense block and a router of one column.
TEST(one_expert_is_a_dense_block)
{
    struct bench *b = bench_gated();
    b->gpus[0].memory_bytes_per_s = exactly(1e21); // its tokens are moved in and out
    struct priced_run dense = block_of(b);
    b->runs[BLOCK].kind = LAYER_MOE;
    b->runs[BLOCK].experts = (struct expert_shape){.experts = 1, .top_k = 1, .ffn = 4096};
    struct priced_run moe = block_of(b);
    assert_int_equal(moe.weight_bytes, dense.weight_bytes + 2 * 1024);
    near_to(moe.forward_ns[0], dense.forward_ns[0] + 21); // 2 x 1024 x 1024 FLOP of the router
    near_to(moe.stash_bytes[2], dense.stash_bytes[2]);
    // inputs and outputs of the expert are kept: 2 n h e, and 16 n of the router
    near_to(moe.stash_bytes[0], dense.stash_bytes[0] + 2 * 1024 * 1024 * 2 + 16 * 1024);
    b->runs[BLOCK].experts.shared_ffn = 4096;
    assert_int_equal(block_of(b).weight_bytes, moe.weight_bytes + 2 * 3 * 1024 * 4096);
    // half as many tokens again on the fullest GPU
    b->runs[BLOCK].experts.shared_ffn = 0;
    b->runs[BLOCK].experts.imbalance = 1.5;
    near_to(block_of(b).forward_ns[0],
            moe.forward_ns[0] + 128849); // 2 x 3 x 1024 x 4096 x 512 FLOP
}

TEST(experts_exchange_tokens)
{
    struct bench *b = bench_gated();
    b->runs[BLOCK].kind = LAYER_MOE;
    b->runs[BLOCK].experts = (struct expert_shape){.experts = 4, .top_k = 2, .ffn = 4096};
    b->problem.job.layout.data = 4;
    int64_t together = block_of(b).forward_ns[0];
    b->problem.job.layout.expert = 4;
    // twice 3/4 of n h e top_k = 4 194 304 B over 100e9, and 3 us each
    near_to(block_of(b).forward_ns[0], together + 2 * (31457 + 3000));
    assert_int_equal(b->priced.runs[BLOCK].sync_ns[0][0] > 0, true);
    b->problem.job.layout.data = 8,
    b->problem.job.layout.expert = 8; // two nodes: half of them are near
    b->runs[BLOCK].experts.experts = 8;
    b->problem.job.global_batch = 64;
    int64_t spread = block_of(b).forward_ns[0];
    b->problem.job.layout.expert = 1;
    // 1/2 x 4 194 304 over a quarter of 10e9, 7 x 5 us
    near_to(spread, block_of(b).forward_ns[0] + 2 * (838861 + 35000));
    b->problem.job.layout.expert = 3;
    assert_int_equal(price_problem(&b->priced, &b->problem, arena, &own_err), BAD_INPUT);
}

// Four tensor ranks share every expert, or each has one of the four, or each all of them.
TEST(experts_in_a_fold_of_their_own)
{
    struct bench *b = bench_gated();
    struct layout *l = &b->problem.job.layout;
    b->gpus[0].memory_bytes_per_s = exactly(1e21); // fewer rows are moved in and out
    b->runs[BLOCK].kind = LAYER_MOE;
    b->runs[BLOCK].experts = (struct expert_shape){.experts = 4, .top_k = 2, .ffn = 4096};
    l->tensor = 4, l->sequence_parallel = true, l->zero = 1;
    struct priced_run shared = block_of(b);
    assert_int_equal(shared.sync_ns[0][0], 0);
    l->expert_tensor = 1, l->expert = 4;
    struct priced_run spread = block_of(b);
    // 3/4 of 4 194 304 B / 4 twice over 100e9, 3 us each; not the same bytes by an all-reduce
    near_to(spread.forward_ns[0], shared.forward_ns[0] + 2 * (7864 + 3000) - (62915 + 6000));
    assert_int_equal(spread.weight_bytes, shared.weight_bytes);
    assert_int_equal(spread.sync_ns[0][0], 0);
    // a quarter of the rows, each in full: 2 x n k 2 h at their two ends
    near_to(spread.stash_bytes[0], shared.stash_bytes[0] - 3 * 2 * 2 * 1024 * 2 * 1024 / 4);
    l->expert = 1;
    struct priced_run whole = block_of(b);
    near_to(whole.forward_ns[0], shared.forward_ns[0] - (62915 + 6000));
    assert_int_equal(whole.weight_bytes - shared.weight_bytes, 2LL * 3 * 1024 * 4096 * 4 * 3 / 4);
    // 3/4 of gradients and weights, in 2 bytes each, over 100e9
    near_to(whole.sync_ns[0][0], 1509949);
    l->sequence_parallel = false;
    assert_int_equal(price_problem(&b->priced, &b->problem, arena, &own_err), BAD_INPUT);
    l->sequence_parallel = true, l->expert_tensor = 3;
    assert_int_equal(price_problem(&b->priced, &b->problem, arena, &own_err), BAD_INPUT);
    l->expert_tensor = 2, l->expert = 4; // two ranks have other parts
    assert_int_equal(price_problem(&b->priced, &b->problem, arena, &own_err), BAD_INPUT);
}

// Ranks that share a KV head hold one each and gather all heads: counted rank by rank, head by
// head.
TEST(tensor_ranks_share_kv_heads)
{
    struct bench *b = bench_gated();
    struct layout *l = &b->problem.job.layout;
    l->tensor = 4, b->problem.model.shape.kv_heads = 4, b->problem.job.recompute[2] = true;
    const struct priced_run own = block_of(b);
    for (int heads = 1; heads <= 8; heads++) {
        int held = 0;
        b->problem.model.shape.kv_heads = heads;
        if (16 % heads || (4 % heads && heads % 4)) {
            assert_int_equal(price_problem(&b->priced, &b->problem, arena, &own_err), BAD_INPUT);
            continue;
        }
        for (int query = 0, last = -1; query < 4; query++) { // of the first rank, in order
            held += query / (16 / heads) != last;
            last = query / (16 / heads);
        }
        const struct priced_run run = block_of(b);
        int64_t fewer = 4 - heads, all = 1024 * (16 + 2 * heads) * 64 * 2 * (heads < 4);
        assert_int_equal(run.weight_bytes, own.weight_bytes - 2 * fewer * 2 * 64 * 1024 / 4);
        near_to(run.stash_bytes[0], own.stash_bytes[0] + 2 * (held - 1) * 64 * 1024 * 2);
        near_to(run.working_bytes[0], own.working_bytes[0] + 2 * all);
        // three quarters of them over 100e9, 1 us a step; put in order at 1e12
        int64_t gather = heads < 4 ? all * 3 / 4 / 100 + 3000 : 0,
                products = 2 * 1024 * (2 * fewer * 64 / 4) * 1024 / 100000;
        near_to(run.forward_ns[0] / 10,
                (own.forward_ns[0] - products + gather + 2 * all / 1000) / 10);
    }
    b->problem.model.shape.kv_heads = 2;
    b->problem.job.trainer = TRAINER_TORCHTITAN;
    assert_int_equal(price_problem(&b->priced, &b->problem, arena, &own_err), BAD_INPUT);
}

// Llama 3.1 70B with rank 16 on every matrix: 207 093 760 trained values (as adapter tools print
// for it).
TEST(adapters)
{
    struct bench *b = bench_gated();
    b->problem.model.shape = (struct shape){.hidden = 8192,
                                            .ffn = 28672,
                                            .heads = 64,
                                            .kv_heads = 8,
                                            .head_width = 128,
                                            .vocabulary = 128256,
                                            .gated_ffn = true,
                                            .rms_norm = true};
    b->runs[BLOCK].count = 80;
    b->problem.model.layer_count = 82;
    b->problem.job.gradient_bytes_per_value = 4;
    struct priced_run trained = block_of(b);
    int64_t sync = b->priced.cuts[trained.cut].backward_ns[0][PART_LINK];
    for (int i = 0; i < 3; i++) b->runs[i].frozen = true;
    b->runs[BLOCK].adapter_rank = 16;
    const struct priced *p = price(b);
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
    // MLPerf's are on attention alone, queries, keys and values as one: 44,564,480 values.
    int64_t everywhere = p->runs[BLOCK].stash_bytes[0], n = b->problem.job.sequence;
    bool *on = b->runs[BLOCK].adapter_modules;
    on[ADAPTER_QKV] = on[ADAPTER_OUTPUT] = true;
    n *= b->problem.job.layout.micro_batch;
    assert_int_equal(80 * block_of(b).gradient_bytes, 4LL * 44564480);
    // Neither the second norm's output nor what the last product reads, and five states fewer.
    assert_int_equal(everywhere - block_of(b).stash_bytes[0], 2 * n * (8192 + 28672 + 5 * 16));
    // Dropout gives both a copy of their own and a mask of bytes; the norm's output goes.
    int64_t undropped = block_of(b).stash_bytes[0];
    b->runs[BLOCK].adapter_dropout = true;
    assert_int_equal(block_of(b).stash_bytes[0] - undropped, n * 8192 * (3 + 3 - 2));
    b->runs[BLOCK].adapter_dropout = false;
    on[ADAPTER_QKV] = on[ADAPTER_OUTPUT] = false;
    // 4 bits a value and 2 bytes for 128: 0.515625; the norms stay
    b->runs[BLOCK].weight_bits = 4;
    int64_t matrices = (trained.weight_bytes - 2 * 2 * 8192) / 2;
    near_to(block_of(b).weight_bytes, 33 * matrices / 64 + 2 * 2 * 8192 + 2 * 207093760 / 80);
    // a batch so small that reading the weights is what counts
    b->problem.job.sequence = 1, b->problem.job.layout.micro_batch = 1;
    b->gpus[0].layer_overhead_s = exactly(0);
    int64_t bound = 33 * matrices / 64 / 1000;
    assert_in_range(block_of(b).forward_ns[0], bound, bound + bound / 5);
}

TEST(matrices_in_eight_bits)
{
    struct bench *b = bench_gated();
    struct priced_run wide = block_of(b);
    int64_t head = b->priced.runs[HEAD].forward_ns[0];
    b->problem.job.precision = FP8;
    // half of 322.12254720 us, and 4 x 1024 x (2048 + 1024 + 4096) bytes more
    near_to(block_of(b).forward_ns[0], wide.forward_ns[0] - 161061 + 29360);
    assert_int_equal(b->priced.runs[HEAD].forward_ns[0], head);
    assert_int_equal(b->priced.runs[BLOCK].weight_bytes, wide.weight_bytes);
}

// ---- memory of a device

TEST(outside_of_the_allocator)
{
    struct bench *b = bench_gated();
    assert_int_equal(price(b)->groups[0].memory_limit_bytes, 80000000000);
    b->gpus[0].communicator_bytes = exactly(5e8);
    b->gpus[0].library_bytes = exactly(2e7);
    b->problem.costs.allocator_factor = exactly(1.25);
    b->problem.job.layout.tensor = 2; // and a pipeline: two dimensions
    const struct priced *p = price(b);
    assert_int_equal(p->groups[0].constant_bytes, 2020000000);
    assert_int_equal(p->groups[0].memory_limit_bytes, 2000000000 + 62400000000);
    b->problem.job.trainer = TRAINER_DEEPSPEED; // a bucket of 5e8 gradients, 6 more bytes a value
    int64_t states = p->runs[BLOCK].optimizer_bytes;
    b->problem.job.layout.zero = 1;
    assert_int_equal(price(b)->groups[0].constant_bytes, 3000000000);
    assert_int_equal(b->priced.runs[BLOCK].optimizer_bytes, states * 18 / 12);
    b->problem.job.gradient_bytes_per_value = 4;
    assert_int_equal(price(b)->runs[BLOCK].gradient_bytes, 3 * b->priced.runs[BLOCK].weight_bytes);
    assert_int_equal(b->priced.runs[BLOCK].optimizer_bytes, states);
}

// torchtitan's selective mode, counted by hand: 1,024 tokens, values of 2 bytes.
TEST(single_operators_are_recomputed)
{
    struct bench *b = bench_gated();
    b->problem.job.trainer = TRAINER_TORCHTITAN;
    b->problem.job.compiled = true;
    // The input, queries, values, gate and attention's output; a number for each of 16 heads.
    int64_t kept = 1024 * (2 * (1024 + 1024 + 512 + 4096 + 1024) + 4 * 16);
    struct priced_run block = block_of(b);
    assert_int_equal(block.stash_bytes[RECOMPUTE_SELECTIVE], kept);
    assert_int_equal(block.working_bytes[RECOMPUTE_SELECTIVE] - block.working_bytes[RECOMPUTE_NONE],
                     block.stash_bytes[RECOMPUTE_NONE] - kept);
    // Keys, attention's projection and the second of the gated layer's; all that moves memory.
    near_to(block.again_ns[RECOMPUTE_SELECTIVE][0],
            llround(2.0 * 1024 * 1024 * (512 + 1024 + 4096) / 1e5 +
                    1024 * 2 * (10 * 1024 + 3 * 4096) / 1e3));
    // Not compiled: two norms of 18 passes instead of 2, rotations, gates of 5 instead of 3.
    b->problem.job.compiled = false;
    int64_t eager_ns = llround(1024 * 2 * (2 * 16 * 1024 + 10 * (1024 + 512) + 2 * 4096) / 1e3);
    near_to(block_of(b).again_ns[RECOMPUTE_SELECTIVE][0],
            block.again_ns[RECOMPUTE_SELECTIVE][0] + eager_ns);
    near_to(block_of(b).forward_ns[0], block.forward_ns[0] + eager_ns);
    b->problem.job.compiled = true;
    b->problem.job.layout.tensor = 2;
    struct priced_run half = block_of(b);
    assert_int_equal(half.stash_bytes[RECOMPUTE_SELECTIVE],
                     2 * 2 * 1024 * 1024 + (kept - 2 * 1024 * 1024) / 2);
    assert_true(half.again_ns[RECOMPUTE_SELECTIVE][0] >
                block.again_ns[RECOMPUTE_SELECTIVE][0] / 2 + 20000); // an all-reduce of 2 MiB
}

// Inputs of four products in 8 bits; attention's output is there twice.
TEST(inputs_of_products_are_kept_in_eight_bits)
{
    struct bench *b = bench_gated();
    int64_t wide = block_of(b).stash_bytes[RECOMPUTE_NONE];
    b->problem.job.precision = FP8;
    assert_int_equal(block_of(b).stash_bytes[RECOMPUTE_NONE],
                     wide - 1024 * (2 * 1024 + 4096 - 1024));
    assert_int_equal(block_of(b).stash_bytes[RECOMPUTE_FULL], 2 * 1024 * 1024);
    b->problem.job.trainer = TRAINER_TORCHTITAN, b->problem.job.compiled = true;
    assert_int_equal(block_of(b).stash_bytes[RECOMPUTE_NONE], // and the activation's result
                     wide + 2 * 1024 * 4096);
}

// FSDP2: weights are the states' fp32 ones; both ends stay gathered, besides the gather's buffer.
TEST(weights_are_sharded_fully)
{
    struct bench *b = bench_gated();
    b->problem.job.layout.data = 8;
    int64_t block = 2 * 15730688, head = price(b)->runs[HEAD].weight_bytes;
    b->problem.job.trainer = TRAINER_TORCHTITAN;
    b->problem.job.layout.zero = 2; // with a pipeline: weights and gradients whole, plus shards
    assert_int_equal(block_of(b).weight_bytes, block);
    assert_int_equal(block_of(b).gradient_bytes, block + block / 8);
    assert_int_equal(price(b)->runs[HEAD].weight_bytes, 2 * head);
    // At ZeRO 3, too, as backward passes leave both as they are.
    struct priced_run two = block_of(b);
    b->problem.job.layout.zero = 3;
    assert_int_equal(block_of(b).weight_bytes, block);
    assert_int_equal(block_of(b).gradient_bytes, block + block / 8);
    assert_int_equal(block_of(b).working_bytes[0], two.working_bytes[0]);
    assert_int_equal(price(b)->runs[HEAD].weight_bytes, 2 * head);
    b->problem.job.layout.pipeline = 1;
    assert_int_equal(block_of(b).weight_bytes, 0);
    assert_int_equal(block_of(b).gradient_bytes, block / 8);
    assert_int_equal(block_of(b).optimizer_bytes, 12 * 15730688 / 8);
    assert_int_equal(price(b)->runs[HEAD].weight_bytes, 2 * head);
}

// Bytes of the head while it runs, over its tensor ranks' logits; besides them its input twice.
TEST(logits_and_their_copies)
{
    const struct {
        enum trainer trainer;
        int tensor;
        bool gathered, fused;
        int64_t bytes; // for each token and word
        bool unfused;
    } cases[] = {
        {TRAINER_MEGATRON, 1, false, false, 6},
        {TRAINER_MEGATRON, 1, false, true, 10},
        {TRAINER_MEGATRON, 2, false, false, 3},
        {TRAINER_MEGATRON, 2, true, false, 6 + 1},
        {TRAINER_DEEPSPEED, 2, false, false, 4},
        {TRAINER_TORCHTITAN, 1, false, false, 14},
        {TRAINER_TORCHTITAN, 1, false, true, 4},
        {TRAINER_TORCHTITAN, 2, false, false, 9},
        {TRAINER_TORCHTITAN, 2, true, false, 15},
        {TRAINER_TORCHTITAN, 1, true, false, 14},
        {TRAINER_DEEPSPEED, 1, false, true, 14, true},
        {TRAINER_DEEPSPEED, 2, false, false, 5, true},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct bench *b = bench_gated();
        b->problem.job.trainer = cases[i].trainer;
        b->problem.job.unfused[UNFUSED_LOSS] = cases[i].unfused;
        b->problem.job.layout.tensor = cases[i].tensor;
        int64_t sharded = price(b)->runs[HEAD].forward_ns[0];
        b->problem.job.gathered_logits = cases[i].gathered;
        b->problem.job.fused_loss = cases[i].fused;
        assert_int_equal(price(b)->runs[HEAD].working_bytes[0],
                         cases[i].bytes * 1024 * 32000 + 4 * 1024 * 1024);
        int64_t plain = b->priced.runs[HEAD].working_bytes[0];
        b->problem.job.layout.sequence_parallel = cases[i].tensor > 1; // half of either input
        bool whole = cases[i].trainer == TRAINER_TORCHTITAN && cases[i].tensor > 1;
        assert_int_equal(price(b)->runs[HEAD].working_bytes[0],
                         plain + (cases[i].tensor > 1 ? whole ? 0 : -2 * 1024 * 1024 : 0));
        if (cases[i].trainer == TRAINER_MEGATRON && !cases[i].gathered) { // one tensor of 16 bits
            b->problem.job.loss_in_place = true;
            assert_int_equal(plain - price(b)->runs[HEAD].working_bytes[0] -
                                 (cases[i].tensor > 1 ? 2 * 1024 * 1024 : 0),
                             (cases[i].bytes - 2 / cases[i].tensor) * 1024 * 32000);
            b->problem.job.loss_in_place = false;
            price(b);
        }
        if (cases[i].gathered && cases[i].tensor > 1)
            assert_true(b->priced.runs[HEAD].forward_ns[0] > sharded + 510000); // 66 MB gathered
    }
}

// DeepSpeed's gradient of the embedding: for a pass in 16 bits, held where gradients add up in 32.
TEST(embeddings_have_dense_gradients)
{
    struct bench *b = bench_gated();
    int64_t table = 32000 * 1024, states = price(b)->runs[EMBEDDING].optimizer_bytes;
    assert_int_equal(states, 12 * table);
    assert_int_equal(b->priced.runs[EMBEDDING].working_bytes[0], 0);
    b->problem.job.trainer = TRAINER_DEEPSPEED;
    b->problem.job.layout.zero = 1;
    assert_int_equal(price(b)->runs[EMBEDDING].working_bytes[0], 2 * table);
    assert_int_equal(b->priced.runs[EMBEDDING].optimizer_bytes, (12 + 6) * table);
    b->problem.job.gradient_bytes_per_value = 4;
    assert_int_equal(price(b)->runs[EMBEDDING].working_bytes[0], 0);
    assert_int_equal(b->priced.runs[EMBEDDING].optimizer_bytes, (12 + 4) * table);
}

TEST(vocabularies_are_padded)
{
    struct bench *b = bench_gated();
    b->problem.model.shape.vocabulary = 50257;
    b->problem.model.shape.vocabulary_multiple = 128;
    b->precisions[0].misaligned_gemm_share = exactly(0.5);
    b->problem.job.layout.tensor = 2;
    assert_int_equal(price(b)->runs[EMBEDDING].weight_bytes, 2 * 50432 / 2 * 1024);
    int64_t aligned = b->priced.runs[HEAD].forward_ns[0];
    b->problem.model.shape.vocabulary_multiple = 0;
    assert_true(price(b)->runs[HEAD].forward_ns[0] > aligned * 3 / 2);
}

TEST(no_room_is_a_reason)
{
    struct bench *b = bench_gated();
    b->problem.job.layout.data = 512;
    b->problem.job.global_batch = 1024;
    assert_non_null(strstr(price(b)->groups[0].excluded, "512 devices"));
}

static void widen(struct estimate *e, const struct cost_key *key, void *context)
{
    (void)context;
    e->low = 0.8 * e->value, e->high = fmin(1.25 * e->value, key->high);
}

// No pass is faster with slow costs, none slower with fast ones; memory is the same.
TEST(ends_of_intervals)
{
    struct bench *b = bench_gated();
    struct priced ends[2];
    struct layout *l = &b->problem.job.layout;
    l->tensor = 2, l->context = 2, l->data = 2;
    b->groups[0].intra.bytes_per_s = 100e9;
    b->problem.costs.intra_efficiency = exactly(0.7);
    b->problem.costs.network_efficiency[NIC_INFINIBAND] = exactly(0.7);
    b->gpus[0].layer_launch_s = exactly(50e-6);
    b->gpus[0].collective_launch_s = exactly(5e-6);
    for (int key = 0; key < cost_key_count; key++)
        costs_visit(&b->problem.costs, key, NULL, 0, widen, NULL);
    for (l->zero = 0; l->zero < 4; l->zero++) {
        struct priced_run plain = block_of(b);
        for (int end = 0; end < 2; end++)
            MUST(
                price_problem_at_end(&ends[end], &b->problem, (enum cost_end)end, arena, &own_err));
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
}
