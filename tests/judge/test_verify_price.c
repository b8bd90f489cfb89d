// The judge's prices against the solver's: two computations from docs/FORMULAS.md that share no
// code must agree within 1 ns or 1 byte in every term, on random problems; and against figures
// computed by hand.
#include "solve/judge/internal.h"
#include "tests/support/draws/fabric.h"
#include "tests/support/oracle/prices.h"
#include "tests/support/trials/trial.h"
#include "tests/support/check.h"

// Sizes of 0, a launch that every message pays, and tables of measured times: what has no bytes
// has a price that both sides must know.
static void empty_some(struct problem *p, struct random *rng, struct arena *arena)
{
    static double bytes[] = {100, 100000}, seconds[] = {3e-6, 5e-5};
    struct costs *c = &p->costs;
    for (int i = 0; i < p->model.run_count; i++) {
        struct measured_bytes *m = &p->model.runs[i].measured;
        int64_t *const sizes[] = {&m->weight_bytes,     &m->gradient_bytes,   &m->optimizer_bytes,
                                  &m->boundary_bytes,   &m->stash_bytes[0],   &m->stash_bytes[1],
                                  &m->stash_bytes[2],   &m->working_bytes[0], &m->working_bytes[1],
                                  &m->working_bytes[2], &m->matrix_rows};
        for (size_t k = 0; k < ARRAY_LENGTH(sizes); k++)
            if (random_chance(rng, 35)) *sizes[k] = 0;
        if (!m->matrix_rows) m->matrix_columns = 0;
    }
    if (random_chance(rng, 70)) c->transfer_launch_s = exactly(1e-6);
    c->collectives = TAKE(arena, 4 * p->cluster.group_count, struct collective_times);
    for (int i = 0; i < 4 * p->cluster.group_count; i++)
        if (random_chance(rng, 50))
            c->collectives[c->collective_count++] =
                (struct collective_times){.gpu = p->cluster.groups[i / 4].gpu,
                                          .ranks = 2,
                                          .between_nodes = i % 2,
                                          .send = i % 4 / 2,
                                          .bytes = bytes,
                                          .seconds = seconds,
                                          .point_count = 2};
    random_fabric(c, rng, arena);
}

static struct price_count compare_empty_ones(int flavour, int count)
{
    struct random rng = {.state = 520 + (uint64_t)flavour};
    struct random_limits limits = random_limits_small();
    struct price_count compared = {0};
    limits.flavour = flavour;
    limits.grids = true;
    struct arena_mark mark = arena_set_mark(&own_arena);
    for (int i = 0; i < count; i++, arena_reset(&own_arena, mark)) {
        struct problem problem;
        struct error err = {OK, ""};
        random_problem(&problem, &rng, &limits, &own_arena);
        empty_some(&problem, &rng, &own_arena);
        if (problem_check(&problem, &err)) fail_msg("%s", err.text);
        compare_prices(&problem, i, &compared, &own_arena);
    }
    return compared;
}

TEST(test_empty_parts)
{
    for (int flavour = 0; flavour < FLAVOUR_COUNT; flavour++)
        assert_true(compare_empty_ones(flavour, 200).terms > 10000);
}

static struct price_count compare_problems(int flavour, bool long_and_close, bool varied, int count)
{
    struct random rng = {.state = 20 + (uint64_t)flavour + 100 * long_and_close + 200 * varied};
    struct random_limits limits = random_limits_small();
    struct price_count compared = {0};
    limits.flavour = flavour;
    limits.long_and_close = long_and_close;
    struct arena_mark mark = arena_set_mark(&own_arena);
    for (int i = 0; i < count; i++, arena_reset(&own_arena, mark)) {
        struct problem problem;
        random_problem(&problem, &rng, &limits, &own_arena);
        if (varied) vary_layout(&problem, &rng);
        compare_prices(&problem, i, &compared, &own_arena);
    }
    return compared;
}

