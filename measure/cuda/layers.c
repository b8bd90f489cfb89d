// Whole layers. A block: norm, query-key-value, attention, projection, sum, norm, up, activation,
// down, sum. A backward pass is preceded by the forward steps that it needs, untimed; what a
// recompute mode repeats is timed. Dropout and rotary positions are left out, as in FORMULAS'
// count of bytes.
#include "data/base/least.h"
#include "measure/cuda/work.h"

static struct layer_sizes layer_sizes_of(const struct shape *s, int64_t batch, int64_t sequence,
                                         int64_t tensor)
{
    struct layer_sizes z = {.batch = batch,
                            .sequence = sequence,
                            .tokens = batch * sequence,
                            .hidden = s->hidden,
                            .width = s->head_width,
                            .positions = s->positions,
                            .gated = s->gated_ffn,
                            .rms = s->rms_norm,
                            .qkv_bias = s->qkv_bias,
                            .linear_bias = s->linear_bias};
    z.kv_heads = larger(1, s->kv_heads / tensor);
    z.heads = larger(1, s->heads / tensor / z.kv_heads) * z.kv_heads;
    z.query = z.heads * z.width;
    z.row = z.query + 2 * z.kv_heads * z.width;
    z.ffn = larger(1, s->ffn / tensor);
    z.vocabulary = larger(1, s->vocabulary / tensor);
    return z;
}

struct norm steps_norm_open(struct program *p, int64_t rows, int64_t columns, bool rms)
{
    struct norm n = {rows,
                     columns,
                     rms,
                     place_none(),
                     program_values(p, AREA_VALUES, columns),
                     place_none(),
                     program_area(p, AREA_SCRATCH, rows * 2 * (int64_t)sizeof(float))};
    if (!rms) n.bias = program_values(p, AREA_VALUES, columns);
    return n;
}

void steps_norm(struct program *p, struct norm *norm, struct place x, struct place y)
{
    norm->x = x;
    struct step *s = program_kernel(p, KERNEL_NORM, norm->rows, norm->columns);
    s->in[0] = x, s->in[1] = norm->weight, s->in[2] = norm->bias;
    s->out[0] = y, s->out[1] = norm->kept;
}

void steps_norm_backward(struct program *p, const struct norm *norm, struct place dy,
                         struct place dx)
{
    struct step *s = program_kernel(p, KERNEL_NORM_BACKWARD, norm->rows, norm->columns);
    s->in[0] = norm->x, s->in[1] = norm->weight, s->in[2] = norm->kept, s->in[3] = dy,
    s->in[4] = norm->bias;
    s->out[0] = dx;
    int64_t bytes = norm->columns * (int64_t)sizeof(float);
    struct place sums = program_area(p, AREA_SCRATCH, 2 * bytes);
    program_clear(p, sums, 2 * bytes);
    s = program_kernel(p, KERNEL_NORM_WEIGHTS, norm->rows, norm->columns);
    s->in[0] = norm->x, s->in[1] = norm->kept, s->in[2] = dy;
    s->out[0] = sums;
    if (!norm->rms) s->out[1] = place_after(sums, bytes);
}

void steps_sum(struct program *p, int64_t values, struct place x, struct place y, struct place z)
{
    struct step *s = program_kernel(p, KERNEL_ADD, values, 0);
    s->in[0] = x, s->in[1] = y, s->out[0] = z;
}

void steps_activation(struct program *p, bool gated, int64_t tokens, int64_t ffn, struct place x,
                      struct place y)
{
    struct step *s = program_kernel(p, gated ? KERNEL_GATED : KERNEL_GELU, tokens, ffn);
    s->in[0] = x, s->out[0] = y;
}

void steps_activation_backward(struct program *p, bool gated, int64_t tokens, int64_t ffn,
                               struct place x, struct place dy, struct place dx)
{
    struct step *s =
        program_kernel(p, gated ? KERNEL_GATED_BACKWARD : KERNEL_GELU_BACKWARD, tokens, ffn);
    s->in[0] = x, s->in[1] = dy, s->out[0] = dx;
}

struct block {
    struct layer_sizes z;
    struct norm norm1, norm2;
    struct linear qkv, projection, up, down;
    struct attention attention;
    struct place x, y1, rows, kept, context, projected, x2, y2, u, v, lowered, out;
};

static struct place scratch(struct program *p, int64_t rows, int64_t columns)
{
    return program_values(p, AREA_SCRATCH, rows * columns);
}

