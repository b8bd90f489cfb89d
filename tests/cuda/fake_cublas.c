// cuBLASLt: descriptors with their attributes, as sizes checked by the real headers' types; naive
// products.
#include <assert.h>
#include <cublasLt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/fake_cuda.h"
#include "tests/cuda/fake_queue.h"

int fake_algorithm_uses[16];

#define CALL()                                                                                     \
    do {                                                                                           \
        if (!fake_may()) return CUBLAS_STATUS_INTERNAL_ERROR;                                      \
    } while (0)

struct operation_desc {
    cublasOperation_t a, b;
    cublasLtEpilogue_t epilogue;
    const void *bias;
    int8_t fast;
    int32_t a_mode, b_mode;
    const void *a_scales, *b_scales;
};

struct layout {
    cudaDataType_t type;
    uint64_t rows, columns;
    int64_t leading, stride;
    int32_t batch;
};

struct preference {
    size_t workspace;
    uint32_t alignment[4];
};

// ---- numbers of 8 and 16 bits, after their definitions

static float small_float(uint32_t bits, int exponent_bits, int mantissa_bits, int sign_shift)
{
    int bias = (1 << (exponent_bits - 1)) - 1,
        exponent = (int)(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
    float mantissa = (float)(bits & ((1u << mantissa_bits) - 1)) / (float)(1 << mantissa_bits);
    float size = exponent ? ldexpf(1 + mantissa, exponent - bias) : ldexpf(mantissa, 1 - bias);
    return bits >> sign_shift & 1 ? -size : size;
}

float fake_read(const void *at, int element, int64_t index)
{
    uint32_t bits;
    uint16_t half;
    float x;
    switch (element) {
    case ELEMENT_FLOAT: return ((const float *)at)[index];
    case ELEMENT_HALF:
        half = ((const uint16_t *)at)[index];
        return (half & 0x7c00) == 0x7c00 ? NAN : small_float(half, 5, 10, 15);
    case ELEMENT_BFLOAT:
        bits = (uint32_t)((const uint16_t *)at)[index] << 16;
        memcpy(&x, &bits, sizeof x);
        return x;
    case ELEMENT_E4M3: return small_float(((const uint8_t *)at)[index], 4, 3, 7);
    default: return small_float(((const uint8_t *)at)[index], 5, 2, 7);
    }
}

void fake_write(void *at, int element, int64_t index, float value)
{
    if (element == ELEMENT_FLOAT) {
        ((float *)at)[index] = value;
        return;
    }
    assert(element == ELEMENT_HALF || element == ELEMENT_BFLOAT);
    uint32_t bits;
    if (element == ELEMENT_BFLOAT) {
        memcpy(&bits, &value, sizeof bits);
        ((uint16_t *)at)[index] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
        return;
    }
    int exponent = 0;
    float fraction =
        frexpf(fabsf(value), &exponent); // value = fraction x 2^exponent, fraction in [1/2, 1)
    if (exponent < -13) bits = (uint32_t)nearbyintf(ldexpf(fabsf(value), 24));
    else
        bits = ((uint32_t)(exponent + 14) << 10) + (uint32_t)nearbyintf(ldexpf(fraction, 11)) -
               1024;
    if (fraction == 0) bits = 0;
    ((uint16_t *)at)[index] = (uint16_t)(bits | (signbit(value) ? 0x8000u : 0));
}

// ---- products

static int element_of_type(cudaDataType_t type)
{
    switch (type) {
    case CUDA_R_32F: return ELEMENT_FLOAT;
    case CUDA_R_16F: return ELEMENT_HALF;
    case CUDA_R_16BF: return ELEMENT_BFLOAT;
    case CUDA_R_8F_E4M3: return ELEMENT_E4M3;
    case CUDA_R_8F_E5M2: return ELEMENT_E5M2;
    default: break;
    }
    assert(!"a type that nothing uses");
    return 0;
}

static int bytes_of(int element)
{
    return element == ELEMENT_FLOAT ? 4 : element <= ELEMENT_BFLOAT ? 2 : 1;
}

static struct fake_matrix matrix_of(cublasLtMatrixLayout_t of_layout, const void *at)
{
    const struct layout *l = (const struct layout *)(const void *)of_layout;
    struct fake_matrix m = {element_of_type(l->type),
                            (int64_t)l->rows,
                            (int64_t)l->columns,
                            l->leading,
                            l->stride,
                            l->batch,
                            at};
    assert(m.leading >= m.rows);
    int64_t last = (m.batch - 1) * m.stride + (m.columns - 1) * m.leading + m.rows;
    assert(fake_holds(at, last * bytes_of(m.element)) ||
           !"a matrix that is not in the device's memory");
    return m;
}

static float value_at(const struct fake_matrix *m, int batch, int64_t row, int64_t column)
{
    return fake_read(m->at, m->element, batch * m->stride + column * m->leading + row);
}

// The scale of value k of row (or column) i, by the library's documentation.
static double scale_at(const struct fake_scales *s, int64_t i, int64_t k)
{
    const float *floats = s->at;
    int64_t blocks = (s->depth + 127) / 128, runs = (s->depth + 31) / 32;
    if (!s->at) return 1;
    switch (s->mode) {
    case CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F: return (double)floats[0];
    case CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F:
        return (double)floats[k / 128 * ((s->rows + 3) / 4 * 4) + i];
    case CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F:
        return (double)floats[i / 128 * ((blocks + 3) / 4 * 4) + k / 128];
    case CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0: {
        int64_t tile = i / 128 * ((runs + 3) / 4) + k / 32 / 4, row = i % 128;
        uint8_t exponent =
            ((const uint8_t *)s->at)[512 * tile + (row % 32) * 16 + row / 32 * 4 + k / 32 % 4];
        return ldexp(1, exponent - 127);
    }
    default: assert(!"scales that nothing uses"); return 0;
    }
}

// The rows of the left side, or the columns of the right one, one after another, by their scales.
static double *unpacked(const struct fake_matrix *m, const struct fake_scales *scales, int batch,
                        bool is_across, int64_t count, int64_t inner)
{
    double *x = malloc((size_t)(count * inner) * sizeof *x);
    assert(x);
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < inner; k++)
            x[i * inner + k] = (double)value_at(m, batch, is_across ? i : k, is_across ? k : i) *
                               scale_at(scales, i, k);
    return x;
}

