// The attention of a layer, plain or with latents, once or twice, linear (linear.c), both side by
// side, or none: its products and other weights, how many of the scores are computed, what it keeps
// and sends. docs/FORMULAS.md sections 1, 3 to 5.

#include "formulate/price/pricing.h"

// Width of the queries that find keys.
static real indexed(const struct pricing *x)
{
    return (real)x->shape->index_heads * (real)x->shape->index_width;
}

// Down to the latents on every tensor rank, up from them on each rank for its heads.
static int latent_products(const struct pricing *x, real n, struct product *to)
{
    const struct shape *s = x->shape;
    real down = (real)s->query_rank, latent = (real)s->kv_rank, turned = (real)s->rotary_width,
         keys = x->q - x->a * turned;
    int count = 0;
    if (down > 0) to[count++] = (struct product){"queries' latent", n, down, x->h, 1};
    to[count++] =
        (struct product){"queries", n, x->q / x->t, down > 0 ? down : x->h, 1, .part = OF_LATENTS};
    to[count++] = (struct product){"keys' and values' latent", n, latent + turned, x->h, 1};
    to[count++] = (struct product){"keys and values", n, (keys + x->ctx) / x->t, latent, 1,
                                   .part = OF_LATENTS};
    if (!s->index_heads) return count;
    to[count++] = (struct product){"index queries", n, indexed(x), down > 0 ? down : x->h, 1};
    to[count++] = (struct product){"index keys", n, (real)s->index_width, x->h, 1};
    to[count++] = (struct product){"index weights", n, (real)s->index_heads, x->h, 1};
    return count;
}

static real value_width(const struct pricing *x) { return (real)shape_value_width(x->shape); }

// Keys and values of plain attention, as products make them.
static real read_of(const struct pricing *x)
{
    if (x->shape->keys_reused) return 0;
    if (x->shape->keys_as_values) return x->kv;
    return x->kv + (real)x->shape->kv_heads * value_width(x);
}

// The gate of attention's output, out of the product of the queries.
static real gate_of(const struct pricing *x) { return x->shape->gated_attention ? x->q : 0; }

int attention_products(const struct pricing *x, const struct layer_run *run, real n,
                       struct product *to)
{
    bool latent = x->shape->kv_rank > 0;
    if (run->no_attention) return 0;
    if (run->linear) return linear_products(x, n, to);
    real gate = gate_of(x);
    struct product projection = {"attention projection", n, x->h / x->t2, x->ctx / x->t1, 1};
    int count = 0;
    for (int cross = 0; cross <= (int)run->cross_attention; cross++) {
        if (latent) count += latent_products(x, n, to + count);
        else if (!cross)
            to[count++] = (struct product){
                "queries, keys and values",  n, (gate + x->q + read_of(x)) / x->t1, x->h / x->t2, 1,
                .reads = 1 + READS_ATTENTION};
        else {
            to[count++] = (struct product){"queries", n, (gate + x->q) / x->t, x->h, 1};
            to[count++] = (struct product){"keys and values", n, read_of(x) / x->t, x->h, 1};
        }
        to[count++] = projection;
    }
    return run->linear_beside ? count + linear_products(x, n, to + count) : count;
}

// Values of biases and norms of one attention.
static struct split vectors_of(const struct pricing *x)
{
    const struct shape *s = x->shape;
    real latent = (real)(s->query_rank + s->kv_rank), each = s->plain_norms ? 0
                                                             : s->rms_norm  ? 1
                                                                            : 2;
    struct split v = {0, each * latent + 2 * (real)s->index_width};
    real own = s->keys_reused ? 0 : 1; // keys
    if (s->qk_norm == QK_NORM_HEAD) v.whole += each * (1 + own) * x->w;
    if (s->qk_norm == QK_NORM_WHOLE) v.sharded += each * (x->q + own * x->kv);
    if (s->qkv_bias && s->kv_rank) v.whole += latent + (real)s->rotary_width;
    else if (s->qkv_bias) v.sharded += gate_of(x) + x->q + read_of(x);
    if (shape_output_bias(s)) v.whole += x->h;
    return v;
}

static struct split times(real count, struct split v)
{
    return (struct split){count * v.sharded, count * v.whole};
}

static struct split sum(struct split a, struct split b)
{
    return (struct split){a.sharded + b.sharded, a.whole + b.whole};
}

