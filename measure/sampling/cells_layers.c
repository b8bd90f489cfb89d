// Whole layers in one pass, at the model's own widths: only the sequence is reduced to fit the
// budget, by halves, equally for all micro-batches. A layer is left out if it takes far too long
// even at the shortest sequence, or if no back end supports its largest matrix. Also the
// optimizer's step.
#include "data/inputs/model/layer_load.h"
#include "measure/sampling/cells.h"

static const char *const gradients_names[] = {"", ", of inputs", ", of weights"};

// With fewer tokens a product is bound by reading its weights, unlike in a training step.
enum { TOKENS_MIN = 128, LAYER_UNITS = 6 };
// A layer is left out if its forward pass takes more than this many times what it should.
static const double far_too_long = 6;

static struct layer_load load_of(const struct chooser *c, enum layer_kind kind, int64_t micro_batch,
                                 int64_t sequence)
{
    const struct layer_at at = {kind,       micro_batch,           sequence,         c->tensor,
                                c->context, c->request->precision, c->request->fused};
    return layer_load_of(c->shape, &at);
}

static double seconds_of(const struct chooser *c, struct layer_load load)
{
    return (load.linear + 3 * load.attention) / c->request->gemm_flop_per_s +
           load.bytes / c->request->copy_bytes_per_s;
}

struct cell *cells_add_pass(struct chooser *c, const struct layer_cell *what, int64_t micro_batch,
                            int64_t sequence)
{
    const enum layer_kind kind = what->kind;
    const enum pass pass = what->pass;
    struct layer_load load = load_of(c, kind, micro_batch, sequence);
    double flop, bytes;
    layer_load_of_pass(&load, (enum load_pass)pass, c->request->fused, &flop, &bytes);
    if (what->gradients == GRADIENTS_OF_INPUT) flop -= load.linear, bytes /= 2;
    if (what->gradients == GRADIENTS_OF_WEIGHTS) flop = load.linear, bytes = load.bytes;
    struct layer_cell *layer = TAKE_COPY(c->arena, what, 1);
    layer->shape = c->shape, layer->fused = c->request->fused;
    const char *name = arena_print(c->arena, "%s %s%s%s", layer_kind_names[kind], pass_names[pass],
                                   what->graph ? ", graph" : "", gradients_names[what->gradients]);
    struct cell *cell = cells_add(c, WORK_LAYER, SAMPLE_LAYER, name, flop, bytes,
                                  SIZE(micro_batch, sequence, c->tensor, c->context));
    cell->layer = layer;
    cell->sample.shape = c->shape;
    if (kind == LAYER_BLOCK) cell->sample.recipe = c->request->recipe;
    cell->sample.sequence_parallel = what->parts > 1;
    cell->sample.fp32_gradients = c->request->fp32_gradients && pass != PASS_FORWARD;
    return cell;
}

static void add_passes(struct chooser *c, enum layer_kind kind, int64_t micro_batch,
                       int64_t sequence)
{
    for (int pass = 0; pass < PASS_COUNT; pass++) {
        bool recomputing = pass == PASS_BACKWARD_SELECTIVE || pass == PASS_BACKWARD_FULL;
        if (recomputing && (kind != LAYER_BLOCK || !c->request->recompute[pass])) continue;
        for (int graph = 0; graph <= c->request->graphs; graph++)
            cells_add_pass(
                c, &(struct layer_cell){.kind = kind, .pass = (enum pass)pass, .graph = graph},
                micro_batch, sequence);
    }
}

static double largest_matrix(const struct chooser *c, enum layer_kind kind)
{
    double wide = kind == LAYER_BLOCK ? (c->shape->gated_ffn ? 2 : 1) * (double)c->shape->ffn
                                      : (double)c->shape->vocabulary;
    return wide / (double)c->tensor * (double)c->shape->hidden;
}

// The longest sequence that fits, equally for all micro-batches; 0: none does.
static int64_t sequence_of(const struct chooser *c, enum layer_kind kind)
{
    const struct cells_request *r = c->request;
    int64_t largest = cells_largest(&r->micro_batches),
            smallest = cells_smallest(&r->micro_batches);
    int64_t sequence_min = (TOKENS_MIN + smallest - 1) / smallest * c->context;
    double wanted_s = LAYER_UNITS * r->largest_s;
    int64_t sequence = larger(c->context, r->sequence / c->context * c->context);
    double scores_most = r->fused ? 1 : (double)c->shape->heads / (double)c->tensor;
    while (sequence / 2 >= sequence_min && sequence / 2 % c->context == 0 &&
           (seconds_of(c, load_of(c, kind, largest, sequence)) > wanted_s ||
            (double)(largest * sequence * sequence / c->context) * scores_most > MATRIX_VALUES_MAX))
        sequence /= 2;
    bool too_long = seconds_of(c, load_of(c, kind, largest, sequence)) > far_too_long * wanted_s;
    return too_long || largest_matrix(c, kind) > MATRIX_VALUES_MAX ? 0 : sequence;
}

