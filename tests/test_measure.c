// Measurement: the rank interval against its published table and against enumeration.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "data/samples.h"

#include <cmocka.h>     // last: its macro `fail` hides data/status.h's

// n and the rank l of the published table of rank intervals; 0: no such interval exists.
static void test_rank_table(void **state)
{
    (void)state;
    static const struct { int count, rank_95; double coverage_95; int rank_99; } table[] = {
        {6, 1, 0.969, 0}, {8, 1, 0.992, 1}, {9, 2, 0.961, 1}, {12, 3, 0.961, 2}, {15, 4, 0.965, 3}, {17, 5, 0.951, 3},
        {20, 6, 0.959, 4}, {25, 8, 0.957, 6}, {30, 10, 0.957, 8}, {40, 14, 0.962, 12}, {50, 18, 0.967, 16},
        {100, 40, 0.965, 37}, {200, 86, 0.960, 82},
    };
    double sorted[200], median, low, high;
    for (int i = 0; i < 200; i++) sorted[i] = i + 1;
    for (size_t i = 0; i < ARRAY_LENGTH(table); i++) {
        int n = table[i].count;
        double reached = median_interval(sorted, n, 0.95, &median, &low, &high);
        assert_true(low == table[i].rank_95 && high == n + 1 - table[i].rank_95);
        assert_true(fabs(reached - table[i].coverage_95) < 0.00051);
        assert_true(median == (n + 1) / 2.0);
        reached = median_interval(sorted, n, 0.99, &median, &low, &high);
        if (table[i].rank_99) assert_true(reached >= 0.99 && low == table[i].rank_99 && high == n + 1 - table[i].rank_99);
        else assert_true(reached < 0.99 && low == 1 && high == n);
    }
}

// Coverage counted out: every pattern of n samples below or above the median is equally likely.
static void test_coverage_counted(void **state)
{
    (void)state;
    for (int n = 1; n <= 14; n++) {
        double sorted[14], median, low, high;
        for (int i = 0; i < n; i++) sorted[i] = i + 1;
        double reached = median_interval(sorted, n, 0.9, &median, &low, &high);
        int covered = 0;
        for (int pattern = 0; pattern < 1 << n; pattern++) {
            int below = 0;
            for (int k = 0; k < n; k++) below += pattern >> k & 1;
            covered += below >= low && below <= n - low;       // x(l) below the median, x(n + 1 - l) above
        }
        assert_true(fabs(reached - (double)covered / (1 << n)) < 1e-12);
        if (n >= 5) assert_true(reached >= 0.9);
        else assert_true(low == 1 && high == n);
        assert_true(low <= median && median <= high);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rank_table), cmocka_unit_test(test_coverage_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
