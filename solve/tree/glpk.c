// GLPK behind the interface of lp.h; search.c has its branch and bound. It converts indices to
// GLPK's (columns and rows from 1), and times to units of 2^unit_log2 ns: raw nanoseconds fail in
// the simplex method, and a power of two is exact.
//
// Misuse, failed assertions and exhausted memory would end in abort(). They leave through the
// arena's exit instead, which ends a worker process, or its task if there are no processes.
#include "solve/tree/internal.h"

#include <math.h>
#include <stdlib.h>

// How often the thread's whole GLPK environment, with all its problems, was dropped: the only way
// to continue after an error.
static _Thread_local long glpk_lost;

static void leave(void *exit)
{
    glpk_lost++;
    glp_free_env();
    if (!exit) abort();
    longjmp(*(jmp_buf *)exit, 1);
}

static double column_scale(const struct lp *lp, int column)
{
    return lp->milp->columns[column].time ? lp->unit : 1;
}

// The zero point satisfies every row that is not elastic, so the dual simplex method always ends at
// an optimum.
static int elastic_sign(const struct milp_row *row)
{
    if (row->right > 0 && row->sense != ROW_AT_MOST) return 1;
    if (row->right < 0 && row->sense != ROW_AT_LEAST) return -1;
    return 0;
}

int lp_elastic_count(const struct milp *milp, int first_path_row)
{
    int count = 0;
    for (int i = 0; i < first_path_row; i++) count += elastic_sign(&milp->rows[i]) != 0;
    return count;
}

static void release_problem(void *object)
{
    struct lp *lp = object;
    if (lp->lost == glpk_lost) glp_delete_prob(lp->problem);
}

static void make_problem(struct lp *lp)
{
    glp_error_hook(leave, lp->arena->exit);
    lp->lost = glpk_lost;
    lp->problem = glp_create_prob();
    arena_defer(lp->arena, release_problem, lp);
}

static bool is_in_program(const struct lp_request *r, int column)
{
    if (r->milp->columns[column].role == COLUMN_LEVEL) return r->levels;
    if (!r->closed[column]) return true;
    return r->basis && r->basis->present && r->basis->columns[column] == GLP_BS;
}

static void note_defined(struct lp *lp, const struct milp_row *row)
{
    for (int e = row->first; row->role == ROW_SYMBOL && e < row->first + row->count; e++)
        if (lp->milp->columns[lp->milp->entry_column[e]].role == COLUMN_SYMBOL)
            lp->defined[lp->milp->entry_column[e]] = true;
}

static void bound_column(struct lp *lp, int column, bool closed)
{
    const struct milp_column *c = &lp->milp->columns[column];
    int at = lp->index_of_column[column];
    double lower = lp->defined[column] ? 0 : (double)c->lower / column_scale(lp, column);
    double upper = (double)c->upper / column_scale(lp, column);
    // A defined symbol must not be at its own bound: the row that defines it must have the
    // multiplier, because the exact bound clears every symbol's residual.
    if (lp->defined[column]) upper = 2 * upper + 1;
    if (closed) upper = 0;
    glp_set_col_bnds(lp->problem, at, lower < upper ? GLP_DB : GLP_FX, lower, upper);
}

static void add_columns(struct lp *lp, const struct lp_request *r)
{
    int count = 0;
    for (int j = 0; j < r->milp->column_count; j++)
        if (is_in_program(r, j)) lp->index_of_column[j] = ++count;
    lp->first_elastic = count + 1;
    lp->elastic_count = lp_elastic_count(r->milp, r->first_path_row);
    glp_add_cols(lp->problem, count + lp->elastic_count);
    for (int j = 0; j < r->milp->column_count; j++) {
        if (!lp->index_of_column[j]) continue;
        if (r->levels && r->milp->columns[j].integer)
            glp_set_col_kind(lp->problem, lp->index_of_column[j], GLP_IV);
        bound_column(lp, j, r->closed[j]);
    }
    glp_set_obj_coef(lp->problem, lp->index_of_column[0], 1);
    for (int e = 0; e < lp->elastic_count; e++)
        glp_set_col_bnds(lp->problem, lp->first_elastic + e, GLP_DB, 0, 1 << 20);
    lp_set_elastic_price(lp, r->elastic_price);
}

