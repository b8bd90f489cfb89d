// Order statistics: how sure a median is when nothing is assumed about the distribution. With x(1) <= ... <= x(n) from
// any continuous distribution, the number of samples below the true median is binomial(n, 1/2); hence [x(l), x(n+1-l)]
// covers it with probability  sum over k = l .. n-l of C(n,k) / 2^n.
#include <assert.h>
#include <math.h>

#include "data/samples.h"

// Probability that at most l - 1 of n samples lie below the median, for l >= 1.
static double tail_below(int n, int l)
{
    double sum = 0;
    for (int k = 0; k < l; k++)
        sum += exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) - n * log(2.0));
    return sum;
}

double median_interval(const double *sorted, int count, double coverage, double *median, double *low, double *high)
{
    assert(count >= 1 && coverage > 0 && coverage < 1);
    int middle = count / 2;
    *median = count % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    int rank = 1;           // the widest interval, and the answer if even that falls short
    while (2 * (rank + 1) <= count + 1 && 1 - 2 * tail_below(count, rank + 1) >= coverage) rank++;
    *low = sorted[rank - 1];
    *high = sorted[count - rank];
    double reached = 1 - 2 * tail_below(count, rank);
    return reached > 0 ? reached : 0;
}
