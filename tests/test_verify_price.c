// The judge's prices against the solver's: two computations from docs/FORMULAS.md that share no code must agree within
// 1 ns or 1 byte in every term, on random problems; and against figures worked out by hand.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formulate/price.h"
#include "solve/verify_parts.h"
#include "tests/support/problems.h"

#include <cmocka.h>        // last: it takes the name of fail()

struct comparison {
    const struct priced *priced;
    struct assay assay;
    int problem;
    int64_t terms, halves;          // compared; differing by 1
};

static void same(struct comparison *c, const char *what, int x, int y, int64_t theirs, int64_t own)
{
    c->terms++;
    c->halves += theirs != own;
    if (llabs(theirs - own) > 1)
        fail_msg("problem %d: %s [%d, %d]: formulate says %lld, the judge %lld", c->problem, what, x, y,
                 (long long)theirs, (long long)own);
}

static void compare_groups(struct comparison *c)
{
    const struct priced *p = c->priced;
    assert_int_equal(p->group_count, c->assay.problem->cluster.group_count);
    for (int g = 0; g < p->group_count; g++) {
        const struct priced_group *theirs = &p->groups[g];
        const char *reason = exclusion_of(&c->assay, g);
        assert_string_equal(theirs->name, c->assay.problem->cluster.groups[g].name);
        if (!theirs->excluded != !reason)
            fail_msg("problem %d: group %d: formulate %s, the judge %s", c->problem, g,
                     theirs->excluded ? theirs->excluded : "takes it", reason ? reason : "takes it");
        if (reason) continue;
        assert_int_equal(theirs->slots, slots_of(&c->assay, g));
        same(c, "memory limit", g, 0, theirs->memory_limit_bytes, memory_limit_of(&c->assay, g));
        same(c, "constant bytes", g, 0, theirs->constant_bytes, constant_bytes_of(&c->assay, g));
        for (int o = 0; o < p->gradient_option_count; o++)
            same(c, "sync constant", g, o, theirs->sync_constant_ns[o], sync_constant_ns(&c->assay, g));
    }
}

static void compare_run(struct comparison *c, int r)
{
    const struct priced *p = c->priced;
    const struct priced_run *theirs = &p->runs[r];
    struct layer_bytes own = layer_bytes_of(&c->assay, r);
    same(c, "weight bytes", r, 0, theirs->weight_bytes, own.weight);
    same(c, "gradient bytes", r, 0, theirs->gradient_bytes, own.gradient);
    same(c, "optimizer bytes", r, 0, theirs->optimizer_bytes, own.optimizer);
    assert_int_equal(theirs->recomputable, c->assay.problem->model.runs[r].recomputable);
    for (int mode = 0; mode < 3; mode++) {
        same(c, "stash bytes", r, mode, theirs->stash_bytes[mode], own.stash[mode]);
        same(c, "working bytes", r, mode, theirs->working_bytes[mode], own.working[mode]);
    }
    same(c, "message bytes", r, 0, p->cuts[theirs->cut].message_bytes, own.message);
    for (int o = 0; o < p->gradient_option_count; o++)
        same(c, "gradient feedback", r, o, theirs->feedback_bytes[o],
             gradient_feedback_of(&c->assay, r, p->gradient_options[o].rank));
    for (int o = 0; o < p->boundary_option_count; o++)
        same(c, "boundary feedback", r, o, p->cuts[theirs->cut].feedback_bytes[o],
             boundary_feedback_of(&c->assay, r, p->boundary_options[o].rank));
    for (int g = 0; g < p->group_count; g++) {
        if (p->groups[g].excluded) continue;
        struct layer_duration d = layer_duration_of(&c->assay, r, g, 0);
        same(c, "forward", r, g, theirs->forward_ns[g], d.forward_ns);
        same(c, "backward", r, g, theirs->backward_ns[g], d.backward_ns);
        same(c, "selective", r, g, theirs->selective_ns[g], d.selective_ns);
        same(c, "full", r, g, theirs->full_ns[g], d.full_ns);
        same(c, "optimizer", r, g, theirs->optimizer_ns[g], d.optimizer_ns);
        for (int o = 0; o < p->gradient_option_count; o++)
            same(c, "layer sync", r, g, theirs->sync_ns[o][g],
                 layer_sync_ns(&c->assay, r, g, p->gradient_options[o].rank));
    }
}

