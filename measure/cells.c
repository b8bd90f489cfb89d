// Work counts are those of docs/FORMULAS.md section 3 and 6: what is measured here is priced there. Token counts are
// cut to the time that the budget leaves for one repetition; matrices keep the model's own widths where that leaves
// enough tokens, and lose columns where it does not (the sample's dimensions say what was done).
#include "measure/cells.h"

#include <assert.h>

const char *const pass_names[] = {"forward", "backward", "backward selective", "backward full", NULL};

enum {
    SIZES = 3,
    CELLS_MAX = 64,
    TOKENS_WANTED = 512,
    COLUMNS_MIN = 256,
    EMPTY_BLOCKS_MIN = 4,
    MATRIX_VALUES_MAX = 1 << 28,
    PROBE_BYTES = 1 << 22,
    COPY_BYTES_MIN = 1 << 12
};

struct chooser {
    const struct cells_request *request;
    struct cell *cells;
    int count;
};

static struct cell *add(struct chooser *c, enum work work, enum sample_kind kind, const char *operation)
{
    assert(c->count < CELLS_MAX);
    struct cell *cell = &c->cells[c->count++];
    cell->work = work;
    cell->sample.kind = kind;
    cell->sample.operation = operation;
    cell->sample.precision = c->request->precision;
    return cell;
}

