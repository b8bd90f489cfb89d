// The CPU's kernels are right, not only fast: whole layers against a second computation in double
// precision written out loop by loop, their backward passes against finite differences of it.
#include "measure/cpu/internal.h"
#include "tests/measure/kernels.h"

// ---- a block in double precision

// Everything that the loss of a block depends on; one array each, so that a test can move any
// number of it.
enum part { PART_X, PART_QKV, PART_OUT, PART_UP, PART_DOWN, PART_OTHERS, PART_KINDS };
static const char *const part_texts[] = {"x", "qkv", "out", "up", "down", "others"};

struct reference {
    struct layer_sizes z;
    double *part[PART_KINDS];
    int64_t count[PART_KINDS];
    const float *dy;
    double *work; // scratch of one evaluation
};

static void norm_reference(const double *x, double *y, int64_t width, bool rms)
{
    double mean = 0, square = 0;
    for (int64_t j = 0; j < width; j++) mean += rms ? 0 : x[j] / (double)width;
    for (int64_t j = 0; j < width; j++) square += (x[j] - mean) * (x[j] - mean) / (double)width;
    for (int64_t j = 0; j < width; j++) y[j] = (x[j] - mean) / sqrt(square + 1e-5);
}

static double product_reference(const double *row, const double *weights, int64_t inner,
                                int64_t columns, int64_t j)
{
    double sum = 0;
    for (int64_t k = 0; k < inner; k++) sum += row[k] * weights[k * columns + j];
    return sum / sqrt((double)inner);
}

// The key (or value, `value` 1) of a token of a sequence: of this rank, or of another one.
static const double *key_reference(const struct reference *r, const double *qkv, int64_t batch,
                                   int64_t token, int value)
{
    const struct layer_sizes *z = &r->z;
    int64_t block = token / z->queries, place = batch * z->queries + token % z->queries;
    if (!block) return qkv + place * z->row + z->query + value * z->key;
    return r->part[PART_OTHERS] + ((block - 1) * z->tokens + place) * 2 * z->key + value * z->key;
}

static void attention_reference(const struct reference *r, const double *qkv, double *context)
{
    const struct layer_sizes *z = &r->z;
    int64_t keys = z->queries * z->blocks, group = z->heads / z->kv_heads;
    double *weight = r->work;
    for (int64_t i = 0; i < z->tokens; i++)
        for (int64_t a = 0; a < z->heads; a++) {
            double total = 0;
            for (int64_t j = 0; j < keys; j++) {
                const double *key = key_reference(r, qkv, i / z->queries, j, 0) +
                                    a / group * z->width;
                double score = 0;
                for (int64_t k = 0; k < z->width; k++)
                    score += qkv[i * z->row + a * z->width + k] * key[k];
                total += weight[j] = exp(score / sqrt((double)z->width));
            }
            for (int64_t k = 0; k < z->width; k++) {
                double sum = 0;
                for (int64_t j = 0; j < keys; j++)
                    sum += weight[j] / total *
                           key_reference(r, qkv, i / z->queries, j, 1)[a / group * z->width + k];
                context[i * z->query + a * z->width + k] = sum;
            }
        }
}

