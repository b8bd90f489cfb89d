// The CUDA back end's layers and optimizer on the fake device in the CPU's memory, against a second
// computation: as test_cuda.c.
#include "tests/cuda/bench/bench.h"
#include "tests/cuda/reference.h"

// ---- blocks

static const struct shape plain = {.hidden = 24,
                                   .ffn = 40,
                                   .heads = 3,
                                   .kv_heads = 3,
                                   .head_width = 8,
                                   .vocabulary = 24,
                                   .qkv_bias = true,
                                   .linear_bias = true};
static const struct shape odd = {.hidden = 13,
                                 .ffn = 9,
                                 .heads = 3,
                                 .kv_heads = 1,
                                 .head_width = 5,
                                 .vocabulary = 17,
                                 .gated_ffn = true,
                                 .qkv_bias = true};

static void read_reference(struct reference *r, const struct bench *b, const struct shape *s,
                           int batch, int sequence)
{
    const struct program *p = b->program;
    int h = (int)s->hidden, q = (int)(s->heads * s->head_width),
        row = q + 2 * (int)(s->kv_heads * s->head_width);
    int up = (s->gated_ffn ? 2 : 1) * (int)s->ffn, n = batch * sequence;
    *r = (struct reference){.batch = batch,
                            .sequence = sequence,
                            .hidden = h,
                            .heads = (int)s->heads,
                            .kv_heads = (int)s->kv_heads,
                            .width = (int)s->head_width,
                            .ffn = (int)s->ffn,
                            .gated = s->gated_ffn,
                            .rms = s->rms_norm,
                            .qkv_bias = s->qkv_bias,
                            .linear_bias = s->linear_bias};
    const int64_t counts[BLOCK_PARTS] = {n * h,
                                         h,
                                         s->rms_norm ? 0 : h,
                                         h,
                                         s->rms_norm ? 0 : h,
                                         row * h,
                                         s->qkv_bias ? row : 0,
                                         h * q,
                                         s->linear_bias ? h : 0,
                                         up * h,
                                         s->linear_bias ? up : 0,
                                         h * s->ffn,
                                         s->linear_bias ? h : 0};
    int values = 0, weights = 0;
    for (int i = 0; i < BLOCK_PARTS; i++) {
        r->count[i] = counts[i];
        if (!counts[i]) continue;
        struct place place = i < QKV ? nth_area(p, AREA_VALUES, values++)
                                     : nth_area(p, AREA_WEIGHTS, weights++);
        assert_true(p->areas[place.area].bytes == counts[i] * element_bytes(p->type));
        r->part[i] = malloc((size_t)counts[i] * sizeof(double));
        for (int64_t j = 0; j < counts[i]; j++) r->part[i][j] = read_at(b, place, p->type, j);
    }
}

static void free_reference(struct reference *r)
{
    for (int i = 0; i < BLOCK_PARTS; i++) free(r->part[i]);
}

// The places of the gradients of a block's parts, by the operations that make them; missing parts
// have none.
static void find_gradients(struct place gradients[BLOCK_PARTS], const struct program *p,
                           const struct shape *s)
{
    static const int linears[] = {DOWN, UP, PROJECTION, QKV}, norms[] = {NORM2, NORM1};
    int product = 0, sum = 0, norm = 0;
    int with_bias[4], bias_count = 0;
    for (int i = 0; i < BLOCK_PARTS; i++) gradients[i] = place_none();
    for (int i = 0; i < 4; i++)
        if (linears[i] == QKV ? s->qkv_bias : s->linear_bias)
            with_bias[bias_count++] = linears[i] + 1;
    for (int i = p->timed_from; i < p->step_count; i++) {
        const struct step *t = &p->steps[i];
        if (t->kind == STEP_GEMM && t->gemm.transpose_b && t->gemm.ldd == t->gemm.m &&
            t->gemm.lda == t->gemm.m)
            gradients[linears[product++]] = t->out[0];
        if (t->kind == STEP_KERNEL && t->kernel == KERNEL_COLUMN_SUM)
            gradients[with_bias[sum++]] = t->out[0];
        if (t->kind == STEP_KERNEL && t->kernel == KERNEL_NORM_WEIGHTS) {
            gradients[norms[norm]] = t->out[0];
            gradients[norms[norm++] + 1] = t->out[1];
        }
    }
    assert_int_equal(product, 4);
    assert_int_equal(sum, bias_count);
    assert_int_equal(norm, 2);
    gradients[BLOCK_X] = p->steps[p->step_count - 1].out[0];
}

