// Areas, steps, and linear layers as matrix products. cuBLAS stores matrices by columns: our
// [rows][columns] is its columns x rows with leading dimension columns. So y = x w^T becomes y^T =
// w x^T with w transposed ("TN"), the input's gradient w^T dy^T is "NN" and the weights' x^T dy
// "NT".
#include "measure/cuda/steps.h"

#include "data/base/grow.h"

#include <assert.h>

int64_t element_bytes(enum element type)
{
    return type == ELEMENT_FLOAT ? 4 : type <= ELEMENT_BFLOAT ? 2 : 1;
}

enum element element_of(enum precision precision)
{
    return precision == FP32 ? ELEMENT_FLOAT : precision == FP16 ? ELEMENT_HALF : ELEMENT_BFLOAT;
}

void program_open(struct program *p, enum precision precision, bool fused, struct arena *arena)
{
    *p = (struct program){.precision = precision,
                          .type = element_of(precision),
                          .fused = fused,
                          .arena = arena,
                          .tokens_bound = 1};
}

struct place program_area(struct program *p, enum area_kind kind, int64_t bytes)
{
    assert(bytes >= 0);
    GROW(p->arena, p->areas, p->area_count, p->area_capacity, 32);
    p->areas[p->area_count] = (struct area){kind, bytes, p->bytes[kind]};
    p->bytes[kind] += (bytes + AREA_ALIGNMENT - 1) / AREA_ALIGNMENT * AREA_ALIGNMENT;
    return (struct place){p->area_count++, 0};
}

struct place program_values(struct program *p, enum area_kind kind, int64_t values)
{
    return program_area(p, kind, values * element_bytes(p->type));
}

struct step *program_add(struct program *p, enum step_kind kind)
{
    struct step *s = GROWN(p->arena, p->steps, p->step_count, p->step_capacity, 32);
    *s = (struct step){.kind = kind, .type = p->type};
    for (size_t i = 0; i < sizeof s->in / sizeof *s->in; i++) s->in[i] = place_none();
    for (size_t i = 0; i < sizeof s->out / sizeof *s->out; i++) s->out[i] = place_none();
    return s;
}

struct step *program_kernel(struct program *p, enum kernel kernel, int64_t size0, int64_t size1)
{
    struct step *s = program_add(p, STEP_KERNEL);
    s->kernel = kernel;
    s->size[0] = size0;
    s->size[1] = size1;
    return s;
}

void program_clear(struct program *p, struct place at, int64_t bytes)
{
    struct step *s = program_add(p, STEP_CLEAR);
    s->out[0] = at;
    s->size[0] = bytes;
}

// The largest power of two up to AREA_ALIGNMENT that divides the position and, in a batch, its
// stride.
static int alignment_of(struct place at, int64_t batch, int64_t stride, enum element type)
{
    int64_t all = AREA_ALIGNMENT | at.offset | (batch > 1 ? stride * element_bytes(type) : 0);
    return (int)(all & -all);
}

struct step *program_gemm(struct program *p, const struct gemm *gemm, struct place a,
                          struct place b, struct place d, struct place bias)
{
    struct step *s = program_add(p, STEP_GEMM);
    s->gemm = *gemm;
    s->in[0] = a, s->in[1] = b, s->in[2] = bias, s->out[0] = d;
    s->gemm.bias = bias.area != NO_AREA;
    s->gemm.alignment_a = alignment_of(a, gemm->batch, gemm->stride_a, gemm->a_type);
    s->gemm.alignment_b = alignment_of(b, gemm->batch, gemm->stride_b, gemm->b_type);
    s->gemm.alignment_d = alignment_of(d, gemm->batch, gemm->stride_d, gemm->d_type);
    return s;
}

bool gemm_same(const struct gemm *x, const struct gemm *y)
{
    return x->a_type == y->a_type && x->b_type == y->b_type && x->d_type == y->d_type &&
           x->transpose_a == y->transpose_a && x->transpose_b == y->transpose_b &&
           x->bias == y->bias && x->accumulate == y->accumulate && x->fast_sums == y->fast_sums &&
           x->a_scaling == y->a_scaling && x->b_scaling == y->b_scaling && x->m == y->m &&
           x->n == y->n && x->k == y->k && x->lda == y->lda && x->ldb == y->ldb &&
           x->ldd == y->ldd && x->batch == y->batch && x->stride_a == y->stride_a &&
           x->stride_b == y->stride_b && x->stride_d == y->stride_d &&
           x->alignment_a == y->alignment_a && x->alignment_b == y->alignment_b &&
           x->alignment_d == y->alignment_d;
}

