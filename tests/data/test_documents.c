// load(save(x)) = x, on random problems field by field and on every example byte by byte; what
// loaders fill in; the name tables; the accessors and the guarantees of priced documents; imported
// configs.
#include <glob.h>
#include <unistd.h>

#include "data/hardware/designs.h"
#include "data/import/hf/config.h"
#include "data/inputs/cost_keys.h"
#include "data/kinds/schedules.h"
#include "data/results/plan.h"
#include "data/inputs/problem.h"
#include "data/numbers/samples.h"
#include "formulate/price/price.h"
#include "tests/support/documents.h"
#include "tests/support/folder.h"
#include "tests/support/problems.h"
#include "tests/support/same.h"
#include "tests/support/check.h"

static void expect_ok(enum status status)
{
    if (status != OK) fail_msg("%s", own_err.text);
}

static void expect_same_bytes(const char *a, const char *b)
{
    const char *text_a, *text_b;
    size_t size_a, size_b;
    expect_ok(file_read(a, &text_a, &size_a, &own_arena, &own_err));
    expect_ok(file_read(b, &text_b, &size_b, &own_arena, &own_err));
    if (size_a != size_b || memcmp(text_a, text_b, size_a)) fail_msg("%s and %s differ", a, b);
}

// ---- text

// What cJSON alone would take, and what an error says of it.
TEST(test_grammar)
{
    static const struct {
        const char *text, *says;
    } refused[] = {
        {"[01]", "found '01'"},
        {"[1.]", "found '1.'"},
        {"[1]x", "nothing after the document"},
        {"[+1]", "found '+1'"},
        {"[-]", "found '-'"},
        {"[0x10]", "found '0x10'"},
        {"[NaN]", "finite number, found 'NaN'"},
        {"{\"a\": 1, \"\\u0061\": 2}", "key \"a\" appears twice"},
        {"{\"b\": [{\"a\": 1, \"c\": 2, \"a\": 3}]}", "b[0]: key \"a\" appears twice"},
        {"[\"a\nb\"]", "control character 10 in a string"},
        {"[\"\\u0000\"]", "NUL in a string"},
        {"[\"\\ud800\"]", "surrogate"},
        {"[\"\\x\"]", "escape"},
        {"[\"\xff\"]", "UTF-8"},
        {"[\"\xc0\xaf\"]", "UTF-8"},
        {"[\"\xed\xa0\x80\"]", "UTF-8"},
        {"\xef\xbb\xbf[]", "found byte 0xef"},
        {"[1,]", "expected a value"},
        {"{\"a\" 1}", "':' after a key"},
        {"[\"a", "does not end"},
        {"[1, 2", "the file ends"},
    };
    struct json root;
    for (size_t i = 0; i < ARRAY_LENGTH(refused); i++) {
        const char *text = refused[i].text;
        enum status status = json_parse(&root, "F", text, strlen(text), &own_arena, &own_err);
        if (status != BAD_INPUT || !strstr(own_err.text, refused[i].says))
            fail_msg("%s: status %d, \"%s\"", text, status, own_err.text);
        own_err = (struct error){OK, ""};
    }
}

// More than the limit of memory allows is refused by name, and forgotten; numbers are exact.
TEST(test_values)
{
    enum { COUNT = 100000 };
    static char text[2 * COUNT];
    static const char numbers[] = "[9007199254740992, -9007199254740991, 1e400]";
    struct json root;
    int64_t *values;
    int count;
    for (int i = 0; i < 2 * COUNT; i++) text[i] = i % 2 ? ',' : '0';
    text[0] = '[', text[2 * COUNT - 1] = ']', text[1] = '0', text[2] = ' ';
    memory_limit((size_t)4 << 20);
    assert_int_equal(json_parse(&root, "F", text, sizeof text, &own_arena, &own_err), SYSTEM);
    assert_non_null(strstr(own_err.text, "F: needs more memory than the 4 MiB allowed"));
    own_err = (struct error){OK, ""};
    memory_limit(0);
    expect_ok(json_parse(&root, "F", text, sizeof text, &own_arena, &own_err));
    assert_int_equal(json_length(&root), COUNT - 1);
    expect_ok(json_parse(&root, "F", numbers, strlen(numbers), &own_arena, &own_err));
    assert_int_equal(
        json_counts(&root, -JSON_COUNT_MAX, JSON_COUNT_MAX, &values, &count, &own_arena, &own_err),
        BAD_INPUT);
    assert_non_null(strstr(own_err.text, "[2]: expected a"));
    assert_int_equal(values[0], 9007199254740992);
    assert_int_equal(values[1], -9007199254740991);
    own_err = (struct error){OK, ""};
}

