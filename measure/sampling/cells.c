// Work counts are those of docs/FORMULAS.md sections 3, 4 and 6, as in pricing; a backward kernel
// counts twice its forward's bytes though it may move fewer. Token counts are limited by the time
// that the budget leaves for one repetition. Matrices keep the model's own widths if that leaves
// enough tokens, and otherwise lose columns (the sample's dimensions show this).
#include "data/base/grow.h"
#include "measure/sampling/cells.h"

#include <assert.h>
#include <math.h>

const char *const pass_names[] = {"forward", "backward", "backward selective", "backward full",
                                  NULL};

enum {
    COLUMNS_WANTED = 512,
    COLUMNS_MIN = 64,
    EMPTY_BLOCKS_MIN = 4,
    PROBE_BYTES = 1 << 22,
    COPY_BYTES_MIN = 1 << 12,
    FP32_BYTES = 4
};

static void set_size(struct sample *s, double flop, double bytes, const int64_t dimensions[4])
{
    s->flop = flop, s->bytes = bytes;
    for (int i = 0; i < 4 && dimensions[i]; i++) {
        assert(dimensions[i] > 0);
        s->dimensions[s->dimension_count++] = dimensions[i];
    }
}

struct cell *cells_add(struct chooser *c, enum work work, enum sample_kind kind,
                       const char *operation, double flop, double bytes,
                       const int64_t dimensions[4])
{
    struct cell *cell = GROWN(c->arena, c->cells, c->count, c->capacity, 128);
    *cell = (struct cell){.work = work,
                          .sample = {.kind = kind,
                                     .operation = operation,
                                     .from = -1,
                                     .to = -1,
                                     .precision = c->request->precision}};
    set_size(&cell->sample, flop, bytes, dimensions);
    return cell;
}

int64_t cells_quarter(double seconds_per_unit, double largest_s, int64_t limit)
{
    assert(seconds_per_unit > 0 && limit > 0);
    double fits = largest_s / seconds_per_unit / 4;
    return larger(1, smaller(fits < 1e15 ? (int64_t)fits : limit, limit / 4));
}

int cells_sizes(const struct cells_request *request) { return request->quick ? 2 : SIZES; }
int64_t cells_step(const struct cells_request *request) { return request->quick ? 4 : 2; }

int64_t cells_largest(const struct cells_list *list)
{
    int64_t largest = 1;
    for (int i = 0; i < list->count; i++) largest = larger(largest, list->values[i]);
    return largest;
}

int64_t cells_smallest(const struct cells_list *list)
{
    assert(list->count > 0);
    int64_t smallest = list->values[0];
    for (int i = 1; i < list->count; i++) smallest = smaller(smallest, list->values[i]);
    return smallest;
}

// The ratio of the first to the last product of a ladder, each twice the previous one.
static int64_t cells_first(const struct cells_request *request) { return request->quick ? 2 : 4; }

static int64_t tokens_most(const struct chooser *c)
{
    return larger(1, cells_largest(&c->request->micro_batches) * c->request->sequence / c->context);
}

// Rows in all and columns of `parts` products' largest size; the first of a ladder's rows.
static void product_size(const struct chooser *c, int64_t *rows, int64_t *of_columns, int64_t inner,
                         int64_t parts)
{
    const struct cells_request *r = c->request;
    int64_t columns = *of_columns;
    // With few tokens a product would be bound by reading the weights, unlike in a training step.
    // So columns are reduced first, while there are many of them, then both; everything is kept if
    // the budget allows.
    double values = r->largest_s * r->gemm_flop_per_s / 2 / (double)inner, side = sqrt(values);
    int64_t tokens_limit = tokens_most(c),
            columns_limit = larger(1, smaller(columns, MATRIX_VALUES_MAX / inner / parts));
    int64_t tokens =
        smaller(tokens_limit, (int64_t)fmax(side, fmin(values / COLUMNS_WANTED, 1e15)));
    columns =
        smaller(columns_limit, larger(COLUMNS_MIN, (int64_t)fmin(values / (double)tokens, 1e15)));
    tokens = larger(1, smaller(tokens_limit, (int64_t)fmin(values / (double)columns, 1e15)) /
                           cells_first(r));
    *rows = tokens, *of_columns = columns;
}

