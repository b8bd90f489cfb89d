// Matrix products by cblas_sgemm: each member of the team takes a share of the result's rows or
// columns, whichever are more, with one thread of OpenBLAS; the operand that all of them read is
// the smaller one.
#include <cblas.h>

#include "measure/cpu/kernels.h"

static void run_share(void *argument, int member, int threads)
{
    const struct product *p = argument;
    int64_t m = p->m, n = p->n, begin, end;
    const float *left = p->left, *right = p->right;
    float *c = p->c;
    if (m > n) {
        team_share(m, member, threads, &begin, &end);
        left += p->transpose_left ? begin : begin * p->left_row;
        c += begin * p->c_row;
        m = end - begin;
    } else {
        team_share(n, member, threads, &begin, &end);
        right += p->transpose_right ? begin * p->right_row : begin;
        c += begin;
        n = end - begin;
    }
    if (begin == end) return;
    cblas_sgemm(CblasRowMajor, p->transpose_left ? CblasTrans : CblasNoTrans,
                p->transpose_right ? CblasTrans : CblasNoTrans, (int)m, (int)n, (int)p->k, p->alpha,
                left, (int)p->left_row, right, (int)p->right_row, p->beta, c, (int)p->c_row);
}

void product_run(struct team *team, const struct product *p)
{
    struct product copy = *p;
    team_run(team, run_share, &copy);
}

void linear_forward(struct team *team, const struct linear *l, float *y)
{
    product_run(team, &(struct product){.m = l->m,
                                        .n = l->n,
                                        .k = l->k,
                                        .alpha = l->share,
                                        .left = l->x,
                                        .left_row = l->k,
                                        .right = l->w,
                                        .right_row = l->n,
                                        .c = y,
                                        .c_row = l->n});
}

void linear_data(struct team *team, const struct linear *l, const float *dy, float *dx)
{
    product_run(team, &(struct product){.m = l->m,
                                        .n = l->k,
                                        .k = l->n,
                                        .alpha = l->share,
                                        .left = dy,
                                        .left_row = l->n,
                                        .right = l->w,
                                        .right_row = l->n,
                                        .transpose_right = true,
                                        .c = dx,
                                        .c_row = l->k});
}

void linear_weight(struct team *team, const struct linear *l, const float *dy, float *dw)
{
    product_run(team, &(struct product){.m = l->k,
                                        .n = l->n,
                                        .k = l->m,
                                        .alpha = l->share,
                                        .beta = 1,
                                        .left = l->x,
                                        .left_row = l->k,
                                        .transpose_left = true,
                                        .right = dy,
                                        .right_row = l->n,
                                        .c = dw,
                                        .c_row = l->n});
}
