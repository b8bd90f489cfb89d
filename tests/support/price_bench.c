// The problems of the tests of prices.
#include "data/kinds/schedules.h"
#include "tests/support/price_bench.h"
#include "tests/support/check.h"

static struct precision_costs rates(enum precision precision, double gemm_flop_per_s)
{
    return (struct precision_costs){.precision = precision,
                                    .gemm_flop_per_s = exactly(gemm_flop_per_s),
                                    .attention_flop_per_s = exactly(50e12),
                                    .low_rank_flop_per_s = exactly(10e12)};
}

static const char *const gpus[] = {"G", "H"};

static struct gpu_costs speed(int gpu, struct precision_costs *precisions, int count)
{
    return (struct gpu_costs){.gpu = gpus[gpu],
                              .precisions = precisions,
                              .precision_count = count,
                              .memory_bytes_per_s = exactly(1e12),
                              .layer_overhead_s = exactly(10e-6),
                              .constant_bytes = exactly(1e9)};
}

static void set_groups(struct bench *b, int count, int nodes)
{
    static const char *const names[] = {"first", "second"};
    for (int i = 0; i < count; i++) {
        b->nics[i][0] = (struct nic){NIC_INFINIBAND, 1, {10e9, 5e-6}};
        b->groups[i] = (struct node_group){names[i],      gpus[i],    nodes, 4, 80000000000,
                                           {100e9, 1e-6}, b->nics[i], 1,     0};
    }
    b->problem.cluster =
        (struct cluster){.name = "test", .groups = b->groups, .group_count = count};
}

static struct bench *begin(int blocks, enum precision precision)
{
    struct bench *b = TAKE(&own_arena, 1, struct bench);
    own_err = (struct error){OK, ""};
    b->runs[EMBEDDING] =
        (struct layer_run){.name = "embedding", .kind = LAYER_EMBEDDING, .count = 1};
    b->runs[BLOCK] = (struct layer_run){
        .name = "block", .kind = LAYER_BLOCK, .count = blocks, .recomputable = true};
    b->runs[HEAD] = (struct layer_run){.name = "head", .kind = LAYER_HEAD, .count = 1};
    b->problem.name = "test";
    b->problem.model = (struct model){.name = "test",
                                      .has_shape = true,
                                      .runs = b->runs,
                                      .run_count = 3,
                                      .layer_count = blocks + 2,
                                      .shape = {.hidden = 1024,
                                                .ffn = 4096,
                                                .heads = 16,
                                                .kv_heads = 16,
                                                .head_width = 64,
                                                .vocabulary = 32000}};
    b->problem.costs = (struct costs){.name = "test",
                                      .gpus = b->gpus,
                                      .intra_efficiency = exactly(1),
                                      .transfer_share = {0, 1, 0}};
    for (int i = 0; i < NIC_KIND_COUNT; i++) b->problem.costs.network_efficiency[i] = exactly(1);
    b->problem.job = (struct job){.name = "test",
                                  .sequence = 512,
                                  .precision = precision,
                                  .adam = true,
                                  .layout = {.tensor = 1,
                                             .context = 1,
                                             .data = 1,
                                             LAYOUT_PLAIN(2),
                                             .micro_batch = 2,
                                             .schedule = SCHEDULE_1F1B},
                                  .recompute = {true, true, true, true},
                                  .budget = {-1, -1, -1, 0},
                                  .memory_fraction = 1};
    return b;
}

struct bench *bench_dense(void)
{
    struct bench *b = begin(4, FP16);
    set_groups(b, 2, 4);
    for (int i = 0; i < 2; i++) {
        b->precisions[i] = rates(FP16, 100e12);
        b->gpus[i] = speed(i, &b->precisions[i], 1);
        b->gpus[i].compression_overhead_s = exactly(20e-6);
    }
    b->problem.costs.gpu_count = 2;
    b->problem.job.global_batch = 16;
    b->problem.job.gradient_bytes_per_value = 4;
    return b;
}

struct bench *bench_gated(void)
{
    struct bench *b = begin(6, BF16);
    set_groups(b, 1, 64);
    for (int i = 0; i < 2; i++) b->precisions[i] = rates(i ? FP8 : BF16, i ? 200e12 : 100e12);
    b->gpus[0] = speed(0, b->precisions, 2);
    b->problem.costs.gpu_count = 1;
    b->problem.model.shape.kv_heads = 8;
    b->problem.model.shape.gated_ffn = b->problem.model.shape.rms_norm = true;
    b->problem.job.global_batch = 64;
    b->problem.job.gradient_bytes_per_value = 2;
    b->problem.job.layout.fused_attention = true;
    return b;
}

const struct priced *price(struct bench *b)
{
    MUST(price_problem(&b->priced, &b->problem, &own_arena, &own_err));
    return &b->priced;
}

struct priced_run block_of(struct bench *b) { return price(b)->runs[BLOCK]; }
