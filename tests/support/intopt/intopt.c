// glp_intopt over a program, with a callback that adds rows and chooses columns.
#include "tests/support/intopt/intopt.h"

#include <glpk.h>
#include <limits.h>
#include <math.h>

#include "data/base/least.h"

struct intopt {
    const struct intopt_request *request;
    glp_prob *problem;
    double *values;
    int last_node, last_row; // the same row twice in a node: tolerance, not progress
    int *indices;            // scratch for one row
    double *entries;
};

static double scale_of(const struct intopt *t, int column)
{
    return t->request->milp->columns[column].time ? ldexp(1, t->request->unit_log2) : 1;
}

static void add_row(struct intopt *t, glp_prob *p, int row)
{
    const struct milp *m = t->request->milp;
    const struct milp_row *r = &m->rows[row];
    double scale = milp_row_in_time(m, r) ? ldexp(1, t->request->unit_log2) : 1;
    int at = glp_add_rows(p, 1);
    for (int k = 0; k < r->count; k++) {
        int column = m->entry_column[r->first + k];
        t->indices[k + 1] = column + 1;
        t->entries[k + 1] = (double)m->entry_value[r->first + k] * scale_of(t, column) / scale;
    }
    glp_set_mat_row(p, at, r->count, t->indices, t->entries);
    double right = (double)r->right / scale;
    int sense = r->sense == ROW_EQUAL ? GLP_FX : r->sense == ROW_AT_MOST ? GLP_UP : GLP_LO;
    glp_set_row_bnds(p, at, sense, right, right);
}

// A lazy row exists only in its subtree; the milp keeps a copy, because it is needed again
// elsewhere.
static void separate(struct intopt *t, glp_tree *tree)
{
    glp_prob *p = glp_ios_get_prob(tree);
    for (int j = 0; j < t->request->milp->column_count; j++)
        t->values[j] = glp_get_col_prim(p, j + 1) * scale_of(t, j);
    int row = t->request->separate(t->request->argument, t->values);
    int node = glp_ios_curr_node(tree);
    if (row < 0 || (node == t->last_node && row == t->last_row)) return;
    t->last_node = node;
    t->last_row = row;
    add_row(t, p, row);
}

static void branch(struct intopt *t, glp_tree *tree)
{
    glp_prob *p = glp_ios_get_prob(tree);
    const double *keys = t->request->branch_key;
    int chosen = 0;
    double key = 0;
    for (int j = 0; j < t->request->milp->column_count; j++) {
        double x = glp_get_col_prim(p, j + 1), fraction = fmin(x, 1 - x);
        if (keys[j] <= 0 || fraction < 1e-6 || !glp_ios_can_branch(tree, j + 1)) continue;
        if (keys[j] + fraction > key) key = keys[j] + fraction, chosen = j + 1;
    }
    if (chosen) glp_ios_branch_upon(tree, chosen, GLP_UP_BRNCH);
}

static void call_back(glp_tree *tree, void *info)
{
    struct intopt *t = info;
    // The number of a finished node is reused by another, which starts anew.
    if (glp_ios_reason(tree) == GLP_IPREPRO) t->last_row = -1;
    if (glp_ios_reason(tree) == GLP_IROWGEN) separate(t, tree);
    else if (glp_ios_reason(tree) == GLP_IBRANCH && t->request->branch_key) branch(t, tree);
}

static void build(struct intopt *t)
{
    const struct milp *m = t->request->milp;
    glp_prob *p = t->problem;
    glp_set_obj_dir(p, GLP_MIN);
    glp_add_cols(p, m->column_count);
    for (int j = 0; j < m->column_count; j++) {
        const struct milp_column *c = &m->columns[j];
        double lower = (double)c->lower / scale_of(t, j), upper = (double)c->upper / scale_of(t, j);
        if (c->integer) glp_set_col_kind(p, j + 1, GLP_IV);
        glp_set_col_bnds(p, j + 1, lower < upper ? GLP_DB : GLP_FX, lower, upper);
    }
    if (t->request->cut_off_ns > 0)
        glp_set_col_bnds(p, 1, GLP_DB, 0, t->request->cut_off_ns / scale_of(t, 0));
    glp_set_obj_coef(p, 1, 1);
    for (int i = 0; i < m->row_count; i++) add_row(t, p, i);
}

static enum intopt_status solve(struct intopt *t)
{
    glp_prob *p = t->problem;
    glp_smcp simplex;
    glp_init_smcp(&simplex);
    simplex.msg_lev = GLP_MSG_OFF;
    glp_scale_prob(p, GLP_SF_AUTO); // bytes are large numbers: unscaled, an optimum may be cut off
    if (glp_simplex(p, &simplex)) return INTOPT_UNKNOWN;
    if (glp_get_status(p) == GLP_NOFEAS) return INTOPT_INFEASIBLE;
    if (glp_get_status(p) != GLP_OPT) return INTOPT_UNKNOWN;
    glp_iocp control;
    glp_init_iocp(&control);
    control.msg_lev = GLP_MSG_OFF;
    control.sr_heur = GLP_OFF;
    control.tol_obj =
        1e-12; // the default prunes at 1e-7 of the objective: most answers would not be optimal
    control.mip_gap = 0;
    control.cb_func = call_back;
    control.cb_info = t;
    if (t->request->time_limit_s > 0)
        control.tm_lim = (int)fmin(t->request->time_limit_s * 1e3, INT_MAX);
    int code = glp_intopt(p, &control);
    if (code == GLP_EFAIL) { // a node's simplex failed: try once more with the current rows
        glp_unscale_prob(p);
        glp_std_basis(p);
        if (glp_simplex(p, &simplex) || glp_get_status(p) != GLP_OPT) return INTOPT_UNKNOWN;
        code = glp_intopt(p, &control);
    }
    int status = glp_mip_status(p);
    if (status == GLP_NOFEAS && !code) return INTOPT_INFEASIBLE;
    if (status != GLP_OPT && status != GLP_FEAS) return INTOPT_UNKNOWN;
    return status == GLP_OPT && !code ? INTOPT_OPTIMAL : INTOPT_FEASIBLE;
}

enum intopt_status intopt_solve(const struct intopt_request *request, double *values,
                                struct arena *arena)
{
    int columns = request->milp->column_count;
    struct intopt t = {.request = request,
                       .problem = glp_create_prob(),
                       .values = TAKE(arena, columns, double),
                       .indices = TAKE(arena, columns + 1, int),
                       .entries = TAKE(arena, columns + 1, double)};
    glp_term_out(GLP_OFF);
    glp_error_hook(NULL, NULL); // not into the exit of a search before this one
    build(&t);
    enum intopt_status status = solve(&t);
    for (int j = 0; j < columns && status <= INTOPT_FEASIBLE; j++)
        values[j] = glp_mip_col_val(t.problem, j + 1) * scale_of(&t, j);
    glp_delete_prob(t.problem);
    return status;
}

int intopt_unit_log2(const struct choices *c)
{
    int unit = 0;
    int64_t heaviest_ns = 1;
    for (int s = 0; s < c->priced->stage_count; s++)
        for (int i = 0; i < c->stages[s].count; i++)
            heaviest_ns = larger(heaviest_ns, c->stages[s].items[i].load_ns);
    while (unit < 40 && heaviest_ns >> unit >= 32) unit++;
    return unit;
}
