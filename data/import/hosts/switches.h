// Which nodes are below which switches or in which blocks, in the words of Slurm: topology.conf of
// the tree and block plugins, topology.yaml, scontrol show topology.
#pragma once

#include "data/import/hosts/names.h"

struct network_switch {
    const char *name;
    const char *below; // list of switches, NULL: none
    int line;
    int parent, height; // -1: none; not known
};

enum { LEVELS_MOST = 8, SIZES_MOST = LEVELS_MOST };

struct tree {
    struct network_switch *switches; // and blocks, and blocks of blocks
    int count, capacity;
    int blocks;            // the first so many are blocks; 0: switches
    int sizes[SIZES_MOST]; // of blocks, ascending
    int size_count, levels;
    const char *plugin; // of topology.yaml: another than these; NULL: none
    const char *chosen; // of its several topologies, which was taken unasked; NULL: none
    struct host_names nodes;
    int *leaf; // [nodes.count]
    int leaf_capacity;
    struct arena *arena;
};

// topology: which one of topology.yaml; NULL: the cluster's default, or its first.
enum status switches_read(struct tree *tree, const char *path, const char *text, size_t size,
                          const char *topology, struct error *err);
