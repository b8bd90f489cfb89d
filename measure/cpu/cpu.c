// The CPU as a back end: fp32 through OpenBLAS, with threads of our own. Operands come from one
// pool of random values, each repetition's from the next position, so that no cache holds them;
// results cycle through another area.
#include <cblas.h>
#include <math.h>
#include <time.h>

#include "measure/cpu/internal.h"
#include "measure/sampling/host.h"
#include "data/base/random.h"

// More than the last-level cache of most processors, so that a cycle through the pool evicts its
// values.
enum { POOL_FLOATS_MIN = 1 << 25, RESULT_FLOATS_MIN = 1 << 24, FLOATS_PER_LINE = 16 };

struct session {
    struct team *team;
    bool shared;
    uint64_t seed;
    float *pool, *result;
    int64_t pool_floats, result_floats, pool_place, result_place;
    struct host_condition condition;
    const struct cell *cells; // those prepared last
    int cell_count;
    struct switches switches;
};

static enum status cpu_open(void **session, const struct backend_settings *settings,
                            enum precision precision, struct arena *arena, struct error *err)
{
    if (precision != FP32)
        return fail(err, UNAVAILABLE, "cpu: measures fp32 only, not %s",
                    precision_names[precision]);
    struct session *s = TAKE(arena, 1, struct session);
    s->seed = settings->seed;
    s->shared = settings->shared;
    if (s->shared) watch_take_long_turns();
    openblas_set_num_threads(1);
    host_condition_open(&s->condition, "/sys", arena);
    TRY(team_open(&s->team, settings->threads, arena, err));
    *session = s;
    return OK;
}

static void cpu_describe(void *session, struct machine *machine, struct arena *arena)
{
    const struct session *s = session;
    host_describe(machine, arena);
    machine->threads = team_threads(s->team);
    const char *config = openblas_get_config();
    size_t words = strcspn(config, " ");
    words += config[words] ? 1 + strcspn(config + words + 1, " ") : 0;
    machine->library = arena_print(arena, "%.*s %s", (int)words, config, openblas_get_corename());
}

// Memory in whole cache lines, aligned to one.
static float *take_floats(struct arena *arena, int64_t count)
{
    float *at = TAKE(arena, count + FLOATS_PER_LINE, float);
    uintptr_t line = FLOATS_PER_LINE * sizeof(float);
    return at + (line - (uintptr_t)at % line) % line / sizeof(float);
}

static enum status check_cell(const struct cell *cell, struct error *err)
{
    const char *what = NULL;
    if (cell->work == WORK_FUSED_ATTENTION || cell->work == WORK_FUSED_ATTENTION_BACKWARD)
        what = "a fused attention";
    if (cell->work == WORK_FUSED_CONTEXT_ATTENTION ||
        cell->work == WORK_FUSED_CONTEXT_ATTENTION_BACKWARD)
        what = "a fused attention";
    if (cell->work == WORK_CAST) what = "numbers of 8 bits";
    if (cell->layer && cell->layer->fused) what = "a fused attention";
    if (cell->layer && cell->layer->graph) what = "captured graphs";
    if (cell->work >= WORK_TO_DEVICE_PINNED) what = "a link to a host: it is the host";
    return what ? fail(err, UNAVAILABLE, "cpu: does not have %s", what) : OK;
}

static enum status cpu_prepare(void *session, const struct cell *cells, int cell_count,
                               struct arena *arena, struct error *err)
{
    struct session *s = session;
    int threads = team_threads(s->team);
    s->cells = cells, s->cell_count = cell_count;
    switches_begin(&s->switches, cell_count, arena);
    int64_t in = POOL_FLOATS_MIN, out = RESULT_FLOATS_MIN;
    for (int i = 0; i < cell_count; i++) {
        TRY(check_cell(&cells[i], err));
        struct part_size size = part_size(&cells[i], threads);
        in = larger(in, size.in), out = larger(out, size.out);
    }
    if (in > s->pool_floats) {
        s->pool = take_floats(arena, in);
        for (int64_t i = 0; i < in; i++)
            s->pool[i] = (float)(int32_t)random_next(&s->seed) * 0x1p-31f;
        s->pool_floats = in;
    }
    if (out > s->result_floats) {
        s->result = take_floats(arena, out);
        s->result_floats = out;
    }
    return OK;
}

// The next position with this much room.
static float *next_place(float *area, int64_t area_floats, int64_t *place, int64_t need)
{
    if (*place + need > area_floats) *place = 0;
    float *at = area + *place;
    *place += (need + FLOATS_PER_LINE - 1) / FLOATS_PER_LINE * FLOATS_PER_LINE;
    return at;
}

static double cpu_repeat(void *session, const struct cell *cell)
{
    struct session *s = session;
    struct part_size size = part_size(cell, team_threads(s->team));
    const float *in = next_place(s->pool, s->pool_floats, &s->pool_place, size.in);
    float *out = next_place(s->result, s->result_floats, &s->result_place, size.out);
    struct timespec begin, end;
    long switches = s->shared ? switches_now() : 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    team_reset_busy(s->team);
    part_run(s->team, cell, in, out);
    double busy_s = team_busy_s(s->team);
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (s->shared) {
        double each = (double)(switches_now() - switches) / team_threads(s->team);
        if (cell >= s->cells && cell < s->cells + s->cell_count)
            busy_s = switches_take_out(&s->switches, (int)(cell - s->cells), busy_s, each);
        return round(1e9 * busy_s) / 1e9;
    }
    return (1e9 * (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec)) /
           1e9;
}

static enum status observe(void *session, struct quantity **quantities, int *quantity_count,
                           struct arena *arena, struct error *err)
{
    const struct session *s = session;
    return cpu_observe(team_threads(s->team), quantities, quantity_count, arena, err);
}

static int64_t keeps(const struct cell *backward, int64_t *working)
{
    int64_t floats = layer_keeps(backward, working);
    *working *= (int64_t)sizeof(float);
    return floats * (int64_t)sizeof(float);
}

static void state(void *session, const struct cell *cell, struct sample *sample)
{
    (void)cell;
    sample->shared = ((const struct session *)session)->shared;
}

// Of each of its threads, where other programs use the processors.
static double seconds_spent(void *session)
{
    const struct session *s = session;
    struct timespec spent;
    if (!s->shared) return clock_s();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return ((double)spent.tv_sec + 1e-9 * (double)spent.tv_nsec) / team_threads(s->team);
}

static bool condition(void *session, struct condition *now)
{
    struct session *s = session;
    return host_condition_read(&s->condition, now);
}

const struct backend backend_cpu = {
    .name = "cpu",
    .open = cpu_open,
    .describe = cpu_describe,
    .prepare = cpu_prepare,
    .keeps = keeps,
    .state = state,
    .repeat = cpu_repeat,
    .observe = observe,
    .condition = condition,
    .clock = seconds_spent,
    .cuts_layers = true,
};
