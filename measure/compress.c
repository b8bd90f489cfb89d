// plumbline-measure compress: times of compression and decompression by size, and by rank, share
// kept and bits.
#include "measure/compress.h"

#include "measure/sampling/cells.h"
#include "measure/request.h"
#include "measure/take.h"

static const double share_for_least_work = 0.4;

struct options {
    struct take_settings take;
    struct request_settings asked;
};

static const struct option_row rows[] = {
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
    request.largest_s = s->budget_s * share_for_least_work /
                        cells_least_work_of_compression(&request);
    request.gemm_flop_per_s = take.gemm_flop_per_s;
    request.copy_bytes_per_s = take.copy_bytes_per_s;
    struct cell *cells;
    int cell_count;
    cells_choose_compression(&cells, &cell_count, &request, arena);
    TRY(take_cells(&take, cells, cell_count, arena, err));
    return take_save(&take, exit_code, arena, err);
}

const struct command measure_compress = {
    .name = "compress",
    .text = "time compression of messages and gradients: low-rank, top-k, quantised",
    .usage = "plumbline measure compress [OPTION ...]",
    READS(struct options, rows,
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
    .run = run,
};
