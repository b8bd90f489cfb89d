// Writes a certificate's proof of one layout in the format of VIPR.
#include "solve/certificate/vipr/vipr.h"

#include <string.h>

#include "solve/layout/steps.h"
#include "solve/certificate/vipr/internal.h"

// ---- the tree

struct limit {
    double end_s;
};

static bool is_over(void *argument)
{
    const struct limit *limit = argument;
    return limit->end_s > 0 && clock_s() > limit->end_s;
}

static enum status build_program(struct vipr_maker *m, struct error *err)
{
    TRY(schedule_build_priced(&m->schedule, m->request->priced, m->arena, err));
    TRY(graph_compile(&m->graph, &m->schedule, m->arena, err));
    TRY(choices_build(&m->choices, m->request->priced, &m->schedule, m->arena, err));
    TRY(formulate_choices(&m->formulation, &m->choices, (int64_t)1 << 53, m->arena, err));
    int64_t greatest_ns = solving_greatest_ns(&m->formulation, m->graph, m->arena);
    m->milp = &m->formulation.milp;
    m->formulation.milp.columns[0].upper = greatest_ns;
    program_prepare(&m->program, &m->formulation, m->graph, greatest_ns, m->arena);
    int *paths, count = graph_starting_paths(m->graph, &paths, NULL, NULL, m->arena);
    for (int i = 0; i < count; i++) {
        bool is_new;
        program_add_path(&m->program, paths + (size_t)i * (size_t)m->program.paths.size, &is_new);
    }
    m->target_ns = m->request->infeasible ? greatest_ns + 1 : m->request->bound_ns;
    return OK;
}

// The target is passed as the time of a plan that is not shown.
static enum status grow_tree(struct vipr_maker *m, struct error *err)
{
    const struct vipr_request *q = m->request;
    struct limit limit = {q->time_limit_s > 0 ? clock_s() + q->time_limit_s : 0};
    struct tree_settings settings = {
        .threads = q->threads, .plan_count = 1, .stop_asked = is_over, .argument = &limit};
    struct found_plan known = {TAKE(m->arena, m->program.stage_count, int), m->target_ns};
    for (int s = 0; s < m->program.stage_count; s++) known.chosen[s] = -1;
    TRY(tree_run(&m->tree, &m->program, &settings, &known, !q->infeasible, 0, m->arena, err));
    if (!m->tree.finished || m->tree.frontier.count)
        return fail(err, SOLVER,
                    "VIPR: within the time the tree by rows does not reach the bound: %lld boxes, "
                    "and more are open",
                    (long long)m->tree.boxes);
    if (m->tree.bound_ns < m->target_ns)
        return fail(err, SOLVER, "VIPR: the tree found a plan below the bound");
    return OK;
}

static enum status settle_multipliers(struct vipr_maker *m, struct error *err)
{
    const struct record_list *records = &m->tree.records;
    m->leaf_proof = TAKE(m->arena, records->count, struct multipliers);
    m->closed = TAKE(m->arena, m->milp->column_count, bool);
    for (int i = 0; i < records->count; i++)
        if (records->items[i].kind == RECORD_LEAF)
            TRY(vipr_close_leaf(m, &records->items[i], &m->leaf_proof[i], err));
    bound_prepare(&m->scratch, m->milp, m->arena);
    for (int i = 0; i < records->count; i++) {
        struct record *r = &records->items[i];
        if (r->kind == RECORD_LEAF) vipr_shorten(m, r, &m->leaf_proof[i]);
        else if (r->kind == RECORD_CLOSED || r->kind == RECORD_REMOVED)
            vipr_shorten(m, r, &r->proof);
    }
    return OK;
}

// ---- what is written

static void number_rows(struct vipr_maker *m)
{
    const struct record_list *records = &m->tree.records;
    bool *used = TAKE(m->arena, m->milp->row_count, bool);
    m->row_of = TAKE(m->arena, m->milp->row_count, int);
    m->constraint_count = 2 * m->milp->column_count;
    for (int i = 0; i < records->count; i++) {
        const struct multipliers *y =
            records->items[i].kind == RECORD_LEAF ? &m->leaf_proof[i] : &records->items[i].proof;
        for (int k = 0; k < y->count; k++) used[y->rows[k]] = true;
    }
    for (int i = 0; i < m->milp->row_count; i++) {
        bool is_path = i >= m->program.first_path_row;
        m->row_of[i] = is_path && !used[i] ? -1 : m->constraint_count++;
        m->path_rows += is_path && used[i];
    }
}

