// A box of one decision. The tree replays it or finds it inconsistent; a proof by rows needs
// multipliers. They come from the relaxation, with the decision's longest path as a row, or with
// the price of violating a row raised until the bound passes the target.

#include "solve/certificate/vipr/internal.h"

enum { PRICE_RAISES = 12 };

static enum status read_multipliers(struct vipr_maker *m, const struct lp *lp,
                                    struct multipliers *y)
{
    int count = lp_row_count(lp), *rows = TAKE(m->arena, count, int);
    double *values = TAKE(m->arena, count, double);
    for (int i = 0; i < count; i++) rows[i] = lp_row_of(lp, i), values[i] = lp_multiplier(lp, i);
    bound_round(y, &m->scratch, rows, values, count, m->program.unit_log2, m->arena);
    return OK;
}

// The row of the decision's longest path, or -1 if the decision is inconsistent.
static int add_longest(struct vipr_maker *m, const struct record *r, int *chosen)
{
    struct program *p = &m->program;
    struct box box = {.allowed = r->allowed};
    bool is_new;
    if (box_single(&box, p, chosen) != 1) return -1;
    if (!choices_fit_together(p->choices, chosen) ||
        !choices_durations(p->choices, chosen, p->durations))
        return -1;
    graph_longest(p->graph, p->durations, p->counts);
    return program_add_path(p, p->counts, &is_new);
}

enum status vipr_close_leaf(struct vipr_maker *m, const struct record *r, struct multipliers *y,
                            struct error *err)
{
    struct box box = {.allowed = r->allowed};
    int *chosen = TAKE(m->arena, m->program.stage_count, int), path = add_longest(m, r, chosen);
    box_close_columns(&box, &m->program, m->closed);
    bound_prepare(&m->scratch, m->milp, m->arena);
    struct lp_request request = {
        .milp = m->milp,
        .first_path_row = m->program.first_path_row,
        .unit_log2 = m->program.unit_log2,
        .elastic_price = 8 * ldexp((double)m->target_ns, -m->program.unit_log2) + 1,
        .closed = m->closed};
    struct lp *lp = lp_open(&request, m->arena);
    if (path >= 0) lp_add_row(lp, path);
    for (int raise = 0; raise < PRICE_RAISES; raise++) {
        int64_t bound_ns = -1;
        for (int method = LP_DUAL_FROM_SCRATCH; method < LP_METHOD_COUNT; method++) {
            if (lp_solve(lp, (enum lp_method)method, 1e300) != LP_OPTIMAL) continue;
            TRY(read_multipliers(m, lp, y));
            if (bound_evaluate(&bound_ns, NULL, m->milp, m->closed, y, &m->scratch) &&
                bound_ns >= m->target_ns)
                return OK;
        }
        request.elastic_price *= 8;
        lp_set_elastic_price(lp, request.elastic_price);
    }
    return fail(err, SOLVER, "VIPR: the multipliers of a single decision do not reach the bound");
}