// ---- bytes

TEST(test_examples_round)
{
    // A problem names its documents relative to itself, so the saved files stay next to the
    // examples' copies.
    for (int format = 0; format < FORMAT_CONFIG; format++) {
        const char *text;
        size_t size;
        const char *copy = own_path(arena_print(&own_arena, "%s.json", format_names[format]));
        expect_ok(file_read(format_example((enum format)format, &own_arena), &text, &size,
                            &own_arena, &own_err));
        expect_ok(file_write(copy, text, size, &own_err));
    }
    for (int format = 0; format < FORMAT_CONFIG; format++) {
        const char *copy = own_path(arena_print(&own_arena, "%s.json", format_names[format]));
        expect_ok(
            format_load((enum format)format, copy, own_path("first.json"), &own_arena, &own_err));
        expect_ok(format_load((enum format)format, own_path("first.json"), own_path("second.json"),
                              &own_arena, &own_err));
        expect_same_bytes(own_path("first.json"), own_path("second.json"));
        // These were saved by the program: nothing changes at all.
        if (format == FORMAT_PRICED || format == FORMAT_PLAN)
            expect_same_bytes(copy, own_path("first.json"));
    }
}

static int round_files(const char *pattern, enum format format)
{
    glob_t found;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        expect_ok(
            format_load(format, found.gl_pathv[i], own_path("first.json"), &own_arena, &own_err));
        expect_ok(format_load(format, own_path("first.json"), own_path("second.json"), &own_arena,
                              &own_err));
        expect_same_bytes(own_path("first.json"), own_path("second.json"));
    }
    int count = (int)found.gl_pathc;
    globfree(&found);
    return count;
}

TEST(test_shipped_round)
{
    assert_true(round_files("data/models/*/*.json", FORMAT_MODEL) >= 38);
    assert_true(round_files("data/clusters/*.json", FORMAT_CLUSTER) >= 4);
    assert_true(round_files("data/costs/*.json", FORMAT_COSTS) >= 1);
}

static void set_estimate(struct estimate *e, const struct cost_key *key, void *context)
{
    double share = *(const double *)context, value = key->low + share * (key->high - key->low);
    *e = (struct estimate){.value = value, .low = value, .high = value, .origin = ORIGIN_FITTED};
}

static void expect_estimate(struct estimate *e, const struct cost_key *key, void *context)
{
    struct estimate expected;
    set_estimate(&expected, key, context);
    assert_true(e->value == expected.value);
}

// A stated 0 of a time is one, not the number that stands in for it; a rate of 0 is refused.
TEST(test_stated_zeros)
{
    struct costs c, written;
    expect_ok(costs_load(&c, "data/costs/kernels.json", &own_arena, &own_err));
    c.gpus[0].backward_overhead_s = (struct estimate){.stated = true};
    expect_ok(costs_save(&c, own_path("zeros.json"), &own_arena, &own_err));
    expect_ok(costs_load(&written, own_path("zeros.json"), &own_arena, &own_err));
    assert_true(stated_or(&written.gpus[0].backward_overhead_s, 7) == 0);
    assert_true(stated_or(&written.gpus[1].backward_overhead_s, 7) == 7);
    c.gpus[0].backward_memory_bytes_per_s = (struct estimate){.stated = true};
    expect_ok(costs_save(&c, own_path("zeros.json"), &own_arena, &own_err));
    assert_int_equal(costs_load(&written, own_path("zeros.json"), &own_arena, &own_err), BAD_INPUT);
    assert_non_null(
        strstr(own_err.text, "backward_memory_bytes_per_s.value: expected a number from 1"));
}

