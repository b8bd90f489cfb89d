// Sources: PowerSGD (1905.13727) and Optimus-CC (2301.09830) for the low-rank step and its work;
// 1-bit SGD with error feedback (Seide 2014) for signs. Top-k selects by radix on the bits of the
// magnitudes: exact, in four passes over the values.

#include <cblas.h>
#include <math.h>

#include "measure/cpu/internal.h"

// ---- low rank

static void run_left_factor(const void *argument, struct share own)
{
    const struct low_rank *l = argument;
    if (own.begin == own.end) return;
    cblas_sgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)(own.end - own.begin), (int)l->rank,
                (int)l->columns, 1.0f, l->matrix + own.begin * l->columns, (int)l->columns,
                l->start, (int)l->columns, 0.0f, l->p + own.begin, (int)l->rows);
}

static void run_right_factor(const void *argument, struct share own)
{
    const struct low_rank *l = argument;
    if (own.begin == own.end) return;
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)(own.end - own.begin), (int)l->rank,
                (int)l->rows, 1.0f, l->matrix + own.begin, (int)l->columns, l->p, (int)l->rows,
                0.0f, l->q + own.begin, (int)l->columns);
}

static void run_factors_product(const void *argument, struct share own)
{
    const struct low_rank_product *l = argument;
    if (own.begin == own.end) return;
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasTrans, (int)l->columns,
                (int)(own.end - own.begin), (int)l->rank, 1.0f, l->q, (int)l->columns,
                l->p + own.begin, (int)l->rows, 0.0f, l->matrix + own.begin * l->columns,
                (int)l->columns);
}

// Gram-Schmidt, column by column: 2 rows rank^2 operations.
static void orthogonalise(float *p, int64_t rows, int64_t rank)
{
    for (int64_t j = 0; j < rank; j++) {
        float *column = p + j * rows, length = cblas_snrm2((int)rows, column, 1);
        cblas_sscal((int)rows, length > 0 ? 1 / length : 0, column, 1);
        for (int64_t k = j + 1; k < rank; k++)
            cblas_saxpy((int)rows, -cblas_sdot((int)rows, column, 1, p + k * rows, 1), column, 1,
                        p + k * rows, 1);
    }
}

void low_rank_compress(struct team *team, const struct low_rank *l)
{
    team_run(team, l->rows, run_left_factor, l);
    orthogonalise(l->p, l->rows, l->rank);
    team_run(team, l->columns, run_right_factor, l);
}

void low_rank_decompress(struct team *team, const struct low_rank_product *l)
{
    team_run(team, l->rows, run_factors_product, l);
}

// ---- top-k

// What the members know of the k-th largest magnitude: its highest bits, and how many values with
// these bits are kept.
struct selection {
    const struct top_k *t;
    uint32_t prefix; // the bits above `shift`, found so far
    int shift, bits; // of the current digit
    int64_t equal_kept;
};

static uint32_t size_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits & 0x7fffffffu;
}

static void run_count(const void *argument, struct share own)
{
    const struct selection *s = argument;
    uint32_t *counts = s->t->counts + (int64_t)own.member * TOP_K_BUCKETS,
             mask = (1u << s->bits) - 1;
    memset(counts, 0, TOP_K_BUCKETS * sizeof *counts);
    for (int64_t i = own.begin; i < own.end; i++) {
        uint32_t size = size_bits(s->t->x[i]);
        if (size >> (s->shift + s->bits) == s->prefix) counts[size >> s->shift & mask]++;
    }
}

// counts[0]: larger values in the member's share, counts[1]: values equal to the k-th.
static void run_count_kept(const void *argument, struct share own)
{
    const struct selection *s = argument;
    uint32_t *counts = s->t->counts + (int64_t)own.member * TOP_K_BUCKETS;
    uint32_t larger = 0, equal = 0;
    for (int64_t i = own.begin; i < own.end; i++) {
        uint32_t size = size_bits(s->t->x[i]);
        larger += size > s->prefix, equal += size == s->prefix;
    }
    counts[0] = larger, counts[1] = equal;
}

static void run_gather(const void *argument, struct share own)
{
    const struct selection *s = argument;
    const struct top_k *t = s->t;
    int64_t at = 0, equal_before = 0;
    for (int i = 0; i < own.member; i++) {
        const uint32_t *counts = t->counts + (int64_t)i * TOP_K_BUCKETS;
        int64_t equal_left = s->equal_kept - equal_before;
        at += counts[0] + (counts[1] < equal_left ? counts[1] : equal_left);
        equal_before += counts[1] < equal_left ? counts[1] : equal_left;
    }
    for (int64_t i = own.begin; i < own.end; i++) {
        uint32_t size = size_bits(t->x[i]);
        if (size < s->prefix) continue;
        if (size == s->prefix && equal_before++ >= s->equal_kept) continue;
        t->values[at] = t->x[i];
        t->places[at++] = (int32_t)i;
    }
}

void top_k_compress(struct team *team, const struct top_k *t)
{
    static const struct {
        int shift, bits;
    } digits[] = {{20, 11}, {10, 10}, {0, 10}};
    struct selection s = {.t = t};
    int64_t left = t->kept;
    for (int digit = 0; digit < 3; digit++) {
        s.shift = digits[digit].shift, s.bits = digits[digit].bits;
        team_run(team, t->count, run_count, &s);
        int bucket = 1 << s.bits;
        int64_t inside = 0;
        while (bucket-- > 0) {
            inside = 0;
            for (int i = 0; i < team_threads(team); i++)
                inside += t->counts[(int64_t)i * TOP_K_BUCKETS + bucket];
            if (inside >= left) break;
            left -= inside;
        }
        s.prefix = s.prefix << s.bits | (uint32_t)bucket;
    }
    s.equal_kept = left;
    team_run(team, t->count, run_count_kept, &s);
    team_run(team, t->count, run_gather, &s);
}

