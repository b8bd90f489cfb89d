// Matrix products by cuBLASLt: for each shape the library's first proposal that runs, as frameworks
// do it; or, best, all are timed and the fastest is kept, or the first unless another is clearly
// faster. fp32 is multiplied in fp32, not in tf32.
#include "data/base/grow.h"
#include "measure/cuda/session.h"

#include <string.h>

enum { CANDIDATES = 8, TRIES = 3 };
static const double clearly_faster = 0.99;

static cudaDataType_t type_of(enum element type)
{
    switch (type) {
    case ELEMENT_FLOAT: return CUDA_R_32F;
    case ELEMENT_HALF: return CUDA_R_16F;
    case ELEMENT_BFLOAT: return CUDA_R_16BF;
    case ELEMENT_E4M3: return CUDA_R_8F_E4M3;
    case ELEMENT_E5M2: return CUDA_R_8F_E5M2;
    }
    return CUDA_R_32F;
}

static enum status set_scaling(struct gemm_plan *plan, cublasLtMatmulDescAttributes_t name,
                               enum scaling scaling, struct error *err)
{
    static const int32_t modes[] = {
        [SCALING_RUNS] = CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F,
        [SCALING_BLOCKS] = CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F,
        [SCALING_MX] = CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0,
    };
    if (scaling <= SCALING_ONE) return OK; // what libraries have that know no other
    CUBLAS_TRY(cublasLtMatmulDescSetAttribute(plan->operation, name, &modes[scaling],
                                              sizeof modes[scaling]));
    return OK;
}

static enum status open_layout(cublasLtMatrixLayout_t *layout, enum element type, int64_t rows,
                               int64_t columns, int64_t leading, int64_t batch, int64_t stride,
                               struct error *err)
{
    CUBLAS_TRY(cublasLtMatrixLayoutCreate(layout, type_of(type), (uint64_t)rows, (uint64_t)columns,
                                          leading));
    int32_t count = (int32_t)batch;
    if (count == 1) return OK;
    CUBLAS_TRY(cublasLtMatrixLayoutSetAttribute(*layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                                sizeof count));
    CUBLAS_TRY(cublasLtMatrixLayoutSetAttribute(
        *layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride));
    return OK;
}

static enum status open_operation(struct gemm_plan *plan, struct error *err)
{
    const struct gemm *g = &plan->gemm;
    cublasOperation_t a = g->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N,
                      b = g->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    CUBLAS_TRY(cublasLtMatmulDescCreate(&plan->operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    CUBLAS_TRY(
        cublasLtMatmulDescSetAttribute(plan->operation, CUBLASLT_MATMUL_DESC_TRANSA, &a, sizeof a));
    CUBLAS_TRY(
        cublasLtMatmulDescSetAttribute(plan->operation, CUBLASLT_MATMUL_DESC_TRANSB, &b, sizeof b));
    if (g->bias) {
        cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_BIAS;
        CUBLAS_TRY(cublasLtMatmulDescSetAttribute(plan->operation, CUBLASLT_MATMUL_DESC_EPILOGUE,
                                                  &epilogue, sizeof epilogue));
    }
    if (g->fast_sums) {
        int8_t fast = 1;
        CUBLAS_TRY(cublasLtMatmulDescSetAttribute(plan->operation, CUBLASLT_MATMUL_DESC_FAST_ACCUM,
                                                  &fast, sizeof fast));
    }
    TRY(set_scaling(plan, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, g->a_scaling, err));
    TRY(set_scaling(plan, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, g->b_scaling, err));
    TRY(open_layout(&plan->a, g->a_type, g->transpose_a ? g->k : g->m, g->transpose_a ? g->m : g->k,
                    g->lda, g->batch, g->stride_a, err));
    TRY(open_layout(&plan->b, g->b_type, g->transpose_b ? g->n : g->k, g->transpose_b ? g->k : g->n,
                    g->ldb, g->batch, g->stride_b, err));
    return open_layout(&plan->d, g->d_type, g->m, g->n, g->ldd, g->batch, g->stride_d, err);
}

void gemm_close(struct gemm_plan *plan)
{
    if (plan->d) cublasLtMatrixLayoutDestroy(plan->d);
    if (plan->b) cublasLtMatrixLayoutDestroy(plan->b);
    if (plan->a) cublasLtMatrixLayoutDestroy(plan->a);
    if (plan->operation) cublasLtMatmulDescDestroy(plan->operation);
}

static enum status set_limits(cublasLtMatmulPreference_t preference, const struct gemm *g,
                              struct error *err)
{
    const size_t workspace = WORKSPACE_BYTES;
    const struct {
        cublasLtMatmulPreferenceAttributes_t name;
        uint32_t value;
    } alignments[] = {
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, (uint32_t)g->alignment_a},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, (uint32_t)g->alignment_b},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, (uint32_t)g->alignment_d},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, (uint32_t)g->alignment_d},
    };
    CUBLAS_TRY(cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace));
    for (size_t i = 0; i < ARRAY_LENGTH(alignments); i++)
        CUBLAS_TRY(cublasLtMatmulPreferenceSetAttribute(
            preference, alignments[i].name, &alignments[i].value, sizeof alignments[i].value));
    return OK;
}

