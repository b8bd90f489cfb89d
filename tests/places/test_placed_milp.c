// The program of placements against the search and enumeration for placements: glp_intopt, and if
// installed CBC on the exported file with path rows added round by round, find the same time on
// random small problems, including interchangeable nodes and several device groups per node. A ring
// is checked by all orders of its replicas.
#include <unistd.h>

#include "data/base/file.h"
#include "formulate/program/formulate.h"
#include "formulate/price/price.h"
#include "solve/places/internal.h"
#include "solve/layout/solve.h"
#include "tests/support/oracle/placements.h"
#include "tests/support/placed_program/milp.h"
#include "tests/support/placed_program/program.h"
#include "tests/support/check.h"

enum { TIME_LIMIT_S = 200, COLUMNS_MAX = 700, DRAWS = 5 };

static int trials = 24, cbc_trials = 5; // with a plan
static char folder[64] = "build/placed-XXXXXX";

// ---- random problems

// Links by the parity of the nodes' numbers: some cannot be distinguished.
static void make_alike(struct problem *p)
{
    struct places *x = &p->cluster.places;
    int n = x->node_count;
    for (int i = 0; x->measured && n > 3 && i < n * n; i++)
        if (i / n != i % n)
            x->measured[i] = x->measured[i / n % 2 == i % n % 2 ? (i / n % 2) * n + i / n % 2 + 2
                                                                : (i / n % 2) * n + i % n % 2];
}

struct placed_case {
    struct problem problem;
    struct priced priced;
    struct placed *placed;
    struct solve_result solved;
};

static void make_case(struct placed_case *c, int trial, struct arena *arena)
{
    struct random rng = {(uint64_t)trial + 1};
    struct solve_settings settings;
    random_placed_problem(&c->problem, &rng, 0, arena);
    // The program has no ring of a fused embedding sync.
    if (c->problem.job.layout.data > 1) c->problem.job.layout.fused_embedding_sync = false;
    if (random_chance(&rng, 30)) make_alike(&c->problem);
    if (random_chance(&rng, 25))
        for (int g = 0; g < c->problem.cluster.group_count; g++)
            c->problem.cluster.groups[g].gpus_per_node *= 2;
    if (price_problem(&c->priced, &c->problem, arena, &own_err) != OK)
        fail_msg("trial %d: %s", trial, own_err.text);
    MUST(placed_open(&c->placed, &c->priced, arena, &own_err));
    solve_defaults(&settings);
    settings.progress = 0;
    MUST(placed_solve(&c->solved, &c->priced, &settings, NULL, NULL, arena, &own_err));
}

// ---- glp_intopt

// Large programs, and more than a quarter without a plan, are passed over.
static bool is_worth(const struct placed_case *c, int compared, int infeasible, struct arena *arena)
{
    struct placed_program f;
    struct arena_mark mark = arena_set_mark(arena);
    MUST(formulate_placed(&f, c->placed->c, c->placed->own->graph, 0, arena, &own_err));
    arena_reset(arena, mark);
    return f.milp.column_count <= COLUMNS_MAX &&
           (c->solved.plan.stage_count || infeasible * 4 <= compared);
}

TEST(test_intopt)
{
    int compared = 0, several = 0, apart = 0, infeasible = 0, late = 0;
    for (int trial = 0; compared < trials && trial < trials * DRAWS; trial++) {
        struct arena_mark mark = arena_set_mark(arena);
        struct placed_case *c = TAKE(arena, 1, struct placed_case);
        make_case(c, trial, arena);
        const struct plan *best = &c->solved.plan;
        if (is_worth(c, compared, infeasible, arena)) {
            struct placed_plan plan = placed_plan_empty(c->placed, arena);
            // Every other one has a cut-off slightly above the best plan: faster, and errors of
            // either are still found.
            const struct placed_milp_settings settings = {
                .time_limit_s = TIME_LIMIT_S,
                .cut_off_ns = trial % 2 && best->stage_count ? best->iteration_ns / 50 * 51 + 10
                                                             : 0};
            struct placed_milp_result result;
            CHECK_OK(placed_milp(&result, &plan, c->placed, &settings, arena, &err));
            bool decided = best->outcome == OUTCOME_OPTIMAL || best->outcome == OUTCOME_INFEASIBLE;
            int64_t least_ns = best->stage_count ? best->iteration_ns : INT64_MAX;
            if (result.sidelined) printf("trial %d: %s\n", trial, result.sidelined);
            if (!result.finished || !decided) late++;
            else if (plan.time_ns != least_ns)
                fail_msg("trial %d: %lld by the program, %lld by search and tree", trial,
                         (long long)plan.time_ns, (long long)least_ns);
            else
                compared++, several += c->priced.layout.data > 1,
                    apart += c->problem.cluster.group_count > 1, infeasible += !result.found;
        }
        arena_reset(arena, mark);
    }
    printf("%d compared, %d of them with several replicas, %d with several groups, %d without a "
           "plan; %d not ended\n",
           compared, several, apart, infeasible, late);
    assert_true(compared * 10 > trials * 8 && several * 4 > trials && apart * 4 > trials &&
                infeasible * 2 < trials);
}

