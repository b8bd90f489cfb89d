// Taking samples, in the same way for every sub-command: opens a back end, estimates its rates,
// repeats cells in rounds, and saves the document.
#pragma once

#include "data/base/command.h"
#include "measure/sampling/simulated.h"

struct take_settings {
    const char *backend, *simulate, *output, *name;
    const char *like; // a samples file of another launch, whose sizes are used again; NULL: none
    struct command_line line; // as given, for the document
    int64_t threads, seed;    // threads 0: all processors
    int64_t device;
    int best;               // an algorithm's number after ALGORITHM_FIRST
    double budget_s, width; // 0: not given
    bool quiet, shared, exclusive;
};

struct take {
    const struct take_settings *settings;
    const struct backend *backend;
    void *session;
    double begin_s;
    double gemm_flop_per_s, copy_bytes_per_s; // estimated
    struct samples samples;
    double load_before;     // of the processors, before anything was measured; 0: unknown
    struct cell *yardstick; // beside the next cells, which it follows; NULL: none
    bool shared;            // as asked for, or since the machine was busy
    bool interrupted;       // by a signal: the document has what was taken until then
};

#define TAKE_DEFAULTS .backend = "cpu", .output = "-", .seed = 1
// The options that every sub-command has, in its struct take_settings.
extern const struct option_table take_options;
// What was not given: 20 s and 5 %, or, quick, 12 s and 10 %; all processors.
void take_complete(struct take_settings *settings, bool quick);

enum status take_open(struct take *t, const struct take_settings *settings,
                      enum precision precision, struct arena *arena, struct error *err);
// From a few repetitions, or from another launch's estimates; stored in the document, so that a
// later launch can reuse them.
enum status take_guess_rates(struct take *t, struct arena *arena, struct error *err);
// One more quantity in a document.
void take_note_quantity(struct samples *s, const char *name, double *values, int count,
                        struct arena *arena);
// Adds the cells' samples to the document.
enum status take_cells(struct take *t, struct cell *cells, int cell_count, struct arena *arena,
                       struct error *err);
// Pairs of a block's passes, in turn without a rest, for at least so long each.
enum status take_sustained(struct take *t, struct cell *pairs, int cell_count, double least_s,
                           struct arena *arena, struct error *err);
// *exit_code: EXIT_OPEN after a signal.
enum status take_save(struct take *t, int *exit_code, struct arena *arena, struct error *err);

// Several launches on one machine in one document: the same operations, with each launch's
// repetitions in sequence.

// documents[count], count >= 2, of the same machine and the same operations; otherwise BAD_INPUT
// names the file and the difference. With `partial`, operations may be missing in some of them.
// The sources are the caller's.
enum status samples_merge(struct samples *merged, const struct samples *documents, int count,
                          bool partial, struct arena *arena, struct error *err);

// What the command lines of compute and compress request: shapes, degrees, micro-batches, ranks.

struct request_settings {
    const char *model;  // a file; NULL: none
    const char *shapes; // in words, separated by ';'; NULL: none
    const char *tensors, *contexts, *micro_batches, *ranks; // "1,2,4"
    const char *experts;                                    // NULL: none
    const char *recompute;                                  // "none,selective,full"
    int64_t sequence;
    int precision;
    bool quick, fused, graphs;
    double sustained_s;  // 0: no turns without a rest
    int gradients;       // in gradient_names
    int recipe;          // enum recipe
    struct model loaded; // set by request_read if a model was named
};

extern const char *const gradient_names[]; // "fp32", "same"

// GPT-2 XL's shape where neither a model nor shapes are given. BAD_INPUT names the option.
enum status request_read(struct cells_request *request, struct request_settings *settings,
                         struct arena *arena, struct error *err);

// The widest possible head: beyond it random scores leave the range of the exponential that
// softmax uses.
enum { HEAD_WIDTH_MAX = 1024 };
