// The solver's priced document against the judge's single terms on random transformers of real size, over shared, unlike
// and missing links and with every switch of the layout (small problems: test_verify_price.c). At most 1 ns or 1 byte a
// term: the judge computes in long double, and a half may fall to the other side.
#include "formulate/price.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "solve/verify_price.h"
#include "tests/support/problems.h"

static int compared;

static void near_to(int64_t ours, int64_t judged, const char *term, const char *name)
{
    compared++;
    if (llabs(ours - judged) > 1)
        fail_msg("%s of %s: priced %lld, judged %lld", term, name, (long long)ours, (long long)judged);
}

static void compare_bytes(const struct priced *p, const struct assay *a, int run)
{
    const struct priced_run *r = &p->runs[run];
    struct layer_bytes bytes = layer_bytes_of(a, run);
    near_to(r->weight_bytes, bytes.weight, "weights", r->name);
    near_to(r->gradient_bytes, bytes.gradient, "gradients", r->name);
    near_to(r->optimizer_bytes, bytes.optimizer, "optimizer", r->name);
    for (int mode = 0; mode < 3; mode++) {
        near_to(r->stash_bytes[mode], bytes.stash[mode], "stash", r->name);
        near_to(r->working_bytes[mode], bytes.working[mode], "working", r->name);
    }
    near_to(p->cuts[r->cut].message_bytes, bytes.message, "message", r->name);
    for (int o = 0; o < p->gradient_option_count; o++)
        near_to(r->feedback_bytes[o], gradient_feedback_of(a, run, p->gradient_options[o].rank), "gradient feedback",
                r->name);
    for (int o = 0; o < p->boundary_option_count; o++)
        near_to(p->cuts[r->cut].feedback_bytes[o], boundary_feedback_of(a, run, p->boundary_options[o].rank),
                "boundary feedback", r->name);
}

static void compare_times(const struct priced *p, const struct assay *a, int run, int group)
{
    const struct priced_run *r = &p->runs[run];
    struct layer_duration times = layer_duration_of(a, run, group, 0);
    near_to(r->forward_ns[group], times.forward_ns, "forward", r->name);
    near_to(r->backward_ns[group], times.backward_ns, "backward", r->name);
    near_to(r->selective_ns[group], times.selective_ns, "selective", r->name);
    near_to(r->full_ns[group], times.full_ns, "full", r->name);
    near_to(r->optimizer_ns[group], times.optimizer_ns, "optimizer", r->name);
    for (int o = 0; o < p->gradient_option_count; o++)
        near_to(r->sync_ns[o][group], layer_sync_ns(a, run, group, p->gradient_options[o].rank), "sync", r->name);
}

// The judge prices a message one way; that two groups count as joined only both ways is the plan's matter there.
static void compare_transfers(const struct priced *p, const struct assay *a, int run, int from, int to)
{
    const struct priced_cut *cut = &p->cuts[p->runs[run].cut];
    int at = (from * p->group_count + to) * PART_COUNT;
    int64_t there[PART_COUNT], back[PART_COUNT];
    bool joined = transfer_price(a, (struct sending){.run = run, .sender = from, .receiver = to, .rank = 0}, there) && transfer_price(a, (struct sending){.run = run, .sender = to, .receiver = from, .rank = 0}, back);
    assert_int_equal(cut->forward_ns[at] != PRICE_NONE, joined);
    for (int part = 0; part < PART_COUNT && joined; part++)
        near_to(cut->forward_ns[at + part], there[part], "send forward", p->runs[run].name);
    for (int o = 0; o < p->boundary_option_count && joined; o++) {
        assert_true(transfer_price(a, (struct sending){.run = run, .sender = to, .receiver = from, .rank = p->boundary_options[o].rank}, back));
        for (int part = 0; part < PART_COUNT; part++)
            near_to(cut->backward_ns[o][at + part], back[part], "send backward", p->runs[run].name);
    }
}

static void compare_pair(const struct priced *p, const struct assay *a, int from, int to)
{
    if (p->groups[from].excluded || p->groups[to].excluded) {
        assert_int_equal(p->cuts[0].forward_ns[(from * p->group_count + to) * PART_COUNT], PRICE_NONE);
        return;
    }
    for (int run = 0; run < p->run_count; run++) compare_transfers(p, a, run, from, to);
    if (!p->has_embedding_sync) return;
    int64_t ns;
    bool joined = embedding_sync_price(a, from, to, &ns);
    assert_int_equal(p->embedding_sync_ns[from * p->group_count + to] != PRICE_NONE, joined);
    if (joined) near_to(p->embedding_sync_ns[from * p->group_count + to], ns, "embedding sync", p->groups[from].name);
}

