// Products on arrays of multipliers, which keep a part of the weights while rows stream by, and the
// share of the arrays that heads of attention fill. docs/FORMULAS.md section 3, Arrays.

#include "formulate/price/pricing.h"

// Rows are split among arrays where weights alone would leave some of them without work.
static real cycles_of(const struct matrix_arrays *a, const struct product *p)
{
    static const int parts[] = {1, 2, 4};
    real blocks = p->count * pieces(p->depth, a->rows) * pieces(p->columns, a->columns),
         filling = 2 * (real)a->rows + (real)a->columns - 2, least = INFINITY;
    for (size_t k = 0; k < ARRAY_LENGTH(parts); k++)
        least = fminl(least, pieces(blocks * parts[k], a->units) * (p->rows / parts[k] + filling));
    return least;
}

// Each matrix once, or what a product needs at least with a buffer of this size.
static real traffic_of(const struct product_limits *l, const struct product *p, real output_bytes)
{
    real m = p->rows, n = p->columns, k = p->depth, e = l->operand_bytes, written = m * n,
         once = e * (m * k + k * n) + output_bytes * written;
    if (!(l->arrays->buffer_bytes > 0)) return p->count * once;
    real blocked = 2 * e * written * k / sqrtl(l->arrays->buffer_bytes / e) +
                   output_bytes * written;
    return p->count * fmaxl(once, blocked);
}

real array_product_s(const struct product_limits *l, const struct product *p, real output_bytes)
{
    real compute = cycles_of(l->arrays, p) / (l->arrays->clock_hz * l->array_share);
    if (!(l->bytes_per_s > 0)) return compute;
    return fmaxl(compute, traffic_of(l, p, output_bytes) / l->bytes_per_s);
}

// How much longer a product takes that is so deep, or so wide, than on full arrays.
static real spread(real width, real of) { return of * pieces(width, of) / width; }

real array_attention_share(const struct pricing *x, int group, bool back)
{
    const struct matrix_arrays *a = &x->gpus[group]->arrays;
    real key = x->w, value = x->ctx / x->a, deep = a->rows, wide = a->columns;
    if (!(a->units > 0) || !(key > 0 && value > 0)) return 1;
    if (!back) return (key + value) / (key * spread(key, deep) + value * spread(value, wide));
    return (3 * key + 2 * value) / (key * (spread(key, deep) + 2 * spread(key, wide)) +
                                    value * (spread(value, deep) + spread(value, wide)));
}
