// Documents with keys that only some models and costs have: every key is written and read again,
// and nonsensical values are refused by name.
#include <unistd.h>

#include "data/kinds/schedules.h"
#include "data/inputs/cost_keys.h"
#include "data/inputs/model/size.h"
#include "tests/support/folder.h"
#include "tests/support/same.h"
#include "tests/support/check.h"

static void must(enum status status, const struct error *err)
{
    if (status != OK) fail_msg("%s", err->text);
}

static void refused(enum status status, const struct error *err, const char *word)
{
    assert_int_equal(status, BAD_INPUT);
    if (!strstr(err->text, word)) fail_msg("'%s' does not name %s", err->text, word);
}

// ---- models

static struct layer_run kinds[] = {
    {.name = "embedding", .kind = LAYER_EMBEDDING, .count = 1, .frozen = true, .weight_bits = 8},
    {.name = "frozen",
     .kind = LAYER_BLOCK,
     .count = 3,
     .recomputable = true,
     .frozen = true,
     .adapter_rank = 8,
     .adapter_modules = {[ADAPTER_QKV] = true, [ADAPTER_OUTPUT] = true},
     .adapter_dropout = true,
     .weight_bits = 4},
    {.name = "mixture",
     .kind = LAYER_MOE,
     .count = 2,
     .recomputable = true,
     .bidirectional = true,
     .experts = {.experts = 8,
                 .top_k = 2,
                 .ffn = 512,
                 .shared_ffn = 64,
                 .shared_gate = true,
                 .router_score = ROUTER_SIGMOID,
                 .router_bias = true,
                 .router_groups = 4,
                 .router_top_groups = 2,
                 .router_scale = 2.5,
                 .imbalance = 1.25}},
    {.name = "table",
     .kind = LAYER_MEMORY,
     .count = 1,
     .pool = {.values = 1024,
              .width = 32,
              .heads = 2,
              .key_width = 16,
              .top_k = 4,
              .gated = true,
              .shared = true}},
    {.name = "near",
     .kind = LAYER_BLOCK,
     .count = 1,
     .recomputable = true,
     .window = 128,
     .cross_attention = true,
     .shared_weights = true,
     .more_values = 7},
    {.name = "head", .kind = LAYER_HEAD, .count = 1},
};

static struct model model_of_kinds(struct layer_run *runs)
{
    memcpy(runs, kinds, sizeof kinds);
    return (struct model){.name = "kinds",
                          .has_shape = true,
                          .runs = runs,
                          .run_count = ARRAY_LENGTH(kinds),
                          .layer_count = 9,
                          .shape = {.hidden = 64,
                                    .ffn = 256,
                                    .heads = 4,
                                    .kv_heads = 4,
                                    .head_width = 16,
                                    .vocabulary = 1000,
                                    .embedding_width = 32,
                                    .norms = 3,
                                    .qk_norm = QK_NORM_WHOLE,
                                    .plain_norms = true,
                                    .no_final_norm = true,
                                    .parallel_residual = true,
                                    .output_bias = 1,
                                    .activation = "gelu",
                                    .norm_epsilon = 1e-6,
                                    .rotary_base = 500000,
                                    .rotary_share = 0.25,
                                    .rotary_factor = 8,
                                    .rotary_scaling = {.type = "yarn",
                                                       .beta_fast = 32,
                                                       .mscale = 0.707,
                                                       .original_positions = 4096},
                                    .mtp_loss_scale = 0.3,
                                    .vocabulary_multiple = 128}};
}

static void take_adapters(struct layer_run *run)
{
    run->adapter_rank = run->weight_bits = run->adapter_dropout = 0;
    memset(run->adapter_modules, 0, sizeof run->adapter_modules);
}

static void make_latent(struct model *m)
{
    take_adapters(&m->runs[1]);
    m->shape.qk_norm = QK_NORM_NONE, m->shape.linear_bias = true, m->shape.output_bias = -1;
    m->shape.query_rank = 24, m->shape.kv_rank = 8, m->shape.rotary_width = 4;
    m->shape.value_width = 12;
}

TEST(models_come_back)
{
    struct layer_run runs[ARRAY_LENGTH(kinds)];
    struct model m = model_of_kinds(runs), again;
    const char *path = own_path("model.json");
    must(model_save(&m, path, arena, &err), &err);
    must(model_load(&again, path, arena, &err), &err);
    same_model(&m, &again);
    assert_false(model_has_gradient(&m, 0));
    assert_true(model_has_gradient(&m, 1) && model_has_gradient(&m, 4));
    make_latent(&m);
    must(model_save(&m, path, arena, &err), &err);
    must(model_load(&again, path, arena, &err), &err);
    same_model(&m, &again);
}

#define REFUSED_MODEL(change, word)                                                                \
    do {                                                                                           \
        struct layer_run runs[ARRAY_LENGTH(kinds)];                                                \
        struct model m = model_of_kinds(runs);                                                     \
        err = (struct error){OK, ""};                                                              \
        change;                                                                                    \
        refused(model_check(&m, &err), &err, word);                                                \
    } while (0)

