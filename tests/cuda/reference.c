// A transformer block in double precision, straight from its definition.
#include "tests/cuda/reference.h"

#include <math.h>
#include <stdlib.h>

static void norm(const struct reference *r, const double *x, const double *weight,
                 const double *bias, double *y)
{
    int h = r->hidden;
    for (int i = 0; i < r->batch * r->sequence; i++) {
        double mean = 0, squares = 0;
        for (int j = 0; j < h; j++) mean += bias ? x[i * h + j] / h : 0;
        for (int j = 0; j < h; j++) squares += (x[i * h + j] - mean) * (x[i * h + j] - mean) / h;
        for (int j = 0; j < h; j++)
            y[i * h + j] = (x[i * h + j] - mean) / sqrt(squares + 1e-5) * weight[j] +
                           (bias ? bias[j] : 0);
    }
}

static void linear(int rows, int outputs, int inputs, const double *x, const double *weights,
                   const double *bias, double *y)
{
    for (int i = 0; i < rows; i++)
        for (int o = 0; o < outputs; o++) {
            double sum = bias ? bias[o] : 0;
            for (int k = 0; k < inputs; k++) sum += x[i * inputs + k] * weights[o * inputs + k];
            y[i * outputs + o] = sum;
        }
}

static void attend(const struct reference *r, const double *rows, double *context)
{
    int w = r->width, row = (r->heads + 2 * r->kv_heads) * w, s = r->sequence;
    double *share = malloc((size_t)s * sizeof *share);
    for (int b = 0; b < r->batch; b++)
        for (int head = 0; head < r->heads; head++)
            for (int i = 0; i < s; i++) {
                int of_key = head / (r->heads / r->kv_heads);
                const double *query = rows + (b * s + i) * row + head * w;
                double sum = 0;
                for (int j = 0; j <= i; j++) {
                    const double *key = rows + (b * s + j) * row + (r->heads + of_key) * w;
                    double score = 0;
                    for (int k = 0; k < w; k++) score += query[k] * key[k];
                    share[j] = exp(score / sqrt(w));
                    sum += share[j];
                }
                for (int k = 0; k < w; k++) {
                    double value = 0;
                    for (int j = 0; j <= i; j++)
                        value +=
                            share[j] / sum *
                            rows[(b * s + j) * row + (r->heads + r->kv_heads + of_key) * w + k];
                    context[(b * s + i) * r->heads * w + head * w + k] = value;
                }
            }
    free(share);
}

void reference_forward(const struct reference *r, double *out)
{
    int n = r->batch * r->sequence, h = r->hidden, q = r->heads * r->width,
        row = q + 2 * r->kv_heads * r->width;
    int up = (r->gated ? 2 : 1) * r->ffn;
    double *const *p = r->part;
    double *y = malloc((size_t)(n * (3 * h + row + q + up + r->ffn)) * sizeof *y);
    double *rows = y + n * h, *context = rows + n * row, *middle = context + n * q,
           *u = middle + n * h, *v = u + n * up;
    double *lowered = v + n * r->ffn;
    norm(r, p[BLOCK_X], p[NORM1], p[NORM1_BIAS], y);
    linear(n, row, h, y, p[QKV], p[QKV_BIAS], rows);
    attend(r, rows, context);
    linear(n, h, q, context, p[PROJECTION], p[PROJECTION_BIAS], middle);
    for (int i = 0; i < n * h; i++) middle[i] += p[BLOCK_X][i];
    norm(r, middle, p[NORM2], p[NORM2_BIAS], y);
    linear(n, up, h, y, p[UP], p[UP_BIAS], u);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < r->ffn; j++) {
            double g = u[i * up + j];
            v[i * r->ffn + j] =
                r->gated ? g / (1 + exp(-g)) * u[i * up + r->ffn + j]
                         : 0.5 * g * (1 + tanh(0.7978845608028654 * (g + 0.044715 * g * g * g)));
        }
    linear(n, h, r->ffn, v, p[DOWN], p[DOWN_BIAS], lowered);
    for (int i = 0; i < n * h; i++) out[i] = middle[i] + lowered[i];
    free(y);
}
