// A block: norm, query-key-value, attention, projection, sum, norm, up, activation, down, sum;
// before its backward, what the recompute mode repeats of it. Head: norm, logits, loss. The
// products of a pass are those of docs/FORMULAS.md section 3; gains of norms and biases are left
// out.

#include <assert.h>
#include <math.h>

#include "measure/cpu/internal.h"

enum { FLOATS_PER_LINE = 16 };

static struct layer_sizes layer_sizes(const struct cell *cell)
{
    const struct shape *s = cell->layer->shape;
    const int64_t *d = cell->sample.dimensions, t = d[2];
    struct layer_sizes z = {.batch = d[0],
                            .queries = d[1] / d[3],
                            .blocks = d[3],
                            .hidden = s->hidden,
                            .width = s->head_width,
                            .gated = s->gated_ffn,
                            .rms = s->rms_norm,
                            .positions = s->positions};
    z.tokens = z.batch * z.queries;
    z.rows = cell->layer->parts > 1 ? (z.tokens + cell->layer->parts - 1) / cell->layer->parts
                                    : z.tokens;
    z.kv_heads = s->kv_heads / t ? s->kv_heads / t : 1;
    z.heads = s->heads / t / z.kv_heads ? s->heads / t / z.kv_heads * z.kv_heads : z.kv_heads;
    z.query = z.heads * z.width, z.key = z.kv_heads * z.width;
    z.row = z.query + 2 * z.key;
    z.ffn = s->ffn / t ? s->ffn / t : 1;
    z.up = (z.gated ? 2 : 1) * z.ffn;
    z.vocabulary = s->vocabulary / t ? s->vocabulary / t : 1;
    return z;
}

// ---- places

struct area {
    float *at;
    int64_t used;
};

static float *take(struct area *a, int64_t count)
{
    float *at = a->at ? a->at + a->used : NULL;
    a->used += (count + FLOATS_PER_LINE - 1) / FLOATS_PER_LINE * FLOATS_PER_LINE;
    return at;
}

static void place_block(struct layer_buffers *b, enum pass pass, struct area *in, struct area *out)
{
    const struct layer_sizes *z = &b->z;
    int64_t n = z->tokens, h = z->hidden;
    bool whole = pass == PASS_FORWARD || pass == PASS_BACKWARD_FULL,
         backward = pass != PASS_FORWARD;
    struct area *kept = whole ? out : in, *kept_scores = pass == PASS_BACKWARD ? in : out;
    b->x = whole ? take(in, n * h) : NULL;
    b->weight_qkv = take(in, h * z->row);
    b->weight_out = take(in, z->query * h);
    b->weight_up = take(in, h * z->up);
    b->weight_down = take(in, z->ffn * h);
    b->others = take(in, (z->blocks - 1) * n * 2 * z->key);
    b->normal1 = take(kept, n * h), b->scale1 = take(kept, n);
    b->qkv = take(kept, n * z->row);
    b->scores = take(kept_scores, z->batch * z->heads * z->queries * z->queries * z->blocks);
    b->context = take(kept_scores, n * z->query);
    b->normal2 = take(kept, n * h), b->scale2 = take(kept, n);
    b->up = take(kept, n * z->up);
    b->active = take(kept, n * z->ffn);
    if (whole) {
        b->summand = take(out, n * h);
        b->middle = take(out, n * h);
        b->y = take(out, n * h);
    }
    if (!backward) return;
    b->dy = take(in, n * h);
    b->d_active = take(out, n * z->ffn);
    b->d_up = take(out, n * z->up);
    b->d_normal = take(out, n * h);
    b->summand = take(out, n * h);
    b->d_middle = take(out, n * h);
    b->d_context = take(out, n * z->query);
    b->d_scores = take(out, z->batch * z->heads * z->queries * z->queries * z->blocks);
    b->d_qkv = take(out, n * z->row);
    b->d_others = take(out, (z->blocks - 1) * n * 2 * z->key);
    b->dx = take(out, n * h);
    b->d_weight_qkv = take(out, h * z->row);
    b->d_weight_out = take(out, z->query * h);
    b->d_weight_up = take(out, h * z->up);
    b->d_weight_down = take(out, z->ffn * h);
}

