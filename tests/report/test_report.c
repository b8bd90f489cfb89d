// Reports: text and flags against golden files, the replay against the solver's walk, the command
// from plan to file. To update a golden file, run the test with PLUMBLINE_GOLDEN=write and read the
// difference.
#include "data/kinds/schedules.h"
#include "data/results/plan.h"
#include "formulate/graph/longest.h"
#include "solve/commands/commands.h"
#include "solve/incumbent/incumbent.h"
#include "solve/report/export/export.h"
#include "solve/report/report.h"
#include "tests/support/oracle/plans.h"
#include "tests/support/random_priced.h"
#include "tests/support/check.h"

static void check_golden(const char *path, const char *text, size_t length, struct arena *arena)
{
    struct error err = {OK, ""};
    const char *expected;
    size_t size;
    const char *mode = getenv("PLUMBLINE_GOLDEN");
    if (mode && !strcmp(mode, "write")) CHECK_OK(file_write(path, text, length, &err));
    CHECK_OK(file_read(path, &expected, &size, arena, &err));
    if (size != length || memcmp(text, expected, size))
        print_error("%s differs from:\n%s", path, text);
    assert_int_equal(size, length);
    assert_memory_equal(text, expected, size);
}

TEST(test_text_golden)
{
    struct text out;
    text_begin(&out, arena);
    struct plan plan = small_plan(arena);
    claim_replay(&plan, arena);
    CHECK_OK(report_text(&out, &plan, NULL, NULL, 0, &err));
    assert_int_equal(strlen(out.text), out.length);
    check_golden("tests/golden/report_small.txt", out.text, out.length, arena);
    for (const char *line = out.text, *end; (end = strchr(line, '\n')); line = end + 1)
        assert_true(end - line <= 100);
    // A claim that its own times do not bear out is said.
    assert_null(strstr(out.text, "WARNING"));
    plan.iteration_ns++;
    CHECK_OK(report_text(&out, &plan, NULL, NULL, 0, &err));
    assert_non_null(strstr(out.text, "WARNING"));
}

TEST(test_text_without_plan)
{
    struct text out;
    text_begin(&out, arena);
    struct plan plan = {.name = "tight",
                        .outcome = OUTCOME_INFEASIBLE,
                        .reason = "memory on every group even with full recomputation"};
    CHECK_OK(report_text(&out, &plan, NULL, NULL, 0, &err));
    assert_non_null(
        strstr(out.text, "tight: infeasible (stated by solve, not audited): memory on every group "
                         "even with full recomputation\n"));
    assert_int_equal(report_trace(&out, &plan, NULL, &err), BAD_INPUT);
}

// Two walks that share only the tables agree.
TEST(test_replay)
{
    uint64_t seed = 3;
    struct arena_mark mark = arena_set_mark(arena);
    for (int round = 0; round < 300; round++, arena_reset(arena, mark)) {
        struct report_replay r;
        struct graph *g;
        struct plan plan = round % 2 ? wound_plan(&seed, arena) : random_plan(&seed, arena);
        CHECK_OK(report_replay(&r, &plan, arena, &err));
        CHECK_OK(graph_compile(&g, &r.schedule, arena, &err));
        assert_int_equal(graph_longest(g, r.durations, NULL), r.iteration_ns);
        int64_t now = plan.layout.barrier ? 0 : r.start_ns[r.path[0]];
        for (int i = 0; i < r.path_length; i++) {
            assert_int_equal(r.start_ns[r.path[i]], now);
            now = r.end_ns[r.path[i]];
        }
        assert_int_equal(now, r.span_ns);
    }
}

TEST(test_huge_times)
{
    struct report_replay r;
    struct plan plan = small_plan(arena);
    plan.stages[0].slices->forward_ns = plan.stages[1].slices->backward_ns = INT64_MAX / 4;
    assert_int_equal(report_replay(&r, &plan, arena, &err), BAD_INPUT);
}