static void compare_messages(struct comparison *c, int r, int from, int to)
{
    const struct priced *p = c->priced;
    const struct priced_cut *cut = &p->cuts[p->runs[r].cut];
    const int64_t *there = &cut->forward_ns[(from * p->group_count + to) * PART_COUNT];
    int64_t forward[PART_COUNT], backward[PART_COUNT];
    bool joined = !exclusion_of(&c->assay, from) && !exclusion_of(&c->assay, to) &&
                  transfer_price(&c->assay, (struct sending){.run = r, .sender = from, .receiver = to, .rank = 0}, forward) &&
                  transfer_price(&c->assay, (struct sending){.run = r, .sender = to, .receiver = from, .rank = 0}, backward);
    for (int o = 0; o < p->boundary_option_count; o++) {
        const int64_t *back = &cut->backward_ns[o][(from * p->group_count + to) * PART_COUNT];
        bool theirs = there[0] != PRICE_NONE && back[0] != PRICE_NONE;
        if (theirs != joined)
            fail_msg("problem %d: groups %d and %d are %sjoined for the judge", c->problem, from, to,
                     joined ? "" : "not ");
        if (!joined) continue;
        transfer_price(&c->assay, (struct sending){.run = r, .sender = to, .receiver = from, .rank = p->boundary_options[o].rank}, backward);
        for (int part = 0; part < PART_COUNT; part++) {
            same(c, "forward message", r, from * 10 + to, there[part], forward[part]);
            same(c, "backward message", r, from * 10 + to, back[part], backward[part]);
        }
    }
}

static void compare_pairs(struct comparison *c)
{
    const struct priced *p = c->priced;
    assert_int_equal(p->has_embedding_sync, c->assay.embedding_sync);
    for (int from = 0; from < p->group_count; from++)
        for (int to = 0; to < p->group_count; to++) {
            for (int r = 0; r < p->run_count; r++) compare_messages(c, r, from, to);
            if (!p->has_embedding_sync || p->groups[from].excluded || p->groups[to].excluded) continue;
            int64_t own, theirs = p->embedding_sync_ns[from * p->group_count + to];
            assert_int_equal(theirs != PRICE_NONE, embedding_sync_price(&c->assay, from, to, &own));
            if (theirs != PRICE_NONE) same(c, "embedding sync", from, to, theirs, own);
        }
}

// The options that both offer are the same, in the same order.
static void compare_options(const struct comparison *c)
{
    const struct priced *p = c->priced;
    const struct job *j = &c->assay.problem->job;
    int next = 1;
    assert_int_equal(p->boundary_options[0].rank, 0);
    assert_int_equal(p->gradient_options[0].rank, 0);
    for (int i = 0; i < j->boundary_option_count; i++) {
        if (j->boundary_options[i].rank < j->budget.rank_min) continue;
        assert_int_equal(p->boundary_options[next].rank, j->boundary_options[i].rank);
        assert_int_equal(p->boundary_options[next++].epilogue_only, j->boundary_options[i].epilogue_only);
    }
    assert_int_equal(p->boundary_option_count, next);
    next = 1;
    for (int i = 0; i < j->gradient_option_count; i++)
        if (j->gradient_options[i].rank >= j->budget.rank_min)
            assert_int_equal(p->gradient_options[next++].rank, j->gradient_options[i].rank);
    assert_int_equal(p->gradient_option_count, next);
}

// The graph's kinds of operations, and that each side has them just where the largest price says so.
static void compare_graphs(const struct comparison *c)
{
    struct schedule_request theirs = schedule_request_of(c->priced);
    struct largest_prices largest = largest_prices_of(&c->assay);
    bool possible = false;
    for (int g = 0; g < c->priced->group_count; g++) possible = possible || !c->priced->groups[g].excluded;
    if (!possible) return;
    assert_int_equal(theirs.epilogue, offers_epilogue(&c->assay));
    assert_int_equal(theirs.embedding_sync, c->assay.embedding_sync);
    assert_true(theirs.sync ? largest.sync_ns > 0.499999L : largest.sync_ns < 0.500001L);
    assert_true(theirs.optimizer ? largest.optimizer_ns > 0.499999L : largest.optimizer_ns < 0.500001L);
    for (int k = 0; k < PART_COUNT; k++)
        assert_true(theirs.parts[k] ? largest.parts_ns[k] > 0.499999L : largest.parts_ns[k] < 0.500001L);
}

