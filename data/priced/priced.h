// A priced problem: the whole decision in integer nanoseconds and integer bytes, each term rounded
// once, halves up, so that sums are exact. Everything after pricing (choices, MILP, tree,
// certificate) reads only this document; its hash identifies the problem. All times are for one
// micro-batch on one device; bytes are per device.
#pragma once

#include "data/inputs/job.h"

// A layer of a run with one option of a stage, where its parts may be in tiers.
struct priced_tiered {
    int64_t weight_bytes;                   // of the run's that stay on the GPU
    int64_t buffer_bytes;                   // added to the working bytes of every mode
    int64_t *tier_bytes;                    // [tier]
    int64_t *forward_ns, *backward_ns;      // as the run's own, which none is below; NULL: those
    int64_t optimizer_bytes, *optimizer_ns; // what stays of the state; [group]: the step
    // [group]: of its activations to their tier and back; PRICE_NONE where the group has no such
    // tier. NULL: no stage may swap.
    int64_t *away_ns, *back_ns;
    // [group]: of an iteration, on all GPUs of a stage, of weights and states; more if it is
    // recomputed in full, or swapped. NULL: no memory's energy is stated.
    int64_t *energy_uj, *again_uj, *swap_uj;
};

// A run of identical layers.
struct priced_run {
    const char *name;
    int count;
    bool recomputable;
    int tensor; // of vocabulary_runs: the degree; else 0
    int64_t weight_bytes, gradient_bytes, optimizer_bytes;
    // By the mode in which a layer runs: per micro-batch in flight; and while one layer runs, of
    // which a stage needs the maximum over its layers.
    int64_t stash_bytes[RECOMPUTE_COUNT], working_bytes[RECOMPUTE_COUNT];
    int64_t unsharded_bytes; // while its stage runs, in addition: the sum over all its layers
    int64_t *feedback_bytes; // [gradient_option]: error feedback of the compressed gradient sync
    int cut;                 // class of the message after a layer of this run
    // By node group; meaningless if the group is excluded.
    int64_t *forward_ns, *backward_ns; // [slice * group_count + group]
    int64_t *
        weight_ns; // [group]: the weight gradient where the schedule splits it off backward, else 0
    // [mode][slice * group_count + group]: added to backward; NULL for mode none, and for modes in
    // which no layer runs or that are not priced.
    int64_t *again_ns[RECOMPUTE_COUNT];
    int64_t *optimizer_ns;
    int64_t **sync_ns; // [gradient_option][group]
    // [part * group_count + group]: with replicas in turn, what the message before one of its
    // layers takes there and back of a stage that begins with it (part 0), and at most of a link
    // (1); NULL: as long as that of the layer before.
    int64_t *entry_ns;
    // [gradient_option]; NULL: priced_tiers is false, and the values above hold for every option.
    struct priced_tiered *tiered;
    int tiered_count;
    // [group]: this run with the bytes that it has there, none above those here, if stages have
    // widths of their own; NULL: the bytes above hold on every group.
    struct priced_run *seats;
};

struct priced_group {
    const char *name, *gpu;
    int slots; // pipeline ranks that fit on it: data x context x tensor devices each
    // If stages have widths of their own, a group is a node group with one width, and groups of the
    // same node group share its devices: slots are then units of them, of which a rank takes
    // seat_slots. NULL, 0: slots are ranks.
    const char *node_group;
    int pool; // the first group of this node group
    int seat_slots, tensor, context, data;
    // [group]: of this one's slots a rank on that group takes so many, of its own 1 or more; NULL
    // in all groups: those of groups that share its devices. Never in a document.
    const int *takes;
    int64_t memory_limit_bytes; // after subtracting the margin
    int64_t constant_bytes;     // context and libraries
    const char *excluded;       // the reason why this group can hold no rank; NULL: it can
    int64_t *sync_constant_ns;  // [gradient_option]: per stage, in addition to the layers' sync_ns
    int64_t *tier_limit_bytes;  // [tier]: of a stage; -1: none
};

