// Taking samples, in the same way for every sub-command: opens a back end, estimates its rates,
// repeats cells in rounds, and saves the document.
#ifndef PLUMBLINE_MEASURE_TAKE_H
#define PLUMBLINE_MEASURE_TAKE_H

#include "data/base/options.h"
#include "measure/sampling/backend.h"
#include "measure/sampling/simulated.h"

struct take_settings {
    const char *backend, *simulate, *output, *name;
    const char *like;    // a samples file of another launch, whose sizes are used again; NULL: none
    const char *command; // as given, for the document
    int64_t threads, seed;
    double budget_s, width; // 0: not given
    bool quiet, shared;
};

struct take {
    const struct take_settings *settings;
    const struct backend *backend;
    void *session;
    double begin_s;
    double gemm_flop_per_s, copy_bytes_per_s; // estimated
    struct samples samples;
    double load_before; // of the processors, before anything was measured; 0: unknown
    bool interrupted;   // by a signal: the document has what was taken until then
};

struct take_settings take_defaults(int argc, char **argv, struct arena *arena);
// Defaults for what was not given: 20 s and 5 %, or, quick, 12 s and 10 %.
void take_complete(struct take_settings *settings, bool quick);

// The options that every sub-command has, for its own table.
#define TAKE_OPTIONS(s)                                                                            \
    {"--threads",                                                                                  \
     OPTION_INT,                                                                                   \
     &(s)->threads,                                                                                \
     1,                                                                                            \
     1024,                                                                                         \
     NULL,                                                                                         \
     "number of threads (default: all processors)"},                                               \
        {"--budget-s",                                                                             \
         OPTION_NUMBER,                                                                            \
         &(s)->budget_s,                                                                           \
         0.01,                                                                                     \
         1e6,                                                                                      \
         NULL,                                                                                     \
         "seconds to spend; every operation is measured at least once (default: 20)"},             \
        {"--width",                                                                                \
         OPTION_NUMBER,                                                                            \
         &(s)->width,                                                                              \
         1e-6,                                                                                     \
         10,                                                                                       \
         NULL,                                                                                     \
         "target width of the 95 % interval, relative to the median (default: 0.05)"},             \
        {"--seed",                                                                                 \
         OPTION_INT,                                                                               \
         &(s)->seed,                                                                               \
         0,                                                                                        \
         1e15,                                                                                     \
         NULL,                                                                                     \
         "seed for the operands' values and the order of repetitions (default: 1)"},               \
        {"--name",                                                                                 \
         OPTION_TEXT,                                                                              \
         &(s)->name,                                                                               \
         0,                                                                                        \
         0,                                                                                        \
         NULL,                                                                                     \
         "device name in the costs (default: the name of the processor or device)"},               \
        {"--backend",                                                                              \
         OPTION_TEXT,                                                                              \
         &(s)->backend,                                                                            \
         0,                                                                                        \
         0,                                                                                        \
         NULL,                                                                                     \
         "device to measure: cpu, cuda or simulated (default: cpu)"},                              \
        {"--simulate", OPTION_TEXT, &(s)->simulate, 0, 0, NULL, simulated_help},                   \
        {"--shared",                                                                               \
         OPTION_FLAG,                                                                              \
         &(s)->shared,                                                                             \
         0,                                                                                        \
         0,                                                                                        \
         NULL,                                                                                     \
         "the machine is shared with other programs: measure CPU time instead of elapsed time"},   \
        {"--quiet", OPTION_FLAG, &(s)->quiet, 0, 0, NULL, "print nothing but errors on stderr"},   \
    {                                                                                              \
        "-o", OPTION_PATH, &(s)->output, 0, 0, NULL,                                               \
            "output file for the samples (default: standard output)"                               \
    }

enum status take_open(struct take *t, const struct take_settings *settings,
                      enum precision precision, struct arena *arena, struct error *err);
// From a few repetitions, or from another launch's estimates; stored in the document, so that a
// later launch can reuse them.
enum status take_guess_rates(struct take *t, struct arena *arena, struct error *err);
// Adds the cells' samples to the document.
enum status take_cells(struct take *t, struct cell *cells, int cell_count, struct arena *arena,
                       struct error *err);
// *exit_code: EXIT_OPEN after a signal.
enum status take_save(struct take *t, int *exit_code, struct arena *arena, struct error *err);

#endif
