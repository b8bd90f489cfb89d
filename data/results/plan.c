// Plans: values derived from them.
#include "data/results/plan.h"

#include <string.h>

#include "data/results/bound.h"

const char *const outcome_names[] = {"optimal", "open", "infeasible", "no_plan", NULL};

int64_t memory_total(const struct memory_parts *m)
{
    return m->weight_bytes + m->gradient_bytes + m->optimizer_bytes + m->activation_bytes +
           m->working_bytes + m->buffer_bytes + m->feedback_bytes + m->constant_bytes;
}

int64_t plan_micro_batches_together(const struct plan *p)
{
    int64_t sum = 0;
    if (!p->placement || !p->placement->micro_batches)
        return (int64_t)p->micro_batches * p->layout.data;
    for (int i = 0; i < p->placement->replica_count; i++) sum += p->placement->micro_batches[i];
    return sum;
}

void plan_effort_add(struct plan_effort *sum, const struct plan_effort *e)
{
    sum->boxes += e->boxes, sum->relaxations += e->relaxations, sum->path_rows += e->path_rows;
    sum->seconds += e->seconds;
}

int plan_mixing_stages(const struct plan *p)
{
    int count = 0;
    for (int s = 0; s < p->stage_count; s++)
        count += p->stages[s].sharded_layers > 0 || p->stages[s].vocabulary_tensor > 0;
    return count;
}

int64_t plan_stage_devices(const struct plan *p, int stage)
{
    if (!p->widths) return p->devices_per_stage;
    const struct plan_width *w = &p->widths[p->stages[stage].group];
    return (int64_t)w->tensor * w->context * w->data;
}

int64_t plan_devices(const struct plan *p)
{
    int64_t sum = 0;
    if (!p->widths || !p->stage_count) return p->layout.pipeline * p->devices_per_stage;
    for (int s = 0; s < p->stage_count; s++) sum += plan_stage_devices(p, s);
    return sum;
}

int64_t plan_value_ns(const struct plan *p)
{
    return p->objective == OBJECTIVE_ITERATION_TIME ? p->iteration_ns : p->objective_ns;
}

const char *plan_unit(const struct plan *p)
{
    return p->objective == OBJECTIVE_ENERGY ? "microjoules" : "ns";
}

int64_t plan_bound_ns(const struct plan *p)
{
    return bound_stated(p->bound_ns, p->stage_count ? plan_value_ns(p) : 0, 0);
}

double plan_gap(const struct plan *p)
{
    int64_t value = plan_value_ns(p);
    return value > 0 ? (double)(value - p->bound_ns) / (double)value : 0;
}

enum outcome plan_outcome(const struct plan *p)
{
    return p->bound_ns >= bound_closing(plan_value_ns(p), p->gap_asked, 0) ? OUTCOME_OPTIMAL
                                                                           : OUTCOME_OPEN;
}

const char *plan_claim_words(const struct plan *p, struct arena *arena)
{
    return claim_words(p->claim, p->taken_over, p->taken_over_count, arena);
}

const char *plan_outcome_words(const struct plan *p, struct arena *arena)
{
    const char *what = NULL;
    if (p->outcome == OUTCOME_OPEN) return "stopped early, the gap is open";
    if (p->outcome == OUTCOME_NO_PLAN) return "no plan found within the limit";
    if (p->outcome == OUTCOME_INFEASIBLE) what = "infeasible";
    else what = p->bound_ns == plan_value_ns(p) ? "optimal" : "solved to the requested gap";
    return arena_print(arena, "%s (%s)", what, plan_claim_words(p, arena));
}

void plan_end(struct plan *p, double gap_asked, bool none_is_left)
{
    p->gap_asked = gap_asked;
    if (p->stage_count) p->outcome = plan_outcome(p);
    else p->outcome = none_is_left ? OUTCOME_INFEASIBLE : OUTCOME_NO_PLAN;
}

struct plan_graph plan_graph_of(const struct schedule_request *request)
{
    struct plan_graph g = {.epilogue = request->epilogue,
                           .sync = request->sync,
                           .optimizer = request->optimizer,
                           .embedding_sync = request->embedding_sync,
                           .across_passes = request->across_passes};
    memcpy(g.parts, request->parts, sizeof g.parts);
    return g;
}

struct schedule_request plan_request(const struct plan *p)
{
    struct schedule_request r = {.kind = p->layout.schedule,
                                 .stage_count = p->stage_count,
                                 .micro_batches = p->micro_batches,
                                 .rank_count = p->layout.pipeline,
                                 .virtual_stages = p->layout.virtual_stages,
                                 .slice_count = p->layout.slice_count,
                                 .local_loss_every = p->layout.local_loss_every,
                                 .stored_inputs = p->layout.stored_inputs,
                                 .barrier = p->layout.barrier,
                                 .sync_overlapped = p->layout.gradient_sync == SYNC_OVERLAPPED,
                                 .epilogue = p->graph.epilogue,
                                 .sync = p->graph.sync,
                                 .optimizer = p->graph.optimizer,
                                 .embedding_sync = p->graph.embedding_sync,
                                 .across_passes = p->graph.across_passes};
    memcpy(r.parts, p->graph.parts, sizeof r.parts);
    memcpy(r.in_flight, p->layout.in_flight, sizeof r.in_flight);
    return r;
}

int plan_memory_count(const struct plan *p)
{
    return p->ranks ? p->layout.pipeline : p->stage_count;
}

const struct memory_parts *plan_memory(const struct plan *p, int at, int64_t *limit_bytes)
{
    struct schedule_request request = plan_request(p);
    *limit_bytes = p->stages[schedule_stage_of(&request, at, 0)].memory_limit_bytes;
    return p->ranks ? &p->ranks[at].memory : &p->stages[at].memory;
}
