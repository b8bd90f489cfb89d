// import hf against transformers' own models: for every recorded config, published ones and random
// ones of each class, our number of parameters equals theirs (tests/imports/hf_counts.py makes the
// record), and planner and judge count the same bytes of weights.
#include "data/kinds/schedules.h"
#include "data/import/hf/config.h"
#include "data/inputs/model/size.h"
#include "formulate/price/price.h"
#include "solve/judge/price/verify_price.h"
#include "tests/support/folder.h"
#include "tests/support/check.h"

static void must(enum status status, const struct error *err)
{
    if (status != OK) fail_msg("%s", err->text);
}

// One line of the record as a file of its own.
static struct model import_line(const char *line, size_t length, int mtp, struct arena *arena)
{
    struct model m;
    const char *config = own_path("config.json");
    must(file_write(config, line, length, &own_err), &own_err);
    struct said said = {.arena = arena};
    must(model_import_hf(&m, config, "imported", mtp, "-", &said, arena, &own_err), &own_err);
    return m;
}

static struct json read_line(const char *line, size_t length, struct arena *arena)
{
    struct json root;
    must(json_parse(&root, "a line of hf_counts.jsonl", line, length, arena, &own_err), &own_err);
    return root;
}

static int64_t count_of(const struct json *root, const char **name, struct arena *arena)
{
    int64_t count = 0;
    struct json_field fields[] = {
        FIELD_COUNT("_parameters", REQUIRED, &count, 1, JSON_COUNT_MAX),
        FIELD_TEXT("_name", REQUIRED, name),
    };
    must(json_fields(root, fields, ARRAY_LENGTH(fields), JSON_LENIENT, arena, &own_err), &own_err);
    return count;
}

// ---- what planner and judge hold of it on one device

static struct problem problem_of(const struct model *m)
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
                                .sequence = 16,
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
    return p;
}

static int64_t planned(const struct problem *p, struct arena *arena)
{
    struct priced priced;
    int64_t bytes = 0;
    must(price_problem(&priced, p, arena, &own_err), &own_err);
    for (int i = 0; i < priced.run_count; i++)
        bytes += priced.runs[i].count * priced.runs[i].weight_bytes;
    return bytes / 2;
}

static int64_t judged(const struct problem *p)
{
    struct doubts doubts = {0, 0};
    struct price_audit a = price_audit_of(p);
    int64_t bytes = 0;
    a.doubts = &doubts;
    for (int i = 0; i < p->model.run_count; i++)
        bytes += p->model.runs[i].count * layer_bytes_of(&a, i).weight;
    return bytes / 2;
}

TEST(parameters_are_transformers_own)
{
    const char *text, *name;
    size_t size;
    int lines = 0, published = 0;
    must(file_read("tests/imports/hf_counts.jsonl", &text, &size, arena, &err), &err);
    for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        size_t length = (size_t)(end - line);
        struct arena own;
        arena_open(&own, NULL);
        struct json root = read_line(line, length, &own);
        int64_t expected = count_of(&root, &name, &own);
        struct model m = import_line(line, length, 0, &own); // as the classes have it
        struct problem p = problem_of(&m);
        struct model_size found = model_size_of(&m);
        if (found.all != expected)
            fail_msg("%s: %lld parameters, transformers has %lld", name, (long long)found.all,
                     (long long)expected);
        assert_true(found.active > 0 && !found.measured);
        if (!model_shares_weights(&m)) { // which are the stage's, not a layer's
            assert_true(found.active <= found.all);
            assert_int_equal(planned(&p, &own), expected);
            assert_int_equal(judged(&p), expected);
        }
        lines++, published += !strstr(name, "random");
        arena_close(&own);
    }
    print_message("%d configs, %d of them published\n", lines, published);
    assert_true(lines > 590 && published > 138);
}

// ---- the resulting layers, and what is refused

static struct model imported(const char *config, struct arena *arena)
{
    return import_line(config, strlen(config), -1, arena);
}

static void refused(const char *config, const char *word)
{
    struct model m;
    struct error err = {OK, ""};
    struct said said = {.arena = &own_arena};
    struct arena_mark mark = arena_set_mark(&own_arena);
    const char *path = arena_print(&own_arena, "%s/config.json", own_folder);
    must(file_write(path, config, strlen(config), &err), &err);
    CHECK_REFUSED(model_import_hf(&m, path, NULL, -1, "-", &said, &own_arena, &err), word);
    arena_reset(&own_arena, mark);
}

