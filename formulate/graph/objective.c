// Objectives as graphs (docs/FORMULAS.md 9 and 17). A load is the length of a separate chain, so
// the minimum of the greatest load is the minimum longest path of a very simple graph, and needs no
// engine besides the one for iteration times.
#include "formulate/graph/objective.h"

#include "data/results/bound.h"
#include "formulate/choices/choice.h"

// Repeats the operations of every stream `times` times, one after the other.
static void repeat_streams(struct schedule *s, int times, struct arena *arena)
{
    struct operation *operations =
        TAKE(arena, (size_t)s->operation_count * (size_t)times, struct operation);
    int count = 0;
    for (int i = 0; i < s->stream_count; i++) {
        struct stream *stream = &s->streams[i];
        int *repeated = TAKE(arena, (size_t)stream->count * (size_t)times, int);
        for (int k = 0; k < stream->count * times; k++) {
            operations[count] = s->operations[stream->operations[k % stream->count]];
            repeated[k] = count++;
        }
        stream->operations = repeated;
        stream->count *= times;
    }
    s->operations = operations;
    s->operation_count = count;
}

static enum status make_graph(struct graph **graph, const struct priced *p,
                              const struct schedule *schedule, int times, struct arena *arena,
                              struct error *err)
{
    struct schedule load;
    if (p->objective != OBJECTIVE_MAX_LOAD) return graph_compile(graph, schedule, arena, err);
    TRY(schedule_build_load(&load, &schedule->request, arena, err));
    if (times > 1) repeat_streams(&load, times, arena);
    return graph_compile(graph, &load, arena, err);
}

enum status objective_graph(struct graph **graph, const struct priced *p,
                            const struct schedule *schedule, struct arena *arena, struct error *err)
{
    return make_graph(graph, p, schedule, 1, arena, err);
}

enum status objective_batch_graph(struct graph **graph, const struct priced *p,
                                  const struct schedule *schedule, struct arena *arena,
                                  struct error *err)
{
    return make_graph(graph, p, schedule, p->micro_batches, arena, err);
}

// Choices of which each stage has one, the plan's. false: it cannot be priced.
static bool choices_of_plan(struct choices *c, const struct plan *plan, const struct priced *p,
                            const struct schedule *schedule, struct arena *arena)
{
    *c = (struct choices){.priced = p,
                          .schedule = schedule,
                          .free_from = p->layer_count,
                          .arena = arena,
                          .virtual_stages = schedule->request.virtual_stages,
                          .rank_count = schedule->request.rank_count};
    c->stages = TAKE(arena, plan->stage_count, struct stage_choices);
    for (int s = 0; s < plan->stage_count; s++) {
        struct choice *choice = TAKE(arena, 1, struct choice);
        *choice = (struct choice){.decision = plan->stages[s].decision};
        if (p->groups[choice->group].excluded) return false;
        choice_evaluate(c, s, choice);
        c->stages[s] = (struct stage_choices){choice, 1};
    }
    return true;
}

bool objective_durations(int64_t *durations, const struct plan *plan, const struct priced *p,
                         const struct schedule *schedule, struct arena *arena)
{
    struct choices c;
    return choices_of_plan(&c, plan, p, schedule, arena) &&
           choices_durations(&c, TAKE(arena, plan->stage_count, int), durations);
}

int64_t objective_energy_uj(const struct plan *plan, const struct priced *p,
                            const struct schedule *schedule, struct arena *arena)
{
    struct choices c;
    int64_t sum = 0;
    if (!choices_of_plan(&c, plan, p, schedule, arena)) return 0;
    for (int s = 0; s < plan->stage_count; s++) sum += c.stages[s].items->energy_uj;
    return sum;
}

int64_t objective_iteration_ns(const struct plan *plan, const struct priced *p,
                               const struct schedule *schedule, struct graph *graph,
                               struct arena *arena)
{
    int64_t *durations = TAKE(arena, graph_symbol_count(graph), int64_t);
    return objective_durations(durations, plan, p, schedule, arena)
               ? graph_longest(graph, durations, NULL)
               : 0;
}

enum status objective_state(struct plan *plan, const struct priced *p,
                            const struct schedule *schedule, struct arena *arena, struct error *err)
{
    struct graph *graph;
    if (p->objective == OBJECTIVE_ITERATION_TIME) return OK;
    plan->objective = p->objective;
    if (!plan->stage_count) return OK;
    plan->objective_ns = plan->iteration_ns;
    if (p->in_turn) { // m loads: fill and drain are not known
        plan->iteration_ns *= p->micro_batches;
        return OK;
    }
    TRY(graph_compile(&graph, schedule, arena, err));
    plan->iteration_ns = objective_iteration_ns(plan, p, schedule, graph, arena);
    return OK;
}

enum status objective_state_batch(struct plan *plan, const struct priced *p,
                                  const struct schedule *schedule, struct arena *arena,
                                  struct error *err)
{
    TRY(objective_state(plan, p, schedule, arena, err));
    if (p->objective != OBJECTIVE_MAX_LOAD) return OK;
    if (p->in_turn) plan->iteration_ns = plan->objective_ns;
    plan->objective_ns /= p->micro_batches;
    plan->bound_ns = bound_stated(plan->bound_ns / p->micro_batches,
                                  plan->stage_count ? plan->objective_ns : 0, 0);
    return OK;
}
