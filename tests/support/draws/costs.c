// Random costs for random models: see costs.h.
#include "tests/support/draws/costs.h"

#include "data/kinds/schedules.h"
#include "tests/support/draws/fabric.h"
#include "tests/support/draws/models.h"

static struct estimate estimate(struct random *rng, double low, double high)
{
    double value = low + (high - low) * (double)random_between(rng, 0, 1000000) / 1e6;
    return (struct estimate){.value = value, .low = value, .high = value, .origin = ORIGIN_ASSUMED};
}

static struct estimate sometimes(struct random *rng, int percent, double low, double high)
{
    return random_chance(rng, percent) ? estimate(rng, low, high)
                                       : (struct estimate){.origin = ORIGIN_ASSUMED};
}

static void random_collectives(struct costs *c, const char *gpu, struct random *rng,
                               struct arena *arena)
{
    struct collective_times *table = &c->collectives[c->collective_count++];
    int points = (int)random_between(rng, 1, 5);
    bool send = random_chance(rng, 30);
    *table = (struct collective_times){.gpu = gpu,
                                       .ranks = send ? 2 : random_between(rng, 1, 4) * 2,
                                       .point_count = points,
                                       .between_nodes = random_chance(rng, 50),
                                       .send = send};
    if (random_chance(rng, 50)) { // lines instead, which may jump either way
        table->segment_count = points, table->point_count = 0;
        table->segments = TAKE(arena, points, struct segment);
        for (int i = 0; i < points; i++)
            table->segments[i] = (struct segment){
                (i ? table->segments[i - 1].from_bytes * 4 + (double)random_between(rng, 1, 1000000)
                   : 0),
                estimate(rng, 1e-6, 1e-3), estimate(rng, 1e9, 1e12)};
        return;
    }
    table->bytes = TAKE(arena, points, double);
    table->seconds = TAKE(arena, points, double);
    for (int i = 0; i < points; i++) {
        table->bytes[i] = (i ? table->bytes[i - 1] * 4 : 1e5) +
                          (double)random_between(rng, 1, 1000000);
        table->seconds[i] = (i ? table->seconds[i - 1] : 0) +
                            (double)random_between(rng, 1, 1000) * 1e-6;
    }
}

// Rates of decompression, by draws of their own.
static void draw_back(struct precision_costs *p, const struct random *rng)
{
    struct random own = *rng;
    p->low_rank_back_flop_per_s = sometimes(&own, 40, 5e12, 50e12);
    if (p->low_rank_back_flop_per_s.value > 0)
        p->low_rank_back_bytes_per_s = sometimes(&own, 60, 5e11, 2e12);
}

static struct precision_costs random_rates(enum precision precision, struct random *rng)
{
    struct precision_costs p = {.precision = precision,
                                .gemm_flop_per_s = estimate(rng, 50e12, 700e12),
                                .attention_flop_per_s = estimate(rng, 50e12, 300e12),
                                .low_rank_flop_per_s = estimate(rng, 5e12, 50e12),
                                .misaligned_gemm_share = sometimes(rng, 40, 0.3, 1),
                                .data_gradient_flop_per_s = sometimes(rng, 40, 50e12, 700e12),
                                .weight_gradient_flop_per_s = sometimes(rng, 40, 50e12, 700e12),
                                .low_rank_bytes_per_s = sometimes(rng, 40, 5e11, 2e12),
                                .operand_bytes_per_s = sometimes(rng, 40, 1e12, 2e13),
                                .weight_operand_bytes_per_s = sometimes(rng, 40, 1e12, 2e13),
                                .product_flop_per_s = sometimes(rng, 60, 50e12, 700e12),
                                .product_tile_flop_per_s = sometimes(rng, 80, 50e12, 900e12),
                                .product_square_tile_share = sometimes(rng, 50, 0.5, 1),
                                .product_bytes_per_s = sometimes(rng, 80, 5e11, 4e12),
                                .backward_attention_flop_per_s = sometimes(rng, 40, 50e12, 300e12)};
    draw_back(&p, rng);
    return p;
}