static void ensure_rows(struct lp *lp, int needed)
{
    if (needed <= lp->row_capacity) return;
    int capacity = needed + needed / 2 + 64;
    lp->index_of_row = arena_grow(lp->arena, lp->index_of_row, (size_t)lp->row_capacity,
                                  (size_t)capacity, sizeof(int));
    lp->row_of_index = arena_grow(lp->arena, lp->row_of_index, (size_t)lp->row_capacity,
                                  (size_t)capacity + 1, sizeof(int));
    lp->row_capacity = capacity;
}

static void add_row(struct lp *lp, int row, int elastic)
{
    const struct milp *m = lp->milp;
    const struct milp_row *r = &m->rows[row];
    double scale = milp_row_in_time(m, r) ? lp->unit : 1;
    int at = glp_add_rows(lp->problem, 1), n = 0;
    ensure_rows(lp, row + 1);
    ensure_rows(lp, at + 1);
    lp->index_of_row[row] = at;
    lp->row_of_index[at] = row;
    for (int e = r->first; e < r->first + r->count; e++) {
        int index = lp->index_of_column[m->entry_column[e]];
        if (!index) continue;
        lp->indices[++n] = index;
        lp->values[n] = (double)m->entry_value[e] * column_scale(lp, m->entry_column[e]) / scale;
    }
    if (elastic) lp->indices[++n] = elastic, lp->values[n] = elastic_sign(r);
    glp_set_mat_row(lp->problem, at, n, lp->indices, lp->values);
    double right = (double)r->right / scale;
    glp_set_row_bnds(lp->problem, at,
                     r->sense == ROW_EQUAL     ? GLP_FX
                     : r->sense == ROW_AT_MOST ? GLP_UP
                                               : GLP_LO,
                     right, right);
}

struct lp *lp_open(const struct lp_request *r, struct arena *arena)
{
    struct lp *lp = TAKE(arena, 1, struct lp);
    lp->milp = r->milp;
    lp->arena = arena;
    lp->unit = ldexp(1, r->unit_log2);
    lp->first_path_row = r->first_path_row;
    lp->watch = r->watch;
    glp_term_out(GLP_OFF);
    make_problem(lp);
    lp->index_of_column = TAKE(arena, r->milp->column_count, int);
    lp->defined = TAKE(arena, r->milp->column_count, bool);
    for (int i = 0; i < r->first_path_row; i++) note_defined(lp, &r->milp->rows[i]);
    lp->indices = TAKE(arena, r->milp->column_count + 2, int);
    lp->values = TAKE(arena, r->milp->column_count + 2, double);
    ensure_rows(lp, r->milp->row_count + 1);
    glp_set_obj_dir(lp->problem, GLP_MIN);
    add_columns(lp, r);
    for (int i = 0, e = lp->first_elastic; i < r->first_path_row; i++) {
        if (r->milp->rows[i].role == ROW_LEVEL && !r->levels) continue;
        bool elastic = elastic_sign(&r->milp->rows[i]) != 0;
        add_row(lp, i, elastic ? e++ : 0);
    }
    glp_std_basis(lp->problem);
    if (r->basis && r->basis->present) lp_basis_restore(lp, r->basis);
    return lp;
}

bool lp_has_row(const struct lp *lp, int row)
{
    return row < lp->row_capacity && lp->index_of_row[row];
}

void lp_add_row(struct lp *lp, int row) { add_row(lp, row, 0); }

void lp_set_closed(struct lp *lp, int column, bool closed)
{
    if (lp->index_of_column[column]) bound_column(lp, column, closed);
}

// A row counted in many units (layers) needs a smaller price per unit than one that counts a single
// stage, but a higher price is never wrong: only the numbers grow.
void lp_set_elastic_price(struct lp *lp, double price)
{
    for (int e = 0; e < lp->elastic_count; e++)
        glp_set_obj_coef(lp->problem, lp->first_elastic + e, price);
}

enum { RELAXATION_MS_MAX = 20000 };

static int milliseconds_left(const struct lp *lp)
{
    if (!lp->watch || lp->watch->limit_s <= 0) return RELAXATION_MS_MAX;
    double left = 1e3 * (lp->watch->limit_s - watch_elapsed_s(lp->watch));
    return (int)fmax(1, fmin(left, RELAXATION_MS_MAX));
}