static void expect_run(const struct model *m, int i, const char *name, enum layer_kind kind,
                       int count, int64_t window)
{
    assert_true(i < m->run_count);
    assert_string_equal(m->runs[i].name, name);
    assert_int_equal(m->runs[i].kind, kind);
    assert_int_equal(m->runs[i].count, count);
    assert_int_equal(m->runs[i].window, window);
}

TEST(layers_stand_in_their_order)
{
    struct model m = imported("{\"model_type\": \"deepseek_v3\"}", arena);
    expect_run(&m, 1, "dense", LAYER_BLOCK, 3, 0);
    expect_run(&m, 2, "mixture", LAYER_MOE, 58, 0);
    assert_int_equal(m.run_count, 4);
    m = imported("{\"model_type\": \"gemma3_text\", \"num_hidden_layers\": 14}", arena);
    expect_run(&m, 1, "local", LAYER_BLOCK, 5, 4096);
    expect_run(&m, 2, "global", LAYER_BLOCK, 1, 0);
    expect_run(&m, 3, "local-2", LAYER_BLOCK, 5, 4096);
    expect_run(&m, 5, "local-3", LAYER_BLOCK, 2, 4096);
    m = imported("{\"model_type\": \"gpt_oss\", \"num_hidden_layers\": 4}", arena);
    expect_run(&m, 1, "local", LAYER_MOE, 1, 128);
    expect_run(&m, 2, "global", LAYER_MOE, 1, 0);
    assert_int_equal(m.runs[1].more_values, 64 + 128 * (1 + 3 * 2880)); // sinks, biases
    m = imported(
        "{\"model_type\": \"glm4_moe\", \"head_dim\": 128, \"num_nextn_predict_layers\": 1}",
        arena);
    expect_run(&m, 1, "dense", LAYER_BLOCK, 1, 0);
    expect_run(&m, 2, "mixture", LAYER_MOE, 45, 0);
    expect_run(&m, 3, "mtp", LAYER_MOE, 1, 0);
    m = imported("{\"model_type\": \"llama4_text\", \"num_hidden_layers\": 4, "
                 "\"interleave_moe_layer_step\": 2}",
                 arena);
    static const int64_t chunks[] = {8192, 8192, 8192, 0};
    expect_run(&m, 1, "local-dense", LAYER_BLOCK, 1, 0);
    expect_run(&m, 2, "local-mixture", LAYER_MOE, 1, 0);
    expect_run(&m, 3, "local-dense-2", LAYER_BLOCK, 1, 0);
    expect_run(&m, 4, "global-mixture", LAYER_MOE, 1, 0);
    for (int i = 0; i < 4; i++) assert_int_equal(m.runs[i + 1].chunk, chunks[i]);
    m = imported("{\"model_type\": \"llama4_text\", \"num_hidden_layers\": 3, "
                 "\"attention_chunk_size\": 512, \"no_rope_layers\": [0, 1, 1]}",
                 arena);
    expect_run(&m, 1, "global", LAYER_MOE, 1, 0);
    expect_run(&m, 2, "local", LAYER_MOE, 2, 0);
    assert_int_equal(m.runs[2].chunk, 512);
    m = imported("{\"model_type\": \"llama4_text\", \"num_hidden_layers\": 3, "
                 "\"attention_chunk_size\": null}",
                 arena);
    expect_run(&m, 1, "block", LAYER_MOE, 3, 0);
    assert_int_equal(m.runs[1].chunk, 0);
    m = imported("{\"model_type\": \"t5\", \"num_decoder_layers\": 4}", arena);
    expect_run(&m, 1, "encoder", LAYER_BLOCK, 6, 0);
    expect_run(&m, 2, "decoder", LAYER_BLOCK, 4, 0);
    assert_true(m.runs[1].bidirectional && !m.runs[1].cross_attention);
    assert_true(!m.runs[2].bidirectional && m.runs[2].cross_attention);
    m = imported("{\"model_type\": \"mistral\"}", arena);
    expect_run(&m, 1, "block", LAYER_BLOCK, 32, 4096);
    m = imported("{\"model_type\": \"mistral\", \"sliding_window\": null}", arena);
    expect_run(&m, 1, "block", LAYER_BLOCK, 32, 0);
    m = imported("{\"model_type\": \"qwen2\", \"sliding_window\": 4096}", arena);
    expect_run(&m, 1, "block", LAYER_BLOCK, 32, 0);
    m = imported("{\"model_type\": \"gemma3\", \"text_config\": {\"num_hidden_layers\": 1, "
                 "\"layer_types\": [\"full_attention\"]}}",
                 arena);
    expect_run(&m, 1, "block", LAYER_BLOCK, 1, 0);
    m = imported("{\"model_type\": \"llava\", \"text_config\": {\"model_type\": \"llama\"}}",
                 arena);
    expect_run(&m, 0, "patches", LAYER_PROJECTOR, 1, 0);
    expect_run(&m, 1, "vision", LAYER_BLOCK, 24, 0);
    expect_run(&m, 2, "projector", LAYER_PROJECTOR, 1, 0);
    expect_run(&m, 3, "embedding", LAYER_EMBEDDING, 1, 0);
    assert_true(m.runs[1].tokens == 577 && m.runs[1].bidirectional && m.runs[2].tokens == 576);
    m = imported("{\"model_type\": \"qwen2_audio\", \"text_config\": {\"model_type\": \"qwen2\"}}",
                 arena);
    static const int64_t frames[] = {3000, 1500, 1500, 750, 0};
    for (int i = 0; i < 5; i++) assert_int_equal(m.runs[i].tokens, frames[i]);
}