static int64_t compare_problems(int flavour, bool long_and_close, int count, int64_t *halves)
{
    struct random rng = {.state = 20 + (uint64_t)flavour + 100 * long_and_close};
    struct random_limits limits = random_limits_small();
    struct comparison c = {0};
    limits.flavour = flavour;
    limits.long_and_close = long_and_close;
    for (int i = 0; i < count; i++) {
        struct arena arena;
        struct error err = {OK, ""};
        struct problem problem;
        struct priced priced;
        arena_open(&arena, NULL);
        random_problem(&problem, &rng, &limits, &arena);
        if (model_check(&problem.model, &err) || cluster_check(&problem.cluster, &err) ||
            costs_check(&problem.costs, &err) || job_check(&problem.job, &err) || problem_check(&problem, &err) ||
            price_problem(&priced, &problem, &arena, &err))
            fail_msg("problem %d: %s", i, err.text);
        c.priced = &priced;
        c.assay = assay_of(&problem);
        c.problem = i;
        compare_options(&c);
        compare_groups(&c);
        for (int r = 0; r < priced.run_count; r++) compare_run(&c, r);
        compare_pairs(&c);
        compare_graphs(&c);
        arena_close(&arena);
    }
    *halves = c.halves;
    return c.terms;
}

// Terms that differ are those that sit at a half: rare, or a formula is wrong in its last digit.
static void check_flavour(int flavour, bool long_and_close)
{
    int64_t halves, terms = compare_problems(flavour, long_and_close, 300, &halves);
    print_message("%lld terms, %lld of them differ by 1\n", (long long)terms, (long long)halves);
    assert_true(terms > 10000);
    assert_true(halves * 100 < terms);
}

static void test_unlike_layers(void **state) { (void)state, check_flavour(FLAVOUR_UNLIKE, false); }
static void test_alike_layers(void **state) { (void)state, check_flavour(FLAVOUR_ALIKE, false); }
static void test_shapes(void **state) { (void)state, check_flavour(FLAVOUR_SHAPE, false); }
static void test_long_and_close(void **state) { (void)state, check_flavour(FLAVOUR_ANY, true); }

// ---- by hand: one GPT block, h 8, f 32, 2 heads, s 4, b 1, fp16, t 1, no recomputation tricks

