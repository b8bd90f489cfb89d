// nccl-tests, printed or JSON (-J), into samples of collectives. Shared by its two readers:
// everything they read passes through the same functions, which check and collect it.
#pragma once

#include "data/numbers/samples.h"

// Bounds for hostile files; real ones have tens of rows and at most thousands of ranks.
enum { NCCL_ROWS_MAX = 1 << 14, NCCL_RANKS_MAX = 8192, NCCL_TESTS_MAX = 256 };

struct nccl_settings {
    const char *operation; // what the file does not state; NULL: it must state it
    bool in_place;
    int64_t ranks, gpus_per_node; // of a file without its list of ranks; 0: not stated
    int64_t test;                 // the only one of the file's tests that is read; 0: all
};

// One test's run: a collective over some ranks.
struct nccl_test {
    const char *operation; // NULL: not known yet
    int *members;          // [rank_count]: the endpoint of each rank
    int *groups;           // [rank_count]
    int rank_count, rank_capacity;
    int group_size; // of the groups that ran simultaneously; 0: not determined yet
    int group_count;
    int process_gpus; // of each process, as the first line says; 0: it does not
};

// One size, one side (out of place or in place), times in microseconds.
struct nccl_row {
    int64_t bytes;
    const char *type, *redop; // redop "": not stated
    double *times_us;         // [time_count]
    int time_count;           // 0: nan
    int warm_ups;
    double mean_us, algbw, busbw; // 0: not stated
};

// What a command before the output says of its processes; 0: nothing.
struct nccl_launch {
    int64_t processes, per_node, nodes, process_gpus;
    bool slurm, hosts,
        goes_on; // hosts: it names some; goes_on: its next words are on the next line
};

struct nccl_import {
    const struct nccl_settings *settings;
    struct samples samples;
    int endpoint_capacity, sample_capacity;
    struct nccl_test test;
    int row_count, test_count;
    int rows_empty, rows_other_type, rows_nan,
        rows_coarse; // skipped; the last: imported, but printed with two digits
    const char *other_type;
    const char *version;
    int cut_tests;       // without their last line
    const char *cut_at;  // the first of them
    const char *guessed; // the collective that was found; NULL: it is stated
    bool guessed_by_name;
    bool any_type; // no row is of a type that samples have: all are read, by their bytes
    const char *assumed_ranks; // how they were found; NULL: they are stated
    bool assumed_columns;
    struct nccl_launch launch; // the last command of a launcher
    struct arena *arena;
};

// `where`: the file and the place in it, for messages; each function writes "WHERE: why".
enum status nccl_begin_test(struct nccl_import *n, const char *program, const char *where,
                            struct error *err);
enum status nccl_add_rank(struct nccl_import *n, int64_t rank, int64_t group, const char *host,
                          int64_t device, const char *device_name, const char *where,
                          struct error *err);
enum status nccl_add_row(struct nccl_import *n, const struct nccl_row *row, const char *where,
                         struct error *err);

// nccl_guess.c: takes what the words of a line say of a launch: of mpirun, srun or a program alone.
void nccl_take_launch(struct nccl_import *n, const char *const *words, int count);

// What the text does not state of a test whose table begins: its collective (program: named
// elsewhere, or NULL) and its ranks, by its row with most bandwidth and the file's name. What
// cannot be found stays unknown, and the first row is refused.
enum status nccl_guess(struct nccl_import *n, const char *program, const struct nccl_row *best,
                       const char *path, const char *where, struct error *err);

// ---- of nccl.c, for it

// From this bandwidth on, printed numbers have at least two digits.
static const double NCCL_BANDWIDTH_CHECKED = 1, NCCL_RATIO_TOLERANCE = 0.02;

// The operation of a program's name, "all_reduce_perf" with any path before it; NULL if samples
// have no such operation.
const char *nccl_operation(const char *program);
enum status nccl_refuse_program(const char *program, const char *where, struct error *err);
// Moves the first group's ranks to the front. Groups that ran simultaneously have one printed time
// for all of them, so they give one sample, of the first group, marked as not alone.
enum status nccl_settle_groups(struct nccl_import *n, const char *where, struct error *err);

enum status nccl_read_text(struct nccl_import *n, const char *path, const char *text, size_t size,
                           struct error *err);
enum status nccl_read_json(struct nccl_import *n, const char *path, const char *text, size_t size,
                           struct error *err);
