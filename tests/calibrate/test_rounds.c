// What the operations of a round have in common is removed from them: planted shares of rounds, in
// several launches; what does not depend on rounds stays as it is.
#include "calibrate/fit/fit.h"
#include "data/base/random.h"
#include "data/numbers/intervals.h"
#include "tests/support/check.h"

enum { OPERATIONS = 40, ROUNDS = 8, LAUNCHES = 2 };

static double fraction(uint64_t *seed) { return random_below(seed, 1000000) / 1e6; }

// Operation k takes (1 + k) ms, 0.6 of that while the neighbours are away: in one round half of the
// time, in another less or more.
static struct samples planted(int operations, int rounds, uint64_t *seed, struct arena *arena)
{
    struct samples s = {.samples = TAKE(arena, operations, struct sample),
                        .sample_count = operations,
                        .launch_count = LAUNCHES};
    double shares[LAUNCHES * ROUNDS];
    for (int r = 0; r < LAUNCHES * rounds; r++) shares[r] = fraction(seed);
    for (int k = 0; k < operations; k++) {
        struct sample *x = &s.samples[k];
        *x = (struct sample){.kind = SAMPLE_GEMM,
                             .operation = "planted",
                             .repetitions = LAUNCHES * rounds,
                             .seconds = TAKE(arena, LAUNCHES * rounds, double),
                             .launch_repetitions = TAKE(arena, LAUNCHES, int),
                             .stopped_by = "width"};
        for (int l = 0; l < LAUNCHES; l++) x->launch_repetitions[l] = rounds;
        for (int r = 0; r < x->repetitions; r++)
            x->seconds[r] = 1e-3 * (1 + k) * (fraction(seed) < shares[r] ? 0.6 : 1) *
                            (1 + 0.04 * (fraction(seed) - 0.5));
    }
    return s;
}

// How far the operations' medians are from one common share of what they take, on average.
static double scatter(const struct samples *s, struct arena *arena)
{
    double mean = 0, sum = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < s->sample_count; k++) {
            double off = log(sample_median(&s->samples[k], arena).value / (1e-3 * (1 + k)));
            if (pass) sum += fabs(off - mean) / s->sample_count;
            else mean += off / s->sample_count;
        }
    return sum;
}

TEST(shares_of_rounds_come_off)
{
    uint64_t seed = 7;
    double before = 0, after = 0;
    for (int trial = 0; trial < 100; trial++) {
        struct samples s = planted(OPERATIONS, ROUNDS, &seed, arena);
        before += scatter(&s, arena);
        rounds_even(&s, arena);
        after += scatter(&s, arena);
        for (int k = 0; k < OPERATIONS; k++) {
            struct median m = sample_median(&s.samples[k], arena);
            assert_true(m.value == s.samples[k].even_s);
            assert_true(m.low <= m.value && m.value <= m.high);
        }
    }
    printf("scatter of medians %.4f, over rounds %.4f\n", before / 100, after / 100);
    assert_true(after < 0.7 * before);
}

TEST(what_goes_by_no_rounds_stays)
{
    uint64_t seed = 11;
    struct samples few = planted(19, ROUNDS, &seed, arena),
                   shorter = planted(OPERATIONS, 2, &seed, arena),
                   foreign = planted(OPERATIONS, ROUNDS, &seed, arena),
                   links = planted(OPERATIONS, ROUNDS, &seed, arena);
    for (int k = 0; k < OPERATIONS; k++) {
        foreign.samples[k].stopped_by = "imported";
        links.samples[k].kind = SAMPLE_LINK;
    }
    struct samples *all[] = {&few, &shorter, &foreign, &links};
    for (size_t i = 0; i < ARRAY_LENGTH(all); i++) {
        rounds_even(all[i], arena);
        for (int k = 0; k < all[i]->sample_count; k++) assert_true(all[i]->samples[k].even_s == 0);
    }
}
