// Counts parameters tensor by tensor, as a framework holds them, and the FLOP of a forward pass.
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

static int64_t query_width(const struct shape *s) { return s->heads * s->head_width; }
static int64_t key_width(const struct shape *s) // as those below, of products of this layer
{
    return s->keys_reused ? 0 : s->kv_heads * s->head_width;
}
static int64_t values_width(const struct shape *s)
{
    return s->keys_as_values || s->keys_reused ? 0 : s->kv_heads * shape_value_width(s);
}
static int64_t sum_width(const struct shape *s) { return s->heads * shape_value_width(s); }
static int64_t gate_width(const struct shape *s) { return s->gated_attention ? query_width(s) : 0; }
static int64_t attentions(const struct layer_run *r)
{
    return r->no_attention ? 0 : r->cross_attention ? 2 : 1;
}
static int64_t norms(const struct shape *s, const struct layer_run *r)
{
    return run_is_whole(r) ? shape_norms(s) + attentions(r) - 1 : (shape_norms(s) + 1) / 2;
}

// Linear attention: widths of keys and values, and of keys by the value heads.
static int64_t linear_keys(const struct linear_shape *l) { return l->key_heads * l->key_width; }
static int64_t linear_values(const struct linear_shape *l)
{
    return l->value_heads * l->value_width;
}
static int64_t linear_decays(const struct linear_shape *l)
{
    return l->value_heads * (l->decay_rank ? l->key_width : 1);
}

// `width` outputs, through a latent of this rank unless it is 0.
static int64_t by_rank(const struct shape *s, int64_t rank, int64_t width)
{
    return rank ? rank * (s->hidden + width) : s->hidden * width;
}

// What reads a token; what makes steps, or their latent, of it or of the values; the output's.
static int64_t linear_matrices(const struct shape *s)
{
    const struct linear_shape *l = &s->linear;
    int64_t h = s->hidden, k = linear_keys(l), v = linear_values(l);
    switch (l->rule) {
    case LINEAR_DELTA:
        return h * (2 * k + 2 * v + l->value_heads) + by_rank(s, l->decay_rank, linear_decays(l)) +
               by_rank(s, l->gate_rank, v);
    case LINEAR_STATE_SPACE: return h * (2 * k + 3 * v + l->value_heads);
    case LINEAR_SCAN: return 3 * h * v + v * (l->decay_rank + 2 * k) + l->decay_rank * v;
    case LINEAR_LIGHTNING: return h * (2 * k + 3 * v);
    default: return 4 * h * v;
    }
}

// The convolution, rates and biases of decays, the values' own share, a norm of the output.
static int64_t linear_vectors(const struct linear_shape *l)
{
    int64_t k = linear_keys(l), v = linear_values(l), all = 2 * k + v,
            whole_norm = l->no_norm ? 0 : v;
    switch (l->rule) {
    case LINEAR_DELTA:
        return l->convolution * all + l->value_heads + linear_decays(l) +
               (l->no_norm ? 0 : l->value_width);
    case LINEAR_STATE_SPACE:
        return (l->convolution ? l->convolution + 1 : 0) * all + 3 * l->value_heads + whole_norm;
    case LINEAR_SCAN:
        return (l->convolution ? l->convolution + 1 : 0) * v + v * l->key_width + 2 * v;
    case LINEAR_LIGHTNING: return l->convolution * all + whole_norm;
    default: return l->convolution * v;
    }
}

// Multiplications and additions of a token in its states: a key read, written and asked for; or no
// key read.
static double linear_flop(const struct linear_shape *l, double tokens)
{
    double each = l->rule == LINEAR_DELTA ? 6 : l->rule == LINEAR_CONVOLUTION ? 0 : 4;
    return each * tokens * (double)(linear_values(l) * l->key_width);
}

// Of sparse attention: heads of queries, one key, a weight of each head.
static int64_t index_matrices(const struct shape *s)
{
    int64_t from = s->query_rank ? s->query_rank : s->hidden;
    return from * s->index_heads * s->index_width + s->hidden * (s->index_width + s->index_heads);
}