// ---- CBC

// In ns what the file has in its unit of time.
static double unit_of(const struct milp *m, int column, struct arena *arena)
{
    struct milp_units u = milp_units_of(m, arena);
    return (double)milp_units_power(milp_units_column_log10(&u, &m->columns[column]));
}

// Column values by name from CBC's solution file; -1: none, 0: infeasible.
static int read_solution(const char *path, const struct milp *m, double *values,
                         struct arena *arena)
{
    struct error err = {OK, ""};
    const char *text;
    size_t size;
    char name[80];
    double value;
    if (file_read(path, &text, &size, arena, &err) != OK) return -1;
    if (!strncmp(text, "Infeasible", 10) || !strncmp(text, "Integer infeasible", 18)) return 0;
    if (strncmp(text, "Optimal", 7)) return -1;
    memset(values, 0, (size_t)m->column_count * sizeof *values);
    for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
        if (sscanf(line + 1, "%*d %79s %lf", name, &value) != 2 &&
            sscanf(line + 1, "** %*d %79s %lf", name, &value) != 2)
            continue;
        const char *number = strrchr(name, '_');
        int column = number ? atoi(number + 1) : 0;
        values[column] = value * unit_of(m, column, arena);
    }
    return 1;
}

static int run_cbc(const struct milp *m, double *values, struct arena *arena)
{
    const char *program = arena_print(arena, "%s/program.mps", folder),
               *solution = arena_print(arena, "%s/solution.txt", folder);
    MUST(milp_write(m, program, arena, &own_err));
    const char *command =
        arena_print(arena, "cbc %s ratio 0 allowable 0 sec %d solve solution %s > %s/log.txt 2>&1",
                    program, TIME_LIMIT_S, solution, folder);
    int found = system(command) ? -1 : read_solution(solution, m, values, arena);
    unlink(program);
    unlink(solution);
    unlink(arena_print(arena, "%s/log.txt", folder));
    return found;
}

// Rounds of CBC and path rows of all replicas, until no replica takes longer than T. The time, 0:
// none, -1: not ended.
static int64_t time_by_cbc(struct placed_case *c, struct arena *arena)
{
    struct placed_program f;
    MUST(formulate_placed(&f, c->placed->c, c->placed->own->graph, 0, arena, &own_err));
    double *values = TAKE(arena, f.milp.column_count, double);
    int *counts = TAKE(arena, f.symbols + 1, int), *paths,
        count = graph_starting_paths(c->placed->own->graph, &paths, NULL, NULL, arena);
    int64_t *durations = TAKE(arena, f.symbols, int64_t);
    for (int i = 0; i < count; i++)
        for (int r = 0; r < f.replicas; r++)
            placed_program_add_path(&f, paths + i * (f.symbols + 1), r);
    for (int round = 0; round < 50; round++) {
        int found = run_cbc(&f.milp, values, arena);
        if (found <= 0) return found;
        bool longer = false;
        for (int r = 0; r < f.replicas; r++) {
            for (int i = 0; i < f.symbols; i++)
                durations[i] = f.symbol_column[r][i] < 0 ? 0
                                                         : llround(values[f.symbol_column[r][i]]);
            if ((double)graph_longest(c->placed->own->graph, durations, counts) <
                values[0] * (1 + 1e-7) + 2)
                continue;
            longer = true;
            for (int other = 0; other < f.replicas; other++)
                placed_program_add_path(&f, counts, other);
        }
        if (longer) continue;
        struct placed *p = c->placed;
        struct placed_plan plan = placed_plan_empty(p, arena);
        if (!placed_program_decode(&f, values, plan.chosen, plan.node)) return -1;
        placed_evaluate(p, &plan, INT64_MAX);
        return plan.time_ns;
    }
    return -1;
}

TEST(test_cbc)
{
    int compared = 0;
    if (system("command -v cbc > /dev/null 2>&1")) {
        printf("cbc: not installed, skipped\n");
        skip();
    }
    assert_non_null(mkdtemp(folder));
    for (int trial = 0; compared < cbc_trials && trial < cbc_trials * DRAWS; trial++) {
        struct arena_mark mark = arena_set_mark(arena);
        struct placed_case *c = TAKE(arena, 1, struct placed_case);
        make_case(c, 1000 + trial, arena);
        const struct plan *best = &c->solved.plan;
        int64_t time_ns = best->outcome == OUTCOME_OPTIMAL && is_worth(c, compared, 0, arena)
                              ? time_by_cbc(c, arena)
                              : -1;
        if (time_ns >= 0) {
            compared++;
            if (fabs((double)(time_ns - best->iteration_ns)) > 1e-6 * (double)best->iteration_ns)
                fail_msg("trial %d: %lld by cbc, %lld by search and tree", trial,
                         (long long)time_ns, (long long)best->iteration_ns);
        }
        arena_reset(arena, mark);
    }
    rmdir(folder);
    printf("cbc: %d compared\n", compared);
    assert_true(compared * 4 > cbc_trials * 3);
}

ARGUMENT(trials)
ARGUMENT(cbc_trials)
