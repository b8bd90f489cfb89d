// Prices against values computed by hand (the computation stands beside each) and against published
// tables: activations and states of a layer, link sharing, the fall-back to a common NIC kind,
// exclusions, synchronisation, compression.
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

// A problem with everything it points to; tests change fields before pricing.
struct bench {
    struct problem problem;
    struct layer_run runs[3];
    struct node_group groups[2];
    struct nic nics[2][2];
    struct gpu_costs gpus[2];
    struct precision_costs precisions[2];
    struct group_link links[2];
    struct layer_time times[3];
    struct boundary_compression boundary[2];
    struct gradient_compression gradient[2];
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
    struct costs *costs = &b->problem.costs;
    static const char *const names[] = {"G", "H"};
    for (int i = 0; i < 2; i++) {
        b->precisions[i] = (struct precision_costs){.precision = FP16,
                                                    .gemm_flop_per_s = exactly(100e12),
                                                    .attention_flop_per_s = exactly(50e12),
                                                    .low_rank_flop_per_s = exactly(10e12)};
        b->gpus[i] = (struct gpu_costs){.gpu = names[i],
                                        .precisions = &b->precisions[i],
                                        .precision_count = 1,
                                        .memory_bytes_per_s = exactly(1e12),
                                        .layer_overhead_s = exactly(10e-6),
                                        .compression_overhead_s = exactly(20e-6),
                                        .constant_bytes = exactly(1e9)};
    }
    *costs = (struct costs){.name = "test",
                            .gpus = b->gpus,
                            .gpu_count = 2,
                            .intra_efficiency = exactly(1),
                            .transfer_share = {0, 1, 0}};
    for (int i = 0; i < NIC_KIND_COUNT; i++) costs->network_efficiency[i] = exactly(1);
}

static void set_cluster(struct bench *b)
{
    static const char *const names[] = {"first", "second"}, *const gpus[] = {"G", "H"};
    for (int i = 0; i < 2; i++) {
        b->nics[i][0] = (struct nic){NIC_INFINIBAND, 1, {10e9, 5e-6}};
        b->groups[i] =
            (struct node_group){names[i], gpus[i], 4, 4, 80000000000, {100e9, 1e-6}, b->nics[i], 1};
    }
    b->problem.cluster = (struct cluster){.name = "test", .groups = b->groups, .group_count = 2};
}

