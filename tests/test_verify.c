// The judge: plans that are right are accepted, and every way of damaging one is caught under its own name. The plans come
// from the solver's choices for random problems, with the time of the solver's own walk; so this is also the agreement of
// two computations of every claim.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formulate/choices.h"
#include "formulate/longest.h"
#include "formulate/price.h"
#include "solve/verify.h"
#include "solve/verify_parts.h"
#include "tests/support/problems.h"

#include <cmocka.h>        // last: it takes the name of fail()

// ---- plans

struct trial {
    struct arena arena;
    struct error err;
    struct random rng;
    struct problem problem;
    struct priced priced;
    struct schedule schedule;
    struct choices choices;
    int *chosen;
    int visits;
    struct plan plan;
};

static int next_layer(const struct choices *c, const int *chosen, int stages)
{
    int layer = 0;
    for (int s = 0; s < stages; s++) layer += c->stages[s].items[chosen[s]].layer_count;
    return layer;
}

// Some combination that fits together, tried from a random place on.
static bool choose(struct trial *t, int stage)
{
    const struct choices *c = &t->choices;
    if (stage == t->priced.stage_count) return choices_fit_together(c, t->chosen);
    int count = c->stages[stage].count, first = count ? (int)random_between(&t->rng, 0, count - 1) : 0,
        layer = next_layer(c, t->chosen, stage);
    for (int i = 0; i < count && t->visits < 20000; i++, t->visits++) {
        const struct choice *x = &c->stages[stage].items[(first + i) % count];
        if (c->by_position && x->first_layer != layer) continue;
        if (stage == t->priced.stage_count - 1 && layer + x->layer_count != t->priced.layer_count) continue;
        t->chosen[stage] = (first + i) % count;
        if (choose(t, stage + 1)) return true;
    }
    return false;
}

// A random problem and a plan for it; false: none was found.
static bool trial_open(struct trial *t, uint64_t seed, const struct random_limits *limits)
{
    struct graph *graph;
    *t = (struct trial){.rng = {seed}};
    arena_open(&t->arena, NULL);
    random_problem(&t->problem, &t->rng, limits, &t->arena);
    struct schedule_request request;
    if (price_problem(&t->priced, &t->problem, &t->arena, &t->err) != OK)
        fail_msg("seed %llu: %s", (unsigned long long)seed, t->err.text);
    request = schedule_request_of(&t->priced);
    if (schedule_build(&t->schedule, &request, &t->arena, &t->err) != OK ||
        choices_build(&t->choices, &t->priced, &t->schedule, &t->arena, &t->err) != OK ||
        graph_compile(&graph, &t->schedule, &t->arena, &t->err) != OK)
        fail_msg("seed %llu: %s", (unsigned long long)seed, t->err.text);
    t->chosen = TAKE(&t->arena, t->priced.stage_count, int);
    int64_t *durations = TAKE(&t->arena, symbol_count(t->priced.stage_count, t->priced.slice_count), int64_t);
    if (!choose(t, 0) || !choices_durations(&t->choices, t->chosen, durations)) {
        arena_close(&t->arena);
        return false;
    }
    choices_to_plan(&t->plan, &t->choices, t->chosen, graph_longest(graph, durations, NULL), &t->arena);
    t->plan.bound_ns = t->plan.iteration_ns;
    t->plan.outcome = OUTCOME_OPTIMAL;
    return true;
}

static struct verdict judge(struct trial *t, const struct plan *plan)
{
    struct verdict v;
    if (verify_plan(&v, plan, &t->problem, &t->arena, &t->err) != OK) fail_msg("%s", t->err.text);
    return v;
}

static void expect_accepted(struct trial *t, const struct plan *plan, uint64_t seed)
{
    struct verdict v = judge(t, plan);
    if (!v.accepted)
        fail_msg("seed %llu: %d violations, the first: %s, stage %d: %s", (unsigned long long)seed, v.violation_count,
                 v.violations[0].rule, v.violations[0].stage, v.violations[0].text);
    assert_int_equal(v.replayed_ns, plan->iteration_ns);
    assert_true(v.terms_checked > 10);
}

