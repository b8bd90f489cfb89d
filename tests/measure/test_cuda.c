// The CUDA back end on a device made of the CPU's memory (tests/cuda/): its own kernels and steps
// are carried out, so layouts, transposes and the order of calls are tested; how long a real device
// takes is not.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "measure/sampling/cells.h"
#include "measure/cuda/session.h"
#include "measure/cuda/work.h"
#include "tests/cuda/fake_cuda.h"
#include "tests/cuda/reference.h"

#include <cmocka.h> // after data/base/status.h, whose fail it would replace

struct bench {
    struct arena arena;
    struct error err;
    struct cuda_session *s;
    const struct program *program;
};

static struct cell cell_of(enum work work, int64_t d0, int64_t d1, int64_t d2, int64_t d3)
{
    return (struct cell){
        .work = work, .sample.dimensions = {d0, d1, d2, d3}, .sample.dimension_count = 4};
}

static void bench_open(struct bench *b, enum precision precision)
{
    struct backend_settings settings = {.threads = 1, .seed = 7};
    void *session = NULL;
    memset(b, 0, sizeof *b);
    arena_open(&b->arena, NULL);
    if (backend_cuda.open(&session, &settings, precision, &b->arena, &b->err) != OK)
        fail_msg("%s", b->err.text);
    b->s = session;
}

// One repetition of a cell; what it read and wrote is found through `program` until the next.
static void bench_run(struct bench *b, const struct cell *cell)
{
    if (backend_cuda.prepare(b->s, cell, 1, &b->arena, &b->err) != OK) fail_msg("%s", b->err.text);
    double seconds = backend_cuda.repeat(b->s, cell);
    if (backend_cuda.failure(b->s, &b->err) != OK) fail_msg("%s", b->err.text);
    assert_true(seconds > 0 && seconds < 10);
    b->program = &b->s->prepared[0].program;
}

static void bench_close(struct bench *b)
{
    arena_close(&b->arena);
    assert_int_equal(fake_counts.allocations, 0);
}

static const void *at(const struct bench *b, struct place place)
{
    return session_pointer(b->s, b->program, place);
}

static double read_at(const struct bench *b, struct place place, enum element type, int64_t i)
{
    return (double)fake_read(at(b, place), (int)type, i);
}

static int set_up(void **state)
{
    (void)state;
    fake_reset();
    return 0;
}

// ---- products

static double tolerance_of(enum precision precision)
{
    return precision == FP32 ? 1e-5 : precision == FP16 ? 2e-3 : 1e-2;
}

// y = x w^T, dx = dy w, dw = dy^T x, by their definition from what stands in the device's memory.
static void check_product(enum work work, enum precision precision, int m, int n, int k)
{
    struct bench b;
    struct cell cell = cell_of(work, m, n, k, 0);
    bench_open(&b, precision);
    bench_run(&b, &cell);
    const struct step *step = &b.program->steps[b.program->step_count - 1];
    struct place first = step->in[0], second = step->in[1];
    enum element one = step->gemm.a_type, two = step->gemm.b_type;
    bool bytes = precision == FP8;
    int rows = work == WORK_GEMM_WEIGHT ? n : m, columns = work == WORK_GEMM ? n : k;
    int inner = work == WORK_GEMM ? k : work == WORK_GEMM_DATA ? n : m;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            double sum = 0, size = 0;
            for (int l = 0; l < inner; l++) {
                double x = read_at(&b, second, two,
                                   bytes                      ? i * inner + l
                                   : work == WORK_GEMM_WEIGHT ? l * n + i
                                                              : i * inner + l);
                double w =
                    read_at(&b, first, one, bytes || work == WORK_GEMM ? j * inner + l : l * k + j);
                sum += x * w;
                size += fabs(x * w);
            }
            double found = read_at(&b, step->out[0], step->gemm.d_type, i * columns + j);
            assert_true(fabs(found - sum) <= tolerance_of(precision) * (size + 1e-3));
        }
    bench_close(&b);
}