static void place_embedding(struct layer_buffers *b, enum pass pass, struct area *in,
                            struct area *out)
{
    const struct layer_sizes *z = &b->z;
    bool forward = pass == PASS_FORWARD;
    struct area *written = forward ? in : out;
    b->token = take(in, z->tokens);
    b->table = take(written, z->vocabulary * z->hidden);
    b->positions = z->positions ? take(written, z->queries * z->hidden) : NULL;
    b->y = forward ? take(out, z->tokens * z->hidden) : NULL;
    if (forward) return;
    b->d_table = (float *)b->table, b->d_positions = (float *)b->positions;
    b->table = b->positions = NULL;
    b->dy = take(in, z->tokens * z->hidden);
}

static void place_head(struct layer_buffers *b, enum pass pass, struct area *in, struct area *out)
{
    const struct layer_sizes *z = &b->z;
    int64_t n = z->tokens, h = z->hidden;
    struct area *kept = pass == PASS_FORWARD ? out : in;
    b->token = take(in, n);
    b->table = take(in, z->vocabulary * h);
    b->x = pass == PASS_FORWARD ? take(in, n * h) : NULL;
    b->normal1 = take(kept, n * h), b->scale1 = take(kept, n);
    b->logits = take(kept, n * z->vocabulary);
    b->largest = take(kept, n), b->total = take(kept, n), b->loss = take(kept, n);
    if (pass == PASS_FORWARD) return;
    b->d_logits = take(out, n * z->vocabulary);
    b->d_normal = take(out, n * h);
    b->dx = take(out, n * h);
    b->d_table = take(out, z->vocabulary * h);
}

void layer_place(struct layer_buffers *b, const struct cell *cell, float *in, float *out)
{
    *b = (struct layer_buffers){.z = layer_sizes(cell)};
    struct area read = {in, 0}, written = {out, 0};
    switch (cell->layer->kind) {
    case LAYER_BLOCK: place_block(b, cell->layer->pass, &read, &written); break;
    case LAYER_EMBEDDING: place_embedding(b, cell->layer->pass, &read, &written); break;
    case LAYER_HEAD: place_head(b, cell->layer->pass, &read, &written); break;
    default: assert(!"a layer that no back end times");
    }
    b->in_floats = read.used;
    b->out_floats = written.used;
}

// ---- what is kept

static int64_t block_keeps(const struct layer_sizes *z, enum pass pass, int64_t *working)
{
    int64_t n = z->tokens, h = z->hidden, row = n * h, own = z->rows * h,
            scores = z->batch * z->heads * z->queries * z->queries * z->blocks,
            attention = scores + n * z->query,
            rest = 2 * (own + z->rows) + n * (z->row + z->up + z->ffn), all = rest + attention,
            kept = pass == PASS_BACKWARD_FULL        ? own
                   : pass == PASS_BACKWARD_SELECTIVE ? rest
                                                     : all;
    *working = all - kept + 5 * row + n * (z->ffn + z->up + z->row) + attention;
    return kept;
}

int64_t layer_keeps(const struct cell *backward, int64_t *working)
{
    const struct layer_sizes z = layer_sizes(backward);
    int64_t row = z.tokens * z.hidden;
    if (backward->layer->kind == LAYER_BLOCK)
        return block_keeps(&z, backward->layer->pass, working);
    *working = row;
    if (backward->layer->kind == LAYER_EMBEDDING) return z.tokens;
    *working = 2 * row + z.tokens * z.vocabulary;
    return z.rows * z.hidden + 5 * z.tokens + z.tokens * z.vocabulary;
}

// ---- passes

static struct linear linear_of(int64_t m, int64_t n, int64_t k, const float *x, const float *w)
{
    return (struct linear){m, n, k, 1 / sqrtf((float)k), x, w};
}

