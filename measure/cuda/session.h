// One CUDA device during measurement: memory in pools, products as tuned plans, time by events
// behind a gate.
#pragma once

#include <cublasLt.h>

#include "measure/sampling/backend.h"
#include "measure/cuda/fused.h"
#include "measure/cuda/steps.h"

struct pool {
    char *base;
    int64_t bytes, place;
};

// A product with the first of the algorithms that the library proposed and that runs, or the
// fastest.
struct gemm_plan {
    struct gemm gemm;
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t a, b, d;
    cublasLtMatmulAlgo_t algorithm;
    int candidates, chosen; // how many were tried; the chosen one, in the library's order
    double chosen_s;
};

enum { GRAPHS_MAX = 4, WORKSPACE_BYTES = 32 << 20 };

struct graph {
    cudaGraph_t graph;
    cudaGraphExec_t run;
    int64_t places[AREA_KINDS];
};

struct prepared {
    struct cell cell; // dimensions, work and layer of it count
    struct program program;
    struct graph graphs[GRAPHS_MAX];
    int graph_count, graph_next;
};

struct nvml;
struct gate {
    int opened, expired;
}; // in host memory that the device sees

struct cuda_session {
    struct arena *arena;
    struct error trouble; // of a repetition, which cannot return one
    enum precision precision;
    uint64_t seed;
    int device, processors, capability; // 90: compute capability 9.0
    bool best;                          // products by the fastest proposal
    int64_t l2_bytes, memory_bytes;
    int64_t memory_free_bytes, context_bytes; // when the context was new
    char name[256];
    cudaStream_t stream;
    cudaEvent_t begin, end;
    struct gate *gate;
    int64_t gate_limit_ns;
    int gates_expired; // repetitions that had to be repeated
    cublasLtHandle_t cublas;
    void *workspace, *fused_workspace;
    int64_t fused_workspace_bytes;
    struct fused *fused; // NULL: none; and the reason
    struct error no_fused;
    struct pool pools[AREA_KINDS];
    struct gemm_plan *gemms;
    int gemm_count, gemm_capacity;
    struct prepared *prepared;
    int prepared_count;
    char *pinned, *pageable; // for transfers
    int64_t host_bytes;
    struct nvml *nvml;
    struct cuda_session **peers; // on the other devices, for turns on all of them; NULL: not opened
    int peer_count;
    cudaEvent_t *marks; // of turns
    int mark_count;
};

// ---- errors: cuda_session.c

enum status cuda_fail(struct error *err, cudaError_t code, const char *call);
enum status cublas_fail(struct error *err, cublasStatus_t code, const char *call);

#define CUDA_TRY(call)                                                                             \
    do {                                                                                           \
        cudaError_t cuda_code = (call);                                                            \
        if (cuda_code != cudaSuccess) return cuda_fail(err, cuda_code, #call);                     \
    } while (0)
#define CUBLAS_TRY(call)                                                                           \
    do {                                                                                           \
        cublasStatus_t cublas_code = (call);                                                       \
        if (cublas_code != CUBLAS_STATUS_SUCCESS) return cublas_fail(err, cublas_code, #call);     \
    } while (0)

enum status session_open(struct cuda_session **session, const struct backend_settings *settings,
                         enum precision precision, struct arena *arena, struct error *err);

// Makes every pool as large as the programs and rotation need; new ones are filled.
enum status session_reserve(struct cuda_session *s, const struct program *programs, int count,
                            struct error *err);
void session_forget(struct cuda_session *s); // what was prepared
void session_rotate(struct cuda_session *s,
                    const struct program *program); // to the next place in every pool
void *session_pointer(const struct cuda_session *s, const struct program *program,
                      struct place place);

// Times what `enqueue` puts on the stream, all of it queued before any of it begins.
typedef enum status enqueue_function(struct cuda_session *s, void *argument, struct error *err);
enum status session_time(struct cuda_session *s, enqueue_function *before, enqueue_function *timed,
                         void *argument, double *seconds, struct error *err);

struct prepared *prepared_find(struct cuda_session *s, const struct cell *cell); // NULL: none

// ---- a block's passes without a rest: sustained.c

enum status cuda_sustain(void *session, const struct cell *backward, struct turns *turns,
                         struct arena *arena, struct error *err);

// ---- memory of a process: cuda_memory.c

enum status cuda_observe(void *session, struct quantity **quantities, int *quantity_count,
                         struct arena *arena, struct error *err);

// ---- products: cuda_gemm.c

// Finds the step's plan, or makes it by timing what the library proposes on the step's own
// operands.
enum status gemm_prepare(struct cuda_session *s, const struct program *program, struct step *step,
                         struct error *err);
enum status gemm_run(struct cuda_session *s, const struct program *program, const struct step *step,
                     struct error *err);
void gemm_close(struct gemm_plan *plan);

// ---- steps: cuda_run.c

// All programs' attentions first, then each program's other steps.
enum status attentions_prepare(struct cuda_session *s, struct program *programs, int count,
                               struct error *err);
enum status steps_prepare(struct cuda_session *s, struct program *program, struct error *err);
enum status steps_run(struct cuda_session *s, const struct program *program, int from, int to,
                      struct error *err);
