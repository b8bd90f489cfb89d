// glp_intopt: over a whole program, without a proof, and with each node decided by the caller.
#include "solve/tree/internal.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 16 };
static const char dropped[] = "dropped";

// ---- each node decided by the caller

// What GLPK keeps for each node.
struct node {
    int64_t box;
    int64_t children[2];
    int column; // that they differ in, GLPK's; 0: not branched
    int known;
};

struct search {
    struct lp *lp;
    const struct lp_search *of;
};

// 0, 1, or -1: not fixed in the current node.
static int fixed_value(const struct lp *lp, int column)
{
    double lower = glp_get_col_lb(lp->problem, column), upper = glp_get_col_ub(lp->problem, column);
    return upper < 0.5 ? 0 : lower > 0.5 ? 1 : -1;
}

// The current node; its box follows from its parent's, or its own, and the column branched on.
static struct node *current_node(const struct lp *lp)
{
    int number = glp_ios_curr_node(lp->tree), parent = glp_ios_up_node(lp->tree, number);
    struct node *n = glp_ios_node_data(lp->tree, number);
    const struct node *from = n->known ? n : parent ? glp_ios_node_data(lp->tree, parent) : NULL;
    if (from && from->column) {
        int value = fixed_value(lp, from->column);
        if (value >= 0) *n = (struct node){.box = from->children[value], .known = 1};
        else if (!n->known) n->box = -1;
    } else if (from && !n->known) n->box = -1;
    n->known = 1;
    return n;
}

// A node's own rows have the numbers of their milp rows as names; which rows it has changes from
// node to node.
static void read_rows(struct lp *lp, int known)
{
    for (int i = lp->root_rows + 1; i <= known; i++) lp->index_of_row[lp->row_of_index[i]] = 0;
    for (int i = lp->root_rows + 1; i <= glp_get_num_rows(lp->problem); i++) {
        int row = atoi(glp_get_row_name(lp->problem, i));
        lp->row_of_index[i] = row;
        lp->index_of_row[row] = i;
    }
}

static bool is_dropped(const struct lp *lp)
{
    int last = glp_get_num_rows(lp->problem);
    const char *name = last > lp->root_rows ? glp_get_row_name(lp->problem, last) : NULL;
    return name && !strcmp(name, dropped);
}

// GLPK has no call that ends a node: T <= -1 does.
static void drop(const struct lp *lp)
{
    int row = glp_add_rows(lp->problem, 1), column[2] = {0, lp->index_of_column[0]};
    double one[2] = {0, 1};
    glp_set_mat_row(lp->problem, row, 1, column, one);
    glp_set_row_bnds(lp->problem, row, GLP_UP, 0, -1);
    glp_set_row_name(lp->problem, row, dropped);
}

static void visit(struct search *s)
{
    struct lp *lp = s->lp;
    if (is_dropped(lp)) {
        glp_ios_terminate(lp->tree);
        return;
    }
    const struct node *n = current_node(lp);
    read_rows(lp, lp->known_rows);
    int before = glp_get_num_rows(lp->problem);
    enum lp_move move = n->box < 0 ? LP_DROP : s->of->visit(s->of->argument, n->box);
    lp->known_rows = glp_get_num_rows(lp->problem);
    for (int i = before + 1; i <= lp->known_rows; i++) {
        char name[NAME_MOST];
        snprintf(name, sizeof name, "%d", lp->row_of_index[i]);
        glp_set_row_name(lp->problem, i, name);
    }
    if (move == LP_DROP) drop(lp);
    if (move == LP_END) glp_ios_terminate(lp->tree);
}

static void choose(struct search *s)
{
    struct lp *lp = s->lp;
    struct node *n = current_node(lp);
    bool up = false;
    int column = n->box < 0 ? -1 : s->of->branch(s->of->argument, n->box, n->children, &up);
    if (column < 0) {
        glp_ios_terminate(lp->tree);
        return;
    }
    n->column = lp->index_of_column[column];
    glp_ios_branch_upon(lp->tree, n->column, up ? GLP_UP_BRNCH : GLP_DN_BRNCH);
}

static void at_node(glp_tree *tree, void *search)
{
    struct search *s = search;
    s->lp->tree = tree;
    if (glp_ios_reason(tree) == GLP_IROWGEN) visit(s);
    else if (glp_ios_reason(tree) == GLP_IBRANCH) choose(s);
}

bool lp_can_branch(const struct lp *lp, int column)
{
    return lp->index_of_column[column] && glp_ios_can_branch(lp->tree, lp->index_of_column[column]);
}

void lp_search(struct lp *lp, const struct lp_search *search)
{
    struct search s = {lp, search};
    glp_iocp control;
    glp_init_iocp(&control);
    control.msg_lev = GLP_MSG_OFF;
    control.pp_tech = GLP_PP_NONE; // what ends a node must be seen
    control.sr_heur = GLP_OFF;
    control.tol_int = 1e-7;
    control.cb_func = at_node;
    control.cb_info = &s;
    control.cb_size = sizeof(struct node);
    lp->known_rows = lp->root_rows = glp_get_num_rows(lp->problem);
    glp_intopt(lp->problem, &control);
    read_rows(lp, lp->known_rows); // it leaves the rows that every node has
    lp->tree = NULL;
}

