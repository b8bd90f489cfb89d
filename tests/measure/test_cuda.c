// The CUDA back end on the fake device in the CPU's memory (tests/cuda/): its own kernels and steps
// are executed, so layouts, transposes and the order of calls are tested; the times of a real
// device are not. Whole layers: test_cuda_layers.c.
#include "tests/cuda/bench/bench.h"

// ---- products

// y = x w^T, dx = dy w, dw = dy^T x, by their definition from the device's memory.
static void check_product(enum work work, enum precision precision, bool fp32_gradients, int m,
                          int n, int k)
{
    struct bench b;
    struct cell cell = cell_of(work, m, n, k, 0);
    cell.sample.fp32_gradients = fp32_gradients;
    bench_open(&b, precision);
    bench_run(&b, &cell);
    const struct step *step = &b.program->steps[b.program->step_count - 1];
    struct place first = step->in[0], second = step->in[1];
    enum element one = step->gemm.a_type, two = step->gemm.b_type;
    bool bytes = precision == FP8;
    assert_true(!fp32_gradients || step->gemm.d_type == ELEMENT_FLOAT);
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
            enum precision of_result = fp32_gradients ? FP32 : precision;
            assert_true(fabs(found - sum) <= tolerance_of(of_result) * (size + 1e-3));
        }
    bench_close(&b);
}

TEST(test_products)
{
    static const enum work works[] = {WORK_GEMM, WORK_GEMM_DATA, WORK_GEMM_WEIGHT};
    for (int w = 0; w < 3; w++)
        for (int p = 0; p < PRECISION_COUNT; p++) {
            bool weight = works[w] == WORK_GEMM_WEIGHT;
            check_product(works[w], (enum precision)p, false, 16, 48, 32);
            if (p != FP8) check_product(works[w], (enum precision)p, false, 5, 7, 11);
            if (weight) check_product(works[w], (enum precision)p, true, 16, 32, 48);
        }
}

