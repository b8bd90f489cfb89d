// The true times: call + FLOP / rate for products, + bytes / bandwidth for what is bound by
// memory, both for attention, whole layers and the like; latency + bytes / bandwidth for messages;
// blocks x block for empty calls. Throttling: the simulated clock is divided into episodes of
// random length. In a share of them everything takes longer and the condition says so, as under a
// power cap.
#include "measure/sampling/simulated.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/base/random.h"

const char *const noise_names[] = {"none",    "lognormal", "student", "pareto",
                                   "bimodal", "ticks",     NULL};
const char simulated_help[] =
    "with --backend simulated: KEY=VALUE,... with keys gemm (FLOP/s), memory, link (bytes/s), "
    "call, block, latency (s), noise (none, lognormal, student, pareto, bimodal, ticks), spread, "
    "launch, throttle (shares), slowdown (factor), bytes (memory); with link or latency, messages "
    "of a run take what these say";

static const double handling_s = 2e-6, handling_share = 0.1, episode_s = 0.4, clock_hz = 1.5e9;
enum { POWER_CAP = 4 };

struct simulated_session {
    struct simulated machine;
    uint64_t seed, episodes;
    int threads;
    double now_s, launch, episode_end_s;
    bool throttled;
};

struct simulated simulated_default(void)
{
    return (struct simulated){.flop_per_s = 1e12,
                              .bytes_per_s = 1e11,
                              .link_bytes_per_s = 1e10,
                              .call_s = 5e-6,
                              .block_s = 4e-5,
                              .latency_s = 1e-5,
                              .noise = NOISE_LOGNORMAL,
                              .spread = 0.03,
                              .slowdown = 1.3,
                              .memory_bytes = 6.4e10};
}

enum status simulated_read(struct simulated *m, const char *text, struct arena *arena,
                           struct error *err)
{
    const struct {
        const char *key;
        double *to, low, high;
    } keys[] = {
        {"gemm", &m->flop_per_s, 1, 1e18},
        {"memory", &m->bytes_per_s, 1, 1e18},
        {"link", &m->link_bytes_per_s, 1, 1e18},
        {"call", &m->call_s, 0, 10},
        {"block", &m->block_s, 1e-9, 10},
        {"latency", &m->latency_s, 0, 10},
        {"spread", &m->spread, 0, 1},
        {"launch", &m->launch, 0, 1},
        {"throttle", &m->throttle, 0, 1},
        {"slowdown", &m->slowdown, 1, 100},
        {"bytes", &m->memory_bytes, 1, 9007199254740992.0},
    };
    char *rest = arena_copy_text(arena, text ? text : ""), *word;
    while ((word = strtok_r(rest, ",", &rest))) {
        char *equals = strchr(word, '='), *end = NULL;
        if (equals) *equals++ = '\0';
        if (equals && !strcmp(word, "noise")) {
            for (m->noise = 0; m->noise < NOISE_COUNT && strcmp(noise_names[m->noise], equals);)
                m->noise++;
            if (m->noise < NOISE_COUNT) continue;
            return refuse(
                err,
                "--simulate: noise: expected none, lognormal, student, pareto, bimodal or "
                "ticks, found '%s'",
                equals);
        }
        size_t i = 0;
        while (i < ARRAY_LENGTH(keys) && strcmp(keys[i].key, word)) i++;
        if (i == ARRAY_LENGTH(keys) || !equals)
            return refuse(err, "--simulate: expected %s, found '%s'", simulated_help, word);
        double value = strtod(equals, &end);
        if (end == equals || *end || !(value >= keys[i].low && value <= keys[i].high))
            return refuse(err, "--simulate: %s: expected a number from %g to %g, found '%s'", word,
                          keys[i].low, keys[i].high, equals);
        *keys[i].to = value;
        if (keys[i].to == &m->link_bytes_per_s || keys[i].to == &m->latency_s)
            m->states_link = true;
    }
    return OK;
}

// ---- noise

