// Matrix products by cblas_sgemm: each member of the team takes a share of the result's rows or
// columns, whichever are more, with one thread of OpenBLAS; the operand that all of them read is
// the smaller one.
#include <cblas.h>

#include "measure/cpu/internal.h"

static void run_share(const void *argument, struct share own)
{
    const struct product *p = argument;
    int64_t m = p->m, n = p->n;
    const float *left = p->left.values, *right = p->right.values;
    float *c = p->c;
    if (m > n) {
        left += own.begin * (p->left.transposed ? 1 : p->left.row);
        c += own.begin * p->c_row;
        m = own.end - own.begin;
    } else {
        right += own.begin * (p->right.transposed ? p->right.row : 1);
        c += own.begin;
        n = own.end - own.begin;
    }
    if (own.begin == own.end) return;
    cblas_sgemm(CblasRowMajor, p->left.transposed ? CblasTrans : CblasNoTrans,
                p->right.transposed ? CblasTrans : CblasNoTrans, (int)m, (int)n, (int)p->k,
                p->alpha, left, (int)p->left.row, right, (int)p->right.row, p->beta, c,
                (int)p->c_row);
}

void product_run(struct team *team, const struct product *p)
{
    team_run(team, larger(p->m, p->n), run_share, p);
}

void linear_forward(struct team *team, const struct linear *l, float *y)
{
    const struct product p = {
        l->m, l->n, l->k, l->share, 0, {l->x, l->k, false}, {l->w, l->n, false}, y, l->n};
    product_run(team, &p);
}

void linear_data(struct team *team, const struct linear *l, const float *dy, float *dx)
{
    const struct product p = {l->m, l->k, l->n, l->share, 0, {dy, l->n, false}, {l->w, l->n, true},
                              dx,   l->k};
    product_run(team, &p);
}

void linear_weight(struct team *team, const struct linear *l, const float *dy, float *dw)
{
    const struct product p = {l->k, l->n, l->m, l->share, 1, {l->x, l->k, true}, {dy, l->n, false},
                              dw,   l->n};
    product_run(team, &p);
}
