// Prices against values computed by hand (with the computation next to each) and against published
// tables: activations and states of a layer. Links: test_price_links.c.
#include "data/kinds/schedules.h"
#include "tests/support/draws/models.h"
#include "tests/support/price_bench.h"
#include "tests/support/check.h"

// ---- time of a layer

TEST(block_time_by_hand)
{
    struct bench *b = bench_dense();
    const struct priced_run *block = &price(b)->runs[BLOCK];
    // FL = 2 x 1024 x (1024 x 3072 + 1024 x 1024 + 2 x 1024 x 4096) = 25 769 803 776; / 100e12 =
    // 257.69803776 us FA = 4 x 2 x 512 x 512 x 1024 = 2 147 483 648; / 50e12 = 42.94967296 us FM =
    // 10 x 1024 x 1024 x 2 + 2 x 1024 x 4096 x 2 + 6 x 2 x 16 x 512 x 512 x 2 = 138 412 032; / 1e12
    // = 138.412032 us
    assert_int_equal(block->forward_ns[0],
                     449060); // 257.69803776 + 42.94967296 + 138.412032 + 10 = 449.05974272
    assert_int_equal(block->backward_ns[0],
                     888119); // 2 x (257.69803776 + 42.94967296 + 138.412032) + 10 = 888.11948544
    assert_int_equal(block->again_ns[RECOMPUTE_SELECTIVE][0],
                     143613); // 42.94967296 + 100.663296 = 143.61296896
    assert_int_equal(block->again_ns[RECOMPUTE_FULL][0], 449060);
    // P = 12 582 912 + norms 4096 = 12 587 008; (2 x 12 + 4 + 2) P / 1e12 = 377.61024 us
    assert_int_equal(block->optimizer_ns[0], 377610);
    // embedding: FM = 2 x 1024 x 1024 x 2 = 4 194 304: 4.194304, no overhead; backward twice
    assert_int_equal(b->priced.runs[EMBEDDING].forward_ns[0], 4194);
    assert_int_equal(b->priced.runs[EMBEDDING].backward_ns[0], 8389);
    // head: FL = 2 x 1024 x 1024 x 32000 = 67 108 864 000: 671.08864 us; FM = 4 194 304 + 12 x 1024
    // x 32000 = 397 410 304: 397.410304
    assert_int_equal(b->priced.runs[HEAD].forward_ns[0], 1078499);  // 1078.498944
    assert_int_equal(b->priced.runs[HEAD].backward_ns[0], 2146998); // 2146.997888
    assert_int_equal(b->priced.runs[HEAD].again_ns[RECOMPUTE_FULL][0], 0);
}

TEST(tensor_parallel_block_by_hand)
{
    struct bench *b = bench_dense();
    b->problem.job.layout.tensor = 2;
    const struct priced_run *block = &price(b)->runs[BLOCK];
    // half of FL and FA: 128.84901888 + 21.47483648; FM = 20 971 520 + 8 388 608 + 50 331 648 =
    // 79.691776 us; overhead 10; two all-reduces of n h e = 2 097 152 B over 2: 2 x (2 x 1/2 x 2
    // 097 152 / 100e9 + 2 x 1 us) = 2 x 22.97152
    assert_int_equal(block->forward_ns[0], 285959); // 285.95867136
    // twice the first three and overhead: 257.69803776 + 42.94967296 + 159.383552 + 10; the same
    // two all-reduces end before the weights' gradients of queries, keys and values, 32.21225472,
    // and of the first matrix, 42.94967296
    assert_int_equal(block->backward_ns[0], 470031); // 470.03126272
    b->problem.job.exposed_input_gradients = true;
    assert_int_equal(price(b)->runs[BLOCK].backward_ns[0], 515974); // + 45.94304
    b->problem.job.layout.sequence_parallel = true;
    // the unsharded 20 971 520 B halve too: 10.48576 us less
    assert_int_equal(price(b)->runs[BLOCK].forward_ns[0], 275473); // 275.47291136
}

