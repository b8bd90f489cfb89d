// A second opinion on the exported program: the MPS file of the program after elimination, with all
// path rows, solved by CBC. Its plan, replayed, takes the optimum's time, and its objective, in the
// map's unit of time, is not above it. Skipped where there is no cbc.
#include <unistd.h>

#include "data/base/file.h"
#include "data/kinds/schedules.h"
#include "data/text/json.h"
#include "formulate/graph/longest.h"
#include "formulate/price/price.h"
#include "solve/layout/solve.h"
#include "tests/support/check.h"
#include "tests/support/oracle/oracle.h"
#include "tests/support/problems.h"
#include "tests/support/random_priced.h"

enum { PROBLEMS = 80, PRICED_PROBLEMS = 8, PLANS_MAX = 20000 };

static char folder[64] = "build/cbc-XXXXXX";

struct named_value {
    char name[80];
    double value;
};

// The objective and the nonzero columns of CBC's solution file; -1: it found no optimum.
static int read_solution(const char *path, double *objective, struct named_value **values,
                         struct arena *arena)
{
    struct error err = {OK, ""};
    const char *text;
    size_t size;
    int count = 0;
    if (file_read(path, &text, &size, arena, &err) != OK) return -1;
    const char *value = strstr(text, "objective value");
    if (strncmp(text, "Optimal", 7) || !value) return -1;
    *objective = strtod(value + 15, NULL);
    *values = TAKE(arena, size / 8 + 1, struct named_value);
    for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
        struct named_value *v = &(*values)[count];
        count += sscanf(line + 1, "%*d %79s %lf", v->name, &v->value) == 2 ||
                 sscanf(line + 1, "** %*d %79s %lf", v->name, &v->value) == 2;
    }
    return count;
}

// Durations of the symbols: a column may represent several; the map says which.
static void read_durations(int64_t *durations, int64_t *unit_ns, const char *map_path, int stages,
                           int slices, const struct named_value *values, int count,
                           struct arena *arena)
{
    const char *text, *role, *name;
    size_t size;
    struct json root, columns;
    MUST(file_read(map_path, &text, &size, arena, &own_err));
    MUST(json_parse(&root, map_path, text, size, arena, &own_err));
    const struct json_field top[] = {FIELD_ARRAY("columns", REQUIRED, &columns),
                                     FIELD_COUNT("time_unit_ns", REQUIRED, unit_ns, 1, 1e18)};
    MUST(json_fields(&root, top, 2, JSON_ENVELOPE, arena, &own_err));
    for (int j = 0; j < json_length(&columns); j++) {
        struct json column = json_element(&columns, j, arena), of = {0};
        const char **kinds;
        int stage = 0, kind_count, i = 0;
        const struct json_field fields[] = {
            FIELD_TEXT("name", REQUIRED, &name),
            FIELD_TEXT("role", REQUIRED, &role),
            FIELD_INT("stage", OPTIONAL, &stage, 0, stages - 1),
            FIELD_ARRAY("durations_ns_of", OPTIONAL, &of),
        };
        MUST(json_fields(&column, fields, ARRAY_LENGTH(fields), JSON_ENVELOPE, arena, &own_err));
        if (strcmp(role, "symbol")) continue;
        while (i < count && strcmp(values[i].name, name)) i++;
        MUST(json_texts(&of, &kinds, &kind_count, arena, &own_err));
        for (int k = 0; k < kind_count; k++)
            for (int kind = 0; kind < slices * SYMBOL_KIND_COUNT; kind++)
                if (!strcmp(symbol_kind_name(kind), kinds[k]))
                    durations[symbol_index(stages, kind, stage)] =
                        i < count ? llround(values[i].value * (double)*unit_ns) : 0;
    }
}

