// Intervals of medians when the data decide when to stop: the ranks at the looks against an exact
// sum over all paths of signs, that sum against an enumeration of all paths, stopping between
// looks, small counts, equal values, launches.
#include "data/numbers/intervals.h"
#include "tests/support/check.h"

typedef int rank_function(int count);

static int rank_of_look(int count) { return look_is_at(count) ? look_rank(count) : 0; }

// The rank that a fixed number of repetitions gets.
static int rank_fixed(int count)
{
    double sum = 0, term = exp2(-count);
    int rank = 0;
    if (count > 1000) return 0;
    for (; 2 * (sum + term) <= 0.05; rank++) {
        sum += term;
        term *= (double)(count - rank) / (rank + 1);
    }
    return rank;
}
static int rank_fixed_at_looks(int count) { return look_is_at(count) ? rank_fixed(count) : 0; }

// Probability that a walk of `last` fair signs has, at any count with a rank above 0, fewer than
// rank of one kind.
static double miss_probability(rank_function *rank, int last)
{
    double *p = calloc((size_t)last + 2, sizeof *p), missed = 0;
    assert_non_null(p);
    p[0] = 1; // p[k]: k below the median, never missed
    for (int n = 1; n <= last; n++) {
        for (int k = n; k >= 0; k--) p[k] = (p[k] + (k ? p[k - 1] : 0)) / 2;
        int r = rank(n);
        for (int k = 0; k <= n; k++)
            if (r && (k < r || n - k < r)) missed += p[k], p[k] = 0;
    }
    free(p);
    return missed;
}

TEST(test_looks_spend_five_percent)
{
    double spent = miss_probability(rank_of_look, LOOK_LAST);
    print_message("all %d looks miss with probability %.6f; intervals of a fixed number at the "
                  "first 13 of them with %.4f\n",
                  LOOK_COUNT, spent, miss_probability(rank_fixed_at_looks, 930));
    assert_true(spent <= 0.05 && spent > 0.0495); // nothing over, and hardly anything left lying
    assert_true(miss_probability(rank_fixed_at_looks, 930) >
                0.1); // what the looks cost those who do not count them
    // Stopping anywhere between the looks misses where a look misses, or nowhere.
    assert_true(fabs(miss_probability(look_rank, LOOK_LAST) - spent) < 1e-12);
    for (int n = 1; n < LOOK_LAST; n++)
        assert_true(look_rank(n) <= look_rank(n + 1) && 2 * look_rank(n) <= n);
    for (int i = 0; i < LOOK_COUNT; i++) {
        assert_int_equal(look_after(i ? looks[i - 1].count : 0), looks[i].count);
        assert_int_equal(look_rank(looks[i].count), looks[i].rank);
        // No wider in ranks than 1.5 times a fixed number's.
        int n = looks[i].count, fixed = n <= 1000 ? rank_fixed(n) : (int)((n - 1.96 * sqrt(n)) / 2);
        assert_true(n + 1 - 2 * looks[i].rank <= 1.5 * (n + 1 - 2 * fixed));
    }
    assert_int_equal(looks[0].count, LOOK_FIRST);
    assert_int_equal(looks[LOOK_COUNT - 1].count, LOOK_LAST);
    assert_int_equal(look_after(LOOK_LAST), 0);
    assert_int_equal(look_rank(LOOK_FIRST - 1), 0);
}

// The sum over paths, counted out: all 2^n of them.
TEST(test_every_path)
{
    static rank_function *const ranks[] = {rank_of_look, look_rank, rank_fixed,
                                           rank_fixed_at_looks};
    enum { LONGEST = 20 };
    for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++)
        for (int last = 1; last <= LONGEST; last += r ? 6 : 1) {
            long missed = 0;
            int at[LONGEST + 1];
            for (int n = 1; n <= last; n++) at[n] = ranks[r](n);
            for (long path = 0; path < 1L << last; path++) {
                int below = 0;
                for (int n = 1; n <= last; n++) {
                    below += (int)(path >> (n - 1) & 1);
                    if (!at[n] || (below >= at[n] && n - below >= at[n])) continue;
                    missed++;
                    break;
                }
            }
            assert_true(miss_probability(ranks[r], last) == (double)missed / (double)(1L << last));
        }
}

