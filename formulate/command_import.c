// plumbline import FORMAT FILE: makes documents from foreign formats. Only the table knows which
// formats there are.
#include "data/base/commands.h"
#include "data/import/import.h"
#include "formulate/commands.h"

enum status command_import(int argc, char **argv, int *exit_code, struct arena *arena,
                           struct error *err)
{
    static const struct command formats[] = {
        {"hf", import_hf, .text = "Hugging Face config.json -> model"},
        {"megatron", import_megatron,
         .text = "Megatron-LM argument list or launch script -> model and job"},
        {"torchtitan", import_torchtitan, .text = "torchtitan TOML -> job"},
        {"deepspeed", import_deepspeed, .text = "DeepSpeed JSON -> job"},
        {"nemo", import_nemo, .text = "NeMo or Megatron Bridge YAML -> model and job"},
        {"matrix", import_matrix,
         .text = "measured bandwidths between nodes (mpiGraph, Pipette) -> cluster"},
        {"layers", import_layers,
         .text = "table of measured layers (Sailor) -> costs with layer times"},
        {"collectives", import_collectives,
         .text = "table of measured collectives -> costs with their times"},
        {"nccl-tests", import_nccl, .text = "nccl-tests output or JSON -> samples of collectives"},
        {"nvbandwidth", import_nvbandwidth,
         .text = "nvbandwidth JSON -> samples of transfers and links"},
        {"topo", import_topo,
         .text = "nvidia-smi topo -m output -> table, or cluster with the bandwidths you give"},
        {"hostfile", import_hostfile,
         .text = "hostfile (Open MPI, MPICH, DeepSpeed) -> cluster with its host names"},
        {"slurm", import_slurm,
         .text = "Slurm topology.conf -> cluster with its nodes and switches"},
        {"sinfo", import_sinfo,
         .text = "sinfo -N or scontrol show node output -> cluster of these nodes"},
        {"nccl-topology", import_nccl_topology,
         .text = "NCCL_TOPO_DUMP_FILE XML -> cluster of such nodes"},
        {"trace", import_trace,
         .text = "PyTorch profiler trace -> time by annotated range, or samples"},
    };
    static const struct command_table table = {
        "plumbline import", "format", "FORMAT FILE [OPTION ...]", formats, ARRAY_LENGTH(formats)};
    return commands_run(&table, argc, argv, exit_code, arena, err);
}
