// What joins the GPUs of a node, and what its pairs and rings get of it (docs/FORMULAS.md section
// 2). Bandwidths are nominal, in bytes/s and one direction.
#pragma once

#include "data/import/said.h"
#include "data/places/cluster.h"

// GPUs are in the order of ranks.
struct mesh {
    int count;
    int capability;   // of NVIDIA's GPUs, times 10; 0: not known
    double *direct;   // [count * count] links of each pair of their own
    double *switched; // [count] of a GPU to switches that reach all others of its island
    int *island;      // [count] switches join the GPUs of one number; 0 in all: one island
    double *bus;      // [count] of a GPU's PCIe; 0: not known
    bool *apart;      // [count * count] pairs that PCIe joins through processors alone
    bool bus_stated;  // bus is what a pair gets, wherever it meets
};

struct mesh mesh_open(int count, struct arena *arena);
// Fills intra's bandwidth, rings and sums in switches of a node of these GPUs. *why: in words.
// false: it cannot be said, and *why not.
bool mesh_put(struct node_group *g, const struct mesh *m, const char **why, struct arena *arena);
// What joins two GPUs of their own or through switches; 0: nothing.
double mesh_joined(const struct mesh *m, int a, int b);
// "rings of 2 GPUs 25 GB/s (best 50: GPUs 0 3), of 4 100, of 8 150"; NULL: there are none.
// Of a node through switches that add up: "all-reduces in switches of 8 GPUs 476 GB/s".
const char *mesh_text(const struct node_group *g, const struct mesh *m, struct arena *arena);

// What a GPU's name in costs says of its links: it begins so. NULL: not known.
struct gpu_links {
    const char *name;
    int capability, links; // capability 0: AMD's, by architecture; links: how many a GPU has
    const char *architecture;
};
const struct gpu_links *mesh_links_of(const char *gpu);
// Whether a file's GPUs may be described as this one. BAD_INPUT: it is another maker's. Another
// capability than the file's (times 10; 0: it states none) is assumed to be meant.
enum status mesh_check_gpu(const char *gpu, bool amd, int capability, struct said *said,
                           const char *path, struct error *err);

// Whether GPUs of this name in costs can reach each other's memory over PCIe.
bool mesh_has_peers(const char *gpu);

// One NVLink, by the compute capability times 10: versions 1 to 5; 0: not known.
double mesh_nvlink_rate(int capability);
// One xGMI link, by AMD's name of the architecture (gfx942) or RCCL's older number (908).
double mesh_xgmi_rate(const char *architecture);
