// Counts parameters tensor by tensor, as a framework holds them.
#include "data/inputs/model/size.h"

#include <math.h>

// Values of a linear layer.
static int64_t linear(int64_t inputs, int64_t outputs, bool bias)
{
    return inputs * outputs + (bias ? outputs : 0);
}

static int64_t norm(const struct shape *s, int64_t width)
{
    return s->plain_norms ? 0 : s->rms_norm ? width : 2 * width;
}

static int64_t attention(const struct shape *s)
{
    int64_t query = s->heads * s->head_width, key = s->kv_heads * s->head_width,
            value = s->heads * shape_value_width(s),
            output = linear(value, s->hidden, shape_output_bias(s));
    if (s->kv_rank) {
        int64_t asked = s->query_rank ? s->query_rank : s->hidden;
        int64_t down = s->query_rank ? linear(s->hidden, asked, s->qkv_bias) + norm(s, asked) : 0;
        return down + linear(asked, query, false) +
               linear(s->hidden, s->kv_rank + s->rotary_width, s->qkv_bias) + norm(s, s->kv_rank) +
               linear(s->kv_rank, query - s->heads * s->rotary_width + value, false) + output;
    }
    int64_t norms = s->qk_norm == QK_NORM_HEAD    ? 2 * norm(s, s->head_width)
                    : s->qk_norm == QK_NORM_WHOLE ? norm(s, query) + norm(s, key)
                                                  : 0;
    return linear(s->hidden, query, s->qkv_bias) + 2 * linear(s->hidden, key, s->qkv_bias) + norms +
           output;
}

static int64_t feed_forward(const struct shape *s, int64_t width, bool bias)
{
    return (s->gated_ffn ? 2 : 1) * linear(s->hidden, width, bias) + linear(width, s->hidden, bias);
}

// Low-rank factors for each matrix of a block.
static int64_t adapters(const struct shape *s, int64_t rank)
{
    int64_t query = s->heads * s->head_width, key = s->kv_heads * s->head_width;
    return rank * (2 * (s->hidden + query) + 2 * (s->hidden + key) +
                   (s->gated_ffn ? 3 : 2) * (s->hidden + s->ffn));
}

static struct model_size block(const struct shape *s, const struct layer_run *r)
{
    const struct expert_shape *e = &r->experts;
    int64_t times = r->cross_attention ? 2 : 1,
            all = times * attention(s) + (shape_norms(s) + times - 1) * norm(s, s->hidden);
    // The projection of a state next to an embedding, their norms, and the norm before the logits.
    if (r->mtp) all += linear(2 * s->hidden, s->hidden, false) + 3 * norm(s, s->hidden);
    if (r->kind == LAYER_BLOCK) {
        all += feed_forward(s, s->ffn, s->linear_bias) + adapters(s, r->adapter_rank);
        return (struct model_size){all, all, false};
    }
    all += linear(s->hidden, e->experts, false) + (e->shared_gate ? s->hidden : 0) +
           (e->shared_ffn ? feed_forward(s, e->shared_ffn, s->linear_bias) : 0);
    int64_t expert = feed_forward(s, e->ffn, false);
    return (struct model_size){all + e->experts * expert, all + e->top_k * expert, false};
}

static struct model_size pool(const struct shape *s, const struct pool_shape *p)
{
    int64_t half = (int64_t)llround(sqrt((double)p->values)), keys = p->heads * p->key_width,
            all = half * keys + s->hidden * keys + (p->gated ? 2 : 1) * p->width * s->hidden +
                  norm(s, s->hidden);
    return (struct model_size){all + (p->shared ? 0 : p->values * p->width),
                               all + p->heads * p->top_k * p->width, false};
}

static struct model_size end(const struct shape *s, enum layer_kind kind)
{
    int64_t width = shape_embedding_width(s),
            projection = s->embedding_width ? linear(s->hidden, width, false) : 0,
            table = s->vocabulary * width, all = projection;
    if (kind == LAYER_EMBEDDING) all += table + s->positions * s->hidden;
    else all += (s->tied_embeddings ? 0 : table) + (s->no_final_norm ? 0 : norm(s, s->hidden));
    return (struct model_size){all, all, false};
}

static struct model_size projector(const struct projector_shape *p)
{
    int64_t all = p->inner
                      ? linear(p->inputs, p->inner, p->bias) + linear(p->inner, p->outputs, p->bias)
                      : linear(p->inputs, p->outputs, p->bias);
    return (struct model_size){all, all, false};
}

struct model_size model_size_of(const struct model *m)
{
    struct model_size sum = {0, 0, false};
    for (int i = 0; i < m->run_count; i++) {
        const struct layer_run *r = &m->runs[i];
        struct model_size one = {0, 0, false};
        if (r->kind == LAYER_BLOCK || r->kind == LAYER_MOE) one = block(run_shape(m, r), r);
        else if (r->kind == LAYER_PROJECTOR) one = projector(&r->projector);
        else if (r->kind == LAYER_MEMORY) one = pool(&m->shape, &r->pool);
        else if (r->kind != LAYER_MEASURED) one = end(&m->shape, r->kind);
        sum.all += (r->shared_weights ? 1 : r->count) * (one.all + r->more_values);
        sum.active += r->count * (one.active + r->more_values);
        sum.measured = sum.measured || r->kind == LAYER_MEASURED;
    }
    const struct layer_run *shared = model_shared_pool(m);
    if (shared) sum.all += shared->pool.values * shared->pool.width;
    return sum;
}
