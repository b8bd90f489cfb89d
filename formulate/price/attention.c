// The attention of a block: its matrices, plain or with latents, once or twice, and how many of the
// scores are computed. docs/FORMULAS.md sections 1 and 3.
#include <math.h>

#include "formulate/price/pricing.h"

struct attention attention_of(const struct pricing *x, const struct layer_run *run)
{
    const struct shape *s = x->shape;
    struct attention y = {.count = run->cross_attention ? 2 : 1};
    if (s->kv_rank) {
        real down = (real)s->query_rank, latent = (real)s->kv_rank, turned = (real)s->rotary_width;
        y.sharded = (down > 0 ? down : x->h) * x->q + latent * (x->q - x->a * turned + x->ctx) +
                    x->ctx * x->h;
        y.whole = x->h * (down + latent + turned);
        y.latent = down + latent;
    } else {
        y.sharded = x->h * (x->q + 2 * x->kv) + x->q * x->h;
    }
    y.sent = x->kv + (s->kv_rank ? x->ctx : x->kv);
    y.wide = x->q + y.sent + x->ctx;
    y.sharded *= y.count, y.whole *= y.count, y.latent *= y.count, y.sent *= y.count,
        y.wide *= y.count;
    return y;
}

real norms_of(const struct pricing *x, const struct layer_run *run)
{
    return shape_norms(x->shape) + (run->cross_attention ? 1 : 0) + (run->mtp ? 3 : 0);
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

real fused_cells(const struct pricing *x, const struct layer_run *run, const struct slice *slice)
{
    real window = (real)run->window, chunk = (real)run->chunk, last = slice->before + slice->length,
         cells = slice->causal_cells;
    if (run->bidirectional) cells = slice->score_cells;
    if (run->window)
        cells = x->b * (windowed(last, window) - windowed(slice->before, window)) / x->c;
    if (run->chunk) cells = x->b * (chunked(last, chunk) - chunked(slice->before, chunk)) / x->c;
    return cells + (run->cross_attention ? slice->score_cells : 0);
}
