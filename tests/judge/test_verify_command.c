// plumbline verify on files: finds the inputs by the plan's made_from, and reports the result by
// exit code and verdict: 0 accepted, 20 rejected (also for a changed or missing input), bad input
// for a file that is not a plan.
#include <unistd.h>

#include "data/base/command.h"
#include "formulate/choices/choices.h"
#include "formulate/graph/longest.h"
#include "formulate/price/price.h"
#include "tests/support/problems.h"

#include "tests/support/check.h"

extern const struct command command_verify;

struct folder {
    struct arena arena;
    struct error err;
    char path[64];
    struct problem problem;
    struct plan plan;
};
static struct folder *opened;

#define MUST(call)                                                                                 \
    do {                                                                                           \
        if ((call) != OK) fail_msg("%s", f->err.text);                                             \
    } while (0)

static const char *inside(struct folder *f, const char *name)
{
    return arena_print(&f->arena, "%s/%s", f->path, name);
}

// Measured layers, one to a stage, all stages on one group: a problem with a plan that is known
// before it is solved.
static void make_problem(struct folder *f)
{
    struct random rng = {7};
    struct random_limits limits = random_limits_small();
    limits.flavour = FLAVOUR_UNLIKE;
    for (;;) {
        random_problem(&f->problem, &rng, &limits, &f->arena);
        const struct job *j = &f->problem.job;
        bool plain = j->layout.pipeline == f->problem.model.layer_count && j->layout.pipeline > 1 &&
                     f->problem.cluster.group_count == 1 && !j->rule_count;
        f->problem.cluster.groups[0].nodes = 16 * j->layout.data;
        f->problem.cluster.groups[0].memory_bytes = 1 << 30;
        if (plain && f->problem.cluster.groups[0].nic_count &&
            f->problem.costs.gpus[0].precision_count)
            return;
    }
}

static void save_documents(struct folder *f)
{
    MUST(model_save(&f->problem.model, inside(f, "model.json"), &f->arena, &f->err));
    MUST(cluster_save(&f->problem.cluster, inside(f, "cluster.json"), &f->arena, &f->err));
    MUST(costs_save(&f->problem.costs, inside(f, "costs.json"), &f->arena, &f->err));
    MUST(job_save(&f->problem.job, inside(f, "job.json"), &f->arena, &f->err));
    f->problem.model.document.path = inside(f, "model.json");
    f->problem.cluster.document.path = inside(f, "cluster.json");
    f->problem.costs.document.path = inside(f, "costs.json");
    f->problem.job.document.path = inside(f, "job.json");
    MUST(problem_save(&f->problem, inside(f, "problem.json"), &f->arena, &f->err));
    MUST(problem_load(&f->problem, inside(f, "problem.json"), &f->arena, &f->err));
}

static void save_plan(struct folder *f, const char *name)
{
    const struct problem *p = &f->problem;
    struct source *sources = TAKE(&f->arena, 5, struct source);
    const char *path = inside(f, name);
    sources[0] = source_of("problem", &p->document, path, &f->arena);
    sources[1] = source_of("model", &p->model.document, path, &f->arena);
    sources[2] = source_of("cluster", &p->cluster.document, path, &f->arena);
    sources[3] = source_of("costs", &p->costs.document, path, &f->arena);
    sources[4] = source_of("job", &p->job.document, path, &f->arena);
    f->plan.document.sources = sources;
    f->plan.document.source_count = 5;
    MUST(plan_save(&f->plan, path, &f->arena, &f->err));
}

static void make_plan(struct folder *f)
{
    struct priced priced;
    struct schedule schedule;
    struct choices choices;
    struct graph *graph;
    MUST(price_problem(&priced, &f->problem, &f->arena, &f->err));
    struct schedule_request request = schedule_request_of(&priced);
    MUST(schedule_build(&schedule, &request, &f->arena, &f->err));
    MUST(choices_build(&choices, &priced, &schedule, &f->arena, &f->err));
    MUST(graph_compile(&graph, &schedule, &f->arena, &f->err));
    int *chosen = TAKE(&f->arena, priced.stage_count, int);
    int64_t *durations =
        TAKE(&f->arena, symbol_count(priced.stage_count, priced.slice_count), int64_t);
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
    choices_to_plan(&f->plan, &choices, chosen, graph_longest(graph, durations, NULL), &f->arena);
    f->plan.bound_ns = f->plan.iteration_ns;
    f->plan.outcome = OUTCOME_OPTIMAL;
}