// The interval of a fixed number, summed term by term elsewhere; of very many, where the normal
// distribution puts it.
TEST(test_fixed_numbers)
{
    enum { MOST = 200000 };
    double *sorted = TAKE(arena, MOST, double), median, low, high;
    for (int i = 0; i < MOST; i++) sorted[i] = i + 1;
    for (int n = 6; n <= 1000; n++) {
        assert_true(median_interval(sorted, n, 0.95, &median, &low, &high) >= 0.95);
        assert_true(low == rank_fixed(n) && high == n + 1 - low);
    }
    for (int n = 1001; n <= MOST; n = n * 5 / 3) {
        double reached = median_interval(sorted, n, 0.95, &median, &low, &high);
        assert_true(reached >= 0.95 && reached < 0.95 + 0.3 / sqrt(n));
        assert_true(fabs(low - (n - 1.959964 * sqrt(n)) / 2) < 1.5 && high == n + 1 - low);
    }
}

// How many of n are below the tenth: a walk whose steps are 1 with probability 0.1. The interval's
// ends miss no more often than they may, and would if they were one rank closer.
TEST(test_lower_tenth)
{
    enum { MOST = 400 };
    double *sorted = TAKE(arena, MOST, double), *p = TAKE(arena, MOST + 2, double), low, high;
    for (int i = 0; i < MOST; i++) sorted[i] = i + 1;
    p[0] = 1;
    for (int n = 1; n <= MOST; n++) {
        double too_low = 0, too_high = 0;
        for (int k = n; k >= 0; k--) p[k] = 0.9 * p[k] + (k ? 0.1 * p[k - 1] : 0);
        double value = lower_tenth(sorted, n, 0.95, &low, &high);
        assert_true(10 * value >= n && 10 * (value - 1) < n && low <= value && value <= high);
        int l = (int)low, h = (int)high;
        for (int k = 0; k < l; k++) too_low += p[k];   // the tenth is below x(l)
        for (int k = h; k <= n; k++) too_high += p[k]; // or above x(h)
        assert_true(l == 1 || too_low <= 0.025 + 1e-12);
        assert_true(too_low + p[l] > 0.025 - 1e-12);
        assert_true(h == n || too_high <= 0.025 + 1e-12);
        assert_true(too_high + p[h - 1] > 0.025 - 1e-12);
    }
}

// Others lengthen 7 of 10 repetitions by a fifth or more: the median follows them, the lower tenth
// stays where it was.
TEST(test_shared_machines)
{
    enum { EACH = 60 };
    double seconds[EACH], quiet = 0;
    for (int share = 0; share <= 2; share++) {
        for (int i = 0; i < EACH; i++)
            seconds[i] = (1 + 0.0001 * (i * 7 % EACH)) * (i % 10 < 3 ? 1 : 1 + 0.2 * share);
        struct sample s = {.seconds = seconds, .repetitions = EACH, .stopped_by = "count"};
        double median = sample_median(&s, arena).value;
        s.shared = true;
        struct median lower = sample_median(&s, arena);
        assert_true(lower.low <= lower.value && lower.value <= lower.high);
        if (!share) quiet = lower.value;
        assert_true(fabs(lower.value / quiet - 1) < 0.005);
        assert_true(!share || median > 1.1 * quiet);
    }
}

static struct sample numbers(int count, const char *stopped_by, double *seconds)
{
    for (int i = 0; i < count; i++)
        seconds[i] = (i * 7 + 3) % count + 1; // 1 .. count in some order: 7 must not divide it
    return (struct sample){.seconds = seconds, .repetitions = count, .stopped_by = stopped_by};
}

TEST(test_which_interval)
{
    double seconds[128];
    static const struct {
        int count;
        const char *stopped_by;
        int low;
        double coverage;
    } table[] = {
        {24, "width", 6, 0.95},  {24, "budget", 6, 0.95},   {24, "interrupted", 6, 0.95},
        {24, "count", 7, 0.95},  {24, "imported", 7, 0.95}, {23, "budget", 5, 0.95},
        {17, "budget", 3, 0.95}, {9, "budget", 1, 0.95},    {9, "count", 2, 0.95},
        {6, "count", 1, 0.95},   {6, "budget", 1, 0.95},    {5, "count", 1, 1 - 2. / 32},
        {1, "count", 1, 0},      {122, "width", 46, 0.95},  {122, "count", 50, 0.95},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int n = table[i].count;
        struct sample s = numbers(n, table[i].stopped_by, seconds);
        struct median m = sample_median(&s, arena);
        if (m.low != table[i].low || m.high != n + 1 - table[i].low || m.value != (n + 1) / 2.0 ||
            m.launches != 1)
            fail_msg("%d by %s: %g in %g .. %g", n, s.stopped_by, m.value, m.low, m.high);
        assert_true(fabs(m.coverage - table[i].coverage) < 1e-12);
        assert_true(fabs(m.deviation - (m.high - m.low) / 2 / 1.959963984540054) < 1e-12);
    }
}

