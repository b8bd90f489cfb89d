// A CUDA device as a back end. Cells become programs of steps (work.c), which run behind a gate
// and between two events. Two kinds of work are timed by the host's clock instead: transfers of
// memory that is not pinned, which the host copies, and blocks without work, which measure
// launches.
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "measure/cuda/nvml.h"
#include "measure/cuda/session.h"
#include "measure/cuda/work.h"

static enum status cuda_open(void **session, const struct backend_settings *settings,
                             enum precision precision, struct arena *arena, struct error *err)
{
    struct cuda_session *s;
    TRY(session_open(&s, settings, precision, arena, err));
    *session = s;
    return OK;
}

static const char *version_text(int version, struct arena *arena)
{
    return arena_print(arena, "%d.%d", version / 1000, version % 1000 / 10);
}

static void cuda_describe(void *session, struct machine *machine, struct arena *arena)
{
    struct cuda_session *s = session;
    struct utsname system;
    int runtime = 0, driver = 0;
    cudaRuntimeGetVersion(&runtime);
    cudaDriverGetVersion(&driver);
    const char *fused = s->fused ? fused_library(s->fused, arena) : NULL,
               *number = nvml_driver(s->nvml, arena);
    machine->host = uname(&system) ? "unknown" : arena_copy_text(arena, system.nodename);
    machine->processor = arena_copy_text(arena, s->name);
    machine->gpu = machine->processor;
    machine->memory_bytes = s->memory_bytes;
    machine->threads = 1;
    machine->library = arena_print(arena, "CUDA %s, cuBLASLt %zu, %s; fp32 without tf32",
                                   version_text(runtime, arena), cublasLtGetVersion(),
                                   fused ? fused : "attention not fused");
    machine->driver = number
                          ? arena_print(arena, "%s (CUDA %s)", number, version_text(driver, arena))
                          : arena_print(arena, "CUDA %s", version_text(driver, arena));
}

// ---- transfers

static bool is_transfer(enum work work)
{
    return work >= WORK_TO_DEVICE_PINNED && work <= WORK_TO_HOST_PAGEABLE;
}

static bool is_pinned(enum work work)
{
    return work == WORK_TO_DEVICE_PINNED || work == WORK_TO_HOST_PINNED;
}

static enum status reserve_host(struct cuda_session *s, const struct cell *cells, int count,
                                struct error *err)
{
    int64_t need = 0;
    for (int i = 0; i < count; i++)
        if (is_transfer(cells[i].work) && cells[i].sample.dimensions[0] > need)
            need = cells[i].sample.dimensions[0];
    if (need <= s->host_bytes) return OK;
    if (s->pinned) cudaFreeHost(s->pinned);
    s->pinned = NULL;
    s->host_bytes = 0;
    CUDA_TRY(cudaHostAlloc((void **)&s->pinned, (size_t)need, cudaHostAllocPortable));
    s->pageable = TAKE(s->arena, need, char);
    for (int64_t i = 0; i < need; i++)
        s->pinned[i] = s->pageable[i] = (char)(i * 167); // every page touched
    s->host_bytes = need;
    return OK;
}

static enum status enqueue_transfer(struct cuda_session *s, void *of_prepared, struct error *err)
{
    const struct prepared *p = of_prepared;
    char *host = is_pinned(p->cell.work) ? s->pinned : s->pageable;
    char *device = session_pointer(s, &p->program, (struct place){0, 0});
    size_t bytes = (size_t)p->cell.sample.dimensions[0];
    bool down = p->cell.work == WORK_TO_HOST_PINNED || p->cell.work == WORK_TO_HOST_PAGEABLE;
    CUDA_TRY(cudaMemcpyAsync(down ? host : device, down ? device : host, bytes,
                             down ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice, s->stream));
    return OK;
}

// ---- preparing

static enum status enqueue_before(struct cuda_session *s, void *of_prepared, struct error *err)
{
    const struct prepared *p = of_prepared;
    return steps_run(s, &p->program, 0, p->program.timed_from, err);
}

static enum status enqueue_timed(struct cuda_session *s, void *of_prepared, struct error *err)
{
    const struct prepared *p = of_prepared;
    return steps_run(s, &p->program, p->program.timed_from, p->program.step_count, err);
}

static enum status enqueue_graph(struct cuda_session *s, void *of_prepared, struct error *err)
{
    const struct prepared *p = of_prepared;
    CUDA_TRY(cudaGraphLaunch(p->graphs[p->graph_next].run, s->stream));
    return OK;
}

// The timed steps as graphs, one for each of a few positions in the pools. Once begun, a capture
// is always ended.
static enum status capture(struct cuda_session *s, struct prepared *p, struct error *err)
{
    for (int i = 0; i < GRAPHS_MAX; i++) {
        struct graph *g = &p->graphs[i];
        session_rotate(s, &p->program);
        for (int kind = 0; kind < AREA_KINDS; kind++) g->places[kind] = s->pools[kind].place;
        CUDA_TRY(cudaStreamBeginCapture(s->stream, cudaStreamCaptureModeThreadLocal));
        enum status status = enqueue_timed(s, p, err);
        cudaError_t code = cudaStreamEndCapture(s->stream, &g->graph);
        p->graph_count = i + 1;
        TRY(status);
        if (code != cudaSuccess) return cuda_fail(err, code, "cudaStreamEndCapture");
        CUDA_TRY(cudaGraphInstantiate(&g->run, g->graph, 0));
        CUDA_TRY(cudaGraphUpload(g->run, s->stream));
    }
    CUDA_TRY(cudaStreamSynchronize(s->stream));
    return OK;
}

