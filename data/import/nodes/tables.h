// What programs print of the GPUs of a node and of what joins them: nvidia-smi topo -m and -p2p,
// nvidia-smi nvlink -s, rocm-smi --showtopo, amd-smi topology, or lists of GPUs alone (cards.h).
#pragma once

#include "data/import/text.h"

enum { ENTITIES_MAX = 256, LINKS_MAX = 64 };

// Paths from near to far, in NVML's order; then what AMD and -p2p say; PATH_LINKS + k: k links of
// the pair's own, or, where it is more than a GPU has, through switches.
enum path {
    PATH_SELF,
    PATH_PIX,
    PATH_PXB,
    PATH_PHB,
    PATH_NODE,
    PATH_SYS,
    PATH_PCIE,    // of AMD's
    PATH_HOPS,    // links by way of other GPUs
    PATH_REACHED, // -p2p: OK
    PATH_BARRED,  // -p2p: not
    PATH_LINKS
};

enum form { FORM_MATRIX, FORM_PEERS, FORM_LINKS, FORM_AMD, FORM_CARDS };

struct topology {
    const char *path;
    enum form form;
    const char **names; // [count]: GPU0 ..., then NIC0 ... or the NICs' own names
    bool *is_gpu;
    int count, gpu_count;
    int *paths;           // [count * count]
    double *rates;        // [count * count] bytes/s that AMD's table states for a pair; 0: none
    int *links;           // [count] of FORM_LINKS: active links of each GPU
    double *all;          // [count] and the sum of their bytes/s
    bool links_listed;    // FORM_LINKS: active or not
    bool links_unsaid;    // the file would not say of links between GPUs
    const char *gpu_name; // as printed; NULL: it is not
    double memory_bytes;  // of a GPU, as printed; 0: it is not
    const char *program;  // of FORM_CARDS
    const char *meant;    // GPUs of a list that are; NULL: all
    int row_count, cells; // number of rows read so far, and of cells of the last one
    bool cut;             // cells of NICs are cut off: the NICs are left out
    struct arena *arena;
};

enum status topology_read(struct topology *t, const char *text, size_t size, struct error *err);

static inline int path_at(const struct topology *t, int a, int b)
{
    return t->paths[a * t->count + b];
}

enum { PATH_TEXT = 16 };
const char *path_text(const struct topology *t, int path, char text[PATH_TEXT]);
