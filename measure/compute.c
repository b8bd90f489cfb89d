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

static enum status run(struct take_settings *s, struct request_settings *asked, int *exit_code,
                       struct arena *arena, struct error *err)
{
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

enum status measure_compute(int argc, char **argv, int *exit_code, struct arena *arena,
                            struct error *err)
{
    struct take_settings s = take_defaults(argc, argv, arena);
    struct request_settings r = {.tensors = "1",
                                 .contexts = "1",
                                 .micro_batches = "1",
                                 .ranks = "16",
                                 .recompute = "none,selective,full",
                                 .sequence = 1024,
                                 .precision = FP32};
    const struct option options[] = {
        {"--model", OPTION_MODEL, &r.model, 0, 0, NULL,
         "model whose layers are timed (default: the shape of GPT-2 XL)"},
        {"--shape", OPTION_TEXT, &r.shapes, 0, 0, NULL,
         "the same in words: "
         "hidden=N,heads=N[,ffn=N,kv_heads=N,head_width=N,vocabulary=N,positions=N,gated=1,rms=1]; "
         "separate several with ';'"},
        {"--tensor", OPTION_TEXT, &r.tensors, 0, 0, NULL,
         "tensor degrees to split the matrices by, such as 1,2,4 (default: 1)"},
        {"--context", OPTION_TEXT, &r.contexts, 0, 0, NULL,
         "context degrees to split whole layers by (default: 1)"},
        {"--micro-batch", OPTION_TEXT, &r.micro_batches, 0, 0, NULL,
         "sequences per pass of a whole layer, such as 1,2,4 (default: 1)"},
        {"--sequence", OPTION_INT, &r.sequence, 1, 1 << 22, NULL,
         "maximum tokens per sequence (default: 1024)"},
        {"--recompute", OPTION_TEXT, &r.recompute, 0, 0, NULL,
         "recomputation in the backward pass of whole blocks: none,selective,full (default: all)"},
        {"--rank", OPTION_TEXT, &r.ranks, 0, 0, NULL,
         "ranks of the low-rank compression (default: 16)"},
        {"--precision", OPTION_NAME, &r.precision, 0, 0, precision_names, "(fp32)"},
        {"--fused", OPTION_FLAG, &r.fused, 0, 0, NULL,
         "use a fused attention kernel if the device has one"},
        {"--graphs", OPTION_FLAG, &r.graphs, 0, 0, NULL,
         "also time whole layers as captured graphs, if the device has them"},
        {"--quick", OPTION_FLAG, &r.quick, 0, 0, NULL,
         "measure two sizes of each kernel instead of three, with defaults --budget-s 12 --width "
         "0.1"},
        {"--like", OPTION_PATH, &s.like, 0, 0, NULL,
         "samples of another launch: measure the same sizes again, to merge the two"},
        TAKE_OPTIONS(&s),
    };
    bool helped;
    TRY(options_read(argc, argv, "plumbline measure compute [OPTION ...]", options,
                     ARRAY_LENGTH(options), NULL, 0, 0, NULL, &helped, err));
    take_complete(&s, r.quick);
    return helped ? OK : run(&s, &r, exit_code, arena, err);
}
