// A second opinion on the exported program: the MPS file of the program after elimination, with all path rows, solved by
// CBC. Its plan, replayed, takes the optimum's time, and its objective is not above it. Skipped where there is no cbc.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/file.h"
#include "formulate/longest.h"
#include "formulate/price.h"
#include "solve/solve.h"
#include "tests/support/check.h"
#include "tests/support/problems.h"

enum { PROBLEMS = 24 };

static char folder[64] = "build/cbc-XXXXXX";

// The objective and the durations of the symbols in CBC's solution file; false: it found nothing.
static bool read_solution(const char *path, double *objective, double *durations, int symbols, struct arena *arena)
{
    struct error err = {OK, ""};
    const char *text;
    size_t size;
    if (file_read(path, &text, &size, arena, &err) != OK) return false;
    const char *value = strstr(text, "objective value");
    if (strncmp(text, "Optimal", 7) || !value) return false;
    *objective = strtod(value + 15, NULL);
    for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
        char name[80];
        double x;
        int symbol;
        if (sscanf(line + 1, "%*d %79s %lf", name, &x) != 2 && sscanf(line + 1, "** %*d %79s %lf", name, &x) != 2) continue;
        if (sscanf(name, "symbol_%d_", &symbol) == 1 && symbol >= 0 && symbol < symbols) durations[symbol] = x;
    }
    return true;
}

static void check_one(uint64_t seed, int *checked)
{
    static const volatile int never = 0;
    struct arena arena;
    struct error err = {OK, ""};
    struct problem problem;
    struct priced priced;
    struct schedule schedule;
    struct graph *graph;
    struct solve_settings settings;
    struct solve_result result;
    struct random rng = {seed};
    struct random_limits limits = random_limits_small();
    arena_open(&arena, NULL);
    random_problem(&problem, &rng, &limits, &arena);
    CHECK_OK(price_problem(&priced, &problem, &arena, &err));
    solve_defaults(&settings);
    settings.progress = 0;
    settings.program_path = arena_print(&arena, "%s/program.mps", folder);
    CHECK_OK(solve_run(&result, &priced, &settings, NULL, &never, &arena, &err));
    if (result.plan.outcome == OUTCOME_OPTIMAL) {
        struct schedule_request request = schedule_request_of(&priced);
        int symbols = symbol_count(priced.stage_count);
        double objective, *durations = TAKE(&arena, symbols, double);
        int64_t *whole = TAKE(&arena, symbols, int64_t);
        const char *solution = arena_print(&arena, "%s/solution.txt", folder);
        CHECK_OK(schedule_build(&schedule, &request, &arena, &err));
        CHECK_OK(graph_compile(&graph, &schedule, &arena, &err));
        int failed = system(arena_print(&arena, "cbc %s ratio 0 allowable 0 solve solution %s > %s/log.txt 2>&1", settings.program_path, solution, folder));
        if (failed || !read_solution(solution, &objective, durations, symbols, &arena)) fail_msg("seed %llu: cbc found no optimum", (unsigned long long)seed);
        for (int i = 0; i < symbols; i++) whole[i] = llround(durations[i]);
        double optimum = (double)result.plan.iteration_ns, replayed = (double)graph_longest(graph, whole, NULL);
        if (fabs(replayed - optimum) > 1e-6 * optimum || objective > optimum * (1 + 1e-6))
            fail_msg("seed %llu: cbc's objective %.3f, its plan replayed %.0f ns, optimum %.0f ns", (unsigned long long)seed, objective, replayed, optimum);
        unlink(solution);
        ++*checked;
    }
    unlink(settings.program_path);
    unlink(arena_print(&arena, "%s/log.txt", folder));
    arena_close(&arena);
}

static void cbc_agrees(void **state)
{
    (void)state;
    int checked = 0;
    if (system("command -v cbc > /dev/null 2>&1")) {
        printf("cbc: not installed, skipped\n");
        skip();
    }
    assert_non_null(mkdtemp(folder));
    for (uint64_t seed = 1; seed <= PROBLEMS; seed++) check_one(seed, &checked);
    rmdir(folder);
    printf("cbc: agrees on %d programs\n", checked);
    assert_true(checked >= PROBLEMS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cbc_agrees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