// 2^26 values of width 2,048 are 128 x 2^30 parameters, shared by three layers or by one.
TEST(shared_pools_count_once)
{
    struct layer_run runs[ARRAY_LENGTH(kinds)];
    struct model m = model_of_kinds(runs);
    runs[3].pool.values = (int64_t)1 << 26, runs[3].pool.width = 2048;
    struct model_size one = model_size_of(&m);
    runs[3].count = 3;
    struct model_size three = model_size_of(&m);
    runs[3].pool.shared = false;
    struct model_size apart = model_size_of(&m);
    assert_int_equal(apart.all - three.all, 2 * ((int64_t)128 << 30));
    assert_in_range(three.all - one.all, 1, ((int64_t)1 << 30));
}

TEST(senseless_models)
{
    REFUSED_MODEL(runs[1].frozen = false, "adapter_rank");
    REFUSED_MODEL(runs[2].adapter_rank = 4, "adapter_rank");
    REFUSED_MODEL((runs[2].frozen = true, runs[2].adapter_rank = 4), "adapter_modules");
    REFUSED_MODEL((take_adapters(&runs[1]), runs[1].weight_bits = 4, runs[1].frozen = false),
                  "weight_bits");
    REFUSED_MODEL(runs[1].adapter_modules[ADAPTER_QUERY] = true, "adapter_modules");
    REFUSED_MODEL(
        (runs[1].adapter_modules[ADAPTER_GATE_UP] = runs[1].adapter_modules[ADAPTER_UP] = true),
        "adapter_modules");
    REFUSED_MODEL((runs[1].adapter_modules[ADAPTER_GATE] = true, m.shape.gated_ffn = false),
                  "adapter_modules");
    REFUSED_MODEL(runs[1].adapter_rank = 0, "adapter_modules");
    REFUSED_MODEL((take_adapters(&runs[1]), runs[1].adapter_dropout = true), "adapter_dropout");
    REFUSED_MODEL(runs[1].weight_bits = 17, "weight_bits");
    REFUSED_MODEL(runs[2].weight_bits = 4, "weight_bits");
    REFUSED_MODEL(runs[2].shared_weights = true, "shared_weights");
    REFUSED_MODEL((m.shape.tied_embeddings = runs[5].frozen = true, runs[0].weight_bits = 8),
                  "weight_bits");
    REFUSED_MODEL(runs[2].experts.top_k = 9, "top_k");
    REFUSED_MODEL(runs[2].experts.imbalance = 0.5, "imbalance");
    REFUSED_MODEL(runs[2].experts.ffn = 0, "moe");
    REFUSED_MODEL(runs[3].pool.values = 1000, "square");
    REFUSED_MODEL(runs[3].pool.top_k = 0, "memory");
    REFUSED_MODEL((runs[4] = runs[3], runs[4].name = "other", runs[4].pool.width = 16), "shared");
    REFUSED_MODEL(runs[3].recomputable = true, "recomputable");
    REFUSED_MODEL(m.shape.tied_embeddings = true, "frozen");
    REFUSED_MODEL(m.shape.vocabulary_multiple = -1, "vocabulary_multiple");
    REFUSED_MODEL(m.has_shape = false, "shape");
    REFUSED_MODEL(m.shape.norms = 9, "norms");
    REFUSED_MODEL(m.shape.query_rank = 8, "kv_rank");
    REFUSED_MODEL(m.shape.kv_rank = 8, "kv_rank"); // with norms of queries and keys
    REFUSED_MODEL((m.shape.qk_norm = QK_NORM_NONE, m.shape.kv_rank = 8), "adapter_rank");
    REFUSED_MODEL((make_latent(&m), m.shape.rotary_width = 17), "rotary_width");
    REFUSED_MODEL((make_latent(&m), m.shape.kv_heads = 2), "kv_heads");
    REFUSED_MODEL((m.shape.keys_reused = true, take_adapters(&runs[1])),
                  "runs[1]: shape.keys_reused: expected a run before it whose attention");
    REFUSED_MODEL(runs[1].mtp = true, "runs[1].mtp: expected a trained causal block");
    REFUSED_MODEL(runs[2].mtp = true, "runs[2].mtp");
    REFUSED_MODEL(runs[4].mtp = true, "runs[4].mtp");
    REFUSED_MODEL(runs[0].window = 4, "window");
    REFUSED_MODEL(runs[2].window = 4, "window");
    REFUSED_MODEL(runs[2].cross_attention = true, "cross_attention");
    REFUSED_MODEL(runs[1].cross_attention = true, "adapter_rank");
    REFUSED_MODEL(runs[2].experts.shared_ffn = 0, "shared_gate");
    REFUSED_MODEL(runs[2].experts.router_score = ROUTER_SOFTMAX, "router_bias");
    REFUSED_MODEL(runs[2].experts.router_all = true, "router_all");
    REFUSED_MODEL(runs[2].experts.router_groups = 3, "router_groups");
    REFUSED_MODEL(runs[2].experts.router_top_groups = 0, "router_groups");
    REFUSED_MODEL(runs[2].experts.router_top_groups = 5, "router_top_groups");
}