TEST(all_reduce_factor)
{
    struct bench *b = bench_dense();
    b->groups[0].gpus_per_node = b->groups[1].gpus_per_node = 8;
    b->groups[0].intra.latency_s = 0;
    b->problem.job.layout.tensor = 8;
    b->groups[0].intra.bytes_per_s = 1e9;
    int64_t slow = price(b)->runs[BLOCK].forward_ns[0];
    b->groups[0].intra.bytes_per_s = 2e9;
    int64_t fast = price(b)->runs[BLOCK].forward_ns[0];
    // 2 all-reduces x 2 x 7/8 x 2 097 152 B x (1/1e9 - 1/2e9) = 3.670016 ms
    assert_true(llabs(slow - fast - 3670016) <= 1);
}

static int64_t attention_ns(int width, int values, enum attention_kernel kernel)
{
    struct bench *b = bench_dense();
    b->problem.job.layout.fused_attention = true, b->problem.job.attention_kernel = kernel;
    b->problem.model.shape.head_width = width, b->problem.model.shape.value_width = values;
    return price(b)->runs[BLOCK].again_ns[RECOMPUTE_SELECTIVE][0];
}

// A kernel that is wider than a head computes what a head as wide as the kernel has.
TEST(heads_are_as_wide_as_their_kernel)
{
    static const int every_32[] = {32, 64, 96, 128, 160, 192, 224, 256},
                     powers[] = {16, 32, 64, 128, 256};
    for (int width = 8, i = 0, k = 0; width <= 256; width += 8) {
        if (width > every_32[i]) i++;
        if (width > powers[k]) k++;
        int64_t flash = attention_ns(every_32[i], 0, ATTENTION_MAKER),
                triton = attention_ns(powers[k], 0, ATTENTION_MAKER);
        assert_int_equal(attention_ns(width, 0, ATTENTION_FLASH_2), flash);
        assert_int_equal(attention_ns(width, 0, ATTENTION_TRITON), triton);
        assert_int_equal(attention_ns(width, 8, ATTENTION_FLASH_2), flash);
        assert_int_equal(attention_ns(width, 8, ATTENTION_TRITON), triton);
        assert_int_equal(attention_ns(8, width, ATTENTION_FLASH_2), flash);
        assert_int_equal(attention_ns(8, width, ATTENTION_TRITON), triton);
        int64_t own = attention_ns(width, 0, ATTENTION_MAKER_2024);
        assert_int_equal(own, attention_ns(width, 0, ATTENTION_MAKER));
        assert_true(own <= flash && own <= triton);
    }
}

TEST(fused_attention_and_context)
{
    struct bench *b = bench_dense();
    b->problem.job.layout.fused_attention = true;
    const struct priced_run *block = &price(b)->runs[BLOCK];
    // FA halves: 21.47483648 us; no scores: FM = 37 748 736
    assert_int_equal(block->forward_ns[0],
                     326922); // 257.69803776 + 21.47483648 + 37.748736 + 10 = 326.92161024
    assert_int_equal(block->backward_ns[0],
                     654581); // 515.39607552 + 2.5 x 21.47483648 + 75.497472 + 10 = 654.58063872
    assert_int_equal(block->again_ns[RECOMPUTE_SELECTIVE][0], 21475);
    b->problem.job.layout.context = 2;
    // n = 512: half of everything but the overhead, and one message of 2 x 512 x 1024 x 2 = 2 097
    // 152 B: 20.97152 + 1 us
    block = &price(b)->runs[BLOCK];
    assert_int_equal(block->forward_ns[0],
                     190432); // 316.92161024 / 2 + 10 + 21.97152 = 190.43232512
    assert_int_equal(block->backward_ns[0],
                     376233); // 644.58063872 / 2 + 10 + 43.94304 = 376.23335936
    // Hidden behind the attention of a step: the ring, but nothing that is gathered before it.
    b->problem.costs.context_overlap = exactly(1);
    block = &price(b)->runs[BLOCK];
    assert_int_equal(block->forward_ns[0], 185064); // 190.43232512 - 21.47483648 / 2 / 2
    int64_t ring = block->working_bytes[0];
    b->problem.job.context_kind = CONTEXT_ALL_GATHER;
    block = &price(b)->runs[BLOCK];
    assert_int_equal(block->forward_ns[0], 190432);
    assert_int_equal(block->backward_ns[0], 376233);
    assert_int_equal(block->working_bytes[0], ring + 2 * 2097152);
    // Half of the queries, keys, values and sums of 512 tokens, 4 x 512 x 1024 x 2 / 2 = 2 097 152
    // B, and 4 us; back as much.
    b->problem.job.context_kind = CONTEXT_ALL_TO_ALL;
    block = &price(b)->runs[BLOCK];
    assert_int_equal(block->forward_ns[0], 193432);  // 168.46080512 + 20.97152 + 4
    assert_int_equal(block->backward_ns[0], 357262); // 332.29031936 + 24.97152
    assert_int_equal(block->working_bytes[0], ring);
    b->problem.model.shape.kv_heads = 1; // not enough for two ranks
    assert_int_equal(price_problem(&b->priced, &b->problem, arena, &own_err), BAD_INPUT);
}