static void test_products(void **state)
{
    (void)state;
    static const enum work works[] = {WORK_GEMM, WORK_GEMM_DATA, WORK_GEMM_WEIGHT};
    for (int w = 0; w < 3; w++)
        for (int p = 0; p < PRECISION_COUNT; p++) {
            check_product(works[w], (enum precision)p, 16, 48, 32);
            if (p != FP8) check_product(works[w], (enum precision)p, 5, 7, 11);
        }
}

static void test_algorithms(void **state)
{
    (void)state;
    struct bench b;
    struct cell cell = cell_of(WORK_GEMM, 8, 8, 8, 0);
    bench_open(&b, BF16);
    bench_run(&b, &cell);
    assert_int_equal(b.s->gemms[0].candidates, 3);
    assert_int_equal(b.s->gemms[0].chosen, 2); // the fake's algorithm 2 is its fastest
    memset(fake_algorithm_uses, 0, sizeof fake_algorithm_uses);
    backend_cuda.repeat(b.s, &cell);
    assert_int_equal(fake_algorithm_uses[2], 1);
    bench_close(&b);
    fake_reset();
    fake.refused = 2;
    bench_open(&b, BF16);
    bench_run(&b, &cell);
    assert_int_equal(b.s->gemms[0].candidates, 2);
    assert_int_equal(b.s->gemms[0].chosen, 0);
    bench_close(&b);
    fake_reset();
    fake.proposals = 0;
    bench_open(&b, BF16);
    assert_int_equal(backend_cuda.prepare(b.s, &cell, 1, &b.arena, &b.err), UNAVAILABLE);
    bench_close(&b);
}

// ---- blocks

static const struct shape plain = {.hidden = 24,
                                   .ffn = 40,
                                   .heads = 3,
                                   .kv_heads = 3,
                                   .head_width = 8,
                                   .vocabulary = 24,
                                   .qkv_bias = true,
                                   .linear_bias = true};
static const struct shape grouped = {.hidden = 20,
                                     .ffn = 28,
                                     .heads = 4,
                                     .kv_heads = 2,
                                     .head_width = 6,
                                     .vocabulary = 30,
                                     .gated_ffn = true,
                                     .rms_norm = true,
                                     .positions = 64};
static const struct shape odd = {.hidden = 13,
                                 .ffn = 9,
                                 .heads = 3,
                                 .kv_heads = 1,
                                 .head_width = 5,
                                 .vocabulary = 17,
                                 .gated_ffn = true,
                                 .qkv_bias = true};
static const struct shape sixteens = {.hidden = 32,
                                      .ffn = 48,
                                      .heads = 2,
                                      .kv_heads = 2,
                                      .head_width = 16,
                                      .vocabulary = 32,
                                      .rms_norm = true};

// The program's areas of a kind, in the order in which they were made.
static struct place nth_area(const struct program *p, enum area_kind kind, int n)
{
    for (int i = 0; i < p->area_count; i++)
        if (p->areas[i].kind == kind && n-- == 0) return (struct place){i, 0};
    return place_none();
}

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

// Where the gradients of a block's parts stand, by what makes them; parts that are not there stay
// none.
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

enum how { PLAIN = 0, GRAPH = 1, FUSED = 2 };

