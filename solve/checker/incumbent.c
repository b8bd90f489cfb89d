// The plan in the file: a decision for every stage, judged from the document alone, and its time,
// which must equal the one stated in the file.
#include <stdio.h>

#include "solve/checker/proof.h"

static enum status read_stage(struct check_proof *k, const cJSON *v, int stage, int first,
                              struct check_choice *c, const cJSON **set)
{
    const char *names[MOST_SEATS + 1];
    const struct check_problem *p = k->p;
    int n = 2;
    struct value_field fields[CHECK_DECISION_FIELDS] = {
        {"first_layer", 0, p->layers - 1, .small = &c->first},
        {"layer_count", 1, p->layers, .small = &c->layers},
    };
    char where[CHECK_PATH_MAX];
    snprintf(where, sizeof where, "incumbent[%d]", stage);
    if (p->any_sets)
        fields[n++] = (struct value_field){"?recomputed", .value = set, .type = cJSON_Array};
    check_decision_fields(fields + n, p, &c->decision, false, names);
    TRY(value_fields(&k->reader, v, where, fields, NULL));
    if (c->first != first || c->layers > p->layers - first)
        return NOT_PROVEN_HERE(k, "%s: the stages do not cover the layers once in order", where);
    if (!check_offers(p, stage, c))
        return NOT_PROVEN_HERE(k, "%s: the problem does not offer this choice", where);
    if (!check_counts_layers(p, c, first))
        return NOT_PROVEN_HERE(k, "%s: its numbers of layers do not fit the stage", where);
    if (!check_has_setting(p, c, first))
        return NOT_PROVEN_HERE(k, "%s: recomputes otherwise than the layout sets for all", where);
    if (!check_obeys_rules(p, stage, c, c->first))
        return NOT_PROVEN_HERE(k, "%s: breaks a rule", where);
    c->forward = TAKE(k->arena, p->slices, int64_t);
    c->backward = TAKE(k->arena, p->slices, int64_t);
    check_evaluate(p, stage, c->first, c);
    return OK;
}

// Of the objective energy: exactly what is stated, within the limit of time.
static enum status check_energy_of(struct check_proof *k, const struct check_choice *const *chosen,
                                   int64_t stated_uj)
{
    int64_t sum = 0;
    bool within;
    for (int s = 0; s < k->p->stages; s++) sum += chosen[s]->energy;
    if (sum != stated_uj)
        return NOT_PROVEN_HERE(k, "incumbent: needs %lld microjoules, stated are %lld",
                               (long long)sum, (long long)stated_uj);
    TRY(check_takes_at_most(&k->replay, k->p->time_limit, &within));
    return within ? OK
                  : NOT_PROVEN_HERE(k, "incumbent: takes longer than the limit of %lld ns",
                                    (long long)k->p->time_limit);
}

enum status check_read_incumbent(struct check_proof *k, const cJSON *stages,
                                 struct check_choice *own, const cJSON **sets)
{
    const struct check_problem *p = k->p;
    int stage = 0, first = 0;
    TRY(value_expect(&k->reader, stages, "incumbent", cJSON_Array));
    if (cJSON_GetArraySize(stages) != p->stages)
        return check_refuse(&k->reader, "incumbent", "expected %d stages, found %d", p->stages,
                            cJSON_GetArraySize(stages));
    for (const cJSON *v = stages->child; v; v = v->next, stage++) {
        TRY(read_stage(k, v, stage, first, &own[stage], &sets[stage]));
        first += own[stage].layers;
    }
    return OK;
}

enum status check_incumbent(struct check_proof *k, const cJSON *stages, int64_t iteration_ns)
{
    const struct check_problem *p = k->p;
    struct check_choice *own = TAKE(k->arena, p->stages, struct check_choice);
    const cJSON *sets[MOST_STAGES];
    const struct check_choice *chosen[MOST_STAGES];
    bool within, below = false;
    TRY(check_read_incumbent(k, stages, own, sets));
    for (int s = 0; s < p->stages; s++) chosen[s] = &own[s];
    const char *misfit = check_misfit(k->g, chosen);
    if (misfit) return NOT_PROVEN_HERE(k, "incumbent: %s", misfit);
    check_take_durations(&k->replay, chosen);
    if (p->objective == MINIMISE_ENERGY) return check_energy_of(k, chosen, iteration_ns);
    TRY(check_takes_at_most(&k->replay, iteration_ns, &within));
    if (iteration_ns > 0) TRY(check_takes_at_most(&k->replay, iteration_ns - 1, &below));
    if (within && !below) return OK;
    return NOT_PROVEN_HERE(k, "incumbent: takes %s than the stated %lld ns",
                           within ? "less" : "more", (long long)iteration_ns);
}
