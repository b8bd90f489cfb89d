// plumbline-measure compute: kernels and whole layers of a model on one device.
#include "measure/compute.h"

#include <stdio.h>

#include "measure/sampling/cells.h"
#include "measure/request.h"
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

static const struct option_row rows[] = {
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
    {"--micro-batch", OPTION_TEXT, OPT(asked.micro_batches),
     "sequences per pass of a whole layer, such as 1,2,4 (default: 1)"},
    {"--sequence", OPTION_INT, OPT(asked.sequence), "maximum tokens per sequence (default: 1024)",
     1, 1 << 22},
    {"--recompute", OPTION_TEXT, OPT(asked.recompute),
     "recomputation in the backward pass of whole blocks: none,selective,full (default: all)"},
    {"--rank", OPTION_TEXT, OPT(asked.ranks), "ranks of the low-rank compression (default: 16)"},
    {"--precision", OPTION_NAME, OPT(asked.precision), "(fp32)", .names = precision_names},
    {"--fused", OPTION_FLAG, OPT(asked.fused),
     "use a fused attention kernel if the device has one"},
    {"--graphs", OPTION_FLAG, OPT(asked.graphs),
     "also time whole layers as captured graphs, if the device has them"},
    {"--quick", OPTION_FLAG, OPT(asked.quick),
     "measure two sizes of each kernel instead of three, with defaults --budget-s 12 --width "
     "0.1"},
    {"--like", OPTION_PATH, OPT(take.like),
     "samples of another launch: measure the same sizes again, to merge the two"},
};

static enum status run(void *options, int *exit_code, struct arena *arena, struct error *err)
{
    struct options *o = options;
    struct take_settings *s = &o->take;
    struct request_settings *asked = &o->asked;
    take_complete(s, asked->quick);
    struct cells_request request = {.threads = (int)s->threads};
    struct take take;
    TRY(request_read(&request, asked, arena, err));
    TRY(take_open(&take, s, request.precision, arena, err));
    TRY(take_guess_rates(&take, arena, err));
    request.largest_s = s->budget_s * share_for_least_work / cells_least_work(&request);
    request.gemm_flop_per_s = take.gemm_flop_per_s;
    request.copy_bytes_per_s = take.copy_bytes_per_s;
    struct cell *cells;
    int cell_count;
    cells_choose(&cells, &cell_count, &request, arena);
    TRY(take_cells(&take, cells, cell_count, arena, err));
    if (!s->quiet) tell_left_out(&request, cells, cell_count);
    struct source source;
    if (asked->model) {
        source = source_of("model", &asked->loaded.document, s->output, arena);
        take.samples.document.sources = &source;
        take.samples.document.source_count = 1;
    }
    return take_save(&take, exit_code, arena, err);
}

const struct command measure_compute = {
    .name = "compute",
    .text = "time kernels and whole transformer layers on this device",
    .usage = "plumbline measure compute [OPTION ...]",
    READS(struct options, rows,
          {.take = {TAKE_DEFAULTS},
           .asked = {.tensors = "1",
                     .contexts = "1",
                     .micro_batches = "1",
                     .ranks = "16",
                     .recompute = "none,selective,full",
                     .sequence = 1024,
                     .precision = FP32}}),
    SHARES(take_options, struct options, take),
    .line = OPT(take.line),
    .run = run,
};