void cells_choose_sustained(struct cell **cells, int *cell_count, const struct cells_request *r,
                            struct arena *arena)
{
    struct chooser c = {.request = r, .context = 1, .arena = arena};
    int64_t micro_batch = cells_largest(&r->micro_batches);
    for (int s = 0; s < r->shape_count; s++)
        for (int t = 0; t < r->tensors.count; t++) {
            c.shape = &r->shapes[s], c.tensor = r->tensors.values[t];
            int64_t sequence = sequence_of(&c, LAYER_BLOCK);
            for (int pass = PASS_FORWARD; sequence && pass <= PASS_BACKWARD; pass++) {
                const struct layer_cell what = {.kind = LAYER_BLOCK, .pass = (enum pass)pass};
                struct sample *sample = &cells_add_pass(&c, &what, micro_batch, sequence)->sample;
                sample->operation = arena_print(arena, "%s, sustained", sample->operation);
            }
        }
    *cells = c.cells;
    *cell_count = c.count;
}

struct cell *cells_add_yardstick(struct chooser *c)
{
    static const struct shape small = {
        .hidden = 128, .heads = 2, .kv_heads = 2, .head_width = 64, .ffn = 512, .vocabulary = 128};
    struct chooser fixed = *c;
    fixed.shape = &small, fixed.tensor = fixed.context = 1;
    struct cell *cell = cells_add_pass(
        &fixed, &(struct layer_cell){.kind = LAYER_BLOCK, .pass = PASS_BACKWARD_FULL}, 1, 128);
    c->cells = fixed.cells, c->count = fixed.count, c->capacity = fixed.capacity;
    return cell;
}

void cells_add_layers(struct chooser *c)
{
    static const enum layer_kind kinds[] = {LAYER_EMBEDDING, LAYER_BLOCK, LAYER_HEAD};
    const struct cells_list *micro_batches = &c->request->micro_batches;
    for (size_t k = 0; k < ARRAY_LENGTH(kinds); k++) {
        int64_t sequence = sequence_of(c, kinds[k]);
        for (int i = 0; i < micro_batches->count && sequence; i++)
            add_passes(c, kinds[k], micro_batches->values[i], sequence);
    }
}

// At most as many values as a block has. Bytes are those by which section 4 prices the step: both
// moments read and written (and in 16 bits a master copy), the gradient read, the weights written.
// A step also reads its fp32 weights; the extra time is the costs' step_bytes_per_value.
void cells_add_optimizer(struct chooser *c)
{
    const struct cells_request *r = c->request;
    const struct shape *s = c->shape;
    int64_t block = s->hidden *
                    ((s->heads + 2 * s->kv_heads) * s->head_width + s->heads * s->head_width +
                     (s->gated_ffn ? 3 : 2) * s->ffn) /
                    cells_largest(&r->tensors);
    double value_bytes = r->precision == FP32 ? 2 * 8 + 4 + 4 : 2 * 12 + 4 + 2;
    int64_t values = cells_quarter(value_bytes / r->copy_bytes_per_s, r->largest_s,
                                   larger(4, smaller(block, MATRIX_VALUES_MAX / 4)));
    for (int i = 0; i < cells_sizes(r); i++, values *= cells_step(r))
        cells_add(c, WORK_OPTIMIZER, SAMPLE_OPTIMIZER, "adam", 0, value_bytes * (double)values,
                  SIZE(values));
}

double cells_layers_work(const struct cells_request *r)
{
    // Upper estimates: backward takes two forwards, selective a little more, full three; head and
    // embedding one block more.
    double passes = 1 + 2 + 2.3 * r->recompute[PASS_BACKWARD_SELECTIVE] +
                    3 * r->recompute[PASS_BACKWARD_FULL] + 3;
    double share = 0, largest = (double)cells_largest(&r->micro_batches);
    for (int i = 0; i < r->micro_batches.count; i++)
        share += (double)r->micro_batches.values[i] / largest;
    int contexts = 0;
    for (int i = 0; i < r->contexts.count; i++)
        contexts += r->contexts.values[i] == 1 || r->cut_layers;
    return LAYER_UNITS * passes * share * (1 + r->graphs) * r->shape_count * r->tensors.count *
           contexts;
}