static struct norm norm_of(const struct layer_buffers *b, const float *x, float *y, float *scale)
{
    return (struct norm){
        .rows = b->z.rows, .width = b->z.hidden, .rms = b->z.rms, .x = x, .y = y, .scale = scale};
}

static struct attention attention_of(const struct layer_buffers *b)
{
    const struct layer_sizes *z = &b->z;
    return (struct attention){
        .batch = z->batch,
        .heads = z->heads,
        .kv_heads = z->kv_heads,
        .queries = z->queries,
        .keys = z->queries,
        .blocks = z->blocks,
        .width = z->width,
        .query = b->qkv,
        .key = b->qkv + z->query,
        .value = b->qkv + z->query + z->key,
        .others = b->others,
        .query_row = z->row,
        .key_row = z->row,
        .scores = b->scores,
        .context = b->context,
        .context_row = z->query,
        .d_context = b->d_context,
        .d_scores = b->d_scores,
        .d_query = b->d_qkv,
        .d_key = b->d_qkv ? b->d_qkv + z->query : NULL,
        .d_value = b->d_qkv ? b->d_qkv + z->query + z->key : NULL,
        .d_others = b->d_others,
    };
}

static struct activation activation_of(const struct layer_buffers *b)
{
    const struct layer_sizes *z = &b->z;
    return (struct activation){
        .rows = z->tokens,
        .width = z->ffn,
        .row = z->up,
        .gate = b->up,
        .up = z->gated ? b->up + z->ffn : NULL,
        .dy = b->d_active,
        .y = b->active,
        .d_gate = b->d_up,
        .d_up = z->gated && b->d_up ? b->d_up + z->ffn : NULL,
    };
}

struct block_products {
    struct linear qkv, out, up, down;
};

static struct block_products products_of(const struct layer_buffers *b)
{
    const struct layer_sizes *z = &b->z;
    int64_t n = z->tokens, h = z->hidden;
    return (struct block_products){
        linear_of(n, z->row, h, b->normal1, b->weight_qkv),
        linear_of(n, h, z->query, b->context, b->weight_out),
        linear_of(n, z->up, h, b->normal2, b->weight_up),
        linear_of(n, h, z->ffn, b->active, b->weight_down),
    };
}

static void run_block_forward(struct team *team, const struct layer_buffers *b)
{
    int64_t values = b->z.rows * b->z.hidden;
    struct block_products p = products_of(b);
    struct norm norm1 = norm_of(b, b->x, b->normal1, b->scale1),
                norm2 = norm_of(b, b->middle, b->normal2, b->scale2);
    struct attention attention = attention_of(b);
    struct activation activation = activation_of(b);
    norm_forward(team, &norm1);
    linear_forward(team, &p.qkv, b->qkv);
    attention_forward(team, &attention);
    linear_forward(team, &p.out, b->summand);
    sum_run(team, values, b->x, b->summand, b->middle);
    norm_forward(team, &norm2);
    linear_forward(team, &p.up, b->up);
    activation_forward(team, &activation);
    linear_forward(team, &p.down, b->summand);
    sum_run(team, values, b->middle, b->summand, b->y);
}

static void gradients_run(struct team *team, const struct linear *l, const float *dy, float *dx,
                          float *dw, enum gradients wanted)
{
    if (wanted != GRADIENTS_OF_WEIGHTS) linear_data(team, l, dy, dx);
    if (wanted != GRADIENTS_OF_INPUT) linear_weight(team, l, dy, dw);
}

