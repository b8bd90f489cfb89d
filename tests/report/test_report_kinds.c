// Reports of features beyond plain 1F1B: experts, virtual stages, split backwards, slices, ZeRO 2
// and 3, offloading. What Megatron-LM cannot do has to be stated below its flags.
#include "data/kinds/schedules.h"
#include "data/results/plan.h"
#include "solve/report/export/export.h"
#include "tests/support/oracle/plans.h"
#include "tests/support/check.h"

static const char *text_of(const struct plan *plan, struct arena *arena)
{
    struct text out;
    text_begin(&out, arena);
    MUST(report_text(&out, plan, NULL, NULL, 0, &own_err));
    return out.text;
}

static const char *flags_of(const struct plan *plan, const struct problem *problem,
                            struct arena *arena)
{
    struct text out;
    text_begin(&out, arena);
    struct plan alike = *plan; // its stages recompute unlike layers
    alike.stages = TAKE_COPY(arena, plan->stages, plan->stage_count);
    for (int s = 0; s < plan->stage_count; s++)
        alike.stages[s].recompute = RECOMPUTE_NONE, alike.stages[s].recomputed_layers = 0;
    MUST(report_megatron(&out, &alike, problem, &own_err));
    return out.text;
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part)) print_error("'%s' is not in:\n%s", part, text);
    assert_non_null(strstr(text, part));
}

static void lacks(const char *text, const char *part)
{
    if (strstr(text, part)) print_error("'%s' is in:\n%s", part, text);
    assert_null(strstr(text, part));
}

// Two ranks of two stages each, from the small plan's four.
static struct plan folded_plan(int kind, struct arena *arena)
{
    struct plan plan = small_plan(arena);
    plan.layout.schedule = kind;
    plan.layout.pipeline = plan.layout.virtual_stages = 2;
    plan.stages[0].group = plan.stages[2].group = 0;
    plan.stages[1].group = plan.stages[3].group = schedule_kinds[kind].folds ? 0 : 1;
    plan.ranks = TAKE(arena, 2, struct plan_rank);
    plan.ranks[0].memory.weight_bytes = 41000000000;
    plan.ranks[1].memory.weight_bytes = 43000000000;
    for (int s = 0; s < 4; s++)
        plan.stages[s].weight_ns = schedule_splits_backward(kind) ? 7000000 + s : 0;
    claim_replay(&plan, arena);
    return plan;
}

TEST(test_text_of_virtual_stages)
{
    struct plan plan = folded_plan(SCHEDULE_INTERLEAVED, arena);
    const char *text = text_of(&plan, arena);
    has(text, "2 pipeline ranks of 2 stages x 8 GPUs (tensor 4, context 1, data 2) = 16 GPUs\n");
    has(text, "9-10        2  a100        A100-80  0-7"); // stage 2 is rank 0's second
    has(text, "41.00");                                   // memory by ranks
    lacks(text, "16-23");
    has(text, "Memory of one GPU");
    lacks(text, "weight  send on");
    plan = folded_plan(SCHEDULE_ZB_V, arena);
    text = text_of(&plan, arena);
    has(text, "weight  send on");
    has(text, "7.000");
    has(text, "9-10        2  a100        A100-80  8-15"); // folded: stage 2 is on rank 1
}

TEST(test_text_says_what_is_fixed)
{
    struct plan plan = small_plan(arena);
    claim_replay(&plan, arena);
    const char *text = text_of(&plan, arena);
    lacks(text, "expert");
    lacks(text, "offloaded optimizer");
    lacks(text, "no barrier");
    lacks(text, "  losses");
    lacks(text, "  slices");
    lacks(text, "  costs");
    lacks(text, "  beyond");
    plan.layout.expert = 2;
    plan.layout.offload_optimizer = true;
    plan.layout.barrier = false;
    plan.layout.local_loss_every = 2;
    plan.iteration_low_ns = 200000000, plan.iteration_high_ns = 400000000;
    plan.runner_up_ns = 300000000, plan.runner_up_inside = true;
    plan.extrapolated = TAKE(arena, 1, struct plan_extrapolation);
    plan.extrapolated[0] =
        (struct plan_extrapolation){"gemm_flop_per_s", "G", "head, logits", 1e9, 5e12, 1e9, 1e12};
    plan.extrapolated_count = 1;
    text = text_of(&plan, arena);
    has(text, ", data 2, expert 2)");
    has(text, "ZeRO 1, offloaded optimizer, sequence parallel, fused attention, no barrier\n");
    has(text, "  losses     local, one every 2 stages\n");
    has(text, "  beyond     gemm_flop_per_s of G: used at 1e+09 to 5e+12, fitted on 1e+09 to 1e+12 "
              "(5 times; head, logits)\n");
    has(text,
        "  range      cost uncertainty: 200.000 ms to 400.000 ms; the best of another layout, "
        "300.000 ms, is inside\n");
    plan = small_plan(arena);
    plan.layout.schedule = SCHEDULE_TOKEN_SLICED;
    plan.layout.slice_count = 2, plan.layout.slices[0] = 1200, plan.layout.slices[1] = 848;
    for (int s = 0; s < 4; s++)
        plan.stages[s].slices =
            arena_grow(arena, plan.stages[s].slices, 1, 2, sizeof *plan.stages[s].slices),
        plan.stages[s].slices[1].forward_ns = 5;
    claim_replay(&plan, arena);
    has(text_of(&plan, arena), "  slices     of 1200, 848 tokens\n");
}

