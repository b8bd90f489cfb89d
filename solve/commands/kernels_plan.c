// The decision priced again, and its claims taken from the durations.
#include "solve/commands/internal.h"

#include "formulate/graph/objective.h"
#include "formulate/price/price.h"
#include "formulate/price/range.h"
#include "solve/commands/verbs.h"

static struct costs without_factors(const struct costs *costs, struct arena *arena)
{
    struct costs c = costs_copy(costs, arena);
    for (int i = 0; i < c.gpu_count; i++) {
        struct gpu_costs *g = &c.gpus[i];
        g->megatron_step_factor = g->deepspeed_step_factor = g->other_step_factor =
            g->sharded_step_factor = g->split_overhead_s = (struct estimate){0};
    }
    return c;
}

static void take_slice(struct plan_slice *x, const int64_t *durations, int stages, int stage,
                       int slice)
{
    x->forward_ns = durations[symbol_index(stages, symbol_of_slice(slice, SYMBOL_FORWARD), stage)];
    x->backward_ns =
        durations[symbol_index(stages, symbol_of_slice(slice, SYMBOL_BACKWARD), stage)];
    for (int part = 0; part < PART_COUNT; part++) {
        x->send_forward_ns[part] = durations[symbol_index(
            stages, symbol_of_slice(slice, SYMBOL_SEND_FORWARD) + part, stage)];
        x->send_backward_ns[part] = durations[symbol_index(
            stages, symbol_of_slice(slice, SYMBOL_SEND_BACKWARD) + part, stage)];
    }
}

static void take_claims(struct plan *to, const int64_t *durations, struct arena *arena)
{
    int p = to->stage_count;
    to->stages = TAKE_COPY(arena, to->stages, p);
    for (int s = 0; s < p; s++) {
        struct plan_stage *x = &to->stages[s];
        x->slices = TAKE_COPY(arena, x->slices, to->layout.slice_count);
        x->weight_ns = durations[symbol_index(p, SYMBOL_WEIGHT, s)];
        x->sync_ns = durations[symbol_index(p, SYMBOL_SYNC, s)];
        x->queued_sync_ns = durations[symbol_index(p, SYMBOL_QUEUED_SYNC, s)];
        x->optimizer_ns = durations[symbol_index(p, SYMBOL_OPTIMIZER, s)];
        x->away_ns = durations[symbol_index(p, SYMBOL_AWAY, s)];
        x->back_ns = durations[symbol_index(p, SYMBOL_BACK, s)];
        for (int part = 0; part < PART_COUNT; part++)
            x->send_epilogue_ns[part] = durations[symbol_index(p, SYMBOL_SEND_EPILOGUE + part, s)];
        for (int i = 0; i < to->layout.slice_count; i++)
            take_slice(&x->slices[i], durations, p, s, i);
    }
    to->embedding_sync_ns = durations[symbol_index(p, SYMBOL_EMBEDDING_SYNC, 0)];
}

enum status plan_for_run(struct plan *to, const struct plan *plan, const struct plan_run *run,
                         struct arena *arena, struct error *err)
{
    struct schedule schedule;
    struct priced priced;
    struct graph *graph;
    struct error unpriced = {OK, ""};
    struct schedule_request request = plan_request(plan);
    const struct problem *found = run->with == RUNNER_OWN ? origin_whole_problem(plan, arena)
                                                          : NULL;
    *to = *plan;
    if (!found || !plan->stage_count || plan->placement) return OK;
    struct problem problem = problem_with_layout(found, &plan->layout);
    problem.costs = without_factors(&found->costs, arena);
    TRY(schedule_build(&schedule, &request, arena, err));
    TRY(graph_compile(&graph, &schedule, arena, err));
    if (price_problem(&priced, &problem, arena, &unpriced) != OK) return OK;
    int64_t *durations = TAKE(arena, graph_symbol_count(graph), int64_t);
    if (!objective_durations(durations, plan, &priced, &schedule, arena)) return OK;
    take_claims(to, durations, arena);
    to->iteration_ns = graph_longest(graph, durations, NULL);
    to->runner_up_ns = 0;
    return range_of_plan(to, &problem, arena, err);
}

