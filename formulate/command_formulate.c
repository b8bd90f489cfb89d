// plumbline formulate: writes a problem as a MILP in MPS or LP, with the starting path rows and the
// meaning of each column. The program that solve works on is this one after elimination, with the
// path rows that solve finds.
#include "formulate/commands.h"

#include "formulate/program/formulate.h"
#include "formulate/graph/objective.h"
#include "formulate/price/price.h"

struct options {
    const char *problem, *plan, *out, *map;
    struct option_texts paths_of; // plans
};

// An upper bound for every plan: the longest path with every symbol at its column's upper bound.
static int64_t time_upper_ns(const struct formulation *f, struct graph *graph, struct arena *arena)
{
    int symbols = graph_symbol_count(graph);
    int64_t *durations = TAKE(arena, symbols, int64_t);
    for (int i = 0; i < symbols; i++)
        durations[i] = f->symbol_column[i] < 0 ? 0 : f->milp.columns[f->symbol_column[i]].upper;
    return graph_longest(graph, durations, NULL);
}

static void add_starting_rows(struct formulation *f, struct graph *graph, struct arena *arena)
{
    int *paths, count = graph_starting_paths(graph, &paths, NULL, NULL, arena);
    for (int i = 0; i < count; i++)
        formulate_add_path(f, paths + (size_t)i * ((size_t)graph_symbol_count(graph) + 1));
}

// Rows of the longest paths of plans, such as those made from another solver's solutions.
static enum status add_paths_of_plans(struct formulation *f, struct graph *graph,
                                      const struct options *r, struct arena *arena,
                                      struct error *err)
{
    int symbols = graph_symbol_count(graph), *counts = TAKE(arena, symbols + 1, int),
        *chosen = TAKE(arena, f->choices->priced->stage_count, int);
    int64_t *durations = TAKE(arena, symbols, int64_t);
    for (int i = 0; i < r->paths_of.count; i++) {
        struct plan plan;
        TRY(plan_load(&plan, r->paths_of.items[i], arena, err));
        if (!choices_from_plan(chosen, f->choices, &plan) ||
            !choices_durations(f->choices, chosen, durations))
            return refuse(err, "--path-of: %s: expected a plan of this problem",
                          r->paths_of.items[i]);
        graph_longest(graph, durations, counts);
        formulate_add_path(f, counts);
    }
    return OK;
}

static enum status write(const struct formulation *f, const struct options *r,
                         const struct problem *problem, struct arena *arena, struct error *err)
{
    if (r->map)
        TRY(formulation_write_map(f, r->map, problem, arena,
                                  err)); // first: a failure leaves nothing on standard output
    return milp_write(&f->milp, r->out ? r->out : "-", arena, err);
}

// On named nodes: the program over groups, with every link at its least price.
static enum status check_job_on_places(const struct job *job, struct error *err)
{
    if (job->placement.uneven_micro_batches)
        return refuse(
            err,
            "%s: placement.uneven_micro_batches: expected false: the program has the same "
            "number of micro-batches for all replicas",
            job->document.path);
    fprintf(stderr, "plumbline formulate: named nodes: the program over node groups, with each "
                    "link at its best price: its optimum bounds every placement\n");
    return OK;
}

COMMAND_RUN(run)
{
    const struct options *r = options;
    struct problem *problem = TAKE(arena, 1, struct problem),
                   *whole = TAKE(arena, 1, struct problem);
    struct priced *priced = TAKE(arena, 1, struct priced);
    struct schedule schedule;
    struct choices choices;
    struct formulation f;
    struct graph *graph;
    const char *why;
    if (r->out) TRY(milp_check_name(r->out, "-o", err));
    if (r->map) TRY(file_check_place(r->map, err));
    TRY(problem_load(whole, r->problem, arena, err));
    TRY(one_layout(problem, whole, r->plan, true, arena, err));
    if (problem->job.objective == OBJECTIVE_PIPETTE)
        return refuse(err,
                      "%s: objective: expected iteration_time: no program is written for pipette, "
                      "whose nodes form chains",
                      problem->job.document.path);
    TRY(price_problem(priced, problem, arena, err));
    if (priced->places) TRY(check_job_on_places(&problem->job, err));
    TRY(schedule_build_priced(&schedule, priced, arena, err));
    TRY(objective_graph(&graph, priced, &schedule, arena, err));
    TRY(choices_build(&choices, priced, &schedule, arena, err));
    if (choices_hopeless_stage(&choices, &why) >= 0)
        fprintf(stderr, "plumbline formulate: the program has no solution: %s\n", why);
    const int64_t any_time = (int64_t)1 << 53;
    TRY(formulate_choices(&f, &choices, any_time, arena, err));
    f.milp.columns[0].upper = time_upper_ns(&f, graph, arena);
    add_starting_rows(&f, graph, arena);
    TRY(add_paths_of_plans(&f, graph, r, arena, err));
    TRY(write(&f, r, problem, arena, err));
    fprintf(stderr, "plumbline formulate: %d columns, %d rows (%d of paths), %d entries\n",
            f.milp.column_count, f.milp.row_count, f.path_row_count, f.milp.entry_count);
    return OK;
}

static const struct option_row rows[] = {
    {"PROBLEM", OPTION_PATH, OPT(problem), .low = 1},
    {"-o", OPTION_PATH, OPT(out), "output file, .mps or .lp (default: LP on standard output)"},
    {"--map", OPTION_PATH, OPT(map),
     "write the meaning of each column, and each choice removed and why, as JSON"},
    OPTION_OF_PLAN,
    {"--path-of", OPTION_PATH, OPT(paths_of),
     "also write a row for the longest path of this plan; may be repeated",
     .many = OPTION_ANY_NUMBER},
};

const struct command command_formulate = {
    .name = "formulate",
    .text = "problem -> MILP as MPS or LP, with the meaning of each column",
    .about = "Writes the program for another solver, or for inspection.",
    .usage = "plumbline formulate PROBLEM [--plan PLAN.json] [-o FILE.mps|FILE.lp] [--map "
             "MAP.json] [--path-of PLAN.json]",
    READS(struct options, rows, {0}),
    .run = run,
};
