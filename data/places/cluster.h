// A cluster: groups of identical nodes, and the links between them. Bandwidths are nominal here;
// efficiencies are in the costs.
#pragma once

#include "data/text/document.h"

enum nic_kind { NIC_INFINIBAND, NIC_ROCE, NIC_ETHERNET, NIC_KIND_COUNT };
extern const char *const nic_kind_names[]; // "infiniband", "roce", "ethernet"

struct link {
    double bytes_per_s; // > 0, one direction
    double latency_s;   // >= 0
};

struct nic {
    enum nic_kind kind;
    int count;        // per node
    struct link link; // of one
};

// What rings of so many GPUs of a node get together where links of their own join the GPUs, not a
// switch: per GPU, one direction, nominal.
struct ring_rate {
    int gpus;           // of one ring
    int apart;          // in the order of the node's GPUs; 0: any distance
    double bytes_per_s; // instead of intra's
};

// A memory besides the GPU's own that parts of a stage may be in (struct tier_option). The one
// called "host" is the host's: its rates are those of the costs.
struct tier {
    const char *name;                           // unique in its group
    int64_t bytes;                              // of all that share it; 0: no limit
    double read_bytes_per_s, write_bytes_per_s; // of all that share it; 0 for the host
    int gpus;                                   // that share it, evenly
    double read_pj_per_byte, write_pj_per_byte; // energy; 0: none is stated
    bool in_place; // a GPU computes on what is there; else it is first copied to the GPU's own
};

struct node_group {
    const char *name; // unique; a plan's "device type" is a node group
    const char *gpu;  // as named in the costs
    int nodes, gpus_per_node;
    int64_t memory_bytes; // of one GPU
    struct link intra;    // between two GPUs of a node, per GPU
    struct nic *nics;     // at most one entry per kind
    int nic_count;
    double gpu_hour_price;   // of one GPU, in the user's currency; 0: not stated
    struct ring_rate *rings; // the first that matches counts; none: intra's bandwidth
    int ring_count;
    struct ring_rate *switch_sums; // by rising gpus: from so many on, all-reduces through switches
    int switch_sum_count;          // that add up reach this bus bandwidth; none: they do not
    struct tier *tiers;
    int tier_count;
    double memory_read_pj_per_byte, memory_write_pj_per_byte; // of a GPU's own memory, as a tier's
};

// Between two groups (or between nodes of one group), for one stream, instead of what the NICs
// provide. Links have a direction.
struct group_link {
    int from, to;
    struct link link;
};

// A named node, if links are known node by node.
struct cluster_node {
    const char *name; // unique
    int group;
    int *switches; // [level_count] number of its switch at each level, nearest level first; -1:
                   // none
};

// One level of the network: this link joins nodes below one of its switches that have no common
// switch at a nearer level.
struct network_level {
    const char *name;
    struct link link;
};

// Optional: the nodes one by one. measured[from * node_count + to] is a link as measured, in this
// direction; bytes_per_s 0: not measured, as from a node to itself.
struct places {
    struct cluster_node *nodes; // [node_count], node_count 0: the cluster has no places
    int node_count;
    struct network_level *levels; // nearest first
    int level_count;
    const char **switches; // [switch_count] names; the same name at two levels is two switches
    int switch_count;
    struct link *measured; // NULL: nothing was measured
    bool *absent; // [as measured] a matrix states that the link was not measured, so something else
                  // must join the pair; NULL: no pair is absent
    double *factors; // [from * node_count + to] on the bandwidth, whatever joins the pair; NULL:
                     // all are 1
};

struct cluster {
    struct document document;
    const char *name;
    struct node_group *groups;
    int group_count; // at most GROUPS_MAX
    struct group_link *links;
    int link_count;
    struct places places;
};

enum { GROUPS_MAX = 16, TIERS_MAX = 8 };
enum { SEATS_MAX = 64 }; // kinds of seats of a priced document: node groups, each with its widths
#define TIER_HOST "host"
bool cluster_states_energy(const struct cluster *c); // of a memory
// The group's tier of this name; NULL: it has none.
const struct tier *group_tier(const struct node_group *g, const char *name);
// The names of all groups' tiers, in the order in which the groups first state them.
const char **cluster_tiers(const struct cluster *c, int *count, struct arena *arena);

extern const struct members cluster_members; // its keys (data/text/members.h)
enum status cluster_load(struct cluster *c, const char *path, struct arena *arena,
                         struct error *err);
// The first shipped cluster that has only one kind of nodes, without names, whose GPU a text names
// (name_is_gpu) and whose memory is about this (0: any). c->group_count 0: there is none; *gpus: of
// those that were looked at.
enum status cluster_of_gpu(struct cluster *c, const char *gpu, double memory_bytes,
                           const char ***gpus, int *count, struct arena *arena, struct error *err);
// The first number that no real machine has, with the unit that was probably meant; NULL: none.
// This is only a warning: toy clusters and private units are no error.
const char *cluster_doubt(const struct cluster *c, struct arena *arena);
enum status cluster_check(const struct cluster *c, struct error *err);
enum status cluster_save(const struct cluster *c, const char *path, struct arena *arena,
                         struct error *err);
