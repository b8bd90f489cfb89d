// Reports: the text against a golden file, the replay against the solver's walk, the trace's structure, Megatron's flags.
// A golden file is renewed by running the test with PLUMBLINE_GOLDEN=write and reading the difference.
#include "data/plan.h"
#include "formulate/longest.h"
#include "solve/commands.h"
#include "solve/incumbent.h"
#include "solve/report.h"
#include "tests/support/random_priced.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *group_names[] = {"a100", "v100"};
static const char *group_gpus[] = {"A100-80", "V100-32"};
static struct priced_boundary_option boundary_options[] = {{0, false, 0}, {16, true, 3}};
static struct priced_gradient_option gradient_options[] = {{0, 0}, {32, 5}};
static struct source sources[] = {
    {"problem", "mixed.problem.json", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"},
    {"priced", "mixed.priced.json", "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"},
};

// A small plan with a bit of everything: two groups, recomputation, compression in the drain, blocking and pure delays.
static struct plan small_plan(struct arena *arena)
{
    struct plan_stage *stages = TAKE(arena, 4, struct plan_stage);
    const int layers[] = {4, 5, 2, 3};
    int first = 0;
    for (int s = 0; s < 4; s++) {
        stages[s] = (struct plan_stage){
            .first_layer = first,
            .layer_count = layers[s],
            .group = s == 2,
            .forward_ns = 9000000 + 700000 * s,
            .backward_ns = 19000000 - 900000 * s,
            .sync_ns = 14000000 + 1000000 * s,
            .optimizer_ns = 6000000,
            .memory = {4000000000 + 500000000 * (int64_t)layers[s], 2000000000, 9000000000,
                       (int64_t)(4 - s) * 3200000000, 800000000, 100000000, 0, 1500000000},
            .memory_limit_bytes = s == 2 ? 25600000000 : 64000000000,
        };
        if (s < 3) {
            stages[s].send_forward_ns[PART_BLOCKING] = stages[s].send_backward_ns[PART_BLOCKING] =
                stages[s].send_epilogue_ns[PART_BLOCKING] = 300000;
            stages[s].send_forward_ns[PART_DELAY] = stages[s].send_backward_ns[PART_DELAY] = 1200000;
            stages[s].send_epilogue_ns[PART_DELAY] = s == 1 ? 400000 : 1200000;
        }
        first += layers[s];
    }
    stages[0].recompute = RECOMPUTE_FULL;
    stages[1].recompute = RECOMPUTE_FIRST_LAYERS;
    stages[1].recomputed_layers = 2;
    stages[2].boundary_option = 1;
    stages[2].memory.feedback_bytes = 50000000;
    stages[3].gradient_option = 1;
    return (struct plan){
        .document = {.path = "small.plan.json",
                     .made_by = "plumbline " PLUMBLINE_VERSION,
                     .sources = sources,
                     .source_count = 2},
        .name = "small",
        .outcome = OUTCOME_OPTIMAL,
        .embedding_sync_ns = 2500000,
        .micro_batches = 6,
        .devices_per_stage = 8,
        .layout = {.tensor = 4,
                   .context = 1,
                   .data = 2,
                   .pipeline = 4,
                   .micro_batch = 1,
                   .schedule = SCHEDULE_1F1B,
                   .sequence_parallel = true,
                   .fused_attention = true,
                   .gradient_sync = SYNC_OVERLAPPED,
                   .zero = 1},
        .group_names = group_names,
        .group_gpus = group_gpus,
        .group_count = 2,
        .stages = stages,
        .stage_count = 4,
        .boundary_options = boundary_options,
        .boundary_option_count = 2,
        .gradient_options = gradient_options,
        .gradient_option_count = 2,
        .seed = 1,
        .effort = {12, 345, 67, 0.25},
    };
}

static void claim(struct plan *plan, struct arena *arena)
{
    struct report_replay r;
    struct error err = {OK, ""};
    assert_int_equal(report_replay(&r, plan, arena, &err), OK);
    plan->iteration_ns = plan->bound_ns = r.iteration_ns;
}

static void check_golden(const char *path, const char *text, size_t length, struct arena *arena)
{
    struct error err = {OK, ""};
    const char *expected;
    size_t size;
    const char *mode = getenv("PLUMBLINE_GOLDEN");
    if (mode && !strcmp(mode, "write")) assert_int_equal(file_write(path, text, length, &err), OK);
    assert_int_equal(file_read(path, &expected, &size, arena, &err), OK);
    if (size != length || memcmp(text, expected, size)) print_error("%s differs from:\n%s", path, text);
    assert_int_equal(size, length);
    assert_memory_equal(text, expected, size);
}

static void test_text_golden(void **state)
{
    (void)state;
    struct arena arena;
    struct error err = {OK, ""};
    const char *text;
    size_t length;
    arena_open(&arena, NULL);
    struct plan plan = small_plan(&arena);
    claim(&plan, &arena);
    assert_int_equal(report_text(&plan, &text, &length, &arena, &err), OK);
    assert_int_equal(strlen(text), length);
    check_golden("tests/golden/report_small.txt", text, length, &arena);
    for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) assert_true(end - line <= 100);
    // A claim that its own times do not bear out is said.
    assert_null(strstr(text, "WARNING"));
    plan.iteration_ns++;
    assert_int_equal(report_text(&plan, &text, &length, &arena, &err), OK);
    assert_non_null(strstr(text, "WARNING"));
    arena_close(&arena);
}