TEST(test_stopping_at_looks)
{
    double seconds[64];
    for (int n = 1; n <= 64; n++) {
        struct sample s = numbers(n % 7 ? n : n - 1, NULL, seconds);
        for (int i = 0; i < s.repetitions; i++) seconds[i] = 1 + 1e-3 * seconds[i];
        bool narrow = sample_is_narrow(&s, 0.1, arena);
        assert_int_equal(narrow, look_is_at(s.repetitions)); // only there, however narrow
        if (look_is_at(s.repetitions)) assert_false(sample_is_narrow(&s, 1e-4, arena));
    }
    for (int i = 0; i < 8; i++)
        seconds[i] = 0; // no width, no median: nothing is gained by going on
    struct sample zero = {.seconds = seconds, .repetitions = 8};
    assert_true(sample_is_narrow(&zero, 0.1, arena));
    // Of a layer on a shared machine the lower tenth counts, of which 36 repetitions tell nothing:
    // with 54 the slow rest does not matter.
    for (int n = 36; n <= 54; n += 18) {
        struct sample shared = {
            .kind = SAMPLE_LAYER, .seconds = seconds, .repetitions = n, .shared = true};
        for (int i = 0; i < n; i++) seconds[i] = i % 3 ? 1 + 0.1 * i : 1 + 1e-4 * i;
        assert_int_equal(sample_is_narrow(&shared, 0.01, arena), n == 54);
    }
}

// Two and three launches by hand; t(0.975) with 1 and 2 degrees of freedom is 12.706 and 4.303.
TEST(test_launches_by_hand)
{
    double seconds[24];
    int repetitions[3] = {8, 0, 8};
    for (int i = 0; i < 8; i++) {
        seconds[i] = 100 + (i % 2 ? 0.5 : -0.5);
        seconds[8 + i] = 102 + (i % 2 ? 0.5 : -0.5);
        seconds[16 + i] = 104 + (i % 2 ? 0.5 : -0.5);
    }
    struct sample s = {.seconds = seconds,
                       .repetitions = 16,
                       .stopped_by = "width",
                       .launch_repetitions = repetitions};
    struct median m = sample_median(&s, arena);
    assert_int_equal(sample_launches(&s), 3);
    assert_int_equal(m.launches, 2);
    assert_true(m.value == 101);
    assert_true(fabs(m.high - m.value - 12.7062 * 1) < 1e-4 &&
                fabs(m.value - m.low - 12.7062 * 1) < 1e-4);
    assert_true(fabs(m.deviation - 1) < 1e-12);

    repetitions[1] = 8, s.repetitions = 24;
    m = sample_median(&s, arena);
    assert_true(m.value == 102 && m.launches == 3);
    assert_true(fabs(m.high - m.value - 4.30265 * 2 / sqrt(3)) < 1e-4);

    // Two that agree by chance keep what their own intervals leave open: 0.5 each, so 0.5 /
    // sqrt(2).
    for (int i = 8; i < 16; i++) seconds[i] -= 2;
    repetitions[1] = 0, s.repetitions = 16;
    m = sample_median(&s, arena);
    assert_true(m.value == 100 && fabs(m.high - 100 - 0.5 / sqrt(2)) < 1e-12 &&
                fabs(100 - m.low - 0.5 / sqrt(2)) < 1e-12);

    // One launch with repetitions is one launch; never below 0.
    repetitions[2] = 0, s.repetitions = 8;
    m = sample_median(&s, arena);
    assert_true(m.launches == 1 && m.low == 99.5 && m.high == 100.5);
    for (int i = 8; i < 16; i++) seconds[i] = 1;
    repetitions[1] = 8, s.repetitions = 16;
    m = sample_median(&s, arena);
    assert_true(m.low == 0 && m.coverage == 0.95);
}
