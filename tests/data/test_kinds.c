// Documents with what only some models and costs have: every key is written and read again, and
// what makes no sense is refused by name. Published mixtures come in from their Hugging Face
// configs with the published number of parameters.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/base/file.h"
#include "data/import/hf_config.h"
#include "formulate/price/price.h"
#include "tests/support/folder.h"
#include "tests/support/same.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h> // last: it has a macro fail()

static char folder[FOLDER_SIZE];

static int set_up(void **state)
{
    (void)state;
    return folder_make(folder);
}
static int tear_down(void **state)
{
    (void)state;
    return folder_remove(folder);
}

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
    {.name = "embedding", .kind = LAYER_EMBEDDING, .count = 1, .frozen = true},
    {.name = "frozen",
     .kind = LAYER_BLOCK,
     .count = 3,
     .recomputable = true,
     .frozen = true,
     .adapter_rank = 8,
     .weight_bits = 4},
    {.name = "mixture",
     .kind = LAYER_MOE,
     .count = 2,
     .recomputable = true,
     .experts = {.experts = 8, .top_k = 2, .ffn = 512, .shared_ffn = 64, .imbalance = 1.25}},
    {.name = "table",
     .kind = LAYER_MEMORY,
     .count = 1,
     .pool = {.values = 1024, .width = 32, .heads = 2, .key_width = 16, .top_k = 4, .gated = true}},
    {.name = "head", .kind = LAYER_HEAD, .count = 1},
};

static struct model model_of_kinds(struct layer_run *runs)
{
    memcpy(runs, kinds, sizeof kinds);
    return (struct model){.name = "kinds",
                          .has_shape = true,
                          .runs = runs,
                          .run_count = ARRAY_LENGTH(kinds),
                          .layer_count = 8,
                          .shape = {.hidden = 64,
                                    .ffn = 256,
                                    .heads = 4,
                                    .kv_heads = 4,
                                    .head_width = 16,
                                    .vocabulary = 1000,
                                    .vocabulary_multiple = 128}};
}

static void models_come_back(void **state)
{
    (void)state;
    struct arena arena;
    struct error err = {OK, ""};
    struct layer_run runs[ARRAY_LENGTH(kinds)];
    arena_open(&arena, NULL);
    struct model m = model_of_kinds(runs), again;
    const char *path = arena_print(&arena, "%s/model.json", folder);
    must(model_save(&m, path, &arena, &err), &err);
    must(model_load(&again, path, &arena, &err), &err);
    same_model(&m, &again);
    assert_false(model_has_gradient(&m, 0));
    assert_true(model_has_gradient(&m, 1) && model_has_gradient(&m, 4));
    arena_close(&arena);
}

#define REFUSED_MODEL(change, word)                                                                \
    do {                                                                                           \
        struct layer_run runs[ARRAY_LENGTH(kinds)];                                                \
        struct model m = model_of_kinds(runs);                                                     \
        struct error err = {OK, ""};                                                               \
        change;                                                                                    \
        refused(model_check(&m, &err), &err, word);                                                \
    } while (0)