// Messages of one size: runs with equal boundary bytes form one class.
struct priced_cut {
    int64_t message_bytes;
    int64_t *feedback_bytes; // [boundary_option], on the sender of the backward transfer
    // [((slice * group_count + from) * group_count + to) * PART_COUNT + part], from = group of the
    // earlier stage. All parts are PRICE_NONE if no link connects the two groups: they cannot hold
    // neighbouring stages. A boundary between two stages of one rank (schedule_is_inner) has no
    // transfer.
    int64_t *forward_ns;
    int64_t **backward_ns; // [boundary_option][...]: when the option applies
    int64_t *seat_bytes;   // [group]: of a stage of that width; NULL: message_bytes
};

#define PRICE_NONE (-1)

// A node that holds `slots` device groups (tensor x context devices each); a rank of one replica
// takes one of them.
struct priced_node {
    const char *name;
    int group, slots;
};

enum { TRANSPORTS_MAX = 4 }; // kinds of network card, and none
enum { RING_LEVELS_MAX = 1 << 16, RING_PRICES_MAX = 1 << 28 };

// The messages of a cut, from node to node.
struct priced_hops {
    int64_t *forward_ns;   // [((slice * node_count + from) * node_count + to) * PART_COUNT + part]
    int64_t **backward_ns; // [boundary_option][...]: from `to` back to `from`
};

// A ring uses the transport whose minimum rate over the ring's groups is greatest.
struct priced_transport {
    const char *name;     // a kind of network card, or "none"
    int64_t *bytes_per_s; // [group]
};

// If the cluster has places: what depends on the nodes, by ordered pairs: [from * node_count + to];
// from = to: two device groups of one node. PRICE_NONE if no link connects them. The prices in the
// groups, cuts and runs are then the minimum over all pairs of nodes, so that a program over groups
// is a relaxation (docs/FORMULAS.md section 15).
struct priced_places {
    struct priced_node *nodes; // [node_count]
    int node_count;
    // Of all replicas, if each may take its own number: then some replica has at least the
    // document's micro_batches. 0: each has exactly those.
    int64_t micro_batches_together;
    struct priced_hops *cuts; // [cut_count]
    // A ring uses what all its nodes have in common, so rings are priced once for each transport
    // (at least one).
    struct priced_transport *transports;
    int transport_count;
    // The rings that leave a node share its cards. A link's prices depend on its level: 0, the
    // lowest, if its ring is the only one at both ends; in general the maximum of the levels of its
    // ends.
    int **ring_level; // [transport][group * rings_most + rings that leave the node - 1]
    int rings_most, ring_level_count; // both >= 1
    int64_t ***ring_ns;         // [run][gradient_option][(level * transport_count + transport) *
                                // node_count^2 + pair]: a layer's sync over a ring of such links
    int64_t **ring_constant_ns; // [gradient_option][the same]: per stage, in addition
    // [first stage's node, last stage's node]; NULL without such a sync. For a fused one, the
    // minimum time of a ring that has a replica's two ends there (priced_embedding_pairs).
    int64_t *embedding_sync_ns;
    int64_t *embedding_ring_ns;     // [from, to]: of the fused one if all its links were like this;
                                    // NULL
    struct priced_pipette *pipette; // NULL: another objective
};

// The inputs of the objective pipette (docs/FORMULAS.md section 16). A stage has blocks_per_stage
// of the model's blocks; the first stage also has all layers before them, the last all layers after
// them.
struct priced_pipette {
    int replicas_per_node; // that fill a node and go through the same sequence of nodes
    int first_block, blocks_per_stage;
    int64_t *hop_ns;   // [from * node_count + to]: from a stage's node to the next one's
    int64_t *ring_ns;  // [from * node_count + to]: a ring over first stages' nodes whose links are
                       // all like this one
    int64_t *inner_ns; // [node]: the ring of a node's own replicas
};

// On a cluster with places where stages have widths of their own: what their nodes decide. The
// document's own prices are then the least over all nodes, and it is not written.
struct priced_seat_nodes {
    int seat_count;
    const struct priced **of;  // [seat]: of its width's uniform layout, with places of its own
    struct priced_hops **cuts; // [from * seat_count + to][cut]: messages between the two seats
};

