// Every search ends: random problems with several stages on each rank and tight memory, solved
// under a short limit or none, each with many limits of memory in a process that the system kills
// once it has worked for a second for each and the grace. Processor time is counted, so that a busy
// machine fails nothing.
//
//   test_ends [PROBLEMS] [SEED]      make test runs 48
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/kinds/schedules.h"
#include "solve/layout/solve.h"
#include "solve/process/supervise.h"
#include "tests/support/check.h"
#include "tests/support/draws/kinds.h"
#include "tests/support/random_priced.h"

enum { DEFAULT_PROBLEMS = 48, LIMITS = 24, BOXES_MOST = 400 };
static const double limit_s = 0.2;

static int problem_count = DEFAULT_PROBLEMS;
static uint64_t first_seed = 1;

// Where the pipeline folds, a rank's fullest moments hold different numbers of its stages.
static int draw_schedule(uint64_t *state)
{
    bool folds = random_less(state, 3) > 0;
    for (;;) {
        int kind = (int)random_less(state, SCHEDULE_KIND_COUNT);
        if (schedule_kinds[kind].virtual_stages != 1 && (!folds || schedule_kinds[kind].folds))
            return kind;
    }
}

// One group, and two ways of making room: recomputation frees bytes at moments at which a rank
// holds a stage often, states on the host free them at all moments. One alone frees more at some
// moments, the other at others, so that a change for the fullest moment may make another one as
// full.
static void draw_moments(struct priced *p, uint64_t *state, struct arena *arena)
{
    p->group_count = 1, p->gradient_option_count = 2;
    p->gradient_options[1] = (struct compression_option){.tier_option = "all"};
    p->micro_batches = p->rank_count * (1 + (int)random_less(state, 3));
    for (int r = 0; r < p->run_count; r++) {
        struct priced_run *run = &p->runs[r];
        int64_t freed = 10 + random_less(state, 30), kept = random_less(state, 20);
        run->recomputable = random_less(state, 4) > 0;
        run->stash_bytes[RECOMPUTE_NONE] = kept + freed;
        run->stash_bytes[RECOMPUTE_SELECTIVE] = kept + random_less(state, freed);
        run->stash_bytes[RECOMPUTE_FULL] = kept;
        run->optimizer_bytes = 2 * freed + random_less(state, freed);
        int64_t *away_ns = run->tiered ? run->tiered[0].away_ns : NULL;
        run->tiered = TAKE(arena, 2, struct priced_tiered);
        run->tiered_count = 2;
        run->tiered[0].optimizer_bytes = run->optimizer_bytes;
        for (int o = 0; o < 2; o++) {
            run->tiered[o].weight_bytes = run->weight_bytes;
            run->tiered[o].tier_bytes = TAKE(arena, 1, int64_t);
            run->tiered[o].away_ns = run->tiered[o].back_ns = away_ns;
            run->tiered[o].optimizer_ns = TAKE(arena, 1, int64_t);
            run->tiered[o].optimizer_ns[0] = (o + 1) * random_less(state, 30);
            run->feedback_bytes[o] = 0;
        }
    }
    p->recompute[RECOMPUTE_FULL] = true;
    p->groups[0].slots = p->rank_count;
    p->groups[0].excluded = NULL;
    p->groups[0].memory_limit_bytes = 60;
}

static void draw(struct priced *p, uint64_t seed, struct arena *arena)
{
    uint64_t state = seed;
    do {
        int kind = draw_schedule(&state);
        if (random_less(&state, 3)) random_kinds(p, kind, &state, arena);
        else random_priced_of(p, kind, &state, arena);
    } while (p->layout.virtual_stages == 1 || p->gradient_option_count == 1);
    if (random_less(&state, 4)) draw_moments(p, &state, arena);
}

// Nothing of a plan is looked at here: only that there is an end.
static bool solve_with(struct priced *p, uint64_t seed, struct arena *arena)
{
    struct error err = {OK, ""};
    struct solve_settings settings;
    struct solve_result result;
    volatile int never = 0;
    solve_defaults(&settings);
    settings.progress = 0;
    settings.time_limit_s = seed % 4 ? 0 : limit_s; // without one, only what falls brings an end
    settings.boxes_max = settings.time_limit_s > 0 ? 0 : BOXES_MOST;
    settings.threads = seed % 16 == 0;
    settings.seed = (int64_t)(seed % 5);
    settings.evidence = settings.recheck = seed % 3 == 0;
    settings.alternatives = seed % 7 == 0 && settings.time_limit_s > 0 ? 3 : 0;
    if (solve_run(&result, p, &settings, NULL, &never, arena, &err) == OK) return true;
    if (err.status == BAD_INPUT) return true;
    fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, err.text);
    return false;
}

// One problem with more and more room.
static void solve_one(uint64_t seed)
{
    struct arena arena;
    struct priced p;
    bool well = true;
    arena_open(&arena, NULL);
    draw(&p, seed, &arena);
    struct arena_mark mark = arena_set_mark(&arena);
    for (int i = 0; i < LIMITS && well; i++) {
        well = solve_with(&p, seed * LIMITS + (uint64_t)i, &arena);
        for (int g = 0; g < p.group_count; g++)
            p.groups[g].memory_limit_bytes += 1 + p.groups[g].memory_limit_bytes / 7;
        arena_reset(&arena, mark);
    }
    arena_close(&arena);
    _exit(well ? 0 : 1);
}

static double processor_s(void)
{
    struct rusage use;
    getrusage(RUSAGE_CHILDREN, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

TEST(test_all_end)
{
    rlim_t most_s = LIMITS + SUPERVISE_GRACE_S; // far more than all of them take
    double worst_s = 0;
    for (int i = 0; i < problem_count; i++) {
        uint64_t seed = first_seed + (uint64_t)i;
        double before_s = processor_s();
        int status;
        fflush(stdout);
        pid_t process = fork();
        assert_true(process >= 0);
        if (!process) {
            setrlimit(RLIMIT_CPU, &(struct rlimit){most_s, most_s});
            solve_one(seed);
        }
        assert_int_equal(waitpid(process, &status, 0), process);
        double took_s = processor_s() - before_s;
        if (took_s > worst_s) worst_s = took_s;
        if (WIFSIGNALED(status))
            fail_msg("seed %llu: ended by signal %d after %.1f s of processor time",
                     (unsigned long long)seed, WTERMSIG(status), took_s);
        if (WEXITSTATUS(status)) fail_msg("seed %llu: failed", (unsigned long long)seed);
    }
    printf("%d problems with %d limits of memory each: the longest took %.2f s of processor time\n",
           problem_count, LIMITS, worst_s);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