static void block_open(struct block *b, struct program *p, const struct layer_sizes *z)
{
    int64_t n = z->tokens, h = z->hidden, up = (z->gated ? 2 : 1) * z->ffn;
    *b = (struct block){.z = *z};
    b->x = program_values(p, AREA_VALUES, n * h);
    b->norm1 = steps_norm_open(p, n, h, z->rms);
    b->norm2 = steps_norm_open(p, n, h, z->rms);
    b->qkv = steps_linear_open(p, n, z->row, h, z->qkv_bias);
    b->projection = steps_linear_open(p, n, h, z->query, z->linear_bias);
    b->up = steps_linear_open(p, n, up, h, z->linear_bias);
    b->down = steps_linear_open(p, n, h, z->ffn, z->linear_bias);
    b->attention = (struct attention){z->batch, z->heads, z->kv_heads, z->sequence,
                                      z->width, 0,        p->type,     false};
    b->y1 = scratch(p, n, h), b->rows = scratch(p, n, z->row);
    b->kept = program_area(p, AREA_SCRATCH, attention_kept_bytes(&b->attention, p->fused));
    b->context = scratch(p, n, z->query), b->projected = scratch(p, n, h);
    b->x2 = scratch(p, n, h), b->y2 = scratch(p, n, h), b->u = scratch(p, n, up),
    b->v = scratch(p, n, z->ffn);
    b->lowered = scratch(p, n, h), b->out = scratch(p, n, h);
}

static void block_forward(struct block *b, struct program *p)
{
    const struct layer_sizes *z = &b->z;
    steps_norm(p, &b->norm1, b->x, b->y1);
    steps_linear(p, &b->qkv, b->y1, b->rows);
    steps_attention(p, &b->attention, attended_rows(&b->attention, b->rows), b->context, b->kept);
    steps_linear(p, &b->projection, b->context, b->projected);
    steps_sum(p, z->tokens * z->hidden, b->x, b->projected, b->x2);
    steps_norm(p, &b->norm2, b->x2, b->y2);
    steps_linear(p, &b->up, b->y2, b->u);
    steps_activation(p, z->gated, z->tokens, z->ffn, b->u, b->v);
    steps_linear(p, &b->down, b->v, b->lowered);
    steps_sum(p, z->tokens * z->hidden, b->x2, b->lowered, b->out);
}

static void block_backward(const struct block *b, struct program *p)
{
    const struct layer_sizes *z = &b->z;
    int64_t n = z->tokens, h = z->hidden, up = (z->gated ? 2 : 1) * z->ffn;
    struct place dy = program_values(p, AREA_VALUES, n * h);
    struct place dv = scratch(p, n, z->ffn), du = scratch(p, n, up), dy2 = scratch(p, n, h),
                 dx2 = scratch(p, n, h);
    struct place d_middle = scratch(p, n, h), d_context = scratch(p, n, z->query),
                 d_rows = scratch(p, n, z->row);
    struct place dy1 = scratch(p, n, h), dx1 = scratch(p, n, h), dx = scratch(p, n, h);
    steps_linear_backward(p, &b->down, dy, dv);
    steps_activation_backward(p, z->gated, n, z->ffn, b->u, dv, du);
    steps_linear_backward(p, &b->up, du, dy2);
    steps_norm_backward(p, &b->norm2, dy2, dx2);
    steps_sum(p, n * h, dy, dx2, d_middle);
    steps_linear_backward(p, &b->projection, d_middle, d_context);
    steps_attention_backward(p, &b->attention, attended_rows(&b->attention, b->rows), b->context,
                             d_context, b->kept, attended_rows(&b->attention, d_rows));
    steps_linear_backward(p, &b->qkv, d_rows, dy1);
    steps_norm_backward(p, &b->norm1, dy1, dx1);
    steps_sum(p, n * h, d_middle, dx1, dx);
}

static void add_block(struct program *p, const struct layer_sizes *z, enum pass pass)
{
    struct block b;
    block_open(&b, p, z);
    p->begins_at = p->step_count;
    if (pass != PASS_BACKWARD_FULL) block_forward(&b, p);
    if (pass == PASS_FORWARD) return;
    p->timed_from = p->step_count;
    if (pass == PASS_BACKWARD_FULL) block_forward(&b, p);
    if (pass == PASS_BACKWARD_SELECTIVE)
        steps_attention(p, &b.attention, attended_rows(&b.attention, b.rows), b.context, b.kept);
    block_backward(&b, p);
}