// Terms that differ are those that sit at a half: rare, or a formula is wrong in its last digit.
static void check_flavour(int flavour, bool long_and_close, bool varied)
{
    struct price_count compared = compare_problems(flavour, long_and_close, varied, 300);
    print_message("%lld terms, %lld of them in doubt\n", (long long)compared.terms,
                  (long long)compared.doubtful);
    assert_true(compared.terms > 10000);
    assert_int_equal(compared.doubtful, 0);
}

TEST(test_unlike_layers) { check_flavour(FLAVOUR_UNLIKE, false, false); }
TEST(test_alike_layers) { check_flavour(FLAVOUR_ALIKE, false, false); }
TEST(test_shapes) { check_flavour(FLAVOUR_SHAPE, false, false); }
TEST(test_long_and_close) { check_flavour(FLAVOUR_ANY, true, false); }
TEST(test_varied_layouts) { check_flavour(FLAVOUR_ANY, false, true); }

// ---- by hand: one GPT block, h 8, f 32, 2 heads, s 4, b 1, fp16, t 1, no recomputation tricks

static struct problem hand_problem(void)
{
    static struct layer_run runs[] = {
        {.name = "embedding", .kind = LAYER_EMBEDDING, .count = 1},
        {.name = "block", .kind = LAYER_BLOCK, .count = 2, .recomputable = true},
        {.name = "head", .kind = LAYER_HEAD, .count = 1}};
    static struct nic nics[] = {{NIC_ETHERNET, 2, {1e9, 1e-6}}};
    static struct node_group groups[] = {{"nodes", "gpu", 4, 1, 1000000, {1e10, 0}, nics, 1, 0}};
    static struct precision_costs rates[] = {{.precision = FP16,
                                              .gemm_flop_per_s = {.value = 1e9},
                                              .attention_flop_per_s = {.value = 1e9},
                                              .low_rank_flop_per_s = {.value = 1e9}}};
    static struct gpu_costs gpus[] = {{.gpu = "gpu",
                                       .precisions = rates,
                                       .precision_count = 1,
                                       .memory_bytes_per_s = {.value = 1e9},
                                       .layer_overhead_s = {.value = 1e-6},
                                       .compression_overhead_s = {.value = 2e-6},
                                       .constant_bytes = {.value = 100}}};
    struct problem p = {0};
    p.model = (struct model){.has_shape = true, .runs = runs, .run_count = 3, .layer_count = 4};
    p.model.shape = (struct shape){.hidden = 8,
                                   .ffn = 32,
                                   .heads = 2,
                                   .kv_heads = 2,
                                   .head_width = 4,
                                   .vocabulary = 64,
                                   .linear_bias = true,
                                   .qkv_bias = true};
    p.cluster = (struct cluster){.groups = groups, .group_count = 1};
    p.costs = (struct costs){.gpus = gpus,
                             .gpu_count = 1,
                             .intra_efficiency = {.value = 1},
                             .transfer_share = {0, 0.5, 0.5}};
    for (int i = 0; i < NIC_KIND_COUNT; i++) p.costs.network_efficiency[i].value = 0.5;
    p.job = (struct job){.sequence = 4,
                         .global_batch = 8,
                         .precision = FP16,
                         .gradient_bytes_per_value = 4,
                         .adam = true,
                         .memory_fraction = 0.5,
                         .memory_margin_bytes = 7};
    p.job.layout =
        (struct layout){.tensor = 1, .context = 1, .data = 2, LAYOUT_PLAIN(2), .micro_batch = 1};
    return p;
}