// y [tokens][hidden] of the block; the sum of dy y is the loss whose gradients backward makes.
static double block_reference(const struct reference *r, double *y, struct arena *arena)
{
    const struct layer_sizes *z = &r->z;
    int64_t n = z->tokens, h = z->hidden;
    struct arena_mark mark = arena_set_mark(arena);
    double *normal = TAKE(arena, h, double), *qkv = TAKE(arena, n * z->row, double),
           *context = TAKE(arena, n * z->query, double);
    double *middle = TAKE(arena, h, double), *up = TAKE(arena, z->up, double),
           *active = TAKE(arena, z->ffn, double), loss = 0;
    for (int64_t i = 0; i < n; i++) {
        norm_reference(r->part[PART_X] + i * h, normal, h, z->rms);
        for (int64_t j = 0; j < z->row; j++)
            qkv[i * z->row + j] = product_reference(normal, r->part[PART_QKV], h, z->row, j);
    }
    attention_reference(r, qkv, context);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < h; j++)
            middle[j] = r->part[PART_X][i * h + j] + product_reference(context + i * z->query,
                                                                       r->part[PART_OUT], z->query,
                                                                       h, j);
        norm_reference(middle, normal, h, z->rms);
        for (int64_t j = 0; j < z->up; j++)
            up[j] = product_reference(normal, r->part[PART_UP], h, z->up, j);
        for (int64_t j = 0; j < z->ffn; j++) {
            double g = up[j];
            active[j] =
                z->gated ? g / (1 + exp(-g)) * up[z->ffn + j]
                         : 0.5 * g * (1 + tanh(sqrt(2 / acos(-1.0)) * (g + 0.044715 * g * g * g)));
        }
        for (int64_t j = 0; j < h; j++) {
            double out = middle[j] + product_reference(active, r->part[PART_DOWN], z->ffn, h, j);
            if (y) y[i * h + j] = out;
            loss += (double)r->dy[i * h + j] * out;
        }
    }
    arena_reset(arena, mark);
    return loss;
}

static struct reference reference_of(const struct layer_buffers *b, struct arena *arena)
{
    const struct layer_sizes *z = &b->z;
    const float *const from[] = {b->x,         b->weight_qkv,  b->weight_out,
                                 b->weight_up, b->weight_down, b->others};
    struct reference r = {.z = *z,
                          .dy = b->dy,
                          .work = TAKE(arena, z->queries * z->blocks, double),
                          .count = {z->tokens * z->hidden, z->hidden * z->row, z->query * z->hidden,
                                    z->hidden * z->up, z->ffn * z->hidden,
                                    (z->blocks - 1) * z->tokens * 2 * z->key}};
    for (int part = 0; part < PART_KINDS; part++) {
        r.part[part] = TAKE(arena, r.count[part], double);
        for (int64_t i = 0; i < r.count[part]; i++) r.part[part][i] = (double)from[part][i];
    }
    return r;
}

static const struct shape shapes[] = {
    {.hidden = 12,
     .ffn = 10,
     .heads = 4,
     .kv_heads = 4,
     .head_width = 3,
     .vocabulary = 29,
     .positions = 8},
    {.hidden = 10,
     .ffn = 14,
     .heads = 4,
     .kv_heads = 2,
     .head_width = 4,
     .vocabulary = 31,
     .gated_ffn = true,
     .rms_norm = true},
    {.hidden = 9,
     .ffn = 6,
     .heads = 6,
     .kv_heads = 1,
     .head_width = 2,
     .vocabulary = 17,
     .gated_ffn = true},
};

static struct cell layer_of(struct layer_cell *layer, enum layer_kind kind, enum pass pass,
                            const struct shape *shape, int64_t batch, int64_t sequence,
                            int64_t tensor, int64_t context)
{
    *layer = (struct layer_cell){.kind = kind, .pass = pass, .shape = shape};
    return (struct cell){
        .work = WORK_LAYER,
        .layer = layer,
        .sample = {.dimensions = {batch, sequence, tensor, context}, .dimension_count = 4}};
}

// One pass over random operands, with a guard after the output.
static void run_layer(struct layer_buffers *b, const struct cell *cell, int threads,
                      struct arena *arena)
{
    struct layer_buffers sizes;
    layer_place(&sizes, cell, NULL, NULL);
    assert_int_equal(sizes.in_floats, part_size(cell, threads).in);
    float *in = random_floats(sizes.in_floats, 5, arena),
          *out = TAKE(arena, sizes.out_floats + 1, float);
    out[sizes.out_floats] = 12345;
    layer_place(b, cell, in, out);
    layer_run(open_team(threads, arena), cell->layer, b);
    assert_true(out[sizes.out_floats] == 12345);
}