static void test_right_plans(void **state)
{
    (void)state;
    int plans = 0, closed = 0, flavours[FLAVOUR_COUNT] = {0};
    for (uint64_t seed = 1; seed <= 600; seed++) {
        struct random_limits limits = random_limits_small();
        struct trial t;
        limits.flavour = (int)(seed % FLAVOUR_COUNT);
        limits.long_and_close = seed % 5 == 0;
        if (!trial_open(&t, seed, &limits)) continue;
        expect_accepted(&t, &t.plan, seed);
        closed += judge(&t, &t.plan).closed_form_ns >= 0;
        plans++;
        flavours[limits.flavour]++;
        arena_close(&t.arena);
    }
    print_message("%d plans accepted, %d of them with a closed form\n", plans, closed);
    assert_true(plans > 300 && closed > 20);
    for (int i = 0; i < FLAVOUR_COUNT; i++) assert_true(flavours[i] > 60);
}

// ---- planted faults: each changes the plan or what the job allows, and returns false where it cannot

static int last_of(const struct trial *t) { return t->plan.stage_count - 1; }

static int some_stage(struct trial *t) { return (int)random_between(&t->rng, 0, last_of(t)); }

static bool layer_twice(struct trial *t)
{
    int s = some_stage(t);
    t->plan.stages[s].layer_count++;
    return s < last_of(t);
}

static bool layer_missing(struct trial *t)
{
    struct plan_stage *x = &t->plan.stages[some_stage(t)];
    if (random_chance(&t->rng, 50)) x->first_layer++;
    return x->layer_count-- > 1;
}

static bool stage_empty(struct trial *t)
{
    t->plan.stages[some_stage(t)].layer_count = 0;
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
    t->plan.stages[last_of(t)].layer_count++;
    return true;
}

static struct node_group *group_of(struct trial *t, int stage)
{
    return &t->problem.cluster.groups[t->plan.stages[stage].group];
}

static bool count_exceeded(struct trial *t)
{
    int s = some_stage(t), used = 0, collective = t->plan.layout.tensor * t->plan.layout.context;
    for (int i = 0; i <= last_of(t); i++) used += t->plan.stages[i].group == t->plan.stages[s].group;
    struct node_group *g = group_of(t, s);
    if (g->gpus_per_node < collective) return false;
    // Room for one stage less than there are; a group with room for none is excluded, which is another damage.
    while (g->nodes * (g->gpus_per_node / collective) / t->plan.layout.data >= used) g->nodes--;
    return g->nodes * (g->gpus_per_node / collective) / t->plan.layout.data > 0;
}

static bool group_excluded(struct trial *t)
{
    group_of(t, some_stage(t))->gpu = "a GPU that nobody measured";
    return true;
}

static bool group_unknown(struct trial *t)
{
    t->plan.stages[some_stage(t)].group = t->plan.group_count;
    return true;
}

static bool group_foreign(struct trial *t)
{
    group_of(t, some_stage(t))->name = "renamed";
    return t->problem.job.rule_count == 0;
}

static bool unjoined(struct trial *t)
{
    const struct layout *l = &t->plan.layout;
    int64_t devices = (int64_t)l->tensor * l->context * l->data;
    t->problem.cluster.link_count = 0;
    for (int s = 0; s <= last_of(t); s++) {
        // Gradient sync and collectives stay inside the node, messages leave it.
        if (group_of(t, s)->gpus_per_node < devices || group_of(t, s)->gpus_per_node >= devices * l->pipeline)
            return false;
        group_of(t, s)->nic_count = 0;
    }
    return t->plan.stage_count > 1;
}

// The stage's memory to the byte: at the limit it is right, one byte less is too little.
static bool set_limit(struct trial *t, int64_t missing)
{
    int s = some_stage(t), group = t->plan.stages[s].group;
    int64_t total = 0;
    for (int i = 0; i <= last_of(t); i++)
        if (t->plan.stages[i].group == group && memory_total(&t->plan.stages[i].memory) > total)
            total = memory_total(&t->plan.stages[i].memory);
    t->problem.job.memory_fraction = 1;
    t->problem.job.memory_margin_bytes = 0;
    for (int i = 0; i < t->problem.cluster.group_count; i++)
        if (i != group) t->problem.cluster.groups[i].memory_bytes = 1 << 30;
    t->problem.cluster.groups[group].memory_bytes = total - missing;
    for (int i = 0; i <= last_of(t); i++)
        t->plan.stages[i].memory_limit_bytes = t->problem.cluster.groups[t->plan.stages[i].group].memory_bytes;
    return total > missing;
}

