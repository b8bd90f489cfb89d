// The judge's prices: notation and node groups (docs/FORMULAS.md, sections 1, 2 and 8).
#include "solve/verify_price.h"

#include <assert.h>
#include <math.h>
#include <string.h>

int64_t judged_whole(long double x)
{
    assert(x >= 0 && x < 9007199254740992.0L);
    return (int64_t)floorl(x + 0.5L);
}

int64_t judged_nanoseconds(long double seconds) { return judged_whole(seconds * 1e9L); }

struct assay assay_of(const struct problem *problem)
{
    const struct job *j = &problem->job;
    const struct layout *l = &j->layout;
    return (struct assay){
        .problem = problem,
        .stage_count = layout_stage_count(l),
        .pipeline = l->pipeline,
        .micro_batches = (int)(j->global_batch / ((int64_t)l->data * l->micro_batch)),
        .ranks = (int64_t)l->data * l->context,
        .collective = (int64_t)l->tensor * l->context,
        .devices = (int64_t)l->tensor * l->context * l->data,
        .tokens = (long double)l->micro_batch * (long double)j->sequence / l->context,
        .share = l->sequence_parallel ? 1.0L / l->tensor : 1.0L,
        .value_bytes = precision_bytes(j->precision),
        .embedding_sync = problem->model.has_shape && problem->model.shape.tied_embeddings && l->pipeline > 1,
    };
}

static bool has_layer_time(const struct assay *a, int run, int group)
{
    const struct costs *c = &a->problem->costs;
    const struct layout *l = &a->problem->job.layout;
    for (int i = 0; i < c->layer_time_count; i++) {
        const struct layer_time *t = &c->layer_times[i];
        if (!strcmp(t->run, a->problem->model.runs[run].name) &&
            !strcmp(t->gpu, a->problem->cluster.groups[group].gpu) && (!t->tensor || t->tensor == l->tensor) &&
            (!t->micro_batch || t->micro_batch == l->micro_batch))
            return true;
    }
    return false;
}

static bool offers_compression(const struct job *j)
{
    for (int i = 0; i < j->boundary_option_count; i++)
        if (j->boundary_options[i].rank >= j->budget.rank_min) return true;
    for (int i = 0; i < j->gradient_option_count; i++)
        if (j->gradient_options[i].rank >= j->budget.rank_min) return true;
    return false;
}

const char *exclusion_of(const struct assay *a, int group)
{
    const struct node_group *g = &a->problem->cluster.groups[group];
    const struct gpu_costs *costs = costs_find_gpu(&a->problem->costs, g->gpu);
    if (!costs) return "the costs do not know its GPU";
    bool rates = costs_find_precision(costs, a->problem->job.precision) != NULL;
    if (!rates && offers_compression(&a->problem->job)) return "its GPU has no rates for the job's precision";
    for (int r = 0; r < a->problem->model.run_count; r++) {
        if (has_layer_time(a, r, group)) continue;
        if (a->problem->model.runs[r].kind == LAYER_MEASURED) return "a measured layer has no time on its GPU";
        if (!rates) return "its GPU has no rates for the job's precision";
    }
    if (!slots_of(a, group)) return "it has no room for a pipeline rank of this layout";
    if (!judged_tensor_link(a, group).joined || !judged_ring_link(a, group).joined)
        return "its nodes are not joined, and the collectives of a layer need it";
    if (a->ranks > 1 && !judged_gradient_link(a, group).joined)
        return "its nodes are not joined, and the gradient sync needs it";
    return NULL;
}

int64_t slots_of(const struct assay *a, int group)
{
    const struct node_group *g = &a->problem->cluster.groups[group];
    int64_t data = a->problem->job.layout.data, per_node = g->gpus_per_node;
    if (a->collective <= per_node) return g->nodes * (per_node / a->collective) / data;
    return g->nodes / ((a->collective + per_node - 1) / per_node) / data;
}

int64_t memory_limit_of(const struct assay *a, int group)
{
    // In double, as the user's fraction is one: 0.7 of 80e9 is then 56e9.
    double planned = (double)a->problem->cluster.groups[group].memory_bytes * a->problem->job.memory_fraction;
    int64_t limit = (int64_t)floor(planned) - a->problem->job.memory_margin_bytes;
    return limit > 0 ? limit : 0;
}

int64_t constant_bytes_of(const struct assay *a, int group)
{
    const struct gpu_costs *costs = costs_find_gpu(&a->problem->costs, a->problem->cluster.groups[group].gpu);
    return costs ? judged_whole(costs->constant_bytes.value) : 0;
}
