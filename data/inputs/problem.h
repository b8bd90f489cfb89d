// A problem: the four documents of one solve, named by path. One file is one solve.
#pragma once

#include "data/inputs/space.h"

enum { NAMED_NODES_MAX = 64, NAMED_DATA_MAX = 4 }; // where stages have widths of their own
enum { PLACED_NODES_MAX = 512 };                   // a plan states for each node what is on it

struct problem {
    struct document document;
    const char *name;
    struct model model;
    struct cluster cluster;
    struct costs costs;
    struct job job;
};

// Loads the problem file and the four that it names (paths relative to it; model, cluster and costs
// may be names of shipped documents). Checks each, and then what involves several: names in rules
// exist, the layout fits the model (heads divisible by tensor ...), the batch is divisible.
extern const struct members problem_members; // its keys (data/text/members.h)
enum status problem_load(struct problem *p, const char *path, struct arena *arena,
                         struct error *err);
// The same without the problem file: *p has its document and name, or zeros.
enum status problem_compose(struct problem *p, const char *model, const char *cluster,
                            const char *costs, const char *job, struct arena *arena,
                            struct error *err);
// Parts of a stage, or its activations, may be in tiers or on the host, by a decision. Memories'
// energies are priced: some are stated, too.
bool problem_has_tiers(const struct problem *p);
bool problem_states_energy(const struct problem *p);
extern const char problem_energy_needs[]; // what a message says that it is stated by
enum status problem_check_energy(const struct problem *p, struct error *err); // objective energy
// A GPU without costs is not a group that cannot be used, but an error, most likely a misspelt
// name; so is a tier that no group has, and a rule's or a width's group or run that does not exist.
enum status problem_check_names(const struct problem *p, struct arena *arena, struct error *err);
// If the job has a space, its layout only states what is fixed and is not checked against model and
// batch.
enum status problem_check(const struct problem *p, struct error *err);
// If the framework runs nothing of the space, a search would be in vain.
enum status problem_check_framework(const struct problem *p, struct error *err);
// For tensor grids: model, job and cluster; separately the layout.
enum status problem_check_grid(const struct problem *p, struct error *err);
enum status problem_check_grid_layout(const struct problem *p, struct error *err);
enum status problem_check_shard(const struct problem *p, struct error *err); // layout.data_shard
enum status problem_check_pool_layout(const struct problem *p, struct error *err);
enum status problem_check_layout(const struct problem *p,
                                 struct error *err); // what problem_check then leaves out
// Requests that a cluster with places cannot serve; pricing checks this.
enum status problem_check_places(const struct problem *p, struct error *err);
// Requests that the objective pipette cannot serve; problem_check checks this. model_blocks: where
// the model's blocks begin and how many there are in a row; false: there are layers other than
// embedding and head among or next to them. pipette_replicas_per_node: tensor groups of a node.
enum status problem_check_pipette(const struct problem *p, struct error *err);
bool model_blocks(const struct model *m, int *first, int *count);
int pipette_replicas_per_node(const struct problem *p);
// How a space compares its layouts: weight x iteration time, for plans that take at most cap_ns
// (INT64_MAX: any). weight: the layout's devices for the objective cost, else 1.
struct layout_worth {
    int64_t weight, cap_ns;
};
struct layout_worth problem_layout_worth(const struct problem *p, const struct layout *layout);
int64_t problem_energy_limit_ns(const struct problem *p); // of its plans; 0: another objective
bool problem_counts_devices(const struct problem *p); // fewer devices are better, all else equal

// The problem of one layout: its job has this layout with the switches that the space gives it, and
// no space. Of a cost, only the iteration time is left. And the limits of the job's space.
struct problem problem_with_layout(const struct problem *p, const struct layout *layout);
struct space_limits problem_space_limits(const struct problem *p);
// Writes only the problem file; model, cluster, costs and job are named by their document.path.

// ---- seats.c: stages with widths of their own (docs/FORMULAS.md 23), what one may take of which
// group