void fake_multiply(const struct operation *o)
{
    int64_t inner = o->transpose_a ? o->a.rows : o->a.columns;
    fake_algorithm_uses[o->algorithm]++;
    for (int batch = 0; batch < o->d.batch; batch++) {
        double *a = unpacked(&o->a, &o->a_scales, batch, !o->transpose_a, o->d.rows, inner),
               *b = unpacked(&o->b, &o->b_scales, batch, o->transpose_b, o->d.columns, inner);
        for (int64_t j = 0; j < o->d.columns; j++)
            for (int64_t i = 0; i < o->d.rows; i++) {
                double sum = 0;
                for (int64_t k = 0; k < inner; k++) sum += a[i * inner + k] * b[j * inner + k];
                sum *= (double)o->alpha;
                if (o->beta != 0) sum += (double)(o->beta * value_at(&o->d, batch, i, j));
                if (o->bias) sum += (double)fake_read(o->bias, o->d.element, i);
                fake_write((void *)o->d.at, o->d.element,
                           batch * o->d.stride + j * o->d.leading + i, (float)sum);
            }
        free(a);
        free(b);
    }
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t of_operation,
                              const void *alpha, const void *a, cublasLtMatrixLayout_t a_layout,
                              const void *b, cublasLtMatrixLayout_t b_layout, const void *beta,
                              const void *c, cublasLtMatrixLayout_t c_layout, void *d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                              size_t workspace_bytes, cudaStream_t stream)
{
    CALL();
    const struct operation_desc *desc = (const struct operation_desc *)(const void *)of_operation;
    (void)stream, (void)c_layout;
    assert(handle && c == d && fake_holds(workspace, (int64_t)workspace_bytes));
    if ((int)algorithm->data[0] == fake.refused) return CUBLAS_STATUS_NOT_SUPPORTED;
    struct operation *o = fake_queue(OPERATION_GEMM);
    o->a = matrix_of(a_layout, a), o->b = matrix_of(b_layout, b), o->d = matrix_of(d_layout, d);
    o->transpose_a = desc->a == CUBLAS_OP_T, o->transpose_b = desc->b == CUBLAS_OP_T;
    o->alpha = *(const float *)alpha, o->beta = *(const float *)beta;
    o->algorithm = (int)algorithm->data[0];
    if (desc->epilogue == CUBLASLT_EPILOGUE_BIAS) {
        assert(fake_holds(desc->bias, o->d.rows * bytes_of(o->d.element)));
        o->bias = desc->bias;
    }
    o->a_scales = (struct fake_scales){desc->a_scales, desc->a_mode, o->d.rows, o->a.rows};
    o->b_scales = (struct fake_scales){desc->b_scales, desc->b_mode, o->d.columns, o->a.rows};
    assert(!desc->a_scales || (fake_holds(desc->a_scales, 1) && fake_holds(desc->b_scales, 1)));
    assert(desc->a_mode <= CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F || o->d.batch == 1);
    assert(o->a.batch == o->d.batch && o->b.batch == o->d.batch);
    assert((o->transpose_a ? o->a.columns : o->a.rows) == o->d.rows);
    assert((o->transpose_b ? o->b.rows : o->b.columns) == o->d.columns);
    assert((o->transpose_a ? o->a.rows : o->a.columns) ==
           (o->transpose_b ? o->b.columns : o->b.rows));
    if (bytes_of(o->a.element) == 1) // the library's requirement for 8 bits
        assert(o->transpose_a && !o->transpose_b && o->a.rows % 16 == 0 && o->a.columns % 16 == 0 &&
               o->b.columns % 16 == 0);
    return CUBLAS_STATUS_SUCCESS;
}

