// Matrix products go to cblas_sgemm, each member of the team taking its share of the columns (or heads, or rows); what
// OpenBLAS does not offer - softmax, norms, activation functions - is plain C over the member's rows. Nothing is fused:
// a block on a CPU without a fused attention writes its scores to memory and reads them back, and so does this.
#include "measure/parts.h"

#include <assert.h>
#include <cblas.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

struct operands {
    const struct cell *cell;
    const int64_t *size;        // the sample's dimensions
    const float *in;
    float *out;
};

int64_t part_input_floats(const struct cell *cell, int threads)
{
    const int64_t *d = cell->sample.dimensions;
    switch (cell->work) {
    case WORK_GEMM: return d[0] * d[2] + d[1] * d[2];
    case WORK_ATTENTION: return 3 * d[0] * d[1] * d[2];
    case WORK_COPY: return d[0] / 8;
    case WORK_ELEMENTWISE: return d[1] * d[2] + d[1] * d[3];
    case WORK_GATED_ELEMENTWISE: return d[1] * d[2] + 2 * d[1] * d[3];
    case WORK_COMPRESS: return d[0] * d[1] + d[1] * d[2];
    case WORK_DECOMPRESS: return d[0] * d[2] + d[1] * d[2];
    case WORK_EMPTY_BLOCKS: return 16 * threads;
    default: break;
    }
    assert(!"an unknown kind of work");
    return 0;
}

int64_t part_output_floats(const struct cell *cell, int threads)
{
    const int64_t *d = cell->sample.dimensions;
    switch (cell->work) {
    case WORK_GEMM: return d[0] * d[1];
    case WORK_ATTENTION: return d[0] * d[1] * (d[1] + d[2]);
    case WORK_COPY: return d[0] / 8;
    case WORK_ELEMENTWISE:
    case WORK_GATED_ELEMENTWISE: return 2 * d[1] * d[2] + d[1] * d[3];
    case WORK_COMPRESS: return d[0] * d[2] + d[1] * d[2];
    case WORK_DECOMPRESS: return d[0] * d[1];
    case WORK_EMPTY_BLOCKS: return 16 * threads;
    default: break;
    }
    assert(!"an unknown kind of work");
    return 0;
}

static void run_gemm(void *argument, int member, int threads)
{
    const struct operands *o = argument;
    int64_t m = o->size[0], n = o->size[1], k = o->size[2], begin, end;
    team_share(n, member, threads, &begin, &end);
    if (begin == end) return;
    const float *activations = o->in, *weights = o->in + m * k;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)(end - begin), (int)k, 1.0f, activations,
                (int)k, weights + begin, (int)n, 0.0f, o->out + begin, (int)n);
}

// e^x to about 3e-6 for |x| < 87, in a form that compilers turn into vector instructions (libm's is several times
// slower): 2^n times the Taylor polynomial of 2^f, |f| <= 1/2. Adding 1.5 x 2^23 leaves n in the lowest bits. No bounds
// are checked, because comparing costs more than all the rest; random operands in [-1, 1] keep within them up to
// HEAD_WIDTH_MAX.
static inline float exponential(float x)
{
    float shifted = x * 1.44269504f + 12582912.0f, power;
    float f = (x * 1.44269504f - (shifted - 12582912.0f)) * 0.69314718f;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << 23) + (127u << 23);
    memcpy(&power, &bits, sizeof power);
    return power * (1 + f * (1 + f * (0.5f + f * (0.16666667f + f * (0.041666667f + f * 0.0083333333f)))));
}

enum { LANES = 16 };

// Sums in LANES strands: the order of additions is then the same whether or not they are done side by side.
static float sum_of(const float *x, int64_t count, bool squared)
{
    float strand[LANES] = {0}, sum = 0;
    int64_t j = 0;
    for (; j + LANES <= count; j += LANES)
        for (int k = 0; k < LANES; k++) strand[k] += squared ? x[j + k] * x[j + k] : x[j + k];
    for (int k = 0; k < LANES; k++) sum += strand[k];
    for (; j < count; j++) sum += squared ? x[j] * x[j] : x[j];
    return sum;
}