// Whatever a fit may put into costs, they can be read again.
TEST(test_fitted_numbers)
{
    static const double shares[] = {0, 0.01, 0.5, 1};
    struct costs shipped, written;
    expect_ok(costs_load(&shipped, "data/costs/published.json", &own_arena, &own_err));
    for (int key = 0; key < cost_key_count; key++)
        for (size_t i = 0; i < ARRAY_LENGTH(shares); i++) {
            struct costs c = costs_copy(&shipped, &own_arena);
            double share = shares[i];
            costs_visit(&c, key, NULL, 0, set_estimate, &share);
            expect_ok(costs_save(&c, own_path("fitted.json"), &own_arena, &own_err));
            expect_ok(costs_load(&written, own_path("fitted.json"), &own_arena, &own_err));
            costs_visit(&written, key, NULL, 0, expect_estimate, &share);
        }
}

// The examples of docs/FORMATS.md, comments taken away: ```jsonc FORMAT. A problem finds the others
// next to it.
TEST(test_manual)
{
    const char *text;
    size_t size;
    int count = 0;
    expect_ok(file_read("docs/FORMATS.md", &text, &size, &own_arena, &own_err));
    for (const char *p = text; (p = strstr(p, "```jsonc "));) {
        const char *name_end = strchr(p, '\n'), *end = strstr(name_end, "\n```");
        const char *path =
            own_path(arena_print(&own_arena, "%.*s.json", (int)(name_end - p - 9), p + 9));
        char *bare = TAKE(&own_arena, end - name_end + 1, char);
        size_t length = 0;
        for (p = name_end; p < end; p++) {
            if (p[0] == '/' && p[1] == '/') p += strcspn(p, "\n");
            bare[length++] = *p;
        }
        expect_ok(file_write(path, bare, length, &own_err));
        count++;
        if (!strcmp(path + strlen(own_folder) + 1, "designs.json")) { // people write it alone
            struct designs designs;
            expect_ok(designs_load(&designs, path, &own_arena, &own_err));
            continue;
        }
        int format = 0;
        while (format < FORMAT_COUNT &&
               strcmp(path + strlen(own_folder) + 1,
                      arena_print(&own_arena, "%s.json", format_names[format])))
            format++;
        assert_true(format < FORMAT_COUNT);
        expect_ok(format_load((enum format)format, path, NULL, &own_arena, &own_err));
    }
    assert_int_equal(count, 7);
}

// ---- fields

TEST(test_random_problems)
{
    struct random rng = {7};
    struct random_limits limits = random_limits_small();
    struct arena_mark mark = arena_set_mark(&own_arena);
    for (int i = 0; i < 150; i++, arena_reset(&own_arena, mark)) {
        struct problem *x = TAKE(&own_arena, 1, struct problem),
                       *y = TAKE(&own_arena, 1, struct problem);
        random_problem(x, &rng, &limits, &own_arena);
        x->model.document.path = own_path("m.json");
        x->cluster.document.path = own_path("c.json");
        x->costs.document.path = own_path("o.json");
        x->job.document.path = own_path("j.json");
        expect_ok(model_save(&x->model, x->model.document.path, &own_arena, &own_err));
        expect_ok(cluster_save(&x->cluster, x->cluster.document.path, &own_arena, &own_err));
        expect_ok(costs_save(&x->costs, x->costs.document.path, &own_arena, &own_err));
        expect_ok(job_save(&x->job, x->job.document.path, &own_arena, &own_err));
        expect_ok(problem_save(x, own_path("p.json"), &own_arena, &own_err));
        expect_ok(problem_load(y, own_path("p.json"), &own_arena, &own_err));
        same_model(&x->model, &y->model);
        same_cluster(&x->cluster, &y->cluster);
        same_costs(&x->costs, &y->costs);
        same_job(&x->job, &y->job);
    }
}