static void check_gradients(struct reference *r, const struct layer_buffers *b, struct arena *arena)
{
    const float *const gradients[] = {b->dx,          b->d_weight_qkv,  b->d_weight_out,
                                      b->d_weight_up, b->d_weight_down, b->d_others};
    const double step = 1e-5;
    for (int part = 0; part < PART_KINDS; part++)
        for (int64_t i = 0; i < r->count[part]; i++) {
            double *value = &r->part[part][i], kept = *value;
            *value = kept + step;
            double above = block_reference(r, NULL, arena);
            *value = kept - step;
            double below = block_reference(r, NULL, arena);
            *value = kept;
            assert_close((double)gradients[part][i], (above - below) / (2 * step), 2e-4,
                         part_texts[part], i);
        }
}

TEST(test_block)
{
    struct arena_mark mark = arena_set_mark(arena);
    for (size_t c = 0; c < ARRAY_LENGTH(shapes) * 2; c++, arena_reset(arena, mark)) {
        struct layer_cell layer;
        const struct shape *shape = &shapes[c / 2];
        int64_t context = c % 2 ? 3 : 1, tensor = c % 2 && shape->heads % 2 == 0 ? 2 : 1;
        struct cell cell = layer_of(&layer, LAYER_BLOCK, PASS_BACKWARD_FULL, shape, 2, 3 * context,
                                    tensor, context);
        struct layer_buffers b;
        run_layer(&b, &cell, thread_counts[c % 3], arena);
        assert_int_equal(b.z.tokens, 6);
        assert_int_equal(b.z.heads * tensor, shape->heads);
        struct reference r = reference_of(&b, arena);
        double *y = TAKE((struct arena *)arena, b.z.tokens * b.z.hidden, double);
        block_reference(&r, y, arena);
        for (int64_t i = 0; i < b.z.tokens * b.z.hidden; i++)
            assert_close((double)b.y[i], y[i], 2e-5, "y", i);
        check_gradients(&r, &b, arena);
    }
}

// With sequence parallelism norms and sums have a rank's own tokens, products and attention all.
TEST(test_own_rows)
{
    struct layer_cell layer;
    struct cell cell = layer_of(&layer, LAYER_BLOCK, PASS_FORWARD, &shapes[1], 1, 7, 2, 1);
    struct layer_buffers all, own;
    int64_t working, kept = layer_keeps(&cell, &working);
    run_layer(&all, &cell, 2, arena);
    layer.parts = 2;
    assert_int_equal(kept - layer_keeps(&cell, &working), 2 * (7 - 4) * (shapes[1].hidden + 1));
    layer_place(&own, &cell, NULL, NULL);
    float *in = random_floats(own.in_floats, 5, arena), *out = TAKE(arena, own.out_floats, float);
    for (int64_t i = 0; i < own.out_floats; i++) out[i] = 7;
    layer_place(&own, &cell, in, out);
    layer_run(open_team(2, arena), cell.layer, &own);
    int64_t h = own.z.hidden, rows = own.z.rows;
    assert_int_equal(rows, 4); // of 7
    assert_memory_equal(own.normal1, all.normal1, (size_t)(rows * h) * sizeof(float));
    for (int64_t i = rows * h; i < 7 * h; i++)
        assert_true(own.normal1[i] == 7 && own.normal2[i] == 7 && own.middle[i] == 7 &&
                    own.y[i] == 7);
    for (int64_t i = 0; i < 7 * own.z.row; i++) assert_true(own.qkv[i] != 7);
}

