// plumbline import FORMAT FILE: makes documents from foreign formats. Only this list knows which
// formats there are.
#include "data/import/import.h"
#include "formulate/commands.h"

static const struct command *const formats[] = {
    &import_hf,       &import_megatron,    &import_torchtitan, &import_deepspeed,
    &import_axonn,    &import_nemo,        &import_nanotron,   &import_trainer,
    &import_rl,       &import_matrix,      &import_layers,     &import_collectives,
    &import_nccl,     &import_nvbandwidth, &import_links,      &import_topo,
    &import_hostfile, &import_slurm,       &import_sinfo,      &import_nccl_topology,
    &import_trace};

const struct command command_import = {
    .name = "import",
    .text = "convert files of other programs to documents",
    .about = "Reads a file of another program and writes the document that plumbline reads.",
    .program = "plumbline import",
    .what = "format",
    .usage = "plumbline import FORMAT FILE [OPTION ...]",
    COMMAND_KINDS(formats),
};