static bool memory_full(struct trial *t) { return set_limit(t, 0); }
static bool memory_over(struct trial *t) { return set_limit(t, 1); }

static bool limit_misreported(struct trial *t)
{
    t->plan.stages[some_stage(t)].memory_limit_bytes += 2;
    return true;
}

static bool memory_misreported(struct trial *t)
{
    struct plan_stage *x = &t->plan.stages[some_stage(t)];
    int64_t *parts[] = {&x->memory.weight_bytes,     &x->memory.gradient_bytes, &x->memory.optimizer_bytes,
                        &x->memory.activation_bytes, &x->memory.working_bytes,  &x->memory.buffer_bytes,
                        &x->memory.feedback_bytes,   &x->memory.constant_bytes};
    // More than one byte for each rounded term, of which activations have one per micro-batch in flight.
    int64_t off = (x->layer_count + 4) * (t->plan.micro_batches + 1);
    int64_t *part = parts[random_between(&t->rng, 0, (int64_t)ARRAY_LENGTH(parts) - 1)];
    *part += random_chance(&t->rng, 50) ? off : -off;
    return true;
}

static int used_options(const struct trial *t, bool boundary)
{
    int used = 0;
    for (int s = 0; s <= last_of(t); s++)
        used += boundary ? t->plan.stages[s].boundary_option > 0 : t->plan.stages[s].gradient_option > 0;
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
    for (int s = 0; s <= last_of(t); s++)
        cost += t->plan.boundary_options[t->plan.stages[s].boundary_option].quality_cost +
                t->plan.gradient_options[t->plan.stages[s].gradient_option].quality_cost;
    t->problem.job.budget.cost_max = cost - 1;
    return cost > 0;
}

static bool rank_too_small(struct trial *t)
{
    for (int s = 0; s <= last_of(t); s++) {
        int rank = t->plan.gradient_options[t->plan.stages[s].gradient_option].rank;
        if (!rank) continue;
        t->problem.job.budget.rank_min = rank + 1;
        return true;
    }
    return false;
}

static bool option_missing(struct trial *t)
{
    struct plan_stage *x = &t->plan.stages[some_stage(t)];
    if (random_chance(&t->rng, 50)) x->gradient_option = t->plan.gradient_option_count;
    else x->boundary_option = -1;
    return true;
}

static bool option_foreign(struct trial *t)
{
    int s = some_stage(t);
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
    t->problem.job.rules[0] = (struct rule){.action = action,
                                            .stage = stage,
                                            .holds_first = -1,
                                            .holds_last = -1,
                                            .layers_min = -1,
                                            .layers_max = -1,
                                            .compresses_gradient = -1,
                                            .compresses_boundary = -1};
    return &t->problem.job.rules[0];
}

static bool rule_broken(struct trial *t)
{
    int s = some_stage(t);
    bool require = random_chance(&t->rng, 50);
    const struct plan_stage *x = &t->plan.stages[s];
    struct rule *r = plant_rule(t, require ? RULE_REQUIRE : RULE_FORBID, random_chance(&t->rng, 20) ? -1 : s);
    const char *names[] = {require ? "elsewhere" : t->plan.group_names[x->group], NULL};
    // What holds on this stage is forbidden, what does not is required.
    switch (random_between(&t->rng, 0, 5)) {
    case 0:
        r->groups = TAKE(&t->arena, 1, const char *);
        r->groups[r->group_count++] = names[0];
        break;
    case 1: r->holds_first = r->holds_last = require ? x->first_layer + x->layer_count : x->first_layer; break;
    case 2: r->layers_min = require ? x->layer_count + 1 : x->layer_count; break;
    case 3:
        r->recompute_stated = true;
        for (int i = 0; i < RECOMPUTE_COUNT; i++) r->recompute[i] = require != (i == (int)x->recompute);
        break;
    case 4: r->compresses_gradient = (x->gradient_option > 0) != require; break;
    default: r->compresses_boundary = (x->boundary_option > 0) != require; break;
    }
    return true;
}