struct gemm gemm_of_linear(enum product product, int64_t tokens, int64_t outputs, int64_t inputs,
                           enum element type)
{
    struct gemm g = {.a_type = type, .b_type = type, .d_type = type, .batch = 1};
    switch (product) {
    case PRODUCT_FORWARD: // A: weights, B: x
        g.transpose_a = true;
        g.m = outputs, g.n = tokens, g.k = inputs;
        g.lda = inputs, g.ldb = inputs, g.ldd = outputs;
        break;
    case PRODUCT_INPUT: // A: weights, B: dy
        g.m = inputs, g.n = tokens, g.k = outputs;
        g.lda = inputs, g.ldb = outputs, g.ldd = inputs;
        break;
    case PRODUCT_WEIGHT: // A: x, B: dy
        g.transpose_b = true;
        g.m = inputs, g.n = outputs, g.k = tokens;
        g.lda = inputs, g.ldb = outputs, g.ldd = inputs;
        break;
    }
    return g;
}

void steps_linear(struct program *p, struct linear *l, struct place x, struct place y)
{
    l->x = x;
    if (l->bytes) {
        l->x_bytes = steps_cast(p, x, l->tokens, l->inputs, false);
        struct gemm g = gemm_of_linear_bytes(PRODUCT_FORWARD, l->tokens, l->outputs, l->inputs,
                                             p->type, p->recipe);
        struct step *s = program_gemm(p, &g, l->weight_bytes.bytes, l->x_bytes.bytes, y, l->bias);
        s->in[3] = l->weight_bytes.scales, s->in[4] = l->x_bytes.scales;
        return;
    }
    struct gemm g = gemm_of_linear(PRODUCT_FORWARD, l->tokens, l->outputs, l->inputs, p->type);
    program_gemm(p, &g, l->weights, x, y, l->bias);
}

void steps_linear_backward(struct program *p, const struct linear *l, struct place dy,
                           struct place dx)
{
    struct place none = place_none(), gradient = l->gradient;
    struct casted w = {l->weights, l->weights, none, none}, x = {l->x, l->x, none, none},
                  g = {dy, dy, none, none};
    struct gemm input = gemm_of_linear(PRODUCT_INPUT, l->tokens, l->outputs, l->inputs, p->type);
    struct gemm weight = gemm_of_linear(PRODUCT_WEIGHT, l->tokens, l->outputs, l->inputs, p->type);
    if (l->bytes) {
        w = l->weight_bytes, x = l->x_bytes;
        g = steps_cast(p, dy, l->tokens, l->outputs, true);
        input = gemm_of_linear_bytes(PRODUCT_INPUT, l->tokens, l->outputs, l->inputs, p->type,
                                     p->recipe);
        weight = gemm_of_linear_bytes(PRODUCT_WEIGHT, l->tokens, l->outputs, l->inputs, p->type,
                                      p->recipe);
    }
    if (dx.area != NO_AREA) {
        struct step *s = program_gemm(p, &input, w.transposed, g.bytes, dx, none);
        s->in[3] = w.scales_transposed, s->in[4] = g.scales;
    }
    if (gradient.area == NO_AREA) {
        gradient = program_values(p, AREA_SCRATCH, l->outputs * l->inputs);
    } else {
        weight.d_type = ELEMENT_FLOAT;
        weight.accumulate = true;
    }
    struct step *of_weight = program_gemm(p, &weight, x.transposed, g.transposed, gradient, none);
    of_weight->in[3] = x.scales_transposed, of_weight->in[4] = g.scales_transposed;
    if (l->bias.area == NO_AREA) return;
    struct place sum = program_area(p, AREA_SCRATCH, l->outputs * (int64_t)sizeof(float));
    program_clear(p, sum, l->outputs * (int64_t)sizeof(float));
    struct step *s = program_kernel(p, KERNEL_COLUMN_SUM, l->tokens, l->outputs);
    s->in[0] = dy, s->out[0] = sum;
}
