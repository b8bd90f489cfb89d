// Compression of a message or gradient [tokens][hidden]: the low-rank step of docs/FORMULAS.md
// section 6, only the largest values, or fewer bits. Times by size, and by rank, share kept and
// bits.
#include "measure/sampling/cells.h"

static const int64_t kept_shares[] = {100, 10}; // one in so many values is kept
static const int64_t bit_counts[] = {8, 4, 1};
enum { MESSAGE_VALUES_MIN = 1 << 12 };

void cells_add_low_rank(struct chooser *c, int64_t rank)
{
    const struct cells_request *r = c->request;
    int64_t columns = c->shape->hidden;
    rank = smaller(rank, columns);
    double row_s = 4 * (4.0 * (double)columns * (double)rank + 2.0 * (double)rank * (double)rank) /
                   r->gemm_flop_per_s;
    int64_t limit = cells_largest(&r->micro_batches) * r->sequence;
    int64_t rows = larger(rank, cells_quarter(row_s, r->largest_s, limit));
    for (int i = 0; i < cells_sizes(r); i++, rows *= cells_step(r)) {
        double product = (double)rows * (double)columns * (double)rank;
        double values = (double)rows * (double)columns + (double)(rows + columns) * (double)rank;
        double bytes = precision_bytes(r->precision) * values;
        cells_add(c, WORK_COMPRESS, SAMPLE_LOW_RANK, "compress",
                  4 * product + 2.0 * (double)rows * (double)rank * (double)rank, bytes,
                  SIZE(rows, columns, rank));
        cells_add(c, WORK_DECOMPRESS, SAMPLE_LOW_RANK, "decompress", 2 * product, bytes,
                  SIZE(rows, columns, rank));
    }
}

// bytes: what is read and written once, both values and what is sent.
static void add_pair(struct chooser *c, enum work compress, enum work decompress,
                     enum sample_kind kind, int64_t values, int64_t parameter, double wire_bytes)
{
    double bytes = precision_bytes(c->request->precision) * (double)values + wire_bytes;
    cells_add(c, compress, kind, "compress", 0, bytes, SIZE(values, parameter));
    cells_add(c, decompress, kind, "decompress", 0, bytes, SIZE(values, parameter));
}

static void add_others(struct chooser *c)
{
    const struct cells_request *r = c->request;
    double e = precision_bytes(r->precision),
           value_s = 6 * e / r->copy_bytes_per_s; // several passes of reading, some computation
    int64_t limit = larger(MESSAGE_VALUES_MIN,
                           cells_largest(&r->micro_batches) * r->sequence * c->shape->hidden);
    int64_t values = larger(MESSAGE_VALUES_MIN, cells_quarter(value_s, r->largest_s,
                                                              smaller(limit, MATRIX_VALUES_MAX)));
    for (int i = 0; i < cells_sizes(r); i++, values *= cells_step(r)) {
        for (size_t k = 0; k < ARRAY_LENGTH(kept_shares); k++) {
            int64_t kept = values / kept_shares[k];
            add_pair(c, WORK_TOP_K_COMPRESS, WORK_TOP_K_DECOMPRESS, SAMPLE_TOP_K, values, kept,
                     (double)kept * (e + 4));
        }
        for (size_t k = 0; k < ARRAY_LENGTH(bit_counts); k++)
            add_pair(c, WORK_QUANTISE, WORK_DEQUANTISE, SAMPLE_QUANTISE, values, bit_counts[k],
                     (double)values * ((double)bit_counts[k] / 8 + 4.0 / QUANTISE_RUN));
    }
}

void cells_choose_compression(struct cell **cells, int *cell_count, const struct cells_request *r,
                              struct arena *arena)
{
    struct chooser c = {.request = r, .tensor = 1, .context = 1, .arena = arena};
    for (int s = 0; s < r->shape_count; s++) {
        c.shape = &r->shapes[s];
        for (int k = 0; k < r->ranks.count; k++) cells_add_low_rank(&c, r->ranks.values[k]);
        add_others(&c);
    }
    *cells = c.cells;
    *cell_count = c.count;
}

double cells_least_work_of_compression(const struct cells_request *r)
{
    double pairs = (double)(ARRAY_LENGTH(kept_shares) + ARRAY_LENGTH(bit_counts)) + r->ranks.count;
    return 1.5 * r->shape_count * pairs * (r->quick ? 1.25 : 1.75) * (1 + REPETITIONS_MIN);
}