struct priced {
    struct document document;
    const char *name;
    enum objective objective;
    int64_t iteration_limit_ns; // with the objective energy; else 0
    struct layout layout;
    int stage_count; // over all ranks: rank_count x layout.virtual_stages
    int rank_count;  // pipeline ranks, each on devices of its own
    int slice_count; // per micro-batch
    int micro_batches, layer_count;
    int64_t devices_per_stage;
    bool recompute[RECOMPUTE_COUNT];
    struct priced_run *runs;
    int run_count;
    struct priced_group *groups;
    int group_count;
    struct priced_cut *cuts;
    int cut_count;
    struct compression_option *boundary_options;
    int boundary_option_count; // >= 1
    struct compression_option *gradient_options;
    int gradient_option_count; // >= 1
    const char **tiers;        // names, of all groups; TIER_HOST takes what stages swap, too
    int tier_count;
    bool has_embedding_sync;    // tied embeddings on more than one stage
    int64_t *embedding_sync_ns; // [first stage's group * group_count + last stage's group],
                                // PRICE_NONE if no link connects them
    int64_t local_forward_ns, local_backward_ns,
        local_bytes; // added to a stage before a local boundary (struct local_loss)
    // The head of such a stage, one more layer behind its own (struct local_head); at most one.
    struct priced_run *local_heads;
    int local_head_count;
    // [run]: the runs as sharded further (the job's sharded_zero), with prices and bytes of their
    // own: of a stage's recomputable layers as many of the first ones as it chooses. 0: none.
    struct priced_run *sharded_runs;
    int sharded_run_count;
    // The runs with the vocabulary, once more for each tensor degree that they may have besides the
    // layout's (the job's vocabulary_tensor): degree by degree. 0: none.
    struct priced_run *vocabulary_runs;
    int vocabulary_run_count;
    bool
        in_turn; // replicas of a stage take whole micro-batches in turn, with prices of one replica
    bool recompute_any;   // any set of a stage's layers may be recomputed in full
    bool width_per_group; // all stages on a node group have one width, which is chosen, too
    struct quality_budget budget;
    struct rule *rules;
    int rule_count;
    struct priced_places *places;               // NULL: ranks are on groups, not on nodes
    const struct priced_seat_nodes *seat_nodes; // NULL: stages have no widths, or nodes no names
};

