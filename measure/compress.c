// plumbline-measure compress: times of compression and decompression by size, and by rank, share
// kept and bits.
#include "measure/compress.h"

#include "measure/sampling/cells.h"
#include "measure/request.h"
#include "measure/take.h"

static const double share_for_least_work = 0.4;

static enum status run(struct take_settings *s, struct request_settings *asked, int *exit_code,
                       struct arena *arena, struct error *err)
{
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

enum status measure_compress(int argc, char **argv, int *exit_code, struct arena *arena,
                             struct error *err)
{
    struct take_settings s = take_defaults(argc, argv, arena);
    struct request_settings r = {.tensors = "1",
                                 .contexts = "1",
                                 .micro_batches = "1",
                                 .ranks = "4,16,64",
                                 .recompute = "none",
                                 .sequence = 1024,
                                 .precision = FP32};
    const struct option options[] = {
        {"--model", OPTION_MODEL, &r.model, 0, 0, NULL,
         "model whose messages are compressed (default: the width of GPT-2 XL)"},
        {"--shape", OPTION_TEXT, &r.shapes, 0, 0, NULL,
         "the same in words: hidden=N,heads=N; separate several with ';'"},
        {"--micro-batch", OPTION_TEXT, &r.micro_batches, 0, 0, NULL,
         "maximum sequences per message (default: 1)"},
        {"--sequence", OPTION_INT, &r.sequence, 1, 1 << 22, NULL,
         "tokens per sequence (default: 1024)"},
        {"--rank", OPTION_TEXT, &r.ranks, 0, 0, NULL,
         "ranks of the low-rank compression (default: 4,16,64)"},
        {"--precision", OPTION_NAME, &r.precision, 0, 0, precision_names,
         "precision of the messages (default: fp32)"},
        {"--quick", OPTION_FLAG, &r.quick, 0, 0, NULL,
         "measure two sizes instead of three, with defaults --budget-s 12 --width 0.1"},
        {"--like", OPTION_PATH, &s.like, 0, 0, NULL,
         "samples of another launch: measure the same sizes again, to merge the two"},
        TAKE_OPTIONS(&s),
    };
    bool helped;
    TRY(options_read(argc, argv, "plumbline measure compress [OPTION ...]", options,
                     ARRAY_LENGTH(options), NULL, 0, 0, NULL, &helped, err));
    take_complete(&s, r.quick);
    return helped ? OK : run(&s, &r, exit_code, arena, err);
}