enum how { PLAIN = 0, GRAPH = 1, FUSED = 2, ADDED = 4 }; // ADDED: gradients to fp32 numbers

static void run_layer(struct bench *b, const struct shape *s, enum layer_kind kind, enum pass pass,
                      int how, int batch, int sequence)
{
    struct layer_cell *layer = TAKE(&b->arena, 1, struct layer_cell);
    *layer = (struct layer_cell){
        .kind = kind, .pass = pass, .shape = s, .graph = how & GRAPH, .fused = how & FUSED};
    struct cell cell = cell_of(WORK_LAYER, batch, sequence, 1, 1);
    cell.layer = layer;
    cell.sample.fp32_gradients = how & ADDED;
    bench_run(b, &cell);
}

static void check_forward(const struct shape *s, enum precision precision, int how,
                          double tolerance)
{
    struct bench b;
    struct reference r;
    int batch = 2, sequence = 6, n = batch * sequence * (int)s->hidden;
    bench_open(&b, precision);
    run_layer(&b, s, LAYER_BLOCK, PASS_FORWARD, how, batch, sequence);
    read_reference(&r, &b, s, batch, sequence);
    double *expected = malloc((size_t)n * sizeof *expected), error = 0, size = 0;
    reference_forward(&r, expected);
    struct place out = b.program->steps[b.program->step_count - 1].out[0];
    for (int i = 0; i < n; i++) {
        double found = read_at(&b, out, b.program->type, i);
        error += (found - expected[i]) * (found - expected[i]);
        size += expected[i] * expected[i];
    }
    assert_true(sqrt(error / size) < tolerance);
    free(expected);
    free_reference(&r);
    bench_close(&b);
}

TEST(test_forward)
{
    const struct shape *shapes[] = {&plain, &grouped, &odd};
    for (int i = 0; i < 3; i++) {
        check_forward(shapes[i], FP32, i == 1 ? GRAPH : PLAIN, 1e-5);
        check_forward(shapes[i], FP16, FUSED, 2e-3);
        check_forward(shapes[i], BF16, i == 0 ? GRAPH | FUSED : PLAIN, 1.5e-2);
    }
}

// Along random directions the loss sum(dy out) must change as the gradients predict.
static void check_backward(const struct shape *s, enum pass pass, int how)
{
    struct bench b;
    struct reference r;
    struct place gradients[BLOCK_PARTS];
    int batch = 2, sequence = 5, n = batch * sequence * (int)s->hidden;
    bench_open(&b, FP32);
    run_layer(&b, s, LAYER_BLOCK, pass, how, batch, sequence);
    read_reference(&r, &b, s, batch, sequence);
    find_gradients(gradients, b.program, s);
    int values = 1 + 2 * (s->rms_norm ? 1 : 2); // dy comes after x and the norms' weights
    struct place dy = nth_area(b.program, AREA_VALUES, values);
    double *out = malloc((size_t)n * sizeof *out);
    const double step = 1e-4;
    srand(3);
    for (int part = 0; part < BLOCK_PARTS; part++) {
        if (!r.count[part]) continue;
        double *kept = malloc((size_t)r.count[part] * sizeof *kept), loss[2] = {0, 0}, slope = 0,
               size = 0;
        memcpy(kept, r.part[part], (size_t)r.count[part] * sizeof *kept);
        for (int side = 0; side < 2; side++) {
            srand((unsigned)part + 11);
            for (int64_t i = 0; i < r.count[part]; i++) {
                double direction = rand() / (RAND_MAX / 2.0) - 1;
                r.part[part][i] = kept[i] + (side ? step : -step) * direction;
                double g = read_at(&b, gradients[part], ELEMENT_FLOAT, i);
                slope += side ? g * direction : 0;
                size += side ? fabs(g * direction) : 0;
            }
            reference_forward(&r, out);
            for (int i = 0; i < n; i++) loss[side] += out[i] * read_at(&b, dy, ELEMENT_FLOAT, i);
        }
        memcpy(r.part[part], kept, (size_t)r.count[part] * sizeof *kept);
        assert_true(size > 0);
        assert_true(fabs((loss[1] - loss[0]) / (2 * step) - slope) < 1e-4 * size);
        free(kept);
    }
    free(out);
    free_reference(&r);
    bench_close(&b);
}