// Each layer's own KV heads and width; parts that are left out; a block without both is none.
TEST(searched_layers_have_their_own_shapes)
{
    struct model m = imported(
        "{\"model_type\": \"nemotron-nas\", \"hidden_size\": 768, \"num_attention_heads\": 12, "
        "\"intermediate_size\": null, \"vocab_size\": 1000, \"block_configs\": ["
        "{\"attention\": {\"n_heads_in_group\": 4}, \"ffn\": {\"ffn_mult\": 2.0}}, "
        "{\"attention\": {\"no_op\": true}, \"ffn\": {\"ffn_mult\": 0.5}}, "
        "{\"attention\": {\"no_op\": true}, \"ffn\": {\"no_op\": true}}, "
        "{\"attention\": {\"n_heads_in_group\": 6}, \"ffn\": {\"no_op\": true}}]}",
        arena);
    assert_int_equal(m.layer_count, 5);
    assert_int_equal(m.shape.ffn, 1024);
    assert_int_equal(m.shape.kv_heads, 3);
    assert_true(!m.runs[1].shape && run_is_whole(&m.runs[1]));
    assert_true(m.runs[2].no_attention && m.runs[2].shape->ffn == 256);
    assert_true(m.runs[3].no_feed_forward && m.runs[3].shape->kv_heads == 2);
    // 2 x 1000 x 768 + 768; 768 x (1536 + 2 x 192) + 3 x 768 x 1024 + 2 x 768; 3 x 768 x 256 + 768;
    // 768 x (1536 + 2 x 128) + 768
    assert_int_equal(model_size_of(&m).all, 7339776);
    refused("{\"model_type\": \"nemotron-nas\", \"block_configs\": [{\"attention\": "
            "{\"replace_with_linear\": true}, \"ffn\": {\"ffn_mult\": 1}}]}",
            "a part that is one matrix is not read");
}

// Super's experts: 512 of two matrices from a latent of 1024 to 2688 and back.
TEST(experts_on_a_latent)
{
    struct model m = imported("{\"model_type\": \"nemotron_h\", \"hidden_size\": 4096, "
                              "\"hybrid_override_pattern\": \"ME*E\", \"n_routed_experts\": 512, "
                              "\"moe_intermediate_size\": 2688, \"moe_latent_size\": 1024}",
                              arena);
    const struct layer_run *r = &m.runs[2];
    assert_true(r->kind == LAYER_MOE && r->experts.latent == 1024);
    assert_int_equal(r->more_products, 2 * 4096 * 1024);
    assert_int_equal(r->more_values, r->more_products);
}

