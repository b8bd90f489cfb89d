// The best of 8: for each product "M,N,K" (bf16, y = x w^T) the first 8 algorithms that cuBLASLt
// proposes are timed, and the least median is printed; "copy,BYTES" times a plain copy on the
// device of half as many bytes. A separate program that shares no code with plumbline;
// tests/gpu/rates.py compares its figures with it.
// usage: gemm_heuristics M,N,K ... copy,BYTES ...
// prints: the word, seconds, algorithms tried
#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ASKED = 8, RUNS = 15, SETS = 4, WORKSPACE = 32 << 20 };

#define CHECK(call, good)                                                                          \
    do {                                                                                           \
        int code = (int)(call);                                                                    \
        if (code != (int)(good)) {                                                                 \
            fprintf(stderr, "gemm_heuristics: %s: error %d\n", #call, code);                       \
            exit(2);                                                                               \
        }                                                                                          \
    } while (0)
#define CUDA(call) CHECK(call, cudaSuccess)
#define CUBLAS(call) CHECK(call, CUBLAS_STATUS_SUCCESS)

static cudaStream_t stream;
static cudaEvent_t begin, end;

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

// Random bf16 numbers of magnitude below 1: any sign and mantissa, exponents of 2^-8 to 2^-1.
static void *random_device(size_t values)
{
    uint16_t *host = malloc(values * sizeof *host);
    void *device = NULL;
    if (!host) exit(2);
    for (size_t i = 0; i < values; i++)
        host[i] = (uint16_t)((rand() & 0x807f) | (119 + rand() % 8) << 7);
    CUDA(cudaMalloc(&device, values * sizeof *host));
    CUDA(cudaMemcpy(device, host, values * sizeof *host, cudaMemcpyHostToDevice));
    free(host);
    return device;
}

static double elapsed_s(void)
{
    float milliseconds = 0;
    CUDA(cudaEventRecord(end, stream));
    CUDA(cudaEventSynchronize(end));
    CUDA(cudaEventElapsedTime(&milliseconds, begin, end));
    return 1e-3 * (double)milliseconds;
}

static double median_s(float *times)
{
    qsort(times, RUNS, sizeof *times, compare);
    return (double)times[RUNS / 2];
}

static void time_product(cublasLtHandle_t cublas, void *workspace, const char *word, long m, long n,
                         long k)
{
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t w, x, y;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t proposals[ASKED];
    cublasOperation_t transposed = CUBLAS_OP_T;
    size_t most = WORKSPACE;
    int count = 0, tried = 0;
    const float one = 1, zero = 0;
    CUBLAS(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    CUBLAS(cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                          sizeof transposed));
    CUBLAS(cublasLtMatrixLayoutCreate(&w, CUDA_R_16BF, (uint64_t)k, (uint64_t)n, k));
    CUBLAS(cublasLtMatrixLayoutCreate(&x, CUDA_R_16BF, (uint64_t)k, (uint64_t)m, k));
    CUBLAS(cublasLtMatrixLayoutCreate(&y, CUDA_R_16BF, (uint64_t)n, (uint64_t)m, n));
    CUBLAS(cublasLtMatmulPreferenceCreate(&preference));
    CUBLAS(cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof most));
    CUBLAS(cublasLtMatmulAlgoGetHeuristic(cublas, operation, w, x, y, y, preference, ASKED,
                                          proposals, &count));
    void *ws[SETS], *xs[SETS], *ys[SETS];
    for (int i = 0; i < SETS; i++) {
        ws[i] = random_device((size_t)(n * k));
        xs[i] = random_device((size_t)(m * k));
        CUDA(cudaMalloc(&ys[i], (size_t)(m * n) * 2));
    }
    double best = 1e9;
    for (int a = 0; a < count; a++) {
        float times[RUNS];
        if (proposals[a].state != CUBLAS_STATUS_SUCCESS) continue;
        int works = 1;
        for (int i = -2; i < RUNS && works; i++) {
            int set = (i + 2) % SETS;
            CUDA(cudaEventRecord(begin, stream));
            works = cublasLtMatmul(cublas, operation, &one, ws[set], w, xs[set], x, &zero, ys[set],
                                   y, ys[set], y, &proposals[a].algo, workspace, WORKSPACE,
                                   stream) == CUBLAS_STATUS_SUCCESS;
            double seconds = elapsed_s();
            if (i >= 0) times[i] = (float)seconds;
        }
        if (!works) continue;
        tried++;
        double median = median_s(times);
        best = median < best ? median : best;
    }
    printf("%s %.9g %d\n", word, best, tried);
    for (int i = 0; i < SETS; i++) cudaFree(ws[i]), cudaFree(xs[i]), cudaFree(ys[i]);
    cublasLtMatmulPreferenceDestroy(preference);
    cublasLtMatrixLayoutDestroy(y), cublasLtMatrixLayoutDestroy(x), cublasLtMatrixLayoutDestroy(w);
    cublasLtMatmulDescDestroy(operation);
}

static void time_copy(const char *word, long bytes)
{
    void *from[SETS], *to[SETS];
    float times[RUNS];
    size_t half = (size_t)bytes / 2;
    for (int i = 0; i < SETS; i++) {
        from[i] = random_device(half / 2);
        CUDA(cudaMalloc(&to[i], half));
    }
    for (int i = -2; i < RUNS; i++) {
        int set = (i + 2) % SETS;
        CUDA(cudaEventRecord(begin, stream));
        CUDA(cudaMemcpyAsync(to[set], from[set], half / 2 * 2, cudaMemcpyDeviceToDevice, stream));
        double seconds = elapsed_s();
        if (i >= 0) times[i] = (float)seconds;
    }
    printf("%s %.9g 1\n", word, median_s(times));
    for (int i = 0; i < SETS; i++) cudaFree(from[i]), cudaFree(to[i]);
}

int main(int argc, char **argv)
{
    cublasLtHandle_t cublas;
    void *workspace = NULL;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaEventCreate(&begin));
    CUDA(cudaEventCreate(&end));
    CUBLAS(cublasLtCreate(&cublas));
    CUDA(cudaMalloc(&workspace, WORKSPACE));
    for (int i = 1; i < argc; i++) {
        long m, n, k;
        if (sscanf(argv[i], "copy,%ld", &m) == 1) time_copy(argv[i], m);
        else if (sscanf(argv[i], "%ld,%ld,%ld", &m, &n, &k) == 3)
            time_product(cublas, workspace, argv[i], m, n, k);
        else
            return fprintf(stderr, "gemm_heuristics: expected M,N,K or copy,BYTES, found '%s'\n",
                           argv[i]),
                   2;
        fflush(stdout);
    }
    return 0;
}
