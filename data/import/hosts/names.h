// Nodes by name: lists in Slurm's syntax, and a cluster whose nodes have these names.
#pragma once

#include "data/import/text.h"
#include "data/places/cluster.h"

struct host_names {
    const char **items;
    int count, capacity;
    struct arena *arena;
};
// Adds the names of a list: "a,n[1-3,7],r[1-2]n[01-16]". BAD_INPUT at the current line: malformed,
// or with more nodes than a cluster may have.
enum status host_names_add(struct host_names *names, const char *list, const struct text_lines *at,
                           struct error *err);

// The shipped cluster or file `like`, and its first group. BAD_INPUT: NULL, or no such name.
enum status host_cluster(struct cluster *c, const char *like, struct arena *arena,
                         struct error *err);
enum status host_group(struct node_group *g, const char *like, struct arena *arena,
                       struct error *err);