// Two nodes of four: two of the four ranks are near, all four GPUs of a node send at once.
TEST(heads_are_exchanged_over_nodes)
{
    struct bench *b = bench_dense();
    b->problem.job.layout.tensor = 2, b->problem.job.layout.context = 4;
    b->problem.job.context_kind = CONTEXT_ALL_TO_ALL;
    int64_t slow = price(b)->runs[BLOCK].forward_ns[0];
    b->nics[0][0].link.bytes_per_s = 20e9;
    // half of 256 x 4 x 1024 x 2 / 2 B over a quarter of 10e9, or of 20e9
    assert_true(llabs(slow - price(b)->runs[BLOCK].forward_ns[0] - (209715 - 104858)) <= 1);
}

TEST(measured_times_taken_outright)
{
    struct bench *b = bench_dense();
    b->times[0] =
        (struct layer_time){"block", "G", 2, 0, 0, 0, 0, 9, 9, 9, 9, 9, 0}; // another tensor degree
    b->times[1] =
        (struct layer_time){"block", "G", 1, 2, 0, 0, 0, 0.001, 0.002, 0.0001, 0.0003, 0.0004, 0};
    b->times[2] = (struct layer_time){"block", "G", 0, 0, 0, 0, 0,
                                      8,       8,   8, 8, 8, 0}; // the first match counts
    b->problem.costs.layer_times = b->times;
    b->problem.costs.layer_time_count = 3;
    const struct priced_run *block = &price(b)->runs[BLOCK];
    assert_int_equal(block->forward_ns[0], 1000000);
    assert_int_equal(block->backward_ns[0], 2000000);
    assert_int_equal(block->again_ns[RECOMPUTE_SELECTIVE][0], 100000);
    assert_int_equal(block->again_ns[RECOMPUTE_FULL][0], 300000);
    assert_int_equal(block->optimizer_ns[0], 400000);
    assert_int_equal(block->forward_ns[1], 449060); // the other GPU by formula
}

TEST(context_leaves_the_node_tensor_does_not)
{
    struct bench *b = bench_dense();
    b->problem.job.layout.fused_attention = true;
    b->problem.job.layout.tensor = 4;
    b->problem.job.layout.context = 2;
    // per GPU: (257.69803776 + 21.47483648) / 8 + 20 971 520 / 2 / 1e6 + 16 777 216 / 8 / 1e6 + 10
    // = 57.47952128 us; two all-reduces of 1 048 576 B over 4 within the node: 2 x (2 x 3/4 x
    // 10.48576 + 6) = 43.45728; a ring message of 2 x 512 x 256 x 2 = 524 288 B through a NIC
    // shared by the node's 4 tensor ranks: 209.7152 + 5
    assert_int_equal(price(b)->runs[BLOCK].forward_ns[0],
                     315652); // 57.47952128 + 43.45728 + 214.7152 = 315.65200128
}