static void test_text_without_plan(void **state)
{
    (void)state;
    struct arena arena;
    struct error err = {OK, ""};
    const char *text;
    size_t length;
    struct plan plan = {
        .name = "tight", .outcome = OUTCOME_INFEASIBLE, .reason = "memory on every group even with full recomputation"};
    arena_open(&arena, NULL);
    assert_int_equal(report_text(&plan, &text, &length, &arena, &err), OK);
    assert_non_null(strstr(text, "tight: proven infeasible: memory on every group even with full recomputation\n"));
    assert_int_equal(report_trace(&plan, &text, &length, &arena, &err), BAD_INPUT);
    arena_close(&arena);
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static struct plan random_plan(uint64_t *seed, struct arena *arena)
{
    struct plan plan = small_plan(arena);
    plan.stage_count = 1 + (int)(next_random(seed) % 6);
    plan.micro_batches = 1 + (int)(next_random(seed) % 9);
    plan.layout.schedule = next_random(seed) % 2 ? SCHEDULE_GPIPE : SCHEDULE_1F1B;
    plan.stages = TAKE(arena, plan.stage_count, struct plan_stage);
    plan.embedding_sync_ns = plan.stage_count > 1 && next_random(seed) % 2 ? (int64_t)(next_random(seed) % 5000) : 0;
    bool parts[PART_COUNT];
    for (int part = 0; part < PART_COUNT; part++) parts[part] = next_random(seed) % 2;
    for (int s = 0; s < plan.stage_count; s++) {
        struct plan_stage *stage = &plan.stages[s];
        *stage = (struct plan_stage){.first_layer = s,
                                     .layer_count = 1,
                                     .forward_ns = (int64_t)(next_random(seed) % 3000),
                                     .backward_ns = (int64_t)(next_random(seed) % 3000),
                                     .sync_ns = (int64_t)(next_random(seed) % 900),
                                     .optimizer_ns = (int64_t)(next_random(seed) % 900),
                                     .memory.activation_bytes = 1000000,
                                     .memory_limit_bytes = 2000000};
        for (int part = 0; part < PART_COUNT && s < plan.stage_count - 1; part++) {
            stage->send_forward_ns[part] = parts[part] ? 1 + (int64_t)(next_random(seed) % 999) : 0;
            stage->send_backward_ns[part] = parts[part] ? 1 + (int64_t)(next_random(seed) % 999) : 0;
            stage->send_epilogue_ns[part] = parts[part] ? 1 + (int64_t)(next_random(seed) % 999) : 0;
        }
    }
    return plan;
}

// Two walks that share only the tables agree.
static void test_replay(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int round = 0; round < 300; round++) {
        struct arena arena;
        struct error err = {OK, ""};
        struct report_replay r;
        struct graph *g;
        arena_open(&arena, NULL);
        struct plan plan = random_plan(&seed, &arena);
        assert_int_equal(report_replay(&r, &plan, &arena, &err), OK);
        assert_int_equal(graph_compile(&g, &r.schedule, &arena, &err), OK);
        assert_int_equal(graph_longest(g, r.durations, NULL), r.iteration_ns);
        int64_t now = 0;
        for (int i = 0; i < r.path_length; i++) {
            assert_int_equal(r.start_ns[r.path[i]], now);
            now = r.end_ns[r.path[i]];
        }
        assert_int_equal(now, r.iteration_ns);
        arena_close(&arena);
    }
}