static void senseless_models(void **state)
{
    (void)state;
    REFUSED_MODEL(runs[1].frozen = false, "adapter_rank");
    REFUSED_MODEL(runs[2].adapter_rank = 4, "adapter_rank");
    REFUSED_MODEL((runs[1].adapter_rank = 0, runs[1].frozen = false), "weight_bits");
    REFUSED_MODEL(runs[1].weight_bits = 17, "weight_bits");
    REFUSED_MODEL(runs[2].experts.top_k = 9, "top_k");
    REFUSED_MODEL(runs[2].experts.imbalance = 0.5, "imbalance");
    REFUSED_MODEL(runs[2].experts.ffn = 0, "moe");
    REFUSED_MODEL(runs[3].pool.values = 1000, "square");
    REFUSED_MODEL(runs[3].pool.top_k = 0, "memory");
    REFUSED_MODEL(runs[3].recomputable = true, "recomputable");
    REFUSED_MODEL(m.shape.tied_embeddings = true, "frozen");
    REFUSED_MODEL(m.shape.vocabulary_multiple = -1, "vocabulary_multiple");
    REFUSED_MODEL(m.has_shape = false, "shape");
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
static void costs_come_back(void **state)
{
    (void)state;
    struct arena arena;
    struct error err = {OK, ""};
    struct bench b;
    struct costs again;
    arena_open(&arena, NULL);
    set_costs(&b);
    const char *path = arena_print(&arena, "%s/costs.json", folder);
    must(costs_check(&b.costs, &err), &err);
    must(costs_save(&b.costs, path, &arena, &err), &err);
    must(costs_load(&again, path, &arena, &err), &err);
    same_costs(&b.costs, &again);
    assert_true(costs_transfer_share(&again, SCHEDULE_ZB_H1)[PART_DELAY] >= 1);
    assert_ptr_equal(costs_transfer_share(&again, SCHEDULE_1F1B), again.transfer_share);
    arena_close(&arena);
}

#define REFUSED_COSTS(change, word)                                                                \
    do {                                                                                           \
        struct bench b;                                                                            \
        struct error err = {OK, ""};                                                               \
        set_costs(&b);                                                                             \
        change;                                                                                    \
        refused(costs_check(&b.costs, &err), &err, word);                                          \
    } while (0)

static void senseless_costs(void **state)
{
    (void)state;
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

// ---- Hugging Face

static struct model import(const char *config, enum status expected, const char *word,
                           struct arena *arena)
{
    struct model m;
    struct error err = {OK, ""};
    const char *path = arena_print(arena, "%s/config.json", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(config, file);
    assert_int_equal(fclose(file), 0);
    enum status status = model_import_hf(&m, path, "imported",
                                         arena_print(arena, "%s/out.json", folder), arena, &err);
    if (expected == OK) must(status, &err);
    else refused(status, &err, word);
    return m;
}

// The whole model on one device.
static int64_t parameters(struct model *m, struct arena *arena)
{
    static struct precision_costs precision = {
        .precision = BF16,
        .gemm_flop_per_s = {.value = 1e14, .low = 1e14, .high = 1e14},
        .attention_flop_per_s = {.value = 1e14, .low = 1e14, .high = 1e14},
        .low_rank_flop_per_s = {.value = 1e14, .low = 1e14, .high = 1e14}};
    static struct gpu_costs gpu = {
        .gpu = "G",
        .precisions = &precision,
        .precision_count = 1,
        .memory_bytes_per_s = {.value = 1e12, .low = 1e12, .high = 1e12}};
    static struct node_group group = {"g", "G", 1, 1, 80000000000, {1e9, 0}, NULL, 0, 0};
    struct problem p = {.name = "p",
                        .model = *m,
                        .cluster = {.name = "c", .groups = &group, .group_count = 1},
                        .costs = {.name = "k",
                                  .gpus = &gpu,
                                  .gpu_count = 1,
                                  .intra_efficiency = {.value = 1, .low = 1, .high = 1},
                                  .transfer_share = {0, 0, 1}},
                        .job = {.name = "j",
                                .sequence = 128,
                                .global_batch = 1,
                                .precision = BF16,
                                .gradient_bytes_per_value = 4,
                                .adam = true,
                                .memory_fraction = 1,
                                .budget = {-1, -1, -1, 0},
                                .layout = {.tensor = 1,
                                           .context = 1,
                                           .data = 1,
                                           LAYOUT_PLAIN(1),
                                           .micro_batch = 1,
                                           .schedule = SCHEDULE_1F1B}}};
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++)
        p.costs.network_efficiency[kind] = (struct estimate){.value = 1, .low = 1, .high = 1};
    struct priced priced;
    struct error err = {OK, ""};
    must(price_problem(&priced, &p, arena, &err), &err);
    int64_t bytes = 0;
    for (int i = 0; i < priced.run_count; i++)
        bytes += priced.runs[i].count * priced.runs[i].weight_bytes;
    return bytes / 2;
}

static void mixtures_come_in(void **state)
{
    (void)state;
    struct arena arena;
    arena_open(&arena, NULL);
    struct model mixtral =
        import("{\"model_type\": \"mixtral\", \"hidden_size\": 4096, \"intermediate_size\": 14336, "
               "\"num_hidden_layers\": 32, "
               "\"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"vocab_size\": 32000, "
               "\"num_local_experts\": 8, \"num_experts_per_tok\": 2}",
               OK, NULL, &arena);
    assert_int_equal(parameters(&mixtral, &arena), 46702792704);
    // Qwen1.5-MoE-A2.7B has 14 315 784 192; a gate of its shared expert, 2048 a layer, is not
    // modelled.
    struct model qwen =
        import("{\"model_type\": \"qwen2_moe\", \"hidden_size\": 2048, \"intermediate_size\": "
               "5632, \"num_hidden_layers\": 24, "
               "\"num_attention_heads\": 16, \"num_key_value_heads\": 16, \"vocab_size\": 151936, "
               "\"num_experts\": 60, \"num_experts_per_tok\": 4, "
               "\"moe_intermediate_size\": 1408, \"shared_expert_intermediate_size\": 5632, "
               "\"decoder_sparse_step\": 1}",
               OK, NULL, &arena);
    assert_int_equal(parameters(&qwen, &arena), 14315784192 - 24 * 2048);
    import("{\"model_type\": \"qwen2_moe\", \"hidden_size\": 64, \"intermediate_size\": 64, "
           "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
           "\"vocab_size\": 100, \"decoder_sparse_step\": 2}",
           BAD_INPUT, "decoder_sparse_step", &arena);
    import("{\"model_type\": \"llama\", \"hidden_size\": 64, \"intermediate_size\": 64, "
           "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, "
           "\"vocab_size\": 100, \"num_local_experts\": 8}",
           BAD_INPUT, "num_local_experts", &arena);
    arena_close(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_come_back), cmocka_unit_test(senseless_models),
        cmocka_unit_test(costs_come_back),  cmocka_unit_test(senseless_costs),
        cmocka_unit_test(mixtures_come_in),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
