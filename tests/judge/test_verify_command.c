// plumbline verify on files: finds the inputs by the plan's made_from, and reports the result by
// exit code and verdict: 0 accepted, 20 rejected (also for a changed or missing input), bad input
// for a file that is not a plan.
#include <unistd.h>

#include "data/base/command.h"
#include "formulate/choices/choices.h"
#include "formulate/graph/longest.h"
#include "formulate/example/example.h"
#include "formulate/price/price.h"
#include "tests/support/folder.h"
#include "tests/support/problems.h"
#include "tests/support/check.h"

extern const struct command command_verify;

static struct problem problem;
static struct plan plan;

// Measured layers, one to a stage, all stages on one group: a problem with a plan that is known
// before it is solved.
static void make_problem(void)
{
    struct random rng = {7};
    struct random_limits limits = random_limits_small();
    limits.flavour = FLAVOUR_UNLIKE;
    for (;;) {
        random_problem(&problem, &rng, &limits, &own_arena);
        const struct job *j = &problem.job;
        bool plain = j->layout.pipeline == problem.model.layer_count && j->layout.pipeline > 1 &&
                     problem.cluster.group_count == 1 && !j->rule_count;
        problem.cluster.groups[0].nodes = 16 * j->layout.data;
        problem.cluster.groups[0].memory_bytes = 1 << 30;
        if (plain && problem.cluster.groups[0].nic_count && problem.costs.gpus[0].precision_count)
            return;
    }
}

static void save_documents(void)
{
    MUST(example_write(&problem, own_folder, true, &own_arena, &own_err));
    MUST(problem_load(&problem, own_path("problem.json"), &own_arena, &own_err));
}

static void save_plan(const char *name)
{
    const struct problem *p = &problem;
    struct source *sources = TAKE(&own_arena, 5, struct source);
    const char *path = own_path(name);
    sources[0] = source_of("problem", &p->document, path, &own_arena);
    sources[1] = source_of("model", &p->model.document, path, &own_arena);
    sources[2] = source_of("cluster", &p->cluster.document, path, &own_arena);
    sources[3] = source_of("costs", &p->costs.document, path, &own_arena);
    sources[4] = source_of("job", &p->job.document, path, &own_arena);
    plan.document.sources = sources;
    plan.document.source_count = 5;
    MUST(plan_save(&plan, path, &own_arena, &own_err));
}

static void make_plan(void)
{
    struct priced priced;
    struct schedule schedule;
    struct choices choices;
    struct graph *graph;
    MUST(price_problem(&priced, &problem, &own_arena, &own_err));
    MUST(schedule_build_priced(&schedule, &priced, &own_arena, &own_err));
    MUST(choices_build(&choices, &priced, &schedule, &own_arena, &own_err));
    MUST(graph_compile(&graph, &schedule, &own_arena, &own_err));
    int *chosen = TAKE(&own_arena, priced.stage_count, int);
    int64_t *durations =
        TAKE(&own_arena, symbol_count(priced.stage_count, priced.slice_count), int64_t);
    for (int s = 0; s < priced.stage_count; s++) {
        // The plain choice: one layer, nothing compressed.
        for (chosen[s] = 0; chosen[s] < choices.stages[s].count; chosen[s]++) {
            const struct choice *x = &choices.stages[s].items[chosen[s]];
            if (x->layer_count == 1 && (x->first_layer < 0 || x->first_layer == s) &&
                !x->gradient_option && !x->boundary_option)
                break;
        }
        assert_true(chosen[s] < choices.stages[s].count);
    }
    assert_true(choices_fit_together(&choices, chosen) &&
                choices_durations(&choices, chosen, durations));
    choices_to_plan(&plan, &choices, chosen, graph_longest(graph, durations, NULL), &own_arena);
    plan.bound_ns = plan.iteration_ns;
    plan.outcome = OUTCOME_OPTIMAL;
}

static int open_documents(void **state)
{
    if (folder_open(state)) return 1;
    make_problem();
    save_documents();
    make_plan();
    save_plan("plan.json");
    return 0;
}

// The exit code, as the front door would give it.
static int verify(const char *option, const char *value)
{
    const char *words[] = {"verify", own_path("plan.json"), option, value, NULL};
    char *arguments[5];
    int exit_code = 0, count = option ? 4 : 2;
    for (int i = 0; i < count; i++) arguments[i] = arena_copy_text(&own_arena, words[i]);
    arguments[count] = NULL;
    own_err = (struct error){OK, ""};
    enum status status =
        command_call(&command_verify, count, arguments, &exit_code, &own_arena, &own_err);
    return status == BAD_INPUT ? 2 : status == OK ? exit_code : 1;
}

static void append(const char *name, const char *text)
{
    FILE *file = fopen(own_path(name), "a");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static const char *verdict_text(void)
{
    const char *text = "";
    size_t size;
    assert_int_equal(verify("-o", own_path("verdict.json")), EXIT_REJECTED);
    MUST(file_read(own_path("verdict.json"), &text, &size, &own_arena, &own_err));
    return text;
}

TEST(test_accepted)
{
    assert_int_equal(verify(NULL, NULL), 0);
    assert_int_equal(verify("--problem", own_path("problem.json")), 0);
}

TEST(test_rejected)
{
    plan.iteration_ns++;
    plan.bound_ns = plan.iteration_ns;
    save_plan("plan.json");
    assert_non_null(strstr(verdict_text(), "\"iteration\""));
}

TEST(test_changed_input)
{
    append("costs.json", "\n");
    const char *text = verdict_text();
    assert_non_null(strstr(text, "\"hash\""));
    assert_non_null(strstr(text, "costs.json"));
    // Naming the problem does not make the costs the right ones.
    assert_int_equal(verify("--problem", own_path("problem.json")), EXIT_REJECTED);
}

TEST(test_missing_input)
{
    unlink(own_path("model.json"));
    assert_int_equal(verify("-o", own_path("verdict.json")), 2);
    assert_non_null(strstr(own_err.text, "model.json"));
}

TEST(test_no_plan)
{
    struct plan none = {.name = plan.name,
                        .outcome = OUTCOME_INFEASIBLE,
                        .reason = "memory",
                        .layout = plan.layout,
                        .micro_batches = plan.micro_batches,
                        .devices_per_stage = plan.devices_per_stage,
                        .boundary_options = plan.boundary_options,
                        .boundary_option_count = 1,
                        .gradient_options = plan.gradient_options,
                        .gradient_option_count = 1,
                        .group_names = plan.group_names,
                        .group_gpus = plan.group_gpus,
                        .group_count = plan.group_count};
    plan = none;
    save_plan("plan.json");
    assert_int_equal(verify(NULL, NULL), EXIT_REJECTED);
}

TEST(test_bad_input)
{
    append("plan.json", "}");
    assert_int_equal(verify(NULL, NULL), 2);
    unlink(own_path("plan.json"));
    assert_int_equal(verify(NULL, NULL), 2);
    assert_int_equal(verify("--wrong", "word"), 2);
}

AROUND_EACH(open_documents, folder_close)