// Weights of a layer's attention.
static int64_t attention_matrices(const struct shape *s, const struct layer_run *r)
{
    int64_t h = s->hidden, q = query_width(s), v = sum_width(s),
            turned = s->heads * s->rotary_width;
    if (r->linear) return linear_matrices(s);
    if (!s->kv_rank)
        return attentions(r) * h * (q + v + key_width(s) + values_width(s) + gate_width(s)) +
               (r->linear_beside ? linear_matrices(s) : 0);
    return attentions(r) * (h * (s->query_rank + s->kv_rank + s->rotary_width) +
                            (s->query_rank ? s->query_rank : h) * q +
                            s->kv_rank * (q - turned + v) + v * h + index_matrices(s));
}

// Biases, and norms of latents or of queries and keys.
static int64_t attention_vectors(const struct shape *s, const struct layer_run *r)
{
    int64_t q = query_width(s), k = key_width(s), latents = s->query_rank + s->kv_rank,
            read = s->kv_rank ? latents + s->rotary_width : q + k + values_width(s) + gate_width(s);
    if (r->linear) return linear_vectors(&s->linear);
    return attentions(r) *
               (norm(s, latents) + 2 * s->index_width + (s->qkv_bias ? read : 0) +
                (shape_output_bias(s) ? s->hidden : 0) +
                (s->qk_norm == QK_NORM_HEAD    ? (s->keys_reused ? 1 : 2) * norm(s, s->head_width)
                 : s->qk_norm == QK_NORM_WHOLE ? norm(s, q) + norm(s, k)
                                               : 0)) +
           (r->linear_beside ? linear_vectors(&s->linear) : 0);
}

// All score cells within a window, or within chunks.
static double attention_flop(const struct shape *s, const struct layer_run *r, double tokens)
{
    double reach = (double)(r->window  ? r->window
                            : r->chunk ? r->chunk
                                       : s->index_top_k),
           seen = reach > 0 && reach < tokens ? reach : tokens, rest = fmod(tokens, seen);
    if (r->linear) return linear_flop(&s->linear, tokens);
    if (r->no_attention) return 0;
    if (r->chunk) seen = ((tokens - rest) * seen + rest * rest) / tokens;
    return 2 * tokens * (seen + (r->cross_attention ? tokens : 0)) *
               (double)(query_width(s) + sum_width(s)) +
           2 * tokens * tokens * (double)(s->index_heads * s->index_width);
}

// The score cells that the mask leaves: a triangle, in chunks, or a band of a window's width.
static double masked_flop(const struct shape *s, const struct layer_run *r, double tokens)
{
    double w = (double)(r->window ? r->window : s->index_top_k), c = (double)r->chunk,
           all = tokens * tokens / 2, cells = all;
    if (r->linear || r->bidirectional || r->no_attention) return attention_flop(s, r, tokens);
    if (w > 0 && w < tokens) cells = w * w / 2 + w * (tokens - w);
    if (r->chunk && c < tokens)
        cells = (floor(tokens / c) * c * c + fmod(tokens, c) * fmod(tokens, c)) / 2;
    if (r->cross_attention) cells += tokens * tokens;
    return 2 * cells * (double)(query_width(s) + sum_width(s)) +
           2 * all * (double)(s->index_heads * s->index_width);
}

static int64_t gate_matrices(const struct shape *s) { return s->gated_ffn ? 3 : 2; }

static int64_t shared_ffn(const struct shape *s, const struct layer_run *r)
{
    return r->kind == LAYER_MOE ? r->experts.shared_ffn : r->no_feed_forward ? 0 : s->ffn;
}

int64_t repeated_weights(const struct shape *s, const struct layer_run *r)
{
    int64_t experts = r->kind == LAYER_MOE ? r->experts.top_k * r->experts.ffn : 0;
    return s->hidden * (query_width(s) + key_width(s) + (s->gated_ffn ? shared_ffn(s, r) : 0)) +
           expert_width(s, &r->experts) * gate_matrices(s) * experts;
}