static void run_layer(struct bench *b, const struct shape *s, enum layer_kind kind, enum pass pass,
                      int how, int batch, int sequence)
{
    struct layer_cell *layer = TAKE(&b->arena, 1, struct layer_cell);
    *layer = (struct layer_cell){
        .kind = kind, .pass = pass, .shape = s, .graph = how & GRAPH, .fused = how & FUSED};
    struct cell cell = cell_of(WORK_LAYER, batch, sequence, 1, 1);
    cell.layer = layer;
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

static void test_forward(void **state)
{
    (void)state;
    const struct shape *shapes[] = {&plain, &grouped, &odd};
    for (int i = 0; i < 3; i++) {
        check_forward(shapes[i], FP32, i == 1 ? GRAPH : PLAIN, 1e-5);
        check_forward(shapes[i], FP16, FUSED, 2e-3);
        check_forward(shapes[i], BF16, i == 0 ? GRAPH | FUSED : PLAIN, 1.5e-2);
    }
}

// Along random directions the loss sum(dy out) must change as the gradients say.
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
    int values = 1 + 2 * (s->rms_norm ? 1 : 2); // dy stands behind x and the norms' weights
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

static void test_backward(void **state)
{
    (void)state;
    check_backward(&plain, PASS_BACKWARD, PLAIN);
    check_backward(&grouped, PASS_BACKWARD_FULL, GRAPH);
    check_backward(&odd, PASS_BACKWARD_SELECTIVE, PLAIN);
    check_backward(&grouped, PASS_BACKWARD, FUSED);
    check_backward(&odd, PASS_BACKWARD_SELECTIVE, GRAPH | FUSED);
}

static void test_bytes(void **state)
{
    (void)state;
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

static void test_head(void **state)
{
    (void)state;
    check_head(&plain, FP32);
    check_head(&odd, FP16);
    check_head(&plain, BF16);
    check_head(&sixteens, FP8);
}

static void test_embedding(void **state)
{
    (void)state;
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

static void test_optimizer(void **state)
{
    (void)state;
    check_adam(FP32, 1024);
    check_adam(BF16, 1000);
    check_adam(FP16, 333);
}

// ---- compression

static void check_low_rank(enum precision precision, int rows, int columns, int rank)
{
    struct bench b;
    struct cell cell = cell_of(WORK_COMPRESS, rows, columns, rank, 0);
    bench_open(&b, precision);
    bench_run(&b, &cell);
    const struct program *p = b.program;
    const struct step *last = &p->steps[p->step_count - 1]; // P, M -> Q
    double tolerance = precision == FP32 ? 1e-3 : 0.06;
    for (int i = 0; i < rank; i++)
        for (int j = 0; j < rank; j++) {
            double sum = 0;
            for (int k = 0; k < rows; k++)
                sum += read_at(&b, last->in[0], p->type, k * rank + i) *
                       read_at(&b, last->in[0], p->type, k * rank + j);
            assert_true(fabs(sum - (i == j)) < tolerance);
        }
    for (int i = 0; i < columns; i++)
        for (int j = 0; j < rank; j++) {
            double sum = 0;
            for (int k = 0; k < rows; k++)
                sum += read_at(&b, last->in[1], p->type, k * columns + i) *
                       read_at(&b, last->in[0], p->type, k * rank + j);
            assert_true(fabs(sum - read_at(&b, last->out[0], p->type, i * rank + j)) < tolerance);
        }
    // P spans what M Q spans: the part of M Q beside it is nothing.
    const struct step *first = &p->steps[0];
    for (int j = 0; j < rank; j++) {
        double beside = 0, size = 0;
        for (int k = 0; k < rows; k++) {
            double x = read_at(&b, first->out[0], p->type, k * rank + j), in_span = 0;
            for (int i = 0; i < rank; i++) {
                double along = 0;
                for (int l = 0; l < rows; l++)
                    along += read_at(&b, first->out[0], p->type, l * rank + j) *
                             read_at(&b, last->in[0], p->type, l * rank + i);
                in_span += along * read_at(&b, last->in[0], p->type, k * rank + i);
            }
            beside += (x - in_span) * (x - in_span);
            size += x * x;
        }
        assert_true(sqrt(beside / size) < tolerance);
    }
    bench_close(&b);
}

static void test_low_rank(void **state)
{
    (void)state;
    struct bench b;
    struct cell cell = cell_of(WORK_DECOMPRESS, 9, 12, 4, 0);
    check_low_rank(FP32, 40, 24, 8);
    check_low_rank(FP32, 17, 11, 3);
    check_low_rank(BF16, 48, 24, 4);
    bench_open(&b, FP32);
    bench_run(&b, &cell);
    const struct step *s = &b.program->steps[0];
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 12; j++) {
            double sum = 0;
            for (int k = 0; k < 4; k++)
                sum += read_at(&b, s->in[1], ELEMENT_FLOAT, i * 4 + k) *
                       read_at(&b, s->in[0], ELEMENT_FLOAT, j * 4 + k);
            assert_true(fabs(sum - read_at(&b, s->out[0], ELEMENT_FLOAT, i * 12 + j)) < 1e-5);
        }
    bench_close(&b);
}

static int compare_sizes(const void *a, const void *b)
{
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x < y) - (x > y);
}

static void check_top_k(enum precision precision, int values, int kept)
{
    struct bench b;
    struct cell cell = cell_of(WORK_TOP_K_DECOMPRESS, values, kept, 0, 0);
    bench_open(&b, precision);
    bench_run(&b, &cell);
    const struct program *p = b.program;
    const struct step *scatter = &p->steps[p->step_count - 1];
    struct place all = nth_area(p, AREA_VALUES, 0);
    double *sorted = malloc((size_t)values * sizeof *sorted), least = 1e9;
    int found = 0;
    for (int i = 0; i < values; i++) sorted[i] = read_at(&b, all, p->type, i);
    qsort(sorted, (size_t)values, sizeof *sorted, compare_sizes);
    for (int i = 0; i < values; i++) {
        double y = read_at(&b, scatter->out[0], p->type, i);
        if (y == 0) continue;
        found++;
        assert_true(y == read_at(&b, all, p->type, i));
        least = fabs(y) < least ? fabs(y) : least;
    }
    assert_int_equal(found, kept);
    assert_true(least == fabs(sorted[kept - 1]));
    free(sorted);
    bench_close(&b);
}

static void test_top_k(void **state)
{
    (void)state;
    check_top_k(FP32, 1000, 37);
    check_top_k(FP32, 999, 1);
    check_top_k(BF16, 4096, 400); // many of equal size
    check_top_k(FP16, 3001, 300);
}

static void check_quantise(enum precision precision, int values, int bits)
{
    struct bench b;
    struct cell cell = cell_of(WORK_DEQUANTISE, values, bits, 0, 0);
    bench_open(&b, precision);
    bench_run(&b, &cell);
    const struct program *p = b.program;
    const struct step *back = &p->steps[p->step_count - 1], *forth = back - 1;
    for (int i = 0; i < values; i++) {
        int begin = i / QUANTISE_GROUP * QUANTISE_GROUP,
            end = begin + QUANTISE_GROUP < values ? begin + QUANTISE_GROUP : values;
        double largest = 0, sum = 0, x = read_at(&b, forth->in[0], p->type, i),
               y = read_at(&b, back->out[0], p->type, i);
        for (int j = begin; j < end; j++) {
            double size = fabs(read_at(&b, forth->in[0], p->type, j));
            largest = size > largest ? size : largest;
            sum += size;
        }
        if (bits == 1) assert_true(fabs(y - (x >= 0 ? sum : -sum) / (end - begin)) < 0.01);
        else assert_true(fabs(x - y) <= largest / (bits == 8 ? 127 : 7) * 0.51 + 0.005);
        if (bits == 1)
            assert_true(fabs(read_at(&b, forth->out[2], ELEMENT_FLOAT, i) - (x - y)) < 0.01);
    }
    bench_close(&b);
}

static void test_quantise(void **state)
{
    (void)state;
    static const int bits[] = {8, 4, 1};
    for (int i = 0; i < 3; i++) {
        check_quantise(FP32, 2048, bits[i]);
        check_quantise(BF16, 1003, bits[i]);
    }
}

// ---- what every program must be

// Reads of scratch that nothing wrote before, places outside their area, areas that overlap.
static void check_program(const struct program *p)
{
    bool *written = calloc((size_t)p->area_count, sizeof *written);
    for (int i = 0; i < p->area_count; i++)
        for (int j = 0; j < i; j++)
            assert_true(p->areas[i].kind != p->areas[j].kind ||
                        p->areas[j].offset + p->areas[j].bytes <= p->areas[i].offset);
    for (int i = 0; i < p->step_count; i++) {
        const struct step *s = &p->steps[i];
        for (size_t j = 0; j < ARRAY_LENGTH(s->in); j++) {
            if (s->in[j].area == NO_AREA) continue;
            const struct area *area = &p->areas[s->in[j].area];
            assert_true(s->in[j].offset >= 0 && s->in[j].offset < area->bytes);
            assert_true(area->kind != AREA_SCRATCH || written[s->in[j].area]);
        }
        for (size_t j = 0; j < ARRAY_LENGTH(s->out); j++) {
            if (s->out[j].area == NO_AREA) continue;
            const struct area *area = &p->areas[s->out[j].area];
            assert_true(area->kind == AREA_SCRATCH || s->kernel == KERNEL_ADAM);
            assert_true(s->kind != STEP_GEMM || !s->gemm.accumulate || written[s->out[j].area]);
            written[s->out[j].area] = true;
        }
    }
    free(written);
}

// Every cell that a run would have, by the back end's own functions, several times.
static void check_all_cells(enum precision precision, const struct shape *shape, bool graphs)
{
    struct bench b;
    struct cell *cells;
    int count = 0;
    struct cells_request request = {
        .shapes = shape,
        .shape_count = 1,
        .tensors = {{1}, 1},
        .contexts = {{1}, 1},
        .micro_batches = {{2}, 1},
        .ranks = {{4}, 1},
        .recompute = {[PASS_BACKWARD_FULL] = true},
        .graphs = graphs,
        .fused = graphs,
        .quick = true,
        .sequence = 16,
        .precision = precision,
        .threads = 1,
        .largest_s = 1,
        .gemm_flop_per_s = 1e12,
        .copy_bytes_per_s = 1e12,
    };
    fake.proposals = 1;
    bench_open(&b, precision);
    cells_choose(&cells, &count, &request, &b.arena);
    while (cells[count - 1].work == WORK_EMPTY_BLOCKS) count--;
    assert_true(count > 25);
    cells[count++] = cell_of(WORK_EMPTY_BLOCKS, 1, 0, 0, 0);
    if (backend_cuda.prepare(b.s, cells, count, &b.arena, &b.err) != OK) fail_msg("%s", b.err.text);
    for (int i = 0; i < count; i++) {
        check_program(&b.s->prepared[i].program);
        assert_true(backend_cuda.repeat(b.s, &cells[i]) > 0);
    }
    if (backend_cuda.failure(b.s, &b.err) != OK) fail_msg("%s", b.err.text);
    assert_int_equal(b.s->gates_expired, 0);
    bench_close(&b);
}

static void test_all_cells(void **state)
{
    (void)state;
    check_all_cells(BF16, &grouped, true);
    check_all_cells(FP8, &sixteens, false);
}

// ---- time and faults

static void test_rotation(void **state)
{
    (void)state;
    struct bench b;
    struct cell cell = cell_of(WORK_GEMM, 32, 32, 32, 0);
    bench_open(&b, FP32);
    bench_run(&b, &cell);
    const char *before = NULL;
    int places = 0;
    for (int i = 0; i < 200; i++) {
        const char *now = at(&b, b.program->steps[0].in[1]);
        places += now != before;
        before = now;
        backend_cuda.repeat(b.s, &cell);
    }
    assert_int_equal(places, 200);
    struct pool *pool = &b.s->pools[AREA_VALUES];
    assert_true(pool->bytes >= 4 * b.s->l2_bytes);
    bench_close(&b);
}

static void test_transfers(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, FP32);
    for (int work = WORK_TO_DEVICE_PINNED; work <= WORK_TO_HOST_PAGEABLE; work++) {
        struct cell cell = cell_of((enum work)work, 5000, 0, 0, 0);
        int copies = fake_counts.copies;
        bench_run(&b, &cell);
        assert_int_equal(fake_counts.copies, copies + 1);
    }
    bench_close(&b);
}