static void same_counts(const int64_t *a, const int64_t *b, int count)
{
    assert_memory_equal(a, b, (size_t)count * sizeof *a);
}

// Prices of random problems, saved and loaded.
TEST(test_random_priced)
{
    struct random rng = {8};
    struct random_limits limits = random_limits_small();
    struct arena_mark mark = arena_set_mark(&own_arena);
    for (int i = 0; i < 150; i++, arena_reset(&own_arena, mark)) {
        struct problem *problem = TAKE(&own_arena, 1, struct problem);
        struct priced x, y;
        random_problem(problem, &rng, &limits, &own_arena);
        expect_ok(price_problem(&x, problem, &own_arena, &own_err));
        x.document.sources = NULL;
        x.document.source_count = 0;
        expect_ok(priced_save(&x, own_path("first.json"), &own_arena, &own_err));
        expect_ok(priced_load(&y, own_path("first.json"), &own_arena, &own_err));
        expect_ok(priced_save(&y, own_path("second.json"), &own_arena, &own_err));
        expect_same_bytes(own_path("first.json"), own_path("second.json"));
        int links = x.group_count * x.group_count;
        assert_true(x.group_count == y.group_count && x.run_count == y.run_count &&
                    x.cut_count == y.cut_count && x.has_embedding_sync == y.has_embedding_sync);
        assert_true(x.boundary_option_count == y.boundary_option_count &&
                    x.gradient_option_count == y.gradient_option_count &&
                    x.rule_count == y.rule_count);
        for (int r = 0; r < x.run_count; r++) {
            same_counts(x.runs[r].stash_bytes, y.runs[r].stash_bytes, 3);
            same_counts(&x.runs[r].unsharded_bytes, &y.runs[r].unsharded_bytes, 1);
            same_counts(x.runs[r].feedback_bytes, y.runs[r].feedback_bytes,
                        x.gradient_option_count);
            same_counts(x.runs[r].backward_ns, y.runs[r].backward_ns, x.group_count);
            for (int o = 0; o < x.gradient_option_count; o++)
                same_counts(x.runs[r].sync_ns[o], y.runs[r].sync_ns[o], x.group_count);
        }
        for (int c = 0; c < x.cut_count; c++) {
            same_counts(x.cuts[c].forward_ns, y.cuts[c].forward_ns, links * PART_COUNT);
            for (int o = 0; o < x.boundary_option_count; o++)
                same_counts(x.cuts[c].backward_ns[o], y.cuts[c].backward_ns[o], links * PART_COUNT);
        }
        for (int g = 0; g < x.group_count; g++)
            assert_true(!x.groups[g].excluded == !y.groups[g].excluded &&
                        x.groups[g].memory_limit_bytes == y.groups[g].memory_limit_bytes);
        if (x.has_embedding_sync) same_counts(x.embedding_sync_ns, y.embedding_sync_ns, links);
    }
}

// ---- what loaders fill in

static void load_written(enum format format, const char *text, void *to)
{
    const char *path = own_path("written.json");
    expect_ok(file_write(path, text, strlen(text), &own_err));
    if (format == FORMAT_MODEL) expect_ok(model_load(to, path, &own_arena, &own_err));
    if (format == FORMAT_JOB) expect_ok(job_load(to, path, &own_arena, &own_err));
    if (format == FORMAT_COSTS) expect_ok(costs_load(to, path, &own_arena, &own_err));
    if (format == FORMAT_CONFIG)
        expect_ok(model_import_hf(to, path, NULL, -1, own_path("out.json"),
                                  &(struct said){.arena = &own_arena}, &own_arena, &own_err));
}

