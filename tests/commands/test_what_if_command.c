// What if, as a command: its output, the documents that it writes, audited by the judge, and what
// it refuses.
#include <fcntl.h>
#include <unistd.h>

#include "data/base/file.h"
#include "formulate/example/example.h"
#include "formulate/price/price.h"
#include "solve/commands/commands.h"
#include "tests/support/folder.h"
#include "tests/support/placed.h"
#include "tests/support/check.h"

struct told {
    int exit_code;
    char text[4000];
    struct error err;
};

// Runs `solve` with these words, "" between; its standard output goes to told->text.
static enum status run_solve(struct told *told, const char *folder, const char *const *words,
                             int count, struct arena *arena)
{
    char *argv[16] = {"solve"};
    const char *out = arena_print(arena, "%s/out", folder);
    for (int i = 0; i < count; i++) argv[i + 1] = arena_copy_text(arena, words[i]);
    *told = (struct told){0};
    fflush(stdout);
    int kept = dup(1), log = dup(2), file = open(out, O_CREAT | O_TRUNC | O_WRONLY, 0600),
        nothing = open("/dev/null", O_WRONLY);
    assert_true(kept >= 0 && log >= 0 && file >= 0 && nothing >= 0);
    dup2(file, 1);
    dup2(nothing, 2);
    enum status status =
        command_call(&command_solve, count + 1, argv, &told->exit_code, arena, &told->err);
    fflush(stdout);
    dup2(kept, 1);
    dup2(log, 2);
    close(kept), close(log), close(file), close(nothing);
    FILE *f = fopen(out, "r");
    assert_non_null(f);
    told->text[fread(told->text, 1, sizeof told->text - 1, f)] = '\0';
    fclose(f);
    remove(out);
    return status;
}
#define RUN(told, ...)                                                                             \
    run_solve(told, own_folder, (const char *const[]){__VA_ARGS__},                                \
              (int)ARRAY_LENGTH(((const char *const[]){__VA_ARGS__})), arena)

static const char *problem_path, *plan_path, *used, *other,
    *spare; // of the problem written by write_problem; names of nodes

// A problem with several replicas and a spare node, as five files, with its plan.
static int write_problem(struct arena *arena)
{
    struct problem problem;
    struct priced priced;
    struct solve_result result;
    struct told told;
    struct error err = {OK, ""};
    for (uint64_t seed = 1; !plan_path; seed++) {
        struct random rng = {seed};
        placed_problem_random(&problem, &rng, arena);
        const struct layout *l = &problem.job.layout;
        if (l->data < 2 || l->data * l->pipeline >= NODES ||
            problem.cluster.groups[0].gpus_per_node > l->tensor * l->context)
            continue;
        if (price_problem(&priced, &problem, arena, &err) != OK ||
            !placed_solve_from(&result, &priced, NULL, false, arena))
            continue;
        if (example_write(&problem, own_folder, true, arena, &err) != OK) return 1;
        problem_path = problem.document.path;
        plan_path = own_path("plan.json");
        if (RUN(&told, problem_path, "-o", plan_path, "--quiet") != OK || told.exit_code) return 1;
    }
    struct plan plan;
    if (plan_load(&plan, plan_path, arena, &err) != OK) return 1;
    used = plan.placement->nodes[0];
    other = plan.placement->nodes[1];
    for (int i = 0; i < problem.cluster.places.node_count; i++)
        if (!placed_stands_on(plan.placement, problem.cluster.places.nodes[i].name))
            spare = problem.cluster.places.nodes[i].name;
    return !spare;
}

static struct arena kept;

static int open_commands(void **state)
{
    arena_open(&kept, NULL);
    return folder_open(state) || write_problem(&kept);
}

static int close_commands(void **state)
{
    arena_close(&kept);
    return folder_close(state);
}

static void audit_written(const char *plan_name, const char *problem_name, struct arena *arena)
{
    struct plan plan;
    struct problem problem;
    if (plan_load(&plan, own_path(plan_name), arena, &own_err) != OK ||
        problem_load(&problem, own_path(problem_name), arena, &own_err) != OK)
        fail_msg("%s", own_err.text);
    assert_true(plan.stage_count > 0);
    assert_accepted(&plan, &problem, arena);
}

static void assert_says(const struct told *t, const char *text)
{
    if (!strstr(t->text, text)) fail_msg("expected '%s' in:\n%s", text, t->text);
}

