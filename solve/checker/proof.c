// Audits one proof on the tables of one problem: its claims, plan, paths and boxes.
#include "solve/checker/proof.h"

#include <stdio.h>

enum status check_read_claims(const struct reader *r, const cJSON *proof,
                              struct check_result *result)
{
    const cJSON *incumbent = NULL;
    int64_t objective_ns = -1;
    const struct value_field fields[] = {
        {"?infeasible", .flag = &result->infeasible},
        {"?objective", .small = &result->objective, .names = check_objective_names},
        {"?objective_ns", 0, MOST_SUM, .large = &objective_ns},
        {"?iteration_ns", 0, MOST_SUM, .large = &result->iteration_ns},
        {"?bound_ns", 0, MOST_SUM, .large = &result->bound_ns},
        {"?incumbent", .value = &incumbent},
        {.key = "?counted"},
        {.key = "?paths"},
        {.key = "?boxes"},
        {.key = "?combinations"},
        {NULL},
    };
    TRY(value_fields(r, proof, "proof", fields, NULL));
    bool of_time = result->objective == MINIMISE_TIME, has_plan = incumbent != NULL;
    if (of_time ? objective_ns >= 0 : result->iteration_ns >= 0)
        return check_refuse(r, "proof",
                            "expected iteration_ns about iteration_time, and objective_ns beside "
                            "any other objective");
    if (!of_time) result->iteration_ns = objective_ns;
    if (has_plan != (result->iteration_ns >= 0))
        return check_refuse(r, "proof", "expected both %s and incumbent, or neither",
                            of_time ? "iteration_ns" : "objective_ns");
    if (result->infeasible ? has_plan || result->bound_ns >= 0 : result->bound_ns < 0)
        return check_refuse(r, "proof", "expected either infeasible or bound_ns");
    if (has_plan && result->bound_ns > result->iteration_ns)
        return fail(r->err, (enum status)NOT_PROVEN, "bound_ns is above %s, that of a plan",
                    of_time ? "iteration_ns" : "objective_ns");
    return OK;
}

// What the rounds count exactly: groups, by name under "slots", and budgets.
static enum status read_counted(const struct check_problem *p, const struct reader *r,
                                const cJSON *v, bool *counted)
{
    const cJSON *slots = NULL;
    bool *budget = counted + p->group_count;
    const struct value_field fields[] = {
        {"?slots", .value = &slots, .type = cJSON_Array},
        {"?boundaries", .flag = &budget[BUDGET_BOUNDARIES]},
        {"?stages", .flag = &budget[BUDGET_STAGES]},
        {"?cost", .flag = &budget[BUDGET_COST]},
        {"?energy", .flag = &budget[BUDGET_ENERGY]},
        {NULL},
    };
    const char *names[MOST_SEATS + 1];
    int group;
    if (!v) return OK;
    TRY(value_fields(r, v, "counted", fields, NULL));
    for (const cJSON *e = slots ? slots->child : NULL; e; e = e->next) {
        TRY(value_name(r, e, "counted.slots", check_group_names(p, names), &group));
        counted[group] = true;
    }
    return OK;
}

static enum status audit_boxes(struct check_proof *k, const cJSON *proof)
{
    bool counted[RESOURCES_MOST] = {false};
    TRY(check_list_choices(&k->choices, k->g, k->work, k->arena));
    for (int s = 0; s < k->p->stages; s++) k->result->choices += k->choices.count[s];
    TRY(check_read_paths(k, value_get(proof, "paths")));
    TRY(read_counted(k->p, &k->reader, value_get(proof, "counted"), counted));
    TRY(check_open_mixer(&k->mixer, &k->choices, counted, k->arena));
    k->coefficients = TAKE(k->arena, check_symbol_count(k->p), int64_t);
    return check_boxes(k, value_get(proof, "boxes"));
}

enum status check_audit_proof(struct check_proof *k, const cJSON *proof)
{
    check_open_replay(&k->replay, k->g, k->work, k->arena);
    if (value_get(proof, "incumbent"))
        TRY(check_incumbent(k, value_get(proof, "incumbent"), k->result->iteration_ns));
    return audit_boxes(k, proof);
}

struct check_problem check_below_energy(const struct check_problem *p, int64_t bound_uj)
{
    struct check_problem below = *p;
    int64_t *most = &below.budget[BUDGET_ENERGY];
    if (bound_uj > 0 && (*most < 0 || bound_uj - 1 < *most)) *most = bound_uj - 1;
    below.objective = MINIMISE_TIME, below.time_limit = 0;
    return below;
}

// The plan on the tables of the problem, then the boxes on those of less energy, where every plan
// has to take longer than the limit.
static enum status audit_energy(const struct check_proof *all, const cJSON *proof)
{
    struct check_result *result = all->result, times = *result;
    struct check_problem below = check_below_energy(all->p, result->bound_ns);
    struct check_graph graph = *all->g;
    struct check_proof k = *all;
    if (value_get(proof, "incumbent"))
        TRY(check_incumbent(&k, value_get(proof, "incumbent"), result->iteration_ns));
    if (result->bound_ns == 0) return OK;
    graph.p = k.p = &below, k.g = &graph, k.result = &times;
    times.bound_ns = all->p->time_limit + 1, times.infeasible = false;
    check_open_replay(&k.replay, k.g, k.work, k.arena);
    TRY(audit_boxes(&k, proof));
    times.bound_ns = result->bound_ns, times.infeasible = result->infeasible;
    *result = times;
    return OK;
}

enum status check_one_proof(const struct reader *r, const cJSON *proof,
                            const struct check_problem *p, struct check_result *result,
                            uint64_t *work, struct arena *arena)
{
    struct check_graph graph;
    if (result->objective != (int)p->objective)
        return fail(r->err, (enum status)NOT_PROVEN,
                    "the proof is about %s, its problem minimises %s",
                    check_objective_names[result->objective], check_objective_names[p->objective]);
    struct check_proof k = {.reader = *r, .p = p, .result = result, .work = work, .arena = arena};
    if (value_get(proof, "combinations") && !p->width_per_group)
        return check_refuse(r, "proof", "combinations: expected width_per_group in the problem");
    if (p->in_turn) return check_in_turn(&k, proof);
    TRY(check_build_graph(&graph, p, arena));
    result->operations = graph.operation_count;
    k.g = &graph;
    if (p->width_per_group) return check_by_group(&k, proof);
    if (p->objective != MINIMISE_ENERGY) return check_audit_proof(&k, proof);
    check_open_replay(&k.replay, k.g, work, arena);
    return audit_energy(&k, proof);
}

enum status check_conclude(struct check_result *result, enum status status, const struct error *why,
                           struct error *err)
{
    result->accepted = status == OK;
    if (status == OK) return OK;
    if (status != (enum status)NOT_PROVEN) return fail(err, status, "%s", why->text);
    snprintf(result->reason, sizeof result->reason, "%.*s", CHECK_REASON_MAX - 1, why->text);
    return OK;
}
