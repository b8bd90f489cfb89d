// A choice of a design's parameters as the costs of its device and as its cluster.

#include "data/hardware/designs.h"

// What a vector lane does for a score of fused attention: compare, subtract, take the exponential,
// add.
enum { OPERATIONS_OF_A_SCORE = 4 };

static const char device_name[] = "design";

static struct estimate by_design(double value) { return estimate_assumed(value, "by the design"); }

// FLOP/s of all arrays, full in every cycle.
static double design_peak_flop_per_s(const struct design *x)
{
    const double *v = x->of;
    return 2 * v[DESIGN_MATRIX_UNITS] * v[DESIGN_ROWS] * v[DESIGN_COLUMNS] * v[DESIGN_CLOCK_HZ];
}

// A value that is read or written passes a lane once.
static double vector_values_per_s(const struct design *x)
{
    return x->of[DESIGN_VECTOR_UNITS] * x->of[DESIGN_LANES] * x->of[DESIGN_CLOCK_HZ];
}

static struct precision_costs rates_of(const struct design *x, enum precision precision)
{
    struct estimate peak = by_design(design_peak_flop_per_s(x));
    return (struct precision_costs){
        .precision = precision,
        .gemm_flop_per_s = peak,
        .attention_flop_per_s = peak,
        .low_rank_flop_per_s = peak,
        .product_flop_per_s = peak,
        .product_bytes_per_s = by_design(x->of[DESIGN_MEMORY_BYTES_PER_S]),
        .peak_flop_per_s = peak};
}

struct costs design_costs(const struct designs *d, const struct design *x, struct arena *arena)
{
    static const enum precision precisions[] = {BF16, FP16};
    struct gpu_costs *g = TAKE(arena, 1, struct gpu_costs);
    struct precision_costs *rates = TAKE(arena, ARRAY_LENGTH(precisions), struct precision_costs);
    struct estimate one = by_design(1);
    for (size_t i = 0; i < ARRAY_LENGTH(precisions); i++) rates[i] = rates_of(x, precisions[i]);
    double lanes = vector_values_per_s(x);
    *g = (struct gpu_costs){
        .gpu = device_name,
        .precisions = rates,
        .precision_count = ARRAY_LENGTH(precisions),
        .memory_bytes_per_s =
            by_design(fmin(x->of[DESIGN_MEMORY_BYTES_PER_S], lanes * precision_bytes(BF16))),
        .layer_overhead_s = by_design(0),
        .compression_overhead_s = by_design(0),
        .constant_bytes = by_design(0),
        .score_cells_per_s = by_design(lanes / OPERATIONS_OF_A_SCORE),
        .arrays = {x->of[DESIGN_MATRIX_UNITS], x->of[DESIGN_ROWS], x->of[DESIGN_COLUMNS],
                   x->of[DESIGN_CLOCK_HZ], x->of[DESIGN_BUFFER_BYTES]}};
    struct costs c = {.name = d->name, .gpus = g, .gpu_count = 1, .intra_efficiency = one};
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++) c.network_efficiency[kind] = one;
    c.transfer_share[PART_DELAY] = 1;
    return c;
}

struct cluster design_cluster(const struct designs *d, const struct design *x, struct arena *arena)
{
    struct node_group *group = TAKE(arena, 1, struct node_group);
    struct nic *nic = TAKE(arena, 1, struct nic);
    int devices = (int)x->of[DESIGN_DEVICES];
    *nic = (struct nic){
        NIC_INFINIBAND, devices, {x->of[DESIGN_NETWORK_BYTES_PER_S], d->network_latency_s}};
    *group = (struct node_group){.name = device_name,
                                 .gpu = device_name,
                                 .nodes = (int)x->of[DESIGN_NODES],
                                 .gpus_per_node = devices,
                                 .memory_bytes = (int64_t)x->of[DESIGN_MEMORY_BYTES],
                                 .intra = {x->of[DESIGN_LINK_BYTES_PER_S], d->link_latency_s},
                                 .nics = nic,
                                 .nic_count = 1,
                                 .gpu_hour_price = design_hour_price(d, x)};
    return (struct cluster){.name = d->name, .groups = group, .group_count = 1};
}
