// The decision itself, before any price: layers, node groups, options, the quality budget, the user's rules.
#include <string.h>

#include "solve/verify_parts.h"

#define REJECT(rule, stage, ...) verdict_add(h->verdict, h->arena, rule, stage, __VA_ARGS__)

void hear_layers(struct hearing *h)
{
    int64_t next = 0, layers = h->problem->model.layer_count;
    for (int s = 0; s < h->plan->stage_count; s++) {
        const struct plan_stage *x = &h->plan->stages[s];
        int64_t first = x->first_layer, behind = first + x->layer_count;
        if (x->layer_count < 1) REJECT("layers", s, "holds %d layers, at least 1 is needed", x->layer_count);
        if (first < 0 || behind > layers)
            REJECT("layers", s, "holds layers %lld to %lld, the model has 0 to %lld", (long long)first,
                   (long long)behind - 1, (long long)layers - 1);
        if (first > next)
            REJECT("layers", s, "begins at layer %lld: %lld layers from %lld on are missing or out of order",
                   (long long)first, (long long)(first - next), (long long)next);
        if (first < next)
            REJECT("layers", s, "begins at layer %lld: %lld layers before %lld come twice or out of order",
                   (long long)first, (long long)(next - first), (long long)next);
        if (x->layer_count < 1 || first < 0 || behind > layers) h->sound[s] = false;
        next = behind;
    }
    if (next < layers)
        REJECT("layers", h->plan->stage_count - 1, "ends before layer %lld: the last %lld layers are missing",
               (long long)next, (long long)(layers - next));
}

// ---- node groups

static bool hear_group(struct hearing *h, int stage)
{
    const struct plan *p = h->plan;
    int group = p->stages[stage].group;
    if (group < 0 || group >= p->group_count) {
        REJECT("count", stage, "node group %d does not exist, the plan has %d", group, p->group_count);
        return false;
    }
    if (h->group[group] < 0) {
        REJECT("count", stage, "node group '%s' is not in the cluster", p->group_names[group]);
        return false;
    }
    const char *reason = exclusion_of(&h->assay, h->group[group]);
    if (reason) REJECT("count", stage, "node group '%s' can hold no stage: %s", p->group_names[group], reason);
    return !reason;
}

void hear_groups(struct hearing *h)
{
    const struct cluster *c = &h->problem->cluster;
    int used[GROUPS_MAX] = {0};
    for (int s = 0; s < h->plan->stage_count; s++) {
        if (hear_group(h, s)) used[judged_group(h, s)]++;
        else h->sound[s] = false;
    }
    for (int g = 0; g < c->group_count; g++)
        if (used[g] > slots_of(&h->assay, g))
            REJECT("count", -1, "%d stages on node group '%s', it has room for %lld", used[g], c->groups[g].name,
                   (long long)slots_of(&h->assay, g));
    int last = h->plan->stage_count - 1;
    int64_t ns;
    for (int s = 0; s < last; s++) {
        if (!h->sound[s] || !h->sound[s + 1]) continue;
        int from = judged_group(h, s), to = judged_group(h, s + 1);
        if (!judged_stage_link(&h->assay, from, to).joined || !judged_stage_link(&h->assay, to, from).joined)
            REJECT("joined", s, "stages %d and %d are neighbours, but nothing joins '%s' and '%s'", s, s + 1,
                   c->groups[from].name, c->groups[to].name);
    }
    if (h->sound[0] && h->sound[last] &&
        !embedding_sync_price(&h->assay, judged_group(h, 0), judged_group(h, last), &ns))
        REJECT("joined", -1, "the embedding sync needs a link between the first and the last stage's node groups");
}

// ---- recomputation and compression options

int recomputable_layers(const struct hearing *h, int stage)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    const struct model *m = &h->problem->model;
    int count = 0, first = 0;
    for (int r = 0; r < m->run_count; r++) {
        int behind = first + m->runs[r].count, from = x->first_layer > first ? x->first_layer : first;
        int to = x->first_layer + x->layer_count < behind ? x->first_layer + x->layer_count : behind;
        if (m->runs[r].recomputable && to > from) count += to - from;
        first = behind;
    }
    return count;
}

static void hear_recompute(struct hearing *h, int stage)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    if ((int)x->recompute < 0 || x->recompute >= RECOMPUTE_COUNT) {
        REJECT("recompute", stage, "mode %d does not exist", (int)x->recompute);
        h->sound[stage] = false;
        return;
    }
    if (x->recompute != RECOMPUTE_NONE && !h->problem->job.recompute[x->recompute])
        REJECT("recompute", stage, "mode '%s' is not among those the job allows", recompute_names[x->recompute]);
    if (!h->sound[stage]) return;
    int most = recomputable_layers(h, stage);
    if (x->recomputed_layers < 0 || x->recomputed_layers > most)
        REJECT("recompute", stage, "%d layers recomputed, the stage has %d that can be", x->recomputed_layers, most);
}

static bool offers_boundary(const struct job *j, const struct priced_boundary_option *o)
{
    if (o->rank == 0) return o->quality_cost == 0 && !o->epilogue_only;
    for (int i = 0; i < j->boundary_option_count; i++)
        if (j->boundary_options[i].rank == o->rank && j->boundary_options[i].epilogue_only == o->epilogue_only &&
            j->boundary_options[i].quality_cost == o->quality_cost)
            return true;
    return false;
}

