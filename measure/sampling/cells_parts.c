// Parts that only some models or recipes have: products of experts, a step of a ring of context
// ranks, rotary positions, dropout, casts to 8 bits.
#include "measure/sampling/cells.h"

static int64_t rows_most(const struct chooser *c)
{
    return larger(1, cells_largest(&c->request->micro_batches) * c->request->sequence);
}

void cells_add_experts(struct chooser *c)
{
    const struct shape *s = c->shape;
    const struct cells_list *experts = &c->request->experts;
    int64_t ffn = larger(1, s->ffn / c->tensor);
    // The library has no batched products with scales of runs.
    bool can = c->request->recipe <= RECIPE_TENSOR;
    for (int i = 0; i < experts->count && can; i++) {
        cells_add_products(c, s->gated_ffn ? "experts' gate and up" : "experts' up",
                           (s->gated_ffn ? 2 : 1) * ffn, s->hidden, experts->values[i]);
        cells_add_products(c, "experts' down", s->hidden, ffn, experts->values[i]);
    }
}

// ---- elementwise

static void add_rotary(struct chooser *c, int64_t tokens)
{
    const struct shape *s = c->shape;
    int64_t heads = larger(1, (s->heads + s->kv_heads) / c->tensor), width = s->head_width / 2 * 2;
    double n = (double)tokens, values = n * (double)(heads * width);
    if (width > 0)
        cells_add(c, WORK_ROTARY, SAMPLE_ROTARY, "rotary positions", 0,
                  2 * precision_bytes(c->request->precision) * values + 4 * n * (double)width,
                  SIZE(tokens, heads, width));
}

static void add_dropout(struct chooser *c, int64_t values)
{
    double bytes = (2 * precision_bytes(c->request->precision) + 1) * (double)values;
    cells_add(c, WORK_DROPOUT, SAMPLE_DROPOUT, "dropout", 0, bytes, SIZE(values));
    cells_add(c, WORK_DROPOUT_BACKWARD, SAMPLE_DROPOUT, "dropout, backward", 0, bytes,
              SIZE(values));
}

// Values read, bytes written in both orders; scales are few. Both sizes are multiples of a run.
static void add_cast(struct chooser *c, int64_t tokens)
{
    enum { RUN = 128 };
    int64_t rows = (tokens + RUN - 1) / RUN * RUN,
            columns = (c->shape->hidden + RUN - 1) / RUN * RUN;
    double e = precision_bytes(c->request->precision);
    cells_add(c, WORK_CAST, SAMPLE_CAST, "cast", 0, (e + 2) * (double)rows * (double)columns,
              SIZE(rows, columns))
        ->sample.recipe = c->request->recipe;
}

struct cell *cells_add_activation(struct chooser *c, int64_t rows, int64_t width, bool backward)
{
    bool gated = c->shape->gated_ffn;
    double bytes = (double)((backward ? 2 : 1) * (gated ? 3 : 2) * rows * width) *
                   precision_bytes(c->request->precision);
    return cells_add(c, backward ? WORK_ACTIVATION_BACKWARD : WORK_ACTIVATION, SAMPLE_MEMORY,
                     backward ? "activation, backward" : "activation", 0, bytes,
                     SIZE((int64_t)bytes, rows, width, gated));
}

void cells_add_elementwise(struct chooser *c)
{
    const struct cells_request *r = c->request;
    double token_bytes = 2 * precision_bytes(r->precision) * (double)c->shape->hidden;
    int64_t tokens =
        cells_quarter(4 * token_bytes / r->copy_bytes_per_s, r->largest_s, rows_most(c));
    for (int i = 0; i < cells_sizes(r); i++, tokens *= cells_step(r)) {
        if (r->precision == FP8) add_cast(c, tokens);
        if (r->quick) continue;
        add_rotary(c, tokens);
        add_dropout(c, tokens * c->shape->hidden);
    }
}
