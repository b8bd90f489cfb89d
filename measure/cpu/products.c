// Matrix products by cblas_sgemm: each member of the team takes a share of the result's rows or
// columns, whichever are more, with one thread of OpenBLAS; the operand that all of them read is
// the smaller one.
#include <cblas.h>

#include "measure/cpu/kernels.h"

static void run_share(const void *argument, int member, int threads)
{
    const struct product *p = argument;
    int64_t m = p->m, n = p->n, begin, end;
    const float *left = p->left.values, *right = p->right.values;
    float *c = p->c;
    if (m > n) {
        team_share(m, member, threads, &begin, &end);
        left += p->left.transposed ? begin : begin * p->left.row;
        c += begin * p->c_row;
        m = end - begin;
    } else {
        team_share(n, member, threads, &begin, &end);
        right += p->right.transposed ? begin * p->right.row : begin;
        c += begin;
        n = end - begin;
    }
    if (begin == end) return;
    cblas_sgemm(CblasRowMajor, p->left.transposed ? CblasTrans : CblasNoTrans,
                p->right.transposed ? CblasTrans : CblasNoTrans, (int)m, (int)n, (int)p->k,
                p->alpha, left, (int)p->left.row, right, (int)p->right.row, p->beta, c,
                (int)p->c_row);
}

void product_run(struct team *team, const struct product *p) { team_run(team, run_share, p); }

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
