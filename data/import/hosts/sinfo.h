// Nodes as Slurm knows them, collected from whatever prints them.
#pragma once

#include "data/import/hosts/names.h"

struct slurm_node {
    const char *name, *type; // type "": the file does not state it
    int gpus;
};

struct sinfo {
    struct slurm_node *nodes;
    int count, capacity, without_gpus, away;
    bool all; // include nodes that are down or drained
    struct arena *arena;
    // table: indices of its columns, -1: there is none; scontrol: the current node or partition
    int name_column, gres_column, state_column, available_column, column_count;
    int usual_gpus; // of a node where the table has no GRES; 0: not known
    bool ended;     // the table without GRES, by a line that is not of it
    const char *name, *gres, *tres, *state;
    int total; // nodes of the partition
};

// Nodes of a list that are alike, with what Slurm calls their gres.
enum status sinfo_add(struct sinfo *s, const char *names, const char *gres, const char *state,
                      const struct text_lines *t, struct error *err);
enum status sinfo_read_json(struct sinfo *s, const char *path, const char *text, size_t size,
                            struct error *err);
