// The benchmark family `chain`: identical blocks with measured times on GPU types of different
// speed and memory, joined by links of pure latency. The decision is how many blocks, which type
// and how much recomputation each stage gets.
#include "data/kinds/schedules.h"
#include "formulate/example/example.h"

static const double type_speed[CHAIN_TYPES_MAX] = {1, 0.55, 0.75, 0.4};
static const int64_t type_memory_gb[CHAIN_TYPES_MAX] = {80, 40, 80, 40};
static const double block_s = 0.001, embedding_blocks = 0.3, head_blocks = 1.2,
                    same_type_s = 0.0002, other_type_s = 0.0015;

// Bytes are rounded down, so that what fits exactly in gigabytes still fits. Weights and states are
// 80 x 0.35 x S / L GB per block; activations 80 x 0.65 / L GB per micro-batch, 8 % of that with
// recomputation.
static void make_model(struct model *model, const struct chain_request *r, struct arena *arena)
{
    struct layer_run *runs = TAKE(arena, 3, struct layer_run);
    int64_t weights = 28000000000 * r->stages / r->layers, stash = 52000000000 / r->layers,
            kept = 4160000000 / r->layers;
    struct measured_bytes end = {.weight_bytes = 4000000000};
    runs[0] = (struct layer_run){
        .name = "embedding", .kind = LAYER_MEASURED, .count = 1, .measured = end};
    runs[1] = (struct layer_run){
        .name = "block",
        .kind = LAYER_MEASURED,
        .count = r->layers,
        .recomputable = true,
        .measured = {.weight_bytes = weights, .stash_bytes = {stash, stash, kept}}};
    runs[2] =
        (struct layer_run){.name = "head", .kind = LAYER_MEASURED, .count = 1, .measured = end};
    *model = (struct model){.name = arena_print(arena, "chain-%d", r->layers),
                            .runs = runs,
                            .run_count = 3,
                            .layer_count = r->layers + 2};
}

static void make_cluster(struct cluster *cluster, const struct chain_request *r,
                         struct arena *arena)
{
    int types = r->types < r->stages ? r->types : r->stages; // a type without a device is left out
    struct node_group *groups = TAKE(arena, types, struct node_group);
    struct group_link *links = TAKE(arena, types * types, struct group_link);
    for (int k = 0; k < types; k++) {
        const char *name = arena_print(arena, "type%d", k);
        groups[k] = (struct node_group){.name = name,
                                        .gpu = name,
                                        .nodes = r->stages / r->types + (k < r->stages % r->types),
                                        .gpus_per_node = 1,
                                        .memory_bytes = type_memory_gb[k] * 1000000000,
                                        .intra = {1e12, 0}};
        for (int other = 0; other < types; other++)
            links[k * types + other] =
                (struct group_link){k, other, {1e12, k == other ? same_type_s : other_type_s}};
    }
    *cluster =
        (struct cluster){.name = arena_print(arena, "chain-%d-stages-%d-types", r->stages, types),
                         .groups = groups,
                         .group_count = types,
                         .links = links,
                         .link_count = types * types};
}

static struct layer_time time_of(const char *run, const char *gpu, double forward_s,
                                 bool recomputable)
{
    return (struct layer_time){.run = run,
                               .gpu = gpu,
                               .tensor = 1,
                               .micro_batch = 1,
                               .forward_s = forward_s,
                               .backward_s = 2 * forward_s,
                               .full_s = recomputable ? forward_s : 0};
}

static void make_costs(struct costs *costs, const struct cluster *cluster, struct arena *arena)
{
    const char *unused = "not used: every layer is given outright";
    struct gpu_costs *gpus = TAKE(arena, cluster->group_count, struct gpu_costs);
    struct layer_time *times = TAKE(arena, 3 * cluster->group_count, struct layer_time);
    for (int k = 0; k < cluster->group_count; k++) {
        const char *gpu = cluster->groups[k].gpu;
        double forward_s = block_s / type_speed[k];
        gpus[k] =
            (struct gpu_costs){.gpu = gpu,
                               .memory_bytes_per_s = estimate_assumed(1e12, unused),
                               .layer_overhead_s = estimate_assumed(0, unused),
                               .compression_overhead_s = estimate_assumed(0, unused),
                               .constant_bytes = estimate_assumed(0, "benchmark family chain")};
        times[3 * k] = time_of("embedding", gpu, embedding_blocks * forward_s, false);
        times[3 * k + 1] = time_of("block", gpu, forward_s, true);
        times[3 * k + 2] = time_of("head", gpu, head_blocks * forward_s, false);
    }
    *costs = (struct costs){.name = "chain",
                            .gpus = gpus,
                            .gpu_count = cluster->group_count,
                            .layer_times = times,
                            .layer_time_count = 3 * cluster->group_count,
                            .intra_efficiency = estimate_assumed(1, unused),
                            .transfer_share = {[PART_DELAY] = 1}};
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++)
        costs->network_efficiency[kind] = estimate_assumed(1, unused);
}

static void make_job(struct job *job, const struct chain_request *r, struct arena *arena)
{
    struct rule *rule = TAKE(arena, 1, struct rule);
    *rule = rule_empty;
    rule->run = "block";
    rule->layers_min = 1;
    *job = (struct job){
        .name = "chain",
        .sequence = 1,
        .global_batch = r->micro_batches,
        .precision = FP32,
        .gradient_bytes_per_value = 4,
        .layout = {.tensor = 1,
                   .context = 1,
                   .data = 1,
                   LAYOUT_PLAIN(r->stages),
                   .micro_batch = 1,
                   .schedule = SCHEDULE_1F1B},
        .recompute =
            {[RECOMPUTE_NONE] = true, [RECOMPUTE_FULL] = true, [RECOMPUTE_FIRST_LAYERS] = true},
        .budget = {.boundaries_max = -1, .stages_max = -1, .cost_max = -1},
        .memory_fraction = 1,
        .rules = rule,
        .rule_count = 1};
}

enum status example_chain(struct problem *problem, const struct chain_request *request,
                          struct arena *arena, struct error *err)
{
    if (request->layers < request->stages)
        return refuse(err, "chain: %d layers cannot fill %d stages, each holds at least one block",
                      request->layers, request->stages);
    *problem = (struct problem){.name = arena_print(arena, "chain %d/%d/%d/%d", request->layers,
                                                    request->stages, request->types,
                                                    request->micro_batches)};
    make_model(&problem->model, request, arena);
    make_cluster(&problem->cluster, request, arena);
    make_costs(&problem->costs, &problem->cluster, arena);
    make_job(&problem->job, request, arena);
    return OK;
}
