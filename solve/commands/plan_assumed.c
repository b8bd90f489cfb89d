// What nobody stated of a plan's numbers and kernels: what was taken, and the plan's time with what
// it may be instead.

#include "formulate/graph/objective.h"
#include "formulate/price/price.h"
#include "solve/commands/internal.h"

// The plan's decision at the problem's prices, in seconds; 0: it cannot be priced.
static double seconds_of(const struct problem *one, const struct plan *plan, struct arena *arena)
{
    struct priced priced;
    struct schedule schedule;
    struct graph *graph;
    struct error err = {OK, ""};
    struct schedule_request request = plan_request(plan);
    if (price_problem(&priced, one, arena, &err) != OK ||
        schedule_build(&schedule, &request, arena, &err) != OK ||
        graph_compile(&graph, &schedule, arena, &err) != OK)
        return 0;
    return (double)objective_iteration_ns(plan, &priced, &schedule, graph, arena) * 1e-9;
}

static const char *otherwise(const char *what, const struct problem *one, const struct plan *plan,
                             struct arena *arena)
{
    double seconds = seconds_of(one, plan, arena);
    return seconds > 0 ? arena_print(arena, "; %s: %.4g s", what, seconds) : "";
}

void plan_tell_assumed(const struct plan_options *r, const struct problem *problem,
                       const struct plan *plan, struct arena *arena)
{
    if (!plan->stage_count) return;
    struct problem one = problem_with_layout(problem, &plan->layout);
    struct job *j = &one.job;
    printf("\nAssumed: %s (--precision)", precision_names[j->precision]);
    if (!r->gradient_bytes) {
        int taken = j->gradient_bytes_per_value, other = taken == 4 ? 2 : 4;
        j->gradient_bytes_per_value = other;
        printf(", gradients of %d bytes (--gradient-bytes%s)", taken,
               j->precision == FP32 ||
                       framework_trainer(problem->job.space.framework) == TRAINER_TORCHTITAN
                   ? "" // which has no other
                   : otherwise(arena_print(arena, "%d", other), &one, plan, arena));
        j->gradient_bytes_per_value = taken;
    }
    if (plan->layout.fused_attention && j->attention_kernel == ATTENTION_MAKER) {
        j->attention_kernel = ATTENTION_FLASH_2;
        printf(", attention (the GPU maker's library%s)",
               otherwise("FlashAttention-2", &one, plan, arena));
    }
    printf("\n");
}