TEST(test_backward)
{
    check_backward(&plain, PASS_BACKWARD, PLAIN);
    check_backward(&grouped, PASS_BACKWARD_FULL, GRAPH);
    check_backward(&odd, PASS_BACKWARD_SELECTIVE, PLAIN);
    check_backward(&grouped, PASS_BACKWARD, FUSED);
    check_backward(&odd, PASS_BACKWARD_SELECTIVE, GRAPH | FUSED);
    check_backward(&plain, PASS_BACKWARD, ADDED | GRAPH); // a second run does not add to the first
    check_backward(&grouped, PASS_BACKWARD_FULL, ADDED);
}

TEST(test_bytes)
{
    struct bench b;
    bench_open(&b, FP8);
    run_layer(&b, &sixteens, LAYER_BLOCK, PASS_BACKWARD_FULL, PLAIN, 2, 16);
    int in_bytes = 0;
    for (int i = 0; i < b.program->step_count; i++) {
        const struct step *s = &b.program->steps[i];
        in_bytes += s->kind == STEP_GEMM && s->gemm.a_type == ELEMENT_E4M3;
        if (s->kind != STEP_KERNEL || s->kernel != KERNEL_CAST_TRANSPOSED) continue;
        for (int64_t j = 0; j < s->size[0] * s->size[1]; j++) {
            double x = read_at(&b, s->in[0], ELEMENT_BFLOAT, j);
            enum element type = s->size[2] ? ELEMENT_E5M2 : ELEMENT_E4M3;
            double y = read_at(&b, s->out[0], type, j);
            double z = read_at(&b, s->out[1], type, j % s->size[1] * s->size[0] + j / s->size[1]);
            assert_true(y == z && (fabs(x) > 400 ||
                                   fabs(x - y) <= (s->size[2] ? 0.13 : 0.07) * fabs(x) + 0.002));
        }
    }
    assert_int_equal(in_bytes, 12);
    struct place out = b.program->steps[b.program->step_count - 1].out[0];
    for (int i = 0; i < 2 * 16 * 32; i++)
        assert_true(isfinite(read_at(&b, out, ELEMENT_BFLOAT, i)));
    bench_close(&b);
}

// ---- ends of a model and the optimizer

static void check_head(const struct shape *s, enum precision precision)
{
    struct bench b;
    int n = 6, v = (int)s->vocabulary, h = (int)s->hidden;
    bench_open(&b, precision);
    run_layer(&b, s, LAYER_HEAD, PASS_BACKWARD, PLAIN, 2, 3);
    const struct program *p = b.program;
    const struct step *norm = &p->steps[0], *logits = &p->steps[1], *loss = &p->steps[2],
                      *back = &p->steps[3];
    const struct step *input = &p->steps[4], *weight = &p->steps[5];
    const int32_t *target = at(&b, loss->in[1]);
    double tolerance = tolerance_of(precision);
    for (int i = 0; i < n; i++) {
        double sum = 0;
        assert_in_range(target[i], 0, v - 1);
        for (int j = 0; j < v; j++) sum += exp(read_at(&b, logits->out[0], p->type, i * v + j));
        double lost = log(sum) - read_at(&b, logits->out[0], p->type, i * v + target[i]);
        assert_true(fabs(lost - read_at(&b, loss->out[1], ELEMENT_FLOAT, i)) < 1e-4);
        for (int j = 0; j < v; j++) {
            double share = exp(read_at(&b, logits->out[0], p->type, i * v + j)) / sum;
            double slope = (share - (j == target[i])) / n;
            assert_true(fabs(slope - read_at(&b, back->out[0], p->type, i * v + j)) <
                        tolerance * 0.2);
        }
        for (int j = 0; j < h; j++) {
            double dy = 0;
            for (int k = 0; k < v; k++)
                dy += read_at(&b, back->out[0], p->type, i * v + k) *
                      read_at(&b, logits->in[0], p->type, k * h + j);
            assert_true(fabs(dy - read_at(&b, input->out[0], p->type, i * h + j)) < tolerance);
        }
    }
    for (int k = 0; k < v; k++)
        for (int j = 0; j < h; j++) {
            double dw = 0;
            for (int i = 0; i < n; i++)
                dw += read_at(&b, back->out[0], p->type, i * v + k) *
                      read_at(&b, norm->out[0], p->type, i * h + j);
            assert_true(fabs(dw - read_at(&b, weight->out[0], p->type, k * h + j)) < tolerance);
        }
    bench_close(&b);
}