TEST(tensor_ranks_over_two_nodes)
{
    struct bench *b = bench_dense();
    b->problem.job.layout.fused_attention = true;
    b->problem.job.layout.tensor = 8;
    // per GPU: (257.69803776 + 21.47483648) / 8 + 20.97152 + 16.777216 / 8 + 10 = 67.96528128 us;
    // two all-reduces of 2 097 152 B over 8 by one ring on the node's NIC: 2 x (2 x 7/8 x 209.7152
    // + 14 x 5) = 874.0032
    assert_int_equal(price(b)->runs[BLOCK].forward_ns[0], 941968); // 941.96848128
    b->nics[0][0].count = 1000; // then it is the node's inside that limits
    // 2 x (2 x 7/8 x 20.97152 + 70) = 213.40032
    assert_int_equal(price(b)->runs[BLOCK].forward_ns[0], 281366); // 281.36560128
}

// ---- published memory

// 2205.05198 Table 2, bytes per s b h: 10 + 24/t + 5 a s/(h t); with sequence parallelism 34/t + 5
// a s/(h t).
TEST(activations_of_korthikanti)
{
    struct bench *b = bench_dense();
    b->problem.model.shape = (struct shape){.hidden = 6144,
                                            .ffn = 24576,
                                            .heads = 64,
                                            .kv_heads = 64,
                                            .head_width = 96,
                                            .vocabulary = 51200,
                                            .dropout = true};
    b->problem.job.sequence = 2048;
    b->problem.job.global_batch = 4;
    b->problem.job.layout.micro_batch = 4;
    b->groups[0].gpus_per_node = b->groups[1].gpus_per_node = 8;
    const int64_t sbh = 2048LL * 4 * 6144; // 5 a s / h = 5 x 64 x 2048 / 6144 = 106.667
    const struct priced_run *block = &price(b)->runs[BLOCK];
    assert_int_equal(block->stash_bytes[RECOMPUTE_NONE], sbh * 34 + sbh * 5 * 64 / 6144 * 2048);
    assert_int_equal(block->stash_bytes[RECOMPUTE_FULL], 2 * sbh);
    b->problem.job.layout.tensor = 8;
    block = &price(b)->runs[BLOCK];
    assert_int_equal(block->stash_bytes[RECOMPUTE_NONE], sbh * 13 + sbh * 5 * 64 / 6144 * 2048 / 8);
    assert_int_equal(block->stash_bytes[RECOMPUTE_SELECTIVE], sbh * 13);
    // gradients of activations: 2 sbh + 2 x 16 sbh / 8 (f = 4h), 4 a s / (8 h) of the scores;
    // selective: the scores again
    const int64_t gradients = sbh * 6 + sbh * 4 * 64 / 6144 * 2048 / 8;
    assert_int_equal(block->working_bytes[RECOMPUTE_NONE], gradients);
    assert_int_equal(block->working_bytes[RECOMPUTE_SELECTIVE],
                     gradients + sbh * 5 * 64 / 6144 * 2048 / 8);
    assert_int_equal(block->working_bytes[RECOMPUTE_FULL],
                     gradients + block->stash_bytes[RECOMPUTE_NONE]);
    b->problem.job.layout.sequence_parallel = true;
    block = &price(b)->runs[BLOCK];
    assert_int_equal(block->stash_bytes[RECOMPUTE_SELECTIVE], sbh * 34 / 8);
    assert_int_equal(block->stash_bytes[RECOMPUTE_FULL], 2 * sbh / 8);
    b->problem.job.layout.fused_attention = true; // nothing is left to recompute selectively
    assert_int_equal(price(b)->runs[BLOCK].stash_bytes[RECOMPUTE_NONE], sbh * 34 / 8);
}

