// One cell at a time on the fake device in the CPU's memory, for the tests of the CUDA back end.
#pragma once

#include "measure/sampling/cells.h"
#include "measure/cuda/session.h"
#include "measure/cuda/work.h"
#include "tests/cuda/fake_cuda.h"
#include "tests/support/check.h"

struct bench {
    struct arena arena;
    struct error err;
    struct cuda_session *s;
    const struct program *program;
};

extern const struct shape grouped, sixteens;
extern bool bench_best; // the next sessions' products by the fastest proposal
extern int bench_device;

struct cell cell_of(enum work work, int64_t d0, int64_t d1, int64_t d2, int64_t d3);
void bench_open(struct bench *b, enum precision precision);
// One repetition of a cell; its inputs and outputs are available through `program` until the next.
void bench_run(struct bench *b, const struct cell *cell);
void bench_close(struct bench *b);
const void *at(const struct bench *b, struct place place);
double read_at(const struct bench *b, struct place place, enum element type, int64_t i);
int set_up(void **state);
double tolerance_of(enum precision precision);
// The program's areas of a kind, in the order in which they were made.
struct place nth_area(const struct program *p, enum area_kind kind, int n);