static void add_head(struct program *p, const struct layer_sizes *z, enum pass pass)
{
    int64_t n = z->tokens, h = z->hidden, v = z->vocabulary;
    struct place x = program_values(p, AREA_VALUES, n * h);
    struct norm norm = steps_norm_open(p, n, h, z->rms);
    enum precision precision = p->precision;
    if (precision == FP8) p->precision = BF16; // FORMULAS 3: a head is not multiplied in 8 bits
    struct linear logits = steps_linear_open(p, n, v, h, false);
    struct place y = scratch(p, n, h), scores = scratch(p, n, v);
    struct place targets = program_area(p, AREA_TOKENS, n * (int64_t)sizeof(int32_t));
    struct place shares = program_area(p, AREA_SCRATCH, n * v * (int64_t)sizeof(float));
    struct place losses = program_area(p, AREA_SCRATCH, n * (int64_t)sizeof(float));
    p->tokens_bound = v;
    steps_norm(p, &norm, x, y);
    steps_linear(p, &logits, y, scores);
    struct step *s = program_kernel(p, KERNEL_LOSS, n, v);
    s->in[0] = scores, s->in[1] = targets, s->out[0] = shares, s->out[1] = losses;
    if (pass != PASS_FORWARD) {
        struct place d_scores = scratch(p, n, v), dy = scratch(p, n, h), dx = scratch(p, n, h);
        p->timed_from = p->step_count;
        s = program_kernel(p, KERNEL_LOSS_BACKWARD, n, v);
        s->in[0] = shares, s->in[1] = targets, s->out[0] = d_scores;
        s->scalar[0] = 1 / (float)n;
        steps_linear_backward(p, &logits, d_scores, dy);
        steps_norm_backward(p, &norm, dy, dx);
    }
    p->precision = precision;
}

// Positions are a second table, gathered by position: token numbers below the bound serve as
// positions, too.
static void add_embedding(struct program *p, const struct layer_sizes *z, enum pass pass)
{
    int64_t n = z->tokens, h = z->hidden;
    struct place tokens = program_area(p, AREA_TOKENS, n * (int64_t)sizeof(int32_t));
    p->tokens_bound = z->vocabulary;
    if (pass == PASS_FORWARD) {
        struct place table = program_values(p, AREA_VALUES, z->vocabulary * h),
                     rows = scratch(p, n, h);
        struct step *s = program_kernel(p, KERNEL_EMBED, n, h);
        s->in[0] = table, s->in[1] = tokens, s->out[0] = rows;
        if (!z->positions) return;
        struct place places = program_values(p, AREA_VALUES, n * h), out = scratch(p, n, h);
        steps_sum(p, n * h, rows, places, out);
        return;
    }
    // Gradients are accumulated over micro-batches, so clearing them is not part of a pass; their
    // initial value does not matter.
    struct place dy = program_values(p, AREA_VALUES, n * h);
    struct place gradient =
        program_area(p, AREA_SCRATCH, z->vocabulary * h * (int64_t)sizeof(float));
    program_clear(p, gradient, z->vocabulary * h * (int64_t)sizeof(float));
    p->timed_from = p->step_count;
    struct step *s = program_kernel(p, KERNEL_EMBED_BACKWARD, n, h);
    s->in[0] = dy, s->in[1] = tokens, s->out[0] = gradient;
    if (!z->positions) return;
    struct place sum = program_area(p, AREA_SCRATCH, z->sequence * h * (int64_t)sizeof(float));
    program_clear(p, sum, z->sequence * h * (int64_t)sizeof(float));
    s = program_kernel(p, KERNEL_COLUMN_SUM, z->batch, z->sequence * h);
    s->in[0] = dy, s->out[0] = sum;
}

enum status program_layer(struct program *p, const struct cell *cell, struct error *err)
{
    const int64_t *d = cell->sample.dimensions;
    struct layer_sizes z = layer_sizes_of(cell->layer->shape, d[0], d[1], d[2]);
    if (d[3] > 1)
        return fail(err, UNAVAILABLE,
                    "cuda: a layer cut by a context degree (%lld) is not timed; its parts are",
                    (long long)d[3]);
    p->fp32_gradients = cell->sample.fp32_gradients && cell->layer->pass != PASS_FORWARD;
    switch (cell->layer->kind) {
    case LAYER_BLOCK: add_block(p, &z, cell->layer->pass); return OK;
    case LAYER_HEAD: add_head(p, &z, cell->layer->pass); return OK;
    case LAYER_EMBEDDING: add_embedding(p, &z, cell->layer->pass); return OK;
    default: break;
    }
    return fail(err, UNAVAILABLE, "cuda: layers of kind %s are not timed",
                layer_kind_names[cell->layer->kind]);
}