void cells_add_products(struct chooser *c, const char *operation, int64_t columns, int64_t inner,
                        int64_t experts)
{
    static const struct {
        enum work work, grouped;
        const char *what;
    } products[] = {
        {WORK_GEMM, WORK_GROUPED, ""},
        {WORK_GEMM_DATA, WORK_GROUPED_DATA, ", data gradient"},
        {WORK_GEMM_WEIGHT, WORK_GROUPED_WEIGHT, ", weight gradient"},
    };
    const struct cells_request *r = c->request;
    int64_t tokens, count = larger(1, experts);
    product_size(c, &tokens, &columns, inner, count);
    int64_t rows = larger(1, tokens / count);
    for (int i = 0; i < cells_sizes(r); i++, rows *= 2)
        for (size_t p = 0; p < ARRAY_LENGTH(products); p++) {
            bool wide = products[p].work == WORK_GEMM_WEIGHT && r->fp32_gradients;
            double e = precision_bytes(r->precision), weight = wide ? FP32_BYTES : e,
                   m = (double)rows, n = (double)columns, k = (double)inner;
            struct sample *s =
                &cells_add(c, experts ? products[p].grouped : products[p].work,
                           experts ? SAMPLE_GROUPED : SAMPLE_GEMM,
                           arena_print(c->arena, "%s%s", operation, products[p].what),
                           2 * (double)count * m * n * k,
                           (double)count * (e * m * (n + k) + weight * n * k),
                           SIZE(rows, columns, inner, experts))
                     ->sample;
            s->fp32_gradients = wide, s->recipe = r->recipe;
        }
}

// As many heads as fit; the sequence is shortened if even one head per thread takes too long.
static void add_attention(struct chooser *c, int64_t heads_all, int64_t width, bool ring)
{
    static const struct {
        enum work works[2]; // forward, backward
        enum sample_kind kind;
        const char *names[2];
    } kinds[] = {
        {{WORK_ATTENTION, WORK_ATTENTION_BACKWARD},
         SAMPLE_ATTENTION,
         {"scores, softmax and context", "scores, softmax and context, backward"}},
        {{WORK_FUSED_ATTENTION, WORK_FUSED_ATTENTION_BACKWARD},
         SAMPLE_ATTENTION,
         {"fused, causal", "fused, causal, backward"}},
        {{WORK_CONTEXT_ATTENTION, WORK_CONTEXT_ATTENTION_BACKWARD},
         SAMPLE_CONTEXT,
         {"step of a ring", "step of a ring, backward"}},
        {{WORK_FUSED_CONTEXT_ATTENTION, WORK_FUSED_CONTEXT_ATTENTION_BACKWARD},
         SAMPLE_CONTEXT,
         {"step of a ring, fused", "step of a ring, fused, backward"}},
    };
    const struct cells_request *r = c->request;
    double rate = r->gemm_flop_per_s / 3; // softmax costs about twice what the products do
    int64_t sequence = larger(4, r->sequence / c->context);
    while (sequence > 4 &&
           4.0 * r->threads * (double)sequence * (double)sequence * (double)width / rate >
               r->largest_s)
        sequence /= 2;
    double head_s = 4.0 * (double)sequence * (double)sequence * (double)width / rate;
    int64_t heads = smaller(larger(1, (int64_t)(r->largest_s / head_s)), larger(1, heads_all));
    heads = smaller(heads, MATRIX_VALUES_MAX / sequence / sequence);
    heads = larger(1, heads / r->threads) * r->threads;
    sequence = larger(1, sequence / 4);
    for (int i = 0; i < cells_sizes(r); i++, sequence *= cells_step(r)) {
        double scores = (double)heads * (double)sequence * (double)sequence,
               flop = 4 * scores * (double)width;
        double bytes = 6 * scores * precision_bytes(r->precision);
        int of = 2 * ring + r->fused;
        for (int back = 0; back < 2; back++) {
            double again = back ? (r->fused ? 2.5 : 2) : 1, half = r->fused && !ring ? 0.5 : 1;
            cells_add(c, kinds[of].works[back], kinds[of].kind, kinds[of].names[back],
                      again * half * flop, r->fused ? 0 : (1 + back) * bytes,
                      ring ? SIZE(heads, sequence, sequence, width) : SIZE(heads, sequence, width));
        }
    }
}

static void add_rows(struct chooser *c, enum work work, const char *operation, double token_bytes,
                     int64_t tokens, int64_t ffn)
{
    double bytes = (double)tokens * token_bytes;
    cells_add(c, work, SAMPLE_MEMORY, operation, 0, bytes,
              SIZE((int64_t)bytes, tokens, c->shape->hidden, ffn));
}