TEST(test_command)
{
    struct told t, again;
    const char *without = own_path("w.json");
    assert_int_equal(RUN(&t, problem_path, "--start", plan_path, "--without", used, "-o", without),
                     OK);
    assert_says(&t, arena_print(arena, "without %s\n  earlier plan ", used));
    assert_says(&t,
                arena_print(arena, "no longer possible: %s is gone\n  only what must move ", used));
    assert_says(&t, arena_print(arena, "    replica 0 rank 0: %s -> ", used));
    assert_says(&t, "\n  new plan ");
    audit_written("w.json", "w.problem.json", arena);
    // The same again is harmless, another change is refused, and no file is left or changed.
    assert_int_equal(
        RUN(&again, problem_path, "--start", plan_path, "--without", used, "-o", without), OK);
    assert_string_equal(again.text, t.text);
    assert_int_equal(RUN(&t, problem_path, "--without", other, "-o", without), BAD_INPUT);
    assert_non_null(strstr(t.err.text, "w.cluster.json: exists with other content"));
    assert_int_not_equal(access(own_path("w.cluster.json.draft"), F_OK), 0);
    audit_written("w.json", "w.problem.json", arena);
    // From there on to the next question; made from the earlier documents.
    const char *degrade = arena_print(arena, "%s=0.5", spare);
    assert_int_equal(RUN(&t, own_path("w.problem.json"), "--start", without, "--degrade", degrade,
                         "-o", own_path("d.json")),
                     OK);
    assert_says(&t, arena_print(arena, "%s x 0.5\n", spare));
    audit_written("d.json", "d.problem.json", arena);
    struct cluster c;
    struct problem p;
    CHECK_OK(problem_load(&p, own_path("d.problem.json"), arena, &err));
    CHECK_OK(cluster_load(&c, own_path("w.cluster.json"), arena, &err));
    assert_string_equal(p.cluster.document.sources[0].sha256, c.document.sha256);
    assert_int_equal(p.cluster.places.node_count, NODES - 1);
}

// The loss of a spare node has no effect: no rank moves, and no time is lost.
TEST(test_spare)
{
    struct told t;
    const char *factor = arena_print(arena, "%s=0.5", spare);
    const char *const options[][2] = {{"--without", spare}, {"--degrade", factor}};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(RUN(&t, problem_path, "--start", plan_path, options[i][0], options[i][1]),
                         OK);
        assert_int_equal(t.exit_code, 0);
        assert_says(&t, "+0.000 %\n  new plan ");
        assert_says(&t, "\n  0 of ");
        assert_says(&t, "layers as before\n  options as before\n");
    }
    assert_int_not_equal(access("-.cluster.json", F_OK), 0);
}

// Too few nodes are left.
TEST(test_no_room)
{
    struct told t;
    const char *words[12] = {problem_path, "-o", own_path("none.json")};
    struct problem p;
    struct plan plan;
    CHECK_OK(problem_load(&p, problem_path, arena, &err));
    const struct layout *l = &p.job.layout;
    int count = 3;
    for (int i = 0; NODES - i >= l->data * l->pipeline; i++) {
        words[count++] = "--without";
        words[count++] = p.cluster.places.nodes[i].name;
    }
    assert_int_equal(run_solve(&t, own_folder, words, count, arena), OK);
    assert_int_equal(t.exit_code, EXIT_INFEASIBLE);
    assert_says(&t, "new plan             infeasible");
    assert_says(&t, arena_print(arena, "\n    data %d", l->data - 1));
    CHECK_OK(plan_load(&plan, own_path("none.json"), arena, &err));
    assert_int_equal(plan.outcome, OUTCOME_INFEASIBLE);
}

TEST(test_refused)
{
    struct told t;
    const char *foreign = own_path("w.json"), *edited = own_path("edited.json");
    const char *text;
    size_t size;
    assert_int_equal(RUN(&t, problem_path, "--without", used, "-o", "-"), BAD_INPUT);
    assert_int_equal(RUN(&t, problem_path, "--without", "nobody"), BAD_INPUT);
    assert_int_equal(RUN(&t, problem_path, "--without", used, "--priced", own_path("p")),
                     BAD_INPUT);
    assert_int_equal(RUN(&t, problem_path, "--without", used, "--certificate", own_path("p")),
                     BAD_INPUT);
    assert_int_equal(RUN(&t, problem_path, "--without", used, "-o", own_path("refused.json"),
                         "--alternatives", "2"),
                     BAD_INPUT);
    assert_int_equal(access(own_path("refused.cluster.json"), F_OK), -1);
    assert_int_equal(access(own_path("refused.problem.json"), F_OK), -1);
    assert_int_equal(RUN(&t, problem_path, "--without", used, "--start", own_path("nothing")),
                     BAD_INPUT);
    assert_int_equal(RUN(&t, problem_path, "--without", used, "--start", problem_path), BAD_INPUT);
    assert_int_equal(RUN(&t, problem_path, "--without", other, "--start", foreign), BAD_INPUT);
    assert_non_null(strstr(t.err.text, "expected a plan of"));
    // A plan of this problem whose time is no longer the one found.
    CHECK_OK(file_read(plan_path, &text, &size, arena, &err));
    char *copy = arena_copy_text(arena, text),
         *digit = strstr(copy, "\"iteration_ns\": ") + strlen("\"iteration_ns\": ");
    *digit = *digit == '9' ? '8' : (char)(*digit + 1);
    CHECK_OK(file_write(edited, copy, size, &err));
    assert_int_equal(RUN(&t, problem_path, "--without", other, "--start", edited), BAD_INPUT);
    assert_non_null(strstr(t.err.text, "expected a plan of"));
    // As a mere beginning any plan of as many stages will do.
    assert_int_equal(RUN(&t, problem_path, "--start", foreign, "-o", own_path("again.json")), OK);
    audit_written("again.json", "problem.json", arena);
}

AROUND_ALL(open_commands, close_commands)
