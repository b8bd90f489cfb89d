// The attention of a layer, plain or with latents, once or twice, or linear: its products and other
// weights, how many of the scores are computed, what it keeps and sends. docs/FORMULAS.md sections
// 1, 3 to 5.
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

// ---- linear attention

enum { LINEAR_CHUNK = 64 }; // tokens that kernels take together

// Value heads; widths of all heads' keys and values, and of keys by the value heads; of decays.
struct linear {
    real heads, keys, values, wide_keys, decays, decay_rank, gate_rank, key_width, value_width;
    real convolution, convolved; // tokens under it; its values
};

static struct linear linear_of(const struct pricing *x)
{
    const struct linear_shape *l = &x->shape->linear;
    real heads = (real)l->value_heads, width = (real)l->key_width;
    struct linear y = {.heads = heads,
                       .keys = (real)l->key_heads * width,
                       .values = heads * (real)l->value_width,
                       .wide_keys = heads * width,
                       .decays = heads * (l->decay_rank ? width : 1),
                       .decay_rank = (real)l->decay_rank,
                       .gate_rank = (real)l->gate_rank,
                       .key_width = width,
                       .value_width = (real)l->value_width,
                       .convolution = (real)l->convolution};
    y.convolved = 2 * y.keys + y.values;
    return y;
}

static int linear_products(const struct pricing *x, real n, struct product *to)
{
    struct linear y = linear_of(x);
    real gate = y.gate_rank > 0 ? 0 : y.values, decays = y.decay_rank > 0 ? 0 : y.decays,
         latents = y.decay_rank + y.gate_rank;
    int count = 0;
    to[count++] =
        (struct product){"queries, keys, values and gate", n, (y.convolved + gate) / x->t, x->h, 1};
    to[count++] = (struct product){"steps and decays", n, (y.heads + decays) / x->t, x->h, 1};
    if (latents > 0) to[count++] = (struct product){"latents", n, latents, x->h, 1};
    if (!decays) to[count++] = (struct product){"decays", n, y.decays / x->t, y.decay_rank, 1};
    if (!gate) to[count++] = (struct product){"gate", n, y.values / x->t, y.gate_rank, 1};
    to[count++] = (struct product){"attention projection", n, x->h, y.values / x->t, 1};
    return count;
}

// Kept: what the convolution reads and gives, keys and queries of unit length, the gate, what the
// norm reads and gives, and each chunk's inverse; decays of each value before and after they are
// summed in fp32. Moved: by the convolution, the unit lengths, the kernels of the chunks and the
// norm.
static struct attention linear_attention(const struct pricing *x)
{
    struct linear y = linear_of(x);
    bool each = y.decay_rank > 0;
    real latents = y.decay_rank + y.gate_rank, inverse = y.heads * LINEAR_CHUNK,
         gate = y.gate_rank > 0 ? 0 : y.values, passes = y.convolution > 0 ? 2 : 0,
         states = y.wide_keys * y.value_width / LINEAR_CHUNK,
         steps = y.heads + (each ? 0 : y.decays);
    return (struct attention){
        .count = 1,
        .matrices = {x->h * (y.convolved + gate + steps + y.values) +
                         (each ? y.decay_rank * y.decays : 0) + y.gate_rank * y.values,
                     x->h * latents},
        .vectors = {y.convolution * y.convolved + y.heads + y.decays, y.value_width},
        .kept = {(1 + passes / 2) * y.convolved + 2 * y.wide_keys + 3 * y.values + inverse +
                     (each ? 3 * y.decays : 0),
                 latents},
        .read = {y.values, latents},
        .moved = {passes * y.convolved + 4 * y.keys + 7 * y.wide_keys + 9 * y.values + 4 * inverse +
                      2 * states + (each ? 13 * y.decays : 0),
                  0},
        .narrowed = y.values,
        .chosen = y.convolved + gate,
        .again_columns = steps,
        .again_depth = y.values,
        .kernels = 10 + passes / 2,
    };
}

// A chunk's keys by its keys and queries, their triangle's inverse, by keys and values; the state
// by keys and queries. Backward: all of it again but for the inverse, and each factor's gradient.
static void add_linear(const struct pricing *x, const struct slice *slice, struct layer_work *work)
{
    struct linear y = linear_of(x);
    real chunk = LINEAR_CHUNK, k = y.key_width, v = y.value_width,
         each = slice->tokens * y.heads / x->t;
    work->fused = true;
    work->attention = each * (2 * chunk * (3 * k + 2 * v) + 6 * k * v + chunk * chunk / 3);
    work->attention_back = each * (2 * chunk * (8 * k + 5 * v) + 16 * k * v + 4 * chunk * chunk);
}