// The same rules, kept: a control.
static bool rule_kept(struct trial *t)
{
    int s = some_stage(t);
    const struct plan_stage *x = &t->plan.stages[s];
    struct rule *r = plant_rule(t, RULE_REQUIRE, s);
    r->groups = TAKE(&t->arena, 1, const char *);
    r->groups[r->group_count++] = t->plan.group_names[x->group];
    r->holds_first = x->first_layer;
    r->holds_last = x->first_layer + x->layer_count - 1;
    r->layers_min = r->layers_max = x->layer_count;
    r->recompute_stated = true;
    r->recompute[x->recompute] = true;
    r->compresses_gradient = x->gradient_option > 0;
    r->compresses_boundary = x->boundary_option > 0;
    return true;
}

static bool time_off(struct trial *t, int64_t by)
{
    t->plan.iteration_ns += by;
    t->plan.bound_ns = 0;
    t->plan.outcome = OUTCOME_OPEN;
    return true;
}

static bool time_too_long(struct trial *t) { return time_off(t, 1); }
static bool time_too_short(struct trial *t) { return time_off(t, -1); }

static bool bound_above(struct trial *t)
{
    t->plan.bound_ns++;
    return true;
}

static bool bound_negative(struct trial *t)
{
    t->plan.bound_ns = -1;
    t->plan.outcome = OUTCOME_OPEN;
    return true;
}

static bool gap_not_reached(struct trial *t)
{
    t->plan.bound_ns--;
    return true;
}

static bool outcome_infeasible(struct trial *t)
{
    t->plan.outcome = OUTCOME_INFEASIBLE;
    return true;
}

static bool price_off(struct trial *t)
{
    struct plan_stage *x = &t->plan.stages[some_stage(t)];
    int64_t off = 4 * x->layer_count + 2, *prices[] = {&x->forward_ns, &x->backward_ns, &x->sync_ns, &x->optimizer_ns};
    if (random_chance(&t->rng, 50)) off = -off;
    *prices[random_between(&t->rng, 0, 3)] += off;
    return true;
}

static bool message_off(struct trial *t)
{
    struct plan_stage *x = &t->plan.stages[some_stage(t)];
    int part = (int)random_between(&t->rng, 0, PART_COUNT - 1);
    int64_t *prices[] = {x->send_forward_ns, x->send_backward_ns, x->send_epilogue_ns};
    prices[random_between(&t->rng, 0, 2)][part] += 2;
    return true;
}

static bool embedding_off(struct trial *t)
{
    t->plan.embedding_sync_ns += 2;
    return true;
}

static bool recompute_not_allowed(struct trial *t)
{
    enum recompute mode = t->plan.stages[some_stage(t)].recompute;
    t->problem.job.recompute[mode] = false;
    return mode != RECOMPUTE_NONE;
}

static bool recompute_claimed(struct trial *t)
{
    struct plan_stage *x = &t->plan.stages[some_stage(t)];
    // Memory of full recomputation without its time.
    if (x->recompute != RECOMPUTE_NONE) return false;
    x->recompute = RECOMPUTE_FULL;
    t->problem.job.recompute[RECOMPUTE_FULL] = true;
    for (int r = 0; r < t->problem.model.run_count; r++)
        if (!t->problem.model.runs[r].recomputable || t->priced.runs[r].full_ns[x->group] < 100) return false;
    return t->problem.job.rule_count == 0;
}

static bool recompute_beyond(struct trial *t)
{
    struct plan_stage *x = &t->plan.stages[some_stage(t)];
    x->recomputed_layers = x->layer_count + 1;
    return true;
}

static bool *some_kind(struct trial *t)
{
    struct plan_graph *g = &t->plan.graph;
    bool *kinds[] = {&g->parts[PART_BLOCKING], &g->parts[PART_LINK], &g->parts[PART_DELAY], &g->epilogue, &g->sync,
                     &g->optimizer, &g->embedding_sync};
    return kinds[random_between(&t->rng, 0, (int64_t)ARRAY_LENGTH(kinds) - 1)];
}

static bool graph_lacks(struct trial *t)
{
    bool *kind = some_kind(t), had = *kind;
    *kind = false;
    return had;
}