static enum status cuda_prepare(void *session, const struct cell *cells, int cell_count,
                                struct arena *arena, struct error *err)
{
    struct cuda_session *s = session;
    session_forget(s);
    struct program *programs = TAKE(arena, cell_count, struct program);
    for (int i = 0; i < cell_count; i++)
        TRY(program_of_cell(&programs[i], &cells[i], s->precision, arena, err));
    TRY(session_reserve(s, programs, cell_count, err));
    TRY(reserve_host(s, cells, cell_count, err));
    TRY(attentions_prepare(s, programs, cell_count, err));
    s->prepared = TAKE(arena, cell_count, struct prepared);
    for (int i = 0; i < cell_count; i++) {
        struct prepared *p = &s->prepared[s->prepared_count++];
        p->cell = cells[i];
        p->program = programs[i];
        TRY(steps_prepare(s, &p->program, err));
        if (cells[i].layer && cells[i].layer->graph) TRY(capture(s, p, err));
    }
    return OK;
}

// ---- repeating

static bool is_same(const struct cell *a, const struct cell *b)
{
    if (a->work != b->work ||
        memcmp(a->sample.dimensions, b->sample.dimensions, sizeof a->sample.dimensions) ||
        a->sample.fp32_gradients != b->sample.fp32_gradients ||
        a->sample.recipe != b->sample.recipe)
        return false;
    if (!a->layer || !b->layer) return !a->layer && !b->layer;
    return a->layer->kind == b->layer->kind && a->layer->pass == b->layer->pass &&
           a->layer->graph == b->layer->graph && a->layer->fused == b->layer->fused &&
           a->layer->shape == b->layer->shape;
}

struct prepared *prepared_find(struct cuda_session *s, const struct cell *cell)
{
    for (int i = 0; i < s->prepared_count; i++)
        if (is_same(&s->prepared[i].cell, cell)) return &s->prepared[i];
    return NULL;
}

static void cuda_state(void *session, const struct cell *cell, struct sample *sample)
{
    struct cuda_session *s = session;
    const struct prepared *p = prepared_find(s, cell);
    sample->before = BEFORE_REST;
    for (int i = 0; p && i < p->program.step_count; i++)
        if (p->program.steps[i].kind == STEP_GEMM)
            sample->algorithm = s->best ? ALGORITHM_BEST : ALGORITHM_FIRST;
}

static enum status time_by_host(struct cuda_session *s, enqueue_function *timed, void *argument,
                                double *seconds, struct error *err)
{
    struct timespec begin, end;
    CUDA_TRY(cudaStreamSynchronize(s->stream));
    clock_gettime(CLOCK_MONOTONIC, &begin);
    TRY(timed(s, argument, err));
    CUDA_TRY(cudaStreamSynchronize(s->stream));
    clock_gettime(CLOCK_MONOTONIC, &end);
    *seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    return OK;
}

static enum status time_prepared(struct cuda_session *s, struct prepared *p, double *seconds,
                                 struct error *err)
{
    if (p->graph_count) {
        p->graph_next = (p->graph_next + 1) % p->graph_count;
        for (int kind = 0; kind < AREA_KINDS; kind++)
            s->pools[kind].place = p->graphs[p->graph_next].places[kind];
        return session_time(s, enqueue_before, enqueue_graph, p, seconds, err);
    }
    session_rotate(s, &p->program);
    if (p->cell.work == WORK_EMPTY_BLOCKS) return time_by_host(s, enqueue_timed, p, seconds, err);
    if (is_transfer(p->cell.work) && !is_pinned(p->cell.work))
        return time_by_host(s, enqueue_transfer, p, seconds, err);
    if (is_transfer(p->cell.work)) return session_time(s, NULL, enqueue_transfer, p, seconds, err);
    return session_time(s, enqueue_before, enqueue_timed, p, seconds, err);
}

static double cuda_repeat(void *session, const struct cell *cell)
{
    struct cuda_session *s = session;
    struct prepared *p = prepared_find(s, cell);
    double seconds = 0;
    if (s->trouble.status == OK && !p)
        fail(&s->trouble, SYSTEM, "cuda: asked to repeat what was not prepared");
    if (s->trouble.status == OK) time_prepared(s, p, &seconds, &s->trouble);
    return s->trouble.status == OK ? seconds : 0;
}

static enum status cuda_failure(void *session, struct error *err)
{
    const struct cuda_session *s = session;
    return s->trouble.status == OK ? OK : fail(err, s->trouble.status, "%s", s->trouble.text);
}

static bool cuda_condition(void *session, struct condition *now)
{
    const struct cuda_session *s = session;
    return nvml_condition(s->nvml, now);
}

const struct backend backend_cuda = {.name = "cuda",
                                     .open = cuda_open,
                                     .describe = cuda_describe,
                                     .prepare = cuda_prepare,
                                     .state = cuda_state,
                                     .repeat = cuda_repeat,
                                     .sustain = cuda_sustain,
                                     .condition = cuda_condition,
                                     .failure = cuda_failure,
                                     .observe = cuda_observe,
                                     .has_host = true};
