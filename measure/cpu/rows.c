// What OpenBLAS lacks: softmax, norms, activation functions, sums and the optimizer's step, in
// plain C over each member's share of the rows.
#include <math.h>

#include "measure/cpu/internal.h"

void softmax_rows(float *scores, int64_t rows, int64_t columns, float scale)
{
    for (int64_t i = 0; i < rows; i++) {
        float *row = scores + i * columns, largest = largest_of(row, columns);
        for (int64_t j = 0; j < columns; j++) row[j] = exponential((row[j] - largest) * scale);
        float share = 1 / sum_of(row, NULL, columns);
        for (int64_t j = 0; j < columns; j++) row[j] *= share;
    }
}

void softmax_rows_backward(const float *shares, float *gradients, int64_t rows, int64_t columns,
                           float scale)
{
    for (int64_t i = 0; i < rows; i++) {
        const float *share = shares + i * columns;
        float *row = gradients + i * columns, mean = sum_of(share, row, columns);
        for (int64_t j = 0; j < columns; j++) row[j] = share[j] * (row[j] - mean) * scale;
    }
}

// ---- norms

static void run_norm(const void *argument, struct share own)
{
    const struct norm *n = argument;
    int64_t h = n->width;
    for (int64_t i = own.begin; i < own.end; i++) {
        const float *x = n->x + i * h;
        float *y = n->y + i * h, mean = n->rms ? 0 : sum_of(x, NULL, h) / (float)h;
        float scale = n->scale[i] = 1 / sqrtf(sum_of(x, x, h) / (float)h - mean * mean + 1e-5f);
        for (int64_t j = 0; j < h; j++) y[j] = (x[j] - mean) * scale;
    }
}

static void run_norm_backward(const void *argument, struct share own)
{
    const struct norm *n = argument;
    int64_t h = n->width;
    for (int64_t i = own.begin; i < own.end; i++) {
        const float *y = n->y + i * h, *dy = n->dy + i * h;
        float *dx = n->dx + i * h, scale = n->scale[i];
        float mean = n->rms ? 0 : sum_of(dy, NULL, h) / (float)h,
              slope = sum_of(y, dy, h) / (float)h;
        for (int64_t j = 0; j < h; j++) dx[j] = scale * (dy[j] - mean - slope * y[j]);
    }
}

void norm_forward(struct team *team, const struct norm *n) { team_run(team, n->rows, run_norm, n); }

void norm_backward(struct team *team, const struct norm *n)
{
    team_run(team, n->rows, run_norm_backward, n);
}

// ---- sums and copies

struct sum {
    const float *x, *y;
    float *z;
};

static void run_sum(const void *argument, struct share own)
{
    const struct sum *s = argument;
    for (int64_t j = own.begin; j < own.end; j++) s->z[j] = s->x[j] + s->y[j];
}

void sum_run(struct team *team, int64_t count, const float *x, const float *y, float *z)
{
    struct sum s = {x, y, z};
    team_run(team, count, run_sum, &s);
}

static void run_copy(const void *argument, struct share own)
{
    const struct sum *s = argument;
    memcpy(s->z + own.begin, s->x + own.begin, (size_t)(own.end - own.begin) * sizeof(float));
}

void copy_run(struct team *team, int64_t count, const float *x, float *y)
{
    struct sum s = {x, NULL, y};
    team_run(team, count, run_copy, &s);
}

// ---- activations; gelu by its tanh form is x / (1 + e^-2u)

static const float gelu_slope = 1.5957691f, gelu_cube = 0.044715f;

static void run_activation(const void *argument, struct share own)
{
    const struct activation *a = argument;
    for (int64_t i = own.begin; i < own.end; i++) {
        const float *gate = a->gate + i * a->row, *up = a->up ? a->up + i * a->row : NULL;
        float *y = a->y + i * a->width;
        if (up)
            for (int64_t j = 0; j < a->width; j++)
                y[j] = gate[j] / (1 + exponential(-gate[j])) * up[j];
        else
            for (int64_t j = 0; j < a->width; j++) {
                float x = gate[j];
                y[j] = x / (1 + exponential(-gelu_slope * (x + gelu_cube * x * x * x)));
            }
    }
}

static void run_activation_backward(const void *argument, struct share own)
{
    const struct activation *a = argument;
    for (int64_t i = own.begin; i < own.end; i++) {
        const float *gate = a->gate + i * a->row, *up = a->up ? a->up + i * a->row : NULL,
                    *dy = a->dy + i * a->width;
        float *d_gate = a->d_gate + i * a->row, *d_up = a->up ? a->d_up + i * a->row : NULL;
        if (up)
            for (int64_t j = 0; j < a->width; j++) {
                float share = 1 / (1 + exponential(-gate[j]));
                d_gate[j] = dy[j] * up[j] * share * (1 + gate[j] * (1 - share));
                d_up[j] = dy[j] * gate[j] * share;
            }
        else
            for (int64_t j = 0; j < a->width; j++) {
                float x = gate[j],
                      share = 1 / (1 + exponential(-gelu_slope * (x + gelu_cube * x * x * x)));
                d_gate[j] = dy[j] * share *
                            (1 + x * (1 - share) * gelu_slope * (1 + 3 * gelu_cube * x * x));
            }
    }
}

void activation_forward(struct team *team, const struct activation *a)
{
    team_run(team, a->rows, run_activation, a);
}

void activation_backward(struct team *team, const struct activation *a)
{
    team_run(team, a->rows, run_activation_backward, a);
}

// ---- the optimizer

static void run_adam(const void *argument, struct share own)
{
    const struct adam *a = argument;
    const float keep_first = 0.9f, keep_second = 0.999f, rate = 1e-4f, least = 1e-8f;
    float *restrict weight = a->weight, *restrict first = a->first, *restrict second = a->second;
    const float *restrict gradient = a->gradient;
    for (int64_t j = own.begin; j < own.end; j++) {
        float g = gradient[j];
        first[j] = keep_first * first[j] + (1 - keep_first) * g;
        second[j] = keep_second * second[j] + (1 - keep_second) * g * g;
        // A second moment is never negative, but the random state used for timing may be.
        weight[j] -= rate * first[j] / (sqrtf(fabsf(second[j])) + least);
    }
}

void adam_run(struct team *team, const struct adam *a) { team_run(team, a->count, run_adam, a); }