// Whether there was a program to compare.
static bool check_priced(const struct priced *priced, const char *name, struct arena *arena)
{
    static const volatile int never = 0;
    struct schedule schedule;
    struct graph *graph;
    struct solve_settings settings;
    struct solve_result result;
    solve_defaults(&settings);
    settings.progress = 0;
    settings.program_path = arena_print(arena, "%s/program.mps", folder);
    settings.map_path = arena_print(arena, "%s/map.json", folder);
    MUST(solve_run(&result, priced, &settings, NULL, &never, arena, &own_err));
    if (result.plan.outcome == OUTCOME_OPTIMAL) {
        struct schedule_request request = schedule_request_of(priced);
        int symbols = symbol_count(priced->stage_count, priced->slice_count);
        double objective = 0;
        struct named_value *values = NULL;
        int64_t *whole = TAKE(arena, symbols, int64_t), unit_ns = 1;
        const char *solution = arena_print(arena, "%s/solution.txt", folder);
        MUST(schedule_build(&schedule, &request, arena, &own_err));
        MUST(graph_compile(&graph, &schedule, arena, &own_err));
        int failed = system(
            arena_print(arena, "cbc %s ratio 0 allowable 0 solve solution %s > %s/log.txt 2>&1",
                        settings.program_path, solution, folder));
        int value_count = read_solution(solution, &objective, &values, arena);
        if (failed || value_count < 0) fail_msg("%s: cbc found no optimum", name);
        read_durations(whole, &unit_ns, settings.map_path, priced->stage_count, priced->slice_count,
                       values, value_count, arena);
        objective *= (double)unit_ns;
        double optimum = (double)result.plan.iteration_ns,
               replayed = (double)graph_longest(graph, whole, NULL);
        if (fabs(replayed - optimum) > 1e-6 * optimum || objective > optimum * (1 + 1e-6))
            fail_msg("%s: cbc's objective %.3f, its plan replayed %.0f ns, optimum %.0f ns", name,
                     objective, replayed, optimum);
        unlink(solution);
    }
    unlink(settings.program_path);
    unlink(settings.map_path);
    unlink(arena_print(arena, "%s/log.txt", folder));
    return result.plan.outcome == OUTCOME_OPTIMAL;
}

static bool check_problem(uint64_t seed)
{
    struct problem problem;
    struct priced priced;
    struct random rng = {seed};
    struct random_limits limits = random_limits_small();
    struct arena_mark mark = arena_set_mark(&own_arena);
    random_problem(&problem, &rng, &limits, &own_arena);
    MUST(price_problem(&priced, &problem, &own_arena, &own_err));
    bool checked = check_priced(
        &priced, arena_print(&own_arena, "seed %llu", (unsigned long long)seed), &own_arena);
    arena_reset(&own_arena, mark);
    return checked;
}

static bool check_schedule(int kind, uint64_t seed)
{
    struct priced priced;
    uint64_t state = 1000 * seed + (uint64_t)kind;
    struct arena_mark mark = arena_set_mark(&own_arena);
    do random_priced_of(&priced, kind, &state, &own_arena);
    while (oracle_size(&priced, PLANS_MAX, &own_arena) > PLANS_MAX ||
           priced.layer_count < priced.stage_count ||
           priced.groups[0].memory_limit_bytes >
               1000000); // a few bytes of many are within CBC's tolerances
    bool checked = check_priced(
        &priced,
        arena_print(&own_arena, "%s, seed %llu", schedule_names[kind], (unsigned long long)seed),
        &own_arena);
    arena_reset(&own_arena, mark);
    return checked;
}

TEST(cbc_agrees)
{
    int checked = 0, of_schedules = 0;
    if (system("command -v cbc > /dev/null 2>&1")) {
        printf("cbc: not installed, skipped\n");
        skip();
    }
    assert_non_null(mkdtemp(folder));
    for (uint64_t seed = 1; seed <= PROBLEMS; seed++) checked += check_problem(seed);
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++)
        for (uint64_t seed = 1; seed <= PRICED_PROBLEMS; seed++)
            of_schedules += check_schedule((int)kind, seed);
    rmdir(folder);
    printf("cbc: agrees on %d programs, and on %d of all schedules\n", checked, of_schedules);
    assert_true(checked >= PROBLEMS / 2 &&
                of_schedules >= PRICED_PROBLEMS * SCHEDULE_KIND_COUNT / 4);
}