static void test_observe(void **state)
{
    (void)state;
    struct bench b;
    struct quantity *quantities;
    int count = 0;
    bench_open(&b, FP32);
    assert_int_equal(backend_cuda.observe(b.s, &quantities, &count, &b.arena, &b.err), OK);
    assert_int_equal(count, 5);
    assert_string_equal(quantities[0].name, "memory_bytes");
    assert_true(quantities[0].values[0] == (double)fake.memory_bytes);
    assert_string_equal(quantities[2].name, "library_bytes");
    assert_true(quantities[2].values[0] >= WORKSPACE_BYTES);
    assert_string_equal(quantities[4].name, "allocator_granularity_bytes");
    assert_int_equal(quantities[4].value_count, 64); // the fake gives single bytes
    bench_close(&b);
}

static void test_no_device(void **state)
{
    (void)state;
    struct bench b = {.err = {OK, ""}};
    struct backend_settings settings = {.threads = 1, .seed = 1};
    void *session;
    arena_open(&b.arena, NULL);
    fake.devices = 0;
    assert_int_equal(backend_cuda.open(&session, &settings, BF16, &b.arena, &b.err), UNAVAILABLE);
    assert_non_null(strstr(b.err.text, "no CUDA device"));
    b.err = (struct error){OK, ""};
    fake.devices = 1, fake.capability = 80;
    assert_int_equal(backend_cuda.open(&session, &settings, FP8, &b.arena, &b.err), UNAVAILABLE);
    assert_non_null(strstr(b.err.text, "fp8"));
    bench_close(&b);
}