static void add_memory(struct chooser *c)
{
    const struct cells_request *r = c->request;
    const struct shape *s = c->shape;
    int matrices = s->gated_ffn ? 3 : 2;
    int64_t ffn = larger(1, s->ffn / c->tensor);
    double hidden_bytes = precision_bytes(r->precision) * (double)s->hidden;
    double token_bytes = 10 * hidden_bytes + precision_bytes(r->precision) * matrices * (double)ffn;
    int64_t tokens =
        cells_quarter(4 * token_bytes / r->copy_bytes_per_s, r->largest_s, tokens_most(c));
    // Copies of the same numbers of bytes: with other sizes the difference in speed would look
    // like an overhead.
    int64_t bytes = larger(COPY_BYTES_MIN, (int64_t)(token_bytes * (double)tokens) / 8 * 8);
    for (int i = 0; i < cells_sizes(r); i++, tokens *= cells_step(r), bytes *= cells_step(r)) {
        add_rows(c, s->gated_ffn ? WORK_GATED_ELEMENTWISE : WORK_ELEMENTWISE,
                 "norms, residuals and activation", token_bytes, tokens, ffn);
        add_rows(c, s->gated_ffn ? WORK_GATED_ELEMENTWISE_BACKWARD : WORK_ELEMENTWISE_BACKWARD,
                 "norms, residuals and activation, backward", 2 * token_bytes, tokens, ffn);
        if (!r->quick) {
            add_rows(c, WORK_NORM, "norm", 2 * hidden_bytes, tokens, 0);
            add_rows(c, WORK_NORM_BACKWARD, "norm, backward", 4 * hidden_bytes, tokens, 0);
            cells_add_activation(c, tokens, ffn, false);
            cells_add_activation(c, tokens, ffn, true);
        }
        cells_add(c, WORK_COPY, SAMPLE_MEMORY, "copy", 0, (double)bytes, SIZE(bytes));
    }
}

static void add_kernels(struct chooser *c)
{
    const struct shape *s = c->shape;
    int64_t t = c->tensor, query = s->heads * s->head_width, key = s->kv_heads * s->head_width;
    cells_add_products(c, "query, key and value", (query + 2 * key) / t, s->hidden, 0);
    cells_add_products(c, "attention projection", s->hidden, larger(1, query / t), 0);
    cells_add_products(c, s->gated_ffn ? "ffn gate and up" : "ffn up",
                       (s->gated_ffn ? 2 : 1) * s->ffn / t, s->hidden, 0);
    cells_add_products(c, "ffn down", s->hidden, larger(1, s->ffn / t), 0);
    cells_add_products(c, "head", s->vocabulary / t, s->hidden, 0);
    add_attention(c, cells_largest(&c->request->micro_batches) * s->heads / t, s->head_width,
                  false);
    cells_add_experts(c);
    add_memory(c);
    cells_add_elementwise(c);
}

void cells_choose(struct cell **cells, int *cell_count, const struct cells_request *r,
                  struct arena *arena)
{
    struct chooser c = {.request = r, .arena = arena};
    for (int s = 0; s < r->shape_count; s++) {
        c.shape = &r->shapes[s];
        for (int t = 0; t < r->tensors.count; t++)
            for (int k = 0; k < r->contexts.count; k++) {
                c.tensor = r->tensors.values[t], c.context = r->contexts.values[k];
                if (k == 0) add_kernels(&c);
                if (c.context > 1)
                    add_attention(&c, cells_largest(&r->micro_batches) * c.shape->heads / c.tensor,
                                  c.shape->head_width, true);
                if (c.context == 1 || r->cut_layers) cells_add_layers(&c);
            }
        cells_add_optimizer(&c);
        for (int k = 0; k < r->ranks.count; k++) cells_add_low_rank(&c, r->ranks.values[k]);
    }
    for (int i = 0; i < SIZES; i++)
        cells_add(&c, WORK_EMPTY_BLOCKS, SAMPLE_OVERHEAD, "calls of a block without work", 0, 0,
                  SIZE(EMPTY_BLOCKS_MIN << i));
    *cell_count = c.count;
    if (r->yardstick) cells_add_yardstick(&c);
    *cells = c.cells;
}

double cells_least_work(const struct cells_request *r)
{
    double ladder = r->quick ? 1.5 : 1.75; // at most: 1/2 + 1, 1/4 + 1/2 + 1
    double kernels = 5 * 3 + 3 + 3 +
                     (r->quick ? 0 : 3); // products; attention and its backward; elementwise;
                                         // norms, activations, rotary positions and dropout
    for (int i = 0; i < r->contexts.count; i++) kernels += r->contexts.values[i] > 1 ? 3 : 0;
    kernels += 2 * 3 * r->experts.count;
    double of_shape = r->tensors.count * kernels + 1 + 1.5 * r->ranks.count;
    return (r->shape_count * of_shape * ladder + cells_layers_work(r)) * (1 + REPETITIONS_MIN);
}

void cells_probe(struct cell cells[2])
{
    cells[0] = (struct cell){.work = WORK_GEMM};
    set_size(&cells[0].sample, 2.0 * 256 * 512 * 512, 0, SIZE(256, 512, 512));
    cells[1] = (struct cell){.work = WORK_COPY};
    set_size(&cells[1].sample, 0, PROBE_BYTES, SIZE(PROBE_BYTES));
}