struct seat {
    int group; // of the cluster
    int tensor, context, data;
    const char *name; // "a100:2x1x4": its group, tensor x context x data
};
static inline int seat_devices(const struct seat *s) { return s->tensor * s->context * s->data; }
// Every seat that the lists give, each once: by the cluster's groups, then as listed. Their number
// is at most SEATS_MAX + 1 (problem_check_widths refuses that many).
int problem_seats(const struct problem *p, struct seat **seats, struct arena *arena);
// The problem in which all stages have the seat's degrees, and the micro-batch's samples are split
// over that many replicas.
struct problem problem_at_seat(const struct problem *p, const struct seat *seat);
// Whether every width fits the model and the layout's micro-batch; problem_check_layout asks, too.
enum status problem_check_seats(const struct problem *p, struct error *err);
// What widths exclude, and whether each list's degrees fit the model, the batch and the nodes.
enum status problem_check_widths(const struct problem *p, struct error *err);

// ---- local_head.c
// The problem whose model has the job's local_loss.head in place of its own head: the run of that
// index, called LOCAL_HEAD, trained, with a matrix of its own.
#define LOCAL_HEAD "local_head"
struct problem problem_with_local_head(const struct problem *p, int *run, struct arena *arena);
// Whether each stage's optimizer steps after each micro-batch (job's
// local_loss.step_each_micro_batch).
bool problem_steps_each(const struct problem *p);
enum status problem_check_local_head(const struct problem *p, struct error *err);
// The key by which layers of one stage may have several layouts; NULL: none is stated.
static inline const char *job_mixing_key(const struct job *j)
{
    return j->sharded_zero              ? "sharded_zero"
           : j->vocabulary_tensor_count ? "vocabulary_tensor"
                                        : NULL;
}
// Whether a stage's prices may be those of several layouts at once.
static inline bool job_mixes_layouts(const struct job *j)
{
    return job_has_widths(j) || job_mixing_key(j);
}
// The problem in which the layout's ZeRO stage is the job's sharded_zero, and none is offered.
struct problem problem_sharded(const struct problem *p);
// The degrees of the job's vocabulary_tensor that are divisors or multiples of the layout's, divide
// its devices and leave each rank whole samples; and the problem whose layout has one of them on
// the same devices, with the same micro-batches.
int problem_vocabulary_degrees(const struct problem *p, int degrees[VOCABULARY_DEGREES_MAX]);
struct problem problem_at_vocabulary(const struct problem *p, int tensor);
enum status problem_check_mixing(const struct problem *p, struct error *err); // what these exclude

// ---- problem_sources.c: its five documents

enum problem_piece {
    PIECE_PROBLEM,
    PIECE_MODEL,
    PIECE_CLUSTER,
    PIECE_COSTS,
    PIECE_JOB,
    PIECE_COUNT
};
extern const char *const problem_roles[]; // "problem", "model", "cluster", "costs", "job", NULL
struct document *problem_piece_of(struct problem *p, enum problem_piece piece);
const struct document *problem_document(const struct problem *p, const char *role); // or NULL
// Writes the changed[PIECE_COUNT] pieces to the paths that they state: all or none. BAD_INPUT: one
// of them exists with other content, and then the error ends with `otherwise`, unless that is NULL.
enum status problem_write(struct problem *p, const bool *changed, const char *otherwise,
                          struct arena *arena, struct error *err);
// States in *d that it is made from the problem; with room for one more source.
void problem_made(struct document *d, const struct problem *p, const char *path,
                  struct arena *arena);
// The sources that a document made from the problem states: problem, model, cluster, costs, job,
// relative to `maker_path` ("-", standard output: to the working folder). sources[] has room for
// PROBLEM_SOURCES; returns their number.
enum { PROBLEM_SOURCES = PIECE_COUNT };
int problem_sources(const struct problem *p, const char *maker_path, struct source *sources,
                    struct arena *arena);
enum status problem_save(const struct problem *p, const char *path, struct arena *arena,
                         struct error *err);
