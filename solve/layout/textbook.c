// The textbook formulation, solved by glp_intopt with path rows from replays in its callback, in a
// process of its own: a cross-check. Its bounds are floating point and prove nothing: the reported
// bound is the elimination's, which is exact.
#include <math.h>

#include "solve/layout/steps.h"
#include "solve/process/worker.h"

struct textbook_work {
    struct program *program;
    double time_limit_s;
    double *symbol_ns;
    struct arena *arena;
};

// Every path longer than the current time gets a row; a callback's rows do not outlive their
// subtree.
static int separate(void *argument, const double *values)
{
    struct textbook_work *w = argument;
    struct program *p = w->program;
    for (int i = 0; i < p->symbol_count; i++) {
        int column = p->formulation->symbol_column[i];
        w->symbol_ns[i] = column < 0 ? 0 : values[column];
    }
    if (program_longest_at(p, w->symbol_ns, p->counts) <= values[0] + 0.3) return -1;
    bool is_new;
    return program_add_path(p, p->counts, &is_new);
}

static void run(void *context, struct message *in, struct message *out, struct arena *arena)
{
    struct textbook_work *w = context;
    (void)in;
    int columns = w->program->formulation->milp.column_count;
    double *values = TAKE(arena, columns, double);
    struct intopt_request request = {.milp = &w->program->formulation->milp,
                                     .unit_log2 = w->program->unit_log2,
                                     .time_limit_s = w->time_limit_s,
                                     .separate = separate,
                                     .argument = w};
    message_put_count(out, lp_intopt(&request, values, arena));
    message_put(out, values, (size_t)columns * sizeof *values);
}

static enum status formulate(struct solving *s, struct program *p, struct error *err)
{
    TRY(formulate_textbook(&s->formulation, &s->choices, (int64_t)1 << 50, s->arena, err));
    int64_t greatest_ns = solving_greatest_ns(&s->formulation, s->graph, s->arena);
    s->formulation.milp.columns[0].upper = greatest_ns;
    program_prepare(p, &s->formulation, s->graph, greatest_ns, s->arena);
    solving_add_starting_paths(s, p);
    return OK;
}

static void take_answer(struct solving *s, struct program *p, struct message *answer)
{
    int columns = p->formulation->milp.column_count, *chosen = TAKE(s->arena, p->stage_count, int);
    enum intopt_status status = (enum intopt_status)message_get_count(answer);
    double *values = TAKE(s->arena, columns, double);
    message_get(answer, values, (size_t)columns * sizeof *values);
    s->finished = status == INTOPT_INFEASIBLE;
    if (status != INTOPT_OPTIMAL && status != INTOPT_FEASIBLE) return;
    int64_t time_ns = formulation_decode(p->formulation, values, chosen) ? program_time(p, chosen)
                                                                         : -1;
    if (time_ns < 0) {
        s->result->sidelined = "glp_intopt gave a point that is no plan";
        return;
    }
    choices_to_plan(solving_add_plan(s), &s->choices, chosen, time_ns, s->arena);
    s->incumbent.iteration_ns = time_ns;
    s->bound_ns = solving_eliminate(s, s->incumbent.iteration_ns, NULL, NULL);
    s->finished = (double)(time_ns - s->bound_ns) <= s->settings->gap * (double)time_ns;
}

enum status solving_run_textbook(struct solving *s, struct error *err)
{
    struct program program;
    struct worker_pool *pool;
    TRY(formulate(s, &program, err));
    struct textbook_work work = {.program = &program,
                                 .time_limit_s = watch_left_s(&s->watch),
                                 .arena = s->arena,
                                 .symbol_ns = TAKE(s->arena, program.symbol_count, double)};
    struct worker_settings settings = {.count = s->settings->threads > 0,
                                       .memory_limit_bytes = s->settings->memory_limit_bytes,
                                       .run = run,
                                       .context = &work};
    struct message request, answer = {0};
    message_begin(&request, s->arena);
    TRY(worker_pool_open(&pool, &settings, s->arena, err));
    bool answered = worker_pool_run(pool, &request, 1, &answer, solving_should_stop, s,
                                    &s->result->sidelined, s->arena);
    worker_pool_close(pool);
    s->effort.path_rows = program.paths.count;
    if (answered && !answer.broken) take_answer(s, &program, &answer);
    return solving_write_program(s, &program, err);
}