enum lp_status lp_solve(struct lp *lp, enum lp_method method, double limit_ns)
{
    glp_smcp simplex;
    glp_init_smcp(&simplex);
    simplex.msg_lev = GLP_MSG_OFF;
    simplex.meth = method == LP_PRIMAL ? GLP_PRIMAL : GLP_DUAL;
    simplex.tol_bnd = simplex.tol_dj =
        1e-9; // with 1e-7 a row is violated by nanoseconds: boxes never close
    simplex.it_lim = 1000 + 20 * (glp_get_num_rows(lp->problem) +
                                  glp_get_num_cols(lp->problem)); // beyond this it cycles
    simplex.tm_lim = milliseconds_left(lp);
    if (method != LP_PRIMAL) simplex.obj_ul = limit_ns / lp->unit;
    if (method == LP_DUAL_SCALED) glp_scale_prob(lp->problem, GLP_SF_GM | GLP_SF_EQ | GLP_SF_2N);
    if (method == LP_PRIMAL) glp_unscale_prob(lp->problem);
    if (method != LP_DUAL) glp_std_basis(lp->problem);
    int code = glp_simplex(lp->problem, &simplex);
    if (method == LP_DUAL_SCALED) glp_unscale_prob(lp->problem);
    if (code == GLP_EOBJUL) return LP_ABOVE_LIMIT;
    if (code == GLP_ETMLIM && lp->watch && watch_is_over(lp->watch)) return LP_STOPPED;
    return code == 0 && glp_get_status(lp->problem) == GLP_OPT ? LP_OPTIMAL : LP_FAILED;
}

double lp_objective_ns(const struct lp *lp) { return glp_get_obj_val(lp->problem) * lp->unit; }

double lp_value(const struct lp *lp, int column)
{
    int index = lp->index_of_column[column];
    return index ? glp_get_col_prim(lp->problem, index) * column_scale(lp, column) : 0;
}

double lp_elastic_use(const struct lp *lp)
{
    double sum = 0;
    for (int e = 0; e < lp->elastic_count; e++)
        sum += glp_get_col_prim(lp->problem, lp->first_elastic + e);
    return sum;
}

int lp_row_count(const struct lp *lp) { return glp_get_num_rows(lp->problem); }
int lp_row_of(const struct lp *lp, int index) { return lp->row_of_index[index + 1]; }
int lp_index_of(const struct lp *lp, int row) { return lp->index_of_row[row] - 1; }
double lp_multiplier(const struct lp *lp, int index)
{
    return glp_get_row_dual(lp->problem, index + 1);
}
long lp_iterations(const struct lp *lp) { return glp_get_it_cnt(lp->problem); }

void lp_basis_save(struct lp_basis *b, const struct lp *lp, struct arena *arena)
{
    int rows = lp_row_count(lp);
    *b = (struct lp_basis){.present = true};
    b->columns = TAKE(arena, lp->milp->column_count, unsigned char);
    b->elastics = TAKE(arena, lp->elastic_count, unsigned char);
    b->rows = TAKE(arena, lp->first_path_row, unsigned char);
    b->path_rows = TAKE(arena, rows, int);
    b->path_statuses = TAKE(arena, rows, unsigned char);
    for (int j = 0; j < lp->milp->column_count; j++)
        if (lp->index_of_column[j])
            b->columns[j] = (unsigned char)glp_get_col_stat(lp->problem, lp->index_of_column[j]);
    for (int e = 0; e < lp->elastic_count; e++)
        b->elastics[e] = (unsigned char)glp_get_col_stat(lp->problem, lp->first_elastic + e);
    for (int i = 1; i <= rows; i++) {
        int row = lp->row_of_index[i], status = glp_get_row_stat(lp->problem, i);
        if (row < lp->first_path_row) b->rows[row] = (unsigned char)status;
        else if (status != GLP_BS)
            b->path_rows[b->path_count] = row,
            b->path_statuses[b->path_count++] = (unsigned char)status;
    }
}

void lp_basis_restore(struct lp *lp, const struct lp_basis *b)
{
    for (int i = 1; i <= lp_row_count(lp); i++)
        glp_set_row_stat(lp->problem, i,
                         lp->row_of_index[i] < lp->first_path_row ? b->rows[lp->row_of_index[i]]
                                                                  : GLP_BS);
    for (int k = 0; k < b->path_count; k++) {
        if (!lp_has_row(lp, b->path_rows[k])) lp_add_row(lp, b->path_rows[k]);
        glp_set_row_stat(lp->problem, lp->index_of_row[b->path_rows[k]], b->path_statuses[k]);
    }
    for (int j = 0; j < lp->milp->column_count; j++)
        if (lp->index_of_column[j])
            glp_set_col_stat(lp->problem, lp->index_of_column[j],
                             b->columns[j] ? b->columns[j] : GLP_NL);
    for (int e = 0; e < lp->elastic_count; e++)
        glp_set_col_stat(lp->problem, lp->first_elastic + e, b->elastics[e]);
}