static void set_size(struct cell *cell, int count, int64_t d0, int64_t d1, int64_t d2, int64_t d3)
{
    const int64_t d[4] = {d0, d1, d2, d3};
    cell->sample.dimension_count = count;
    for (int i = 0; i < count; i++) cell->sample.dimensions[i] = d[i];
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

// The smallest of three sizes, so that the largest, four times it, takes about the time asked for and at most `limit`.
static int64_t quarter(double seconds_per_unit, double largest_s, int64_t limit)
{
    double fits = largest_s / seconds_per_unit / 4;
    return most(1, least(fits < 1e15 ? (int64_t)fits : limit, limit / 4));
}

static void add_gemm(struct chooser *c, const char *operation, int64_t columns, int64_t inner)
{
    const struct cells_request *r = c->request;
    // A product of few tokens is bound by reading the weights, which a training step's is not: rather fewer columns.
    int64_t tokens_limit = r->micro_batch * r->sequence, tokens_wanted = least(tokens_limit, TOKENS_WANTED);
    double columns_fit = r->largest_s * r->gemm_flop_per_s / 2 / (double)inner / (double)tokens_wanted;
    columns = most(1, least(columns, MATRIX_VALUES_MAX / inner));
    columns = least(columns, most(COLUMNS_MIN, columns_fit < 1e15 ? (int64_t)columns_fit : columns));
    double token_s = 2.0 * (double)columns * (double)inner / r->gemm_flop_per_s;
    int64_t tokens = quarter(token_s, r->largest_s, tokens_limit);
    for (int i = 0; i < SIZES; i++, tokens *= 2) {
        struct cell *cell = add(c, WORK_GEMM, SAMPLE_GEMM, operation);
        set_size(cell, 3, tokens, columns, inner, 0);
        cell->sample.flop = 2.0 * (double)tokens * (double)columns * (double)inner;
        cell->sample.bytes = 4.0 * ((double)tokens * (double)(columns + inner) + (double)columns * (double)inner);
    }
}

// As many heads as fit, of a sequence that is cut if even one head per thread takes too long.
static void add_attention(struct chooser *c, int64_t heads_all, int64_t width)
{
    const struct cells_request *r = c->request;
    double rate = r->gemm_flop_per_s / 3;           // softmax costs about twice what the products do
    int64_t sequence = most(4, r->sequence);
    while (sequence > 4 && 4.0 * r->threads * (double)sequence * (double)sequence * (double)width / rate > r->largest_s)
        sequence /= 2;
    double head_s = 4.0 * (double)sequence * (double)sequence * (double)width / rate;
    int64_t heads = least(most(1, (int64_t)(r->largest_s / head_s)), most(1, heads_all));
    heads = least(heads, MATRIX_VALUES_MAX / sequence / sequence);
    heads = most(1, heads / r->threads) * r->threads;
    sequence /= 4;
    for (int i = 0; i < SIZES; i++, sequence *= 2) {
        struct cell *cell = add(c, WORK_ATTENTION, SAMPLE_ATTENTION, "scores, softmax and context");
        set_size(cell, 3, heads, sequence, width, 0);
        double scores = (double)heads * (double)sequence * (double)sequence;
        cell->sample.flop = 4 * scores * (double)width;
        cell->sample.bytes = 6 * scores * precision_bytes(r->precision);
    }
}

static void add_memory(struct chooser *c)
{
    const struct cells_request *r = c->request;
    const struct shape *s = &r->shape;
    int matrices = s->gated_ffn ? 3 : 2;
    double token_bytes =
        precision_bytes(r->precision) * (10.0 * (double)s->hidden + matrices * (double)s->ffn / (double)r->tensor);
    int64_t tokens = quarter(4 * token_bytes / r->copy_bytes_per_s, r->largest_s, r->micro_batch * r->sequence);
    for (int i = 0; i < SIZES; i++, tokens *= 2) {
        struct cell *cell = add(c, s->gated_ffn ? WORK_GATED_ELEMENTWISE : WORK_ELEMENTWISE, SAMPLE_MEMORY,
                                "norms, residuals and activation");
        cell->sample.bytes = (double)tokens * token_bytes;
        set_size(cell, 4, (int64_t)cell->sample.bytes, tokens, s->hidden, most(1, s->ffn / r->tensor));
    }
    // Copies of the same numbers of bytes: with other sizes the difference in speed would pass for an overhead.
    int64_t bytes = most(COPY_BYTES_MIN, c->cells[c->count - SIZES].sample.dimensions[0] / 8 * 8);
    for (int i = 0; i < SIZES; i++, bytes *= 2) {
        struct cell *cell = add(c, WORK_COPY, SAMPLE_MEMORY, "copy");
        set_size(cell, 1, bytes, 0, 0, 0);
        cell->sample.bytes = (double)bytes;
    }
}

static void add_low_rank(struct chooser *c)
{
    const struct cells_request *r = c->request;
    int64_t columns = r->shape.hidden, rank = least(r->rank, columns);
    double row_s = 4 * (4.0 * (double)columns * (double)rank + 2.0 * (double)rank * (double)rank) / r->gemm_flop_per_s;
    int64_t rows = most(rank, quarter(row_s, r->largest_s, r->micro_batch * r->sequence));
    for (int i = 0; i < SIZES; i++, rows *= 2) {
        double product = (double)rows * (double)columns * (double)rank;
        struct cell *cell = add(c, WORK_COMPRESS, SAMPLE_LOW_RANK, "compress");
        set_size(cell, 3, rows, columns, rank, 0);
        cell->sample.flop = 4 * product + 2.0 * (double)rows * (double)rank * (double)rank;
        cell = add(c, WORK_DECOMPRESS, SAMPLE_LOW_RANK, "decompress");
        set_size(cell, 3, rows, columns, rank, 0);
        cell->sample.flop = 2 * product;
    }
}

void cells_choose(struct cell **cells, int *cell_count, const struct cells_request *request, struct arena *arena)
{
    struct chooser c = {request, TAKE(arena, CELLS_MAX, struct cell), 0};
    const struct shape *s = &request->shape;
    int64_t t = request->tensor, query = s->heads * s->head_width, key = s->kv_heads * s->head_width;
    add_gemm(&c, "query, key and value", (query + 2 * key) / t, s->hidden);
    add_gemm(&c, "attention projection", s->hidden, most(1, query / t));
    add_gemm(&c, s->gated_ffn ? "ffn gate and up" : "ffn up", (s->gated_ffn ? 2 : 1) * s->ffn / t, s->hidden);
    add_gemm(&c, "ffn down", s->hidden, most(1, s->ffn / t));
    add_gemm(&c, "head", s->vocabulary / t, s->hidden);
    add_attention(&c, request->micro_batch * s->heads / t, s->head_width);
    add_memory(&c);
    add_low_rank(&c);
    for (int i = 0; i < SIZES; i++) {
        struct cell *cell = add(&c, WORK_EMPTY_BLOCKS, SAMPLE_OVERHEAD, "calls of a block without work");
        set_size(cell, 1, EMPTY_BLOCKS_MIN << i, 0, 0, 0);
    }
    *cells = c.cells;
    *cell_count = c.count;
}

// 9 operations with work x (1/4 + 1/2 + 1) x (the warm-up and the least number of repetitions).
double cells_least_work(void) { return 9 * 1.75 * (1 + REPETITIONS_MIN); }

void cells_probe(struct cell cells[2])
{
    cells[0] = (struct cell){.work = WORK_GEMM};
    set_size(&cells[0], 3, 256, 512, 512, 0);
    cells[0].sample.flop = 2.0 * 256 * 512 * 512;
    cells[1] = (struct cell){.work = WORK_COPY};
    set_size(&cells[1], 1, PROBE_BYTES, 0, 0, 0);
    cells[1].sample.bytes = PROBE_BYTES;
}
