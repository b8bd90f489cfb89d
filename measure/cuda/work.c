// Every kind of work except whole layers, as steps. What a backward part reads of its forward part
// is made before it, untimed.
#include "measure/cuda/work.h"

#include <assert.h>

_Static_assert((int)QUANTISE_GROUP == (int)QUANTISE_RUN, "a back end's groups are the cells' runs");

static int64_t up_to(int64_t value, int64_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

// In 8 bits, sizes are rounded up to a multiple of 16, or of 128 where runs have scales.
static void add_products(struct program *p, const int64_t *d, int64_t count, enum product product,
                         bool fp32_sums)
{
    int64_t m = d[0], n = d[1], k = d[2];
    struct gemm g = gemm_of_linear(product, m, n, k, p->type);
    if (p->precision == FP8) {
        int64_t to = bytes_multiple(p->recipe);
        m = up_to(m, to), n = up_to(n, to), k = up_to(k, to);
        g = gemm_of_linear_bytes(product, m, n, k, p->type, p->recipe);
    }
    enum area_kind wide = p->precision == FP8 ? AREA_BYTES : AREA_VALUES;
    enum area_kind small = p->precision == FP8 ? AREA_BYTES : AREA_WEIGHTS;
    int64_t bytes = element_bytes(g.a_type);
    struct place x = place_none(), w = place_none(), y = place_none(), dy = place_none();
    if (product != PRODUCT_INPUT) x = program_area(p, wide, count * m * k * bytes);
    if (product != PRODUCT_WEIGHT) w = program_area(p, small, count * n * k * bytes);
    if (product != PRODUCT_FORWARD) dy = program_area(p, wide, count * m * n * bytes);
    int64_t outs = product == PRODUCT_FORWARD ? m * n : product == PRODUCT_INPUT ? m * k : n * k;
    if (fp32_sums) g.d_type = ELEMENT_FLOAT;
    y = program_area(p, AREA_SCRATCH, count * outs * element_bytes(g.d_type));
    if (product == PRODUCT_WEIGHT) { // accumulated: to existing finite numbers
        g.accumulate = true;
        program_clear(p, y, count * outs * element_bytes(g.d_type));
        p->timed_from = p->step_count;
    }
    g.batch = count; // matrices of the same kind follow each other
    g.stride_a = product == PRODUCT_WEIGHT ? m * k : n * k;
    g.stride_b = product == PRODUCT_FORWARD ? m * k : m * n;
    g.stride_d = outs;
    struct step *s = program_gemm(p, &g, product == PRODUCT_WEIGHT ? x : w,
                                  product == PRODUCT_FORWARD ? x : dy, y, place_none());
    s->in[3] = program_scales(p, g.a_scaling, g.m, g.k);
    s->in[4] = program_scales(p, g.b_scaling, g.n, g.k);
}

static void add_attention(struct program *p, const int64_t *d, bool backward)
{
    struct attention a = {1, d[0], d[0], d[1], d[2], 0, p->type, false};
    int64_t values = d[0] * d[1] * d[2];
    struct place rows = program_values(p, AREA_VALUES, 3 * values),
                 context = program_values(p, AREA_SCRATCH, values);
    struct place kept = program_area(p, AREA_SCRATCH, attention_kept_bytes(&a, p->fused));
    steps_attention(p, &a, attended_rows(&a, rows), context, kept);
    if (!backward) return;
    struct place d_context = program_values(p, AREA_VALUES, values),
                 d_rows = program_values(p, AREA_SCRATCH, 3 * values);
    p->timed_from = p->step_count;
    steps_attention_backward(p, &a, attended_rows(&a, rows), context, d_context, kept,
                             attended_rows(&a, d_rows));
}

// Queries of one context rank and keys of another.
static void add_context(struct program *p, const int64_t *d, bool backward)
{
    struct attention a = {1, d[0], d[0], d[1], d[3], d[2], p->type, false};
    int64_t queries = d[0] * d[1] * d[3], keys = 2 * d[0] * d[2] * d[3];
    struct attended at, of;
    at.query = program_values(p, AREA_VALUES, queries);
    at.key = program_values(p, AREA_VALUES, keys);
    struct place context = program_values(p, AREA_SCRATCH, queries);
    struct place kept = program_area(p, AREA_SCRATCH, attention_kept_bytes(&a, p->fused));
    steps_attention(p, &a, at, context, kept);
    if (!backward) return;
    struct place d_context = program_values(p, AREA_VALUES, queries);
    of.query = program_values(p, AREA_SCRATCH, queries);
    of.key = program_values(p, AREA_SCRATCH, keys);
    p->timed_from = p->step_count;
    steps_attention_backward(p, &a, at, context, d_context, kept, of);
}

static void add_rotary(struct program *p, const int64_t *d)
{
    struct place x = program_values(p, AREA_VALUES, d[0] * d[1] * d[2]),
                 angle = program_area(p, AREA_FLOATS, d[0] * d[2] * (int64_t)sizeof(float));
    struct step *s = program_kernel(p, KERNEL_ROTARY, d[0] * d[1], d[2] / 2);
    s->size[2] = d[1];
    s->in[0] = x, s->in[1] = angle;
    s->out[0] = program_values(p, AREA_SCRATCH, d[0] * d[1] * d[2]);
}

static void add_dropout(struct program *p, const int64_t *d, bool backward)
{
    struct place x = program_values(p, AREA_VALUES, d[0]),
                 kept = program_area(p, AREA_SCRATCH, d[0]);
    struct step *s = program_kernel(p, KERNEL_DROPOUT, d[0], 1);
    s->in[0] = x, s->out[1] = kept;
    s->scalar[0] = 0.1f;
    s->out[0] = program_values(p, AREA_SCRATCH, d[0]);
    if (!backward) return;
    struct place dy = program_values(p, AREA_VALUES, d[0]);
    p->timed_from = p->step_count;
    s = program_kernel(p, KERNEL_DROPOUT_BACKWARD, d[0], 0);
    s->in[0] = dy, s->in[1] = kept;
    s->scalar[0] = 0.1f;
    s->out[0] = program_values(p, AREA_SCRATCH, d[0]);
}

static void add_norms(struct program *p, int64_t tokens, int64_t hidden, int count, bool sums,
                      bool backward)
{
    int64_t values = tokens * hidden;
    struct norm norms[2];
    struct place x[2], y[2];
    assert(count <= 2);
    for (int i = 0; i < count; i++) {
        norms[i] = steps_norm_open(p, tokens, hidden, false);
        x[i] = program_values(p, AREA_VALUES, values);
        y[i] = program_values(p, AREA_SCRATCH, values);
        steps_norm(p, &norms[i], x[i], y[i]);
        if (sums && !backward)
            steps_sum(p, values, x[i], y[i], program_values(p, AREA_SCRATCH, values));
    }
    if (!backward) return;
    p->timed_from = p->step_count;
    for (int i = 0; i < count; i++) {
        struct place dy = program_values(p, AREA_VALUES, values),
                     dx = program_values(p, AREA_SCRATCH, values);
        steps_norm_backward(p, &norms[i], dy, dx);
        if (sums) steps_sum(p, values, dy, dx, program_values(p, AREA_SCRATCH, values));
    }
}

static void add_activation(struct program *p, int64_t tokens, int64_t ffn, bool gated,
                           bool backward)
{
    int64_t wide = (gated ? 2 : 1) * ffn;
    struct place x = program_values(p, AREA_VALUES, tokens * wide);
    if (!backward) {
        steps_activation(p, gated, tokens, ffn, x, program_values(p, AREA_SCRATCH, tokens * ffn));
        return;
    }
    struct place dy = program_values(p, AREA_VALUES, tokens * ffn),
                 dx = program_values(p, AREA_SCRATCH, tokens * wide);
    steps_activation_backward(p, gated, tokens, ffn, x, dy, dx);
}

static void add_elementwise(struct program *p, const int64_t *d, bool gated, bool backward)
{
    add_norms(p, d[1], d[2], 2, true, backward);
    add_activation(p, d[1], d[3], gated, backward);
}

static void add_copy(struct program *p, const int64_t *d)
{
    struct place from = program_area(p, AREA_VALUES, d[0] / 2),
                 to = program_area(p, AREA_SCRATCH, d[0] / 2);
    struct step *s = program_add(p, STEP_COPY);
    s->in[0] = from, s->out[0] = to, s->size[0] = d[0] / 2;
}

// The step size is small enough for weights to stay finite over any number of steps.
static void add_optimizer(struct program *p, const int64_t *d)
{
    int64_t bytes = d[0] * (int64_t)sizeof(float);
    struct step *s = program_kernel(p, KERNEL_ADAM, d[0], 0);
    struct place gradient = program_area(p, AREA_FLOATS, bytes),
                 m = program_area(p, AREA_FLOATS, bytes);
    struct place v = program_area(p, AREA_POSITIVE, bytes),
                 weights = program_area(p, AREA_FLOATS, bytes);
    s->in[0] = gradient;
    s->out[0] = m, s->out[1] = v, s->out[2] = weights;
    if (p->type != ELEMENT_FLOAT) s->out[3] = program_values(p, AREA_SCRATCH, d[0]);
    const float scalar[4] = {1e-9f, 0.9f, 0.999f, 1e-8f};
    for (int i = 0; i < 4; i++) s->scalar[i] = scalar[i];
}

// M [rows][columns], P [rows][rank], Q [columns][rank]. P = M Q; G = P^T P; X from G's Cholesky
// factor; P = P X; Q = M^T P.
static void add_low_rank(struct program *p, const int64_t *d)
{
    int64_t rows = d[0], columns = d[1], rank = d[2], square = rank * rank;
    struct place matrix = program_values(p, AREA_VALUES, rows * columns),
                 q0 = program_values(p, AREA_WEIGHTS, columns * rank);
    struct place p0 = program_values(p, AREA_SCRATCH, rows * rank),
                 p1 = program_values(p, AREA_SCRATCH, rows * rank);
    struct place gram = program_area(p, AREA_SCRATCH, square * (int64_t)sizeof(float));
    struct place factor = program_area(p, AREA_SCRATCH, square * (int64_t)sizeof(float));
    struct place inverse = program_values(p, AREA_SCRATCH, square),
                 q1 = program_values(p, AREA_SCRATCH, columns * rank);
    // By columns: P^T (rank x rows) = Q^T (rank x columns) M^T.
    struct gemm g = {.a_type = p->type, .b_type = p->type, .d_type = p->type, .batch = 1};
    g.m = rank, g.n = rows, g.k = columns, g.lda = rank, g.ldb = columns, g.ldd = rank;
    program_gemm(p, &g, q0, matrix, p0, place_none());
    struct gemm of_gram = g; // G = P^T (rank x rows) P (rows x rank)
    of_gram.d_type = ELEMENT_FLOAT, of_gram.transpose_b = true;
    of_gram.m = rank, of_gram.n = rank, of_gram.k = rows, of_gram.lda = rank, of_gram.ldb = rank,
    of_gram.ldd = rank;
    program_gemm(p, &of_gram, p0, p0, gram, place_none());
    struct step *s = program_kernel(p, KERNEL_CHOLESKY, rank, 0);
    s->in[0] = gram, s->out[0] = factor, s->out[1] = inverse;
    s->scalar[0] = 1e-6f;
    struct gemm onto = g; // (P X)^T = X^T P^T; X is by rows, so by columns it is already X^T
    onto.k = rank, onto.lda = rank, onto.ldb = rank;
    program_gemm(p, &onto, inverse, p0, p1, place_none());
    struct gemm back =
        g; // Q^T (rank x columns) = P^T (rank x rows) M (rows x columns, given as M^T)
    back.transpose_b = true;
    back.n = columns, back.k = rows, back.lda = rank, back.ldb = columns, back.ldd = rank;
    program_gemm(p, &back, p1, matrix, q1, place_none());
}

static void add_low_rank_back(struct program *p, const int64_t *d)
{
    int64_t rows = d[0], columns = d[1], rank = d[2];
    struct place left = program_values(p, AREA_VALUES, rows * rank),
                 right = program_values(p, AREA_VALUES, columns * rank);
    struct place matrix = program_values(p, AREA_SCRATCH, rows * columns);
    // By columns: M^T (columns x rows) = Q (columns x rank, given as Q^T) P^T (rank x rows).
    struct gemm g = {
        .a_type = p->type, .b_type = p->type, .d_type = p->type, .batch = 1, .transpose_a = true};
    g.m = columns, g.n = rows, g.k = rank, g.lda = rank, g.ldb = rank, g.ldd = columns;
    program_gemm(p, &g, right, left, matrix, place_none());
}

static void add_top_k(struct program *p, const int64_t *d, bool back)
{
    struct place values = program_values(p, AREA_VALUES, d[0]),
                 chosen = program_values(p, AREA_SCRATCH, d[1]);
    struct place radix = program_area(p, AREA_SCRATCH, (int64_t)sizeof(struct radix));
    struct place positions = program_area(p, AREA_SCRATCH, d[1] * (int64_t)sizeof(int32_t));
    program_clear(p, radix, (int64_t)sizeof(struct radix));
    struct step *s = program_kernel(p, KERNEL_RADIX_OPEN, d[1], 0);
    s->out[0] = radix;
    int passes = p->type == ELEMENT_FLOAT ? RADIX_PASSES
                                          : RADIX_PASSES - 1; // the rest of 16 bits' float is zero
    for (int i = 0; i < passes; i++) {
        s = program_kernel(p, KERNEL_RADIX_COUNT, d[0], 0);
        s->in[0] = values, s->out[0] = radix;
        s = program_kernel(p, KERNEL_RADIX_PICK, 0, 0);
        s->out[0] = radix;
    }
    s = program_kernel(p, KERNEL_COLLECT, d[0], 0);
    s->in[0] = values, s->out[0] = radix, s->out[1] = positions, s->out[2] = chosen;
    if (!back) return;
    struct place spread = program_values(p, AREA_SCRATCH, d[0]);
    p->timed_from = p->step_count;
    program_clear(p, spread, d[0] * element_bytes(p->type));
    s = program_kernel(p, KERNEL_SCATTER, d[1], 0);
    s->in[0] = positions, s->in[1] = chosen, s->out[0] = spread;
}

static void add_quantise(struct program *p, const int64_t *d, bool back)
{
    int64_t groups = (d[0] + QUANTISE_GROUP - 1) / QUANTISE_GROUP;
    struct place values = program_values(p, AREA_VALUES, d[0]);
    struct place bytes = program_area(p, AREA_SCRATCH, groups * QUANTISE_GROUP * d[1] / 8);
    struct place scales = program_area(p, AREA_SCRATCH, groups * (int64_t)sizeof(float)),
                 lost = place_none();
    if (d[1] == 1) {
        lost = program_area(p, AREA_SCRATCH, d[0] * (int64_t)sizeof(float));
        program_clear(p, lost, d[0] * (int64_t)sizeof(float));
        p->timed_from = p->step_count;
    }
    struct step *s = program_kernel(p, KERNEL_QUANTISE, d[0], d[1]);
    s->in[0] = values, s->out[0] = bytes, s->out[1] = scales, s->out[2] = lost;
    if (!back) return;
    p->timed_from = p->step_count;
    s = program_kernel(p, KERNEL_DEQUANTISE, d[0], d[1]);
    s->in[0] = bytes, s->in[1] = scales, s->out[0] = program_values(p, AREA_SCRATCH, d[0]);
}

// As many kernels and products as in a block's forward pass, on 16 tokens of 16 values.
static enum status add_empty_blocks(struct program *p, const int64_t *d, struct error *err)
{
    static const struct shape small = {
        .hidden = 16, .ffn = 16, .heads = 1, .kv_heads = 1, .head_width = 16, .vocabulary = 16};
    static const struct layer_cell layer = {
        .kind = LAYER_BLOCK, .pass = PASS_FORWARD, .shape = &small};
    struct cell cell = {.work = WORK_LAYER, .layer = &layer, .sample.dimensions = {1, 16, 1, 1}};
    for (int64_t i = 0; i < d[0]; i++) TRY(program_layer(p, &cell, err));
    return OK;
}

static bool is_fused(const struct cell *cell)
{
    return cell->work == WORK_FUSED_ATTENTION || cell->work == WORK_FUSED_ATTENTION_BACKWARD ||
           cell->work == WORK_FUSED_CONTEXT_ATTENTION ||
           cell->work == WORK_FUSED_CONTEXT_ATTENTION_BACKWARD ||
           (cell->work == WORK_LAYER && cell->layer->fused);
}

enum status program_of_cell(struct program *p, const struct cell *cell, enum precision precision,
                            struct arena *arena, struct error *err)
{
    const int64_t *d = cell->sample.dimensions;
    program_open(p, precision, is_fused(cell), arena);
    p->recipe = precision == FP8 ? cell->sample.recipe : RECIPE_NONE;
    switch (cell->work) {
    case WORK_GEMM: add_products(p, d, 1, PRODUCT_FORWARD, false); return OK;
    case WORK_GEMM_DATA: add_products(p, d, 1, PRODUCT_INPUT, false); return OK;
    case WORK_GEMM_WEIGHT:
        add_products(p, d, 1, PRODUCT_WEIGHT, cell->sample.fp32_gradients);
        return OK;
    case WORK_GROUPED: add_products(p, d, d[3], PRODUCT_FORWARD, false); return OK;
    case WORK_GROUPED_DATA: add_products(p, d, d[3], PRODUCT_INPUT, false); return OK;
    case WORK_GROUPED_WEIGHT:
        add_products(p, d, d[3], PRODUCT_WEIGHT, cell->sample.fp32_gradients);
        return OK;
    case WORK_CONTEXT_ATTENTION:
    case WORK_FUSED_CONTEXT_ATTENTION: add_context(p, d, false); return OK;
    case WORK_CONTEXT_ATTENTION_BACKWARD:
    case WORK_FUSED_CONTEXT_ATTENTION_BACKWARD: add_context(p, d, true); return OK;
    case WORK_ROTARY: add_rotary(p, d); return OK;
    case WORK_DROPOUT: add_dropout(p, d, false); return OK;
    case WORK_DROPOUT_BACKWARD: add_dropout(p, d, true); return OK;
    case WORK_CAST:
        steps_cast(p, program_values(p, AREA_VALUES, d[0] * d[1]), d[0], d[1], false);
        return OK;
    case WORK_ATTENTION:
    case WORK_FUSED_ATTENTION: add_attention(p, d, false); return OK;
    case WORK_ATTENTION_BACKWARD:
    case WORK_FUSED_ATTENTION_BACKWARD: add_attention(p, d, true); return OK;
    case WORK_ELEMENTWISE: add_elementwise(p, d, false, false); return OK;
    case WORK_ELEMENTWISE_BACKWARD: add_elementwise(p, d, false, true); return OK;
    case WORK_GATED_ELEMENTWISE: add_elementwise(p, d, true, false); return OK;
    case WORK_GATED_ELEMENTWISE_BACKWARD: add_elementwise(p, d, true, true); return OK;
    case WORK_ACTIVATION: add_activation(p, d[1], d[2], d[3], false); return OK;
    case WORK_ACTIVATION_BACKWARD: add_activation(p, d[1], d[2], d[3], true); return OK;
    case WORK_NORM: add_norms(p, d[1], d[2], 1, false, false); return OK;
    case WORK_NORM_BACKWARD: add_norms(p, d[1], d[2], 1, false, true); return OK;
    case WORK_COPY: add_copy(p, d); return OK;
    case WORK_LAYER: return program_layer(p, cell, err);
    case WORK_OPTIMIZER: add_optimizer(p, d); return OK;
    case WORK_COMPRESS: add_low_rank(p, d); return OK;
    case WORK_DECOMPRESS: add_low_rank_back(p, d); return OK;
    case WORK_TOP_K_COMPRESS: add_top_k(p, d, false); return OK;
    case WORK_TOP_K_DECOMPRESS: add_top_k(p, d, true); return OK;
    case WORK_QUANTISE: add_quantise(p, d, false); return OK;
    case WORK_DEQUANTISE: add_quantise(p, d, true); return OK;
    case WORK_EMPTY_BLOCKS: return add_empty_blocks(p, d, err);
    case WORK_TO_DEVICE_PINNED:
    case WORK_TO_DEVICE_PAGEABLE:
    case WORK_TO_HOST_PINNED:
    case WORK_TO_HOST_PAGEABLE:
        program_area(p, AREA_SCRATCH, d[0]); // the device's end; the transfer itself is not a step
        return OK;
    case WORK_COUNT: break;
    }
    assert(!"an unknown kind of work");
    return OK;
}