static bool graph_has_too_much(struct trial *t)
{
    bool *kind = some_kind(t), had = *kind;
    *kind = true;
    return !had;
}

// The claims that the graph lacks are taken back too, and the time is what that graph takes.
static bool graph_lacks_and_claims(struct trial *t)
{
    struct schedule schedule;
    int part = (int)random_between(&t->rng, 0, PART_COUNT - 1);
    if (!t->plan.graph.parts[part]) return false;
    t->plan.graph.parts[part] = false;
    for (int s = 0; s <= last_of(t); s++) {
        struct plan_stage *x = &t->plan.stages[s];
        if (x->send_forward_ns[part] || x->send_backward_ns[part] || x->send_epilogue_ns[part]) return false;
    }
    struct schedule_request request = plan_request(&t->plan);
    if (schedule_build(&schedule, &request, &t->arena, &t->err) != OK) fail_msg("%s", t->err.text);
    t->plan.iteration_ns = t->plan.bound_ns = judged_replay(&schedule, &t->plan, &t->arena);
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

static const struct damage {
    const char *name;
    bool (*plant)(struct trial *t);
    const char *rule;       // NULL: not a damage, the plan stays right
    bool alone;             // no other rule is broken by it
} damages[] = {
    {"nothing", nothing, NULL, false},
    {"memory exactly full", memory_full, NULL, false},
    {"rule kept", rule_kept, NULL, false},
    {"layer twice", layer_twice, "layers", false},
    {"layer missing", layer_missing, "layers", false},
    {"layer beyond the model", layer_beyond, "layers", true},
    {"stage empty", stage_empty, "layers", false},
    {"stages swapped", stages_swapped, "layers", false},
    {"count exceeded", count_exceeded, "count", true},
    {"group excluded", group_excluded, "count", false},
    {"group that does not exist", group_unknown, "count", true},
    {"group not of the cluster", group_foreign, "count", true},
    {"groups not joined", unjoined, "joined", false},
    {"memory over by one byte", memory_over, "memory", true},
    {"limit misreported", limit_misreported, "memory", true},
    {"memory misreported", memory_misreported, "memory", true},
    {"too many boundaries compressed", budget_boundaries, "budget", true},
    {"too many stages compressed", budget_stages, "budget", true},
    {"quality cost exceeded", budget_cost, "budget", true},
    {"rank below the least", rank_too_small, "budget", false},
    {"option that does not exist", option_missing, "compression", false},
    {"option not of the job", option_foreign, "compression", true},
    {"first stage compresses what it does not send", option_of_first_stage, "compression", false},
    {"rule broken", rule_broken, "rules", true},
    {"time too long by 1 ns", time_too_long, "iteration", false},
    {"time too short by 1 ns", time_too_short, "iteration", false},
    {"bound above the iteration", bound_above, "bound", true},
    {"bound below zero", bound_negative, "bound", true},
    {"optimal, but open by 1 ns", gap_not_reached, "bound", true},
    {"infeasible, but here it is", outcome_infeasible, "bound", true},
    {"price of a stage off", price_off, "price", false},
    {"price of a message off", message_off, "price", false},
    {"price of the embedding sync off", embedding_off, "price", false},
    {"recomputation not allowed", recompute_not_allowed, "recompute", true},
    {"recomputation without its time", recompute_claimed, "price", false},
    {"more layers recomputed than held", recompute_beyond, "recompute", false},
    {"an operation's kind left out of the graph", graph_lacks, "schedule", false},
    {"a kind in the graph that has no price", graph_has_too_much, "schedule", false},
    {"a kind left out that takes no time here", graph_lacks_and_claims, "schedule", true},
    {"another layout", layout_differs, "layout", true},
    {"a stage too few", stages_differ, "layout", true},
    {"another input", hash_differs, "hash", true},
    {"input not named", hash_missing, "hash", true},
};

static void check_damage(const struct damage *d, const struct verdict *v, uint64_t seed)
{
    bool found = false;
    if (!d->rule) {
        if (!v->accepted)
            fail_msg("seed %llu, %s: rejected: %s: %s", (unsigned long long)seed, d->name, v->violations[0].rule,
                     v->violations[0].text);
        return;
    }
    for (int i = 0; i < v->violation_count; i++) {
        bool fits = !strcmp(v->violations[i].rule, d->rule);
        found = found || fits;
        if (d->alone && !fits)
            fail_msg("seed %llu, %s: also %s: %s", (unsigned long long)seed, d->name, v->violations[i].rule,
                     v->violations[i].text);
    }
    if (!found || v->accepted)
        fail_msg("seed %llu, %s: not caught as '%s'", (unsigned long long)seed, d->name, d->rule);
}

static void test_planted_faults(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(damages); i++) {
        int planted = 0;
        for (uint64_t seed = 1000; seed < 3000 && planted < 20; seed++) {
            struct random_limits limits = random_limits_small();
            struct trial t;
            limits.long_and_close = seed % 4 == 0;
            if (!trial_open(&t, seed, &limits)) continue;
            if (damages[i].plant(&t)) {
                struct verdict v = judge(&t, &t.plan);
                check_damage(&damages[i], &v, seed);
                planted++;
            }
            arena_close(&t.arena);
        }
        if (planted < 5) fail_msg("%s: planted only %d times", damages[i].name, planted);
    }
}

