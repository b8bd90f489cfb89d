// One claim everywhere: on random problems on named nodes, what solve --certificate states in plan,
// outcome and exit code is what its certificate proves, and verify --certificate accepts it.
#include <sys/wait.h>
#include <unistd.h>

#include "data/base/command.h"
#include "data/results/plan.h"
#include "formulate/price/price.h"
#include "tests/support/check.h"
#include "tests/support/folder.h"
#include "tests/support/oracle/placements.h"
#include "data/base/file.h"
#include "formulate/example/example.h"

static int trials = 24, first_seed = 1;
static int claimed, lowered;

static const char *inside(const char *folder, const char *name, struct arena *arena)
{
    return arena_print(arena, "%s/%s", folder, name);
}

struct answer {
    int exit_code;
    const char *text; // of both streams
};

// By the program itself, as a user runs it.
static struct answer run_command(const char *folder, const char *line, struct arena *arena)
{
    const char *bin = getenv("BIN"), *text;
    size_t size;
    char here[512];
    assert_non_null(getcwd(here, sizeof here));
    const char *in = bin && *bin == '/' ? "" : here;
    int status = system(arena_print(arena, "cd %s && %s/%s/plumbline %s > said 2>&1", folder, in,
                                    bin ? bin : "bin", line));
    MUST(file_read(inside(folder, "said", arena), &text, &size, arena, &own_err));
    assert_true(WIFEXITED(status));
    return (struct answer){WEXITSTATUS(status), text};
}

static void agree(const char *folder, uint64_t seed, struct arena *arena)
{
    struct error err = {OK, ""};
    struct plan plan;
    struct answer a = run_command(
        folder, "solve problem.json -o plan.json --quiet --certificate proof.json", arena);
    if (a.exit_code == 1 && strstr(a.text, "no bound could be certified"))
        return; // no claim is left
    CHECK_OK(plan_load(&plan, inside(folder, "plan.json", arena), arena, &err));
    int expected = plan.outcome == OUTCOME_OPTIMAL      ? 0
                   : plan.outcome == OUTCOME_OPEN       ? EXIT_OPEN
                   : plan.outcome == OUTCOME_INFEASIBLE ? EXIT_INFEASIBLE
                                                        : EXIT_NO_PLAN;
    if (a.exit_code != expected)
        fail_msg("seed %llu: exit code %d, outcome %s: %s", (unsigned long long)seed, a.exit_code,
                 outcome_names[plan.outcome], a.text);
    assert_int_equal(plan.claim, CLAIM_PROVEN);
    lowered += strstr(a.text, "less than the search's") != NULL;
    a = run_command(folder, "check proof.json problem.json", arena);
    if (a.exit_code) fail_msg("seed %llu: check: %s", (unsigned long long)seed, a.text);
    a = run_command(folder, "verify plan.json --certificate proof.json", arena);
    if (a.exit_code || !strstr(a.text, "certified by proof.json"))
        fail_msg("seed %llu: verify: %s", (unsigned long long)seed, a.text);
    claimed++;
}

TEST(test_one_claim)
{
    for (int i = 0; i < trials; i++) {
        err = (struct error){OK, ""};
        struct random rng = {(uint64_t)(first_seed + i)};
        struct problem p = {0};
        struct priced priced;
        char folder[FOLDER_SIZE];
        struct arena_mark mark = arena_set_mark(arena);
        random_placed_problem(&p, &rng, false, arena);
        if (p.job.objective == OBJECTIVE_ITERATION_TIME &&
            price_problem(&priced, &p, arena, &err) == OK) {
            folder_make(folder);
            p.name = "random";
            p.cluster.places.level_count = 0; // drawn switches have no names, and no part in prices
            MUST(example_write(&p, folder, true, arena, &own_err));
            agree(folder, (uint64_t)(first_seed + i), arena);
            folder_remove(folder);
        }
        arena_reset(arena, mark);
    }
    print_message("%d claims agree, %d of them lowered to what is certified\n", claimed, lowered);
    assert_true(claimed > trials / 4);
}

ARGUMENT(trials)
ARGUMENT(first_seed)
