// Multipliers with fewer bits that still prove what they must: finds the coarsest power of two.
// All values derived from them are then multiples of it, and are divided by it when written.

#include "solve/certificate/vipr/internal.h"

enum { COARSEST_BITS = 36 };

static bool is_enough(struct vipr_maker *m, const struct record *r, const struct multipliers *y)
{
    const struct program *p = &m->program;
    int64_t bound_ns;
    wide exact;
    if (!bound_evaluate(&bound_ns, &exact, m->milp, m->closed, y, &m->scratch)) return false;
    if (r->kind != RECORD_REMOVED) return bound_ns >= m->target_ns;
    wide missing = ((wide)(m->target_ns - 1) << BOUND_FRACTION_BITS) - exact;
    for (int i = 0; i < p->choice_count; i++) {
        if (!(r->removed[i / 64] >> (i % 64) & 1)) continue;
        int j = p->column_of[i];
        if (!m->scratch.is_touched[j] || m->scratch.residual[j] <= missing ||
            m->scratch.residual[j] <= 0)
            return false;
    }
    return true;
}

static bool try_bits(struct vipr_maker *m, const struct record *r, const struct multipliers *y,
                     int bits, struct multipliers *to)
{
    double *values = TAKE(m->arena, y->count, double), grain = ldexp(1, bits - BOUND_FRACTION_BITS);
    for (int k = 0; k < y->count; k++)
        values[k] = grain * nearbyint(ldexp((double)y->values[k], -bits));
    bound_round(to, &m->scratch, y->rows, values, y->count, y->unit_log2, m->arena);
    return is_enough(m, r, to);
}

void vipr_shorten(struct vipr_maker *m, const struct record *r, struct multipliers *y)
{
    struct box box = {.allowed = r->allowed};
    int low = 0, high = COARSEST_BITS; // low is fine enough
    box_close_columns(&box, &m->program, m->closed);
    while (low < high) {
        struct multipliers shorter;
        int middle = (low + high + 1) / 2;
        if (try_bits(m, r, y, middle, &shorter)) low = middle;
        else high = middle - 1;
    }
    struct multipliers shorter;
    if (low && try_bits(m, r, y, low, &shorter)) *y = shorter;
}