static void test_refused(void **state)
{
    (void)state;
    struct bench b;
    struct cell cell = cell_of(WORK_FUSED_ATTENTION, 2, 4, 7, 0);
    bench_open(&b, BF16);
    assert_int_equal(backend_cuda.prepare(b.s, &cell, 1, &b.arena, &b.err), UNAVAILABLE);
    assert_non_null(strstr(b.err.text, "no kernel"));
    bench_close(&b);
}

static void test_too_large(void **state)
{
    (void)state;
    struct bench b;
    struct cell cell = cell_of(WORK_COPY, (int64_t)8 << 30, 0, 0, 0);
    bench_open(&b, FP32);
    assert_int_equal(backend_cuda.prepare(b.s, &cell, 1, &b.arena, &b.err), UNAVAILABLE);
    assert_non_null(strstr(b.err.text, "memory"));
    bench_close(&b);
}

// The n-th call fails, for every n: an error with a text, everything given back, nothing hangs.
static void test_faults(void **state)
{
    (void)state;
    static const struct shape small = {
        .hidden = 8, .ffn = 8, .heads = 1, .kv_heads = 1, .head_width = 8, .vocabulary = 8};
    static const struct layer_cell layer = {
        .kind = LAYER_BLOCK, .pass = PASS_FORWARD, .shape = &small, .graph = true};
    struct cell cells[] = {cell_of(WORK_LAYER, 1, 2, 1, 1),
                           cell_of(WORK_TO_HOST_PINNED, 64, 0, 0, 0)};
    struct backend_settings settings = {.threads = 1, .seed = 1};
    cells[0].layer = &layer;
    bool done = false;
    int n;
    for (n = 1; !done; n += n < 60 ? 1 : 17) {
        struct arena arena;
        struct error err = {OK, ""};
        void *session = NULL;
        fake_reset();
        fake.fail_at = n;
        arena_open(&arena, NULL);
        enum status status = backend_cuda.open(&session, &settings, FP32, &arena, &err);
        if (status == OK) status = backend_cuda.prepare(session, cells, 2, &arena, &err);
        for (int i = 0; i < 2 && status == OK; i++) {
            backend_cuda.repeat(session, &cells[i]);
            status = backend_cuda.failure(session, &err);
        }
        assert_true(status == OK || strlen(err.text) > 8);
        done = status == OK;
        fake.fail_at = 0;
        arena_close(&arena);
        assert_int_equal(fake_counts.allocations, 0);
    }
    assert_true(n > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_products, set_up),
        cmocka_unit_test_setup(test_algorithms, set_up),
        cmocka_unit_test_setup(test_forward, set_up),
        cmocka_unit_test_setup(test_backward, set_up),
        cmocka_unit_test_setup(test_bytes, set_up),
        cmocka_unit_test_setup(test_head, set_up),
        cmocka_unit_test_setup(test_embedding, set_up),
        cmocka_unit_test_setup(test_optimizer, set_up),
        cmocka_unit_test_setup(test_low_rank, set_up),
        cmocka_unit_test_setup(test_top_k, set_up),
        cmocka_unit_test_setup(test_quantise, set_up),
        cmocka_unit_test_setup(test_all_cells, set_up),
        cmocka_unit_test_setup(test_rotation, set_up),
        cmocka_unit_test_setup(test_transfers, set_up),
        cmocka_unit_test_setup(test_observe, set_up),
        cmocka_unit_test_setup(test_no_device, set_up),
        cmocka_unit_test_setup(test_too_large, set_up),
        cmocka_unit_test_setup(test_refused, set_up),
        cmocka_unit_test_setup(test_faults, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