// By draws of their own; of products by shape, so of some precisions only.
static struct matrix_arrays random_arrays(const struct random *rng)
{
    static const double sides[] = {2, 8, 16, 24, 64, 100, 128, 256};
    struct random own = *rng;
    if (!random_chance(&own, 25)) return (struct matrix_arrays){0};
    return (struct matrix_arrays){
        .units = (double)random_between(&own, 1, 64),
        .rows = sides[random_between(&own, 0, ARRAY_LENGTH(sides) - 1)],
        .columns = sides[random_between(&own, 0, ARRAY_LENGTH(sides) - 1)],
        .clock_hz = 1e6 * (double)random_between(&own, 100, 2000),
        .buffer_bytes = random_chance(&own, 60) ? (double)random_between(&own, 1, 1 << 26) : 0};
}

static void random_gpu(struct gpu_costs *g, const char *name, struct random *rng,
                       struct arena *arena)
{
    static const enum precision precisions[] = {BF16, FP8, FP32, FP16};
    struct precision_costs *rates = TAKE(arena, PRECISION_COUNT, struct precision_costs);
    struct random own = *rng;
    struct random narrow = *rng;
    struct matrix_arrays arrays = random_arrays(rng);
    int count = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(precisions); i++)
        if (random_chance(rng, 93)) rates[count++] = random_rates(precisions[i], rng);
    for (int p = FP8 + 1; p < PRECISION_COUNT; p++)
        rates[count++] = random_rates((enum precision)p, &narrow);
    *g = (struct gpu_costs){.gpu = name,
                            .precisions = rates,
                            .precision_count = count,
                            .arrays = arrays,
                            .memory_bytes_per_s = estimate(rng, 0.5e12, 3e12),
                            .layer_overhead_s = estimate(rng, 0, 1e-4),
                            .compression_overhead_s = estimate(rng, 0, 1e-4),
                            .constant_bytes = estimate(rng, 0, 4e9),
                            .layer_launch_s = sometimes(rng, 50, 0, 2e-3),
                            .embedding_launch_share = sometimes(rng, 50, 0, 1),
                            .collective_launch_s = sometimes(rng, 50, 0, 1e-4),
                            .backward_memory_bytes_per_s = sometimes(rng, 40, 5e11, 3e12),
                            .backward_overhead_s = sometimes(rng, 40, 0, 1e-4),
                            .forward_factor = sometimes(rng, 40, 0.9, 1.2),
                            .backward_factor = sometimes(rng, 40, 0.9, 1.2),
                            .head_forward_factor = sometimes(rng, 40, 0.9, 1.2),
                            .head_backward_factor = sometimes(rng, 40, 0.9, 1.2),
                            .embedding_forward_factor = sometimes(rng, 40, 0.9, 1.9),
                            .embedding_backward_factor = sometimes(rng, 40, 0.9, 1.9),
                            .top_k_values_per_s = sometimes(rng, 90, 1e9, 1e11),
                            .top_k_back_values_per_s = sometimes(rng, 90, 1e9, 1e11),
                            .quantise_values_per_s = sometimes(rng, 90, 1e9, 1e11),
                            .quantise_back_values_per_s = sometimes(rng, 90, 1e9, 1e11),
                            .host_memory_bytes_per_s = sometimes(rng, 80, 1e9, 2e10),
                            .host_link_bytes_per_s = sometimes(rng, 80, 1e9, 5e10),
                            .host_update_values_per_s = sometimes(rng, 80, 1e7, 1e10),
                            .processors = sometimes(rng, 80, 1, 200),
                            .product_launch_s = sometimes(rng, 50, 0, 1e-5),
                            .elementwise_launch_s = sometimes(rng, 50, 0, 1e-5),
                            .score_cells_per_s = sometimes(rng, 50, 1e12, 5e12),
                            .open_attention_share = sometimes(rng, 50, 0.3, 1),
                            .triton_attention_share = sometimes(rng, 50, 0.3, 1),
                            .megatron_step_factor = sometimes(rng, 50, 0.9, 1.5),
                            .other_step_factor = sometimes(rng, 50, 0.9, 1.5),
                            .sharded_step_factor = sometimes(rng, 50, 0.9, 1.5),
                            .deepspeed_step_factor = sometimes(rng, 50, 0.9, 1.5),
                            .step_bytes_per_value = sometimes(rng, 40, 0, 8),
                            .split_overhead_s = sometimes(&own, 40, 0, 1e-3),
                            .step_bytes_per_s = sometimes(&own, 40, 1e10, 1e12),
                            .context_tensor_loss = sometimes(&own, 60, 0, 1),
                            .earlier_attention_share = sometimes(&narrow, 50, 0.3, 1),
                            .communicator_bytes = sometimes(rng, 50, 0, 1e9),
                            .library_bytes = sometimes(rng, 50, 0, 1e8)};
}