static float largest_of(const float *x, int64_t count)
{
    float strand[LANES], largest = x[0];
    for (int k = 0; k < LANES; k++) strand[k] = x[0];
    int64_t j = 0;
    for (; j + LANES <= count; j += LANES)
        for (int k = 0; k < LANES; k++) strand[k] = x[j + k] > strand[k] ? x[j + k] : strand[k];
    for (int k = 0; k < LANES; k++) largest = strand[k] > largest ? strand[k] : largest;
    for (; j < count; j++) largest = x[j] > largest ? x[j] : largest;
    return largest;
}

static void softmax_rows(float *scores, int64_t rows, int64_t columns, float scale)
{
    for (int64_t i = 0; i < rows; i++) {
        float *row = scores + i * columns, largest = largest_of(row, columns);
        for (int64_t j = 0; j < columns; j++) row[j] = exponential((row[j] - largest) * scale);
        float share = 1 / sum_of(row, columns, false);
        for (int64_t j = 0; j < columns; j++) row[j] *= share;
    }
}

static void run_attention(void *argument, int member, int threads)
{
    const struct operands *o = argument;
    int64_t heads = o->size[0], s = o->size[1], w = o->size[2], begin, end;
    assert(w <= HEAD_WIDTH_MAX);
    team_share(heads, member, threads, &begin, &end);
    const float *query = o->in, *key = query + heads * s * w, *value = key + heads * s * w;
    float *scores = o->out, *context = scores + heads * s * s;
    for (int64_t i = begin; i < end; i++)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)s, (int)s, (int)w, 1.0f, query + i * s * w, (int)w,
                    key + i * s * w, (int)w, 0.0f, scores + i * s * s, (int)s);
    softmax_rows(scores + begin * s * s, (end - begin) * s, s, 1 / sqrtf((float)w));
    for (int64_t i = begin; i < end; i++)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)s, (int)w, (int)s, 1.0f, scores + i * s * s, (int)s,
                    value + i * s * w, (int)w, 0.0f, context + i * s * w, (int)w);
}

static void run_copy(void *argument, int member, int threads)
{
    const struct operands *o = argument;
    int64_t begin, end;
    team_share(o->size[0] / 8, member, threads, &begin, &end);
    memcpy(o->out + begin, o->in + begin, (size_t)(end - begin) * sizeof(float));
}

// out[1] gets the normalised rows of in.
static void run_norm(void *argument, int member, int threads)
{
    const struct operands *o = argument;
    int64_t h = o->size[2], begin, end;
    team_share(o->size[1], member, threads, &begin, &end);
    for (int64_t i = begin; i < end; i++) {
        const float *x = o->in + i * h;
        float *y = o->out + i * h, mean = sum_of(x, h, false) / (float)h;
        float scale = 1 / sqrtf(sum_of(x, h, true) / (float)h - mean * mean + 1e-5f);
        for (int64_t j = 0; j < h; j++) y[j] = (x[j] - mean) * scale;
    }
}

static void run_residual(void *argument, int member, int threads)
{
    const struct operands *o = argument;
    int64_t h = o->size[2], begin, end;
    team_share(o->size[1] * h, member, threads, &begin, &end);
    const float *x = o->in, *y = o->out;
    float *z = o->out + o->size[1] * h;
    for (int64_t j = begin; j < end; j++) z[j] = x[j] + y[j];
}

// gelu by its tanh form, which is x / (1 + e^-2u); or silu(gate) x up.
static void run_activation(void *argument, int member, int threads)
{
    const struct operands *o = argument;
    int64_t tokens = o->size[1], h = o->size[2], f = o->size[3], begin, end;
    team_share(tokens * f, member, threads, &begin, &end);
    const float *gate = o->in + tokens * h, *up = gate + tokens * f;
    float *y = o->out + 2 * tokens * h;
    if (o->cell->work == WORK_GATED_ELEMENTWISE)
        for (int64_t j = begin; j < end; j++) y[j] = gate[j] / (1 + exponential(-gate[j])) * up[j];
    else
        for (int64_t j = begin; j < end; j++)
            y[j] = gate[j] / (1 + exponential(-1.5957691f * (gate[j] + 0.044715f * gate[j] * gate[j] * gate[j])));
}