static void run_clear(const void *argument, struct share own)
{
    const struct top_k_spread *t = argument;
    memset(t->x + own.begin, 0, (size_t)(own.end - own.begin) * sizeof *t->x);
}

static void run_scatter(const void *argument, struct share own)
{
    const struct top_k_spread *t = argument;
    int64_t step = t->count / t->kept;
    for (int64_t i = own.begin; i < own.end; i++) {
        int64_t place = t->places[i];
        t->x[place >= 0 && place < t->count ? place : i * step] = t->values[i];
    }
}

void top_k_decompress(struct team *team, const struct top_k_spread *t)
{
    team_run(team, t->count, run_clear, t);
    team_run(team, t->kept, run_scatter, t);
}

// ---- quantised

static const float round_shift =
    12582912.0f; // 1.5 x 2^23: leaves the nearest whole number in the lowest bits

int64_t quantise_runs(int64_t count) { return (count + QUANTISE_RUN - 1) / QUANTISE_RUN; }
int64_t quantise_bytes(int64_t count, int bits)
{
    return quantise_runs(count) * QUANTISE_RUN * bits / 8;
}

static float largest_size(const float *x, int64_t count)
{
    float largest = 0;
    for (int64_t j = 0; j < count; j++) largest = fabsf(x[j]) > largest ? fabsf(x[j]) : largest;
    return largest;
}

// The nearest whole numbers to factor x, |factor x| <= 127, in two's complement.
static void round_values(const float *x, int64_t count, float factor, uint8_t *to)
{
    uint32_t bits[QUANTISE_RUN];
    float shifted[QUANTISE_RUN];
    for (int64_t j = 0; j < count; j++) shifted[j] = x[j] * factor + round_shift;
    memcpy(bits, shifted, (size_t)count * sizeof *bits);
    for (int64_t j = 0; j < count; j++) to[j] = (uint8_t)bits[j];
}

static float quantise_signs(const float *x, const float *lost, int64_t count, uint8_t *packed,
                            float *lost_next)
{
    float whole[QUANTISE_RUN], size[QUANTISE_RUN];
    for (int64_t j = 0; j < count; j++) whole[j] = x[j] + lost[j], size[j] = fabsf(whole[j]);
    float scale = sum_of(size, NULL, count) / (float)count;
    for (int64_t j = count; j < QUANTISE_RUN; j++) whole[j] = 0;
    for (int64_t j = 0; j < QUANTISE_RUN / 8; j++) {
        unsigned signs = 0;
        for (int k = 0; k < 8; k++) signs |= (unsigned)(whole[8 * j + k] < 0) << k;
        packed[j] = (uint8_t)signs;
    }
    for (int64_t j = 0; j < count; j++) lost_next[j] = whole[j] - (whole[j] < 0 ? -scale : scale);
    return scale;
}

static void run_quantise(const void *argument, struct share own)
{
    const struct quantise *q = argument;
    int64_t run_bytes = QUANTISE_RUN * q->bits / 8;
    for (int64_t run = own.begin; run < own.end; run++) {
        int64_t first = run * QUANTISE_RUN,
                count = q->count - first < QUANTISE_RUN ? q->count - first : QUANTISE_RUN;
        const float *x = q->x + first;
        uint8_t *packed = q->packed + run * run_bytes, whole[QUANTISE_RUN] = {0};
        if (q->bits == 1) {
            q->scale[run] = quantise_signs(x, q->lost + first, count, packed, q->lost_next + first);
            continue;
        }
        float most = q->bits == 8 ? 127 : 7, largest = largest_size(x, count);
        q->scale[run] = largest / most;
        round_values(x, count, largest > 0 ? most / largest : 0, q->bits == 8 ? packed : whole);
        for (int64_t j = 0; q->bits == 4 && j < QUANTISE_RUN / 2; j++)
            packed[j] = (uint8_t)((whole[2 * j] & 15) | whole[2 * j + 1] << 4);
    }
}

static void run_dequantise(const void *argument, struct share own)
{
    const struct dequantise *q = argument;
    int64_t run_bytes = QUANTISE_RUN * q->bits / 8;
    for (int64_t run = own.begin; run < own.end; run++) {
        int64_t first = run * QUANTISE_RUN,
                count = q->count - first < QUANTISE_RUN ? q->count - first : QUANTISE_RUN;
        const uint8_t *packed = q->packed + run * run_bytes;
        float *x = q->x + first, scale = q->scale[run], whole[QUANTISE_RUN];
        if (q->bits == 8) {
            for (int64_t j = 0; j < count; j++) x[j] = scale * (float)(int8_t)packed[j];
            continue;
        }
        int each = 8 / q->bits; // values per byte; signs as 1 and -1
        for (int64_t j = 0; j < run_bytes; j++)
            for (int k = 0; k < each; k++)
                whole[each * j + k] = (float)(q->bits == 4 ? ((packed[j] >> 4 * k & 15) ^ 8) - 8
                                                           : 1 - 2 * (packed[j] >> k & 1));
        for (int64_t j = 0; j < count; j++) x[j] = scale * whole[j];
    }
}

void quantise_run(struct team *team, const struct quantise *q)
{
    team_run(team, quantise_runs(q->count), run_quantise, q);
}

void dequantise_run(struct team *team, const struct dequantise *q)
{
    team_run(team, quantise_runs(q->count), run_dequantise, q);
}