TEST(test_defaults)
{
    struct model m;
    struct job j;
    struct costs c;
    load_written(FORMAT_MODEL,
                 "{\"kind\": \"plumbline.model\", \"version\": 1, \"name\": \"x\", \"shape\": "
                 "{\"hidden\": 64, \"ffn\": 256, \"heads\": 4, \"vocabulary\": 9},"
                 "\"runs\": [{\"name\": \"b\", \"kind\": \"block\"}]}",
                 &m);
    assert_int_equal(m.shape.kv_heads, 4);
    assert_int_equal(m.shape.head_width, 16);
    assert_true(m.runs[0].recomputable && m.runs[0].count == 1 && !m.shape.tied_embeddings);
    load_written(FORMAT_JOB,
                 "{\"kind\": \"plumbline.job\", \"version\": 1, \"name\": \"x\", \"sequence\": 8, "
                 "\"global_batch\": 4, \"precision\": \"bf16\", \"layout\": {\"pipeline\": 2}}",
                 &j);
    assert_true(j.adam && j.recompute[RECOMPUTE_NONE] && !j.recompute[RECOMPUTE_FULL] &&
                j.rule_count == 0 && j.boundary_option_count == 0);
    assert_int_equal(j.budget.boundaries_max, -1);
    assert_int_equal(j.gradient_bytes_per_value, 4);
    assert_true(!j.state_bytes_per_value && job_state_bytes(&j) == 12);
    assert_int_equal(job_micro_batches(&j), 4);
    assert_true(j.memory_fraction > 0.89 && j.memory_fraction < 0.91);
    assert_true(j.layout.schedule == SCHEDULE_1F1B && j.layout.tensor == 1 &&
                j.layout.micro_batch == 1);
    load_written(FORMAT_COSTS,
                 "{\"kind\": \"plumbline.costs\", \"version\": 1, \"name\": \"x\", \"gpus\": []}",
                 &c);
    assert_true(c.transfer_share[PART_DELAY] == 1 && c.transfer_share[PART_LINK] == 0 &&
                c.intra_efficiency.value == 1);
    assert_int_equal(c.network_efficiency[NIC_ROCE].origin, ORIGIN_ASSUMED);
}

static int table_length(const char *const *names)
{
    int n = 0;
    while (names[n]) n++;
    return n;
}

TEST(test_name_tables)
{
    assert_int_equal(table_length(layer_kind_names), LAYER_PROJECTOR + 1);
    assert_int_equal(table_length(nic_kind_names), NIC_KIND_COUNT);
    assert_int_equal(table_length(origin_names), ORIGIN_ASSUMED + 1);
    assert_int_equal(table_length(schedule_names), SCHEDULE_KIND_COUNT);
    assert_int_equal(table_length(gradient_sync_names), SYNC_OVERLAPPED + 1);
    assert_int_equal(table_length(trainer_names), TRAINER_OTHER + 1);
    assert_int_equal(table_length(rule_action_names), RULE_FORBID + 1);
    assert_int_equal(table_length(outcome_names), OUTCOME_NO_PLAN + 1);
    assert_int_equal(table_length(sample_kind_names), SAMPLE_KIND_COUNT);
    assert_int_equal(table_length(precision_names), PRECISION_COUNT);
    assert_int_equal(table_length(recompute_names), RECOMPUTE_COUNT);
    assert_int_equal(table_length(transfer_part_names), PART_COUNT);
}

// ---- priced documents

static void load_priced(struct priced *p)
{
    expect_ok(priced_load(p, "tests/documents/priced.json", &own_arena, &own_err));
}

