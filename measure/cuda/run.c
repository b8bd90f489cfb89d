// Runs steps on the stream.
#include "measure/cuda/session.h"

static enum status run_kernel(struct cuda_session *s, const struct program *program,
                              const struct step *step, struct error *err)
{
    struct kernel_arguments a;
    for (size_t i = 0; i < ARRAY_LENGTH(a.in); i++)
        a.in[i] = session_pointer(s, program, step->in[i]);
    for (size_t i = 0; i < ARRAY_LENGTH(a.out); i++)
        a.out[i] = session_pointer(s, program, step->out[i]);
    for (size_t i = 0; i < ARRAY_LENGTH(a.size); i++) a.size[i] = step->size[i];
    for (size_t i = 0; i < ARRAY_LENGTH(a.scalar); i++) a.scalar[i] = step->scalar[i];
    CUDA_TRY(kernel_launch(step->kernel, step->type, &a, s->processors, s->stream));
    return OK;
}

static enum status run_attention(struct cuda_session *s, const struct program *program,
                                 const struct step *step, struct error *err)
{
    const void *in[ARRAY_LENGTH(step->in)];
    void *out[ARRAY_LENGTH(step->out)];
    for (size_t i = 0; i < ARRAY_LENGTH(in); i++) in[i] = session_pointer(s, program, step->in[i]);
    for (size_t i = 0; i < ARRAY_LENGTH(out); i++)
        out[i] = session_pointer(s, program, step->out[i]);
    return fused_run(s->fused, step->plan, in, out, step->scalar[0], s->fused_workspace, err);
}

enum status steps_run(struct cuda_session *s, const struct program *program, int from, int to,
                      struct error *err)
{
    for (int i = from; i < to; i++) {
        const struct step *step = &program->steps[i];
        void *out = session_pointer(s, program, step->out[0]);
        switch (step->kind) {
        case STEP_KERNEL: TRY(run_kernel(s, program, step, err)); break;
        case STEP_GEMM: TRY(gemm_run(s, program, step, err)); break;
        case STEP_ATTENTION: TRY(run_attention(s, program, step, err)); break;
        case STEP_COPY:
            CUDA_TRY(cudaMemcpyAsync(out, session_pointer(s, program, step->in[0]),
                                     (size_t)step->size[0], cudaMemcpyDeviceToDevice, s->stream));
            break;
        case STEP_CLEAR: CUDA_TRY(cudaMemsetAsync(out, 0, (size_t)step->size[0], s->stream)); break;
        }
    }
    return OK;
}

static enum status plan_attentions(struct cuda_session *s, struct program *program,
                                   struct error *err)
{
    for (int i = 0; i < program->step_count; i++) {
        struct step *step = &program->steps[i];
        if (step->kind != STEP_ATTENTION) continue;
        if (!s->fused)
            return fail(err, UNAVAILABLE, "cuda: no fused attention: %s", s->no_fused.text);
        TRY(fused_plan(s->fused, &step->attention, &step->plan, err));
    }
    return OK;
}

// Before any graph is captured, since a graph keeps the workspace's address.
enum status attentions_prepare(struct cuda_session *s, struct program *programs, int count,
                               struct error *err)
{
    for (int i = 0; i < count; i++) TRY(plan_attentions(s, &programs[i], err));
    int64_t need = s->fused ? fused_workspace_bytes(s->fused) : 0;
    if (need <= s->fused_workspace_bytes) return OK;
    CUDA_TRY(cudaStreamSynchronize(s->stream));
    cudaFree(s->fused_workspace);
    s->fused_workspace = NULL;
    s->fused_workspace_bytes = 0;
    CUDA_TRY(cudaMalloc(&s->fused_workspace, (size_t)need));
    s->fused_workspace_bytes = need;
    return OK;
}

// Plans of the products, then one run without a gate. It loads the kernels, which must not happen
// while a gate waits.
enum status steps_prepare(struct cuda_session *s, struct program *program, struct error *err)
{
    session_rotate(s,
                   program); // another program may have left a position too far in for this one
    for (int i = 0; i < program->step_count; i++)
        if (program->steps[i].kind == STEP_GEMM)
            TRY(gemm_prepare(s, program, &program->steps[i], err));
    TRY(steps_run(s, program, 0, program->step_count, err));
    CUDA_TRY(cudaStreamSynchronize(s->stream));
    CUDA_TRY(cudaGetLastError());
    return OK;
}
