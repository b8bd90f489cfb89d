// Plans in memory for the tests of reports.
#include "data/kinds/schedules.h"
#include "tests/support/oracle/plans.h"

#include "solve/report/report.h"
#include "tests/support/requests.h"
#include "tests/support/check.h"

static const char *group_names[] = {"a100", "v100"};
static const char *group_gpus[] = {"A100-80", "V100-32"};
static struct compression_option boundary_options[] = {
    {.form.amount = 0}, {.form.amount = 16, .epilogue_only = true, .quality_cost = 3}};
static struct compression_option gradient_options[] = {
    {.form.amount = 0},
    {.form.amount = 32, .quality_cost = 5, .forgets = true, .tier_option = "optimizer 25 %"}};
static struct source sources[] = {
    {"problem", "mixed.problem.json",
     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"},
    {"priced", "mixed.priced.json",
     "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"},
};

struct plan small_plan(struct arena *arena)
{
    struct plan_stage *stages = TAKE(arena, 4, struct plan_stage);
    const int layers[] = {4, 5, 2, 3};
    int first = 0;
    for (int s = 0; s < 4; s++) {
        stages[s] = (struct plan_stage){
            .first_layer = first,
            .layer_count = layers[s],
            .group = s == 2,
            .slices = TAKE(arena, 1, struct plan_slice),
            .sync_ns = 14000000 + 1000000 * s,
            .optimizer_ns = 6000000,
            .memory = {4000000000 + 500000000 * (int64_t)layers[s], 2000000000, 9000000000,
                       (int64_t)(4 - s) * 3200000000, 800000000, 100000000, 0, 1500000000},
            .memory_limit_bytes = s == 2 ? 25600000000 : 64000000000,
        };
        struct plan_slice *slice = stages[s].slices;
        slice->forward_ns = 9000000 + 700000 * s;
        slice->backward_ns = 19000000 - 900000 * s;
        if (s < 3) {
            slice->send_forward_ns[PART_BLOCKING] = slice->send_backward_ns[PART_BLOCKING] =
                stages[s].send_epilogue_ns[PART_BLOCKING] = 300000;
            slice->send_forward_ns[PART_DELAY] = slice->send_backward_ns[PART_DELAY] = 1200000;
            stages[s].send_epilogue_ns[PART_DELAY] = s == 1 ? 400000 : 1200000;
        }
        first += layers[s];
    }
    stages[0].recompute = RECOMPUTE_FULL;
    stages[1].recompute = RECOMPUTE_FIRST_LAYERS;
    stages[1].recomputed_layers = 2;
    stages[2].boundary_option = 1;
    stages[2].memory.feedback_bytes = 50000000;
    stages[3].gradient_option = 1;
    return (struct plan){
        .document = {.path = "small.plan.json",
                     .made_by = "plumbline " PLUMBLINE_VERSION,
                     .sources = sources,
                     .source_count = 2},
        .name = "small",
        .outcome = OUTCOME_OPTIMAL,
        .embedding_sync_ns = 2500000,
        .micro_batches = 6,
        .devices_per_stage = 8,
        .graph = {{true, false, true}, true, true, true, true},
        .layout = {.tensor = 4,
                   .context = 1,
                   .data = 2,
                   LAYOUT_PLAIN(4),
                   .micro_batch = 1,
                   .schedule = SCHEDULE_1F1B,
                   .sequence_parallel = true,
                   .fused_attention = true,
                   .gradient_sync = SYNC_OVERLAPPED,
                   .zero = 1},
        .group_names = group_names,
        .group_gpus = group_gpus,
        .group_count = 2,
        .stages = stages,
        .stage_count = 4,
        .boundary_options = boundary_options,
        .boundary_option_count = 2,
        .gradient_options = gradient_options,
        .gradient_option_count = 2,
        .seed = 1,
        .effort = {12, 345, 67, 0.25},
    };
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

struct plan random_plan(uint64_t *seed, struct arena *arena)
{
    struct plan plan = small_plan(arena);
    plan.stage_count = plan.layout.pipeline = 1 + (int)(next_random(seed) % 6);
    plan.micro_batches = 1 + (int)(next_random(seed) % 9);
    plan.layout.schedule = next_random(seed) % 2 ? SCHEDULE_GPIPE : SCHEDULE_1F1B;
    plan.stages = TAKE(arena, plan.stage_count, struct plan_stage);
    plan.graph.embedding_sync = plan.stage_count > 1 && next_random(seed) % 2;
    plan.embedding_sync_ns = plan.graph.embedding_sync ? (int64_t)(next_random(seed) % 5000) : 0;
    bool *parts = plan.graph.parts;
    for (int part = 0; part < PART_COUNT; part++) parts[part] = next_random(seed) % 2;
    for (int s = 0; s < plan.stage_count; s++) {
        struct plan_stage *stage = &plan.stages[s];
        struct plan_slice *slice = TAKE(arena, 1, struct plan_slice);
        slice->forward_ns = (int64_t)(next_random(seed) % 3000);
        slice->backward_ns = (int64_t)(next_random(seed) % 3000);
        *stage = (struct plan_stage){.first_layer = s,
                                     .layer_count = 1,
                                     .slices = slice,
                                     .sync_ns = (int64_t)(next_random(seed) % 900),
                                     .optimizer_ns = (int64_t)(next_random(seed) % 900),
                                     .memory.activation_bytes = 1000000,
                                     .memory_limit_bytes = 2000000};
        for (int part = 0; part < PART_COUNT && s < plan.stage_count - 1; part++) {
            slice->send_forward_ns[part] = parts[part] ? 1 + (int64_t)(next_random(seed) % 999) : 0;
            slice->send_backward_ns[part] = parts[part] ? 1 + (int64_t)(next_random(seed) % 999)
                                                        : 0;
            stage->send_epilogue_ns[part] = parts[part] ? 1 + (int64_t)(next_random(seed) % 999)
                                                        : 0;
        }
    }
    return plan;
}

struct plan wound_plan(uint64_t *seed, struct arena *arena)
{
    struct plan plan = random_plan(seed, arena);
    struct random rng = {next_random(seed)};
    struct schedule_request r = request_random(&rng, 4, 7);
    struct layout *l = &plan.layout;
    l->schedule = r.kind;
    l->pipeline = r.rank_count;
    l->virtual_stages = r.virtual_stages;
    l->slice_count = r.slice_count;
    l->barrier = r.barrier;
    l->local_loss_every = r.local_loss_every, l->stored_inputs = r.stored_inputs;
    plan.micro_batches = r.micro_batches;
    const struct plan_stage *few = plan.stages;
    int count = plan.stage_count;
    plan.stage_count = r.stage_count;
    plan.stages = TAKE(arena, r.stage_count, struct plan_stage);
    plan.graph.embedding_sync = plan.graph.embedding_sync && r.stage_count > 1;
    for (int s = 0; s < r.stage_count; s++) {
        plan.stages[s] = few[s % count];
        plan.stages[s].first_layer = s;
        if (r.virtual_stages > 1)
            plan.stages[s].queued_sync_ns = (int64_t)(next_random(seed) % 900);
        plan.stages[s].weight_ns =
            schedule_splits_backward(r.kind) ? 1 + (int64_t)(next_random(seed) % 2000) : 0;
        plan.stages[s].slices = arena_grow(arena, few[s % count].slices, 1, (size_t)r.slice_count,
                                           sizeof *plan.stages[s].slices);
        for (int k = 1; k < r.slice_count; k++)
            plan.stages[s].slices[k] =
                (struct plan_slice){.forward_ns = 1 + (int64_t)(next_random(seed) % 2000),
                                    .backward_ns = 1 + (int64_t)(next_random(seed) % 2000)};
    }
    return plan;
}

void claim_replay(struct plan *plan, struct arena *arena)
{
    struct report_replay r;
    struct error err = {OK, ""};
    CHECK_OK(report_replay(&r, plan, arena, &err));
    plan->iteration_ns = plan->bound_ns = r.iteration_ns;
}
