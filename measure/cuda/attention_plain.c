// Attention without a fused kernel: scores by batched products, softmax by our own kernel, scores
// kept for backward. Causal. Where several heads share keys and values, one product takes one
// query head of every group; gradients of keys and values are accumulated over them.
#include "measure/cuda/steps.h"

#include <math.h>

int64_t attention_kept_bytes(const struct attention *a, bool fused)
{
    int64_t rows = a->batch * a->heads * a->sequence;
    return fused ? rows * (int64_t)sizeof(float) : rows * a->sequence * element_bytes(a->type);
}

struct walker {
    struct program *p;
    const struct attention *a;
    int64_t group, row, context_row, element;
};

static struct walker walk(struct program *p, const struct attention *a)
{
    struct walker w = {p,
                       a,
                       a->heads / a->kv_heads,
                       (a->heads + 2 * a->kv_heads) * a->width,
                       a->heads * a->width,
                       element_bytes(a->type)};
    return w;
}

enum operand { QUERY, KEY, VALUE, CONTEXT, SCORES };

// Start of an operand of query head i of every group in sequence b, its leading dimension and its
// stride between groups.
static struct place operand_at(const struct walker *w, enum operand operand, struct place base,
                               int64_t b, int64_t i, int64_t *leading, int64_t *stride)
{
    const struct attention *a = w->a;
    int64_t tokens = b * a->sequence, at = 0;
    *leading = w->row;
    *stride = a->width;
    switch (operand) {
    case QUERY:
        at = tokens * w->row + i * a->width;
        *stride = w->group * a->width;
        break;
    case KEY: at = tokens * w->row + a->heads * a->width; break;
    case VALUE: at = tokens * w->row + (a->heads + a->kv_heads) * a->width; break;
    case CONTEXT:
        at = tokens * w->context_row + i * a->width;
        *leading = w->context_row;
        *stride = w->group * a->width;
        break;
    case SCORES:
        at = (b * a->heads + i) * a->sequence * a->sequence;
        *leading = a->sequence;
        *stride = w->group * a->sequence * a->sequence;
        break;
    }
    return place_after(base, at * w->element);
}

struct multiplication {
    enum operand a, b, d;
    bool transpose_a, transpose_b;
    bool onto_groups; // D belongs to the group: its query heads accumulate
};

// One product for every sequence and query head of a group.
static void multiply(const struct walker *w, const struct multiplication *x, struct place a,
                     struct place b, struct place d)
{
    int64_t s = w->a->sequence, width = w->a->width;
    for (int64_t i = 0; i < w->a->batch * w->group; i++) {
        struct gemm g = {.a_type = w->a->type,
                         .b_type = w->a->type,
                         .d_type = w->a->type,
                         .transpose_a = x->transpose_a,
                         .transpose_b = x->transpose_b,
                         .batch = w->a->kv_heads};
        g.m = x->d == SCORES ? s : width;
        g.n = s;
        g.k = x->d == SCORES ? width : s;
        g.accumulate = x->onto_groups && i % w->group > 0;
        struct place at_a = operand_at(w, x->a, a, i / w->group, i % w->group, &g.lda, &g.stride_a);
        struct place at_b = operand_at(w, x->b, b, i / w->group, i % w->group, &g.ldb, &g.stride_b);
        struct place at_d = operand_at(w, x->d, d, i / w->group, i % w->group, &g.ldd, &g.stride_d);
        program_gemm(w->p, &g, at_a, at_b, at_d, place_none());
    }
}

static float scale_of(const struct attention *a) { return 1 / sqrtf((float)a->width); }

static struct step *add_softmax(const struct walker *w, enum kernel kernel)
{
    const struct attention *a = w->a;
    struct step *s = program_kernel(w->p, kernel, a->batch * a->heads * a->sequence, a->sequence);
    s->size[2] = 1;
    s->scalar[0] = scale_of(a);
    return s;
}

static void set_fused(struct step *s, const struct attention *a, struct place qkv)
{
    s->attention = *a;
    s->scalar[0] = scale_of(a);
    s->in[0] = qkv;
    s->in[1] = place_after(qkv, a->heads * a->width * element_bytes(a->type));
    s->in[2] = place_after(qkv, (a->heads + a->kv_heads) * a->width * element_bytes(a->type));
}

void steps_attention(struct program *p, const struct attention *a, struct place qkv,
                     struct place context, struct place kept)
{
    if (p->fused) {
        struct step *s = program_add(p, STEP_ATTENTION);
        set_fused(s, a, qkv);
        s->attention.backward = false;
        s->out[0] = context, s->out[1] = kept;
        return;
    }
    struct walker w = walk(p, a);
    multiply(&w, &(struct multiplication){KEY, QUERY, SCORES, true, false, false}, qkv, qkv, kept);
    struct step *s = add_softmax(&w, KERNEL_SOFTMAX);
    s->in[0] = kept, s->out[0] = kept;
    multiply(&w, &(struct multiplication){VALUE, SCORES, CONTEXT, false, false, false}, qkv, kept,
             context);
}

void steps_attention_backward(struct program *p, const struct attention *a, struct place qkv,
                              struct place context, struct place d_context, struct place kept,
                              struct place d_qkv)
{
    if (p->fused) {
        struct step *s = program_add(p, STEP_ATTENTION);
        set_fused(s, a, qkv);
        s->attention.backward = true;
        s->in[3] = context, s->in[4] = d_context, s->in[5] = kept;
        s->out[0] = d_qkv;
        s->out[1] = place_after(d_qkv, a->heads * a->width * element_bytes(a->type));
        s->out[2] =
            place_after(d_qkv, (a->heads + a->kv_heads) * a->width * element_bytes(a->type));
        return;
    }
    struct walker w = walk(p, a);
    struct place d_scores = program_area(p, AREA_SCRATCH, attention_kept_bytes(a, false));
    multiply(&w, &(struct multiplication){VALUE, CONTEXT, SCORES, true, false, false}, qkv,
             d_context, d_scores);
    multiply(&w, &(struct multiplication){CONTEXT, SCORES, VALUE, false, true, true}, d_context,
             kept, d_qkv);
    struct step *s = add_softmax(&w, KERNEL_SOFTMAX_BACKWARD);
    s->in[0] = kept, s->in[1] = d_scores, s->out[0] = d_scores;
    multiply(&w, &(struct multiplication){KEY, SCORES, QUERY, false, false, false}, qkv, d_scores,
             d_qkv);
    multiply(&w, &(struct multiplication){QUERY, SCORES, KEY, false, true, true}, qkv, d_scores,
             d_qkv);
}
