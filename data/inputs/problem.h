// A problem: the four documents of one solve, named by path. One file is one solve.
#ifndef PLUMBLINE_DATA_INPUTS_PROBLEM_H
#define PLUMBLINE_DATA_INPUTS_PROBLEM_H

#include "data/places/cluster.h"
#include "data/inputs/costs.h"
#include "data/inputs/job.h"
#include "data/inputs/model/model.h"
#include "data/inputs/space.h"

enum { PLACED_NODES_MAX = 512 }; // a plan says of each of so many nodes what stands on it

struct problem {
    struct document document;
    const char *name;
    struct model model;
    struct cluster cluster;
    struct costs costs;
    struct job job;
};

// Loads the problem file and the four it names (paths relative to it; model, cluster and costs may
// be names of shipped ones), each checked, and checks what needs several of them: names in rules
// exist, the layout fits the model (heads divisible by tensor ...), batch divisible.
extern const struct members problem_members; // its keys (data/text/members.h)
enum status problem_load(struct problem *p, const char *path, struct arena *arena,
                         struct error *err);
// The same without the problem file: *p has its document and name, or zeros.
enum status problem_compose(struct problem *p, const char *model, const char *cluster,
                            const char *costs, const char *job, struct arena *arena,
                            struct error *err);
// A GPU without costs is no group that cannot be used: it is a name that was meant otherwise.
enum status problem_check_gpus(const struct problem *p, struct arena *arena, struct error *err);
// Where the job has a space, its layout only says what is fixed and is not checked against model
// and batch.
enum status problem_check(const struct problem *p, struct error *err);
// Of tensor grids: model, job and cluster; the layout beside them.
enum status problem_check_grid(const struct problem *p, struct error *err);
enum status problem_check_grid_layout(const struct problem *p, struct error *err);
enum status problem_check_layout(const struct problem *p,
                                 struct error *err); // what problem_check then leaves out
// What a cluster with places cannot be asked for: pricing checks it.
enum status problem_check_places(const struct problem *p, struct error *err);
// What the objective pipette cannot be asked with; problem_check does it. Where the model's blocks
// begin, and how many stand there one after the other; false: other layers than embedding and head
// stand among or beside them. Tensor groups of a node.
enum status problem_check_pipette(const struct problem *p, struct error *err);
bool model_blocks(const struct model *m, int *first, int *count);
int pipette_replicas_per_node(const struct problem *p);
// The problem of one layout: the job has it, and no space. And what bounds the job's space.
// How a space compares its layouts: weight x iteration time, of plans that take at most cap_ns
// (INT64_MAX: any). weight: the layout's devices for the objective cost, else 1.
struct layout_worth {
    int64_t weight, cap_ns;
};
struct layout_worth problem_layout_worth(const struct problem *p, const struct layout *layout);
bool problem_counts_devices(const struct problem *p); // fewer devices are better, all else equal

// With one layout: what is left of a cost is the iteration time.
struct problem problem_with_layout(const struct problem *p, const struct layout *layout);
struct space_limits problem_space_limits(const struct problem *p);
// Writes the problem file alone; model, cluster, costs and job are named by their document.path.
// What a document made from the problem says of its inputs: problem, model, cluster, costs, job, as
// seen from `maker_path` ("-", standard output: from the working folder). sources[] has room for
// PROBLEM_SOURCES; returns how many.
enum { PROBLEM_SOURCES = 5 };
int problem_sources(const struct problem *p, const char *maker_path, struct source *sources,
                    struct arena *arena);
enum status problem_save(const struct problem *p, const char *path, struct arena *arena,
                         struct error *err);

#endif
