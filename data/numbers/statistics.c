// Order statistics: how certain a median is without any assumption about the distribution. With
// x(1) <= ... <= x(n) from any continuous distribution, the number of samples below the true median
// is binomial(n, 1/2); hence [x(l), x(n+1-l)] covers it with probability  sum over k = l .. n-l of
// C(n,k) / 2^n.
#include <assert.h>
#include <math.h>

#include "data/numbers/samples.h"

// Beyond this many standard deviations of n signs, the rest is too small for a double to show next
// to 1.
static const double deviations_far = 20;

double median_interval(const double *sorted, int count, double coverage, double *median,
                       double *low, double *high)
{
    assert(count >= 1 && coverage > 0 && coverage < 1);
    int middle = count / 2;
    *median = count % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    double n = count, first = floor(n / 2 - deviations_far * sqrt(n) / 2);
    if (first < 0) first = 0;
    // term: exactly k below; sum: at most k below, which is what the rank k + 1 misses at one end.
    double term = exp(lgamma(n + 1) - lgamma(first + 1) - lgamma(n - first + 1) - n * log(2)),
           sum = term;
    double reached = 1 - 2 * sum;
    int rank = (int)first + 1; // 1: the widest interval, and the answer if even that falls short
    while (2 * (rank + 1) <= count + 1) {
        term *= (n - rank + 1) / rank;
        if (1 - 2 * (sum + term) < coverage) break;
        sum += term;
        reached = 1 - 2 * sum;
        rank++;
    }
    *low = sorted[rank - 1];
    *high = sorted[count - rank];
    return reached > 0 ? reached : 0;
}

double lower_tenth(const double *sorted, int count, double coverage, double *low, double *high)
{
    assert(count >= 1 && coverage > 0 && coverage < 1);
    double n = count, share = 0.1, first = fmax(0, floor(share * n - deviations_far * sqrt(n) / 3)),
           tail = (1 - coverage) / 2;
    // term: exactly k are below the tenth; below: at most k
    double term = exp(lgamma(n + 1) - lgamma(first + 1) - lgamma(n - first + 1) +
                      first * log(share) + (n - first) * log(1 - share)),
           below = term;
    int rank_low = 1, rank_high = count;
    for (int k = (int)first; k < count; k++) {
        if (below <= tail) rank_low = k + 1;
        if (below >= 1 - tail) {
            rank_high = k + 1;
            break;
        }
        term *= (n - k) / (k + 1) * share / (1 - share);
        below += term;
    }
    *low = sorted[rank_low - 1];
    *high = sorted[rank_high - 1];
    return sorted[(count + 9) / 10 - 1];
}
