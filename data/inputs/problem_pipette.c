// What the objective of the published planner Pipette requires of a problem (docs/FORMULAS.md
// section 16): whole nodes in rows, the same number of blocks in every stage, and a model that its
// formula covers.
#include "data/inputs/problem.h"

bool model_blocks(const struct model *m, int *first, int *count)
{
    *first = *count = 0;
    if (!m->has_shape) return false;
    for (int i = 0; i < m->run_count; i++) {
        const struct layer_run *run = &m->runs[i];
        bool block = run->kind == LAYER_BLOCK && !run->mtp,
             behind = i && *count && m->runs[i - 1].kind != LAYER_BLOCK;
        if ((!block && run->kind != LAYER_EMBEDDING && run->kind != LAYER_HEAD) || run->shape ||
            run->tokens || (block && behind))
            return false;
        if (block) *count += run->count;
        else if (!*count) *first += run->count;
    }
    return *count > 0;
}

// The key whose value the objective does not allow, and the value it must have; NULL: none.
static const char *wrong_key(const struct problem *p, const char **expected)
{
    const struct job *job = &p->job;
    const struct {
        bool wrong;
        const char *key, *expected;
    } keys[] = {
        {job->space.given, "space", "one layout"},
        {job->layout.context > 1, "layout.context", "1"},
        {job->layout.virtual_stages > 1, "layout.virtual_stages", "1"},
        {job->boundary_option_count > 0, "boundary_options", "none"},
        {job->gradient_option_count > 0, "gradient_options", "none"},
        {job->placement.homogeneous_groups, "placement.homogeneous_groups", "false"},
        {job->placement.uneven_micro_batches, "placement.uneven_micro_batches", "false"},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        *expected = keys[i].expected;
        if (keys[i].wrong) return keys[i].key;
    }
    return NULL;
}

int pipette_replicas_per_node(const struct problem *p)
{
    return p->cluster.groups[0].gpus_per_node / p->job.layout.tensor;
}

static enum status check_nodes(const struct problem *p, const char *job, struct error *err)
{
    const char *cluster = document_name(&p->cluster.document, "cluster");
    int each = pipette_replicas_per_node(p);
    for (int g = 0; g < p->cluster.group_count; g++) {
        int here = p->cluster.groups[g].gpus_per_node / p->job.layout.tensor;
        if (!here || here != each)
            return refuse(
                err,
                "%s: groups[%d].gpus_per_node: with the objective pipette expected room for the "
                "same number of tensor groups of %d GPUs on every node, at least one; found %d",
                cluster, g, p->job.layout.tensor, p->cluster.groups[g].gpus_per_node);
    }
    if (p->job.layout.data % each == 0) return OK;
    return refuse(err,
                  "%s: layout.data: with the objective pipette expected a multiple of the %d "
                  "replicas that fill a node, found %d",
                  job, each, p->job.layout.data);
}

enum status problem_check_pipette(const struct problem *p, struct error *err)
{
    const char *job = document_name(&p->job.document, "job"), *expected,
               *key = wrong_key(p, &expected);
    int first, blocks;
    if (!p->cluster.places.node_count)
        return refuse(
            err, "%s: objective: pipette puts nodes in rows: expected a cluster with places", job);
    if (key)
        return refuse(err, "%s: %s: with the objective pipette expected %s", job, key, expected);
    if (!model_blocks(&p->model, &first, &blocks))
        return refuse(err,
                      "%s: runs: with the objective pipette expected blocks, one after the other, "
                      "between embedding and head, and nothing else",
                      document_name(&p->model.document, "model"));
    if (blocks % p->job.layout.pipeline)
        return refuse(err,
                      "%s: layout.pipeline: with the objective pipette expected a divisor of the "
                      "model's %d blocks, found %d",
                      job, blocks, p->job.layout.pipeline);
    return check_nodes(p, job, err);
}
