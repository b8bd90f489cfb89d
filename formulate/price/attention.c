// The attention of a layer, plain or with latents, once or twice: its products and other weights,
// how many of the scores are computed, what it keeps and sends. docs/FORMULAS.md sections 1, 3
// to 5.
#include <math.h>

#include "formulate/price/pricing.h"

// Down to the latents on every tensor rank, up from them on each rank for its heads.
static int latent_products(const struct pricing *x, real n, struct product *to)
{
    const struct shape *s = x->shape;
    real down = (real)s->query_rank, latent = (real)s->kv_rank, turned = (real)s->rotary_width,
         keys = x->q - x->a * turned;
    int count = 0;
    if (down > 0) to[count++] = (struct product){"queries' latent", n, down, x->h, 1};
    to[count++] = (struct product){"queries", n, x->q / x->t, down > 0 ? down : x->h, 1};
    to[count++] = (struct product){"keys' and values' latent", n, latent + turned, x->h, 1};
    to[count++] = (struct product){"keys and values", n, (keys + x->ctx) / x->t, latent, 1};
    return count;
}

// The gate of attention's output, out of the product of the queries.
static real gate_of(const struct pricing *x) { return x->shape->gated_attention ? x->q : 0; }

int attention_products(const struct pricing *x, const struct layer_run *run, real n,
                       struct product *to)
{
    bool latent = x->shape->kv_rank > 0;
    real gate = gate_of(x);
    struct product projection = {"attention projection", n, x->h / x->t2, x->ctx / x->t1, 1};
    int count = 0;
    for (int cross = 0; cross <= (int)run->cross_attention; cross++) {
        if (latent) count += latent_products(x, n, to + count);
        else if (!cross)
            to[count++] = (struct product){"queries, keys and values", n,
                                           (gate + x->q + 2 * x->kv) / x->t1, x->h / x->t2, 1};
        else {
            to[count++] = (struct product){"queries", n, (gate + x->q) / x->t, x->h, 1};
            to[count++] = (struct product){"keys and values", n, 2 * x->kv / x->t, x->h, 1};
        }
        to[count++] = projection;
    }
    return count;
}

// Values of biases and norms of one attention.
static struct split vectors_of(const struct pricing *x)
{
    const struct shape *s = x->shape;
    real latent = (real)(s->query_rank + s->kv_rank), each = s->plain_norms ? 0
                                                             : s->rms_norm  ? 1
                                                                            : 2;
    struct split v = {0, each * latent};
    if (s->qk_norm == QK_NORM_HEAD) v.whole += each * 2 * x->w;
    if (s->qk_norm == QK_NORM_WHOLE) v.sharded += each * (x->q + x->kv);
    if (s->qkv_bias && s->kv_rank) v.whole += latent + (real)s->rotary_width;
    else if (s->qkv_bias) v.sharded += gate_of(x) + x->q + 2 * x->kv;
    if (shape_output_bias(s)) v.whole += x->h;
    return v;
}

static struct split times(real count, struct split v)
{
    return (struct split){count * v.sharded, count * v.whole};
}

struct attention attention_of(const struct pricing *x, const struct layer_run *run)
{
    const struct shape *s = x->shape;
    bool fused = x->problem->job.layout.fused_attention;
    real count = run->cross_attention ? 2 : 1, down = (real)s->query_rank,
         latent = (real)s->kv_rank, turned = (real)s->rotary_width, heads = x->q + x->kv,
         passed = x->kv + (s->kv_rank ? x->ctx : x->kv), normed = s->qk_norm ? heads : 0,
         gate = gate_of(x);
    struct split matrices = {x->h * (gate + x->q + 2 * x->kv) + x->q * x->h, 0};
    if (s->kv_rank)
        matrices = (struct split){(down > 0 ? down : x->h) * x->q +
                                      latent * (x->q - x->a * turned + x->ctx) + x->ctx * x->h,
                                  x->h * (down + latent + turned)};
    down *= count, latent *= count;
    return (struct attention){
        .count = count,
        .scores = count,
        .matrices = times(count, matrices),
        .vectors = times(count, vectors_of(x)),
        .kept = {count * (x->q + passed + x->ctx + 2 * gate) + normed, 2 * (down + latent)},
        .read = {count * x->ctx, down + latent},
        .moved = {2 * normed + 3 * count * gate, 2 * (down + latent)},
        .rotated = heads,
        // Its output is kept in 16 bits as well, unless a gate makes another of it.
        .narrowed = count * (fused && !gate ? -x->q : x->q),
        .chosen = heads + gate + (fused ? x->q + 4 * x->a / x->e : 0),
        .again_columns = x->kv,
        .again_depth = x->q,
        .sent = count * passed,
        .kernels = 1 + (s->qk_norm ? 2 : 0) + (gate > 0 ? count : 0) + (latent > 0) + (down > 0),
    };
}

real norms_of(const struct pricing *x, const struct layer_run *run)
{
    return shape_norms(x->shape) + (run->cross_attention ? 1 : 0) + (run->mtp ? 3 : 0);
}

real ring_bytes(const struct pricing *x, const struct layer_run *run, real tokens)
{
    return tokens * (attention_of(x, run).sent / x->t) * x->e;
}

// Gradients of the scores, and the ring's buffers.
real attention_working_bytes(const struct pricing *x, const struct layer_run *run,
                             bool has_gradient)
{
    bool scores = has_gradient && !x->problem->job.layout.fused_attention;
    return (scores ? 4 * x->b * (x->a / x->t1) * x->s * (x->s / x->c) * x->e / 2 : 0) +
           (x->c > 1 ? 2 * ring_bytes(x, run, x->n) : 0);
}

// Cells below the diagonal of the first `rows` rows, not further back than the window.
static real windowed(real rows, real window)
{
    return rows <= window ? rows * rows / 2 : window * window / 2 + window * (rows - window);
}

// The same, with rows that start anew at every chunk.
static real chunked(real rows, real chunk)
{
    real whole = floorl(rows / chunk), rest = rows - whole * chunk;
    return (whole * chunk * chunk + rest * rest) / 2;
}

// For causal attention, those that a fused kernel computes.
static real fused_cells(const struct pricing *x, const struct layer_run *run,
                        const struct slice *slice)
{
    real window = (real)run->window, chunk = (real)run->chunk, last = slice->before + slice->length,
         cells = slice->causal_cells;
    if (run->bidirectional) cells = slice->score_cells;
    if (run->window)
        cells = x->b * (windowed(last, window) - windowed(slice->before, window)) / x->c;
    if (run->chunk) cells = x->b * (chunked(last, chunk) - chunked(slice->before, chunk)) / x->c;
    return cells + (run->cross_attention ? slice->score_cells : 0);
}

void add_attention(const struct pricing *x, const struct layer_run *run, const struct slice *slice,
                   struct layer_work *work)
{
    real scores = attention_of(x, run).scores, flop_of_cell = 2 * (x->q + x->ctx) / x->t1;
    work->fused = x->problem->job.layout.fused_attention;
    work->cells = work->fused ? fused_cells(x, run, slice) : scores * slice->score_cells;
    work->attention = flop_of_cell * work->cells;
    work->attention_back = (work->fused ? 2.5L : 2) * work->attention;
    work->wasted = run->bidirectional ? 0 : flop_of_cell * slice->wasted_cells;
    work->scores = work->fused ? 0 : 6 * scores * (x->a / x->t1) * slice->score_cells * x->e;
    work->memory += work->scores;
}