// Backward from what forward kept, and with the scores computed again: the same gradients to the
// last bit.
TEST(test_recompute_modes)
{
    static const enum pass passes[] = {PASS_BACKWARD, PASS_BACKWARD_SELECTIVE};
    for (size_t c = 0; c < ARRAY_LENGTH(shapes) * 2; c++) {
        struct layer_cell layers[2];
        const struct shape *shape = &shapes[c / 2];
        struct cell whole =
            layer_of(&layers[0], LAYER_BLOCK, PASS_BACKWARD_FULL, shape, 2, 6, 1, 2);
        struct cell cell = layer_of(&layers[1], LAYER_BLOCK, passes[c % 2], shape, 2, 6, 1, 2);
        struct layer_buffers f, b;
        run_layer(&f, &whole, 2, arena);
        layer_place(&b, &cell, NULL, NULL);
        float *in = random_floats(b.in_floats, 6, arena),
              *out = TAKE((struct arena *)arena, b.out_floats, float);
        layer_place(&b, &cell, in, out);
        const struct layer_sizes *z = &b.z;
        int64_t n = z->tokens, h = z->hidden,
                scores = z->batch * z->heads * z->queries * z->queries * z->blocks;
        const struct {
            const float *from, *to;
            int64_t count;
        } kept[] = {
            {f.weight_qkv, b.weight_qkv, h * z->row},
            {f.weight_out, b.weight_out, z->query * h},
            {f.weight_up, b.weight_up, h * z->up},
            {f.weight_down, b.weight_down, z->ffn * h},
            {f.others, b.others, (z->blocks - 1) * n * 2 * z->key},
            {f.dy, b.dy, n * h},
            {f.normal1, b.normal1, n * h},
            {f.scale1, b.scale1, n},
            {f.qkv, b.qkv, n * z->row},
            {f.scores, b.scores, scores},
            {f.context, b.context, n * z->query},
            {f.normal2, b.normal2, n * h},
            {f.scale2, b.scale2, n},
            {f.up, b.up, n * z->up},
            {f.active, b.active, n * z->ffn},
        };
        for (size_t i = 0; i < ARRAY_LENGTH(kept); i++) {
            if (passes[c % 2] == PASS_BACKWARD_SELECTIVE &&
                (kept[i].from == f.scores || kept[i].from == f.context))
                continue;
            copy_floats((float *)kept[i].to, kept[i].from, kept[i].count);
        }
        layer_run(open_team(2, arena), cell.layer, &b);
        assert_memory_equal(b.dx, f.dx, (size_t)(n * h) * sizeof(float));
        assert_memory_equal(b.d_weight_qkv, f.d_weight_qkv, (size_t)(h * z->row) * sizeof(float));
        assert_memory_equal(b.d_weight_down, f.d_weight_down, (size_t)(z->ffn * h) * sizeof(float));
        assert_memory_equal(b.d_others, f.d_others,
                            (size_t)((z->blocks - 1) * n * 2 * z->key) * sizeof(float));
    }
}

// ---- head and embedding

static double head_reference(const struct layer_sizes *z, const double *x, const double *table,
                             const float *token, double *each, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    double *normal = TAKE(arena, z->hidden, double), *logit = TAKE(arena, z->vocabulary, double),
           mean = 0;
    for (int64_t i = 0; i < z->tokens; i++) {
        double total = 0;
        norm_reference(x + i * z->hidden, normal, z->hidden, z->rms);
        for (int64_t j = 0; j < z->vocabulary; j++) {
            logit[j] = 0;
            for (int64_t k = 0; k < z->hidden; k++)
                logit[j] += normal[k] * table[j * z->hidden + k] / sqrt((double)z->hidden);
            total += exp(logit[j]);
        }
        double loss = log(total) - logit[token_row(token[i], z->vocabulary)];
        if (each) each[i] = loss;
        mean += loss / (double)z->tokens;
    }
    arena_reset(arena, mark);
    return mean;
}

static double *doubles_of(const float *values, int64_t count, struct arena *arena)
{
    double *copy = TAKE(arena, count, double);
    for (int64_t i = 0; i < count; i++) copy[i] = (double)values[i];
    return copy;
}

