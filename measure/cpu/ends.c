// The model's ends: the embedding's rows and the loss after the head.
#include <math.h>

#include "measure/cpu/internal.h"

int64_t token_row(float token, int64_t rows)
{
    int64_t row = (int64_t)((token + 1) * 0.5f * (float)rows);
    return row < 0 ? 0 : row < rows ? row : rows - 1;
}

static void run_embedding(const void *argument, struct share own)
{
    const struct embedding *e = argument;
    int64_t h = e->width;
    for (int64_t i = own.begin; i < own.end; i++) {
        const float *row = e->table + token_row(e->token[i], e->rows) * h;
        float *x = e->x + i * h;
        if (!e->positions) {
            memcpy(x, row, (size_t)h * sizeof *x);
            continue;
        }
        const float *position = e->positions + i % e->sequence * h;
        for (int64_t j = 0; j < h; j++) x[j] = row[j] + position[j];
    }
}

// Two tokens may have the same row, so members divide the columns.
static void run_embedding_backward(const void *argument, struct share own)
{
    const struct embedding *e = argument;
    int64_t h = e->width;
    for (int64_t i = 0; i < e->tokens; i++) {
        const float *dx = e->dx + i * h;
        float *row = e->d_table + token_row(e->token[i], e->rows) * h;
        for (int64_t j = own.begin; j < own.end; j++) row[j] += dx[j];
        if (!e->positions) continue;
        float *position = e->d_positions + i % e->sequence * h;
        for (int64_t j = own.begin; j < own.end; j++) position[j] += dx[j];
    }
}

void embedding_forward(struct team *team, const struct embedding *e)
{
    team_run(team, e->tokens, run_embedding, e);
}

void embedding_backward(struct team *team, const struct embedding *e)
{
    team_run(team, e->width, run_embedding_backward, e);
}

// ---- the loss

enum { PIECE = 1024 };

// Exponentials are summed in pieces, so that they need not be stored.
static void run_loss(const void *argument, struct share own)
{
    const struct loss *l = argument;
    for (int64_t i = own.begin; i < own.end; i++) {
        const float *row = l->logits + i * l->classes;
        float largest = largest_of(row, l->classes), total = 0, piece[PIECE];
        for (int64_t j = 0; j < l->classes; j += PIECE) {
            int64_t count = l->classes - j < PIECE ? l->classes - j : PIECE;
            for (int64_t k = 0; k < count; k++) piece[k] = exponential(row[j + k] - largest);
            total += sum_of(piece, NULL, count);
        }
        l->largest[i] = largest, l->total[i] = total;
        l->loss[i] = logf(total) + largest - row[token_row(l->token[i], l->classes)];
    }
}

static void run_loss_backward(const void *argument, struct share own)
{
    const struct loss *l = argument;
    float share = 1 / (float)l->tokens;
    for (int64_t i = own.begin; i < own.end; i++) {
        const float *row = l->logits + i * l->classes;
        float *d = l->d_logits + i * l->classes, scale = share / l->total[i],
              largest = l->largest[i];
        for (int64_t j = 0; j < l->classes; j++) d[j] = exponential(row[j] - largest) * scale;
        d[token_row(l->token[i], l->classes)] -= share;
    }
}

void loss_forward(struct team *team, const struct loss *l)
{
    team_run(team, l->tokens, run_loss, l);
}

void loss_backward(struct team *team, const struct loss *l)
{
    team_run(team, l->tokens, run_loss_backward, l);
}