// ---- pure accessors, shared by everything that reads a priced document
int priced_run_of(const struct priced *p, int layer);
int priced_micro_batches_most(const struct priced *p);                  // that a replica can have
int priced_first_layer(const struct priced *p, int run);                // of the run
bool priced_uses_part(const struct priced *p, enum transfer_part part); // any nonzero price
bool priced_uses_epilogue(const struct priced *p); // an epilogue-only option is offered
bool priced_uses_sync(const struct priced *p);     // any nonzero gradient sync
bool priced_uses_optimizer(const struct priced *p);
// There are tiers, options with parts in one, or stages that may swap.
bool priced_tiers(const struct priced *p);
bool priced_states_energy(const struct priced *p);
// Stages there may swap with the option; the tier that then has what they swap.
bool priced_swaps_on(const struct priced *p, int group, int gradient_option);
const char *priced_swap_tier(const struct priced *p, int gradient_option);
bool priced_swaps_across(const struct priced *p); // with some option, under other passes, too
bool priced_compresses_sync(const struct priced *p, int gradient_option);
// Whether a stage may recompute in the mode: offered, and not another than the layout's setting.
bool priced_may_recompute(const struct priced *p, enum recompute mode);
// Whether one mode is set for all layers that can be recomputed.
bool priced_sets_mode(const struct priced *p);
// Whether layers of the run may run in the mode, in which they keep a part (recompute_in_part).
bool priced_keeps_part(const struct priced *p, const struct priced_run *run, enum recompute mode);
// As the run's own, or with the option's parts in tiers.
static inline int64_t priced_optimizer_bytes(const struct priced_run *run, int gradient_option)
{
    return run->tiered_count ? run->tiered[gradient_option].optimizer_bytes : run->optimizer_bytes;
}
static inline int64_t priced_optimizer_ns(const struct priced_run *run, int gradient_option,
                                          int group)
{
    return (run->tiered_count ? run->tiered[gradient_option].optimizer_ns
                              : run->optimizer_ns)[group];
}
static inline int64_t priced_weight_bytes(const struct priced_run *run, int gradient_option)
{
    return run->tiered_count ? run->tiered[gradient_option].weight_bytes : run->weight_bytes;
}
static inline int64_t priced_buffer_bytes(const struct priced_run *run, int gradient_option)
{
    return run->tiered_count ? run->tiered[gradient_option].buffer_bytes : 0;
}
static inline const int64_t *priced_forward_ns(const struct priced_run *run, int gradient_option)
{
    const int64_t *own = run->tiered_count ? run->tiered[gradient_option].forward_ns : NULL;
    return own ? own : run->forward_ns;
}
static inline const int64_t *priced_backward_ns(const struct priced_run *run, int gradient_option)
{
    const int64_t *own = run->tiered_count ? run->tiered[gradient_option].backward_ns : NULL;
    return own ? own : run->backward_ns;
}
// Whether layers of a stage may have another layout than the document's.
static inline bool priced_mixes_layouts(const struct priced *p)
{
    return p->sharded_run_count + p->vocabulary_run_count > 0;
}
// The run's layers at a degree of the vocabulary; NULL: it has no vocabulary, or not this degree.
const struct priced_run *priced_at_vocabulary(const struct priced *p, int run, int tensor);
// The first of vocabulary_runs of the next degree; i is that of a degree.
int priced_next_degree(const struct priced *p, int i);
// Whether stages have widths of their own.
static inline bool priced_has_widths(const struct priced *p)
{
    return p->groups[0].node_group != NULL;
}
static inline bool priced_same_width(const struct priced_group *a, const struct priced_group *b)
{
    return a->tensor == b->tensor && a->context == b->context && a->data == b->data;
}
// A rank stands on a seat of its group, which takes so many of the group's slots.
static inline int priced_seat_slots(const struct priced *p, int group)
{
    return p->groups[group].node_group ? p->groups[group].seat_slots : 1;
}
// The first group that has the same devices: its slots are those of all of them.
static inline int priced_pool(const struct priced *p, int group)
{
    return p->groups[group].node_group ? p->groups[group].pool : group;
}
// Of a group's slots, what a rank on the group takes.
static inline int priced_slots_taken(const struct priced *p, int of, int group)
{
    if (p->groups[of].takes) return p->groups[of].takes[group];
    return priced_pool(p, group) == of ? priced_seat_slots(p, group) : 0;
}
void priced_find_pools(struct priced *p); // from the groups' node_group
// Gives the run these bytes by group; everything else there is its own.
void priced_put_seats(struct priced_run *run, const struct priced_run *bytes, int group_count,
                      struct arena *arena);
// A layer's run with the bytes of a stage on the group; the message that such a stage holds.
static inline const struct priced_run *priced_run_at(const struct priced_run *run, int group)
{
    return run->seats ? &run->seats[group] : run;
}
static inline int64_t priced_message_bytes(const struct priced_cut *cut, int group)
{
    return cut->seat_bytes ? cut->seat_bytes[group] : cut->message_bytes;
}
int priced_seats(const struct priced *p, int group); // of the group; 0: it can hold no rank
int64_t priced_all_seats(const struct priced *p);
// Of weights, gradients and optimizer state: the minimum over all options.
int64_t priced_least_resident(const struct priced *p, const struct priced_run *run);
size_t priced_ring_links(const struct priced_places *p); // transport_count x node_count^2, per
                                                         // level
// Where the prices of a ring over these nodes begin in ring_ns: at the pairs of its transport.
size_t priced_ring_offset(const struct priced_places *p, const int *nodes, int count);
// The minimum time of the fused embedding sync if the ends of one replica are on [first, last]:
// docs/PROOFS.md 12.
int64_t *priced_embedding_pairs(const struct priced *p, struct arena *arena);
// A link's index in ring_ns if rings[node] rings leave each node; offset: that of its ring.
size_t priced_ring_link(const struct priced_places *p, size_t offset, int from, int to,
                        const int *rings);

void priced_pipette_layers(const struct priced *p, int stage, int *first,
                           int *count); // of the stage, with the objective pipette

extern const struct members priced_members; // its keys (data/text/members.h)
enum status priced_load(struct priced *p, const char *path, struct arena *arena, struct error *err);
enum status priced_check(const struct priced *p, struct error *err);
enum status priced_save(const struct priced *p, const char *path, struct arena *arena,
                        struct error *err);