static int64_t feed_forward(const struct shape *s, int64_t width, bool bias)
{
    return gate_matrices(s) * s->hidden * width +
           (bias ? (gate_matrices(s) - 1) * width + s->hidden : 0);
}

int64_t adapter_values(const struct shape *s, const struct layer_run *run)
{
    int64_t q = query_width(s), kv = key_width(s), f = s->ffn, sum = 0,
            wide[ADAPTER_MODULE_COUNT] = {q, kv, kv, q, f, f, f, q + 2 * kv, 2 * f};
    for (int m = 0; m < ADAPTER_MODULE_COUNT; m++)
        if (run_adapts(run, s, (enum adapter_module)m)) sum += s->hidden + wide[m];
    return run->adapter_rank * sum;
}

static struct model_size block(const struct shape *s, const struct layer_run *r)
{
    const struct expert_shape *e = &r->experts;
    int64_t all = attention_matrices(s, r) + attention_vectors(s, r) +
                  norms(s, r) * norm(s, s->hidden);
    // The projection of a state next to an embedding, their norms, and the norm before the logits.
    if (r->mtp) all += linear(2 * s->hidden, s->hidden, false) + 3 * norm(s, s->hidden);
    all += adapter_values(s, r);
    if (r->kind == LAYER_BLOCK) {
        if (!r->no_feed_forward) all += feed_forward(s, s->ffn, s->linear_bias);
        return (struct model_size){all, all, false};
    }
    all += s->hidden * (e->experts + (e->shared_gate ? 1 : 0)) +
           (e->shared_ffn ? feed_forward(s, e->shared_ffn, s->linear_bias) : 0);
    int64_t expert = gate_matrices(s) * expert_width(s, e) * e->ffn;
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

// Weights of a block that one token uses: attention, and its feed-forward part or the experts used.
static int64_t block_weights(const struct shape *s, const struct layer_run *r)
{
    bool moe = r->kind == LAYER_MOE;
    int64_t experts = moe ? r->experts.top_k * r->experts.ffn : 0;
    return attention_matrices(s, r) + feed_forward(s, shared_ffn(s, r), false) +
           gate_matrices(s) * expert_width(s, &r->experts) * experts +
           (moe ? s->hidden * r->experts.experts : 0) + (r->mtp ? 2 * s->hidden * s->hidden : 0) +
           r->more_products;
}

// The weighted sum of the values found is a product, too.
static double pool_weights(const struct shape *s, const struct pool_shape *p)
{
    double keys = (double)(p->heads * p->key_width);
    return (double)s->hidden * keys + sqrt((double)p->values) * keys +
           (double)(p->heads * p->top_k * p->width + (p->gated ? 2 : 1) * s->hidden * p->width);
}

struct layer_flop layer_flop_of(const struct model *m, const struct layer_run *r, int64_t sequence)
{
    const struct shape *s = run_shape(m, r);
    double tokens = (double)(r->tokens ? r->tokens : sequence), weights = 0, attention = 0,
           masked = 0;
    if (r->kind == LAYER_BLOCK || r->kind == LAYER_MOE) {
        weights = (double)block_weights(s, r), attention = attention_flop(s, r, tokens);
        masked = masked_flop(s, r, tokens);
    } else if (r->kind == LAYER_MEMORY) {
        weights = pool_weights(s, &r->pool);
    } else if (r->kind == LAYER_HEAD) {
        weights = (double)((1 + model_mtp_depth(m)) * shape_embedding_width(s) *
                           (s->vocabulary + (s->embedding_width ? s->hidden : 0)));
    } else if (r->kind == LAYER_PROJECTOR) {
        struct projector_shape p = r->projector;
        p.bias = false;
        weights = (double)projector(&p).all;
    }
    double beside = r->linear_beside ? linear_flop(&s->linear, tokens) : 0;
    return (struct layer_flop){2 * tokens * weights, attention + beside, r->linear ? 0 : attention,
                               masked + beside};
}
