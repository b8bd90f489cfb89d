// The published setting of Pipette on any measured matrix: a GPT whose tensor groups fill nodes, as
// many replicas as the nodes allow, the same blocks in every stage. Pipette's program uses element
// [i][j] of the matrix for the link from i to j and takes its unit as 1e9 bytes/s, so the same rule
// applies here (in mpiGraph's Recv table, the element is the link from j to i, in units of
// 1.048576e9).
#include "data/kinds/schedules.h"
#include "formulate/example/example.h"

static struct job job_of(const struct pipette_request *r, int data, const char *name)
{
    struct layout layout = {.tensor = (int)r->tensor,
                            .context = 1,
                            .data = data,
                            LAYOUT_PLAIN((int)r->stages),
                            .micro_batch = (int)r->micro_batch,
                            .schedule = SCHEDULE_1F1B,
                            .sequence_parallel = r->tensor > 1,
                            .fused_attention = true,
                            .gradient_sync = SYNC_OVERLAPPED};
    return (struct job){.name = name,
                        .sequence = r->sequence,
                        .global_batch = r->global_batch,
                        .precision = r->precision,
                        .gradient_bytes_per_value = 4,
                        .adam = true,
                        .objective = r->objective,
                        .layout = layout,
                        .recompute = {true, true, true, true},
                        .budget = {.boundaries_max = -1, .stages_max = -1, .cost_max = -1},
                        .memory_fraction = MEMORY_FRACTION_DEFAULT};
}

enum status example_pipette(struct problem *problem, const struct pipette_request *r,
                            struct arena *arena, struct error *err)
{
    const char *path;
    *problem = (struct problem){
        .name = arena_print(arena, "%s in %lld stages", r->nodes.name, (long long)r->stages)};
    if (r->hidden % r->heads)
        return refuse(err, "--heads: expected a divisor of --hidden %lld, found %lld",
                      (long long)r->hidden, (long long)r->heads);
    const char *name = arena_print(arena, "GPT of %lld layers, hidden %lld", (long long)r->layers,
                                   (long long)r->hidden);
    problem->model =
        gpt_model(name, (int)r->layers, r->hidden, r->heads, r->vocabulary, r->sequence, arena);
    TRY(matrix_cluster(&problem->cluster, r->matrix, &r->nodes, arena, err));
    TRY(shipped_find(&path, "costs", r->costs, arena, err));
    TRY(costs_load(&problem->costs, path, arena, err));
    int64_t nodes = problem->cluster.places.node_count,
            each = problem->cluster.groups[0].gpus_per_node / r->tensor;
    if (nodes % r->stages)
        return refuse(err, "--stages: expected a divisor of the %lld nodes of %s, found %lld",
                      (long long)nodes, r->matrix, (long long)r->stages);
    if (!each)
        return refuse(err, "--tensor: expected at most the %d GPUs of a node, found %lld",
                      problem->cluster.groups[0].gpus_per_node, (long long)r->tensor);
    problem->job = job_of(r, (int)(nodes / r->stages * each), problem->name);
    return OK;
}