TEST(test_by_hand)
{
    struct problem p = hand_problem();
    struct price_audit a = price_audit_of(&p);
    assert_int_equal(a.micro_batches, 4);
    // 12 h^2 + 13 h = 872 parameters.
    struct layer_bytes b = layer_bytes_of(&a, 1);
    assert_int_equal(b.weight, 2 * 872);
    assert_int_equal(b.gradient, 4 * 872);
    assert_int_equal(device_state_bytes(&a, 1, (struct tier_option){.name = NULL}), 12 * 872);
    // n = 4 tokens: 8 n h + (n (2 q + 6 q + 4 f) + 2 a s n) = 256 + 768 + 64 bytes at fp16; full
    // keeps 2 n h.
    assert_int_equal(b.stash[RECOMPUTE_NONE], 256 + 768 + 64);
    assert_int_equal(b.stash[RECOMPUTE_SELECTIVE], 256 + 768);
    assert_int_equal(b.stash[RECOMPUTE_FULL], 64);
    // Gradients of activations: n h and 4 n f values, 4 a s^2 of the scores: 64 + 1024 + 128 bytes.
    assert_int_equal(b.working[RECOMPUTE_NONE], 64 + 1024 + 128);
    assert_int_equal(b.working[RECOMPUTE_SELECTIVE], 64 + 1024 + 128 + 64);
    assert_int_equal(b.working[RECOMPUTE_FULL], 64 + 1024 + 128 + 256 + 768 + 64);
    assert_int_equal(b.message, 64);
    // Linear 24 n h^2 = 6144 FLOP, attention 4 s^2 h = 512, memory 10 n h e + 2 n f e + 6 a s^2 e =
    // 640 + 512 + 384 bytes.
    struct layer_duration d = layer_duration_of(&a, 1, 0, 0, (struct tier_option){.name = NULL});
    assert_int_equal(d.forward_ns, 6144 + 512 + 1536 + 1000);
    assert_int_equal(d.backward_ns, 2 * 6144 + 2 * 512 + 2 * 1536 + 1000);
    assert_int_equal(d.again_ns[RECOMPUTE_SELECTIVE], 512 + 384);
    assert_int_equal(d.again_ns[RECOMPUTE_FULL], d.forward_ns);
    assert_int_equal(d.optimizer_ns, 872 * (2 * 12 + 4 + 2));
    // Network: a message through one NIC of two, at half of 1e9 B/s: 64 B take 128 ns, half on the
    // link, half delay.
    const struct compression_form none = {COMPRESS_LOW_RANK, 0}, rank_1 = {COMPRESS_LOW_RANK, 1};
    int64_t parts[PART_COUNT];
    assert_true(transfer_price(&a, (struct sending){.run = 1, .sender = 0, .receiver = 0}, parts));
    assert_int_equal(parts[PART_LINK], 64);
    assert_int_equal(parts[PART_DELAY], 64 + 1000);
    assert_int_equal(parts[PART_BLOCKING], 0);
    // Nothing but the launch and the latency of a message without bytes.
    struct layer_run measured = {.name = "m", .kind = LAYER_MEASURED, .count = 1},
                     block = p.model.runs[1];
    p.model.runs[1] = measured, p.costs.transfer_launch_s.value = 2e-6;
    assert_true(transfer_price(&a, (struct sending){.run = 1, .sender = 0, .receiver = 0}, parts));
    assert_int_equal(parts[PART_LINK], 1000);
    assert_int_equal(parts[PART_DELAY], 1000 + 1000);
    p.model.runs[1] = block, p.costs.transfer_launch_s.value = 0;
    // Rank 1: 2 (4 + 8) = 24 bytes, 48 ns; compress 4 n h + 2 n = 136 FLOP, decompress 2 n h = 64,
    // 2 us each end.
    assert_true(transfer_price(
        &a, (struct sending){.run = 1, .sender = 0, .receiver = 0, .form = rank_1}, parts));
    assert_int_equal(parts[PART_LINK], 24);
    assert_int_equal(parts[PART_DELAY], 24 + 1000 + 136 + 64 + 4000);
    assert_int_equal(boundary_feedback_of(&a, 1, rank_1), 64);
    // Gradient sync over 2 ranks: both NICs serve it, 1e9 B/s: all-reduce moves 3488 bytes.
    assert_int_equal(layer_sync_ns(&a, 1, 0, none), 3488);
    assert_int_equal(sync_constant_ns(&a, 0), 2000);
    // Rank 1 saves 4 (192 + 64 + 256 + 256 - (32 + 16 + 40 + 40)) = 4 x 640 bytes of the four
    // matrices.
    int64_t work = 6 * (192 + 64 + 256 + 256) + 2 * (8 + 8 + 8 + 32) + 4 * 2 * 2000;
    assert_int_equal(layer_sync_ns(&a, 1, 0, rank_1), 3488 - 2560 + work);
    assert_int_equal(gradient_feedback_of(&a, 1, rank_1), 4 * 768);
    assert_int_equal(memory_limit_of(&a, 0), 499993);
    assert_int_equal(slots_of(&a, 0), 2);
}

