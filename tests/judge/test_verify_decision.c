// The judge on damaged decisions: layers, node groups, options, budget, rules, the layout and the
// inputs. Each kind of damage to a plan, or to what the job allows, is reported under its own name.
#include "solve/judge/internal.h"
#include "tests/support/trials/trial.h"
#include "tests/support/check.h"

static bool layer_twice(struct trial *t)
{
    int s = trial_stage(t);
    t->plan.stages[s].layer_count++;
    return s < trial_last(t);
}

static bool layer_missing(struct trial *t)
{
    struct plan_stage *x = &t->plan.stages[trial_stage(t)];
    if (random_chance(&t->rng, 50)) x->first_layer++;
    return x->layer_count-- > 1;
}

static bool stage_empty(struct trial *t)
{
    t->plan.stages[trial_stage(t)].layer_count = 0;
    return true;
}

static bool stages_swapped(struct trial *t)
{
    if (t->plan.stage_count < 2) return false;
    struct plan_stage first = t->plan.stages[0];
    t->plan.stages[0] = t->plan.stages[1];
    t->plan.stages[1] = first;
    return true;
}

static bool layer_beyond(struct trial *t)
{
    t->plan.stages[trial_last(t)].layer_count++;
    return true;
}

static struct node_group *group_of(struct trial *t, int stage)
{
    return &t->problem.cluster.groups[t->plan.stages[stage].group];
}

static bool count_exceeded(struct trial *t)
{
    int s = trial_stage(t), used = 0, collective = t->plan.layout.tensor * t->plan.layout.context;
    // The first stage of each rank represents it.
    for (int i = 0; i < t->plan.layout.pipeline; i++)
        used += t->plan.stages[i].group == t->plan.stages[s].group;
    struct node_group *g = group_of(t, s);
    if (g->gpus_per_node < collective) return false;
    // Room for one rank less than there are; a group with room for none is excluded, which is
    // another damage.
    while (g->nodes * (g->gpus_per_node / collective) / t->plan.layout.data >= used) g->nodes--;
    return g->nodes * (g->gpus_per_node / collective) / t->plan.layout.data > 0;
}

static bool group_excluded(struct trial *t)
{
    group_of(t, trial_stage(t))->gpu = "a GPU that nobody measured";
    return true;
}

static bool group_unknown(struct trial *t)
{
    t->plan.stages[trial_stage(t)].group = t->plan.group_count;
    return true;
}

static bool group_foreign(struct trial *t)
{
    group_of(t, trial_stage(t))->name = "renamed";
    return t->problem.job.rule_count == 0;
}

static bool unjoined(struct trial *t)
{
    const struct layout *l = &t->plan.layout;
    int64_t devices = (int64_t)l->tensor * l->context * l->data;
    t->problem.cluster.link_count = 0;
    for (int s = 0; s <= trial_last(t); s++) {
        // Gradient sync and collectives stay inside the node, messages leave it.
        if (group_of(t, s)->gpus_per_node < devices ||
            group_of(t, s)->gpus_per_node >= devices * l->pipeline)
            return false;
        group_of(t, s)->nic_count = 0;
    }
    return t->plan.stage_count > 1;
}

static bool compresses_sync(const struct trial *t, const struct plan_stage *x)
{
    return t->plan.gradient_options[x->gradient_option].form.amount > 0;
}

static int used_options(const struct trial *t, bool boundary)
{
    int used = 0;
    for (int s = 0; s <= trial_last(t); s++)
        used += boundary ? t->plan.stages[s].boundary_option > 0
                         : compresses_sync(t, &t->plan.stages[s]);
    return used;
}

static bool budget_boundaries(struct trial *t)
{
    t->problem.job.budget.boundaries_max = used_options(t, true) - 1;
    return t->problem.job.budget.boundaries_max >= 0;
}

static bool budget_stages(struct trial *t)
{
    t->problem.job.budget.stages_max = used_options(t, false) - 1;
    return t->problem.job.budget.stages_max >= 0;
}

static bool budget_cost(struct trial *t)
{
    int64_t cost = 0;
    for (int s = 0; s <= trial_last(t); s++)
        cost += t->plan.boundary_options[t->plan.stages[s].boundary_option].quality_cost +
                t->plan.gradient_options[t->plan.stages[s].gradient_option].quality_cost;
    t->problem.job.budget.cost_max = cost - 1;
    return cost > 0;
}

static bool rank_too_small(struct trial *t)
{
    for (int s = 0; s <= trial_last(t); s++) {
        const struct compression_form *form =
            &t->plan.gradient_options[t->plan.stages[s].gradient_option].form;
        if (!form->amount || form->method != COMPRESS_LOW_RANK) continue;
        t->problem.job.budget.rank_min = form->amount + 1;
        return true;
    }
    return false;
}

static bool option_missing(struct trial *t)
{
    struct plan_stage *x = &t->plan.stages[trial_stage(t)];
    if (random_chance(&t->rng, 50)) x->gradient_option = t->plan.gradient_option_count;
    else x->boundary_option = -1;
    return true;
}

static bool option_foreign(struct trial *t)
{
    int s = trial_stage(t);
    if (!t->plan.stages[s].gradient_option) return false;
    t->plan.gradient_options[t->plan.stages[s].gradient_option].quality_cost++;
    t->problem.job.budget.cost_max = -1;
    return true;
}

static bool option_of_first_stage(struct trial *t)
{
    t->plan.stages[0].boundary_option = 1;
    t->problem.job.budget = (struct quality_budget){-1, -1, -1, 0};
    return t->plan.boundary_option_count > 1;
}