TEST(test_priced_accessors)
{
    struct priced p;
    int layer = 0;
    load_priced(&p);
    for (int run = 0; run < p.run_count; run++) {
        assert_int_equal(priced_first_layer(&p, run), layer);
        for (int i = 0; i < p.runs[run].count; i++)
            assert_int_equal(priced_run_of(&p, layer++), run);
    }
    assert_int_equal(layer, p.layer_count);
    for (int part = 0; part < PART_COUNT; part++)
        assert_true(priced_uses_part(&p, (enum transfer_part)part));
    for (int c = 0; c < p.cut_count; c++)
        for (int link = 0; link < p.group_count * p.group_count; link++) {
            p.cuts[c].forward_ns[link * PART_COUNT + PART_LINK] = 0;
            for (int o = 0; o < p.boundary_option_count; o++)
                p.cuts[c].backward_ns[o][link * PART_COUNT + PART_LINK] = 0;
        }
    assert_false(priced_uses_part(&p, PART_LINK));
    p.cuts[0].backward_ns[1][PART_LINK] = 1;
    assert_true(priced_uses_part(&p, PART_LINK));
    assert_true(priced_uses_epilogue(&p) && priced_uses_sync(&p) && priced_uses_optimizer(&p));
    for (int o = 0; o < p.boundary_option_count; o++) p.boundary_options[o].epilogue_only = false;
    for (int g = 0; g < p.group_count; g++) p.groups[g].excluded = "for this test";
    assert_false(priced_uses_epilogue(&p) || priced_uses_sync(&p) || priced_uses_optimizer(&p));
}

#define REFUSED(damage, where)                                                                     \
    do {                                                                                           \
        struct priced p;                                                                           \
        load_priced(&p);                                                                           \
        damage;                                                                                    \
        assert_int_equal(priced_check(&p, &own_err), BAD_INPUT);                                   \
        if (!strstr(own_err.text, where)) fail_msg("\"%s\" lacks %s", own_err.text, where);        \
        own_err = (struct error){OK, ""};                                                          \
    } while (0)

TEST(test_priced_promises)
{
    REFUSED(p.runs[0].forward_ns[0] = INT64_C(1) << 50, "2^52 ns"); // 8 micro-batches
    REFUSED(p.groups[0].sync_constant_ns[1] = INT64_C(1) << 52, "2^52 ns");
    REFUSED(p.cuts[0].backward_ns[1][0] = INT64_C(1) << 50, "2^52 ns");
    REFUSED(p.runs[1].weight_bytes = INT64_C(1) << 51, "2^52 bytes"); // 4 layers
    REFUSED(p.runs[1].stash_bytes[2] = INT64_C(1) << 49, "2^52 bytes");
    REFUSED(p.runs[1].forward_ns[0] = -1, "negative");
    REFUSED(p.runs[1].cut = p.cut_count, "runs[1].cut");
    REFUSED(p.cuts[0].forward_ns[PART_DELAY] = PRICE_NONE, "all parts");
    REFUSED(p.devices_per_stage = 5, "devices_per_stage");
    REFUSED(p.boundary_options[0].form.amount = 1, "boundary_options[0]");
    REFUSED(p.recompute[RECOMPUTE_NONE] = false, "recompute");
    REFUSED(p.rules[0].stage = 3, "rules[0].stage");
    REFUSED(p.rules[0].groups[0] = "nobody", "rules[0].groups[0]");
    REFUSED(p.layout.pipeline = 2, "stage_count");
    REFUSED(p.runs[0].weight_ns[0] = 1, "does not split it");
    REFUSED(p.runs[0].tensor = 2, "vocabulary_runs alone");
    REFUSED((p.vocabulary_runs = p.runs, p.vocabulary_run_count = 1), "vocabulary_runs: expected");
}

TEST(test_plan_numbers)
{
    struct plan p;
    expect_ok(plan_load(&p, "tests/documents/plan.json", &own_arena, &own_err));
    assert_int_equal(p.stage_count, 3);
    assert_int_equal(p.stages[1].recompute, RECOMPUTE_FIRST_LAYERS);
    assert_int_equal(p.stages[1].send_epilogue_ns[PART_DELAY], 7);
    assert_int_equal(memory_total(&p.stages[1].memory), 36008); // 1000 .. 8000, each with 1 added
    assert_true(plan_gap(&p) > 0.004098 && plan_gap(&p) < 0.004099); // 12345 / 3012345
    assert_true(p.graph.parts[PART_BLOCKING] && p.graph.parts[PART_LINK] &&
                p.graph.parts[PART_DELAY] && p.graph.parts[PART_OVERHEAD]);
    p.iteration_ns = 0;
    assert_true(plan_gap(&p) == 0);
}

