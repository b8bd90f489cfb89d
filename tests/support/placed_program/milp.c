// Placements by glp_intopt, without a proof.
#include "tests/support/placed_program/milp.h"

#include <math.h>
#include <string.h>

#include "formulate/graph/pool.h"
#include "tests/support/intopt/intopt.h"
#include "tests/support/placed_program/program.h"
#include "solve/places/internal.h"
#include "solve/process/worker.h"

enum { FINE_BITS = 12 }; // fractional durations are in units of 2^-12 ns

struct milp_work {
    struct placed_program program;
    struct graph *graph;
    double time_limit_s, cut_off_ns;
    int unit_log2;
    // Path rows: those of a path are consecutive, one for each replica.
    int first_path_row;
    struct path_pool paths;
    double *branch_key;
    int64_t *durations;
    int *counts, *slowest;
    struct arena *arena;
};

// The first of the rows of a path, one per replica; adds them if they are new.
static int add_path(struct milp_work *w, const int *counts)
{
    bool is_new;
    int id = path_pool_add(&w->paths, counts, &is_new);
    for (int replica = 0; replica < w->program.replicas && is_new; replica++)
        placed_program_add_path(&w->program, counts, replica);
    return w->first_path_row + id * w->program.replicas;
}

// The longest of all replicas' longest paths, if it is longer than T.
static int separate(void *argument, const double *values)
{
    struct milp_work *w = argument;
    const struct placed_program *f = &w->program;
    int64_t longest = (int64_t)ldexp(values[0] + 0.3, FINE_BITS);
    int slowest = -1;
    for (int replica = 0; replica < f->replicas; replica++) {
        for (int i = 0; i < f->symbols; i++) {
            double value = f->symbol_column[replica][i] < 0 ? 0
                                                            : values[f->symbol_column[replica][i]];
            w->durations[i] = value > 0 ? (int64_t)llround(ldexp(value, FINE_BITS)) : 0;
        }
        int64_t length = graph_longest(w->graph, w->durations, w->counts);
        if (length <= longest) continue;
        longest = length;
        slowest = replica;
        memcpy(w->slowest, w->counts, ((size_t)f->symbols + 1) * sizeof *w->counts);
    }
    return slowest < 0 ? -1 : add_path(w, w->slowest) + slowest;
}

static void run(void *context, struct message *in, struct message *out, struct arena *arena)
{
    struct milp_work *w = context;
    const struct milp *m = &w->program.milp;
    (void)in;
    double *values = TAKE(arena, m->column_count, double);
    struct intopt_request request = {.milp = m,
                                     .unit_log2 = w->unit_log2,
                                     .time_limit_s = w->time_limit_s,
                                     .cut_off_ns = w->cut_off_ns,
                                     .separate = separate,
                                     .argument = w,
                                     .branch_key = w->branch_key};
    message_put_count(out, intopt_solve(&request, values, arena));
    message_put(out, values, (size_t)m->column_count * sizeof *values);
}

// Layers and options first, then nodes; the rest, left to GLPK, are rings or follow from these.
static void put_branch_keys(struct milp_work *w)
{
    const struct placed_program *f = &w->program;
    w->branch_key = TAKE(w->arena, f->milp.column_count, double);
    for (int s = 0; s < f->ranks; s++)
        for (int i = 0; i < f->choices->stages[s].count; i++)
            w->branch_key[f->option_column[s][i]] = 3;
    for (int i = 0; i < f->replicas * f->ranks * f->nodes; i++)
        if (f->node_column[i] >= 0) w->branch_key[f->node_column[i]] = 1;
}

static void take_answer(struct placed_milp_result *r, struct placed_plan *plan, struct placed *p,
                        const struct milp_work *w, struct message *answer, struct arena *arena)
{
    int columns = w->program.milp.column_count;
    enum intopt_status status = (enum intopt_status)message_get_count(answer);
    double *values = TAKE(arena, columns, double);
    message_get(answer, values, (size_t)columns * sizeof *values);
    r->finished = status == INTOPT_INFEASIBLE || status == INTOPT_OPTIMAL;
    if (status != INTOPT_OPTIMAL && status != INTOPT_FEASIBLE) return;
    plan->slowest = 0;
    if (placed_program_decode(&w->program, values, plan->chosen, plan->node))
        placed_evaluate(p, plan, INT64_MAX);
    else plan->time_ns = INT64_MAX;
    r->found = plan->time_ns < INT64_MAX;
    if (r->found) return;
    r->sidelined = "glp_intopt gave a point that is no plan";
    r->finished = false;
}

enum status placed_milp(struct placed_milp_result *r, struct placed_plan *plan, struct placed *p,
                        const struct placed_milp_settings *settings, struct arena *arena,
                        struct error *err)
{
    struct worker_pool *pool;
    struct message request, answer = {0};
    int *paths;
    *r = (struct placed_milp_result){0};
    struct milp_work w = {.graph = p->own->graph,
                          .time_limit_s = settings->time_limit_s,
                          .cut_off_ns = (double)settings->cut_off_ns,
                          .unit_log2 = intopt_unit_log2(p->c),
                          .arena = arena};
    TRY(formulate_placed(&w.program, p->c, p->own->graph, 0, arena, err));
    w.first_path_row = w.program.milp.row_count;
    w.durations = TAKE(arena, w.program.symbols, int64_t);
    put_branch_keys(&w);
    path_pool_open(&w.paths, w.program.symbols + 1, arena);
    w.counts = TAKE(arena, w.program.symbols + 1, int);
    w.slowest = TAKE(arena, w.program.symbols + 1, int);
    int count = graph_starting_paths(p->own->graph, &paths, settings->should_stop,
                                     settings->argument, arena);
    for (int i = 0; i < count; i++) add_path(&w, paths + (size_t)i * (size_t)w.paths.size);
    r->columns = w.program.milp.column_count;
    r->rows = w.program.milp.row_count;
    struct worker_settings worker = {.count = !settings->here,
                                     .memory_limit_bytes = settings->memory_limit_bytes,
                                     .run = run,
                                     .context = &w};
    message_begin(&request, arena);
    TRY(worker_pool_open(&pool, &worker, arena, err));
    bool answered = worker_pool_run(pool, &request, 1, &answer, settings->should_stop,
                                    settings->argument, &r->sidelined, arena);
    worker_pool_close(pool);
    if (answered && !answer.broken) take_answer(r, plan, p, &w, &answer, arena);
    return OK;
}
