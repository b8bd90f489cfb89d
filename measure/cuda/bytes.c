// Linear layers in 8 bits: their scales, casts and products. Both operands of a product must have
// the summed axis innermost, so matrices are given transposed as needed.
#include "measure/cuda/steps.h"

#include <assert.h>

enum { RUN = 128, MX = 32 };

static int64_t up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

int64_t bytes_multiple(enum recipe recipe)
{
    return recipe == RECIPE_BLOCK || recipe == RECIPE_MX ? RUN : 16;
}

struct gemm gemm_of_linear_bytes(enum product product, int64_t tokens, int64_t outputs,
                                 int64_t inputs, enum element out, enum recipe recipe)
{
    static const enum scaling of_recipe[RECIPE_COUNT] = {SCALING_NONE, SCALING_ONE, SCALING_RUNS,
                                                         SCALING_MX};
    struct gemm g = gemm_of_linear(product, tokens, outputs, inputs, out);
    g.a_type = ELEMENT_E4M3;
    g.b_type = product == PRODUCT_FORWARD ? ELEMENT_E4M3 : ELEMENT_E5M2;
    g.a_scaling = g.b_scaling = of_recipe[recipe];
    if (recipe == RECIPE_BLOCK && product != PRODUCT_WEIGHT) g.a_scaling = SCALING_BLOCKS;
    g.fast_sums = product == PRODUCT_FORWARD && (recipe == RECIPE_NONE || recipe == RECIPE_TENSOR);
    g.transpose_a = true, g.transpose_b = false;
    g.lda = g.ldb = g.k; // A [m][k], B [n][k] by our rows
    return g;
}

// The layouts of cuBLASLt's documentation on narrow data types.
static int64_t scales_bytes(enum scaling scaling, int64_t rows, int64_t depth)
{
    const int64_t size = (int64_t)sizeof(float);
    switch (scaling) {
    case SCALING_NONE: return 0;
    case SCALING_ONE: return size;
    case SCALING_RUNS: return up(depth, RUN) / RUN * up(rows, 4) * size;
    case SCALING_BLOCKS: return up(rows, RUN) / RUN * up(up(depth, RUN) / RUN, 4) * size;
    case SCALING_MX: return up(rows, RUN) * up(up(depth, MX) / MX, 4);
    }
    assert(!"an unknown kind of scales");
    return 0;
}

struct place program_scales(struct program *p, enum scaling scaling, int64_t rows, int64_t depth)
{
    if (scaling == SCALING_NONE) return place_none();
    return program_area(p, scaling == SCALING_MX ? AREA_EXPONENTS : AREA_POSITIVE,
                        scales_bytes(scaling, rows, depth));
}

// With one scale for the matrix it is that of the time before, and the largest magnitude is found
// for the next.
static struct casted cast_by_one(struct program *p, struct place x, int64_t rows, int64_t columns,
                                 bool e5m2)
{
    struct casted c = {program_area(p, AREA_SCRATCH, rows * columns),
                       program_area(p, AREA_SCRATCH, rows * columns), place_none(), place_none()};
    struct place largest = place_none();
    if (p->recipe == RECIPE_TENSOR) {
        largest = program_area(p, AREA_SCRATCH, (int64_t)sizeof(float));
        program_clear(p, largest, (int64_t)sizeof(float));
        c.scales = c.scales_transposed = program_scales(p, SCALING_ONE, rows, columns);
    }
    struct step *s = program_kernel(p, KERNEL_CAST_TRANSPOSED, rows, columns);
    s->size[2] = e5m2;
    s->in[0] = x, s->out[0] = c.bytes, s->out[1] = c.transposed, s->out[2] = largest;
    if (p->recipe == RECIPE_TENSOR) {
        struct place scale = program_scales(p, SCALING_ONE, rows, columns);
        p->steps[p->step_count - 1].in[1] = scale;
    }
    return c;
}

struct casted steps_cast(struct program *p, struct place x, int64_t rows, int64_t columns,
                         bool e5m2)
{
    if (p->recipe == RECIPE_NONE || p->recipe == RECIPE_TENSOR)
        return cast_by_one(p, x, rows, columns, e5m2);
    enum scaling scaling = p->recipe == RECIPE_MX ? SCALING_MX : SCALING_RUNS;
    assert(p->type == ELEMENT_BFLOAT);
    struct casted c = {program_area(p, AREA_SCRATCH, rows * columns),
                       program_area(p, AREA_SCRATCH, rows * columns),
                       program_area(p, AREA_SCRATCH, scales_bytes(scaling, rows, columns)),
                       program_area(p, AREA_SCRATCH, scales_bytes(scaling, columns, rows))};
    struct step *s = program_kernel(p, KERNEL_CAST_RUNS, rows, columns);
    s->size[2] = e5m2, s->size[3] = scaling == SCALING_MX ? MX : RUN;
    s->in[0] = x;
    s->out[0] = c.bytes, s->out[1] = c.transposed, s->out[2] = c.scales;
    s->out[3] = c.scales_transposed;
    return c;
}

struct linear steps_linear_open(struct program *p, int64_t tokens, int64_t outputs, int64_t inputs,
                                bool bias)
{
    const int64_t multiple = bytes_multiple(p->recipe);
    const struct casted none = {place_none(), place_none(), place_none(), place_none()};
    struct linear l = {.tokens = tokens,
                       .outputs = outputs,
                       .inputs = inputs,
                       .weights = place_none(),
                       .bias = place_none(),
                       .weight_bytes = none,
                       .x = place_none(),
                       .x_bytes = none,
                       .gradient = place_none()};
    l.bytes = p->precision == FP8 && tokens % multiple == 0 && outputs % multiple == 0 &&
              inputs % multiple == 0;
    if (l.bytes) { // cast once for many micro-batches, so not part of this layer's time
        enum scaling s =
            gemm_of_linear_bytes(PRODUCT_FORWARD, 1, 1, 1, p->type, p->recipe).a_scaling;
        l.weight_bytes.bytes = program_area(p, AREA_BYTES, outputs * inputs);
        l.weight_bytes.transposed = program_area(p, AREA_BYTES, outputs * inputs);
        l.weight_bytes.scales = program_scales(p, s, outputs, inputs);
        l.weight_bytes.scales_transposed = program_scales(p, s, inputs, outputs);
    } else {
        l.weights = program_values(p, AREA_WEIGHTS, outputs * inputs);
    }
    if (bias) l.bias = program_values(p, AREA_WEIGHTS, outputs);
    if (p->fp32_gradients) {
        int64_t bytes = outputs * inputs * (int64_t)sizeof(float);
        l.gradient = program_area(p, AREA_SCRATCH, bytes);
        program_clear(p, l.gradient, bytes);
    }
    return l;
}