void plan_bring_run(struct plan_run *run, const struct plan *plan, struct arena *arena)
{
    const struct problem *found = origin_whole_problem(plan, arena);
    const struct gpu_costs *g =
        found && plan->group_gpus ? costs_find_gpu(&found->costs, plan->group_gpus[0]) : NULL;
    if (g)
        plan_run_at_speed(run, run->with == RUNNER_TORCH ? g->torch_yardstick_s.value
                                                         : g->kernels_yardstick_s.value);
}

// ---- without recomputation

// What a stage keeps of each micro-batch in flight, and needs while its largest layer runs.
struct unrepeated {
    int64_t stash_bytes, working_bytes;
};

static struct unrepeated unrepeated_of(const struct plan_stage *x, const struct priced *priced)
{
    struct unrepeated u = {0, 0};
    int64_t unsharded = 0;
    for (int i = 0; i < x->layer_count; i++) {
        const struct priced_run *run = &priced->runs[priced_run_of(priced, x->first_layer + i)];
        int64_t working = run->working_bytes[RECOMPUTE_NONE];
        u.stash_bytes += run->stash_bytes[RECOMPUTE_NONE];
        unsharded += run->unsharded_bytes;
        if (working > u.working_bytes) u.working_bytes = working;
    }
    u.working_bytes += unsharded;
    return u;
}

// Of a rank at its worst peak.
static int64_t kept_bytes(const struct plan *plan, const struct schedule *s,
                          const struct unrepeated *stages, int rank, const struct memory_parts *m)
{
    int v = plan->layout.virtual_stages;
    int64_t most = 0, working = 0;
    for (int turn = 0; turn < v; turn++) {
        int64_t own = stages[schedule_stage_of(&s->request, rank, turn)].working_bytes;
        if (own > working) working = own;
    }
    for (int i = 0; i < s->peak_count; i++) {
        int64_t sum = 0;
        for (int turn = 0; turn < v && s->peaks[i].rank == rank; turn++)
            sum += s->peaks[i].in_flight[turn] *
                   stages[schedule_stage_of(&s->request, rank, turn)].stash_bytes;
        if (sum > most) most = sum;
    }
    return memory_total(m) - m->activation_bytes - m->working_bytes + most + working;
}

void plan_find_kept(struct against_kept *kept, const struct plan *plan, struct arena *arena)
{
    struct schedule schedule;
    struct priced priced;
    struct error unpriced = {OK, ""};
    struct schedule_request request = plan_request(plan);
    const struct problem *found = origin_whole_problem(plan, arena);
    *kept = (struct against_kept){.fits = true};
    if (!found || !plan->stage_count || plan->placement) return;
    struct problem problem = problem_with_layout(found, &plan->layout);
    if (schedule_build(&schedule, &request, arena, &unpriced) != OK ||
        price_problem(&priced, &problem, arena, &unpriced) != OK)
        return;
    struct unrepeated *stages = TAKE(arena, plan->stage_count, struct unrepeated);
    for (int i = 0; i < plan->stage_count; i++)
        stages[i] = unrepeated_of(&plan->stages[i], &priced);
    kept->known = true;
    for (int rank = 0; rank < request.rank_count; rank++) {
        int64_t limit;
        const struct memory_parts *m = plan_memory(plan, rank, &limit);
        int64_t bytes = kept_bytes(plan, &schedule, stages, rank, m);
        if (bytes > limit) kept->fits = false;
        if (kept->limit_bytes && bytes - limit <= kept->bytes - kept->limit_bytes) continue;
        kept->rank = rank, kept->bytes = bytes, kept->limit_bytes = limit;
    }
}
