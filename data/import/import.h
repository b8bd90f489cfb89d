// Foreign formats. Each has one reader: a file here or in a room below, and a row in
// formulate/command_import.c. A reader is a command: its options begin with a struct reading, whose
// `reader` says what is read and made; everything else is the same for all.
#pragma once

#include "data/base/command.h"
#include "data/import/said.h"
#include "data/inputs/costs.h"
#include "data/numbers/samples.h"

extern const struct command import_hf, import_megatron, import_torchtitan, import_deepspeed,
    import_axonn, import_nemo, import_nanotron, import_trainer, import_rl, import_matrix,
    import_layers, import_collectives, import_nccl, import_nvbandwidth, import_topo, import_links,
    import_hostfile, import_slurm, import_sinfo, import_nccl_topology, import_trace;

// What a reader is asked and given, and what it makes.
struct reading {
    const struct reader *reader;
    const char *path, *output; // FILE; -o
    const char *name;          // --name; of samples, the GPU's
    bool strict;               // --strict: what would be assumed is refused
    struct said said;          // of the file, told when all is written
    struct document file;      // that was read
    const char *text;
    size_t size;
    struct arena *arena;
    struct cluster cluster; // one of these, as the reader says
    struct costs costs;
    struct samples samples;
    const struct document *into; // the costs that were added to; NULL: none
};

struct reader {
    const char *role; // of the file, among the sources of what is made
    enum { MAKES_OTHER, MAKES_CLUSTER, MAKES_COSTS, MAKES_SAMPLES } makes; // OTHER: save
    bool opens; // it opens the file itself
    // options: the command's, whose first member is a struct reading
    enum status (*read)(void *options, struct error *err);
    void (*tell)(const void *options); // on stderr, when all is written; NULL: nothing
    enum status (*save)(void *options, struct error *err); // of OTHER; NULL: read has written
};
// Runs the reader: reads the file, checks and writes what was made of it.
enum status import_run(void *options, int *exit_code, struct arena *arena, struct error *err);

// FILE, -o and --name, offsets in struct reading.
extern const struct option_table import_rows;
#define READER(rows, type, initial)                                                                \
    .options = OPTION_TABLE(rows), .shared[0].table = &import_rows, .size = sizeof(type),          \
    .defaults = &(initial), .run = import_run

// BAD_INPUT: larger than a file of settings is, and than its readers should hold in memory.
enum status import_check_size(const char *path, struct error *err);
// The whole file; BAD_INPUT if it is not text. d: what made_from states about it.
enum status import_read(struct document *d, const char *path, const char **text, size_t *size,
                        struct arena *arena, struct error *err);
// The document of a cluster that describes nodes, shipped or a file: --like.
enum status import_like(struct cluster *c, const char *like, struct arena *arena,
                        struct error *err);
