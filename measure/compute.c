// plumbline-measure compute: kernels and whole layers of a model on one device. compress: times of
// compression and decompression by size, and by rank, share kept and bits.

#include "measure/commands.h"
#include "measure/take.h"

// Of the budget, for the minimum of repetitions; the rest is used where intervals are still wide.
static const double share_for_least_work = 0.4;

// Whole layers that do not fit in the budget are not measured, and this is reported.
static void tell_left_out(const struct cells_request *r, const struct cell *cells, int cell_count)
{
    static const enum layer_kind kinds[] = {LAYER_EMBEDDING, LAYER_BLOCK, LAYER_HEAD};
    for (int s = 0; s < r->shape_count; s++)
        for (size_t k = 0; k < ARRAY_LENGTH(kinds); k++) {
            bool measured = false;
            for (int i = 0; i < cell_count; i++)
                measured |= cells[i].layer && cells[i].layer->shape == &r->shapes[s] &&
                            cells[i].layer->kind == kinds[k];
            if (!measured)
                fprintf(stderr,
                        "hidden %lld: a whole %s takes too long for this budget and was left out; "
                        "its kernels were measured\n",
                        (long long)r->shapes[s].hidden, layer_kind_names[kinds[k]]);
        }
}

struct options {
    struct take_settings take;
    struct request_settings asked;
};

static const struct option_row compute_rows[] = {
    {"--model", OPTION_MODEL, OPT(asked.model),
     "model whose layers are timed (default: the shape of GPT-2 XL)"},
    {"--shape", OPTION_TEXT, OPT(asked.shapes),
     "the same in words: "
     "hidden=N,heads=N[,ffn=N,kv_heads=N,head_width=N,vocabulary=N,positions=N,gated=1,rms=1]; "
     "separate several with ';'"},
    {"--tensor", OPTION_TEXT, OPT(asked.tensors),
     "tensor degrees to split the matrices by, such as 1,2,4 (default: 1)"},
    {"--context", OPTION_TEXT, OPT(asked.contexts),
     "context degrees to split whole layers by (default: 1)"},
    {"--experts", OPTION_TEXT, OPT(asked.experts),
     "numbers of experts on a device, such as 8,16, whose products run together (default: none)"},
    {"--micro-batch", OPTION_TEXT, OPT(asked.micro_batches),
     "sequences per pass of a whole layer, such as 1,2,4 (default: 1)"},
    {"--sequence", OPTION_INT, OPT(asked.sequence), "maximum tokens per sequence (default: 1024)",
     1, 1 << 22},
    {"--recompute", OPTION_TEXT, OPT(asked.recompute),
     "recomputation in the backward pass of whole blocks: none,selective,full (default: all)"},
    {"--rank", OPTION_TEXT, OPT(asked.ranks), "ranks of the low-rank compression (default: 16)"},
    {"--precision", OPTION_NAME, OPT(asked.precision), "(fp32)", .names = precision_names},
    {"--gradients", OPTION_NAME, OPT(asked.gradients),
     "gradients of weights are added to fp32 numbers, or to the same as --precision has (default: "
     "fp32, as Megatron-LM does)",
     .names = gradient_names},
    {"--recipe", OPTION_NAME, OPT(asked.recipe),
     "with --precision fp8: scales of 1; one for each tensor; one for 128 values, 128 x 128 of "
     "weights; a power of two for 32 values (default: tensor)",
     .names = recipe_names},
    {"--fused", OPTION_FLAG, OPT(asked.fused),
     "use a fused attention kernel if the device has one"},
    {"--graphs", OPTION_FLAG, OPT(asked.graphs),
     "also time whole layers as captured graphs, if the device has them"},
    {"--sustained-s", OPTION_NUMBER, OPT(asked.sustained_s),
     "also run forward and backward passes of blocks in turn without a rest, on all visible GPUs "
     "at once: X seconds untimed, then X seconds timed; not part of the budget",
     0.001, 3600},
    {"--quick", OPTION_FLAG, OPT(asked.quick),
     "measure two sizes of each kernel instead of three, with defaults --budget-s 12 --width 0.1"},
    {"--like", OPTION_PATH, OPT(take.like),
     "samples of another launch: measure the same sizes again, to merge the two"},
};

