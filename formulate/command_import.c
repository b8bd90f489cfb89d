// plumbline import FORMAT FILE: documents out of foreign formats. The table below is all that knows
// which there are.
#include <stdio.h>
#include <string.h>

#include "formulate/commands.h"
#include "data/import/import.h"

static const struct format {
    const char *name;
    command_function *function;
    const char *help;
} formats[] = {
    {"hf", import_hf, "a Hugging Face config.json: a model"},
    {"megatron", import_megatron,
     "a Megatron-LM argument list or launch script: a model and a job"},
    {"matrix", import_matrix,
     "measured bandwidths between nodes (mpiGraph, Pipette): a cluster with them"},
    {"layers", import_layers, "a table of measured layers (Sailor): costs with layer times"},
    {"collectives", import_collectives, "a table of measured collectives: costs with their times"},
    {"nccl-tests", import_nccl, "what nccl-tests prints, or its JSON: samples of collectives"},
    {"nvbandwidth", import_nvbandwidth, "nvbandwidth's JSON: samples of transfers and links"},
    {"topo", import_topo,
     "what nvidia-smi topo -m prints: a table, or a cluster with the bandwidths you give"},
    {"trace", import_trace, "a PyTorch profiler's trace: time by annotated range, or samples"},
};

enum status command_import(int argc, char **argv, int *exit_code, struct arena *arena,
                           struct error *err)
{
    char known[200] = "";
    if (argc > 1 && !strcmp(argv[1], "--help")) {
        printf("usage: plumbline import FORMAT FILE [options]; plumbline import FORMAT --help\n");
        for (size_t i = 0; i < ARRAY_LENGTH(formats); i++)
            printf("  %-12s %s\n", formats[i].name, formats[i].help);
        return OK;
    }
    for (size_t i = 0; i < ARRAY_LENGTH(formats); i++) {
        if (argc > 1 && !strcmp(argv[1], formats[i].name))
            return formats[i].function(argc - 1, argv + 1, exit_code, arena, err);
        size_t n = strlen(known);
        snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "", formats[i].name);
    }
    if (argc < 2)
        return fail(
            err, BAD_INPUT,
            "an operand is missing; usage: plumbline import FORMAT FILE [options]; formats: %s",
            known);
    if (argv[1][0] == '-')
        return fail(err, BAD_INPUT,
                    "unknown option '%s'; usage: plumbline import FORMAT FILE [options]", argv[1]);
    return fail(err, BAD_INPUT, "expected a format (%s), found '%s'", known, argv[1]);
}