// Two that read the same input, and whose outputs are added.
static struct attention beside(const struct pricing *x, struct attention a, struct attention b)
{
    a.matrices = sum(a.matrices, b.matrices), a.vectors = sum(a.vectors, b.vectors);
    a.kept = sum(a.kept, b.kept), a.read = sum(a.read, b.read), a.moved = sum(a.moved, b.moved);
    a.moved.whole += 3 * x->h, a.moved_back += b.moved_back;
    a.narrowed += b.narrowed, a.chosen += b.chosen;
    a.again_columns += b.again_columns, a.again_depth += b.again_depth;
    a.kernels += b.kernels + 1;
    return a;
}

static real attentions_of(const struct layer_run *run)
{
    return run->no_attention ? 0 : run->cross_attention ? 2 : 1;
}

static struct attention plain_attention(const struct pricing *x, const struct layer_run *run)
{
    const struct shape *s = x->shape;
    bool fused = x->problem->job.layout.fused_attention;
    real count = attentions_of(run), down = (real)s->query_rank, latent = (real)s->kv_rank,
         turned = (real)s->rotary_width, own = s->keys_reused ? 0 : 1, heads = x->q + own * x->held,
         passed = x->held + (s->kv_rank ? x->ctx : x->held / x->w * value_width(x)),
         normed = s->qk_norm ? heads : 0, gate = gate_of(x),
         beside_index = (real)(s->index_width + s->index_heads),
         shared = x->held > x->kv ? count * (gate + x->q + read_of(x)) : 0;
    struct split matrices = {x->h * (gate + x->q + read_of(x)) + x->ctx * x->h, 0};
    if (s->kv_rank)
        matrices = (struct split){(down > 0 ? down : x->h) * x->q +
                                      latent * (x->q - x->a * turned + x->ctx) + x->ctx * x->h,
                                  x->h * (down + latent + turned) +
                                      (down > 0 ? down : x->h) * indexed(x) + x->h * beside_index};
    down *= count, latent *= count;
    return (struct attention){
        .count = count,
        .scores = count,
        .matrices = times(count, matrices),
        .vectors = times(count, vectors_of(x)),
        .kept = {count * (x->q + own * passed + x->ctx + 2 * gate) + normed,
                 2 * (down + latent) + indexed(x) + beside_index},
        .read = {count * x->ctx, down + latent},
        // Chunks of what is gathered are laid side by side.
        .moved = {2 * normed + 3 * count * gate, 2 * (down + latent) + 2 * shared},
        .shared = shared,
        .rotated = heads,
        // Its output is kept in 16 bits as well, unless a gate makes another of it.
        .narrowed = count * (fused && !gate ? -x->q : x->q),
        .chosen = heads + gate + (fused ? x->q + 4 * x->a / x->e : 0),
        .again_columns = own * x->kv,
        .again_depth = x->q,
        .sent = count * passed,
        .kernels = 1 + (shared > 0 ? count : 0) + (s->qk_norm ? 1 + own : 0) +
                   (gate > 0 ? count : 0) + (latent > 0) + (down > 0),
    };
}

static struct attention any_attention(const struct pricing *x, const struct layer_run *run)
{
    if (run->linear) return linear_attention(x);
    struct attention plain = plain_attention(x, run);
    return run->linear_beside ? beside(x, plain, linear_attention(x)) : plain;
}

struct kept_attention {
    bool known;
    struct attention attention;
};

void keep_attentions(struct pricing *x)
{
    x->attentions = TAKE(x->arena, x->priced->run_count, struct kept_attention);
}

struct attention attention_of(const struct pricing *x, const struct layer_run *run)
{
    if (run->no_attention) return (struct attention){0};
    if (!x->attentions) return any_attention(x, run);
    struct kept_attention *kept = &x->attentions[run - x->problem->model.runs];
    if (!kept->known) *kept = (struct kept_attention){true, any_attention(x, run)};
    return kept->attention;
}

// A part alone has its share of a whole block's norms.
real norms_of(const struct pricing *x, const struct layer_run *run)
{
    int norms = shape_norms(x->shape);
    if (!run_is_whole(run)) return (norms + 1) / 2;
    return norms + (run->cross_attention ? 1 : 0) + (run->mtp ? 3 : 0);
}

real parts_of(const struct layer_run *run)
{
    return (run->no_feed_forward ? 0 : 1) + attentions_of(run);
}