static void random_stated_time(struct costs *c, const struct model *m, const char *gpu,
                               struct random *rng)
{
    double forward = (double)random_between(rng, 1000, 1000000) * 1e-8;
    c->layer_times[c->layer_time_count++] =
        (struct layer_time){.run = m->runs[random_between(rng, 0, m->run_count - 1)].name,
                            .gpu = gpu,
                            .tensor = random_chance(rng, 30) ? random_between(rng, 1, 8) : 0,
                            .micro_batch = random_chance(rng, 30) ? random_between(rng, 1, 4) : 0,
                            .forward_s = forward,
                            .backward_s = 2.1 * forward,
                            .weight_s = random_chance(rng, 50) ? 0.9 * forward : 0,
                            .selective_s = 0.3 * forward,
                            .full_s = 1.1 * forward,
                            .optimizer_s = 0.2 * forward};
}

void random_costs(struct problem *p, struct random *rng, struct arena *arena)
{
    static const char *const names[] = {"G", "H"};
    struct costs *c = &p->costs;
    *c = (struct costs){.name = "random",
                        .gpus = TAKE(arena, 2, struct gpu_costs),
                        .gpu_count = 2,
                        .layer_times = TAKE(arena, 4, struct layer_time),
                        .collectives = TAKE(arena, 6, struct collective_times),
                        .intra_efficiency = estimate(rng, 0.5, 1),
                        .transfer_share = {0.25, 0.5, 0.25},
                        .transfer_intra_efficiency = sometimes(rng, 30, 0.1, 1),
                        .tensor_overlap = sometimes(rng, 40, 0, 1),
                        .context_overlap = sometimes(rng, 50, 0, 1),
                        .allocator_factor = sometimes(rng, 40, 1, 1.3),
                        .transfer_launch_s = sometimes(rng, 40, 0, 1e-4),
                        .overlap_slowdown = sometimes(rng, 40, 0, 0.5)};
    c->tree_bandwidth_share = random_tree_share(rng);
    for (int i = 0; i < NIC_KIND_COUNT; i++) {
        c->network_efficiency[i] = estimate(rng, 0.3, 1);
        c->transfer_network_efficiency[i] = sometimes(rng, 20, 0.1, 1);
    }
    for (int i = 0; i < SCHEDULE_KIND_COUNT; i++) {
        c->schedule_share_stated[i] = random_chance(rng, 30);
        c->schedule_share[i][PART_LINK] = (double)random_between(rng, 0, 4) / 4;
        c->schedule_share[i][PART_DELAY] = 1 - c->schedule_share[i][PART_LINK];
    }
    for (int i = 0; i < 2; i++) {
        random_gpu(&c->gpus[i], names[i], rng, arena);
        if (random_chance(rng, 10)) random_stated_time(c, &p->model, names[i], rng);
        for (int k = 0; k < 3; k++)
            if (random_chance(rng, 50)) random_collectives(c, names[i], rng, arena);
    }
    random_fabric(c, rng, arena);
}