// ---- imported configs

TEST(test_import)
{
    struct model m, shipped;
    load_written(FORMAT_CONFIG,
                 "{\"model_type\": \"gpt2\", \"n_embd\": 1600, \"n_layer\": 48, \"n_head\": 25, "
                 "\"n_positions\": 1024, \"vocab_size\": 50257, \"n_inner\": null,"
                 "\"_name_or_path\": \"gpt2-xl\"}",
                 &m);
    expect_ok(model_load(&shipped, "data/models/openai/gpt2-xl.json", &own_arena, &own_err));
    same_model(&m, &shipped);
    load_written(FORMAT_CONFIG,
                 "{\"model_type\": \"llama\", \"hidden_size\": 8192, \"num_hidden_layers\": 80, "
                 "\"num_attention_heads\": 64, \"num_key_value_heads\": 8,"
                 "\"intermediate_size\": 28672, \"vocab_size\": 128256, \"_name_or_path\": "
                 "\"x/llama-3.1-70b\", \"unknown\": [1], \"rms_norm_eps\": 1e-05, \"rope_theta\": "
                 "500000.0, \"rope_scaling\": {\"factor\": 8.0, \"rope_type\": \"llama3\", "
                 "\"low_freq_factor\": 1.0, \"high_freq_factor\": 4, "
                 "\"original_max_position_embeddings\": 8192}}",
                 &m);
    expect_ok(model_load(&shipped, "data/models/meta/llama-3.1-70b.json", &own_arena, &own_err));
    same_model(&m, &shipped);
    load_written(
        FORMAT_CONFIG,
        "{\"model_type\": \"mistral\", \"hidden_size\": 4096, \"num_hidden_layers\": 32, "
        "\"num_attention_heads\": 32, \"intermediate_size\": 14336, \"vocab_size\": 32000}",
        &m);
    assert_true(m.shape.kv_heads == 8 && m.shape.head_width == 128 && m.shape.gated_ffn &&
                !m.shape.tied_embeddings);
    load_written(FORMAT_CONFIG,
                 "{\"model_type\": \"mistral\", \"hidden_size\": 4096, \"num_hidden_layers\": 32, "
                 "\"num_attention_heads\": 32, \"intermediate_size\": 14336, \"vocab_size\": 32000,"
                 "\"num_key_value_heads\": null}",
                 &m);
    assert_int_equal(m.shape.kv_heads, 32);
    load_written(
        FORMAT_CONFIG,
        "{\"model_type\": \"qwen2\", \"hidden_size\": 896, \"num_hidden_layers\": 24, "
        "\"num_attention_heads\": 14, \"num_key_value_heads\": 2, \"intermediate_size\": 4864,"
        "\"vocab_size\": 151936, \"tie_word_embeddings\": true}",
        &m);
    assert_true(m.shape.qkv_bias && !m.shape.linear_bias && m.shape.tied_embeddings &&
                m.shape.rms_norm);
    load_written(
        FORMAT_CONFIG,
        "{\"model_type\": \"gpt_neox\", \"hidden_size\": 6144, \"num_hidden_layers\": 44, "
        "\"num_attention_heads\": 64, \"intermediate_size\": 24576, \"vocab_size\": 50432}",
        &m);
    assert_true(!m.shape.tied_embeddings && !m.shape.gated_ffn && m.shape.linear_bias &&
                m.shape.positions == 0 && !m.shape.dropout);
    load_written(FORMAT_CONFIG,
                 "{\"model_type\": \"opt\", \"hidden_size\": 768, \"num_hidden_layers\": 12, "
                 "\"num_attention_heads\": 12, \"ffn_dim\": 3072, \"vocab_size\": 50272,"
                 "\"max_position_embeddings\": 2048, \"word_embed_proj_dim\": 768}",
                 &m);
    assert_true(m.shape.tied_embeddings && m.shape.positions == 2050 && m.shape.dropout &&
                m.layer_count == 14);
}

AROUND_ALL(folder_open, folder_close)
