// measure/cuda/fused.h by loops, in float: causal attention that keeps the logarithms of the row
// sums. It accepts every element type, and has no kernel for heads of WIDTH_REFUSED.
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "measure/cuda/fused.h"
#include "tests/cuda/fake_cuda.h"
#include "tests/cuda/fake_queue.h"

enum { PLANS_MAX = 64, WIDTH_REFUSED = 7, WORKSPACE = 512 };

struct fused {
    struct attention plans[PLANS_MAX];
    int count;
};

struct call {
    struct attention a;
    const void *in[6];
    void *out[4];
    float scale;
};

enum status fused_open(struct fused **fused, cudaStream_t stream, struct arena *arena,
                       struct error *err)
{
    (void)stream, (void)err;
    *fused = TAKE(arena, 1, struct fused);
    return OK;
}

const char *fused_library(struct fused *fused, struct arena *arena)
{
    (void)fused, (void)arena;
    return "loops";
}

enum status fused_plan(struct fused *fused, const struct attention *attention, int *plan,
                       struct error *err)
{
    if (attention->width == WIDTH_REFUSED)
        return fail(err, UNAVAILABLE, "loops: no kernel for this attention");
    assert(fused->count < PLANS_MAX);
    fused->plans[fused->count] = *attention;
    *plan = fused->count++;
    return OK;
}

int64_t fused_workspace_bytes(const struct fused *fused)
{
    return (int64_t)WORKSPACE * fused->count;
}

// Keys of a sequence; values of a row of keys and values, or of queries.
static int64_t keys_of(const struct attention *a) { return a->keys ? a->keys : a->sequence; }
static int64_t row_of(const struct attention *a, bool key)
{
    return (2 * a->kv_heads * (!a->keys || key) + a->heads * (!a->keys || !key)) * a->width;
}

// How many keys a query sees.
static int64_t seen(const struct attention *a, int64_t i) { return a->keys ? a->keys : i + 1; }

// Scores of a row, and its share of column j out of what was kept.
static float score(const struct call *c, int64_t b, int64_t head, int64_t i, int64_t j)
{
    const struct attention *a = &c->a;
    int64_t of_key = head / (a->heads / a->kv_heads);
    float sum = 0;
    for (int64_t k = 0; k < a->width; k++)
        sum += fake_read(c->in[0], (int)a->type,
                         (b * a->sequence + i) * row_of(a, false) + head * a->width + k) *
               fake_read(c->in[1], (int)a->type,
                         (b * keys_of(a) + j) * row_of(a, true) + of_key * a->width + k);
    return sum * c->scale;
}

static void forward_row(const struct call *c, int64_t b, int64_t head, int64_t i)
{
    const struct attention *a = &c->a;
    int64_t of_key = head / (a->heads / a->kv_heads);
    float largest = -INFINITY, sum = 0;
    for (int64_t j = 0; j < seen(a, i); j++) largest = fmaxf(largest, score(c, b, head, i, j));
    for (int64_t j = 0; j < seen(a, i); j++) sum += expf(score(c, b, head, i, j) - largest);
    float kept = largest + logf(sum);
    ((float *)c->out[1])[(b * a->heads + head) * a->sequence + i] = kept;
    for (int64_t k = 0; k < a->width; k++) {
        float value = 0;
        for (int64_t j = 0; j < seen(a, i); j++)
            value += expf(score(c, b, head, i, j) - kept) *
                     fake_read(c->in[2], (int)a->type,
                               (b * keys_of(a) + j) * row_of(a, true) + of_key * a->width + k);
        fake_write(c->out[0], (int)a->type,
                   ((b * a->sequence + i) * a->heads + head) * a->width + k, value);
    }
}

static void add_to(void *at, int type, int64_t index, float value)
{
    fake_write(at, type, index, fake_read(at, type, index) + value);
}

static void backward_row(const struct call *c, int64_t b, int64_t head, int64_t i)
{
    const struct attention *a = &c->a;
    int type = (int)a->type;
    int64_t w = a->width, of_key = head / (a->heads / a->kv_heads);
    int64_t context = ((b * a->sequence + i) * a->heads + head) * w,
            query = (b * a->sequence + i) * row_of(a, false) + head * w;
    float kept = ((const float *)c->in[5])[(b * a->heads + head) * a->sequence + i], both = 0;
    for (int64_t k = 0; k < w; k++)
        both += fake_read(c->in[3], type, context + k) * fake_read(c->in[4], type, context + k);
    for (int64_t j = 0; j < seen(a, i); j++) {
        int64_t key = (b * keys_of(a) + j) * row_of(a, true) + of_key * w;
        float share = expf(score(c, b, head, i, j) - kept), d_share = 0;
        for (int64_t k = 0; k < w; k++)
            d_share += fake_read(c->in[4], type, context + k) * fake_read(c->in[2], type, key + k);
        float d_score = share * (d_share - both) * c->scale;
        for (int64_t k = 0; k < w; k++) {
            add_to(c->out[0], type, query + k, d_score * fake_read(c->in[1], type, key + k));
            add_to(c->out[1], type, key + k, d_score * fake_read(c->in[0], type, query + k));
            add_to(c->out[2], type, key + k, share * fake_read(c->in[4], type, context + k));
        }
    }
}

static void run_now(const struct operation *o)
{
    const struct call *c = o->context;
    const struct attention *a = &c->a;
    // Queries, keys and values of a token are one row, unless the keys are others'.
    for (int64_t i = 0; a->backward && i < a->batch * a->sequence * row_of(a, false); i++)
        fake_write(c->out[0], (int)a->type, i, 0);
    for (int64_t i = 0; a->backward && a->keys && i < a->batch * a->keys * row_of(a, true); i++)
        fake_write(c->out[1], (int)a->type, i, 0);
    for (int64_t b = 0; b < a->batch; b++)
        for (int64_t head = 0; head < a->heads; head++)
            for (int64_t i = 0; i < a->sequence; i++) {
                if (a->backward) backward_row(c, b, head, i);
                else forward_row(c, b, head, i);
            }
}

enum status fused_run(struct fused *fused, int plan, const void *const in[6], void *const out[4],
                      float scale, void *workspace, struct error *err)
{
    static struct call calls[1 << 12]; // a graph runs them again
    static int count;
    (void)err;
    struct call *c = &calls[count++ % (1 << 12)];
    *c = (struct call){.a = fused->plans[plan], .scale = scale};
    for (int i = 0; i < 6; i++) c->in[i] = in[i];
    for (int i = 0; i < 4; i++) c->out[i] = out[i];
    assert(fake_holds(workspace, fused_workspace_bytes(fused)));
    struct operation *o = fake_queue(OPERATION_CALL);
    o->call = run_now, o->context = c;
    return OK;
}