// Plans of random problems: what the report reads off a plan is the graph that made it, part for part.
static void test_random_plans(void **state)
{
    (void)state;
    uint64_t seed = 21;
    int found = 0;
    for (int round = 0; round < 250; round++) {
        struct arena arena;
        struct error err = {OK, ""};
        struct priced priced;
        struct schedule schedule;
        struct choices choices;
        struct graph *g;
        struct incumbent best = {.found = false};
        struct report_replay r;
        struct plan plan = {.name = "random"};
        const char *text;
        size_t length;
        arena_open(&arena, NULL);
        random_priced(&priced, &seed, &arena);
        priced_schedule(&schedule, &priced, &arena);
        assert_int_equal(choices_build(&choices, &priced, &schedule, &arena, &err), OK);
        assert_int_equal(graph_compile(&g, &schedule, &arena, &err), OK);
        if (choices_hopeless_stage(&choices, &text) < 0)
            incumbent_search(&best, &choices, g, seed, 50, NULL, NULL, &arena);
        if (best.found) {
            choices_to_plan(&plan, &choices, best.chosen, best.iteration_ns, &arena);
            assert_int_equal(report_replay(&r, &plan, &arena, &err), OK);
            assert_int_equal(r.iteration_ns, best.iteration_ns);
            assert_int_equal(report_text(&plan, &text, &length, &arena, &err), OK);
            assert_null(strstr(text, "WARNING"));
            assert_int_equal(report_trace(&plan, &text, &length, &arena, &err), OK);
            assert_int_equal(report_megatron(&plan, NULL, &text, &length, &arena, &err), OK);
            found++;
        }
        arena_close(&arena);
    }
    assert_true(found > 50);
}

// ---- the command, from a saved plan to files

static enum status run_report(const char *format, const char *from, const char *to, struct arena *arena,
                              struct error *err)
{
    char name[] = "report", option[] = "--format", output[] = "-o";
    char *argv[] = {
        name, option, arena_copy_text(arena, format), output, arena_copy_text(arena, to), arena_copy_text(arena, from),
        NULL};
    int exit_code = -1;
    *err = (struct error){OK, ""};
    enum status status = command_report(6, argv, &exit_code, arena, err);
    if (status == OK) assert_int_equal(exit_code, 0);
    return status;
}

static void test_command(void **state)
{
    (void)state;
    struct arena arena;
    struct error err = {OK, ""};
    char folder[] = "/tmp/plumbline_report_XXXXXX";
    const char *text, *expected;
    size_t length, size;
    arena_open(&arena, NULL);
    assert_non_null(mkdtemp(folder));
    const char *plan_path = arena_print(&arena, "%s/plan.json", folder), *to = arena_print(&arena, "%s/out", folder);
    struct plan plan = small_plan(&arena);
    claim(&plan, &arena);
    assert_int_equal(plan_save(&plan, plan_path, &arena, &err), OK);
    const char *const formats[] = {"text", "trace", "megatron"}, *const golden[] = {"tests/golden/report_small.txt",
                                                                                    NULL,
                                                                                    "tests/golden/megatron_small.txt"};
    for (int i = 0; i < 3; i++) {
        enum status status = run_report(formats[i], plan_path, to, &arena, &err);
        if (status != OK) print_error("%s\n", err.text);
        assert_int_equal(status, OK);
        assert_int_equal(file_read(to, &text, &length, &arena, &err), OK);
        if (!golden[i]) continue;
        assert_int_equal(file_read(golden[i], &expected, &size, &arena, &err), OK);
        assert_string_equal(text, expected);
    }
    assert_int_equal(remove(to), 0);
    assert_int_equal(run_report("text", to, plan_path, &arena, &err), BAD_INPUT);
    assert_non_null(strstr(err.text, to));
    assert_int_equal(run_report("text", plan_path, arena_print(&arena, "%s/no/such/folder", folder), &arena, &err),
                     BAD_INPUT);
    assert_int_equal(run_report("painting", plan_path, to, &arena, &err), BAD_INPUT);
    assert_int_equal(file_read(to, &text, &length, &arena, &err), BAD_INPUT);
    assert_int_equal(remove(plan_path), 0);
    assert_int_equal(remove(folder), 0);
    arena_close(&arena);
}

// ---- the trace, read back with the strict reader

struct slice { int pid, tid; double start, end; };