static void compare(const struct problem *problem, struct arena *arena)
{
    struct priced p;
    struct error err = {OK, ""};
    if (price_problem(&p, problem, arena, &err) != OK) fail_msg("%s", err.text);
    struct assay a = assay_of(problem);
    assert_int_equal(p.micro_batches, a.micro_batches);
    assert_int_equal(p.devices_per_stage, a.devices);
    assert_int_equal(p.has_embedding_sync, a.embedding_sync);
    for (int run = 0; run < p.run_count; run++) compare_bytes(&p, &a, run);
    for (int g = 0; g < p.group_count; g++) {
        assert_int_equal(p.groups[g].excluded != NULL, exclusion_of(&a, g) != NULL);
        assert_int_equal(p.groups[g].slots, slots_of(&a, g));
        near_to(p.groups[g].memory_limit_bytes, memory_limit_of(&a, g), "limit", p.groups[g].name);
        if (p.groups[g].excluded) continue;
        near_to(p.groups[g].constant_bytes, constant_bytes_of(&a, g), "constant", p.groups[g].name);
        for (int o = 0; o < p.gradient_option_count; o++)
            near_to(p.groups[g].sync_constant_ns[o], sync_constant_ns(&a, g), "sync constant", p.groups[g].name);
        for (int run = 0; run < p.run_count; run++) compare_times(&p, &a, run, g);
    }
    for (int from = 0; from < p.group_count; from++)
        for (int to = 0; to < p.group_count; to++) compare_pair(&p, &a, from, to);
}

// ---- transformers of real size, with every switch of the layout

static struct estimate estimate(struct random *rng, double low, double high)
{
    double value = low + (high - low) * (double)random_between(rng, 0, 1000000) / 1e6;
    return (struct estimate){.value = value, .low = value, .high = value, .origin = ORIGIN_ASSUMED};
}

static void random_costs(struct costs *c, struct random *rng, struct arena *arena)
{
    static const char *const names[] = {"G", "H"};
    *c = (struct costs){.name = "random",
                        .gpus = TAKE(arena, 2, struct gpu_costs),
                        .gpu_count = 2,
                        .intra_efficiency = estimate(rng, 0.5, 1),
                        .transfer_share = {0.25, 0.5, 0.25}};
    for (int i = 0; i < NIC_KIND_COUNT; i++) c->network_efficiency[i] = estimate(rng, 0.3, 1);
    for (int i = 0; i < 2; i++) {
        struct precision_costs *rates = TAKE(arena, 1, struct precision_costs);
        *rates = (struct precision_costs){.precision = random_chance(rng, 90) ? BF16 : FP16,
                                          .gemm_flop_per_s = estimate(rng, 50e12, 700e12),
                                          .attention_flop_per_s = estimate(rng, 50e12, 300e12),
                                          .low_rank_flop_per_s = estimate(rng, 5e12, 50e12)};
        c->gpus[i] = (struct gpu_costs){.gpu = names[i],
                                        .precisions = rates,
                                        .precision_count = 1,
                                        .memory_bytes_per_s = estimate(rng, 0.5e12, 3e12),
                                        .layer_overhead_s = estimate(rng, 0, 1e-4),
                                        .compression_overhead_s = estimate(rng, 0, 1e-4),
                                        .constant_bytes = estimate(rng, 0, 4e9)};
    }
}

static void random_cluster(struct cluster *c, struct random *rng, struct arena *arena)
{
    static const char *const names[] = {"first", "second"}, *const gpus[] = {"G", "H"};
    *c = (struct cluster){.name = "random",
                          .groups = TAKE(arena, 2, struct node_group),
                          .group_count = 2,
                          .links = TAKE(arena, 4, struct group_link)};
    for (int i = 0; i < 2; i++) {
        struct nic *nics = TAKE(arena, NIC_KIND_COUNT, struct nic);
        int count = 0;
        for (int kind = 0; kind < NIC_KIND_COUNT; kind++)
            if (random_chance(rng, 50))
                nics[count++] =
                    (struct nic){(enum nic_kind)kind,
                                 (int)random_between(rng, 1, 8),
                                 {(double)random_between(rng, 1, 50) * 1e9, (double)random_between(rng, 0, 50) * 1e-6}};
        c->groups[i] =
            (struct node_group){names[i],
                                gpus[i],
                                (int)random_between(rng, 1, 64),
                                (int)random_between(rng, 1, 8),
                                random_between(rng, 16, 192) * 1000000000,
                                {(double)random_between(rng, 10, 900) * 1e9, (double)random_between(rng, 0, 10) * 1e-6},
                                nics,
                                count};
    }
    for (int i = 0; i < 4; i++)
        if (random_chance(rng, 15))
            c->links[c->link_count++] =
                (struct group_link){i / 2, i % 2, {(double)random_between(rng, 1, 100) * 1e9, 1e-5}};
}