// P [rows][rank] and Q [columns][rank] are stored by columns, M [rows][columns] by rows.
static void run_left_factor(void *argument, int member, int threads)
{
    const struct operands *o = argument;
    int64_t rows = o->size[0], columns = o->size[1], rank = o->size[2], begin, end;
    team_share(rows, member, threads, &begin, &end);
    if (begin == end) return;
    cblas_sgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)(end - begin), (int)rank, (int)columns, 1.0f,
                o->in + begin * columns, (int)columns, o->in + rows * columns, (int)columns, 0.0f, o->out + begin,
                (int)rows);
}

static void run_right_factor(void *argument, int member, int threads)
{
    const struct operands *o = argument;
    int64_t rows = o->size[0], columns = o->size[1], rank = o->size[2], begin, end;
    team_share(columns, member, threads, &begin, &end);
    if (begin == end) return;
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)(end - begin), (int)rank, (int)rows, 1.0f,
                o->in + begin, (int)columns, o->out, (int)rows, 0.0f, o->out + rows * rank + begin, (int)columns);
}

static void run_product(void *argument, int member, int threads)
{
    const struct operands *o = argument;
    int64_t rows = o->size[0], columns = o->size[1], rank = o->size[2], begin, end;
    team_share(rows, member, threads, &begin, &end);
    if (begin == end) return;
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasTrans, (int)columns, (int)(end - begin), (int)rank, 1.0f,
                o->in + rows * rank, (int)columns, o->in + begin, (int)rows, 0.0f, o->out + begin * columns,
                (int)columns);
}

// Gram and Schmidt, one column after the other: 2 rows rank^2 operations.
static void orthogonalise(float *p, int64_t rows, int64_t rank)
{
    for (int64_t j = 0; j < rank; j++) {
        float *column = p + j * rows, length = cblas_snrm2((int)rows, column, 1);
        cblas_sscal((int)rows, length > 0 ? 1 / length : 0, column, 1);
        for (int64_t k = j + 1; k < rank; k++)
            cblas_saxpy((int)rows, -cblas_sdot((int)rows, column, 1, p + k * rows, 1), column, 1, p + k * rows, 1);
    }
}

static void run_elementwise(struct team *team, struct operands *o)
{
    team_run(team, run_norm, o);
    team_run(team, run_residual, o);
    team_run(team, run_norm, o);
    team_run(team, run_residual, o);
    team_run(team, run_activation, o);
}

static void run_empty_block(struct team *team, struct operands *o)
{
    int64_t threads = team_threads(team);
    const int64_t product[] = {1, threads, 1}, heads[] = {threads, 1, 1}, row[] = {0, threads, 1, 1};
    o->size = product;
    for (int i = 0; i < 4; i++) team_run(team, run_gemm, o);
    o->size = heads;
    team_run(team, run_attention, o);
    o->size = row;
    run_elementwise(team, o);
}

void part_run(struct team *team, const struct cell *cell, const float *in, float *out)
{
    struct operands o = {cell, cell->sample.dimensions, in, out};
    switch (cell->work) {
    case WORK_GEMM: team_run(team, run_gemm, &o); break;
    case WORK_ATTENTION: team_run(team, run_attention, &o); break;
    case WORK_COPY: team_run(team, run_copy, &o); break;
    case WORK_ELEMENTWISE:
    case WORK_GATED_ELEMENTWISE: run_elementwise(team, &o); break;
    case WORK_COMPRESS:
        team_run(team, run_left_factor, &o);
        orthogonalise(out, o.size[0], o.size[2]);
        team_run(team, run_right_factor, &o);
        break;
    case WORK_DECOMPRESS: team_run(team, run_product, &o); break;
    case WORK_EMPTY_BLOCKS:
        for (int64_t i = 0; i < cell->sample.dimensions[0]; i++) run_empty_block(team, &o);
        break;
    default: assert(!"an unknown kind of work");
    }
}
