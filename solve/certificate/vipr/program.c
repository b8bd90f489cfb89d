// The problem of a VIPR file: the program's columns with all their bounds, its rows, and the plan
// as a point. The point is computed from the decision alone and tested on every row before it is
// written.

#include "solve/certificate/vipr/internal.h"

// ---- the point

static int64_t row_sum(const struct milp *m, const struct milp_row *r, const int64_t *x)
{
    int64_t sum = 0;
    for (int e = r->first; e < r->first + r->count; e++)
        sum += m->entry_value[e] * x[m->entry_column[e]];
    return sum;
}

static bool has_column(const struct milp *m, const struct milp_row *r, int column)
{
    for (int e = r->first; e < r->first + r->count; e++)
        if (m->entry_column[e] == column) return true;
    return false;
}

// States and levels follow from their rows, working memory from one of its rows.
static void fill_by_rows(const struct vipr_maker *m, int64_t *x)
{
    const struct milp *p = m->milp;
    for (int i = 0; i < m->program.first_path_row; i++) {
        const struct milp_row *r = &p->rows[i];
        enum column_role role = r->role == ROW_LINK_STATE ? COLUMN_STATE
                                : r->role == ROW_LEVEL    ? COLUMN_LEVEL
                                : r->role == ROW_WORKING  ? COLUMN_WORKING
                                                          : COLUMN_OTHER;
        if (role == COLUMN_OTHER) continue;
        // The row's own column: a state's entry is -1; of two levels it is the one with entry +1.
        for (int e = r->first; e < r->first + r->count; e++) {
            int j = p->entry_column[e];
            if (p->columns[j].role != role || (role == COLUMN_LEVEL && p->entry_value[e] != 1))
                continue;
            int64_t before = x[j];
            x[j] = 0;
            int64_t rest = row_sum(p, r, x), needed = role == COLUMN_STATE ? rest : -rest;
            x[j] = role == COLUMN_WORKING && before > needed ? before : needed;
        }
    }
}

// One unit flows from the chosen key of the left side to that of the right side: a flow is 1 where
// both its rows need 1.
static void fill_flows(const struct vipr_maker *m, int64_t *x)
{
    const struct milp *p = m->milp;
    for (int j = 0; j < p->column_count; j++) {
        if (p->columns[j].role != COLUMN_FLOW) continue;
        bool both = true;
        for (int i = 0; i < m->program.first_path_row; i++) {
            const struct milp_row *r = &p->rows[i];
            if (r->role != ROW_FLOW || !has_column(p, r, j)) continue;
            int64_t asked = r->right;
            for (int e = r->first; e < r->first + r->count; e++)
                if (p->columns[p->entry_column[e]].role != COLUMN_FLOW)
                    asked -= p->entry_value[e] * x[p->entry_column[e]];
            both = both && asked == 1;
        }
        x[j] = both;
    }
}

static enum status check_point(const struct vipr_maker *m, const int64_t *x, struct error *err)
{
    const struct milp *p = m->milp;
    for (int j = 0; j < p->column_count; j++)
        if (x[j] < p->columns[j].lower || x[j] > p->columns[j].upper)
            return fail(err, SOLVER, "VIPR: the plan breaks the bounds of column %d", j);
    for (int i = 0; i < p->row_count; i++) {
        const struct milp_row *r = &p->rows[i];
        int64_t over = row_sum(p, r, x) - r->right;
        if ((r->sense != ROW_AT_LEAST && over > 0) || (r->sense != ROW_AT_MOST && over < 0))
            return fail(err, SOLVER, "VIPR: the plan breaks row %d", i);
    }
    return OK;
}

static enum status write_point(struct vipr_maker *m, const int *chosen, int64_t iteration_ns,
                               struct error *err)
{
    const struct formulation *f = &m->formulation;
    int64_t *x = TAKE(m->arena, m->milp->column_count, int64_t);
    int count = 0;
    if (!choices_durations(&m->choices, chosen, m->program.durations))
        return refuse(err, "the plan connects groups that no link connects");
    x[0] = iteration_ns;
    for (int i = 0; i < m->program.symbol_count; i++)
        if (f->symbol_column[i] >= 0) x[f->symbol_column[i]] = m->program.durations[i];
    for (int s = 0; s < m->program.stage_count; s++) x[f->choice_column[s][chosen[s]]] = 1;
    fill_by_rows(m, x);
    fill_flows(m, x);
    TRY(check_point(m, x, err));
    for (int j = 0; j < m->milp->column_count; j++) count += x[j] != 0;
    text_put(&m->head, "plan %d", count);
    for (int j = 0; j < m->milp->column_count; j++)
        if (x[j]) text_put(&m->head, " %d %lld", j, (long long)x[j]);
    text_put(&m->head, "\n");
    return OK;
}

// ---- the problem

static void write_columns(struct vipr_maker *m)
{
    const struct milp *p = m->milp;
    char name[64];
    int integers = 1;
    text_put(&m->head, "VAR %d\n", p->column_count);
    for (int j = 0; j < p->column_count; j++)
        text_put(&m->head, "%s\n", milp_column_name(p, j, name));
    for (int j = 1; j < p->column_count; j++) integers += p->columns[j].integer;
    text_put(&m->head, "INT %d\n0", integers);
    for (int j = 1; j < p->column_count; j++)
        if (p->columns[j].integer) text_put(&m->head, " %d", j);
    text_put(&m->head, "\nOBJ min\n1 0 1\n");
}

static void write_rows(struct vipr_maker *m)
{
    const struct milp *p = m->milp;
    char name[64];
    text_put(&m->head, "CON %d %d\n", m->constraint_count, 2 * p->column_count);
    for (int j = 0; j < p->column_count; j++)
        text_put(&m->head, "lo%d G %lld 1 %d 1\nup%d L %lld 1 %d 1\n", j,
                 (long long)p->columns[j].lower, j, j, (long long)p->columns[j].upper, j);
    for (int i = 0; i < p->row_count; i++) {
        const struct milp_row *r = &p->rows[i];
        if (m->row_of[i] < 0) continue;
        text_put(&m->head, "%s %c %lld %d", milp_row_name(p, i, name),
                 r->sense == ROW_EQUAL     ? 'E'
                 : r->sense == ROW_AT_MOST ? 'L'
                                           : 'G',
                 (long long)r->right, r->count);
        for (int e = r->first; e < r->first + r->count; e++)
            text_put(&m->head, " %d %lld", p->entry_column[e], (long long)p->entry_value[e]);
        text_put(&m->head, "\n");
    }
}

enum status vipr_write_problem(struct vipr_maker *m, const int *chosen, int64_t iteration_ns,
                               struct error *err)
{
    const struct vipr_request *q = m->request;
    text_put(
        &m->head,
        "%% %s\n%% Written by plumbline " PLUMBLINE_VERSION
        "; the program is that of plumbline formulate, with the path rows that the proof needs.\n"
        "VER 1.0\n",
        q->comment ? q->comment : "");
    write_columns(m);
    write_rows(m);
    if (q->infeasible) text_put(&m->head, "RTP infeas\n");
    else if (chosen)
        text_put(&m->head, "RTP range %lld %lld\n", (long long)q->bound_ns,
                 (long long)iteration_ns);
    else text_put(&m->head, "RTP range %lld inf\n", (long long)q->bound_ns);
    text_put(&m->head, "SOL %d\n", chosen != NULL);
    return chosen ? write_point(m, chosen, iteration_ns, err) : OK;
}
