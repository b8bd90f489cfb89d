// Operands, teams and comparisons of the tests of the CPU's kernels.
#pragma once

#include "measure/cpu/internal.h"
#include "tests/support/check.h"

static const int thread_counts[] = {1, 2, 3};

static inline float *random_floats(int64_t count, uint64_t seed, struct arena *arena)
{
    float *values = TAKE(arena, count + 1, float);
    for (int64_t i = 0; i < count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        values[i] = (float)(int32_t)(seed >> 32) * 0x1p-31f;
    }
    return values;
}

static inline struct team *open_team(int threads, struct arena *arena)
{
    struct team *team;
    struct error err = {OK, ""};
    assert_int_equal(team_open(&team, threads, arena, &err), OK);
    return team;
}

static inline void assert_close(double got, double want, double tolerance, const char *what,
                                int64_t i)
{
    if (!(fabs(got - want) <= tolerance * (1 + fabs(want))))
        fail_msg("%s[%lld]: got %.9g, want %.9g", what, (long long)i, got, want);
}

static inline void copy_floats(float *to, const float *from, int64_t count)
{
    memcpy(to, from, (size_t)count * sizeof *to);
}