TEST(test_head)
{
    check_head(&plain, FP32);
    check_head(&odd, FP16);
    check_head(&plain, BF16);
    check_head(&sixteens, FP8);
}

TEST(test_embedding)
{
    struct bench b;
    int h = 20, n = 10;
    bench_open(&b, FP32);
    run_layer(&b, &grouped, LAYER_EMBEDDING, PASS_FORWARD, PLAIN, 2, 5);
    const struct step *gather = &b.program->steps[0], *add = &b.program->steps[1];
    const int32_t *token = at(&b, gather->in[1]);
    for (int i = 0; i < n * h; i++)
        assert_true(fabs(read_at(&b, gather->in[0], ELEMENT_FLOAT, token[i / h] * h + i % h) +
                         read_at(&b, add->in[1], ELEMENT_FLOAT, i) -
                         read_at(&b, add->out[0], ELEMENT_FLOAT, i)) < 1e-6);
    run_layer(&b, &grouped, LAYER_EMBEDDING, PASS_BACKWARD, PLAIN, 2, 5);
    const struct step *scatter = &b.program->steps[b.program->timed_from];
    token = at(&b, scatter->in[1]);
    double sums[30 * 20] = {0};
    for (int i = 0; i < n * h; i++)
        sums[token[i / h] * h + i % h] += read_at(&b, scatter->in[0], ELEMENT_FLOAT, i);
    for (int i = 0; i < 30 * h; i++)
        assert_true(fabs(sums[i] - read_at(&b, scatter->out[0], ELEMENT_FLOAT, i)) < 1e-5);
    bench_close(&b);
}

static void check_adam(enum precision precision, int values)
{
    struct bench b;
    struct cell cell = cell_of(WORK_OPTIMIZER, values, 0, 0, 0);
    double *before = malloc((size_t)values * 3 * sizeof *before);
    bench_open(&b, precision);
    bench_run(&b, &cell);
    const struct step *s = &b.program->steps[0];
    struct step *changeable = &b.s->prepared[0].program.steps[0];
    changeable->scalar[0] = 0.01f; // a step large enough to be seen
    session_rotate(b.s, b.program);
    for (int i = 0; i < 3 * values; i++)
        before[i] = read_at(&b, s->out[i / values], ELEMENT_FLOAT, i % values);
    assert_int_equal(steps_run(b.s, b.program, 0, 1, &b.err), OK);
    cudaStreamSynchronize(b.s->stream);
    for (int i = 0; i < values; i++) {
        double g = read_at(&b, s->in[0], ELEMENT_FLOAT, i), m = 0.9 * before[i] + 0.1 * g;
        double v = 0.999 * before[values + i] + 0.001 * g * g,
               w = before[2 * values + i] - 0.01 * m / (sqrt(v) + 1e-8);
        assert_true(fabs(m - read_at(&b, s->out[0], ELEMENT_FLOAT, i)) < 1e-6);
        assert_true(fabs(v - read_at(&b, s->out[1], ELEMENT_FLOAT, i)) < 1e-6);
        assert_true(fabs(w - read_at(&b, s->out[2], ELEMENT_FLOAT, i)) < 1e-4 * (1 + fabs(w)));
        if (precision != FP32)
            assert_true(fabs(w - read_at(&b, s->out[3], b.program->type, i)) <
                        tolerance_of(precision) * (1 + fabs(w)));
    }
    free(before);
    bench_close(&b);
}

TEST(test_optimizer)
{
    check_adam(FP32, 1024);
    check_adam(BF16, 1000);
    check_adam(FP16, 333);
}

AROUND_EACH(set_up, NULL)