// At the size of the largest benchmark, all parts at once.
TEST(test_replay_large)
{
    struct report_replay r;
    struct graph *g;
    uint64_t seed = 9;
    struct plan plan = random_plan(&seed, arena);
    plan.layout.schedule = SCHEDULE_1F1B;
    plan.stage_count = plan.layout.pipeline = 32;
    plan.micro_batches = 256;
    plan.graph = (struct plan_graph){{true, true, true}, true, false, false, false};
    plan.stages = TAKE(arena, 32, struct plan_stage);
    for (int s = 0; s < 32; s++) {
        struct plan_slice *slice = plan.stages[s].slices = TAKE(arena, 1, struct plan_slice);
        slice->forward_ns = 900000 + 7919 * s % 100000;
        slice->backward_ns = 1900000 - 104729 * s % 90000;
        for (int part = 0; part < PART_COUNT && s < 31; part++)
            slice->send_forward_ns[part] = slice->send_backward_ns[part] =
                plan.stages[s].send_epilogue_ns[part] = 1000 * (s + part) + 10;
    }
    CHECK_OK(report_replay(&r, &plan, arena, &err));
    CHECK_OK(graph_compile(&g, &r.schedule, arena, &err));
    assert_int_equal(graph_longest(g, r.durations, NULL), r.iteration_ns);
}

// Plans of random problems: what the report reads off a plan is the graph that made it, part for
// part.
TEST(test_random_plans)
{
    uint64_t seed = 21;
    int found = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int round = 0; round < 250; round++, arena_reset(arena, mark)) {
        struct priced priced;
        struct schedule schedule;
        struct choices choices;
        struct graph *g;
        struct incumbent best = {.found = false};
        struct report_replay r;
        struct plan plan = {.name = "random"};
        const char *why;
        struct text out;
        text_begin(&out, arena);
        random_priced(&priced, &seed, arena);
        priced_schedule(&schedule, &priced, arena);
        CHECK_OK(choices_build(&choices, &priced, &schedule, arena, &err));
        CHECK_OK(graph_compile(&g, &schedule, arena, &err));
        if (choices_hopeless_stage(&choices, &why) < 0)
            incumbent_search(&best, &choices, g, seed, 50, NULL, NULL, arena);
        if (best.found) {
            choices_to_plan(&plan, &choices, best.chosen, best.iteration_ns, arena);
            CHECK_OK(report_replay(&r, &plan, arena, &err));
            assert_int_equal(r.iteration_ns, best.iteration_ns);
            CHECK_OK(report_text(&out, &plan, NULL, NULL, 0, &err));
            assert_null(strstr(out.text, "WARNING"));
            CHECK_OK(report_trace(&out, &plan, NULL, &err));
            for (int s = 0; s < plan.stage_count; s++) // other settings are refused
                plan.stages[s].recompute = RECOMPUTE_NONE, plan.stages[s].recomputed_layers = 0;
            CHECK_OK(report_megatron(&out, &plan, NULL, &err));
            found++;
        }
    }
    assert_true(found > 50);
}

// ---- the command, from a saved plan to files

static enum status run_report(const char *format, const char *from, const char *to,
                              struct arena *arena, struct error *err)
{
    char name[] = "report", option[] = "--format", output[] = "-o";
    char *argv[] = {name,
                    option,
                    arena_copy_text(arena, format),
                    output,
                    arena_copy_text(arena, to),
                    arena_copy_text(arena, from),
                    NULL};
    int exit_code = -1;
    *err = (struct error){OK, ""};
    enum status status = command_call(&command_report, 6, argv, &exit_code, arena, err);
    if (status == OK) assert_int_equal(exit_code, 0);
    return status;
}

TEST(test_command)
{
    char folder[] = "/tmp/plumbline_report_XXXXXX";
    const char *text, *expected;
    size_t length, size;
    assert_non_null(mkdtemp(folder));
    const char *plan_path = arena_print(arena, "%s/plan.json", folder),
               *to = arena_print(arena, "%s/out", folder);
    struct plan plan = small_plan(arena);
    claim_replay(&plan, arena);
    CHECK_OK(plan_save(&plan, plan_path, arena, &err));
    const char *const formats[] = {"text", "trace", "megatron"},
                      *const golden[] = {"tests/golden/report_small.txt", NULL,
                                         "tests/golden/megatron_small.txt"};
    for (int i = 0; i < 3; i++) {
        enum status status = run_report(formats[i], plan_path, to, arena, &err);
        if (status != OK) print_error("%s\n", err.text);
        assert_int_equal(status, OK);
        CHECK_OK(file_read(to, &text, &length, arena, &err));
        if (!golden[i]) continue;
        CHECK_OK(file_read(golden[i], &expected, &size, arena, &err));
        assert_string_equal(text, expected);
    }
    assert_int_equal(remove(to), 0);
    CHECK_REFUSED(run_report("text", to, plan_path, arena, &err), to);
    assert_int_equal(
        run_report("text", plan_path, arena_print(arena, "%s/no/such/folder", folder), arena, &err),
        BAD_INPUT);
    assert_int_equal(run_report("painting", plan_path, to, arena, &err), BAD_INPUT);
    assert_int_equal(file_read(to, &text, &length, arena, &err), BAD_INPUT);
    assert_int_equal(remove(plan_path), 0);
    assert_int_equal(remove(folder), 0);
}