// ---- costs

static struct estimate estimate(double value)
{
    return (struct estimate){.value = value,
                             .low = value * 0.5,
                             .high = value,
                             .origin = ORIGIN_FITTED,
                             .source = "here"};
}

struct bench {
    struct costs costs;
    struct gpu_costs gpu;
    struct precision_costs precision;
    struct layer_time time;
    struct collective_times table;
    double bytes[3], seconds[3];
};

static void set_costs(struct bench *b)
{
    *b = (struct bench){.bytes = {1e3, 1e6, 1e9}, .seconds = {1e-5, 1e-4, 1e-2}};
    b->precision = (struct precision_costs){.precision = FP8,
                                            .gemm_flop_per_s = estimate(1e14),
                                            .attention_flop_per_s = estimate(1e14),
                                            .low_rank_flop_per_s = estimate(1e13),
                                            .misaligned_gemm_share = estimate(0.5)};
    b->gpu = (struct gpu_costs){.gpu = "G",
                                .precisions = &b->precision,
                                .precision_count = 1,
                                .memory_bytes_per_s = estimate(1e12),
                                .layer_overhead_s = estimate(1e-5),
                                .compression_overhead_s = estimate(1e-5),
                                .constant_bytes = estimate(1e9)};
    b->time = (struct layer_time){.run = "block",
                                  .gpu = "G",
                                  .forward_s = 1,
                                  .backward_s = 2,
                                  .selective_s = 1,
                                  .full_s = 1,
                                  .weight_s = 0.75};
    b->table = (struct collective_times){.gpu = "G",
                                         .ranks = 2,
                                         .send = true,
                                         .between_nodes = true,
                                         .point_count = 3,
                                         .bytes = b->bytes,
                                         .seconds = b->seconds};
    b->costs = (struct costs){.name = "all",
                              .gpus = &b->gpu,
                              .gpu_count = 1,
                              .layer_times = &b->time,
                              .layer_time_count = 1,
                              .collectives = &b->table,
                              .collective_count = 1,
                              .transfer_share = {0, 0.5, 0.5}};
    b->costs.schedule_share_stated[SCHEDULE_ZB_H1] = true;
    b->costs.schedule_share[SCHEDULE_ZB_H1][PART_DELAY] = 1;
    for (int key = 0; key < cost_key_count; key++) {
        const struct cost_key *k = &cost_keys[key];
        void *base = k->scope == COST_OF_ALL   ? (void *)&b->costs
                     : k->scope == COST_OF_GPU ? (void *)&b->gpu
                                               : (void *)&b->precision;
        struct estimate *e = (struct estimate *)((char *)base + k->offset);
        if (e->value <= 0) *e = estimate(k->high < 2 ? 0.5 : k->high < 200 ? 2 : 10);
    }
}

// Every number that has a key: none is forgotten in reading or writing.
TEST(costs_come_back)
{
    struct bench b;
    struct costs again;
    set_costs(&b);
    const char *path = own_path("costs.json");
    must(costs_check(&b.costs, &err), &err);
    must(costs_save(&b.costs, path, arena, &err), &err);
    must(costs_load(&again, path, arena, &err), &err);
    same_costs(&b.costs, &again);
    assert_true(costs_transfer_share(&again, SCHEDULE_ZB_H1)[PART_DELAY] >= 1);
    assert_ptr_equal(costs_transfer_share(&again, SCHEDULE_1F1B), again.transfer_share);
}

#define REFUSED_COSTS(change, word)                                                                \
    do {                                                                                           \
        struct bench b;                                                                            \
        set_costs(&b);                                                                             \
        err = (struct error){OK, ""};                                                              \
        change;                                                                                    \
        refused(costs_check(&b.costs, &err), &err, word);                                          \
    } while (0)

TEST(senseless_costs)
{
    REFUSED_COSTS(b.costs.allocator_factor = estimate(0.5), "allocator_factor");
    REFUSED_COSTS(b.costs.tensor_overlap.value = 1.5, "tensor_overlap");
    REFUSED_COSTS(b.costs.transfer_intra_efficiency.value = -1, "transfer_efficiency.intra");
    REFUSED_COSTS(b.gpu.layer_launch_s.value = -1, "layer_launch_s");
    REFUSED_COSTS(b.gpu.host_link_bytes_per_s.low = 100, "host_link_bytes_per_s");
    REFUSED_COSTS(b.precision.misaligned_gemm_share.value = 2, "misaligned_gemm_share");
    REFUSED_COSTS(b.time.weight_s = 2.5, "weight_s");
    REFUSED_COSTS(b.bytes[1] = 1e3, "ascending");
    REFUSED_COSTS(b.seconds[2] = 0, "seconds");
    REFUSED_COSTS(b.table.ranks = 4, "send");
    REFUSED_COSTS(b.table.point_count = 0, "points");
    REFUSED_COSTS(b.costs.schedule_share[SCHEDULE_ZB_H1][PART_LINK] = 0.5, "zb-h1");
}

AROUND_ALL(folder_open, folder_close)
