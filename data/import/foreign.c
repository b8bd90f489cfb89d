// See foreign.h.
#include "data/import/foreign.h"

#include <string.h>

#include "data/base/names.h"

#define TOPO_ALONE "import topo reads GPUs, with --nics, --nic-kind and --nic-bytes-per-s"
#define OF_PODS "what a Pod asks for", NULL, "kubectl get nodes -o json says which nodes there are"
#define SEE_TOPO "nvidia-smi topo -m and nvidia-smi -L say what a node has (import topo)"
#define SEE_LINKS "ib_write_bw and nccl-tests measure what messages between GPUs get"

// words: all of which the text has, up to NULL. door: the command that reads it; NULL: none.
static const struct {
    const char *words[4], *what, *door, *instead;
} programs[] = {
    {{"# nThread"}, "nccl-tests", "nccl-tests", NULL},
    {{"Collective test starting"}, "nccl-tests", "nccl-tests", NULL},
    {{"busbw", "algbw", "redop"}, "nccl-tests", "nccl-tests", NULL},
    {{"nvbandwidth Version"}, "nvbandwidth", "nvbandwidth", NULL},
    {{"#bytes", "#iterations"}, "perftest", "links", NULL},
    {{"# OSU MPI"}, "OSU's benchmarks", "links", NULL},
    {{"P2P=", "Matrix"}, "p2pBandwidthLatencyTest", "links", NULL},
    {{"[ ID] Interval"}, "iperf", "links", NULL},
    {{"GPU0", "GPU1", "CPU Affinity"}, "nvidia-smi topo -m", "topo", NULL},
    {{"NVIDIA-SMI ", "Driver Version"}, "nvidia-smi", "topo", NULL},
    {{"(UUID: GPU-"}, "nvidia-smi -L", "topo", NULL},
    {{"GPU[0]"}, "rocm-smi", "topo", NULL},
    {{" NODELIST"}, "sinfo or squeue", "sinfo", NULL},
    {{"NODELIST "}, "sinfo or squeue", "sinfo", NULL},
    {{"NodeName="}, "Slurm's nodes", "sinfo", NULL},
    {{"SwitchName="}, "Slurm's topology", "slurm", NULL},
    {{"<system version"}, "NCCL's topology", "nccl-topology", NULL},
    {{":::MLLOG"}, "MLPerf's log of a run", NULL, "plumbline explain reads runs"},
    {{"Memory Latency Checker"}, "Intel's Memory Latency Checker, a host's memory", NULL, SEE_TOPO},
    {{"Best Rate MB/s"}, "STREAM, a host's memory", NULL, SEE_TOPO},
    {{"Node count", "Distance"}, "numactl", NULL, SEE_TOPO},
    {{"available:", "nodes (", "node distances"}, "numactl, a host's memory", NULL, SEE_TOPO},
    {{"Architecture:", "Model name:"}, "lscpu, a host's processors", NULL, SEE_TOPO},
    {{"CA type:", "Port 1:", "Rate:"}, "ibstat, network cards alone", NULL, TOPO_ALONE},
    {{"base lid:", "rate:"}, "ibstatus, network cards alone", NULL, TOPO_ALONE},
    {{"hca_id:"}, "ibv_devinfo, network cards alone", NULL, TOPO_ALONE},
    {{"mlx5_", " port ", "==>"}, "ibdev2netdev, names of network cards", NULL, SEE_TOPO},
    {{"# gpu", "pwr"}, "nvidia-smi dmon, a load over time", NULL, SEE_TOPO},
    {{"# gpu", "pid"}, "nvidia-smi pmon, a load over time", NULL, SEE_TOPO},
    {{"#Entity"}, "dcgmi dmon, a load over time", NULL, SEE_TOPO},
    {{"# Entity"}, "dcgmi dmon, a load over time", NULL, SEE_TOPO},
    {{"Successfully ran diagnostic"}, "dcgmi diag, whether GPUs are well", NULL, SEE_TOPO},
    {{"| Topology Information"}, "dcgmi topo", NULL, SEE_TOPO},
    {{"Host to Device Bandwidth", "bandwidthTest"},
     "CUDA's bandwidthTest, copies of one GPU",
     NULL,
     "nvbandwidth has these by device (import nvbandwidth)"},
    {{"NCCL INFO"},
     "NCCL's log",
     NULL,
     "NCCL_TOPO_DUMP_FILE has the node (import nccl-topology), nccl-tests its rates"},
    {{"nvidia.com/gpu:", "containers:"}, OF_PODS},
    {{"nvidia.com/gpu", "\"containers\""}, OF_PODS},
    {{"PING ", "icmp_seq"}, "ping", NULL, SEE_LINKS},
    {{"Thread fairness:"}, "sysbench", NULL, SEE_TOPO},
    {{"Run status group"}, "fio, a disk", NULL, SEE_TOPO},
};

enum status foreign_refuse(const char *path, const char *text, const char *door, struct error *err)
{
    for (size_t i = 0; i < ARRAY_LENGTH(programs); i++) {
        const char *reads = programs[i].door;
        if (!has_all_of(text, programs[i].words)) continue;
        if (reads && !strcmp(reads, door)) return OK;
        if (reads)
            return refuse(err, "%s: is of %s: plumbline import %s reads it", path, programs[i].what,
                          reads);
        return refuse(err, "%s: is of %s: %s", path, programs[i].what, programs[i].instead);
    }
    return OK;
}
