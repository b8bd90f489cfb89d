// plumbline import FORMAT FILE: makes documents from foreign formats. Only the table knows which
// formats there are.
#include "data/base/commands.h"
#include "data/import/import.h"
#include "formulate/commands.h"

static const struct command hf = {
    .name = "hf", .words = import_hf, .text = "Hugging Face config.json -> model"};
static const struct command megatron = {
    .name = "megatron",
    .words = import_megatron,
    .text = "Megatron-LM argument list or launch script -> model and job"};
static const struct command torchtitan = {
    .name = "torchtitan", .words = import_torchtitan, .text = "torchtitan TOML -> job"};
static const struct command deepspeed = {
    .name = "deepspeed", .words = import_deepspeed, .text = "DeepSpeed JSON -> job"};
static const struct command nemo = {
    .name = "nemo", .words = import_nemo, .text = "NeMo or Megatron Bridge YAML -> model and job"};
static const struct command matrix = {
    .name = "matrix",
    .words = import_matrix,
    .text = "measured bandwidths between nodes (mpiGraph, Pipette) -> cluster"};
static const struct command layers = {
    .name = "layers",
    .words = import_layers,
    .text = "table of measured layers (Sailor) -> costs with layer times"};
static const struct command collectives = {
    .name = "collectives",
    .words = import_collectives,
    .text = "table of measured collectives -> costs with their times"};
static const struct command nccl = {.name = "nccl-tests",
                                    .words = import_nccl,
                                    .text = "nccl-tests output or JSON -> samples of collectives"};
static const struct command nvbandwidth = {
    .name = "nvbandwidth",
    .words = import_nvbandwidth,
    .text = "nvbandwidth JSON -> samples of transfers and links"};
static const struct command topo = {
    .name = "topo",
    .words = import_topo,
    .text = "nvidia-smi topo -m output -> table, or cluster with the bandwidths you give"};
static const struct command hostfile = {
    .name = "hostfile",
    .words = import_hostfile,
    .text = "hostfile (Open MPI, MPICH, DeepSpeed) -> cluster with its host names"};
static const struct command slurm = {
    .name = "slurm",
    .words = import_slurm,
    .text = "Slurm topology.conf -> cluster with its nodes and switches"};
static const struct command sinfo = {
    .name = "sinfo",
    .words = import_sinfo,
    .text = "sinfo -N or scontrol show node output -> cluster of these nodes"};
static const struct command nccl_topology = {
    .name = "nccl-topology",
    .words = import_nccl_topology,
    .text = "NCCL_TOPO_DUMP_FILE XML -> cluster of such nodes"};
static const struct command trace = {
    .name = "trace",
    .words = import_trace,
    .text = "PyTorch profiler trace -> time by annotated range, or samples"};

static const struct command *const kinds[] = {
    &hf,   &megatron,    &torchtitan, &deepspeed, &nemo,  &matrix, &layers,        &collectives,
    &nccl, &nvbandwidth, &topo,       &hostfile,  &slurm, &sinfo,  &nccl_topology, &trace};

const struct command command_import = {
    .name = "import",
    .text = "convert files of other programs to documents",
    .about = "Reads a file of another program and writes the document that plumbline reads.",
    .program = "plumbline import",
    .what = "format",
    .usage = "plumbline import FORMAT FILE [OPTION ...]",
    COMMAND_KINDS(kinds),
};