// ---- Megatron

static const char *megatron(const struct plan *plan, const struct problem *problem,
                            struct arena *arena)
{
    struct text out;
    text_begin(&out, arena);
    MUST(report_megatron(&out, plan, problem, &own_err));
    assert_int_equal(strlen(out.text), out.length);
    return out.text;
}

TEST(test_megatron_alone)
{
    size_t length;
    struct plan plan = small_plan(arena);
    claim_replay(&plan, arena);
    const char *text = megatron(&plan, NULL, arena);
    length = strlen(text);
    check_golden("tests/golden/megatron_small.txt", text, length, arena);
    assert_non_null(strstr(text, "  --pipeline-model-parallel-layout 'Et*3|t*5|t*2|t*2L'\n"));
    assert_null(strstr(text, "  --recompute"));
    // Uniform recomputation is a flag: everywhere all layers, then everywhere the first two at
    // most.
    for (int s = 0; s < 4; s++) plan.stages[s].recompute = RECOMPUTE_FULL;
    assert_non_null(strstr(megatron(&plan, NULL, arena),
                           "  --recompute-granularity full\n  --recompute-method uniform\n  "
                           "--recompute-num-layers 1\n"));
    for (int s = 0; s < 4; s++)
        plan.stages[s].recompute = RECOMPUTE_FIRST_LAYERS, plan.stages[s].recomputed_layers = 2;
    assert_non_null(strstr(megatron(&plan, NULL, arena),
                           "  --recompute-granularity full\n  --recompute-method block\n  "
                           "--recompute-num-layers 2\n"));
    for (int s = 0; s < 4; s++) plan.stages[s].recompute = RECOMPUTE_SELECTIVE;
    assert_non_null(strstr(megatron(&plan, NULL, arena), "  --recompute-granularity selective\n"));
}

TEST(test_megatron_with_model)
{
    struct plan plan = small_plan(arena);
    claim_replay(&plan, arena);
    struct layer_run runs[] = {
        {.name = "embedding", .kind = LAYER_EMBEDDING, .count = 1},
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
    const char *text = megatron(&plan, &problem, arena);
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
    assert_non_null(strstr(text, "--make-vocab-size-divisible-by 8000\n"));
    assert_non_null(strstr(text, "--accumulate-allreduce-grads-in-fp32\n"));
    assert_non_null(strstr(text, "--optimizer sgd\n"));
    // Further requests of the job: each has its flag, or a line saying that there is no flag for
    // it.
    problem.job = (struct job){.sequence = 2048,
                               .precision = FP8,
                               .gradient_bytes_per_value = 2,
                               .adam = true,
                               .fused_loss = true,
                               .gathered_logits = true,
                               .trainer = TRAINER_DEEPSPEED};
    problem.model.shape.vocabulary = 32001;
    plan.layout.fused_attention = false;
    text = megatron(&plan, &problem, arena);
    const char *const asked[] = {"--bf16\n",
                                 "--fp8-format hybrid\n",
                                 "--grad-reduce-in-bf16\n",
                                 "--cross-entropy-loss-fusion\n",
                                 "--attention-backend unfused\n",
                                 "- the trainer deepspeed",
                                 "- logits of the whole vocabulary",
                                 "--make-vocab-size-divisible-by 8001\n"};
    for (size_t i = 0; i < ARRAY_LENGTH(asked); i++) assert_non_null(strstr(text, asked[i]));
    assert_null(strstr(text, "accumulate-allreduce"));
    assert_null(strstr(text, "sgd"));
}