// GPT-like: h 1024, f 4096, 16 heads of 64, v 32000; sequences of 512 in micro-batches of 2: n =
// 1024.
static void begin(struct bench *b)
{
    *b = (struct bench){.err = {OK, ""}};
    arena_open(&b->arena, NULL);
    b->runs[EMBEDDING] =
        (struct layer_run){.name = "embedding", .kind = LAYER_EMBEDDING, .count = 1};
    b->runs[BLOCK] =
        (struct layer_run){.name = "block", .kind = LAYER_BLOCK, .count = 4, .recomputable = true};
    b->runs[HEAD] = (struct layer_run){.name = "head", .kind = LAYER_HEAD, .count = 1};
    b->problem.name = "test";
    b->problem.model = (struct model){.name = "test",
                                      .has_shape = true,
                                      .runs = b->runs,
                                      .run_count = 3,
                                      .layer_count = 6,
                                      .shape = {.hidden = 1024,
                                                .ffn = 4096,
                                                .heads = 16,
                                                .kv_heads = 16,
                                                .head_width = 64,
                                                .vocabulary = 32000}};
    set_cluster(b);
    set_costs(b);
    b->problem.job = (struct job){.name = "test",
                                  .sequence = 512,
                                  .global_batch = 16,
                                  .precision = FP16,
                                  .gradient_bytes_per_value = 4,
                                  .adam = true,
                                  .layout = {.tensor = 1,
                                             .context = 1,
                                             .data = 1,
                                             LAYOUT_PLAIN(2),
                                             .micro_batch = 2,
                                             .schedule = SCHEDULE_1F1B},
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

static const int64_t *forward_parts(const struct bench *b, int from, int to)
{
    return &b->priced.cuts[b->priced.runs[BLOCK].cut]
                .forward_ns[(from * b->priced.group_count + to) * PART_COUNT];
}

static const int64_t *backward_parts(const struct bench *b, int option, int from, int to)
{
    return &b->priced.cuts[b->priced.runs[BLOCK].cut]
                .backward_ns[option][(from * b->priced.group_count + to) * PART_COUNT];
}

// ---- time of a layer

static void block_time_by_hand(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    const struct priced_run *block = &price(&b)->runs[BLOCK];
    // FL = 2 x 1024 x (1024 x 3072 + 1024 x 1024 + 2 x 1024 x 4096) = 25 769 803 776; / 100e12 =
    // 257.69803776 us FA = 4 x 2 x 512 x 512 x 1024 = 2 147 483 648; / 50e12 = 42.94967296 us FM =
    // 10 x 1024 x 1024 x 2 + 2 x 1024 x 4096 x 2 + 6 x 2 x 16 x 512 x 512 x 2 = 138 412 032; / 1e12
    // = 138.412032 us
    assert_int_equal(block->forward_ns[0],
                     449060); // 257.69803776 + 42.94967296 + 138.412032 + 10 = 449.05974272
    assert_int_equal(block->backward_ns[0],
                     888119); // 2 x (257.69803776 + 42.94967296 + 138.412032) + 10 = 888.11948544
    assert_int_equal(block->selective_ns[0], 143613); // 42.94967296 + 100.663296 = 143.61296896
    assert_int_equal(block->full_ns[0], 449060);
    // P = 12 582 912 + norms 4096 = 12 587 008; (2 x 12 + 4 + 2) P / 1e12 = 377.61024 us
    assert_int_equal(block->optimizer_ns[0], 377610);
    // embedding: FM = 2 x 1024 x 1024 x 2 = 4 194 304: 4.194304, no overhead; backward twice
    assert_int_equal(b.priced.runs[EMBEDDING].forward_ns[0], 4194);
    assert_int_equal(b.priced.runs[EMBEDDING].backward_ns[0], 8389);
    // head: FL = 2 x 1024 x 1024 x 32000 = 67 108 864 000: 671.08864 us; FM = 4 194 304 + 12 x 1024
    // x 32000 = 397 410 304: 397.410304
    assert_int_equal(b.priced.runs[HEAD].forward_ns[0], 1078499);  // 1078.498944
    assert_int_equal(b.priced.runs[HEAD].backward_ns[0], 2146998); // 2146.997888
    assert_int_equal(b.priced.runs[HEAD].full_ns[0], 0);
    end(&b);
}

static void tensor_parallel_block_by_hand(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.problem.job.layout.tensor = 2;
    const struct priced_run *block = &price(&b)->runs[BLOCK];
    // half of FL and FA: 128.84901888 + 21.47483648; FM = 20 971 520 + 8 388 608 + 50 331 648 =
    // 79.691776 us; overhead 10; two all-reduces of n h e = 2 097 152 B over 2: 2 x (2 x 1/2 x 2
    // 097 152 / 100e9 + 2 x 1 us) = 2 x 22.97152
    assert_int_equal(block->forward_ns[0], 285959); // 285.95867136
    // twice the first three, overhead, the same two all-reduces: 257.69803776 + 42.94967296 +
    // 159.383552 + 10 + 45.94304
    assert_int_equal(block->backward_ns[0], 515974); // 515.97430272
    b.problem.job.layout.sequence_parallel = true;
    // the unsharded 20 971 520 B halve too: 10.48576 us less
    assert_int_equal(price(&b)->runs[BLOCK].forward_ns[0], 275473); // 275.47291136
    end(&b);
}

static void all_reduce_factor(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.groups[0].gpus_per_node = b.groups[1].gpus_per_node = 8;
    b.groups[0].intra.latency_s = 0;
    b.problem.job.layout.tensor = 8;
    b.groups[0].intra.bytes_per_s = 1e9;
    int64_t slow = price(&b)->runs[BLOCK].forward_ns[0];
    b.groups[0].intra.bytes_per_s = 2e9;
    int64_t fast = price(&b)->runs[BLOCK].forward_ns[0];
    // 2 all-reduces x 2 x 7/8 x 2 097 152 B x (1/1e9 - 1/2e9) = 3.670016 ms
    assert_true(llabs(slow - fast - 3670016) <= 1);
    end(&b);
}

static void fused_attention_and_context(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.problem.job.layout.fused_attention = true;
    const struct priced_run *block = &price(&b)->runs[BLOCK];
    // FA halves: 21.47483648 us; no scores: FM = 37 748 736
    assert_int_equal(block->forward_ns[0],
                     326922); // 257.69803776 + 21.47483648 + 37.748736 + 10 = 326.92161024
    assert_int_equal(block->backward_ns[0],
                     654581); // 515.39607552 + 2.5 x 21.47483648 + 75.497472 + 10 = 654.58063872
    assert_int_equal(block->selective_ns[0], 21475);
    b.problem.job.layout.context = 2;
    // n = 512: half of everything but the overhead, and one message of 2 x 512 x 1024 x 2 = 2 097
    // 152 B: 20.97152 + 1 us
    block = &price(&b)->runs[BLOCK];
    assert_int_equal(block->forward_ns[0],
                     190432); // 316.92161024 / 2 + 10 + 21.97152 = 190.43232512
    assert_int_equal(block->backward_ns[0],
                     376233); // 644.58063872 / 2 + 10 + 43.94304 = 376.23335936
    end(&b);
}

static void measured_times_taken_outright(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.times[0] = (struct layer_time){"block", "G", 2, 0, 9, 9, 9, 9, 9, 0}; // another tensor degree
    b.times[1] = (struct layer_time){"block", "G", 1, 2, 0.001, 0.002, 0.0001, 0.0003, 0.0004, 0};
    b.times[2] =
        (struct layer_time){"block", "G", 0, 0, 8, 8, 8, 8, 8, 0}; // the first match counts
    b.problem.costs.layer_times = b.times;
    b.problem.costs.layer_time_count = 3;
    const struct priced_run *block = &price(&b)->runs[BLOCK];
    assert_int_equal(block->forward_ns[0], 1000000);
    assert_int_equal(block->backward_ns[0], 2000000);
    assert_int_equal(block->selective_ns[0], 100000);
    assert_int_equal(block->full_ns[0], 300000);
    assert_int_equal(block->optimizer_ns[0], 400000);
    assert_int_equal(block->forward_ns[1], 449060); // the other GPU by formula
    end(&b);
}

static void context_leaves_the_node_tensor_does_not(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.problem.job.layout.fused_attention = true;
    b.problem.job.layout.tensor = 4;
    b.problem.job.layout.context = 2;
    // per GPU: (257.69803776 + 21.47483648) / 8 + 20 971 520 / 2 / 1e6 + 16 777 216 / 8 / 1e6 + 10
    // = 57.47952128 us; two all-reduces of 1 048 576 B over 4 within the node: 2 x (2 x 3/4 x
    // 10.48576 + 6) = 43.45728; a ring message of 2 x 512 x 256 x 2 = 524 288 B through a NIC
    // shared by the node's 4 tensor ranks: 209.7152 + 5
    assert_int_equal(price(&b)->runs[BLOCK].forward_ns[0],
                     315652); // 57.47952128 + 43.45728 + 214.7152 = 315.65200128
    end(&b);
}

static void tensor_ranks_over_two_nodes(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.problem.job.layout.fused_attention = true;
    b.problem.job.layout.tensor = 8;
    // per GPU: (257.69803776 + 21.47483648) / 8 + 20.97152 + 16.777216 / 8 + 10 = 67.96528128 us;
    // two all-reduces of 2 097 152 B over 8 by one ring on the node's NIC: 2 x (2 x 7/8 x 209.7152
    // + 14 x 5) = 874.0032
    assert_int_equal(price(&b)->runs[BLOCK].forward_ns[0], 941968); // 941.96848128
    b.nics[0][0].count = 1000; // then it is the node's inside that limits
    // 2 x (2 x 7/8 x 20.97152 + 70) = 213.40032
    assert_int_equal(price(&b)->runs[BLOCK].forward_ns[0], 281366); // 281.36560128
    end(&b);
}

// ---- published memory

// 2205.05198 Table 2, bytes per s b h: 10 + 24/t + 5 a s/(h t); with sequence parallelism 34/t + 5
// a s/(h t).
static void activations_of_korthikanti(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.problem.model.shape = (struct shape){.hidden = 6144,
                                           .ffn = 24576,
                                           .heads = 64,
                                           .kv_heads = 64,
                                           .head_width = 96,
                                           .vocabulary = 51200,
                                           .dropout = true};
    b.problem.job.sequence = 2048;
    b.problem.job.global_batch = 4;
    b.problem.job.layout.micro_batch = 4;
    b.groups[0].gpus_per_node = b.groups[1].gpus_per_node = 8;
    const int64_t sbh = 2048LL * 4 * 6144; // 5 a s / h = 5 x 64 x 2048 / 6144 = 106.667
    const struct priced_run *block = &price(&b)->runs[BLOCK];
    assert_int_equal(block->stash_bytes[RECOMPUTE_NONE], sbh * 34 + sbh * 5 * 64 / 6144 * 2048);
    assert_int_equal(block->stash_bytes[RECOMPUTE_FULL], 2 * sbh);
    b.problem.job.layout.tensor = 8;
    block = &price(&b)->runs[BLOCK];
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
    b.problem.job.layout.sequence_parallel = true;
    block = &price(&b)->runs[BLOCK];
    assert_int_equal(block->stash_bytes[RECOMPUTE_SELECTIVE], sbh * 34 / 8);
    assert_int_equal(block->stash_bytes[RECOMPUTE_FULL], 2 * sbh / 8);
    b.problem.job.layout.fused_attention = true; // nothing is left to recompute selectively
    assert_int_equal(price(&b)->runs[BLOCK].stash_bytes[RECOMPUTE_NONE], sbh * 34 / 8);
    end(&b);
}

// bigscience chronicles: a GPT layer with biases and layer norms holds 12 h^2 + 13 h parameters.
static void parameters_of_gpt(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.problem.model.shape.qkv_bias = b.problem.model.shape.linear_bias = true;
    b.problem.model.shape.positions = 512;
    b.problem.model.shape.tied_embeddings = true;
    const struct priced *p = price(&b);
    const int64_t h = 1024, block = 12 * h * h + 13 * h;
    assert_int_equal(p->runs[BLOCK].weight_bytes, 2 * block);
    assert_int_equal(p->runs[BLOCK].gradient_bytes, 4 * block);
    assert_int_equal(p->runs[BLOCK].optimizer_bytes, 12 * block);
    assert_int_equal(p->runs[EMBEDDING].weight_bytes, 2 * (32000 + 512) * h);
    assert_int_equal(p->runs[HEAD].weight_bytes,
                     2 * (32000 * h + 2 * h)); // its own copy on the last stage
    b.problem.job.layout.pipeline = 1;
    assert_int_equal(price(&b)->runs[HEAD].weight_bytes, 2 * 2 * h); // shared with the embedding
    b.problem.job.precision = FP32;
    b.precisions[0].precision = b.precisions[1].precision = FP32;
    assert_int_equal(price(&b)->runs[BLOCK].weight_bytes, 4 * block);
    assert_int_equal(b.priced.runs[BLOCK].optimizer_bytes, 8 * block);
    end(&b);
}

struct llama {
    int64_t h, f, layers, a, k, v, s;
    int t, c, p, d;
    double states_gb, activations_gb;
};

// 2411.06465 as worked out for a first stage (Eq. 4 and 12): the table of Llama models, states and
// activations in GB.
static void states_and_activations_of_llama(void **state)
{
    (void)state;
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
        struct bench b;
        begin(&b);
        b.problem.model.shape = (struct shape){.hidden = r->h,
                                               .ffn = r->f,
                                               .heads = r->a,
                                               .kv_heads = r->k,
                                               .head_width = r->h / r->a,
                                               .vocabulary = r->v,
                                               .gated_ffn = true,
                                               .rms_norm = true};
        b.runs[BLOCK].count = (int)r->layers;
        b.problem.model.layer_count = (int)r->layers + 2;
        b.groups[0].gpus_per_node = b.groups[1].gpus_per_node = 8;
        b.problem.job.sequence = r->s;
        b.problem.job.global_batch = 16 * r->d;
        b.problem.job.layout = (struct layout){.tensor = r->t,
                                               .context = r->c,
                                               .data = r->d,
                                               LAYOUT_PLAIN(r->p),
                                               .micro_batch = 1,
                                               .schedule = SCHEDULE_1F1B,
                                               .sequence_parallel = true,
                                               .fused_attention = true,
                                               .zero = 1};
        const struct priced_run *runs = price(&b)->runs;
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
        end(&b);
    }
}

// ---- links

static void messages_share_nics(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    price(&b);
    assert_int_equal(b.priced.cuts[b.priced.runs[BLOCK].cut].message_bytes, 2097152);
    // two stages fit into a node of 4: intra, 2 097 152 / 100e9 = 20.97152 us on the link, 1 us of
    // delay
    assert_int_equal(forward_parts(&b, 0, 0)[PART_BLOCKING], 0);
    assert_int_equal(forward_parts(&b, 0, 0)[PART_LINK], 20972);
    assert_int_equal(forward_parts(&b, 0, 0)[PART_DELAY], 1000);
    // between groups: one stream on one NIC of 10e9: 209.7152 us, 5 us
    assert_int_equal(forward_parts(&b, 0, 1)[PART_LINK], 209715);
    assert_int_equal(forward_parts(&b, 0, 1)[PART_DELAY], 5000);
    // four ranks of a stage send at once through one NIC: a quarter each
    b.problem.job.layout.tensor = 4;
    price(&b);
    assert_int_equal(forward_parts(&b, 0, 1)[PART_LINK], 838861);
    // two NICs at one end do not help, at both ends they do; one message alone never uses two
    b.nics[0][0].count = 2;
    price(&b);
    assert_int_equal(forward_parts(&b, 0, 1)[PART_LINK], 838861);
    b.nics[1][0].count = 2;
    price(&b);
    assert_int_equal(forward_parts(&b, 0, 1)[PART_LINK], 419430);
    b.problem.job.layout.tensor = 1;
    price(&b);
    assert_int_equal(forward_parts(&b, 0, 1)[PART_LINK], 209715);
    // sequence parallelism sends a share of the message
    b.problem.job.layout.tensor = 4;
    b.problem.job.layout.sequence_parallel = true;
    price(&b);
    assert_int_equal(b.priced.cuts[b.priced.runs[BLOCK].cut].message_bytes, 524288);
    assert_int_equal(forward_parts(&b, 0, 1)[PART_LINK], 104858);
    end(&b);
}

static void unlike_nics_meet_on_ethernet(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.nics[1][0].kind = NIC_ROCE;
    b.problem.costs.network_efficiency[NIC_ETHERNET] = exactly(0.5);
    price(&b);
    for (int part = 0; part < PART_COUNT; part++) {
        assert_int_equal(forward_parts(&b, 0, 1)[part], PRICE_NONE);
        assert_int_equal(backward_parts(&b, 0, 1, 0)[part], PRICE_NONE);
    }
    for (int i = 0; i < 2; i++) {
        b.nics[i][1] = (struct nic){NIC_ETHERNET, 1, {(i + 1) * 1e9, (2 - i) * 1e-5}};
        b.groups[i].nic_count = 2;
    }
    b.problem.job.layout.tensor = 4;
    price(&b);
    // half of the slower end's 1e9, shared by 4: 2 097 152 / 0.125e9 = 16.777216 ms; the larger
    // latency, 20 us
    assert_int_equal(forward_parts(&b, 0, 1)[PART_LINK], 16777216);
    assert_int_equal(forward_parts(&b, 0, 1)[PART_DELAY], 20000);
    // within the first group InfiniBand is faster: four streams on 10e9
    assert_int_equal(forward_parts(&b, 0, 0)[PART_LINK], 838861);
    end(&b);
}

static void stated_links_have_a_direction(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.links[0] = (struct group_link){0, 1, {1e9, 1e-3}};
    b.links[1] = (struct group_link){0, 0, {2e9, 0}};
    b.problem.cluster.links = b.links;
    b.problem.cluster.link_count = 2;
    b.problem.costs.intra_efficiency = exactly(0.5);
    b.problem.costs.network_efficiency[NIC_INFINIBAND] = exactly(0.5);
    b.problem.costs.transfer_share[PART_BLOCKING] = b.problem.costs.transfer_share[PART_LINK] =
        0.25;
    b.problem.costs.transfer_share[PART_DELAY] = 0.25,
    b.problem.costs.transfer_share[PART_OVERHEAD] = 0.125;
    price(&b);
    // 2.097152 ms by its parts, the latency beside the delay's
    assert_int_equal(forward_parts(&b, 0, 1)[PART_BLOCKING], 524288);
    assert_int_equal(forward_parts(&b, 0, 1)[PART_LINK], 524288);
    assert_int_equal(forward_parts(&b, 0, 1)[PART_DELAY], 1524288);
    assert_int_equal(forward_parts(&b, 0, 1)[PART_OVERHEAD], 262144); // at each end
    // the way back is the network: 2 097 152 / 5e9 = 419.4304 us
    assert_int_equal(backward_parts(&b, 0, 0, 1)[PART_LINK], 104858);
    assert_int_equal(backward_parts(&b, 0, 0, 1)[PART_OVERHEAD], 52429);
    assert_int_equal(forward_parts(&b, 1, 0)[PART_LINK], 104858);
    assert_int_equal(forward_parts(&b, 0, 0)[PART_LINK], 262144); // in place of intra
    assert_int_equal(forward_parts(&b, 1, 1)[PART_LINK],
                     10486); // 2 097 152 / 50e9, a quarter of it on the link
    assert_int_equal(forward_parts(&b, 1, 1)[PART_OVERHEAD], 5243);
    end(&b);
}

static void slots_and_limits(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.groups[1].gpus_per_node = 3;
    b.problem.job.memory_fraction = 0.8;
    b.problem.job.memory_margin_bytes = 500;
    const struct priced *p = price(&b);
    assert_int_equal(p->groups[0].slots, 16);
    assert_int_equal(p->groups[1].slots, 12);
    assert_int_equal(p->groups[0].memory_limit_bytes, 64000000000 - 500);
    assert_int_equal(p->groups[0].constant_bytes, 1000000000);
    b.problem.job.layout.tensor = 2;
    b.problem.job.layout.data = 2;
    b.problem.job.global_batch = 32;
    p = price(&b);
    assert_int_equal(p->groups[0].slots, 4); // 4 x floor(4/2) / 2
    assert_int_equal(p->groups[1].slots, 2); // 4 x floor(3/2) / 2
    assert_int_equal(p->devices_per_stage, 4);
    b.problem.job.layout.tensor = 8;
    p = price(&b);
    assert_int_equal(p->groups[0].slots, 1); // floor(4 / 2) / 2
    assert_int_equal(p->groups[1].slots, 0); // floor(4 / 3) / 2
    end(&b);
}

static void exclusions_say_why(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.precisions[1].precision = BF16;
    const struct priced *p = price(&b);
    assert_null(p->groups[0].excluded);
    assert_string_equal(p->groups[1].excluded, "H lacks fp16");
    assert_int_equal(forward_parts(&b, 0, 1)[PART_LINK], PRICE_NONE);
    b.precisions[1].precision = FP16;
    b.problem.job.layout.tensor = 8;
    b.groups[1].nic_count = 0;
    p = price(&b);
    assert_null(p->groups[0].excluded);
    assert_non_null(strstr(p->groups[1].excluded, "no NIC"));
    b.groups[1].gpus_per_node = 8;
    assert_null(price(&b)->groups[1].excluded);
    b.groups[1].gpu = "unknown";
    assert_non_null(strstr(price(&b)->groups[1].excluded, "unknown"));
    b.groups[1].gpu = "H";
    b.runs[HEAD].kind = LAYER_MEASURED;
    b.times[0] = (struct layer_time){"head", "G", 0, 0, 1, 1, 0, 0, 0, 0};
    b.problem.costs.layer_times = b.times;
    b.problem.costs.layer_time_count = 1;
    p = price(&b);
    assert_null(p->groups[0].excluded);
    assert_non_null(strstr(p->groups[1].excluded, "no measured time of run head on H"));
    end(&b);
}

static void terms_beyond_counting(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.precisions[0].gemm_flop_per_s = exactly(1); // 25 769 803 776 s are 2.6e19 ns
    assert_int_equal(price_problem(&b.priced, &b.problem, &b.arena, &b.err), BAD_INPUT);
    assert_non_null(strstr(b.err.text, "forward time of run block on group first"));
    end(&b);
}

// ---- synchronisation and compression

static void gradient_sync_by_hand(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.problem.job.layout.data = 4;
    b.problem.job.global_batch = 32;
    const struct priced *p = price(&b);
    // 4 x 12 587 008 B over 4 ranks in a node: 2 x 3/4 x 50 348 032 / 100e9 = 755.22048 us; 2 x 3 x
    // 1 us
    assert_int_equal(p->runs[BLOCK].sync_ns[0][0], 755220);
    assert_int_equal(p->groups[0].sync_constant_ns[0], 6000);
    b.problem.job.layout.zero = 1;
    p = price(&b);
    // 3/4 x (50 348 032 + 25 174 016) / 100e9 = 566.41536 us; states shrink to a quarter
    assert_int_equal(p->runs[BLOCK].sync_ns[0][0], 566415);
    assert_int_equal(p->runs[BLOCK].optimizer_bytes, 3 * 12587008);
    b.problem.job.layout.zero = 0;
    b.problem.job.layout.data = 8;
    b.problem.job.layout.tensor = 2;
    p = price(&b);
    // 16 devices: network, 2 rings share 10e9; P = 6 291 456 + 4096 = 6 295 552; 2 x 7/8 x 25 182
    // 208 / 5e9 = 8.8137728 ms
    assert_int_equal(p->runs[BLOCK].sync_ns[0][0], 8813773);
    assert_int_equal(p->groups[0].sync_constant_ns[0], 70000);
    b.nics[0][0].link.bytes_per_s = 1e12;
    assert_int_equal(price(&b)->runs[BLOCK].sync_ns[0][0],
                     440689); // not faster than intra: / 100e9 = 440.68864 us
    end(&b);
}

static void embedding_sync_by_hand(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    assert_false(price(&b)->has_embedding_sync);
    b.problem.model.shape.tied_embeddings = true;
    const struct priced *p = price(&b);
    assert_true(p->has_embedding_sync);
    // 4 x 32000 x 1024 = 131 072 000 B over 2: / 10e9 = 13.1072 ms, 2 x 5 us
    assert_int_equal(p->embedding_sync_ns[1], 13117200);
    assert_int_equal(p->embedding_sync_ns[0], 1312720); // intra: 1.31072 ms + 2 us
    b.links[0] = (struct group_link){1, 0, {1e9, 0}};
    b.problem.cluster.links = b.links;
    b.problem.cluster.link_count = 1;
    assert_int_equal(price(&b)->embedding_sync_ns[1], 131072000); // the slower direction
    b.problem.cluster.link_count = 0;
    b.problem.job.layout.data = 2;
    int64_t apart = price(&b)->runs[EMBEDDING].sync_ns[0][0];
    assert_int_equal(apart, 1310720); // all-reduce over 2 ranks at 100e9
    b.problem.job.layout.fused_embedding_sync = true;
    p = price(&b);
    assert_int_equal(p->runs[EMBEDDING].sync_ns[0][0], 0);
    assert_int_equal(p->runs[HEAD].sync_ns[0][0],
                     82); // the norm stays: 4 x 2048 / 100e9 = 81.92 ns
    // over 4 ranks, two streams on one NIC: 2 x 3/4 x 131 072 000 / 5e9 = 39.3216 ms, 6 x 5 us
    assert_int_equal(p->embedding_sync_ns[1], 39351600);
    end(&b);
}

static void compressed_messages(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.boundary[0] =
        (struct boundary_compression){.rank = 16, .epilogue_only = true, .quality_cost = 3};
    b.boundary[1] = (struct boundary_compression){.rank = 512};
    b.problem.job.boundary_options = b.boundary;
    b.problem.job.boundary_option_count = 2;
    const struct priced *p = price(&b);
    assert_int_equal(p->boundary_option_count, 3);
    assert_int_equal(p->boundary_options[1].rank, 16);
    assert_true(p->boundary_options[1].epilogue_only);
    const struct priced_cut *cut = &p->cuts[p->runs[BLOCK].cut];
    // 1024 x 1024 values become 16 x 2048: 65 536 B / 10e9 = 6.5536 us
    assert_int_equal(backward_parts(&b, 1, 0, 1)[PART_LINK], 6554);
    // (4 x 2^20 x 16 + 2 x 1024 x 256 + 2 x 2^20 x 16) / 10e12 = 10.1187584 us, 2 x 20 us, latency
    // 5 us
    assert_int_equal(backward_parts(&b, 1, 0, 1)[PART_DELAY], 55119);
    assert_int_equal(cut->feedback_bytes[1], 2097152);
    // rank 512 sends as much as it saves: the message stays
    assert_int_equal(backward_parts(&b, 2, 0, 1)[PART_LINK], 209715);
    assert_int_equal(backward_parts(&b, 2, 0, 1)[PART_DELAY], 5000);
    assert_int_equal(cut->feedback_bytes[2], 0);
    b.problem.job.budget.rank_min = 17;
    assert_int_equal(price(&b)->boundary_option_count, 2);
    assert_int_equal(b.priced.boundary_options[1].rank, 512);
    end(&b);
}

static void compressed_gradients(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    b.gradient[0] = (struct gradient_compression){.rank = 128, .quality_cost = 1};
    b.problem.job.gradient_options = b.gradient;
    b.problem.job.gradient_option_count = 1;
    b.problem.job.layout.data = 4;
    b.problem.job.global_batch = 32;
    const struct priced_run *block = &price(&b)->runs[BLOCK];
    // matrices 1024 x 3072, 1024 x 1024, 1024 x 4096, 4096 x 1024: 12 582 912 values become 128 x
    // (4096 + 2048 + 5120 + 5120) = 2 097 152; with the norms' 4096: 4 x 2 101 248 x 2 x 3/4 /
    // 100e9 = 126.07488 us. work: 6 x 12 582 912 x 128 + 2 x (1024 + 1024 + 1024 + 4096) x 16 384 =
    // 9 898 557 440; / 10e12 = 989.855744 us; 8 x 20 us
    assert_int_equal(block->sync_ns[1][0], 1275931); // 1275.930624
    assert_int_equal(block->feedback_bytes[1], 4 * 12582912);
    assert_int_equal(block->feedback_bytes[0], 0);
    assert_int_equal(b.priced.runs[EMBEDDING].sync_ns[1][0],
                     b.priced.runs[EMBEDDING].sync_ns[0][0]);
    assert_int_equal(b.priced.gradient_options[1].quality_cost, 1);
    end(&b);
}

static void classes_of_messages(void **state)
{
    (void)state;
    struct bench b;
    begin(&b);
    const struct priced *p = price(&b);
    assert_int_equal(p->cut_count, 1); // embedding, blocks and head send the same
    b.runs[BLOCK].kind = b.runs[HEAD].kind = LAYER_MEASURED;
    b.runs[BLOCK].measured.boundary_bytes = 100, b.runs[HEAD].measured.boundary_bytes = 100;
    b.runs[HEAD].measured.matrix_rows = b.runs[HEAD].measured.matrix_columns = 4;
    for (int i = 0; i < 2; i++)
        b.times[i] = (struct layer_time){i ? "head" : "block", "G", 0, 0, 1, 1, 0, 0, 0, 0};
    b.problem.costs.layer_times = b.times;
    b.problem.costs.layer_time_count = 2;
    p = price(&b);
    assert_int_equal(p->cut_count, 3); // equal bytes, but only one of them can be compressed
    assert_int_equal(p->runs[EMBEDDING].cut, 0);
    assert_int_equal(p->runs[BLOCK].cut, 1);
    assert_int_equal(p->runs[HEAD].cut, 2);
    assert_int_equal(p->cuts[1].message_bytes, 100);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_time_by_hand),
        cmocka_unit_test(tensor_parallel_block_by_hand),
        cmocka_unit_test(all_reduce_factor),
        cmocka_unit_test(fused_attention_and_context),
        cmocka_unit_test(context_leaves_the_node_tensor_does_not),
        cmocka_unit_test(tensor_ranks_over_two_nodes),
        cmocka_unit_test(measured_times_taken_outright),
        cmocka_unit_test(activations_of_korthikanti),
        cmocka_unit_test(parameters_of_gpt),
        cmocka_unit_test(states_and_activations_of_llama),
        cmocka_unit_test(messages_share_nics),
        cmocka_unit_test(unlike_nics_meet_on_ethernet),
        cmocka_unit_test(stated_links_have_a_direction),
        cmocka_unit_test(slots_and_limits),
        cmocka_unit_test(exclusions_say_why),
        cmocka_unit_test(terms_beyond_counting),
        cmocka_unit_test(gradient_sync_by_hand),
        cmocka_unit_test(embedding_sync_by_hand),
        cmocka_unit_test(compressed_messages),
        cmocka_unit_test(compressed_gradients),
        cmocka_unit_test(classes_of_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
