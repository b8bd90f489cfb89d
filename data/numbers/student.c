// Quantiles of Student's t, for intervals from few points. The distribution function for whole
// degrees of freedom is a finite sum (Abramowitz and Stegun 26.7.3 and 26.7.4); the quantile is
// found by bisection.
#include <assert.h>
#include <math.h>

#include "data/numbers/intervals.h"

// Probability that |t| <= x.
static double probability_within(double x, int freedom)
{
    double angle = atan(x / sqrt(freedom)), cosine = cos(angle), sum = 0, term;
    if (freedom % 2) {
        term = cosine;
        for (int k = 1; k <= freedom - 2; k += 2) {
            sum += term;
            term *= cosine * cosine * (k + 1) / (k + 2);
        }
        return (angle + sin(angle) * sum) * 2 / acos(-1.0);
    }
    term = 1;
    for (int k = 0; k <= freedom - 2; k += 2) {
        sum += term;
        term *= cosine * cosine * (k + 1) / (k + 2);
    }
    return sin(angle) * sum;
}

double student_quantile(double coverage, int freedom)
{
    assert(coverage > 0 && coverage < 1 && freedom >= 1);
    double low = 0, high = 1;
    while (probability_within(high, freedom) < coverage) high *= 2;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (probability_within(middle, freedom) < coverage) low = middle;
        else high = middle;
    }
    return (low + high) / 2;
}