// Whatever number stands in a plan, the judge answers; and a number that decides is missed by no check.
static void test_absurd_numbers(void **state)
{
    (void)state;
    int accepted = 0, judged = 0;
    for (uint64_t seed = 5000; seed < 5400; seed++) {
        struct random_limits limits = random_limits_small();
        struct trial t;
        if (!trial_open(&t, seed, &limits)) continue;
        struct plan_stage *x = &t.plan.stages[some_stage(&t)];
        int *indices[] = {&x->first_layer, &x->layer_count, &x->group, &x->recomputed_layers, &x->gradient_option,
                          &x->boundary_option, (int *)&x->recompute};
        int64_t *claims[] = {&x->forward_ns, &x->backward_ns, &x->sync_ns, &x->optimizer_ns, &x->send_forward_ns[PART_LINK],
                             &x->send_backward_ns[PART_BLOCKING], &x->send_epilogue_ns[PART_DELAY], &t.plan.iteration_ns,
                             &t.plan.bound_ns, &t.plan.embedding_sync_ns, &x->memory.activation_bytes,
                             &x->memory_limit_bytes};
        const int64_t absurd[] = {-1, -1000000, 1000003, (int64_t)1 << 31, (int64_t)1 << 53};
        for (size_t i = 0; i < ARRAY_LENGTH(indices); i++) {
            int before = *indices[i];
            *indices[i] = (int)random_between(&t.rng, -2, 1 << random_between(&t.rng, 1, 30));
            // Recomputed layers decide under first_layers alone.
            if (*indices[i] != before && indices[i] != &x->recomputed_layers) {
                accepted += judge(&t, &t.plan).accepted;
                judged++;
            } else {
                judge(&t, &t.plan);
            }
            *indices[i] = before;
        }
        for (size_t i = 0; i < ARRAY_LENGTH(claims); i++) {
            int64_t before = *claims[i];
            *claims[i] = absurd[random_between(&t.rng, 0, (int64_t)ARRAY_LENGTH(absurd) - 1)];
            if (judge(&t, &t.plan).accepted)
                fail_msg("seed %llu: claim %zu as %lld is accepted", (unsigned long long)seed, i, (long long)*claims[i]);
            *claims[i] = before;
        }
        expect_accepted(&t, &t.plan, seed);
        arena_close(&t.arena);
    }
    // Two options, groups or modes may cost the same; most do not.
    print_message("%d decisions changed, %d of them as good\n", judged, accepted);
    assert_true(judged > 1000 && accepted * 10 < judged);
}

// A plan without stages is a claim that there is none: nothing to judge.
static void test_no_plan(void **state)
{
    (void)state;
    struct random_limits limits = random_limits_small();
    struct trial t;
    uint64_t seed = 1;
    while (!trial_open(&t, seed, &limits)) seed++;
    struct plan none = {.outcome = OUTCOME_INFEASIBLE};
    struct verdict v = judge(&t, &none);
    assert_false(v.accepted);
    assert_int_equal(v.violation_count, 1);
    arena_close(&t.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_right_plans), cmocka_unit_test(test_planted_faults),
                                       cmocka_unit_test(test_absurd_numbers), cmocka_unit_test(test_no_plan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