// The same block, its largest values or few bits: 32 values of a message, 872 gradients.
TEST(test_packed_by_hand)
{
    struct problem p = hand_problem();
    p.costs.gpus[0].top_k_values_per_s.value = 1e9;
    p.costs.gpus[0].top_k_back_values_per_s.value = 2e9;
    p.costs.gpus[0].quantise_values_per_s.value = 4e9;
    p.costs.gpus[0].quantise_back_values_per_s.value = 8e9;
    struct price_audit a = price_audit_of(&p);
    const struct compression_form eighth = {COMPRESS_TOP_K, 125}, bits_4 = {COMPRESS_QUANTISE, 4},
                                  bits_8 = {COMPRESS_QUANTISE, 8};
    int64_t parts[PART_COUNT];
    // 4 values and places, 24 B: 48 ns, half on the link; 32 ns and 16 ns, 2 us each end.
    assert_true(transfer_price(&a, (struct sending){.run = 1, .form = eighth}, parts));
    assert_int_equal(parts[PART_LINK], 24);
    assert_int_equal(parts[PART_DELAY], 24 + 1000 + 32 + 16 + 4000);
    assert_int_equal(boundary_feedback_of(&a, 1, eighth), 64);
    // 16 B and an eighth of a scale: 16.5 B, 33 ns; 8 ns and 4 ns.
    assert_true(transfer_price(&a, (struct sending){.run = 1, .form = bits_4}, parts));
    assert_int_equal(parts[PART_LINK], 17);
    assert_int_equal(parts[PART_DELAY], 5029); // 16.5 + 1000 + 12 + 4000
    // 109 of 872 values, 872 B, go to the other rank; 872 ns packed, (872 + 109) / 2 unpacked.
    assert_int_equal(layer_sync_ns(&a, 1, 0, eighth), 6235); // 872 + 872 + 490.5 + 4000
    assert_int_equal(gradient_feedback_of(&a, 1, eighth), 3488);
    // An all-reduce of 885.625 B; a half packed again for the way back, all unpacked twice.
    assert_int_equal(layer_sync_ns(&a, 1, 0, bits_8), 5431); // 885.625 + 327 + 218 + 4000
    // Sharded states: only this rank's half of the sum is needed, and weights of 1744 B are
    // returned.
    p.job.layout.zero = 1;
    a = price_audit_of(&p);
    assert_int_equal(layer_sync_ns(&a, 1, 0, bits_8), 5642); // 442.8125 + 872 + 218 + 109 + 4000
    // 436 B; on two ranks 54.5 values plus 436
    assert_int_equal(layer_sync_ns(&a, 1, 0, eighth), 6425); // 436 + 872 + 872 + 245.25 + 4000
}

// The blocking part of the hand problem's messages takes 128 ns times its share: 1/256 makes it
// half a nanosecond.
static int graph_faults(double share, bool stated)
{
    struct problem p = hand_problem();
    struct verdict v = {0};
    struct plan plan = {.graph = {.parts = {stated, true, true}, .sync = true, .optimizer = true}};
    p.costs.transfer_share[PART_BLOCKING] = share;
    struct audit h = {.verdict = &v,
                      .plan = &plan,
                      .problem = &p,
                      .price_audit = price_audit_of(&p),
                      .arena = &own_arena};
    struct arena_mark mark = arena_set_mark(&own_arena);
    audit_graph(&h);
    arena_reset(&own_arena, mark);
    return v.violation_count;
}

TEST(test_half_a_nanosecond)
{
    const double off[] = {-1e-4, -1e-12, -1e-14,
                          0,     1e-12,  1e-4}; // the last two are halves: see docs/FORMULAS.md
    for (size_t i = 0; i < ARRAY_LENGTH(off); i++) {
        assert_int_equal(graph_faults((1 + off[i]) / 256, true), i < 2);
        assert_int_equal(graph_faults((1 + off[i]) / 256, false), i >= 2);
    }
}