// bigscience chronicles: a GPT layer with biases and layer norms holds 12 h^2 + 13 h parameters.
TEST(parameters_of_gpt)
{
    struct bench *b = bench_dense();
    b->problem.model.shape.qkv_bias = b->problem.model.shape.linear_bias = true;
    b->problem.model.shape.positions = 512;
    b->problem.model.shape.tied_embeddings = true;
    const struct priced *p = price(b);
    const int64_t h = 1024, block = 12 * h * h + 13 * h;
    assert_int_equal(p->runs[BLOCK].weight_bytes, 2 * block);
    assert_int_equal(p->runs[BLOCK].gradient_bytes, 4 * block);
    assert_int_equal(p->runs[BLOCK].optimizer_bytes, 12 * block);
    assert_int_equal(p->runs[EMBEDDING].weight_bytes, 2 * (32000 + 512) * h);
    assert_int_equal(p->runs[HEAD].weight_bytes,
                     2 * (32000 * h + 2 * h)); // its own copy on the last stage
    b->problem.job.layout.pipeline = 1;
    assert_int_equal(price(b)->runs[HEAD].weight_bytes, 2 * 2 * h); // shared with the embedding
    b->problem.job.precision = FP32;
    b->precisions[0].precision = b->precisions[1].precision = FP32;
    assert_int_equal(price(b)->runs[BLOCK].weight_bytes, 4 * block);
    assert_int_equal(b->priced.runs[BLOCK].optimizer_bytes, 8 * block);
}

struct llama {
    int64_t h, f, layers, a, k, v, s;
    int t, c, p, d;
    double states_gb, activations_gb;
};

// 2411.06465 as computed for a first stage (Eq. 4 and 12): the table of Llama models, states and
// activations in GB.
TEST(states_and_activations_of_llama)
{
    static const struct llama rows[] = {
        {4096, 11008, 32, 32, 32, 32000, 4096, 1, 1, 1, 8, 49.56, 20.86},
        {4096, 11008, 32, 32, 32, 32000, 4096, 4, 1, 2, 8, 6.32, 5.25},
        {4096, 11008, 32, 32, 32, 32000, 4096, 4, 2, 2, 4, 6.32, 2.62},
        {5120, 13824, 40, 40, 40, 32000, 4096, 2, 1, 1, 16, 43.38, 16.16},
        {8192, 28672, 80, 64, 8, 32000, 4096, 4, 1, 4, 4, 39.10, 27.61},
        {8192, 28672, 80, 64, 8, 32000, 4096, 8, 1, 8, 2, 13.23, 13.94},
        {4096, 14336, 32, 32, 8, 128256, 8192, 4, 1, 2, 8, 7.53, 12.22},
        {8192, 28672, 80, 64, 8, 128256, 8192, 8, 1, 8, 2, 14.41, 28.27},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        const struct llama *r = &rows[i];
        struct bench *b = bench_dense();
        b->problem.model.shape = (struct shape){.hidden = r->h,
                                                .ffn = r->f,
                                                .heads = r->a,
                                                .kv_heads = r->k,
                                                .head_width = r->h / r->a,
                                                .vocabulary = r->v,
                                                .gated_ffn = true,
                                                .rms_norm = true};
        b->runs[BLOCK].count = (int)r->layers;
        b->problem.model.layer_count = (int)r->layers + 2;
        b->groups[0].gpus_per_node = b->groups[1].gpus_per_node = 8;
        b->problem.job.unfused[UNFUSED_ACTIVATION] = true; // as the paper counts
        b->problem.job.sequence = r->s;
        b->problem.job.global_batch = 16 * r->d;
        b->problem.job.layout = (struct layout){.tensor = r->t,
                                                .context = r->c,
                                                .data = r->d,
                                                LAYOUT_PLAIN(r->p),
                                                .micro_batch = 1,
                                                .schedule = SCHEDULE_1F1B,
                                                .sequence_parallel = true,
                                                .fused_attention = true,
                                                .zero = 1};
        const struct priced_run *runs = price(b)->runs;
        double here = (double)r->layers / r->p;
        double states = (double)(runs[EMBEDDING].weight_bytes + runs[EMBEDDING].gradient_bytes +
                                 runs[EMBEDDING].optimizer_bytes) +
                        here * (double)(runs[BLOCK].weight_bytes + runs[BLOCK].gradient_bytes +
                                        runs[BLOCK].optimizer_bytes);
        // The paper's formula charges all layers once (p micro-batches of L/p layers), the head,
        // and 8 p per token and width.
        double token_width = (double)(r->s * r->h) / (r->t * r->c);
        double logits = 4 * token_width * (double)r->v / (double)r->h, norm = 4 * token_width;
        double activations = (double)r->layers * (double)runs[BLOCK].stash_bytes[RECOMPUTE_NONE] +
                             norm + logits + 8 * r->p * token_width;
        assert_true(fabs(states / 1e9 - r->states_gb) < 0.0051);
        assert_true(fabs(activations / 1e9 - r->activations_gb) < 0.0051);
    }
}

