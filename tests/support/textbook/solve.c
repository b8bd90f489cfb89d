// The textbook formulation, solved by glp_intopt with path rows from replays in its callback.
#include <math.h>

#include "formulate/graph/objective.h"
#include "formulate/graph/pool.h"
#include "tests/support/intopt/intopt.h"
#include "tests/support/textbook/textbook.h"

enum { FINE_BITS = 12 }; // fractional durations are in units of 2^-12 ns

struct textbook_work {
    struct formulation f;
    struct graph *graph;
    struct path_pool paths;
    int symbols, first_path_row, *counts;
    int64_t *durations;
};

static int add_path(struct textbook_work *w, const int *counts)
{
    bool is_new;
    int id = path_pool_add(&w->paths, counts, &is_new);
    if (is_new) formulate_add_path(&w->f, counts);
    return w->first_path_row + id;
}

// Every path longer than the current time gets a row; a callback's rows do not outlive their
// subtree.
static int separate(void *argument, const double *values)
{
    struct textbook_work *w = argument;
    for (int i = 0; i < w->symbols; i++) {
        double ns = w->f.symbol_column[i] < 0 ? 0 : values[w->f.symbol_column[i]];
        w->durations[i] = ns > 0 ? (int64_t)llround(ldexp(ns, FINE_BITS)) : 0;
    }
    int64_t longest = graph_longest(w->graph, w->durations, w->counts);
    return longest <= (int64_t)ldexp(values[0] + 0.3, FINE_BITS) ? -1 : add_path(w, w->counts);
}

static enum status formulate(struct textbook_work *w, const struct choices *c, struct graph *graph,
                             struct arena *arena, struct error *err)
{
    int *paths;
    *w = (struct textbook_work){.graph = graph, .symbols = graph_symbol_count(graph)};
    TRY(formulate_textbook(&w->f, c, (int64_t)1 << 50, arena, err));
    w->first_path_row = w->f.milp.row_count;
    w->durations = TAKE(arena, w->symbols, int64_t);
    w->counts = TAKE(arena, w->symbols + 1, int);
    path_pool_open(&w->paths, w->symbols + 1, arena);
    for (int i = 0; i < w->symbols; i++)
        if (w->f.symbol_column[i] >= 0)
            w->durations[i] = w->f.milp.columns[w->f.symbol_column[i]].upper;
    w->f.milp.columns[0].upper = graph_longest(graph, w->durations, NULL);
    int count = graph_starting_paths(graph, &paths, NULL, NULL, arena);
    for (int i = 0; i < count; i++) add_path(w, paths + (size_t)i * (size_t)(w->symbols + 1));
    return OK;
}

static enum status search(struct plan *plan, struct textbook_work *w, double time_limit_s,
                          struct arena *arena, struct error *err)
{
    const struct choices *c = w->f.choices;
    int *chosen = TAKE(arena, c->priced->stage_count, int);
    double *values = TAKE(arena, w->f.milp.column_count, double);
    struct intopt_request request = {.milp = &w->f.milp,
                                     .unit_log2 = intopt_unit_log2(c),
                                     .time_limit_s = time_limit_s,
                                     .separate = separate,
                                     .argument = w};
    enum intopt_status status = intopt_solve(&request, values, arena);
    if (status == INTOPT_INFEASIBLE) plan->outcome = OUTCOME_INFEASIBLE;
    if (status != INTOPT_OPTIMAL && status != INTOPT_FEASIBLE) return OK;
    if (!textbook_decode(&w->f, values, chosen) || !choices_fit_together(c, chosen) ||
        !choices_durations(c, chosen, w->durations))
        return fail(err, SOLVER, "glp_intopt gave a point that is no plan");
    choices_to_plan(plan, c, chosen, graph_longest(w->graph, w->durations, NULL), arena);
    plan->outcome = status == INTOPT_OPTIMAL ? OUTCOME_OPTIMAL : OUTCOME_OPEN;
    return OK;
}

enum status textbook_solve(struct plan *plan, const struct priced *priced, double time_limit_s,
                           struct arena *arena, struct error *err)
{
    struct schedule *schedule = TAKE(arena, 1, struct schedule);
    struct choices *choices = TAKE(arena, 1, struct choices);
    struct textbook_work w;
    struct graph *graph;
    const char *why;
    *plan = (struct plan){.outcome = OUTCOME_NO_PLAN};
    TRY(schedule_build_priced(schedule, priced, arena, err));
    TRY(choices_build(choices, priced, schedule, arena, err));
    TRY(objective_graph(&graph, priced, schedule, arena, err));
    if (choices_hopeless_stage(choices, &why) >= 0) {
        plan->outcome = OUTCOME_INFEASIBLE;
    } else {
        TRY(formulate(&w, choices, graph, arena, err));
        TRY(search(plan, &w, time_limit_s, arena, err));
    }
    return objective_state(plan, priced, schedule, arena, err);
}
