// The user's requirements on a decision: the quality budget and the rules.
#include <string.h>

#include "solve/judge/internal.h"

// ---- the quality budget

static void within(struct audit *h, const char *what, int64_t used, int64_t limit)
{
    if (limit >= 0 && used > limit)
        REJECT(h, "budget", -1, "%s: %lld, the budget allows %lld", what, (long long)used,
               (long long)limit);
}

static int64_t energy_of_stage(const struct audit *h, int stage)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    struct tier_option where = stage_tiering(h, stage);
    int left = counted_layers(x), group = judged_group(h, stage), last = -1;
    int64_t sum = 0;
    struct judged_energy e = {0, 0, 0};
    for (int i = 0; i < x->layer_count; i++) {
        int run = judged_run(h, x->first_layer + i);
        enum recompute mode = layer_mode(h, x, i, run, &left);
        if (run != last) e = energy_of_layer(&h->price_audit, run, group, where, true);
        sum += e.always_uj + (mode == RECOMPUTE_FULL ? e.again_uj : 0) +
               (mode == RECOMPUTE_SWAP ? e.swapped_uj : 0);
        last = run;
    }
    return sum;
}

void audit_budget(struct audit *h)
{
    const struct quality_budget *b = &h->problem->job.budget;
    int64_t boundaries = 0, stages = 0, cost = 0, energy = 0;
    bool states_energy = problem_states_energy(h->problem);
    for (int s = 0; s < h->plan->stage_count; s++) {
        if (!h->sound[s]) continue;
        struct compression_form boundary = boundary_form(h, s), gradient = gradient_form(h, s);
        boundaries += boundary.amount > 0;
        if (states_energy) energy += energy_of_stage(h, s);
        stages += gradient.amount > 0;
        cost += h->plan->boundary_options[h->plan->stages[s].boundary_option].quality_cost +
                h->plan->gradient_options[h->plan->stages[s].gradient_option].quality_cost;
        if (boundary.amount > 0 && !is_allowed(&h->problem->job, boundary))
            REJECT(h, "budget", s, "backward transfers at rank %d, the budget requires at least %d",
                   boundary.amount, b->rank_min);
        if (gradient.amount > 0 && !is_allowed(&h->problem->job, gradient))
            REJECT(h, "budget", s, "gradient sync at rank %d, the budget requires at least %d",
                   gradient.amount, b->rank_min);
    }
    within(h, "compressed boundaries", boundaries, b->boundaries_max);
    within(h, "stages with compressed gradient sync", stages, b->stages_max);
    within(h, "sum of quality costs", cost, b->cost_max);
    within(h, "microjoules of memories", energy, b->energy_max_uj ? b->energy_max_uj : -1);
    if (states_energy) h->verdict->energy_uj = energy;
    if (h->problem->job.objective == OBJECTIVE_ENERGY)
        audit_claim(h, "objective", -1, "energy", "microjoules", h->plan->objective_ns,
                    (struct sum){energy, 1});
}

// ---- rules

static int layers_of_run(const struct audit *h, int stage, const char *run)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    const struct model *m = &h->problem->model;
    int first = 0, count = 0;
    for (int r = 0; r < m->run_count; first += m->runs[r++].count)
        for (int layer = first; layer < first + m->runs[r].count; layer++)
            count += layer >= x->first_layer && layer < x->first_layer + x->layer_count &&
                     (!run || !strcmp(m->runs[r].name, run));
    return count;
}

static bool names_group(const struct rule *r, const char *name)
{
    for (int i = 0; i < r->group_count; i++)
        if (!strcmp(r->groups[i], name)) return true;
    return false;
}

// The first condition of the rule that does not hold for this stage; NULL if all do.
static const char *unmet(const struct audit *h, const struct rule *r, int stage)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    int counted = layers_of_run(h, stage, r->run);
    const char *group = h->at ? h->problem->cluster.groups[judged_group(h, stage)].name
                              : h->plan->group_names[x->group];
    if (r->group_count && !names_group(r, group)) return "node group";
    if (r->holds_first >= 0 &&
        (x->first_layer > r->holds_first || x->first_layer + x->layer_count <= r->holds_last))
        return "layers held";
    if (r->layers_min >= 0 && counted < r->layers_min) return "least number of layers";
    if (r->layers_max >= 0 && counted > r->layers_max) return "greatest number of layers";
    if (r->recompute_stated && !r->recompute[x->recompute]) return "recomputation";
    if (r->compresses_gradient >= 0 &&
        (gradient_form(h, stage).amount > 0) != (r->compresses_gradient == 1))
        return "gradient compression";
    if (r->compresses_boundary >= 0 &&
        (boundary_form(h, stage).amount > 0) != (r->compresses_boundary == 1))
        return "boundary compression";
    return NULL;
}

// Layers that predict further tokens feed the head's losses, so they are on its stage, the last.
static void audit_further_tokens(struct audit *h)
{
    const struct model *m = &h->problem->model;
    int last = h->plan->stage_count - 1, first = -1, layer = 0;
    for (int r = 0; r < m->run_count; layer += m->runs[r++].count)
        if (m->runs[r].mtp && first < 0) first = layer;
    if (first >= 0 && h->sound[last] && h->plan->stages[last].first_layer > first)
        REJECT(h, "rules", last,
               "layer %d predicts a further token and is not on the last stage, where the head is",
               first);
}

void audit_rules(struct audit *h)
{
    const struct job *j = &h->problem->job;
    audit_further_tokens(h);
    for (int i = 0; i < j->rule_count; i++)
        for (int s = 0; s < h->plan->stage_count; s++) {
            const struct rule *r = &j->rules[i];
            if ((r->stage >= 0 && r->stage != s) || !h->sound[s]) continue;
            const char *missing = unmet(h, r, s);
            if (r->action == RULE_REQUIRE && missing)
                REJECT(h, "rules", s, "rule %d is violated: it requires otherwise (%s)", i,
                       missing);
            if (r->action == RULE_FORBID && !missing)
                REJECT(h, "rules", s,
                       "rule %d is violated: it forbids this (group '%s', layers %d to %d)", i,
                       h->plan->group_names[h->plan->stages[s].group],
                       h->plan->stages[s].first_layer,
                       h->plan->stages[s].first_layer + h->plan->stages[s].layer_count - 1);
        }
}
