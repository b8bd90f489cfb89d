// What one pass forward over a layer asks of one device: FLOP of its matrices and of attention,
// bytes that memory bounds. docs/FORMULAS.md section 3.
#include <math.h>

#include "formulate/price/pricing.h"

struct slice slice_of(const struct pricing *x, int slice)
{
    const struct layout *layout = &x->problem->job.layout;
    real length = x->s, before = 0;
    if (layout->slice_count > 1) {
        length = (real)layout->slices[slice];
        for (int i = 0; i < slice; i++) before += (real)layout->slices[i];
    }
    return (struct slice){.tokens = x->b * length / x->c,
                          .score_cells = x->b * length * ((before + length) / x->c),
                          .causal_cells = x->b * length * ((before + length / 2) / x->c),
                          .wasted_cells = x->b * length * (64 / x->c),
                          .share = length / x->s};
}

// Inputs of the matrices, written once more in 8 bits and read again.
static real cast_bytes(const struct pricing *x, real n, real ffn)
{
    return x->problem->job.precision == FP8 ? 4 * n * (2 * x->h + x->q / x->t + ffn / x->t) : 0;
}

// Queries, keys and values from one product, as are gate and up: inputs, weights, outputs of each.
static real operand_bytes(const struct pricing *x, real n, real ffn)
{
    real weights = x->h * (x->q + 2 * x->kv) + x->q * x->h + x->g * x->h * ffn;
    real inner = 2 * x->q + 2 * x->kv + x->g * ffn, outer = ffn > 0 ? 4 : 2;
    return x->e * (weights / x->t + n * (outer * x->h + inner / x->t));
}

static void add_attention(const struct pricing *x, const struct slice *slice,
                          struct layer_work *work)
{
    bool fused = x->problem->job.layout.fused_attention;
    work->attention = 4 * (fused ? slice->causal_cells : slice->score_cells) * x->q / x->t;
    work->scores = fused ? 0 : 6 * (x->a / x->t) * slice->score_cells * x->e;
    work->memory += work->scores;
}

static struct layer_work work_of_block(const struct pricing *x, const struct layer_run *run,
                                       const struct slice *slice)
{
    real n = slice->tokens, attention = x->h * (x->q + 2 * x->kv) + x->q * x->h;
    struct layer_work work = {.memory = 10 * n * x->h * x->e * x->u};
    if (run->kind == LAYER_MOE) {
        const struct expert_shape *e = &run->experts;
        real routed = n * (real)e->top_k * fmaxl(1, e->imbalance), ffn = (real)e->ffn,
             shared = (real)e->shared_ffn;
        work.linear = 2 * n * (attention + x->g * x->h * shared) / x->t +
                      2 * n * x->h * (real)e->experts / x->t +
                      2 * x->g * x->h * ffn * routed / x->t;
        work.memory += x->g * n * shared * x->e / x->t + x->g * routed * ffn * x->e / x->t +
                       4 * routed * x->h * x->e + 8 * n * (real)e->experts / x->t;
        work.casts = cast_bytes(x, n, shared + routed / n * ffn);
        // Of the experts those on this device, each with its weights.
        work.operands =
            operand_bytes(x, n, shared) +
            x->e * (n * (x->h + (real)e->experts / x->t) + x->h * (real)e->experts / x->t) +
            x->e * (x->g * x->h * ffn * (real)e->experts / x->x / x->t +
                    routed * (2 * x->h + x->g * ffn / x->t));
    } else {
        real widths = (x->h + x->q) + 2 * (x->h + x->kv) + (x->q + x->h) + x->g * (x->h + x->f);
        work.linear = 2 * n * (attention + x->g * x->h * x->f) / x->t;
        work.adapters = 2 * n * run->adapter_rank * widths / x->t;
        work.memory += x->g * n * x->f * x->e / x->t;
        work.casts = cast_bytes(x, n, x->f);
        work.operands = operand_bytes(x, n, x->f);
    }
    add_attention(x, slice, &work);
    return work;
}

// Query, both halves' scores, the weighted sum of the values found, the output; the values
// themselves are only read.
static struct layer_work work_of_pool(const struct pricing *x, const struct layer_run *run,
                                      const struct slice *slice)
{
    const struct pool_shape *p = &run->pool;
    real n = slice->tokens / x->t, heads = (real)p->heads, keys = sqrtl((real)p->values),
         key = (real)p->key_width, width = (real)p->width, top = (real)p->top_k;
    struct layer_work work = {.weightless = 2 * n * heads * top * width,
                              .gathered = n * heads * top * width * x->e};
    work.linear = 2 * n *
                  (x->h * heads * key + heads * keys * key + heads * top * width + width * x->h +
                   (p->gated ? x->h * width : 0));
    work.memory = 2 * slice->tokens * x->h * x->e * x->u + work.gathered +
                  n * (8 * heads * keys + width * x->e) + keys * heads * key * x->e;
    return work;
}

struct layer_work work_of_layer(const struct pricing *x, const struct layer_run *run,
                                const struct slice *slice)
{
    if (run->kind == LAYER_BLOCK || run->kind == LAYER_MOE) return work_of_block(x, run, slice);
    if (run->kind == LAYER_MEMORY) return work_of_pool(x, run, slice);
    struct layer_work work = {.memory = 2 * slice->tokens * x->h * x->e * x->u};
    if (run->kind == LAYER_HEAD) {
        work.linear = 2 * slice->tokens * x->h * x->v / x->t;
        work.operands = x->e * (x->h * x->v / x->t + slice->tokens * (x->h + x->v / x->t));
        work.memory += 12 * slice->tokens * x->v / (x->problem->job.gathered_logits ? 1 : x->t);
    }
    return work;
}
