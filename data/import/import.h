// Foreign formats: each has one reader, a separate command under `plumbline import FORMAT`, listed
// in command_import.c's table.
#ifndef PLUMBLINE_DATA_IMPORT_IMPORT_H
#define PLUMBLINE_DATA_IMPORT_IMPORT_H

#include "data/base/command.h"

// What most readers ask: the file, where the document goes, the name of what it describes.
struct import_files {
    const char *path, *output, *name;
};
extern const struct option_table import_options;
#define IMPORT_TO(usual_name)                                                                      \
    {                                                                                              \
        .output = "-", .name = usual_name                                                          \
    }

extern const struct command import_hf, import_megatron, import_torchtitan, import_deepspeed,
    import_nemo, import_matrix, import_layers, import_collectives, import_nccl, import_nvbandwidth,
    import_topo, import_hostfile, import_slurm, import_sinfo, import_nccl_topology, import_trace;

#endif