static void index_records(struct vipr_maker *m)
{
    const struct record_list *records = &m->tree.records;
    m->first_record = TAKE(m->arena, m->tree.next_number, int);
    m->next_record = TAKE(m->arena, records->count, int);
    for (int64_t b = 0; b < m->tree.next_number; b++) m->first_record[b] = -1;
    for (int i = records->count - 1; i >= 0; i--) {
        m->next_record[i] = m->first_record[records->items[i].box];
        m->first_record[records->items[i].box] = i;
    }
}

// From the absurdity to the claim.
static void conclude(struct vipr_maker *m, int absurd)
{
    struct claim above = {'G', m->target_ns, NULL, 0, true};
    if (m->request->infeasible || !vipr_rests_on(m, absurd, m->below)) {
        sum_begin(&m->sum);
        sum_add(m, absurd, 1, 1);
        vipr_combine(m, m->request->infeasible ? &vipr_absurd : &above, false, 1);
        return;
    }
    int side = vipr_assume(m, &above);
    vipr_unsplit(m, &above, absurd, m->below, side, side);
}

static enum status derive(struct vipr_maker *m, struct error *err)
{
    struct claim below = {'L', m->target_ns - 1, NULL, 0, true};
    int absurd;
    m->one_row = TAKE(m->arena, m->program.stage_count, int);
    for (int s = 0; s < m->program.stage_count; s++) m->one_row[s] = -1;
    bound_prepare(&m->scratch, m->milp, m->arena);
    m->below = m->request->infeasible ? vipr_upper(0) : vipr_assume(m, &below);
    if (m->target_ns <= m->milp->columns[0].lower) { // nothing to prove: T is never lower
        sum_begin(&m->sum);
        sum_add(m, vipr_lower(0), 1, 0);
        struct claim above = {'G', m->target_ns, NULL, 0, true};
        vipr_combine(m, &above, false, 1);
        return OK;
    }
    TRY(vipr_walk(m, &absurd, err));
    conclude(m, absurd);
    return OK;
}

static enum status find_chosen(struct vipr_maker *m, int *chosen, int64_t *iteration_ns,
                               struct error *err)
{
    if (!choices_from_plan(chosen, &m->choices, m->request->plan) ||
        !choices_fit_together(&m->choices, chosen))
        return refuse(err, "the plan is not of this priced document");
    *iteration_ns = program_time(&m->program, chosen);
    return OK;
}

enum status vipr_make(struct vipr_result *result, const struct vipr_request *request,
                      struct arena *arena, struct error *err)
{
    struct vipr_maker *m = TAKE(arena, 1, struct vipr_maker);
    int *chosen = NULL;
    int64_t iteration_ns = 0;
    *m = (struct vipr_maker){
        .request = request, .head = {.arena = arena}, .lines = {.arena = arena}, .arena = arena};
    TRY(build_program(m, err));
    if (request->plan) {
        chosen = TAKE(arena, m->program.stage_count, int);
        TRY(find_chosen(m, chosen, &iteration_ns, err));
    }
    if (m->target_ns > 0) TRY(grow_tree(m, err));
    TRY(settle_multipliers(m, err));
    number_rows(m);
    index_records(m);
    TRY(derive(m, err));
    TRY(vipr_write_problem(m, chosen, iteration_ns, err));
    text_put(&m->head, "DER %d\n", m->line_count);
    size_t size = m->head.length + m->lines.length;
    char *text = TAKE(arena, size + 1, char);
    memcpy(text, m->head.text, m->head.length);
    memcpy(text + m->head.length, m->lines.text, m->lines.length);
    *result = (struct vipr_result){.text = text,
                                   .size = size,
                                   .columns = m->milp->column_count,
                                   .rows = m->constraint_count,
                                   .path_rows = m->path_rows,
                                   .lines = m->line_count,
                                   .boxes = m->tree.boxes};
    return OK;
}