// ---- descriptors

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    CALL();
    *handle = (cublasLtHandle_t)(void *)fake_algorithm_uses;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
size_t cublasLtGetVersion(void) { return 130100; }
const char *cublasLtGetStatusString(cublasStatus_t status)
{
    return status ? "a planted fault of cuBLAS" : "success";
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *of_desc, cublasComputeType_t compute,
                                        cudaDataType_t scale)
{
    CALL();
    assert(compute == CUBLAS_COMPUTE_32F && scale == CUDA_R_32F);
    *of_desc = (cublasLtMatmulDesc_t)calloc(1, sizeof(struct operation_desc));
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc)
{
    return free(desc), CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t of_desc,
                                              cublasLtMatmulDescAttributes_t name,
                                              const void *value, size_t bytes)
{
    CALL();
    struct operation_desc *desc = (struct operation_desc *)(void *)of_desc;
    const struct {
        cublasLtMatmulDescAttributes_t name;
        void *to;
        size_t bytes;
    } known[] = {
        {CUBLASLT_MATMUL_DESC_TRANSA, &desc->a, sizeof(int32_t)},
        {CUBLASLT_MATMUL_DESC_TRANSB, &desc->b, sizeof(int32_t)},
        {CUBLASLT_MATMUL_DESC_EPILOGUE, &desc->epilogue, sizeof(uint32_t)},
        {CUBLASLT_MATMUL_DESC_BIAS_POINTER, &desc->bias, sizeof(void *)},
        {CUBLASLT_MATMUL_DESC_FAST_ACCUM, &desc->fast, sizeof(int8_t)},
        {CUBLASLT_MATMUL_DESC_A_SCALE_MODE, &desc->a_mode, sizeof(int32_t)},
        {CUBLASLT_MATMUL_DESC_B_SCALE_MODE, &desc->b_mode, sizeof(int32_t)},
        {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &desc->a_scales, sizeof(void *)},
        {CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &desc->b_scales, sizeof(void *)},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].name == name && known[i].bytes == bytes)
            return memcpy(known[i].to, value, bytes), CUBLAS_STATUS_SUCCESS;
    assert(!"an attribute of another size or name");
    return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *of_layout, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t leading)
{
    CALL();
    struct layout *l = calloc(1, sizeof *l);
    *l = (struct layout){type, rows, columns, leading, 0, 1};
    *of_layout = (cublasLtMatrixLayout_t)(void *)l;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout)
{
    return free(layout), CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t of_layout,
                                                cublasLtMatrixLayoutAttribute_t name,
                                                const void *value, size_t bytes)
{
    CALL();
    struct layout *l = (struct layout *)(void *)of_layout;
    if (name == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT && bytes == sizeof l->batch)
        memcpy(&l->batch, value, bytes);
    else if (name == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET && bytes == sizeof l->stride)
        memcpy(&l->stride, value, bytes);
    else assert(!"an attribute of another size or name");
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *of_preference)
{
    CALL();
    *of_preference = (cublasLtMatmulPreference_t)calloc(1, sizeof(struct preference));
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p)
{
    return free(p), CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t of_preference,
                                                    cublasLtMatmulPreferenceAttributes_t name,
                                                    const void *value, size_t bytes)
{
    CALL();
    struct preference *p = (struct preference *)(void *)of_preference;
    if (name == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES && bytes == sizeof p->workspace)
        memcpy(&p->workspace, value, bytes);
    else {
        assert(name >= CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES &&
               name <= CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES && bytes == sizeof *p->alignment);
        memcpy(&p->alignment[name - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES], value, bytes);
    }
    return CUBLAS_STATUS_SUCCESS;
}

// Proposal 1 is the slowest by the fake's clock, the last the fastest but one: see fake_cuda.c.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int asked,
                                              cublasLtMatmulHeuristicResult_t results[], int *count)
{
    CALL();
    (void)desc, (void)a, (void)b;
    assert(handle && c == d && preference);
    static const int order[] = {5, 9, 2, 7};
    *count = 0;
    for (int i = 0; i < fake.proposals && i < asked && i < 4; i++) {
        memset(&results[i], 0, sizeof results[i]);
        results[i].algo.data[0] = (uint64_t)order[i];
        results[i].state = CUBLAS_STATUS_SUCCESS;
        (*count)++;
    }
    return *count ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}