static const struct option_row compress_rows[] = {
    {"--model", OPTION_MODEL, OPT(asked.model),
     "model whose messages are compressed (default: the width of GPT-2 XL)"},
    {"--shape", OPTION_TEXT, OPT(asked.shapes),
     "the same in words: hidden=N,heads=N; separate several with ';'"},
    {"--micro-batch", OPTION_TEXT, OPT(asked.micro_batches),
     "maximum sequences per message (default: 1)"},
    {"--sequence", OPTION_INT, OPT(asked.sequence), "tokens per sequence (default: 1024)", 1,
     1 << 22},
    {"--rank", OPTION_TEXT, OPT(asked.ranks),
     "ranks of the low-rank compression (default: 4,16,64)"},
    {"--precision", OPTION_NAME, OPT(asked.precision), "precision of the messages (default: fp32)",
     .names = precision_names},
    {"--quick", OPTION_FLAG, OPT(asked.quick),
     "measure two sizes instead of three, with defaults --budget-s 12 --width 0.1"},
    {"--like", OPTION_PATH, OPT(take.like),
     "samples of another launch: measure the same sizes again, to merge the two"},
};

// What a command measures of a request.
struct subject {
    double (*least_work)(const struct cells_request *request);
    void (*choose)(struct cell **cells, int *count, const struct cells_request *request,
                   struct arena *arena);
};

static enum status run(struct options *o, const struct subject *subject, struct cells_request *r,
                       struct take *take, struct arena *arena, struct error *err)
{
    struct take_settings *s = &o->take;
    take_complete(s, o->asked.quick);
    *r = (struct cells_request){.threads = (int)s->threads};
    TRY(request_read(r, &o->asked, arena, err));
    TRY(take_open(take, s, r->precision, arena, err));
    TRY(take_guess_rates(take, arena, err));
    r->cut_layers = take->backend->cuts_layers;
    r->largest_s = s->budget_s * share_for_least_work / subject->least_work(r);
    r->yardstick = take->shared && !take->backend->has_host && subject->choose == cells_choose;
    r->gemm_flop_per_s = take->gemm_flop_per_s;
    r->copy_bytes_per_s = take->copy_bytes_per_s;
    struct cell *cells;
    int count;
    subject->choose(&cells, &count, r, arena);
    take->yardstick = r->yardstick ? &cells[count] : NULL;
    TRY(take_cells(take, cells, count, arena, err));
    if (subject->choose == cells_choose && !s->quiet) tell_left_out(r, cells, count);
    if (!(o->asked.sustained_s > 0)) return OK;
    cells_choose_sustained(&cells, &count, r, arena);
    return take_sustained(take, cells, count, o->asked.sustained_s, arena, err);
}

COMMAND_RUN(compute)
{
    static const struct subject layers = {cells_least_work, cells_choose};
    struct options *o = options;
    struct cells_request request;
    struct take take;
    TRY(run(o, &layers, &request, &take, arena, err));
    struct source source;
    if (o->asked.model) {
        source = source_of("model", &o->asked.loaded.document, o->take.output, arena);
        take.samples.document.sources = &source;
        take.samples.document.source_count = 1;
    }
    return take_save(&take, exit_code, arena, err);
}

COMMAND_RUN(compress)
{
    static const struct subject messages = {cells_least_work_of_compression,
                                            cells_choose_compression};
    struct cells_request request;
    struct take take;
    TRY(run(options, &messages, &request, &take, arena, err));
    return take_save(&take, exit_code, arena, err);
}

const struct command measure_compute = {
    .name = "compute",
    .text = "time kernels and whole transformer layers on this device",
    .usage = "plumbline measure compute [OPTION ...]",
    READS(struct options, compute_rows,
          {.take = {TAKE_DEFAULTS},
           .asked = {.tensors = "1",
                     .contexts = "1",
                     .micro_batches = "1",
                     .ranks = "16",
                     .recompute = "none,selective,full",
                     .sequence = 1024,
                     .recipe = RECIPE_TENSOR,
                     .precision = FP32}}),
    SHARES(take_options, struct options, take),
    .line = OPT(take.line),
    .run = compute,
};

const struct command measure_compress = {
    .name = "compress",
    .text = "time compression of messages and gradients: low-rank, top-k, quantised",
    .usage = "plumbline measure compress [OPTION ...]",
    READS(struct options, compress_rows,
          {.take = {TAKE_DEFAULTS},
           .asked = {.tensors = "1",
                     .contexts = "1",
                     .micro_batches = "1",
                     .ranks = "4,16,64",
                     .recompute = "none",
                     .sequence = 1024,
                     .precision = FP32}}),
    SHARES(take_options, struct options, take),
    .line = OPT(take.line),
    .run = compress,
};
