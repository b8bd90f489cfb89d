// The judge on damaged claims: memory, times, the bound, prices, the kinds of operations. Each is caught under its own name.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solve/verify_parts.h"
#include "tests/support/trial.h"

#include <cmocka.h>        // last: it takes the name of fail()

static int64_t fullest(const struct trial *t, int group)
{
    int64_t most = 0;
    for (int i = 0; i < t->plan.layout.pipeline; i++) {
        const struct memory_parts *m = t->plan.ranks ? &t->plan.ranks[i].memory : &t->plan.stages[i].memory;
        if (t->plan.stages[i].group == group && memory_total(m) > most) most = memory_total(m);
    }
    return most;
}

// The fullest device of a stage's group, to the byte: at the limit it is right, one byte less is too little.
static bool set_limit(struct trial *t, int64_t missing)
{
    int group = t->plan.stages[trial_stage(t)].group;
    int64_t total = fullest(t, group);
    t->problem.job.memory_fraction = 1;
    t->problem.job.memory_margin_bytes = 0;
    for (int i = 0; i < t->problem.cluster.group_count; i++)
        if (i != group) t->problem.cluster.groups[i].memory_bytes = 1 << 30;
    t->problem.cluster.groups[group].memory_bytes = total - missing;
    for (int i = 0; i <= trial_last(t); i++)
        t->plan.stages[i].memory_limit_bytes = t->problem.cluster.groups[t->plan.stages[i].group].memory_bytes;
    return total > missing;
}

static bool memory_full(struct trial *t) { return set_limit(t, 0); }

static bool memory_over(struct trial *t) { return set_limit(t, 1); }

static bool limit_misreported(struct trial *t)
{
    t->plan.stages[trial_stage(t)].memory_limit_bytes += 2;
    return true;
}

static bool memory_misreported(struct trial *t)
{
    struct plan_stage *x = &t->plan.stages[trial_stage(t)];
    int64_t *parts[] = {&x->memory.weight_bytes,     &x->memory.gradient_bytes, &x->memory.optimizer_bytes,
                        &x->memory.activation_bytes, &x->memory.working_bytes,  &x->memory.buffer_bytes,
                        &x->memory.feedback_bytes,   &x->memory.constant_bytes};
    // More than one byte for each rounded term, of which activations have one per micro-batch in flight.
    int64_t off = (x->layer_count + 4) * (t->plan.micro_batches + 1);
    int64_t *part = parts[random_between(&t->rng, 0, (int64_t)ARRAY_LENGTH(parts) - 1)];
    *part += random_chance(&t->rng, 50) ? off : -off;
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
    struct plan_stage *x = &t->plan.stages[trial_stage(t)];
    int64_t off = 4 * x->layer_count + 2, *prices[] = {&x->forward_ns, &x->backward_ns, &x->sync_ns, &x->optimizer_ns};
    if (random_chance(&t->rng, 50)) off = -off;
    *prices[random_between(&t->rng, 0, 3)] += off;
    return true;
}

static bool message_off(struct trial *t)
{
    struct plan_stage *x = &t->plan.stages[trial_stage(t)];
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

static bool recompute_claimed(struct trial *t)
{
    struct plan_stage *x = &t->plan.stages[trial_stage(t)];
    // Memory of full recomputation without its time.
    if (x->recompute != RECOMPUTE_NONE) return false;
    x->recompute = RECOMPUTE_FULL;
    t->problem.job.recompute[RECOMPUTE_FULL] = true;
    for (int r = 0; r < t->problem.model.run_count; r++)
        if (!t->problem.model.runs[r].recomputable || t->priced.runs[r].full_ns[x->group] < 100) return false;
    return t->problem.job.rule_count == 0;
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
    for (int s = 0; s <= trial_last(t); s++) {
        struct plan_stage *x = &t->plan.stages[s];
        if (x->send_forward_ns[part] || x->send_backward_ns[part] || x->send_epilogue_ns[part]) return false;
    }
    struct schedule_request request = plan_request(&t->plan);
    if (schedule_build(&schedule, &request, &t->arena, &t->err) != OK) fail_msg("%s", t->err.text);
    t->plan.iteration_ns = t->plan.bound_ns = judged_replay(&schedule, &t->plan, &t->arena);
    return true;
}

static bool nothing(struct trial *t) { return t->plan.stage_count > 0; }

static const struct damage damages[] = {
    {"nothing", nothing, NULL, false},
    {"memory exactly full", memory_full, NULL, false},
    {"memory over by one byte", memory_over, "memory", true},
    {"limit misreported", limit_misreported, "memory", true},
    {"memory misreported", memory_misreported, "memory", true},
    {"time too long by 1 ns", time_too_long, "iteration", false},
    {"time too short by 1 ns", time_too_short, "iteration", false},
    {"bound above the iteration", bound_above, "bound", true},
    {"bound below zero", bound_negative, "bound", true},
    {"optimal, but open by 1 ns", gap_not_reached, "bound", true},
    {"infeasible, but here it is", outcome_infeasible, "bound", true},
    {"price of a stage off", price_off, "price", false},
    {"price of a message off", message_off, "price", false},
    {"price of the embedding sync off", embedding_off, "price", false},
    {"recomputation without its time", recompute_claimed, "price", false},
    {"an operation's kind left out of the graph", graph_lacks, "schedule", false},
    {"a kind in the graph that has no price", graph_has_too_much, "schedule", false},
    {"a kind left out that takes no time here", graph_lacks_and_claims, "schedule", true},
};

static void test_one_stage_a_rank(void **state) { (void)state, trial_plant(damages, ARRAY_LENGTH(damages), false); }
static void test_varied_layouts(void **state) { (void)state, trial_plant(damages, ARRAY_LENGTH(damages), true); }

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_stage_a_rank), cmocka_unit_test(test_varied_layouts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