static struct rule *plant_rule(struct trial *t, enum rule_action action, int stage)
{
    t->problem.job.rules = TAKE(&t->arena, 1, struct rule);
    t->problem.job.rule_count = 1;
    struct rule *rule = &t->problem.job.rules[0];
    *rule = rule_empty;
    rule->action = action, rule->stage = stage;
    return rule;
}

static bool rule_broken(struct trial *t)
{
    int s = trial_stage(t);
    bool require = random_chance(&t->rng, 50);
    const struct plan_stage *x = &t->plan.stages[s];
    struct rule *r =
        plant_rule(t, require ? RULE_REQUIRE : RULE_FORBID, random_chance(&t->rng, 20) ? -1 : s);
    const char *names[] = {require ? "elsewhere" : t->plan.group_names[x->group], NULL};
    // What holds on this stage is forbidden, what does not is required.
    switch (random_between(&t->rng, 0, 5)) {
    case 0:
        r->groups = TAKE(&t->arena, 1, const char *);
        r->groups[r->group_count++] = names[0];
        break;
    case 1:
        r->holds_first = r->holds_last = require ? x->first_layer + x->layer_count : x->first_layer;
        break;
    case 2: r->layers_min = require ? x->layer_count + 1 : x->layer_count; break;
    case 3:
        r->recompute_stated = true;
        for (int i = 0; i < RECOMPUTE_COUNT; i++)
            r->recompute[i] = require != (i == (int)x->recompute);
        break;
    case 4: r->compresses_gradient = compresses_sync(t, x) != require; break;
    default: r->compresses_boundary = (x->boundary_option > 0) != require; break;
    }
    return true;
}

// The same rules, kept: a control.
static bool rule_kept(struct trial *t)
{
    int s = trial_stage(t);
    const struct plan_stage *x = &t->plan.stages[s];
    struct rule *r = plant_rule(t, RULE_REQUIRE, s);
    r->groups = TAKE(&t->arena, 1, const char *);
    r->groups[r->group_count++] = t->plan.group_names[x->group];
    r->holds_first = x->first_layer;
    r->holds_last = x->first_layer + x->layer_count - 1;
    r->layers_min = r->layers_max = x->layer_count;
    r->recompute_stated = true;
    r->recompute[x->recompute] = true;
    r->compresses_gradient = compresses_sync(t, x);
    r->compresses_boundary = x->boundary_option > 0;
    return true;
}

static bool recompute_not_allowed(struct trial *t)
{
    enum recompute mode = t->plan.stages[trial_stage(t)].recompute;
    t->problem.job.recompute[mode] = false;
    return mode != RECOMPUTE_NONE && mode <= RECOMPUTE_SWAP; // a set is only priced if offered
}

static bool recompute_beyond(struct trial *t)
{
    struct plan_stage *x = &t->plan.stages[trial_stage(t)];
    x->recomputed_layers = x->layer_count + 1;
    return true;
}

static bool layout_differs(struct trial *t)
{
    t->plan.layout.zero = !t->plan.layout.zero;
    return true;
}

static bool stages_differ(struct trial *t)
{
    t->plan.stage_count--;
    return t->plan.stage_count > 0;
}

static bool hash_differs(struct trial *t)
{
    struct source *s = TAKE(&t->arena, 1, struct source);
    *s = (struct source){"costs", "costs.json", "0123"};
    t->plan.document.sources = s;
    t->plan.document.source_count = 1;
    strcpy(t->problem.costs.document.sha256, "4567");
    return true;
}

static bool hash_missing(struct trial *t)
{
    strcpy(t->problem.model.document.sha256, "4567");
    return true;
}

static bool nothing(struct trial *t) { return t->plan.stage_count > 0; }

static const struct damage damages[] = {
    {"nothing", nothing, NULL, false},
    {"rule kept", rule_kept, NULL, false},
    {"layer twice", layer_twice, "layers", false},
    {"layer missing", layer_missing, "layers", false},
    {"layer beyond the model", layer_beyond, "layers", true},
    {"stage empty", stage_empty, "layers", false},
    {"stages swapped", stages_swapped, "layers", false},
    // Of fewer nodes, rings may leave them otherwise, too.
    {"count exceeded", count_exceeded, "count", false},
    {"group excluded", group_excluded, "count", false},
    {"group that does not exist", group_unknown, "count", true},
    {"group not of the cluster", group_foreign, "count", false},
    {"groups not joined", unjoined, "joined", false},
    {"too many boundaries compressed", budget_boundaries, "budget", true},
    {"too many stages compressed", budget_stages, "budget", true},
    {"quality cost exceeded", budget_cost, "budget", true},
    {"rank below the least", rank_too_small, "budget", false},
    {"option that does not exist", option_missing, "compression", false},
    {"option not of the job", option_foreign, "compression", false},
    {"first stage compresses what it does not send", option_of_first_stage, "compression", false},
    {"rule broken", rule_broken, "rules", true},
    {"recomputation not allowed", recompute_not_allowed, "recompute", true},
    {"more layers recomputed than held", recompute_beyond, "recompute", false},
    {"another layout", layout_differs, "layout", true},
    {"a stage too few", stages_differ, "layout", true},
    {"another input", hash_differs, "hash", true},
    {"input not named", hash_missing, "hash", true},
};

TEST(test_one_stage_a_rank) { trial_plant(damages, ARRAY_LENGTH(damages), false); }

TEST(test_varied_layouts) { trial_plant(damages, ARRAY_LENGTH(damages), true); }