// ---- attention of any kind

int attention_products(const struct pricing *x, const struct layer_run *run, real n,
                       struct product *to)
{
    bool latent = x->shape->kv_rank > 0;
    if (run->linear) return linear_products(x, n, to);
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
    if (run->linear) return linear_attention(x);
    const struct shape *s = x->shape;
    bool fused = x->problem->job.layout.fused_attention;
    real count = run->cross_attention ? 2 : 1, down = (real)s->query_rank,
         latent = (real)s->kv_rank, turned = (real)s->rotary_width, heads = x->q + x->held,
         passed = x->held + (s->kv_rank ? x->ctx : x->held), normed = s->qk_norm ? heads : 0,
         gate = gate_of(x), shared = x->held > x->kv ? count * (gate + x->q + 2 * x->kv) : 0;
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
        // Chunks of what is gathered are laid side by side.
        .moved = {2 * normed + 3 * count * gate, 2 * (down + latent) + 2 * shared},
        .shared = shared,
        .rotated = heads,
        // Its output is kept in 16 bits as well, unless a gate makes another of it.
        .narrowed = count * (fused && !gate ? -x->q : x->q),
        .chosen = heads + gate + (fused ? x->q + 4 * x->a / x->e : 0),
        .again_columns = x->kv,
        .again_depth = x->q,
        .sent = count * passed,
        .kernels = 1 + (shared > 0 ? count : 0) + (s->qk_norm ? 2 : 0) + (gate > 0 ? count : 0) +
                   (latent > 0) + (down > 0),
    };
}

real norms_of(const struct pricing *x, const struct layer_run *run)
{
    return shape_norms(x->shape) + (run->cross_attention ? 1 : 0) + (run->mtp ? 3 : 0);
}

real ring_bytes(const struct pricing *x, const struct layer_run *run, real tokens)
{
    if (!run->linear) return tokens * (attention_of(x, run).sent / x->t) * x->e;
    struct linear y = linear_of(x); // its states, and what a rank's tokens do to one, in fp32
    return 4 * x->b * y.wide_keys * (y.key_width + y.value_width) / x->t;
}

// What the ring keeps in transit; what is gathered, with its gradient; heads as they leave and
// arrive.
static real exchanged_bytes(const struct pricing *x, const struct layer_run *run)
{
    enum context_kind kind = run->linear ? CONTEXT_RING : x->problem->job.context_kind;
    struct attention y = attention_of(x, run);
    if (kind == CONTEXT_ALL_TO_ALL)
        return x->e * x->n * (y.count * (x->q + x->ctx) + y.sent) / x->t;
    return 2 * (kind == CONTEXT_ALL_GATHER ? x->c : 1) * ring_bytes(x, run, x->n);
}

// Gradients of the scores, the buffers of context ranks, and what tensor ranks gather, twice.
// Linear: the states between chunks, with their gradients.
real attention_working_bytes(const struct pricing *x, const struct layer_run *run,
                             bool has_gradient)
{
    bool scores = has_gradient && !x->problem->job.layout.fused_attention;
    real ring = x->c > 1 ? exchanged_bytes(x, run) : 0;
    if (!run->linear)
        return ring + 2 * x->e * x->n * attention_of(x, run).shared +
               (scores ? 4 * x->b * (x->a / x->t1) * x->s * (x->s / x->c) * x->e / 2 : 0);
    struct linear y = linear_of(x);
    return ring +
           (has_gradient ? 2 : 1) * x->e * x->n * y.wide_keys * y.value_width / LINEAR_CHUNK / x->t;
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
    if (run->linear) {
        add_linear(x, slice, work);
        return;
    }
    real scores = attention_of(x, run).scores, flop_of_cell = 2 * (x->q + x->ctx) / x->t1;
    work->fused = x->problem->job.layout.fused_attention;
    work->cells = work->fused ? fused_cells(x, run, slice) : scores * slice->score_cells;
    work->attention = flop_of_cell * work->cells;
    work->attention_back = (work->fused ? 2.5L : 2) * work->attention;
    work->wasted = run->bidirectional ? 0 : flop_of_cell * slice->wasted_cells;
    work->scores = work->fused ? 0 : 6 * scores * (x->a / x->t1) * slice->score_cells * x->e;
    work->memory += work->scores;
}
