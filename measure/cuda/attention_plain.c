// Attention without a fused kernel: scores by batched products, softmax by our own kernel, scores
// kept for backward. Causal. Where several heads share keys and values, one product takes one
// query head of every group; gradients of keys and values are accumulated over them.
#include "measure/cuda/steps.h"

#include <math.h>

int64_t attention_kept_bytes(const struct attention *a, bool fused)
{
    int64_t rows = a->batch * a->heads * a->sequence;
    return fused ? rows * (int64_t)sizeof(float)
                 : rows * attention_keys(a) * element_bytes(a->type);
}

struct attended attended_rows(const struct attention *a, struct place qkv)
{
    return (struct attended){qkv, place_after(qkv, a->heads * a->width * element_bytes(a->type))};
}

struct walker {
    struct program *p;
    const struct attention *a;
    int64_t group, element;
};

static struct walker walk(struct program *p, const struct attention *a)
{
    return (struct walker){p, a, a->heads / a->kv_heads, element_bytes(a->type)};
}

enum operand { QUERY, KEY, VALUE, CONTEXT, SCORES };

// Start of an operand of query head i of every group in sequence b, its leading dimension and its
// stride between groups.
static struct place operand_at(const struct walker *w, enum operand operand, struct place base,
                               int64_t b, int64_t i, int64_t *leading, int64_t *stride)
{
    const struct attention *a = w->a;
    int64_t keys = attention_keys(a), at = 0;
    *stride = a->width;
    switch (operand) {
    case QUERY:
        *leading = query_row(a);
        at = b * a->sequence * *leading + i * a->width;
        *stride = w->group * a->width;
        break;
    case KEY:
    case VALUE:
        *leading = key_row(a);
        at = b * keys * *leading + (operand == VALUE ? a->kv_heads * a->width : 0);
        break;
    case CONTEXT:
        *leading = a->heads * a->width;
        at = b * a->sequence * *leading + i * a->width;
        *stride = w->group * a->width;
        break;
    case SCORES:
        at = (b * a->heads + i) * a->sequence * keys;
        *leading = keys;
        *stride = w->group * a->sequence * keys;
        break;
    }
    return place_after(base, at * w->element);
}

struct multiplication {
    enum operand a, b, d;
    bool transpose_a, transpose_b;
    bool onto_groups; // D belongs to the group: its query heads accumulate
};

// One product for every sequence and query head of a group. By columns D is [keys or width] x
// [queries or keys].
static void multiply(const struct walker *w, const struct multiplication *x, struct place a,
                     struct place b, struct place d)
{
    int64_t queries = w->a->sequence, keys = attention_keys(w->a), width = w->a->width;
    for (int64_t i = 0; i < w->a->batch * w->group; i++) {
        struct gemm g = {.a_type = w->a->type,
                         .b_type = w->a->type,
                         .d_type = w->a->type,
                         .transpose_a = x->transpose_a,
                         .transpose_b = x->transpose_b,
                         .batch = w->a->kv_heads};
        g.m = x->d == SCORES ? keys : width;
        g.n = x->onto_groups ? keys : queries;
        g.k = x->d == SCORES ? width : x->onto_groups ? queries : keys;
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
    struct step *s =
        program_kernel(w->p, kernel, a->batch * a->heads * a->sequence, attention_keys(a));
    s->size[2] = !a->keys;
    s->scalar[0] = scale_of(a);
    return s;
}

static struct place values_of(const struct attention *a, struct attended at)
{
    return place_after(at.key, a->kv_heads * a->width * element_bytes(a->type));
}

static void set_fused(struct step *s, const struct attention *a, struct attended at)
{
    s->attention = *a;
    s->scalar[0] = scale_of(a);
    s->in[0] = at.query, s->in[1] = at.key, s->in[2] = values_of(a, at);
}

void steps_attention(struct program *p, const struct attention *a, struct attended at,
                     struct place context, struct place kept)
{
    if (p->fused) {
        struct step *s = program_add(p, STEP_ATTENTION);
        set_fused(s, a, at);
        s->attention.backward = false;
        s->out[0] = context, s->out[1] = kept;
        return;
    }
    struct walker w = walk(p, a);
    multiply(&w, &(struct multiplication){KEY, QUERY, SCORES, true, false, false}, at.key, at.query,
             kept);
    struct step *s = add_softmax(&w, KERNEL_SOFTMAX);
    s->in[0] = kept, s->out[0] = kept;
    multiply(&w, &(struct multiplication){VALUE, SCORES, CONTEXT, false, false, false}, at.key,
             kept, context);
}

void steps_attention_backward(struct program *p, const struct attention *a, struct attended at,
                              struct place context, struct place d_context, struct place kept,
                              struct attended d)
{
    if (p->fused) {
        struct step *s = program_add(p, STEP_ATTENTION);
        set_fused(s, a, at);
        s->attention.backward = true;
        s->in[3] = context, s->in[4] = d_context, s->in[5] = kept;
        s->out[0] = d.query, s->out[1] = d.key, s->out[2] = values_of(a, d);
        return;
    }
    struct walker w = walk(p, a);
    struct place d_scores = program_area(p, AREA_SCRATCH, attention_kept_bytes(a, false));
    multiply(&w, &(struct multiplication){VALUE, CONTEXT, SCORES, true, false, false}, at.key,
             d_context, d_scores);
    multiply(&w, &(struct multiplication){CONTEXT, SCORES, VALUE, false, true, true}, d_context,
             kept, d.key);
    struct step *s = add_softmax(&w, KERNEL_SOFTMAX_BACKWARD);
    s->in[0] = kept, s->in[1] = d_scores, s->out[0] = d_scores;
    multiply(&w, &(struct multiplication){KEY, SCORES, QUERY, false, false, false}, at.key,
             d_scores, d.query);
    multiply(&w, &(struct multiplication){QUERY, SCORES, KEY, false, true, true}, at.query,
             d_scores, d.key);
}