static bool offers_gradient(const struct job *j, const struct priced_gradient_option *o)
{
    if (o->rank == 0) return o->quality_cost == 0;
    for (int i = 0; i < j->gradient_option_count; i++)
        if (j->gradient_options[i].rank == o->rank && j->gradient_options[i].quality_cost == o->quality_cost)
            return true;
    return false;
}

void hear_options(struct hearing *h)
{
    const struct plan *p = h->plan;
    for (int s = 0; s < p->stage_count; s++) {
        const struct plan_stage *x = &p->stages[s];
        bool gradient = x->gradient_option >= 0 && x->gradient_option < p->gradient_option_count;
        bool boundary = x->boundary_option >= 0 && x->boundary_option < p->boundary_option_count;
        if (!gradient)
            REJECT("compression", s, "gradient option %d does not exist, there are %d", x->gradient_option,
                   p->gradient_option_count);
        else if (!offers_gradient(&h->problem->job, &p->gradient_options[x->gradient_option]))
            REJECT("compression", s, "gradient option %d (rank %d) is not the job's", x->gradient_option,
                   p->gradient_options[x->gradient_option].rank);
        if (!boundary)
            REJECT("compression", s, "boundary option %d does not exist, there are %d", x->boundary_option,
                   p->boundary_option_count);
        else if (!offers_boundary(&h->problem->job, &p->boundary_options[x->boundary_option]))
            REJECT("compression", s, "boundary option %d (rank %d) is not the job's", x->boundary_option,
                   p->boundary_options[x->boundary_option].rank);
        else if (s == 0 && p->boundary_options[x->boundary_option].rank)
            REJECT("compression", s, "boundary option %d, but the first stage sends nothing backward",
                   x->boundary_option);
        if (!gradient || !boundary) h->sound[s] = false;
        hear_recompute(h, s);
    }
}

// ---- the quality budget

static void within(struct hearing *h, const char *what, int64_t used, int64_t limit)
{
    if (limit >= 0 && used > limit)
        REJECT("budget", -1, "%s: %lld, the budget allows %lld", what, (long long)used, (long long)limit);
}

void hear_budget(struct hearing *h)
{
    const struct quality_budget *b = &h->problem->job.budget;
    int64_t boundaries = 0, stages = 0, cost = 0;
    for (int s = 0; s < h->plan->stage_count; s++) {
        if (!h->sound[s]) continue;
        int boundary = boundary_rank(h, s), gradient = gradient_rank(h, s);
        boundaries += boundary > 0;
        stages += gradient > 0;
        cost += h->plan->boundary_options[h->plan->stages[s].boundary_option].quality_cost +
                h->plan->gradient_options[h->plan->stages[s].gradient_option].quality_cost;
        if (boundary > 0 && boundary < b->rank_min)
            REJECT("budget", s, "backward transfers at rank %d, the budget wants at least %d", boundary, b->rank_min);
        if (gradient > 0 && gradient < b->rank_min)
            REJECT("budget", s, "gradient sync at rank %d, the budget wants at least %d", gradient, b->rank_min);
    }
    within(h, "compressed boundaries", boundaries, b->boundaries_max);
    within(h, "stages with compressed gradient sync", stages, b->stages_max);
    within(h, "sum of quality costs", cost, b->cost_max);
}

// ---- rules

static int layers_of_run(const struct hearing *h, int stage, const char *run)
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

// The first condition of the rule that does not hold on this stage, NULL if all do.
static const char *unmet(const struct hearing *h, const struct rule *r, int stage)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    int counted = layers_of_run(h, stage, r->run);
    if (r->group_count && !names_group(r, h->plan->group_names[x->group])) return "node group";
    if (r->holds_first >= 0 && (x->first_layer > r->holds_first || x->first_layer + x->layer_count <= r->holds_last))
        return "layers held";
    if (r->layers_min >= 0 && counted < r->layers_min) return "least number of layers";
    if (r->layers_max >= 0 && counted > r->layers_max) return "greatest number of layers";
    if (r->recompute_stated && !r->recompute[x->recompute]) return "recomputation";
    if (r->compresses_gradient >= 0 && (gradient_rank(h, stage) > 0) != (r->compresses_gradient == 1))
        return "gradient compression";
    if (r->compresses_boundary >= 0 && (boundary_rank(h, stage) > 0) != (r->compresses_boundary == 1))
        return "boundary compression";
    return NULL;
}

void hear_rules(struct hearing *h)
{
    const struct job *j = &h->problem->job;
    for (int i = 0; i < j->rule_count; i++)
        for (int s = 0; s < h->plan->stage_count; s++) {
            const struct rule *r = &j->rules[i];
            if ((r->stage >= 0 && r->stage != s) || !h->sound[s]) continue;
            const char *missing = unmet(h, r, s);
            if (r->action == RULE_REQUIRE && missing)
                REJECT("rules", s, "rule %d is broken: it requires otherwise (%s)", i, missing);
            if (r->action == RULE_FORBID && !missing)
                REJECT("rules", s, "rule %d is broken: it forbids this (group '%s', layers %d to %d)", i,
                       h->plan->group_names[h->plan->stages[s].group], h->plan->stages[s].first_layer,
                       h->plan->stages[s].first_layer + h->plan->stages[s].layer_count - 1);
        }
}