static enum status ask(cublasLtMatmulHeuristicResult_t *results, int *count, struct cuda_session *s,
                       struct gemm_plan *plan, struct error *err)
{
    cublasLtMatmulPreference_t preference = NULL;
    CUBLAS_TRY(cublasLtMatmulPreferenceCreate(&preference));
    enum status status = set_limits(preference, &plan->gemm, err);
    cublasStatus_t code = CUBLAS_STATUS_SUCCESS;
    *count = 0;
    if (status == OK)
        code = cublasLtMatmulAlgoGetHeuristic(s->cublas, plan->operation, plan->a, plan->b, plan->d,
                                              plan->d, preference, CANDIDATES, results, count);
    cublasLtMatmulPreferenceDestroy(preference);
    TRY(status);
    const struct gemm *g = &plan->gemm;
    if (code != CUBLAS_STATUS_SUCCESS || *count == 0)
        return fail(err, UNAVAILABLE,
                    "cuda: cuBLAS has no product for m %lld, n %lld, k %lld%s (%s)",
                    (long long)g->m, (long long)g->n, (long long)g->k,
                    g->a_scaling > SCALING_ONE ? " with these scales on this device" : "",
                    cublasLtGetStatusString(code));
    return OK;
}

struct trial {
    const struct program *program;
    const struct step *step;
    const struct gemm_plan *plan;
    const cublasLtMatmulAlgo_t *algorithm;
};

// Where the scales are now; the library also looks at them before it proposes anything.
static enum status point_to_scales(struct cuda_session *s, const struct program *program,
                                   const struct step *step, const struct gemm_plan *plan,
                                   struct error *err)
{
    static const cublasLtMatmulDescAttributes_t names[] = {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER,
                                                           CUBLASLT_MATMUL_DESC_B_SCALE_POINTER};
    for (int i = 0; i < 2 && plan->gemm.a_scaling != SCALING_NONE; i++) {
        const void *scales = session_pointer(s, program, step->in[3 + i]);
        CUBLAS_TRY(
            cublasLtMatmulDescSetAttribute(plan->operation, names[i], &scales, sizeof scales));
    }
    return OK;
}

static enum status multiply(struct cuda_session *s, void *of_trial, struct error *err)
{
    const struct trial *t = of_trial;
    const float one = 1, zero = 0;
    const void *bias = session_pointer(s, t->program, t->step->in[2]);
    void *d = session_pointer(s, t->program, t->step->out[0]);
    if (t->plan->gemm.bias)
        CUBLAS_TRY(cublasLtMatmulDescSetAttribute(
            t->plan->operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias));
    TRY(point_to_scales(s, t->program, t->step, t->plan, err));
    CUBLAS_TRY(cublasLtMatmul(s->cublas, t->plan->operation, &one,
                              session_pointer(s, t->program, t->step->in[0]), t->plan->a,
                              session_pointer(s, t->program, t->step->in[1]), t->plan->b,
                              t->plan->gemm.accumulate ? &one : &zero, d, t->plan->d, d, t->plan->d,
                              t->algorithm, s->workspace, WORKSPACE_BYTES, s->stream));
    return OK;
}

// The fastest of a few runs, after one that loads the kernel. A proposal that cannot run is
// skipped.
static enum status try_algorithm(struct cuda_session *s, struct trial *t, double *fastest_s,
                                 struct error *err)
{
    struct error refused = {OK, ""};
    *fastest_s = -1;
    session_rotate(s, t->program);
    if (multiply(s, t, &refused) != OK) return OK;
    CUDA_TRY(cudaStreamSynchronize(s->stream));
    for (int i = 0; i < TRIES; i++) {
        double seconds = 0;
        session_rotate(s, t->program);
        TRY(session_time(s, NULL, multiply, t, &seconds, err));
        if (*fastest_s < 0 || seconds < *fastest_s) *fastest_s = seconds;
    }
    return OK;
}

static enum status choose(struct cuda_session *s, const struct program *program,
                          const struct step *step, struct gemm_plan *plan, struct error *err)
{
    cublasLtMatmulHeuristicResult_t results[CANDIDATES];
    int count = 0;
    memset(results, 0, sizeof results);
    TRY(point_to_scales(s, program, step, plan, err));
    TRY(ask(results, &count, s, plan, err));
    plan->chosen = -1;
    for (int i = 0; i < count && (s->best || plan->chosen < 0); i++) {
        struct trial t = {program, step, plan, &results[i].algo};
        double seconds = 0;
        if (results[i].state != CUBLAS_STATUS_SUCCESS || results[i].workspaceSize > WORKSPACE_BYTES)
            continue;
        TRY(try_algorithm(s, &t, &seconds, err));
        if (seconds < 0) continue;
        plan->candidates++;
        if (plan->chosen >= 0 && seconds >= clearly_faster * plan->chosen_s) continue;
        plan->chosen = i;
        plan->chosen_s = seconds;
        plan->algorithm = results[i].algo;
    }
    if (plan->chosen < 0)
        return fail(
            err, UNAVAILABLE,
            "cuda: none of %d products that cuBLAS proposes for m %lld, n %lld, k %lld runs", count,
            (long long)plan->gemm.m, (long long)plan->gemm.n, (long long)plan->gemm.k);
    return OK;
}

enum status gemm_prepare(struct cuda_session *s, const struct program *program, struct step *step,
                         struct error *err)
{
    for (int i = 0; i < s->gemm_count; i++)
        if (gemm_same(&s->gemms[i].gemm, &step->gemm)) {
            step->plan = i;
            return OK;
        }
    GROW(s->arena, s->gemms, s->gemm_count, s->gemm_capacity, 32);
    struct gemm_plan *plan = &s->gemms[s->gemm_count];
    *plan = (struct gemm_plan){.gemm = step->gemm};
    step->plan = s->gemm_count++; // counted from here on, so that it is always closed
    TRY(open_operation(plan, err));
    return choose(s, program, step, plan, err);
}

enum status gemm_run(struct cuda_session *s, const struct program *program, const struct step *step,
                     struct error *err)
{
    const struct gemm_plan *plan = &s->gemms[step->plan];
    struct trial t = {program, step, plan, &plan->algorithm};
    return multiply(s, &t, err);
}
