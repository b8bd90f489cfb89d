// GLPK's branch and bound with each node decided by the caller.
#include "solve/tree/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 16 };
static const char dropped[] = "dropped";

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