struct trace {
    struct slice *slices;
    int slice_count, arrow_starts, arrow_ends, delay_starts, delay_ends, counters, names;
    double most_gb;
};

static void read_event(struct trace *t, const struct json *event, struct arena *arena)
{
    const char *phase = "", *name, *category, *binding;
    struct json arguments;
    int pid = -1, tid = -1;
    int64_t id;
    double ts = -1, dur = -1, gb = 0;
    struct error err = {OK, ""};
    const struct json_field fields[] = {
        FIELD_TEXT("ph", REQUIRED, &phase),         FIELD_TEXT("name", REQUIRED, &name),
        FIELD_INT("pid", REQUIRED, &pid, 0, 1000),  FIELD_INT("tid", REQUIRED, &tid, 0, 10),
        FIELD_NUMBER("ts", OPTIONAL, &ts, 0, 1e15), FIELD_NUMBER("dur", OPTIONAL, &dur, 0, 1e15),
        FIELD_TEXT("cat", OPTIONAL, &category),     FIELD_OBJECT("args", OPTIONAL, &arguments),
        FIELD_COUNT("id", OPTIONAL, &id, 0, 1e9),   FIELD_TEXT("bp", OPTIONAL, &binding),
    };
    assert_int_equal(JSON_FIELDS(event, fields, arena, &err), OK);
    assert_int_equal(strlen(phase), 1);
    switch (phase[0]) {
    case 'X': t->slices[t->slice_count++] = (struct slice){pid, tid, ts, ts + dur}; break;
    case 's': t->arrow_starts++; break;
    case 'f': t->arrow_ends++; break;
    case 'b': t->delay_starts++; break;
    case 'e': t->delay_ends++; break;
    case 'M': t->names++; break;
    case 'C': {
        const struct json_field value[] = {FIELD_NUMBER("GB", REQUIRED, &gb, 0, 1e9)};
        assert_int_equal(JSON_FIELDS(&arguments, value, arena, &err), OK);
        if (gb > t->most_gb) t->most_gb = gb;
        t->counters++;
        break;
    }
    default: assert_string_equal(phase, "a known phase");
    }
}

static void read_trace(struct trace *t, const char *text, size_t length, struct arena *arena)
{
    struct json root, events, other;
    const char *unit;
    struct error err = {OK, ""};
    const struct json_field fields[] = {FIELD_ARRAY("traceEvents", REQUIRED, &events),
                                        FIELD_TEXT("displayTimeUnit", REQUIRED, &unit),
                                        FIELD_OBJECT("otherData", REQUIRED, &other)};
    assert_int_equal(json_parse(&root, "trace", text, length, arena, &err), OK);
    assert_int_equal(JSON_FIELDS(&root, fields, arena, &err), OK);
    int count = json_length(&events);
    *t = (struct trace){.slices = TAKE(arena, count, struct slice)};
    for (int i = 0; i < count; i++) {
        struct json event = json_element(&events, i, arena);
        read_event(t, &event, arena);
    }
}

static void check_trace(const struct plan *plan, struct arena *arena)
{
    struct error err = {OK, ""};
    const char *text;
    size_t length;
    struct trace t;
    double span = 0;
    assert_int_equal(report_trace(plan, &text, &length, arena, &err), OK);
    read_trace(&t, text, length, arena);
    for (int i = 0; i < t.slice_count; i++) {
        const struct slice *a = &t.slices[i];
        if (a->end > span) span = a->end;
        assert_true(a->pid < plan->stage_count);
        for (int j = 0; j < i; j++) {
            const struct slice *b = &t.slices[j];
            if (a->pid == b->pid && a->tid == b->tid)
                assert_true(a->start >= b->end - 1e-6 || b->start >= a->end - 1e-6);
        }
    }
    assert_true(fabs(span - (double)plan->iteration_ns / 1000) < 1e-6);
    int messages = 2 * (plan->stage_count - 1) * plan->micro_batches;
    assert_int_equal(t.arrow_starts, messages);
    assert_int_equal(t.arrow_ends, messages);
    assert_int_equal(t.delay_starts, t.delay_ends);
    assert_int_equal(t.counters, 2 * plan->stage_count * plan->micro_batches);
    assert_int_equal(t.names, 10 * plan->stage_count);
    double most = 0;
    for (int s = 0; s < plan->stage_count; s++)
        most = fmax(most, (double)plan->stages[s].memory.activation_bytes / 1e9);
    assert_true(fabs(t.most_gb - most) < 1e-9);
}

