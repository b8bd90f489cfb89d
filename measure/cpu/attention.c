// Unmasked, unfused attention: scores are written, softmax reads and writes them, the context
// reads them. A block on a CPU without a fused kernel does the same, and docs/FORMULAS.md section
// 3 prices it this way. Each member of the team takes its heads; in the backward pass, its heads
// of keys, since several query heads add to their gradients.
#include <assert.h>
#include <cblas.h>
#include <math.h>

#include "measure/cpu/internal.h"

// Keys, values or their gradients of one head in one block.
struct keys {
    const float *key, *value;
    int64_t row;
};

static struct keys keys_of(const struct attention *a, const float *key, const float *value,
                           const float *others, int64_t batch, int64_t kv_head, int64_t block)
{
    int64_t row = a->key_row, place = batch * a->keys;
    if (block) {
        row = 2 * a->kv_heads * a->width;
        place += (block - 1) * a->batch * a->keys;
        key = others, value = others + a->kv_heads * a->width;
    }
    return (struct keys){key + place * row + kv_head * a->width,
                         value + place * row + kv_head * a->width, row};
}

// c [queries][width] or [keys][width] or [queries][keys]: products of one head and block.
static void multiply(CBLAS_TRANSPOSE left_form, CBLAS_TRANSPOSE right_form, int64_t m, int64_t n,
                     int64_t k, const float *left, int64_t left_row, const float *right,
                     int64_t right_row, float beta, float *c, int64_t c_row)
{
    cblas_sgemm(CblasRowMajor, left_form, right_form, (int)m, (int)n, (int)k, 1.0f, left,
                (int)left_row, right, (int)right_row, beta, c, (int)c_row);
}

static void run_forward(const void *argument, struct share own)
{
    const struct attention *a = argument;
    int64_t columns = a->blocks * a->keys, size = a->queries * columns,
            group = a->heads / a->kv_heads;
    for (int64_t i = own.begin; i < own.end; i++)
        for (int64_t j = 0; j < a->blocks; j++) {
            int64_t batch = i / a->heads, head = i % a->heads;
            struct keys k = keys_of(a, a->key, a->value, a->others, batch, head / group, j);
            multiply(CblasNoTrans, CblasTrans, a->queries, a->keys, a->width,
                     a->query + batch * a->queries * a->query_row + head * a->width, a->query_row,
                     k.key, k.row, 0, a->scores + i * size + j * a->keys, columns);
        }
    softmax_rows(a->scores + own.begin * size, (own.end - own.begin) * a->queries, columns,
                 1 / sqrtf((float)a->width));
    for (int64_t i = own.begin; i < own.end; i++)
        for (int64_t j = 0; j < a->blocks; j++) {
            int64_t batch = i / a->heads, head = i % a->heads;
            struct keys k = keys_of(a, a->key, a->value, a->others, batch, head / group, j);
            multiply(CblasNoTrans, CblasNoTrans, a->queries, a->width, a->keys,
                     a->scores + i * size + j * a->keys, columns, k.value, k.row, j > 0,
                     a->context + batch * a->queries * a->context_row + head * a->width,
                     a->context_row);
        }
}

// Gradients of query, key and value of one head and block, from the scores' gradient.
static void add_gradients(const struct attention *a, int64_t batch, int64_t head, int64_t block)
{
    int64_t columns = a->blocks * a->keys, group = a->heads / a->kv_heads, kv_head = head / group;
    int64_t place = ((batch * a->heads + head) * a->queries) * columns + block * a->keys;
    int64_t at_query = batch * a->queries * a->query_row + head * a->width;
    const float *d_context = a->d_context + batch * a->queries * a->context_row + head * a->width;
    struct keys k = keys_of(a, a->key, a->value, a->others, batch, kv_head, block);
    struct keys d = keys_of(a, a->d_key, a->d_value, a->d_others, batch, kv_head, block);
    float beta = head % group ? 1 : 0;
    multiply(CblasNoTrans, CblasNoTrans, a->queries, a->width, a->keys, a->d_scores + place,
             columns, k.key, k.row, block > 0, a->d_query + at_query, a->query_row);
    multiply(CblasTrans, CblasNoTrans, a->keys, a->width, a->queries, a->d_scores + place, columns,
             a->query + at_query, a->query_row, beta, (float *)d.key,
             d.row); // gradients are written: keys_of serves both
    multiply(CblasTrans, CblasNoTrans, a->keys, a->width, a->queries, a->scores + place, columns,
             d_context, a->context_row, beta, (float *)d.value, d.row);
}

static void run_backward(const void *argument, struct share own)
{
    const struct attention *a = argument;
    int64_t columns = a->blocks * a->keys, size = a->queries * columns,
            group = a->heads / a->kv_heads;
    own.begin *= group, own.end *= group;
    for (int64_t i = own.begin; i < own.end; i++)
        for (int64_t j = 0; j < a->blocks; j++) {
            int64_t batch = i / a->heads, head = i % a->heads;
            struct keys k = keys_of(a, a->key, a->value, a->others, batch, head / group, j);
            multiply(CblasNoTrans, CblasTrans, a->queries, a->keys, a->width,
                     a->d_context + batch * a->queries * a->context_row + head * a->width,
                     a->context_row, k.value, k.row, 0, a->d_scores + i * size + j * a->keys,
                     columns);
        }
    softmax_rows_backward(a->scores + own.begin * size, a->d_scores + own.begin * size,
                          (own.end - own.begin) * a->queries, columns, 1 / sqrtf((float)a->width));
    for (int64_t i = own.begin; i < own.end; i++)
        for (int64_t j = 0; j < a->blocks; j++) add_gradients(a, i / a->heads, i % a->heads, j);
}

void attention_forward(struct team *team, const struct attention *a)
{
    assert(a->heads % a->kv_heads == 0);
    team_run(team, a->batch * a->heads, run_forward, a);
}

void attention_backward(struct team *team, const struct attention *a)
{
    assert(a->heads % a->kv_heads == 0);
    team_run(team, a->batch * a->kv_heads, run_backward, a);
}