// ---- over a whole program

struct intopt {
    const struct intopt_request *request;
    struct lp lp;
    double *values;
    int last_node, last_row; // the same row twice in a node: tolerance, not progress
};

static void take_values(struct intopt *t, glp_prob *p, double (*value)(glp_prob *, int))
{
    for (int j = 0; j < t->lp.milp->column_count; j++)
        t->values[j] = value(p, j + 1) * lp_column_scale(&t->lp, j);
}

// A lazy row exists only in its subtree; the milp keeps a copy, because it is needed again
// elsewhere.
static void separate(struct intopt *t, glp_tree *tree)
{
    glp_prob *p = glp_ios_get_prob(tree);
    take_values(t, p, glp_get_col_prim);
    int row = t->request->separate(t->request->argument, t->values);
    int node = glp_ios_curr_node(tree);
    if (row < 0 || (node == t->last_node && row == t->last_row)) return;
    t->last_node = node;
    t->last_row = row;
    t->lp.problem = p;
    lp_add_milp_row(&t->lp, row, 0);
}

static void branch(struct intopt *t, glp_tree *tree)
{
    glp_prob *p = glp_ios_get_prob(tree);
    int chosen = 0;
    double key = 0;
    for (int j = 0; j < t->lp.milp->column_count; j++) {
        double x = glp_get_col_prim(p, j + 1), fraction = fmin(x, 1 - x);
        if (t->request->branch_key[j] <= 0 || fraction < 1e-6 || !glp_ios_can_branch(tree, j + 1))
            continue;
        if (t->request->branch_key[j] + fraction > key)
            key = t->request->branch_key[j] + fraction, chosen = j + 1;
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

static glp_prob *build_whole(struct intopt *t)
{
    const struct milp *m = t->lp.milp;
    lp_make_problem(&t->lp);
    glp_prob *p = t->lp.problem;
    glp_set_obj_dir(p, GLP_MIN);
    glp_add_cols(p, m->column_count);
    for (int j = 0; j < m->column_count; j++) {
        const struct milp_column *c = &m->columns[j];
        double lower = (double)c->lower / lp_column_scale(&t->lp, j),
               upper = (double)c->upper / lp_column_scale(&t->lp, j);
        t->lp.index_of_column[j] = j + 1;
        if (c->integer) glp_set_col_kind(p, j + 1, GLP_IV);
        glp_set_col_bnds(p, j + 1, lower < upper ? GLP_DB : GLP_FX, lower, upper);
    }
    if (t->request->cut_off_ns > 0)
        glp_set_col_bnds(p, 1, GLP_DB, 0, t->request->cut_off_ns / t->lp.unit);
    glp_set_obj_coef(p, 1, 1);
    for (int i = 0; i < m->row_count; i++) lp_add_milp_row(&t->lp, i, 0);
    return p;
}

enum intopt_status lp_intopt(const struct intopt_request *request, double *values,
                             struct arena *arena)
{
    struct intopt t = {.request = request,
                       .values = TAKE(arena, request->milp->column_count, double)};
    t.lp = (struct lp){.milp = request->milp,
                       .unit = ldexp(1, request->unit_log2),
                       .first_path_row = request->milp->row_count,
                       .arena = arena};
    t.lp.index_of_column = TAKE(arena, request->milp->column_count, int);
    t.lp.defined = TAKE(arena, request->milp->column_count, bool);
    t.lp.indices = TAKE(arena, request->milp->column_count + 2, int);
    t.lp.values = TAKE(arena, request->milp->column_count + 2, double);
    glp_term_out(GLP_OFF);
    struct intopt *kept = TAKE(arena, 1, struct intopt);
    *kept = t;
    glp_prob *p = build_whole(kept);
    glp_smcp simplex;
    glp_init_smcp(&simplex);
    simplex.msg_lev = GLP_MSG_OFF;
    glp_scale_prob(p, GLP_SF_AUTO); // bytes are large numbers: unscaled, an optimum may be cut off
    int code = glp_simplex(p, &simplex);
    if (code) return INTOPT_UNKNOWN;
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
    control.cb_info = kept;
    if (request->time_limit_s > 0) control.tm_lim = (int)fmin(request->time_limit_s * 1e3, INT_MAX);
    code = glp_intopt(p, &control);
    if (code == GLP_EFAIL) { // a node's simplex failed: try once more with the current rows
        glp_unscale_prob(p);
        glp_std_basis(p);
        if (glp_simplex(p, &simplex) || glp_get_status(p) != GLP_OPT) return INTOPT_UNKNOWN;
        code = glp_intopt(p, &control);
    }
    int status = glp_mip_status(p);
    if (status == GLP_NOFEAS && !code) return INTOPT_INFEASIBLE;
    if (status != GLP_OPT && status != GLP_FEAS) return INTOPT_UNKNOWN;
    for (int j = 0; j < request->milp->column_count; j++)
        values[j] = glp_mip_col_val(p, j + 1) * lp_column_scale(&kept->lp, j);
    return status == GLP_OPT && !code ? INTOPT_OPTIMAL : INTOPT_FEASIBLE;
}
