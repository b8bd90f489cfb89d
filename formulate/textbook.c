// The textbook formulation, for cross-checks and as the baseline of the benchmark.
#include "formulate/textbook.h"

enum status formulate_textbook(struct formulation *f, const struct choices *c, int64_t time_upper_ns, struct arena *arena, struct error *err)
{
    (void)f, (void)c, (void)time_upper_ns, (void)arena;
    return fail(err, UNAVAILABLE, "the textbook formulation is under construction");
}

bool textbook_decode(const struct formulation *f, const double *values, int *chosen)
{
    (void)f, (void)values, (void)chosen;
    return false;
}
