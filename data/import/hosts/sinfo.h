// Nodes as Slurm knows them, collected from whatever prints them.
#pragma once

#include "data/import/hosts/names.h"
#include "data/import/machines.h"

struct slurm_node {
    const char *name, *type; // type "": the file does not state it
    int gpus, parts;         // parts: MIG's, which are no GPUs
    int times;               // nodes that are alike and have no names; 0: one with a name
    bool away;               // down or drained
    const struct cloud_machine *machine; // whose network it has; NULL: that of its GPU's cluster
};

struct sinfo {
    struct slurm_node *nodes; // all that the file has; behind sinfo_end those that are meant
    int next, listed;         // the node behind the one found last; names given, with repeated ones
    int count, capacity, without_gpus, away, parted; // parted: with parts of GPUs
    bool all;                                        // include nodes that are down or drained
    struct arena *arena;
    // table: indices of its columns, -1: there is none; scontrol: the current node or partition
    int name_column, gres_column, state_column, available_column, column_count;
    int nodes_column; // that counts what a row names; 0: there is none
    int usual_gpus;   // of a node where the table has no GRES; 0: not known
    bool no_header;   // of the table
    bool of_jobs;     // the table is squeue's
    bool ended;       // the table without GRES, by a line that is not of it
    const char *name, *gres, *tres, *state, *usual_gres; // usual: of NodeName=DEFAULT
    int total;                                           // nodes of the partition
    bool allocates; // the node's record is a running node's, not a configuration's
    // gres.conf: GPUs of the record, -1: it is another file's; whether their number is stated, and
    // AutoDetect finds it where it is not; the record's type
    int devices;
    bool counted, detects;
    const char *type;
    // what the next nodes are (slurm_node); what is assumed of them (NULL: nothing)
    int times;
    const struct cloud_machine *machine;
    const char *guessed;
    int64_t asked_nodes, asked_line; // 0: not asked
};

// Nodes of a list that are alike, with what Slurm calls their gres. A node that is there already is
// listed for another partition, or, in gres.conf, has more devices. BAD_INPUT: it has other GPUs
// there.
enum status sinfo_add(struct sinfo *s, const char *names, const char *gres, const char *state,
                      const struct text_lines *t, struct error *err);
// Nodes that are alike and have no names.
enum status sinfo_add_unnamed(struct sinfo *s, int64_t nodes, const char *type, int64_t gpus,
                              const struct text_lines *t, struct error *err);
// Machines in people's words; s->count stays 0 where there are none.
enum status prose_read(struct sinfo *s, struct text_lines *t, struct error *err);
// Whether JSON asks a cloud for machines.
bool schedulers_ask(const char *text);
// pbsnodes, ray status, files that ask for machines of clouds; *any: it is one with nodes.
enum status schedulers_read(struct sinfo *s, struct text_lines *t, const char *text, bool *any,
                            struct error *err);
// Leaves the nodes with GPUs that work, and counts the others.
void sinfo_end(struct sinfo *s);
enum status sinfo_read_json(struct sinfo *s, const char *path, const char *text, size_t size,
                            struct error *err);

// kubectl get node(s) -o json: one of its nodes; kubectl describe node: whether the text is that,
// and its nodes. BAD_INPUT: another kind of object; no name, no number of GPUs where one is
// expected.
enum status kubernetes_read_node(struct sinfo *s, const struct json *node, struct text_lines *t,
                                 struct error *err);
bool kubernetes_describes(const char *text);
enum status kubernetes_read_text(struct sinfo *s, struct text_lines *t, struct error *err);