TEST(test_algorithms)
{
    struct bench b;
    struct cell cell = cell_of(WORK_GEMM, 8, 8, 8, 0);
    bench_open(&b, BF16);
    bench_run(&b, &cell);
    assert_int_equal(b.s->gemms[0].candidates, 1);
    assert_int_equal(b.s->gemms[0].chosen, 0); // the library's first, as frameworks run it
    backend_cuda.state(b.s, &cell, &cell.sample);
    assert_int_equal(cell.sample.algorithm, ALGORITHM_FIRST);
    assert_int_equal(cell.sample.before, BEFORE_REST);
    bench_close(&b);
    bench_best = true;
    bench_open(&b, BF16);
    bench_run(&b, &cell);
    backend_cuda.state(b.s, &cell, &cell.sample);
    assert_int_equal(cell.sample.algorithm, ALGORITHM_BEST);
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
    fake.refused = 5; // the first proposal
    bench_best = false;
    bench_open(&b, BF16);
    bench_run(&b, &cell);
    assert_int_equal(b.s->gemms[0].chosen, 1);
    bench_close(&b);
    fake_reset();
    fake.proposals = 0;
    bench_open(&b, BF16);
    assert_int_equal(backend_cuda.prepare(b.s, &cell, 1, &b.arena, &b.err), UNAVAILABLE);
    bench_close(&b);
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
    // P spans what M Q spans: the part of M Q outside of it is zero.
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

TEST(test_low_rank)
{
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

TEST(test_top_k)
{
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

TEST(test_quantise)
{
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
        .contexts = {{1, 2}, 2},
        .experts = {{2, 3}, 2},
        .micro_batches = {{2}, 1},
        .ranks = {{4}, 1},
        .recompute = {[PASS_BACKWARD_FULL] = true},
        .graphs = graphs,
        .fused = graphs,
        .fp32_gradients = graphs,
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

TEST(test_all_cells)
{
    check_all_cells(BF16, &grouped, true);
    check_all_cells(FP8, &sixteens, false);
}

// ---- time and faults

TEST(test_rotation)
{
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

TEST(test_transfers)
{
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

TEST(test_observe)
{
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

TEST(test_no_device)
{
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
    b.err = (struct error){OK, ""};
    settings.device = 1;
    assert_int_equal(backend_cuda.open(&session, &settings, BF16, &b.arena, &b.err), UNAVAILABLE);
    assert_non_null(strstr(b.err.text, "no CUDA device 1: there is 1"));
    b.err = (struct error){OK, ""};
    fake.devices = 2, fake.capability = 61; // the fake's kernels are built for 7.5 and above
    assert_int_equal(backend_cuda.open(&session, &settings, FP32, &b.arena, &b.err), UNAVAILABLE);
    assert_non_null(strstr(b.err.text, "capability 6.1, and the kernels were built for 7.5"));
    bench_close(&b);
    fake_reset();
    fake.devices = 2, bench_device = 1;
    bench_open(&b, FP32);
    assert_int_equal(b.s->device, 1);
    bench_close(&b);
}

// Forward and backward in turn on both devices, cleared once: every gradient is the sum of all
// turns'.
TEST(test_sustained)
{
    static const struct layer_cell layer = {
        .kind = LAYER_BLOCK, .pass = PASS_BACKWARD, .shape = &grouped};
    struct bench b;
    struct cell cell = cell_of(WORK_LAYER, 1, 4, 1, 1);
    double forward[32], backward[32];
    struct condition conditions[32];
    struct turns t = {.least_s = 2e-3,
                      .most = 32,
                      .forward_s = forward,
                      .backward_s = backward,
                      .conditions = conditions};
    cell.layer = &layer, cell.sample.fp32_gradients = true;
    fake.devices = 2;
    bench_open(&b, FP32);
    bench_run(&b, &cell);
    const struct step *last = &b.program->steps[b.program->step_count - 1];
    while (last->kind != STEP_GEMM || !last->gemm.accumulate) last--;
    struct cuda_session *s = b.s;
    for (int kind = 0; kind < AREA_KINDS; kind++) s->pools[kind].bytes = b.program->bytes[kind];
    if (backend_cuda.repeat(s, &cell) < 0) fail_msg("no time");
    double one = read_at(&b, last->out[0], ELEMENT_FLOAT, 5); // there is only one place now
    int products = fake_counts.products, clears = fake_counts.clears, lead = 0;
    if (backend_cuda.sustain(s, &cell, &t, &b.arena, &b.err) != OK) fail_msg("%s", b.err.text);
    assert_true(t.count >= 8 && t.count <= 32);
    assert_int_equal(t.busy_devices, 2);
    for (int i = 0; i < t.count; i++) assert_true(forward[i] > 0 && backward[i] > 0);
    double sum = read_at(&b, last->out[0], ELEMENT_FLOAT, 5), turns = round(sum / one);
    assert_true(fabs(sum - turns * one) < 1e-3 * fabs(sum));
    lead = (int)turns - t.count - 2;
    assert_true(lead >= 1);
    int of_pass = 0, cleared = 0, own = (fake_counts.products - products);
    for (int i = 0; i < b.program->step_count; i++)
        of_pass += b.program->steps[i].kind == STEP_GEMM;
    for (int i = 0; i < b.program->begins_at; i++)
        cleared += b.program->steps[i].kind == STEP_CLEAR;
    assert_int_equal(cleared, 4);
    assert_true(own >= 2 * (int)turns * of_pass); // both devices; the other also prepares
    assert_true(fake_counts.clears - clears >= 2 * cleared);
    bench_close(&b);
}

// A gate that gave up would put the launches, here a second, into the time.
TEST(test_late)
{
    struct bench b;
    struct cell cell = cell_of(WORK_GEMM, 8, 8, 8, 0);
    bench_open(&b, FP32);
    if (backend_cuda.prepare(b.s, &cell, 1, &b.arena, &b.err) != OK) fail_msg("%s", b.err.text);
    fake.late = 1;
    assert_true(backend_cuda.repeat(b.s, &cell) < 0.5);
    assert_int_equal(b.s->gates_expired, 1);
    bench_close(&b);
}

TEST(test_refused)
{
    struct bench b;
    struct cell cell = cell_of(WORK_FUSED_ATTENTION, 2, 4, 7, 0);
    bench_open(&b, BF16);
    assert_int_equal(backend_cuda.prepare(b.s, &cell, 1, &b.arena, &b.err), UNAVAILABLE);
    assert_non_null(strstr(b.err.text, "no kernel"));
    bench_close(&b);
}

TEST(test_too_large)
{
    struct bench b;
    struct cell cell = cell_of(WORK_COPY, (int64_t)8 << 30, 0, 0, 0);
    bench_open(&b, FP32);
    assert_int_equal(backend_cuda.prepare(b.s, &cell, 1, &b.arena, &b.err), UNAVAILABLE);
    assert_non_null(strstr(b.err.text, "memory"));
    bench_close(&b);
}

// The n-th call fails, for every n: an error with a text, everything released, nothing hangs.
TEST(test_faults)
{
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
        err = (struct error){OK, ""};
        void *session = NULL;
        fake_reset();
        fake.fail_at = n;
        struct arena_mark mark = arena_set_mark(arena);
        enum status status = backend_cuda.open(&session, &settings, FP32, arena, &err);
        if (status == OK) status = backend_cuda.prepare(session, cells, 2, arena, &err);
        for (int i = 0; i < 2 && status == OK; i++) {
            backend_cuda.repeat(session, &cells[i]);
            status = backend_cuda.failure(session, &err);
        }
        assert_true(status == OK || strlen(err.text) > 8);
        done = status == OK;
        fake.fail_at = 0;
        arena_reset(arena, mark);
        assert_int_equal(fake_counts.allocations, 0);
    }
    assert_true(n > 200);
}

AROUND_EACH(set_up, NULL)
