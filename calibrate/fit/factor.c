// Tobit likelihood (Tobin 1958): a measured peak contributes its density, a run without one the
// probability of its side of the capacity.
#include "calibrate/fit/fit.h"

#include <math.h>

static const double root_two_pi = 2.50662827463100050242;

// For the standard normal distribution, even where it underflows.
static double log_probability_below(double x)
{
    if (x > 8) return 0; // -6e-16
    return x > -30 ? log(0.5 * erfc(-x / sqrt(2))) : -x * x / 2 - log(-x * root_two_pi);
}

struct signs {
    const struct memory_sign *items;
    int count;
};

static double log_likelihood(const struct signs *s, double log_factor, double spread)
{
    double sum = 0, factor = exp(log_factor);
    for (int i = 0; i < s->count; i++) {
        const struct memory_sign *sign = &s->items[i];
        double predicted = factor * sign->inside_bytes + sign->outside_bytes,
               x = log(predicted / sign->bytes) / spread;
        sum += sign->kind == SIGN_PEAK     ? -x * x / 2 - log(spread * root_two_pi)
               : sign->kind == SIGN_FAILED ? log_probability_below(x)
                                           : log_probability_below(-x);
    }
    return sum;
}

// The argument that maximises a function of one number: the best of a grid, then golden-section
// search around it.
typedef double profile(const struct signs *s, double at);

static double find_greatest(profile *f, const struct signs *s, double low, double high, int grid)
{
    const double section = (sqrt(5) - 1) / 2;
    double step = (high - low) / grid, best = low, best_value = f(s, low);
    for (int i = 1; i <= grid; i++) {
        double value = f(s, low + i * step);
        if (value > best_value) best = low + i * step, best_value = value;
    }
    low = fmax(low, best - step), high = fmin(high, best + step);
    double a = high - section * (high - low), b = low + section * (high - low), at_a = f(s, a),
           at_b = f(s, b);
    for (int i = 0; i < 24; i++) {
        if (at_a >= at_b) {
            high = b, b = a, at_b = at_a;
            a = high - section * (high - low), at_a = f(s, a);
        } else {
            low = a, a = b, at_a = at_b;
            b = low + section * (high - low), at_b = f(s, b);
        }
    }
    return fmax(at_a, at_b) <= best_value ? best : at_a >= at_b ? a : b;
}

struct at_factor {
    struct signs signs;
    double log_factor;
};

static double over_spread(const struct signs *s, double log_spread)
{
    const struct at_factor *x = (const struct at_factor *)s;
    return log_likelihood(s, x->log_factor, exp(log_spread));
}

static double spread_of(const struct signs *s, double log_factor)
{
    struct at_factor x = {*s, log_factor};
    return exp(find_greatest(over_spread, &x.signs, log(SPREAD_MIN), log(SPREAD_MAX), 6));
}

static double over_factor(const struct signs *s, double log_factor)
{
    return log_likelihood(s, log_factor, spread_of(s, log_factor));
}

// Where the profile has fallen to the quantile, between its maximum and an end; otherwise the end.
static double find_end(const struct signs *s, double from, double to, double level)
{
    if (over_factor(s, to) >= level) return to;
    for (int i = 0; i < 20; i++) {
        double middle = (from + to) / 2;
        if (over_factor(s, middle) >= level) from = middle;
        else to = middle;
    }
    return (from + to) / 2;
}

// Half of the quantile: chi-square's, widened as for Student's t because the spread is estimated
// from the informative runs: the peaks and those within two spreads of the capacity.
static double half_quantile(const struct signs *s, double factor, double spread)
{
    int telling = 0;
    for (int i = 0; i < s->count; i++) {
        const struct memory_sign *sign = &s->items[i];
        double predicted = factor * sign->inside_bytes + sign->outside_bytes;
        telling += sign->kind == SIGN_PEAK || fabs(log(predicted / sign->bytes)) < 2 * spread;
    }
    double t = student_quantile(0.95, telling > 3 ? telling - 2 : 1);
    return t * t / 2;
}

enum status factor_fit(struct factor_fit *fit, const struct memory_sign *signs, int count,
                       struct error *err)
{
    struct signs s = {signs, count};
    *fit = (struct factor_fit){0};
    for (int i = 0; i < count; i++) fit->counts[signs[i].kind]++;
    if (!fit->counts[SIGN_PEAK] && !(fit->counts[SIGN_FAILED] && fit->counts[SIGN_RAN]))
        return refuse(
            err,
            "--fit allocator_factor: expected measured peaks, or runs that failed and runs "
            "that did not, found %d that failed, %d that ran and no peak",
            fit->counts[SIGN_FAILED], fit->counts[SIGN_RAN]);
    double most = log(FACTOR_MAX), best = find_greatest(over_factor, &s, 0, most, 24);
    fit->factor = exp(best);
    fit->spread = spread_of(&s, best);
    double level = over_factor(&s, best) - half_quantile(&s, fit->factor, fit->spread);
    fit->low = exp(find_end(&s, best, 0, level));
    fit->high = exp(find_end(&s, best, most, level));
    return OK;
}