static double uniform(uint64_t *seed)
{
    return ((double)(random_next(seed) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *seed)
{
    double radius = sqrt(-2 * log(uniform(seed)));
    return radius * cos(2 * acos(-1.0) * uniform(seed));
}

static double student_3(uint64_t *seed)
{
    double a = normal(seed), b = normal(seed), c = normal(seed), d = normal(seed);
    return a / sqrt((b * b + c * c + d * d) / 3);
}

// x away from the median, on the side that a fair coin chose.
static double beside_median(double x, bool above) { return above ? 1 + x : 1 / (1 + x); }

static double pareto_noise(double spread, uint64_t *seed)
{
    bool above = random_next(seed) >> 63, in_tail = above && uniform(seed) < 0.4;
    return beside_median(
        in_tail ? 2 * spread * pow(uniform(seed), -1 / 1.2) : spread * fabs(normal(seed)), above);
}

static double bimodal_noise(double spread, uint64_t *seed)
{
    bool above = random_next(seed) >> 63, in_gap = uniform(seed) < 0.3;
    return beside_median(spread * (in_gap ? 4 * uniform(seed) : 4 + 0.3 * fabs(normal(seed))),
                         above);
}

double simulated_noise(enum noise noise, double spread, uint64_t *seed)
{
    double t;
    switch (noise) {
    case NOISE_LOGNORMAL: return exp(spread * normal(seed));
    case NOISE_STUDENT: t = student_3(seed); return beside_median(spread * fabs(t), t > 0);
    case NOISE_PARETO: return pareto_noise(spread, seed);
    case NOISE_BIMODAL: return bimodal_noise(spread, seed);
    case NOISE_TICKS:
        return spread > 0 ? 1 + spread / 4 * rint((exp(spread * normal(seed)) - 1) / spread * 4)
                          : 1;
    default: return 1;
    }
}

// The factor of this launch on times
static double simulated_launch(const struct simulated *m, uint64_t seed)
{
    uint64_t of_launch = seed ^ 0x6c61756e6368u;
    random_next(&of_launch);
    return exp(m->launch * normal(&of_launch));
}

double simulated_truth(const struct simulated *m, const struct sample *s)
{
    double flop_s = s->flop / m->flop_per_s, bytes_s = s->bytes / m->bytes_per_s;
    switch (s->kind) {
    case SAMPLE_OVERHEAD: return m->block_s * (double)s->dimensions[0];
    case SAMPLE_LINK:
    case SAMPLE_COLLECTIVE: return m->latency_s + s->bytes / m->link_bytes_per_s;
    case SAMPLE_GEMM:
    case SAMPLE_GROUPED:
    case SAMPLE_LOW_RANK: return m->call_s + (s->flop > 0 ? flop_s : bytes_s);
    default: return m->call_s + flop_s + bytes_s;
    }
}

// ---- the back end

static enum status simulated_open(void **session, const struct backend_settings *settings,
                                  enum precision precision, struct arena *arena, struct error *err)
{
    (void)precision;
    struct simulated_session *s = TAKE(arena, 1, struct simulated_session);
    s->machine = simulated_default();
    TRY(simulated_read(&s->machine, settings->options, arena, err));
    s->seed = settings->seed;
    s->threads = settings->threads;
    s->launch = simulated_launch(&s->machine, settings->seed);
    s->episodes = settings->seed ^ 0x657069736f6465u;
    *session = s;
    return OK;
}

static void simulated_describe(void *session, struct machine *machine, struct arena *arena)
{
    const struct simulated_session *s = session;
    *machine =
        (struct machine){.host = "nowhere",
                         .processor = "simulated machine",
                         .gpu = "simulated",
                         .memory_bytes = (int64_t)s->machine.memory_bytes,
                         .threads = s->threads,
                         .library = arena_print(arena, "noise %s, spread %g",
                                                noise_names[s->machine.noise], s->machine.spread),
                         .taken_at = "1970-01-01T00:00:00Z"};
}

static bool simulated_message(void *session, int64_t bytes, double *latency_s, double *occupied_s)
{
    const struct simulated *m = &((struct simulated_session *)session)->machine;
    *latency_s = m->latency_s;
    *occupied_s = (double)bytes / m->link_bytes_per_s;
    return m->states_link;
}

static enum status simulated_prepare(void *session, const struct cell *cells, int cell_count,
                                     struct arena *arena, struct error *err)
{
    (void)session, (void)cells, (void)cell_count, (void)arena, (void)err;
    return OK;
}

static void pass_episodes(struct simulated_session *s)
{
    while (s->now_s >= s->episode_end_s) {
        s->throttled = uniform(&s->episodes) < s->machine.throttle;
        s->episode_end_s += episode_s * -log(uniform(&s->episodes));
    }
}

static double simulated_repeat(void *session, const struct cell *cell)
{
    struct simulated_session *s = session;
    const struct simulated *m = &s->machine;
    pass_episodes(s);
    double seconds = simulated_truth(m, &cell->sample) * s->launch *
                     simulated_noise((enum noise)m->noise, m->spread, &s->seed);
    if (s->throttled) seconds *= m->slowdown;
    s->now_s += handling_s + (1 + handling_share) * seconds;
    return seconds;
}

static bool simulated_condition(void *session, struct condition *now)
{
    struct simulated_session *s = session;
    pass_episodes(s);
    now->clock_hz = clock_hz / (s->throttled ? s->machine.slowdown : 1);
    now->slowdown = s->throttled ? POWER_CAP : 0;
    return true;
}

static double simulated_clock(void *session)
{
    const struct simulated_session *s = session;
    return s->now_s;
}

const struct backend backend_simulated = {
    .name = "simulated",
    .open = simulated_open,
    .describe = simulated_describe,
    .prepare = simulated_prepare,
    .repeat = simulated_repeat,
    .condition = simulated_condition,
    .clock = simulated_clock,
    .message = simulated_message,
    .cuts_layers = true,
};