static struct problem hand_problem(void)
{
    static struct layer_run runs[] = {{.name = "embedding", .kind = LAYER_EMBEDDING, .count = 1},
                                      {.name = "block", .kind = LAYER_BLOCK, .count = 2, .recomputable = true},
                                      {.name = "head", .kind = LAYER_HEAD, .count = 1}};
    static struct nic nics[] = {{NIC_ETHERNET, 2, {1e9, 1e-6}}};
    static struct node_group groups[] = {{"nodes", "gpu", 4, 1, 1000000, {1e10, 0}, nics, 1}};
    static struct precision_costs rates[] = {{.precision = FP16,
                                             .gemm_flop_per_s = {.value = 1e9},
                                             .attention_flop_per_s = {.value = 1e9},
                                             .low_rank_flop_per_s = {.value = 1e9}}};
    static struct gpu_costs gpus[] = {
        {.gpu = "gpu",
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
    p.costs =
        (struct costs){.gpus = gpus, .gpu_count = 1, .intra_efficiency = {.value = 1}, .transfer_share = {0, 0.5, 0.5}};
    for (int i = 0; i < NIC_KIND_COUNT; i++) p.costs.network_efficiency[i].value = 0.5;
    p.job = (struct job){.sequence = 4,
                         .global_batch = 8,
                         .precision = FP16,
                         .gradient_bytes_per_value = 4,
                         .adam = true,
                         .memory_fraction = 0.5,
                         .memory_margin_bytes = 7};
    p.job.layout = (struct layout){.tensor = 1, .context = 1, .data = 2, LAYOUT_PLAIN(2), .micro_batch = 1};
    return p;
}

static void test_by_hand(void **state)
{
    (void)state;
    struct problem p = hand_problem();
    struct assay a = assay_of(&p);
    assert_int_equal(a.micro_batches, 4);
    // 12 h^2 + 13 h = 872 parameters.
    struct layer_bytes b = layer_bytes_of(&a, 1);
    assert_int_equal(b.weight, 2 * 872);
    assert_int_equal(b.gradient, 4 * 872);
    assert_int_equal(b.optimizer, 12 * 872);
    // n = 4 tokens: 8 n h + (n (2 q + 6 q + 4 f) + 2 a s n) = 256 + 768 + 64 bytes at fp16; full keeps 2 n h.
    assert_int_equal(b.stash[RECOMPUTE_NONE], 256 + 768 + 64);
    assert_int_equal(b.stash[RECOMPUTE_SELECTIVE], 256 + 768);
    assert_int_equal(b.stash[RECOMPUTE_FULL], 64);
    // Gradients of activations: n h and 4 n f values, 4 a s^2 of the scores: 64 + 1024 + 128 bytes.
    assert_int_equal(b.working[RECOMPUTE_NONE], 64 + 1024 + 128);
    assert_int_equal(b.working[RECOMPUTE_SELECTIVE], 64 + 1024 + 128 + 64);
    assert_int_equal(b.working[RECOMPUTE_FULL], 64 + 1024 + 128 + 256 + 768 + 64);
    assert_int_equal(b.message, 64);
    // Linear 24 n h^2 = 6144 FLOP, attention 4 s^2 h = 512, memory 10 n h e + 2 n f e + 6 a s^2 e = 640 + 512 + 384 bytes.
    struct layer_duration d = layer_duration_of(&a, 1, 0, 0);
    assert_int_equal(d.forward_ns, 6144 + 512 + 1536 + 1000);
    assert_int_equal(d.backward_ns, 2 * 6144 + 2 * 512 + 2 * 1536 + 1000);
    assert_int_equal(d.selective_ns, 512 + 384);
    assert_int_equal(d.full_ns, d.forward_ns);
    assert_int_equal(d.optimizer_ns, 872 * (2 * 12 + 4 + 2));
    // Network: a message through one NIC of two, at half of 1e9 B/s: 64 B take 128 ns, half on the link, half delay.
    int64_t parts[PART_COUNT];
    assert_true(transfer_price(&a, (struct sending){.run = 1, .sender = 0, .receiver = 0, .rank = 0}, parts));
    assert_int_equal(parts[PART_LINK], 64);
    assert_int_equal(parts[PART_DELAY], 64 + 1000);
    assert_int_equal(parts[PART_BLOCKING], 0);
    // Rank 1: 2 (4 + 8) = 24 bytes, 48 ns; compress 4 n h + 2 n = 136 FLOP, decompress 2 n h = 64, 2 us each end.
    assert_true(transfer_price(&a, (struct sending){.run = 1, .sender = 0, .receiver = 0, .rank = 1}, parts));
    assert_int_equal(parts[PART_LINK], 24);
    assert_int_equal(parts[PART_DELAY], 24 + 1000 + 136 + 64 + 4000);
    assert_int_equal(boundary_feedback_of(&a, 1, 1), 64);
    // Gradient sync over 2 ranks: both NICs serve it, 1e9 B/s: all-reduce moves 3488 bytes.
    assert_int_equal(layer_sync_ns(&a, 1, 0, 0), 3488);
    assert_int_equal(sync_constant_ns(&a, 0), 2000);
    // Rank 1 saves 4 (192 + 64 + 256 + 256 - (32 + 16 + 40 + 40)) = 4 x 640 bytes of the four matrices.
    int64_t work = 6 * (192 + 64 + 256 + 256) + 2 * (8 + 8 + 8 + 32) + 4 * 2 * 2000;
    assert_int_equal(layer_sync_ns(&a, 1, 0, 1), 3488 - 2560 + work);
    assert_int_equal(gradient_feedback_of(&a, 1, 1), 4 * 768);
    assert_int_equal(memory_limit_of(&a, 0), 499993);
    assert_int_equal(slots_of(&a, 0), 2);
}

// The blocking part of the hand problem's messages takes 128 ns times its share: 1/256 makes it half a nanosecond.
static int graph_faults(double share, bool stated)
{
    struct problem p = hand_problem();
    struct verdict v = {0};
    struct plan plan = {.graph = {.parts = {stated, true, true}, .sync = true, .optimizer = true}};
    struct arena arena;
    p.costs.transfer_share[PART_BLOCKING] = share;
    struct hearing h = {.verdict = &v, .plan = &plan, .problem = &p, .assay = assay_of(&p), .arena = &arena};
    arena_open(&arena, NULL);
    hear_graph(&h);
    arena_close(&arena);
    return v.violation_count;
}

static void test_half_a_nanosecond(void **state)
{
    (void)state;
    const double off[] = {-1e-4, -1e-12, 0, 1e-12, 1e-4};
    for (size_t i = 0; i < ARRAY_LENGTH(off); i++) {
        assert_int_equal(graph_faults((1 + off[i]) / 256, true), i == 0);
        assert_int_equal(graph_faults((1 + off[i]) / 256, false), i == ARRAY_LENGTH(off) - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand), cmocka_unit_test(test_half_a_nanosecond), cmocka_unit_test(test_unlike_layers), cmocka_unit_test(test_alike_layers),
        cmocka_unit_test(test_shapes), cmocka_unit_test(test_long_and_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
