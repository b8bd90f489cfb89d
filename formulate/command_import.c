// plumbline import FORMAT FILE: documents out of foreign formats. The table is all that knows
// which there are.
#include "data/base/commands.h"
#include "data/import/import.h"
#include "formulate/commands.h"

enum status command_import(int argc, char **argv, int *exit_code, struct arena *arena,
                           struct error *err)
{
    static const struct command formats[] = {
        {"hf", import_hf, .text = "a Hugging Face config.json: a model"},
        {"megatron", import_megatron,
         .text = "a Megatron-LM argument list or launch script: a model and a job"},
        {"torchtitan", import_torchtitan, .text = "torchtitan's TOML: a job"},
        {"deepspeed", import_deepspeed, .text = "DeepSpeed's JSON: a job"},
        {"nemo", import_nemo, .text = "NeMo's or Megatron-Bridge's YAML: a model and a job"},
        {"matrix", import_matrix,
         .text = "measured bandwidths between nodes (mpiGraph, Pipette): a cluster with them"},
        {"layers", import_layers,
         .text = "a table of measured layers (Sailor): costs with layer times"},
        {"collectives", import_collectives,
         .text = "a table of measured collectives: costs with their times"},
        {"nccl-tests", import_nccl,
         .text = "what nccl-tests prints, or its JSON: samples of collectives"},
        {"nvbandwidth", import_nvbandwidth,
         .text = "nvbandwidth's JSON: samples of transfers and links"},
        {"topo", import_topo,
         .text = "what nvidia-smi topo -m prints: a table, or a cluster with the bandwidths you "
                 "give"},
        {"hostfile", import_hostfile,
         .text = "a hostfile (Open MPI, MPICH, DeepSpeed): a cluster whose nodes have its names"},
        {"slurm", import_slurm,
         .text = "Slurm's topology.conf: a cluster whose nodes hang on its switches"},
        {"sinfo", import_sinfo,
         .text = "what sinfo -N or scontrol show node prints: a cluster of these nodes"},
        {"nccl-topology", import_nccl_topology,
         .text = "NCCL_TOPO_DUMP_FILE's XML: a cluster of such nodes"},
        {"trace", import_trace,
         .text = "a PyTorch profiler's trace: time by annotated range, or samples"},
    };
    static const struct command_table table = {
        "plumbline import", "format", "FORMAT FILE [OPTION ...]", formats, ARRAY_LENGTH(formats)};
    return commands_run(&table, argc, argv, exit_code, arena, err);
}
