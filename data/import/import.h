// Foreign formats: each has one reader, a separate command under `plumbline import FORMAT`, listed
// in command_import.c's table.
#ifndef PLUMBLINE_DATA_IMPORT_IMPORT_H
#define PLUMBLINE_DATA_IMPORT_IMPORT_H

#include "data/base/command.h"

command_function import_hf;
command_function import_megatron;
command_function import_matrix;
command_function import_layers;
command_function import_collectives;
command_function import_nccl;
command_function import_nvbandwidth;
command_function import_topo;
command_function import_trace;
command_function import_hostfile;
command_function import_slurm;
command_function import_sinfo;
command_function import_nccl_topology;
command_function import_torchtitan;
command_function import_deepspeed;
command_function import_nemo;

// ---- options of a reader (text.c)

enum { OPTION_TEXTS = 100 }; // struct option_texts *

struct option {
    const char *name;
    int type;
    void *to;
    double low, high;
    const char *const *names;
    const char *help;
};

enum status options_read(int argc, char **argv, const char *usage, const struct option *options,
                         size_t option_count, const char **operands, int operand_min,
                         int operand_max, int *operand_count, bool *helped, struct error *err);

#endif