static int open_folder(void **state)
{
    (void)state;
    struct folder *f = calloc(1, sizeof *f);
    strcpy(f->path, "build/verify-XXXXXX");
    if (!f || !mkdtemp(f->path)) return -1;
    arena_open(&f->arena, NULL);
    make_problem(f);
    save_documents(f);
    make_plan(f);
    save_plan(f, "plan.json");
    opened = f;
    return 0;
}

static int close_folder(void **state)
{
    (void)state;
    struct folder *f = opened;
    static const char *const names[] = {"model.json",   "cluster.json", "costs.json",
                                        "job.json",     "problem.json", "plan.json",
                                        "verdict.json", "copy.json"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) unlink(inside(f, names[i]));
    int result = rmdir(f->path);
    arena_close(&f->arena);
    free(f);
    return result;
}

// The exit code, as the front door would give it.
static int verify(struct folder *f, const char *option, const char *value)
{
    const char *words[] = {"verify", inside(f, "plan.json"), option, value, NULL};
    char *arguments[5];
    int exit_code = 0, count = option ? 4 : 2;
    for (int i = 0; i < count; i++) arguments[i] = arena_copy_text(&f->arena, words[i]);
    arguments[count] = NULL;
    f->err = (struct error){OK, ""};
    enum status status =
        command_call(&command_verify, count, arguments, &exit_code, &f->arena, &f->err);
    return status == BAD_INPUT ? 2 : status == OK ? exit_code : 1;
}

static void append(struct folder *f, const char *name, const char *text)
{
    FILE *file = fopen(inside(f, name), "a");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static const char *verdict_text(struct folder *f)
{
    const char *text = "";
    size_t size;
    assert_int_equal(verify(f, "-o", inside(f, "verdict.json")), EXIT_REJECTED);
    MUST(file_read(inside(f, "verdict.json"), &text, &size, &f->arena, &f->err));
    return text;
}

TEST(test_accepted)
{
    struct folder *f = opened;
    assert_int_equal(verify(f, NULL, NULL), 0);
    assert_int_equal(verify(f, "--problem", inside(f, "problem.json")), 0);
}

TEST(test_rejected)
{
    struct folder *f = opened;
    f->plan.iteration_ns++;
    f->plan.bound_ns = f->plan.iteration_ns;
    save_plan(f, "plan.json");
    assert_non_null(strstr(verdict_text(f), "\"iteration\""));
}

TEST(test_changed_input)
{
    struct folder *f = opened;
    append(f, "costs.json", "\n");
    const char *text = verdict_text(f);
    assert_non_null(strstr(text, "\"hash\""));
    assert_non_null(strstr(text, "costs.json"));
    // Naming the problem does not make the costs the right ones.
    assert_int_equal(verify(f, "--problem", inside(f, "problem.json")), EXIT_REJECTED);
}

TEST(test_missing_input)
{
    struct folder *f = opened;
    unlink(inside(f, "model.json"));
    assert_int_equal(verify(f, "-o", inside(f, "verdict.json")), 2);
    assert_non_null(strstr(f->err.text, "model.json"));
}

TEST(test_no_plan)
{
    struct folder *f = opened;
    struct plan none = {.name = f->plan.name,
                        .outcome = OUTCOME_INFEASIBLE,
                        .reason = "memory",
                        .layout = f->plan.layout,
                        .micro_batches = f->plan.micro_batches,
                        .devices_per_stage = f->plan.devices_per_stage,
                        .boundary_options = f->plan.boundary_options,
                        .boundary_option_count = 1,
                        .gradient_options = f->plan.gradient_options,
                        .gradient_option_count = 1,
                        .group_names = f->plan.group_names,
                        .group_gpus = f->plan.group_gpus,
                        .group_count = f->plan.group_count};
    f->plan = none;
    save_plan(f, "plan.json");
    assert_int_equal(verify(f, NULL, NULL), EXIT_REJECTED);
}

TEST(test_bad_input)
{
    struct folder *f = opened;
    append(f, "plan.json", "}");
    assert_int_equal(verify(f, NULL, NULL), 2);
    unlink(inside(f, "plan.json"));
    assert_int_equal(verify(f, NULL, NULL), 2);
    assert_int_equal(verify(f, "--wrong", "word"), 2);
}

AROUND_EACH(open_folder, close_folder)