real ring_bytes(const struct pricing *x, const struct layer_run *run, real tokens)
{
    real bytes = run->linear ? 0 : tokens * (attention_of(x, run).sent / x->t) * x->e;
    return bytes + (run_has_linear(run) ? linear_ring_bytes(x) : 0);
}

bool keeps_keys(const struct pricing *x, const struct layer_run *run)
{
    const struct job *job = &x->problem->job;
    return x->c > 1 && job->trainer == TRAINER_TORCHTITAN &&
           job->context_kind == CONTEXT_ALL_GATHER && !run->no_attention && !run_has_linear(run);
}

// What the ring keeps in transit; what is gathered, unless it is kept anyway, with its gradient;
// heads as they leave and arrive.
static real exchanged_bytes(const struct pricing *x, const struct layer_run *run)
{
    enum context_kind kind = run_has_linear(run) ? CONTEXT_RING : x->problem->job.context_kind;
    struct attention y = attention_of(x, run);
    if (kind == CONTEXT_ALL_TO_ALL)
        return x->e * x->n * (y.count * (x->q + x->ctx) + y.sent) / x->t;
    return (keeps_keys(x, run) ? 1 : 2) * (kind == CONTEXT_ALL_GATHER ? x->c : 1) *
           ring_bytes(x, run, x->n);
}

// Gradients of the scores, the buffers of context ranks, and what tensor ranks gather, twice.
// Linear: the states between chunks, with their gradients.
real attention_working_bytes(const struct pricing *x, const struct layer_run *run,
                             bool has_gradient)
{
    if (run->no_attention) return 0;
    bool scores = has_gradient && !x->problem->job.layout.fused_attention && !run->linear;
    real bytes = x->c > 1 ? exchanged_bytes(x, run) : 0;
    if (run_has_linear(run))
        bytes += (has_gradient ? 2 : 1) * x->e * x->n * linear_states(x) / x->t;
    return bytes + 2 * x->e * x->n * attention_of(x, run).shared +
           (scores ? 4 * x->b * (x->a / x->t1) * x->s * (x->s / x->c) * x->e / 2 : 0);
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
    if (x->shape->index_heads) window = (real)x->shape->index_top_k;
    if (window > 0)
        cells = x->b * (windowed(last, window) - windowed(slice->before, window)) / x->c;
    if (run->chunk) cells = x->b * (chunked(last, chunk) - chunked(slice->before, chunk)) / x->c;
    return cells + (run->cross_attention ? slice->score_cells : 0);
}

void add_attention(const struct pricing *x, const struct layer_run *run, const struct slice *slice,
                   struct layer_work *work)
{
    if (run->no_attention) return;
    if (run->linear) {
        work->fused = true;
        add_linear(x, slice, work);
        return;
    }
    real scores = attention_of(x, run).scores, flop_of_cell = 2 * (x->q + x->ctx) / x->t1;
    work->fused = x->problem->job.layout.fused_attention;
    work->cells = work->fused ? fused_cells(x, run, slice) : scores * slice->score_cells;
    work->attention = flop_of_cell * work->cells;
    work->attention_back = (work->fused ? 2.5L : 2) * work->attention;
    // Every key is looked at; what comes back are gradients of those that were found.
    if (x->shape->index_heads) {
        work->attention += 2 * indexed(x) * slice->causal_cells;
        work->attention_back += 4 * indexed(x) * fused_cells(x, run, slice);
    }
    work->wasted = run->bidirectional ? 0 : flop_of_cell * slice->wasted_cells;
    work->scores = work->fused ? 0 : 6 * scores * (x->a / x->t1) * slice->score_cells * x->e;
    work->memory += work->scores;
    if (run->linear_beside) add_linear(x, slice, work);
}

// FlashAttention-2 has kernels for every 32 values of a head, the first one and Triton's for powers
// of two; keys and values are filled up alike.
real filled(const struct pricing *x)
{
    enum attention_kernel kernel = x->problem->job.attention_kernel;
    real value = x->ctx / x->a, head = fmaxl(x->w, value), width = 16;
    if (kernel == ATTENTION_MAKER_2024 || !(x->w > 0 && value > 0)) return 1;
    if (kernel == ATTENTION_FLASH_2) width = 32 * pieces(head, 32);
    while (kernel == ATTENTION_TRITON && width < head) width *= 2;
    return (x->w + value) / (2 * width);
}