TEST(test_head)
{
    for (size_t c = 0; c < ARRAY_LENGTH(shapes); c++) {
        struct layer_cell layers[2];
        struct cell forward =
            layer_of(&layers[0], LAYER_HEAD, PASS_FORWARD, &shapes[c], 2, 3, 1, 1);
        struct cell backward =
            layer_of(&layers[1], LAYER_HEAD, PASS_BACKWARD, &shapes[c], 2, 3, 1, 1);
        struct layer_buffers f, b;
        run_layer(&f, &forward, thread_counts[c], arena);
        const struct layer_sizes *z = &f.z;
        int64_t n = z->tokens, h = z->hidden, v = z->vocabulary;
        double *x = doubles_of(f.x, n * h, arena), *table = doubles_of(f.table, v * h, arena),
               *each = TAKE(arena, n, double);
        head_reference(z, x, table, f.token, each, arena);
        for (int64_t i = 0; i < n; i++) assert_close((double)f.loss[i], each[i], 2e-5, "loss", i);
        layer_place(&b, &backward, NULL, NULL);
        layer_place(&b, &backward, TAKE(arena, b.in_floats, float),
                    TAKE(arena, b.out_floats, float));
        copy_floats((float *)b.token, f.token, n), copy_floats((float *)b.table, f.table, v * h);
        copy_floats(b.normal1, f.normal1, n * h), copy_floats(b.scale1, f.scale1, n),
            copy_floats(b.logits, f.logits, n * v);
        copy_floats(b.largest, f.largest, n), copy_floats(b.total, f.total, n);
        layer_run(open_team(thread_counts[c], arena), backward.layer, &b);
        for (int64_t i = 0; i < n * h + v * h; i++) {
            double *value = i < n * h ? &x[i] : &table[i - n * h], kept = *value, step = 1e-5;
            *value = kept + step;
            double above = head_reference(z, x, table, f.token, NULL, arena);
            *value = kept - step;
            double below = head_reference(z, x, table, f.token, NULL, arena);
            *value = kept;
            assert_close(i < n * h ? (double)b.dx[i] : (double)b.d_table[i - n * h],
                         (above - below) / (2 * step), 2e-5, "head", i);
        }
    }
}

TEST(test_embedding)
{
    for (size_t c = 0; c < ARRAY_LENGTH(shapes); c++) {
        struct layer_cell layers[2];
        struct cell forward =
            layer_of(&layers[0], LAYER_EMBEDDING, PASS_FORWARD, &shapes[c], 5, 8, 1, 1);
        struct cell backward =
            layer_of(&layers[1], LAYER_EMBEDDING, PASS_BACKWARD, &shapes[c], 5, 8, 1, 1);
        struct layer_buffers f, b;
        run_layer(&f, &forward, thread_counts[c], arena);
        run_layer(&b, &backward, thread_counts[c], arena);
        int64_t h = f.z.hidden, v = f.z.vocabulary;
        double *table = TAKE((struct arena *)arena, v * h, double),
               *positions = TAKE((struct arena *)arena, 8 * h, double);
        for (int64_t i = 0; i < f.z.tokens; i++)
            for (int64_t j = 0; j < h; j++) {
                float want = f.table[token_row(f.token[i], v) * h + j] +
                             (shapes[c].positions ? f.positions[i % 8 * h + j] : 0);
                assert_true(f.y[i * h + j] == want);
                table[token_row(b.token[i], v) * h + j] += (double)b.dy[i * h + j];
                positions[i % 8 * h + j] += (double)b.dy[i * h + j];
            }
        for (int64_t i = 0; i < v * h; i++)
            assert_close((double)b.d_table[i], table[i], 1e-5, "table", i);
        for (int64_t i = 0; shapes[c].positions && i < 8 * h; i++)
            assert_close((double)b.d_positions[i], positions[i], 1e-5, "positions", i);
    }
    for (int64_t rows = 1; rows < 50; rows += 7) {
        assert_int_equal(token_row(-1, rows), 0);
        assert_int_equal(token_row(1, rows), rows - 1);
    }
}