static void random_shape(struct model *m, struct random *rng, struct arena *arena)
{
    static const char *const names[] = {"embedding", "block", "head"};
    static const enum layer_kind kinds[] = {LAYER_EMBEDDING, LAYER_BLOCK, LAYER_HEAD};
    int64_t kv_heads = 8 << random_between(rng, 0, 2);
    *m = (struct model){.name = "random", .has_shape = true, .runs = TAKE(arena, 3, struct layer_run), .run_count = 3};
    m->shape = (struct shape){.hidden = 1024 * random_between(rng, 1, 12),
                              .ffn = 512 * random_between(rng, 4, 100),
                              .heads = kv_heads * random_between(rng, 1, 4),
                              .kv_heads = kv_heads,
                              .head_width = 64 * random_between(rng, 1, 2),
                              .vocabulary = 8 * random_between(rng, 4000, 20000),
                              .positions = random_chance(rng, 50) ? 8192 : 0,
                              .gated_ffn = random_chance(rng, 50),
                              .rms_norm = random_chance(rng, 50),
                              .qkv_bias = random_chance(rng, 50),
                              .linear_bias = random_chance(rng, 50),
                              .dropout = random_chance(rng, 50),
                              .tied_embeddings = random_chance(rng, 50)};
    for (int i = 0; i < 3; i++) {
        m->runs[i] = (struct layer_run){.name = names[i],
                                        .kind = kinds[i],
                                        .count = i == 1 ? (int)random_between(rng, 8, 100) : 1,
                                        .recomputable = i == 1};
        m->layer_count += m->runs[i].count;
    }
}

static void random_job(struct job *j, struct random *rng, struct arena *arena)
{
    struct layout *l = &j->layout;
    *j = (struct job){.name = "random",
                      .sequence = 256 * random_between(rng, 1, 32),
                      .precision = BF16,
                      .gradient_bytes_per_value = random_chance(rng, 50) ? 2 : 4,
                      .adam = random_chance(rng, 80),
                      .boundary_options = TAKE(arena, 1, struct boundary_compression),
                      .gradient_options = TAKE(arena, 1, struct gradient_compression),
                      .boundary_option_count = random_chance(rng, 50),
                      .gradient_option_count = random_chance(rng, 50),
                      .budget = {-1, -1, -1, random_chance(rng, 20) ? 16 : 0},
                      .memory_fraction = 0.9};
    j->boundary_options[0] = (struct boundary_compression){(int)random_between(rng, 4, 64), true, 1};
    j->gradient_options[0] = (struct gradient_compression){(int)random_between(rng, 4, 256), 1};
    *l = (struct layout){.tensor = 1 << random_between(rng, 0, 3),
                         .context = 1 << random_between(rng, 0, 2),
                         .data = (int)random_between(rng, 1, 6),
                         LAYOUT_PLAIN((int)random_between(rng, 1, 8)),
                         .micro_batch = (int)random_between(rng, 1, 4),
                         .schedule = SCHEDULE_1F1B,
                         .sequence_parallel = random_chance(rng, 50),
                         .fused_attention = random_chance(rng, 50),
                         .fused_embedding_sync = random_chance(rng, 50),
                         .zero = random_chance(rng, 50)};
    j->global_batch = (int64_t)l->data * l->micro_batch * random_between(rng, 1, 20);
}

static void random_transformers(void **state)
{
    (void)state;
    struct random rng = {11};
    int excluded = 0, unjoined = 0;
    compared = 0;
    for (int i = 0; i < 2000; i++) {
        struct arena arena;
        struct problem problem = {.name = "random"};
        struct error err = {OK, ""};
        arena_open(&arena, NULL);
        random_shape(&problem.model, &rng, &arena);
        random_cluster(&problem.cluster, &rng, &arena);
        random_costs(&problem.costs, &rng, &arena);
        random_job(&problem.job, &rng, &arena);
        if (problem_check(&problem, &err) != OK) fail_msg("%s", err.text);
        compare(&problem, &arena);
        struct assay a = assay_of(&problem);
        excluded += exclusion_of(&a, 0) != NULL;
        unjoined += !judged_stage_link(&a, 0, 1).joined;
        arena_close(&arena);
    }
    assert_true(compared > 100000 && excluded > 50 && unjoined > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_transformers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