static void run_block_backward(struct team *team, const struct layer_buffers *b,
                               enum gradients wanted)
{
    int64_t values = b->z.rows * b->z.hidden;
    struct block_products p = products_of(b);
    struct norm norm1 = norm_of(b, NULL, b->normal1, b->scale1),
                norm2 = norm_of(b, NULL, b->normal2, b->scale2);
    norm1.dy = norm2.dy = b->d_normal;
    norm1.dx = norm2.dx = b->summand;
    struct attention attention = attention_of(b);
    struct activation activation = activation_of(b);
    bool data = wanted != GRADIENTS_OF_WEIGHTS;
    gradients_run(team, &p.down, b->dy, b->d_active, b->d_weight_down, wanted);
    if (data) activation_backward(team, &activation);
    gradients_run(team, &p.up, b->d_up, b->d_normal, b->d_weight_up, wanted);
    if (data) norm_backward(team, &norm2);
    if (data) sum_run(team, values, b->dy, b->summand, b->d_middle);
    gradients_run(team, &p.out, b->d_middle, b->d_context, b->d_weight_out, wanted);
    if (data) attention_backward(team, &attention);
    gradients_run(team, &p.qkv, b->d_qkv, b->d_normal, b->d_weight_qkv, wanted);
    if (data) norm_backward(team, &norm1);
    if (data) sum_run(team, values, b->d_middle, b->summand, b->dx);
}

static void run_embedding(struct team *team, enum pass pass, const struct layer_buffers *b)
{
    const struct layer_sizes *z = &b->z;
    struct embedding e = {.tokens = z->tokens,
                          .width = z->hidden,
                          .rows = z->vocabulary,
                          .sequence = z->queries,
                          .token = b->token,
                          .table = b->table,
                          .positions = b->positions,
                          .dx = b->dy,
                          .x = b->y,
                          .d_table = b->d_table,
                          .d_positions = b->d_positions};
    if (pass == PASS_FORWARD) {
        embedding_forward(team, &e);
    } else {
        e.positions = b->d_positions; // only shows whether there are any
        embedding_backward(team, &e);
    }
}

// The head's matrix is stored as the embedding's, a row for each token: y = x table^T.
static void run_head(struct team *team, const struct layer_cell *layer,
                     const struct layer_buffers *b)
{
    const struct layer_sizes *z = &b->z;
    int64_t n = z->tokens, h = z->hidden, v = z->vocabulary;
    float share = 1 / sqrtf((float)h);
    struct norm norm = norm_of(b, b->x, b->normal1, b->scale1);
    struct loss loss = {n, v, b->logits, b->token, b->largest, b->total, b->loss, b->d_logits};
    const struct product
        logits = {n, v, h, share, 0, {b->normal1, h, false}, {b->table, h, true}, b->logits, v},
        data = {n, h, v, share, 0, {b->d_logits, v, false}, {b->table, h, false}, b->d_normal, h},
        weight = {v, h, n, share, 1, {b->d_logits, v, true}, {b->normal1, h, false}, b->d_table, h};
    if (layer->pass == PASS_FORWARD) {
        norm_forward(team, &norm);
        product_run(team, &logits);
        loss_forward(team, &loss);
        return;
    }
    if (layer->gradients != GRADIENTS_OF_WEIGHTS) loss_backward(team, &loss);
    if (layer->gradients != GRADIENTS_OF_WEIGHTS) product_run(team, &data);
    if (layer->gradients != GRADIENTS_OF_INPUT) product_run(team, &weight);
    if (layer->gradients == GRADIENTS_OF_WEIGHTS) return;
    norm.dy = b->d_normal, norm.dx = b->dx;
    norm_backward(team, &norm);
}

void layer_run(struct team *team, const struct layer_cell *layer, const struct layer_buffers *b)
{
    if (layer->kind == LAYER_EMBEDDING) {
        run_embedding(team, layer->pass, b);
        return;
    }
    if (layer->kind == LAYER_HEAD) {
        run_head(team, layer, b);
        return;
    }
    bool again = layer->gradients != GRADIENTS_OF_WEIGHTS;
    if (layer->pass == PASS_FORWARD || (layer->pass == PASS_BACKWARD_FULL && again))
        run_block_forward(team, b);
    if (layer->pass == PASS_BACKWARD_SELECTIVE && again) {
        struct attention attention = attention_of(b);
        attention_forward(team, &attention);
    }
    if (layer->pass != PASS_FORWARD) run_block_backward(team, b, layer->gradients);
}