TEST(others_are_refused)
{
    refused("{\"model_type\": \"zamba2\"}",
            "that several of them share, with adapters for each use; the nearest that is: bamba;");
    refused("{\"model_type\": \"recurrent_gemma\"}",
            "linear attention; the nearest that is: gemma2;");
    refused("{\"model_type\": \"bamba\", \"mamba_conv_bias\": false}", "without biases");
    refused("{\"model_type\": \"nemotron_h\", \"hybrid_override_pattern\": \"MX\"}", "letters M");
    refused("{\"model_type\": \"gemma3n_text\", \"num_kv_shared_layers\": 35}",
            "at most 34 of the 35 layers");
    refused("{\"model_type\": \"gemma3n_text\", \"altup_num_inputs\": 65}", "1 to 64");
    refused("{\"model_type\": \"gemma3n_text\", \"intermediate_size\": [8]}", "35");
    refused("{\"model_type\": \"foo\", \"vocab_size\": 100, \"hidden_size\": 64, "
            "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"num_experts\": 8, "
            "\"num_experts_per_tok\": 2, \"decoder_sparse_step\": 1, \"mine\": 3}",
            "the nearest that is, by its keys: qwen2_moe, which has no key mine; if");
    refused("{\"model_type\": \"foo\", \"vocab_size\": 100, \"hidden_size\": 64, "
            "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"kv_lora_rank\": 8, "
            "\"index_n_heads\": 2, \"n_routed_experts\": 4, \"num_experts_per_tok\": 2}",
            "by its keys: deepseek_v32; if its layers are those, state \"model_type\":");
    refused("{\"model_type\": \"swin\", \"hidden_size\": 64}", "it states no vocab_size");
    refused("{\"model_type\": \"glm_moe_dsa\", \"num_attention_heads\": 0, \"ours\": 1}",
            "(read as glm_moe_dsa, which has no key ours)");
    refused("{\"model_type\": \"qwen2\", \"hidden_size\": \"3584\", \"num_hidden_layers\": 28, "
            "\"intermediate_size\": 18944, \"num_attention_heads\": 28, \"hidden_act\": \"silu\", "
            "\"rms_norm_eps\": 1e-6, \"use_sliding_window\": false, \"ours\": 1}",
            "found \"3584\" (read as qwen2, which has no key ours)");
    refused("{\"model_type\": \"hunyuan_v1_moe\", \"moe_topk\": [1, 2]}", "same number of experts");
    refused("{\"model_type\": \"glm4_moe_lite\", \"mlp_layer_types\": [\"dense\"]}", "47 layers");
    refused("{\"model_type\": \"ernie4_5_moe\", \"moe_layer_interval\": 0}", "moe_layer_interval");
    refused("{\"model_type\": \"llava\", \"text_config\": {\"model_type\": \"llama\"}, "
            "\"vision_config\": {\"model_type\": \"clip_vision_model\", "
            "\"image_size\": 26}}",
            "image_size, 26, found 32");
    refused("{\"model_type\": \"qwen2_audio\", \"text_config\": {\"model_type\": \"qwen2\"}, "
            "\"audio_config\": {\"max_source_positions\": 1}}",
            "expected at least 2");
    refused("{\"hidden_size\": 64}", "model_type");
    refused("{\"model_type\": \"llama\", \"num_local_experts\": 8}", "num_local_experts");
    refused("{\"model_type\": \"bert\", \"add_cross_attention\": true}", "encoder");
    refused("{\"model_type\": \"gpt2\", \"is_encoder_decoder\": true}", "encoder");
    refused("{\"model_type\": \"deepseek_v2\"}", "num_experts_per_tok");
    refused("{\"model_type\": \"deepseek_v3\", \"moe_layer_freq\": 2}", "moe_layer_freq");
    refused("{\"model_type\": \"llama4_text\", \"no_rope_layers\": [1, 0]}", "48 layers");
    refused("{\"model_type\": \"llama\", \"num_attention_heads\": 0}", "heads");
    refused("{\"model_type\": \"llama\", \"num_hidden_layers\": 5000}", "layers");
    refused("{\"model_type\": \"gemma2\", \"layer_types\": [\"full_attention\"]}", "26 layers");
    refused("{\"model_type\": \"qwen3_moe\", \"mlp_only_layers\": [4097]}", "mlp_only_layers");
    refused("{\"model_type\": \"llama\", \"hidden_size\": \"big\"}", "hidden_size");
    refused("{\"model_type\": \"qwen2_vl\", \"vision_config\": {}}", "hidden_size");
    refused("{\"model_type\": \"llava\", \"text_config\": {\"model_type\": \"llama\"}, "
            "\"vision_config\": {\"num_attention_heads\": 7}}",
            "heads");
}

AROUND_ALL(folder_open, folder_close)
