// The number of repetitions below the median is a walk of fair signs. An interval misses at a look
// if the walk is below its rank there, or as far from the other end. The ranks are chosen so that
// the walk does so at any look with probability at most 5 % (0.04986, summed exactly over all paths
// by tests/data/test_intervals.c). Hence the interval at the look where somebody stopped, for
// whatever reason, covers with 95 % or more. How this probability is divided over the looks: 8 and
// 11 get the interval of a fixed number, since heavy tails punish a wider interval most there;
// after them, it is divided about as log(n)^0.85.
//
// Between looks: a walk that is below rank r at n is below it at every earlier look, too, and stays
// below r + (m - n) up to the look m. So the maximum of the last look's rank and of the next look's
// rank minus m - n misses only where a look misses.
//
// Equal values only make misses rarer: at least half of the distribution is at or below the median,
// and at least half at or above.
#include "data/numbers/intervals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct look looks[LOOK_COUNT] = {
    {8, 1},     {11, 2},     {16, 3},     {24, 6},      {36, 10},   {54, 17},
    {81, 29},   {122, 46},   {183, 72},   {275, 114},   {413, 178}, {620, 274},
    {930, 421}, {1395, 644}, {2093, 980}, {3140, 1489},
};

static const double coverage = 0.95, normal_95 = 1.959963984540054, normal_99 = 2.575829303548901;

int look_after(int count)
{
    for (int i = 0; i < LOOK_COUNT; i++)
        if (looks[i].count > count) return looks[i].count;
    return 0;
}

bool look_is_at(int count)
{
    for (int i = 0; i < LOOK_COUNT; i++)
        if (looks[i].count == count) return true;
    return false;
}

int look_rank(int count)
{
    int rank = 0;
    for (int i = 0; i < LOOK_COUNT; i++) {
        if (looks[i].count <= count) rank = looks[i].rank;
        else if (rank && looks[i].rank - (looks[i].count - count) > rank)
            return looks[i].rank - (looks[i].count - count);
        if (looks[i].count > count) break;
    }
    return rank;
}

int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median_of(double *values, int count)
{
    if (!count) return 0;
    qsort(values, (size_t)count, sizeof *values, compare_numbers);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static bool stopped_by_looking(const struct sample *s)
{
    return !s->stopped_by || (strcmp(s->stopped_by, "count") && strcmp(s->stopped_by, "imported"));
}

// With fewer repetitions no one of them is below the tenth with 99.5 %: 0.9^51 < 0.005.
enum { TENTH_COUNT_MIN = 51 };
static const double coarse = 0.1;

// The lower tenth, with an interval as wide as that of a fixed number at 99 %, since the data may
// have decided when to stop; what others used of the machine lengthens times, never shortens them.
static struct median tenth_of_launch(const double *seconds, int count, struct arena *arena)
{
    struct median m = {.launches = 1, .coverage = coverage};
    struct arena_mark mark = arena_set_mark(arena);
    double *sorted = TAKE_COPY(arena, seconds, count);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_numbers);
    m.value = lower_tenth(sorted, count, 0.99, &m.low, &m.high);
    m.deviation = (m.high - m.low) / (2 * normal_99);
    arena_reset(arena, mark);
    return m;
}

// For one launch. With too few repetitions: their whole range, and what that covers at a fixed
// number.
static struct median median_of_launch(const double *seconds, int count, bool looked,
                                      struct arena *arena)
{
    struct median m = {.launches = 1};
    struct arena_mark mark = arena_set_mark(arena);
    double *sorted = TAKE_COPY(arena, seconds, count);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_numbers);
    m.coverage =
        fmin(coverage, median_interval(sorted, count, coverage, &m.value, &m.low, &m.high));
    int rank = looked ? look_rank(count) : 0;
    if (rank) m.low = sorted[rank - 1], m.high = sorted[count - rank];
    else if (looked) m.low = sorted[0], m.high = sorted[count - 1];
    m.deviation = (m.high - m.low) / (2 * normal_95);
    arena_reset(arena, mark);
    return m;
}

int sample_launches(const struct sample *s)
{
    int count = 0;
    for (int sum = 0; s->launch_repetitions && sum < s->repetitions; count++)
        sum += s->launch_repetitions[count];
    return count ? count : 1;
}

// k medians, each including the effect of its launch: their mean, with Student's interval of k - 1
// degrees of freedom, which holds whether launches differ or not. It is never narrower than what
// the launches' own intervals leave open, so that two launches that agree by chance do not claim
// more than they know.
static struct median median_over_launches(const struct median *launches, int count)
{
    struct median m = {.coverage = coverage, .launches = count};
    double below = 0, above = 0, own = 0, squares = 0;
    for (int i = 0; i < count; i++) {
        const struct median *l = &launches[i];
        m.value += l->value / count;
        below += (l->value - l->low) * (l->value - l->low);
        above += (l->high - l->value) * (l->high - l->value);
        own += l->deviation * l->deviation;
        m.coverage = fmin(m.coverage, l->coverage);
    }
    for (int i = 0; i < count; i++)
        squares += (launches[i].value - m.value) * (launches[i].value - m.value);
    double scatter = sqrt(squares / (count - 1) / count),
           half = student_quantile(coverage, count - 1) * scatter;
    m.low = fmax(0, m.value - fmax(half, sqrt(below) / count));
    m.high = m.value + fmax(half, sqrt(above) / count);
    m.deviation = fmax(scatter, sqrt(own) / count);
    return m;
}

static struct median of_launch(const struct sample *s, int first, int count, struct arena *arena)
{
    return s->shared ? tenth_of_launch(s->seconds + first, count, arena)
                     : median_of_launch(s->seconds + first, count, stopped_by_looking(s), arena);
}

static struct median plain_median(const struct sample *s, struct arena *arena)
{
    int all = sample_launches(s), count = 0;
    if (!s->launch_repetitions) return of_launch(s, 0, s->repetitions, arena);
    struct arena_mark mark = arena_set_mark(arena);
    struct median *launches = TAKE(arena, all, struct median);
    for (int i = 0, first = 0; i < all; first += s->launch_repetitions[i++])
        if (s->launch_repetitions[i])
            launches[count++] = of_launch(s, first, s->launch_repetitions[i], arena);
    struct median m = count == 1 ? launches[0] : median_over_launches(launches, count);
    arena_reset(arena, mark);
    return m;
}

struct median sample_median(const struct sample *s, struct arena *arena)
{
    struct median m = plain_median(s, arena);
    if (!(s->even_s > 0)) return m;
    m.value = s->even_s;
    m.low = fmin(m.low, m.value), m.high = fmax(m.high, m.value);
    return m;
}

bool sample_is_narrow(const struct sample *s, double width, struct arena *arena)
{
    // Whole layers are what plans rest on; for the rest, and a quick look, budgets would not do.
    bool by_tenth = s->shared && s->kind == SAMPLE_LAYER && width < coarse;
    int n = s->repetitions;
    if (!look_is_at(n) || (by_tenth && n < TENTH_COUNT_MIN)) return false;
    struct median m = by_tenth ? tenth_of_launch(s->seconds, n, arena)
                               : median_of_launch(s->seconds, n, true, arena);
    return m.high - m.low <= width * m.value;
}
