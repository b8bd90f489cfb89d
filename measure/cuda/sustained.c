// Turns of a block's passes without a rest, on all visible devices at once where there are several.
// The host stays a few turns ahead, so that the device never waits for it and the conditions that
// it notes belong to the turns that run. All is in one place of the pools, whose gradients are
// cleared once.
#include <math.h>

#include "measure/cuda/nvml.h"
#include "measure/cuda/session.h"

enum { AHEAD = 8, TURNS_LEAST = 8 };
static const double condition_every_s = 0.05;

static enum status open_peers(struct cuda_session *s, struct error *err)
{
    int count = 0;
    if (s->peers) return OK;
    CUDA_TRY(cudaGetDeviceCount(&count));
    s->peers = TAKE(s->arena, count, struct cuda_session *);
    for (int i = 0; i < count; i++) {
        if (i == s->device) continue;
        const struct backend_settings settings = {.device = i, .seed = s->seed, .best = s->best};
        TRY(session_open(&s->peers[s->peer_count], &settings, s->precision, s->arena, err));
        s->peer_count++;
    }
    CUDA_TRY(cudaSetDevice(s->device));
    return OK;
}

// The same pass on every device, gradients cleared. p: of this session.
static enum status begin(struct cuda_session *s, const struct cell *cell, const struct prepared *p,
                         struct arena *arena, struct error *err)
{
    for (int i = 0; i < s->peer_count; i++) {
        struct cuda_session *peer = s->peers[i];
        CUDA_TRY(cudaSetDevice(peer->device));
        TRY(backend_cuda.prepare(peer, cell, 1, arena, err));
        session_rotate(peer, &peer->prepared[0].program);
        TRY(steps_run(peer, &peer->prepared[0].program, 0, p->program.begins_at, err));
    }
    CUDA_TRY(cudaSetDevice(s->device));
    session_rotate(s, &p->program);
    return steps_run(s, &p->program, 0, p->program.begins_at, err);
}

// One turn; marks: after its forward pass, and after its backward pass.
static enum status enqueue_turn(struct cuda_session *s, const struct prepared *p,
                                const cudaEvent_t marks[2], struct error *err)
{
    for (int i = 0; i < s->peer_count; i++) {
        struct cuda_session *peer = s->peers[i];
        const struct program *program = &peer->prepared[0].program;
        CUDA_TRY(cudaSetDevice(peer->device));
        TRY(steps_run(peer, program, program->begins_at, program->step_count, err));
    }
    if (s->peer_count) CUDA_TRY(cudaSetDevice(s->device));
    TRY(steps_run(s, &p->program, p->program.begins_at, p->program.timed_from, err));
    CUDA_TRY(cudaEventRecord(marks[0], s->stream));
    TRY(steps_run(s, &p->program, p->program.timed_from, p->program.step_count, err));
    CUDA_TRY(cudaEventRecord(marks[1], s->stream));
    return OK;
}

static enum status elapsed(double *seconds, cudaEvent_t from, cudaEvent_t to, struct error *err)
{
    float milliseconds = 0;
    CUDA_TRY(cudaEventElapsedTime(&milliseconds, from, to));
    *seconds = 1e-3 * (double)milliseconds;
    return OK;
}

static enum status make_marks(struct cuda_session *s, int count, struct error *err)
{
    if (!s->marks) s->marks = TAKE(s->arena, count, cudaEvent_t);
    for (; s->mark_count < count; s->mark_count++)
        CUDA_TRY(cudaEventCreate(&s->marks[s->mark_count]));
    return OK;
}

// How long one turn takes, and so how many there are.
static enum status count_turns(struct cuda_session *s, const struct prepared *p, struct turns *t,
                               int *lead, struct error *err)
{
    double turn_s = 0;
    TRY(enqueue_turn(s, p, s->marks, err));
    TRY(enqueue_turn(s, p, &s->marks[2], err));
    CUDA_TRY(cudaEventSynchronize(s->marks[3]));
    TRY(elapsed(&turn_s, s->marks[1], s->marks[3], err));
    double wanted = fmin(ceil(t->least_s / fmax(turn_s, 1e-6)), 1e6);
    *lead = (int)wanted;
    t->count = wanted < TURNS_LEAST ? TURNS_LEAST : wanted > t->most ? t->most : (int)wanted;
    return OK;
}

static void note(const struct cuda_session *s, struct turns *t, int turn, double *noted_s)
{
    double now_s = clock_s();
    if (turn < 0 || (turn > 0 && now_s - *noted_s < condition_every_s)) return;
    struct condition *now = &t->conditions[t->condition_count];
    now->first = turn;
    t->condition_count += nvml_condition(s->nvml, now);
    *noted_s = now_s;
}

// marks[2 i + 1], [2 i + 2]: of timed turn i; [0] and the last two, those of turns before.
static enum status run_turns(struct cuda_session *s, const struct prepared *p, struct turns *t,
                             int lead, struct error *err)
{
    double noted_s = 0;
    const cudaEvent_t other[2] = {s->marks[2 * t->most + 1], s->marks[2 * t->most + 2]};
    for (int i = 0; i < lead; i++) {
        const cudaEvent_t last[2] = {other[0], s->marks[0]};
        TRY(enqueue_turn(s, p, i == lead - 1 ? last : other, err));
        if (i % AHEAD == AHEAD - 1) CUDA_TRY(cudaEventSynchronize(other[0]));
    }
    for (int i = 0; i < t->count; i++) {
        TRY(enqueue_turn(s, p, &s->marks[2 * i + 1], err));
        if (i < AHEAD) continue;
        CUDA_TRY(cudaEventSynchronize(s->marks[2 * (i - AHEAD) + 2]));
        note(s, t, i - AHEAD, &noted_s);
    }
    for (int i = 0; i < s->peer_count; i++) CUDA_TRY(cudaStreamSynchronize(s->peers[i]->stream));
    CUDA_TRY(cudaStreamSynchronize(s->stream));
    for (int i = 0; i < t->count; i++) {
        TRY(elapsed(&t->forward_s[i], s->marks[2 * i], s->marks[2 * i + 1], err));
        TRY(elapsed(&t->backward_s[i], s->marks[2 * i + 1], s->marks[2 * i + 2], err));
    }
    return OK;
}

enum status cuda_sustain(void *session, const struct cell *cell, struct turns *t,
                         struct arena *arena, struct error *err)
{
    struct cuda_session *s = session;
    const struct prepared *p = prepared_find(s, cell);
    int lead = 0;
    TRY(open_peers(s, err));
    TRY(begin(s, cell, p, arena, err));
    TRY(make_marks(s, 2 * t->most + 3, err));
    TRY(count_turns(s, p, t, &lead, err));
    t->busy_devices = 1 + s->peer_count;
    return run_turns(s, p, t, lead, err);
}
