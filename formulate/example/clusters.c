// Two clusters whose network cards are of different kinds, InfiniBand and RoCE, with Ethernet
// between them, and whose GPUs reach different speeds: the setting of Holmes (2312.03549, section
// 6.3 of what planners publish). The model is a GPT as in the table of 2104.04473.
#include <string.h>
#include "data/inputs/cost_keys.h"
#include "data/kinds/schedules.h"
#include "formulate/example/example.h"

static const double within_gb_per_s = 25, across_gb_per_s = 3.125, within_s = 14e-6,
                    across_s = 50e-6;
static const char slower_name[] = "a100-80gb-roce";

static void slow_one(struct estimate *e, const struct cost_key *key, void *share)
{
    double by = *(const double *)share;
    if (key->sense != COST_RATE) by = 1 / by;
    if (!(e->value > 0)) return; // not stated
    e->value *= by, e->low *= by, e->high *= by;
    e->origin = ORIGIN_ASSUMED;
    e->source = "the first cluster's GPU, by the share of speed that was asked for";
}

// Rates and times of the GPU itself: no shares, factors or sizes, and nothing of the host's.
static bool is_of_speed(const struct cost_key *key)
{
    size_t length = strlen(key->name);
    return key->scope != COST_OF_ALL && key->group != COSTS_OF_TRAINER && length > 2 &&
           !strcmp(key->name + length - 2, "_s") && strncmp(key->name, "host_", 5);
}

// The same GPU, reaching `by` of its speed in everything.
static void slow_down(struct costs *costs, double by)
{
    for (int key = 0; key < cost_key_count; key++)
        if (is_of_speed(&cost_keys[key])) costs_visit(costs, key, slower_name, 0, slow_one, &by);
}

static enum status make_costs(struct costs *costs, const struct clusters_request *r,
                              struct arena *arena, struct error *err)
{
    const char *path;
    TRY(shipped_find(&path, "costs", r->costs, arena, err));
    TRY(costs_load(costs, path, arena, err));
    int like = 0;
    while (like < costs->gpu_count && strcmp(costs->gpus[like].gpu, "a100-80gb")) like++;
    if (like == costs->gpu_count)
        return refuse(err, "%s: gpus: expected one named a100-80gb, found none", path);
    struct gpu_costs *gpus = TAKE(arena, 2, struct gpu_costs);
    gpus[0] = gpus[1] = costs->gpus[like];
    gpus[1].gpu = slower_name;
    costs->gpus = gpus;
    costs->gpu_count = 2;
    *costs = costs_copy(costs, arena);
    slow_down(costs, (1 - r->share) / r->share);
    costs->layer_time_count = 0;
    costs->name =
        arena_print(arena, "%s, a100-80gb at %g : %g", costs->name, r->share, 1 - r->share);
    return OK;
}

static struct node_group group_of(const struct clusters_request *r, enum nic_kind kind,
                                  const char *gpu, struct arena *arena)
{
    struct nic *nics = TAKE(arena, 2, struct nic);
    nics[0] = (struct nic){kind, r->gpus_per_node, {within_gb_per_s * 1e9, within_s}};
    nics[1] = (struct nic){NIC_ETHERNET, 1, {across_gb_per_s * 1e9, across_s}};
    return (struct node_group){.name = nic_kind_names[kind],
                               .gpu = gpu,
                               .nodes = r->nodes,
                               .gpus_per_node = r->gpus_per_node,
                               .memory_bytes = 80000000000,
                               .intra = {300e9, 3.4e-6},
                               .nics = nics,
                               .nic_count = 2};
}

// A switch for each cluster that is as fast as all cards of a node, and no switch that joins the
// clusters.
static void make_places(struct cluster *c, const struct clusters_request *r, struct arena *arena)
{
    struct places *p = &c->places;
    p->node_count = 2 * r->nodes;
    p->nodes = TAKE(arena, p->node_count, struct cluster_node);
    p->levels = TAKE(arena, 1, struct network_level);
    p->levels[0] =
        (struct network_level){"cluster", {r->gpus_per_node * within_gb_per_s * 1e9, within_s}};
    p->level_count = 1;
    p->switches = TAKE(arena, 2, const char *);
    p->switch_count = 2;
    for (int i = 0; i < p->node_count; i++) {
        int group = i / r->nodes;
        p->nodes[i] =
            (struct cluster_node){arena_print(arena, "%s%d", group ? "roce" : "ib", i % r->nodes),
                                  group, TAKE(arena, 1, int)};
        p->nodes[i].switches[0] = group;
        p->switches[group] = group ? "roce" : "ib";
    }
}

enum status example_clusters(struct problem *problem, const struct clusters_request *r,
                             struct arena *arena, struct error *err)
{
    struct node_group *groups = TAKE(arena, 2, struct node_group);
    *problem = (struct problem){.name = "two clusters"};
    if (r->hidden % r->heads)
        return refuse(err, "--hidden %d: expected a multiple of --heads %d", r->hidden, r->heads);
    problem->model = gpt_model(arena_print(arena, "gpt-%d-%d", r->layers, r->hidden), r->layers,
                               r->hidden, r->heads, 51200, r->sequence, arena);
    TRY(make_costs(&problem->costs, r, arena, err));
    groups[0] = group_of(r, NIC_INFINIBAND, "a100-80gb", arena);
    groups[1] = group_of(r, NIC_ROCE, slower_name, arena);
    problem->cluster =
        (struct cluster){.name = "an InfiniBand cluster and a RoCE cluster, Ethernet between them",
                         .groups = groups,
                         .group_count = 2};
    make_places(&problem->cluster, r, arena);
    int replica = r->tensor * r->pipeline, data = 2 * r->nodes * r->gpus_per_node / replica;
    if (!data)
        return refuse(err,
                      "a replica of %d x %d GPUs (tensor, pipeline) is more than the %d there are",
                      r->tensor, r->pipeline, 2 * r->nodes * r->gpus_per_node);
    problem->job = (struct job){.name = "two clusters",
                                .sequence = r->sequence,
                                .global_batch = (int64_t)r->micro_batches * data * r->micro_batch,
                                .precision = BF16,
                                .gradient_bytes_per_value = 4,
                                .adam = true,
                                .recompute = {true, true, true, true},
                                .budget = {.boundaries_max = -1, .stages_max = -1, .cost_max = -1},
                                .memory_fraction = MEMORY_FRACTION_DEFAULT,
                                .placement = {.homogeneous_groups = r->homogeneous_groups},
                                .layout = {.tensor = r->tensor,
                                           .context = 1,
                                           .data = data,
                                           LAYOUT_PLAIN(r->pipeline),
                                           .micro_batch = r->micro_batch,
                                           .schedule = SCHEDULE_1F1B,
                                           .sequence_parallel = r->tensor > 1,
                                           .fused_attention = true,
                                           .gradient_sync = SYNC_OVERLAPPED,
                                           .zero = 1}};
    return OK;
}