TEST(test_flags_of_degrees)
{
    struct plan plan = folded_plan(SCHEDULE_INTERLEAVED, arena);
    plan.layout.context = 2, plan.layout.data = 1, plan.layout.expert = 2;
    const char *text = flags_of(&plan, NULL, arena);
    has(text, "  --context-parallel-size 2\n");
    has(text, "  --expert-model-parallel-size 2\n");
    has(text, "  --pipeline-model-parallel-size 2\n");
    has(text, "  --pipeline-model-parallel-layout 'Et*3|t*5|t*2|t*2L'\n");
    has(text, "# on 16 GPUs.\n");
    has(text, "#   ranks 0-7: stages 0, 2 on a100 (A100-80)\n");
    has(text, "#   ranks 8-15: stages 1, 3 on v100 (V100-32)\n");
    lacks(text, "schedule: Megatron");
}

TEST(test_what_megatron_lacks_is_said)
{
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++) {
        struct plan plan = small_plan(arena);
        plan.layout.schedule = (int)kind;
        const char *said = arena_print(arena, "#   - the %s schedule: Megatron-LM runs 1F1B;",
                                       schedule_names[kind]);
        (schedule_kinds[kind].in_megatron ? lacks : has)(flags_of(&plan, NULL, arena), said);
    }
    struct plan plan = folded_plan(SCHEDULE_ZB_V, arena);
    const char *text = flags_of(&plan, NULL, arena);
    has(text, "Megatron-LM runs interleaved 1F1B;");
    has(text, "stages that fold back");
    has(text, "#   ranks 0-7: stages 0, 3 on");
    plan = small_plan(arena);
    for (plan.layout.zero = 0; plan.layout.zero < 4; plan.layout.zero++) {
        text = flags_of(&plan, NULL, arena);
        (plan.layout.zero ? has : lacks)(text, "  --use-distributed-optimizer\n");
        (plan.layout.zero > 1 ? has : lacks)(text, "shards optimizer state alone; gradients");
        (plan.layout.zero > 2 ? has : lacks)(text, "and weights stay whole");
    }
    plan.layout.zero = 0, plan.layout.offload_optimizer = true, plan.layout.barrier = false;
    plan.layout.local_loss_every = 2, plan.layout.slice_count = 3;
    text = flags_of(&plan, NULL, arena);
    has(text, "  --optimizer-cpu-offload\n  --use-precision-aware-optimizer\n");
    has(text, "  --use-distributed-optimizer\n");
    has(text, "optimizer state that is whole");
    has(text, "without a barrier");
    has(text, "local losses, one every 2 stages");
    has(text, "3 slices of a sequence");
}

TEST(test_flags_of_a_mixture)
{
    struct plan plan = small_plan(arena);
    struct expert_shape experts = {.experts = 16, .top_k = 2, .ffn = 700, .shared_ffn = 1400};
    struct layer_run runs[] = {
        {.name = "embedding", .kind = LAYER_EMBEDDING, .count = 1},
        {.name = "dense", .kind = LAYER_BLOCK, .count = 2, .recomputable = true},
        {.name = "mixed", .kind = LAYER_MOE, .count = 4, .recomputable = true, .experts = experts},
        {.name = "more", .kind = LAYER_MOE, .count = 6, .recomputable = true, .experts = experts},
        {.name = "head", .kind = LAYER_HEAD, .count = 1}};
    struct problem problem = {
        .model =
            {.has_shape = true,
             .shape = {.hidden = 1024, .ffn = 2816, .heads = 16, .kv_heads = 16, .head_width = 64},
             .runs = runs,
             .run_count = 5,
             .layer_count = 14},
        .job = {.sequence = 2048, .precision = BF16, .gradient_bytes_per_value = 4},
    };
    const char *text = flags_of(&plan, &problem, arena);
    has(text, "  --num-layers 12\n");
    has(text, "  --num-experts 16\n  --moe-router-topk 2\n  --moe-ffn-hidden-size 700\n"
              "  --moe-shared-expert-intermediate-size 1400\n");
    has(text, "  --moe-layer-freq '([0]*2+[1]*10)'\n");
    lacks(text, "frozen");
    runs[3].experts.top_k = 3;
    runs[1].frozen = true;
    text = flags_of(&plan, &problem, arena);
    lacks(text, "--num-experts");
    has(text, "experts whose shape differs");
    has(text, "frozen layers");
}

// Every schedule in both forms: nothing refused, the replay agrees, lines stay short.
TEST(test_every_kind)
{
    uint64_t seed = 31;
    struct arena_mark mark = arena_set_mark(arena);
    for (int round = 0; round < 200; round++, arena_reset(arena, mark)) {
        struct plan plan = wound_plan(&seed, arena);
        claim_replay(&plan, arena);
        lacks(text_of(&plan, arena), "WARNING");
        has(flags_of(&plan, NULL, arena),
            arena_print(arena, "  --pipeline-model-parallel-size %d\n", plan.layout.pipeline));
    }
}
