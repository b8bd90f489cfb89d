// The cells, and the contents of the device's memory after them.
#include "tests/cuda/bench/bench.h"

#include <string.h>

const struct shape grouped = {.hidden = 20,
                              .ffn = 28,
                              .heads = 4,
                              .kv_heads = 2,
                              .head_width = 6,
                              .vocabulary = 30,
                              .gated_ffn = true,
                              .rms_norm = true,
                              .positions = 64};
const struct shape sixteens = {.hidden = 32,
                               .ffn = 48,
                               .heads = 2,
                               .kv_heads = 2,
                               .head_width = 16,
                               .vocabulary = 32,
                               .rms_norm = true};

bool bench_best;
int bench_device;

struct cell cell_of(enum work work, int64_t d0, int64_t d1, int64_t d2, int64_t d3)
{
    return (struct cell){
        .work = work, .sample.dimensions = {d0, d1, d2, d3}, .sample.dimension_count = 4};
}

void bench_open(struct bench *b, enum precision precision)
{
    struct backend_settings settings = {
        .threads = 1, .seed = 7, .best = bench_best, .device = bench_device};
    void *session = NULL;
    memset(b, 0, sizeof *b);
    arena_open(&b->arena, NULL);
    if (backend_cuda.open(&session, &settings, precision, &b->arena, &b->err) != OK)
        fail_msg("%s", b->err.text);
    b->s = session;
}

void bench_run(struct bench *b, const struct cell *cell)
{
    if (backend_cuda.prepare(b->s, cell, 1, &b->arena, &b->err) != OK) fail_msg("%s", b->err.text);
    double seconds = backend_cuda.repeat(b->s, cell);
    if (backend_cuda.failure(b->s, &b->err) != OK) fail_msg("%s", b->err.text);
    assert_true(seconds > 0 && seconds < 10);
    b->program = &b->s->prepared[0].program;
}

void bench_close(struct bench *b)
{
    arena_close(&b->arena);
    assert_int_equal(fake_counts.allocations, 0);
}

const void *at(const struct bench *b, struct place place)
{
    return session_pointer(b->s, b->program, place);
}

double read_at(const struct bench *b, struct place place, enum element type, int64_t i)
{
    return (double)fake_read(at(b, place), (int)type, i);
}

int set_up(void **state)
{
    (void)state;
    fake_reset();
    bench_best = false;
    bench_device = 0;
    return 0;
}

double tolerance_of(enum precision precision)
{
    return precision == FP32 ? 1e-5 : precision == FP16 ? 2e-3 : 1e-2;
}

struct place nth_area(const struct program *p, enum area_kind kind, int n)
{
    for (int i = 0; i < p->area_count; i++)
        if (p->areas[i].kind == kind && n-- == 0) return (struct place){i, 0};
    return place_none();
}