// ---- costs that are moved

static void widen(struct estimate *e, const struct cost_key *key, void *context)
{
    (void)context;
    if (!estimate_is_stated(e)) return;
    e->low = fmax(key->low, 0.75 * e->value), e->high = fmin(key->high, 1.3 * e->value);
}

static void same_prices(const int64_t *a, const int64_t *b, int count)
{
    for (int i = 0; i < count; i++) assert_int_equal(a[i], b[i]);
}

static void same_times(const struct priced *a, const struct priced *b)
{
    int groups = a->group_count, passes = a->slice_count * groups,
        sent = passes * groups * PART_COUNT;
    for (int r = 0; r < a->run_count; r++) {
        const struct priced_run *x = &a->runs[r], *y = &b->runs[r];
        same_prices(x->forward_ns, y->forward_ns, passes);
        same_prices(x->backward_ns, y->backward_ns, passes);
        same_prices(x->weight_ns, y->weight_ns, groups);
        same_prices(x->optimizer_ns, y->optimizer_ns, groups);
        for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
            if (y->again_ns[mode]) same_prices(x->again_ns[mode], y->again_ns[mode], passes);
        for (int o = 0; o < a->gradient_option_count; o++)
            same_prices(x->sync_ns[o], y->sync_ns[o], groups);
    }
    for (int c = 0; c < a->cut_count; c++) {
        same_prices(a->cuts[c].forward_ns, b->cuts[c].forward_ns, sent);
        for (int o = 0; o < a->boundary_option_count; o++)
            same_prices(a->cuts[c].backward_ns[o], b->cuts[c].backward_ns[o], sent);
    }
    for (int g = 0; g < groups; g++)
        same_prices(a->groups[g].sync_constant_ns, b->groups[g].sync_constant_ns,
                    a->gradient_option_count);
    same_prices(a->embedding_sync_ns, b->embedding_sync_ns, groups * groups);
}

// Groups of costs moved in any order, each from the costs as they are: what is priced again is all
// that they change.
TEST(what_moved_costs_change_is_priced_again)
{
    struct random_limits limits = random_limits_small();
    int drawn = 0;
    limits.flavour = FLAVOUR_SHAPE;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct random rng = {9100 + seed};
        struct problem p;
        struct priced kept;
        struct pricing *pricing;
        struct arena_mark mark = arena_set_mark(arena);
        random_problem(&p, &rng, &limits, arena);
        if (seed % 4 == 0) random_pools(&p, seed, arena);
        if (seed % 7 == 0) share_weights(&p);
        if (seed % 3 == 0) p.job.trainer = TRAINER_OTHER;
        if (seed % 3 == 0) p.job.whole_gradient_sums = job_may_sum_whole(&p.job);
        p.costs.transfer_launch_s = exactly(1e-4 * (double)(seed % 2));
        for (int key = 0; key < cost_key_count; key++)
            costs_visit(&p.costs, key, NULL, 0, widen, NULL);
        struct costs costs = p.costs;
        if (job_has_widths(&p.job) || p.cluster.places.node_count) continue;
        drawn++;
        assert_int_equal(price_terms_kept(&pricing, &kept, &p, NULL, seed % 2, arena, &err), OK);
        for (int i = 0; i < 24; i++) {
            enum cost_group group = (enum cost_group)random_between(&rng, 0, COST_GROUPS - 1);
            struct priced anew;
            p.costs = costs_copy(&costs, arena);
            costs_move_to(&p.costs, group, (enum cost_end)(i % 2));
            assert_int_equal(price_times(pricing, group, &err), OK);
            assert_int_equal(price_terms(&anew, &p, arena, &err), OK);
            same_times(&kept, &anew);
        }
        arena_reset(arena, mark);
    }
    assert_true(drawn > 300);
}