static void test_trace(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int round = 0; round < 40; round++) {
        struct arena arena;
        arena_open(&arena, NULL);
        struct plan plan = round ? random_plan(&seed, &arena) : small_plan(&arena);
        claim(&plan, &arena);
        check_trace(&plan, &arena);
        arena_close(&arena);
    }
}

// ---- Megatron

static const char *megatron(const struct plan *plan, const struct problem *problem, struct arena *arena)
{
    struct error err = {OK, ""};
    const char *text;
    size_t length;
    assert_int_equal(report_megatron(plan, problem, &text, &length, arena, &err), OK);
    assert_int_equal(strlen(text), length);
    return text;
}

static void test_megatron_alone(void **state)
{
    (void)state;
    struct arena arena;
    size_t length;
    arena_open(&arena, NULL);
    struct plan plan = small_plan(&arena);
    claim(&plan, &arena);
    const char *text = megatron(&plan, NULL, &arena);
    length = strlen(text);
    check_golden("tests/golden/megatron_small.txt", text, length, &arena);
    assert_non_null(strstr(text, "  --pipeline-model-parallel-layout 'Et*3|t*5|t*2|t*2L'\n"));
    assert_null(strstr(text, "  --recompute"));
    // Uniform recomputation is a flag: everywhere all layers, then everywhere the first two at most.
    for (int s = 0; s < 4; s++) plan.stages[s].recompute = RECOMPUTE_FULL;
    assert_non_null(
        strstr(megatron(&plan, NULL, &arena),
               "  --recompute-granularity full\n  --recompute-method uniform\n  --recompute-num-layers 1\n"));
    for (int s = 0; s < 4; s++) plan.stages[s].recompute = RECOMPUTE_FIRST_LAYERS, plan.stages[s].recomputed_layers = 2;
    assert_non_null(strstr(megatron(&plan, NULL, &arena),
                           "  --recompute-granularity full\n  --recompute-method block\n  --recompute-num-layers 2\n"));
    for (int s = 0; s < 4; s++) plan.stages[s].recompute = RECOMPUTE_SELECTIVE;
    assert_non_null(strstr(megatron(&plan, NULL, &arena), "  --recompute-granularity selective\n"));
    arena_close(&arena);
}

static void test_megatron_with_model(void **state)
{
    (void)state;
    struct arena arena;
    arena_open(&arena, NULL);
    struct plan plan = small_plan(&arena);
    claim(&plan, &arena);
    struct layer_run runs[] = {{.name = "embedding", .kind = LAYER_EMBEDDING, .count = 1},
                               {.name = "block", .kind = LAYER_BLOCK, .count = 12, .recomputable = true},
                               {.name = "head", .kind = LAYER_HEAD, .count = 1}};
    struct problem problem = {
        .model = {.name = "m",
                  .has_shape = true,
                  .shape = {.hidden = 1024,
                            .ffn = 2816,
                            .heads = 16,
                            .kv_heads = 4,
                            .head_width = 64,
                            .vocabulary = 32000,
                            .gated_ffn = true,
                            .rms_norm = true},
                  .runs = runs,
                  .run_count = 3,
                  .layer_count = 14},
        .job = {.sequence = 2048, .precision = BF16, .gradient_bytes_per_value = 4},
    };
    const char *text = megatron(&plan, &problem, &arena);
    const char *const expected[] = {"--num-layers 12\n",
                                    "--hidden-size 1024\n",
                                    "--ffn-hidden-size 2816\n",
                                    "--num-query-groups 4\n",
                                    "--seq-length 2048\n",
                                    "--bf16\n",
                                    "--swiglu\n",
                                    "--untie-embeddings-and-output-weights\n",
                                    "--global-batch-size 12\n",
                                    "'Et*3|t*5|t*2|t*2L'"};
    for (size_t i = 0; i < ARRAY_LENGTH(expected); i++) assert_non_null(strstr(text, expected[i]));
    assert_null(strstr(text, "--kv-channels"));
    assert_null(strstr(text, "assumed"));
    arena_close(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_golden),    cmocka_unit_test(test_text_without_plan),
        cmocka_unit_test(test_replay),         cmocka_unit_test(test_trace),
        cmocka_unit_test(test_random_plans),   cmocka_unit_test(test_command),
        cmocka_unit_test(test_megatron_alone), cmocka_unit_test(test_megatron_with_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
