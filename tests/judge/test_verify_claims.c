// The judge on damaged claims: memory, times, the bound, prices, the kinds of operations. Each is
// reported under its own name.
#include "solve/judge/internal.h"
#include "tests/support/trials/trial.h"
#include "tests/support/check.h"

static int64_t fullest(const struct trial *t, int group)
{
    int64_t most = 0;
    for (int i = 0; i < t->plan.layout.pipeline; i++) {
        const struct memory_parts *m = t->plan.ranks ? &t->plan.ranks[i].memory
                                                     : &t->plan.stages[i].memory;
        if (t->plan.stages[i].group == group && memory_total(m) > most) most = memory_total(m);
    }
    return most;
}

// The fullest device of a stage's group, to the byte: at the limit it is right, one byte less is
// too little.
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
        t->plan.stages[i].memory_limit_bytes =
            t->problem.cluster.groups[t->plan.stages[i].group].memory_bytes;
    return total > missing;
}

static bool memory_full(struct trial *t) { return set_limit(t, 0); }

static bool memory_over(struct trial *t) { return set_limit(t, 1); }

static bool limit_misreported(struct trial *t)
{
    t->plan.stages[trial_stage(t)].memory_limit_bytes++;
    return true;
}

static bool memory_misreported(struct trial *t)
{
    struct plan_stage *x = &t->plan.stages[trial_stage(t)];
    int64_t *parts[] = {&x->memory.weight_bytes,    &x->memory.gradient_bytes,
                        &x->memory.optimizer_bytes, &x->memory.activation_bytes,
                        &x->memory.working_bytes,   &x->memory.buffer_bytes,
                        &x->memory.feedback_bytes,  &x->memory.constant_bytes};
    *parts[random_between(&t->rng, 0, (int64_t)ARRAY_LENGTH(parts) - 1)] +=
        random_chance(&t->rng, 50) ? 1 : -1;
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
    int64_t *prices[] = {&x->slices->forward_ns, &x->slices->backward_ns, &x->sync_ns,
                         &x->optimizer_ns};
    *prices[random_between(&t->rng, 0, 3)] += random_chance(&t->rng, 50) ? 1 : -1;
    return true;
}

static bool message_off(struct trial *t)
{
    struct plan_stage *x = &t->plan.stages[trial_stage(t)];
    int part = (int)random_between(&t->rng, 0, PART_COUNT - 1);
    int64_t *prices[] = {x->slices->send_forward_ns, x->slices->send_backward_ns,
                         x->send_epilogue_ns};
    prices[random_between(&t->rng, 0, 2)][part]++;
    return true;
}

static bool embedding_off(struct trial *t)
{
    t->plan.embedding_sync_ns++;
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
        if (!t->problem.model.runs[r].recomputable ||
            t->priced.runs[r].again_ns[RECOMPUTE_FULL][x->group] < 100)
            return false;
    return t->problem.job.rule_count == 0;
}

static bool *some_kind(struct trial *t)
{
    struct plan_graph *g = &t->plan.graph;
    bool *kinds[] = {&g->parts[PART_BLOCKING],
                     &g->parts[PART_LINK],
                     &g->parts[PART_DELAY],
                     &g->epilogue,
                     &g->sync,
                     &g->optimizer,
                     &g->embedding_sync};
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
        if (x->slices->send_forward_ns[part] || x->slices->send_backward_ns[part] ||
            x->send_epilogue_ns[part])
            return false;
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

// ---- every number that a plan states of its stages, off by one

struct claim {
    int64_t *value;
    const char *rule, *name;
    int stage;
};
struct claims {
    struct claim *items;
    int count;
};

static void add_claim(struct claims *c, int64_t *value, const char *rule, int stage,
                      const char *name)
{
    c->items[c->count++] = (struct claim){value, rule, name, stage};
}

static const char *name_of(struct trial *t, const char *what, int slice)
{
    return slice ? arena_print(&t->arena, "%s of slice %d: ", what, slice)
                 : arena_print(&t->arena, "%s: ", what);
}

static void add_parts(struct trial *t, struct claims *c, int64_t *parts, int stage,
                      const char *what, int slice)
{
    for (int k = 0; k < PART_COUNT; k++)
        add_claim(c, &parts[k], "price", stage,
                  name_of(t, arena_print(&t->arena, "%s.%s", what, transfer_part_names[k]), slice));
}

static void add_memory(struct trial *t, struct claims *c, struct memory_parts *m, int stage,
                       const char *whose)
{
    static const char *const names[] = {"weights", "gradients", "optimizer", "activations",
                                        "working", "buffers",   "feedback",  "constant"};
    int64_t *parts[] = {&m->weight_bytes,     &m->gradient_bytes, &m->optimizer_bytes,
                        &m->activation_bytes, &m->working_bytes,  &m->buffer_bytes,
                        &m->feedback_bytes,   &m->constant_bytes};
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++)
        add_claim(c, parts[i], "memory", stage, arena_print(&t->arena, "%s%s: ", whose, names[i]));
}

static void add_stage(struct trial *t, struct claims *c, int stage)
{
    struct plan_stage *x = &t->plan.stages[stage];
    add_claim(c, &x->weight_ns, "price", stage, "weight gradient: ");
    add_claim(c, &x->optimizer_ns, "price", stage, "optimizer: ");
    add_claim(c, &x->sync_ns, "price", stage, "sync: ");
    add_claim(c, &x->queued_sync_ns, "price", stage, "queued sync: ");
    add_claim(c, &x->away_ns, "price", stage, "rest of what is swapped away: ");
    add_claim(c, &x->back_ns, "price", stage, "beginning of what is swapped back: ");
    add_parts(t, c, x->send_epilogue_ns, stage, "send_epilogue", 0);
    for (int i = 0; i < t->plan.layout.slice_count; i++) {
        struct plan_slice *y = &x->slices[i];
        add_claim(c, &y->forward_ns, "price", stage, name_of(t, "forward", i));
        add_claim(c, &y->backward_ns, "price", stage, name_of(t, "backward", i));
        add_parts(t, c, y->send_forward_ns, stage, "send_forward", i);
        add_parts(t, c, y->send_backward_ns, stage, "send_backward", i);
    }
    add_memory(t, c, &x->memory, stage, "");
    add_claim(c, &x->memory_limit_bytes, "memory", stage, "memory limit: ");
}

static struct claims claims_of(struct trial *t)
{
    int stages = t->plan.stage_count;
    struct claims c = {
        TAKE(&t->arena, (stages * (64 + 12 * t->plan.layout.slice_count)) + 1, struct claim), 0};
    for (int s = 0; s < stages; s++) add_stage(t, &c, s);
    struct schedule_request request = plan_request(&t->plan);
    for (int r = 0; t->plan.ranks && r < t->plan.layout.pipeline; r++)
        add_memory(t, &c, &t->plan.ranks[r].memory, schedule_stage_of(&request, r, 0),
                   arena_print(&t->arena, "rank %d: ", r));
    add_claim(&c, &t->plan.embedding_sync_ns, "price", -1, "embedding sync: ");
    return c;
}

static void expect_named(struct trial *t, const struct claim *c, uint64_t seed, int off)
{
    struct verdict v = trial_judge(t);
    for (int i = 0; i < v.violation_count; i++) {
        const struct violation *x = &v.violations[i];
        if (!strcmp(x->rule, c->rule) && x->stage == c->stage &&
            !strncmp(x->text, c->name, strlen(c->name)))
            return;
    }
    fail_msg("seed %llu: stage %d, %s%+d is not found", (unsigned long long)seed, c->stage, c->name,
             off);
}

TEST(test_off_by_one)
{
    int plans = 0, claims = 0;
    for (uint64_t seed = 30000; seed < 30060; seed++) {
        struct random_limits limits = random_limits_small();
        struct trial t;
        limits.flavour = (int)(seed % FLAVOUR_COUNT);
        if (!trial_open(&t, seed, &limits, seed % 2)) continue;
        trial_expect_accepted(&t, seed);
        struct claims all = claims_of(&t);
        for (int i = 0; i < 2 * all.count; i++) {
            const struct claim *c = &all.items[i / 2];
            int off = i % 2 ? 1 : -1;
            *c->value += off;
            expect_named(&t, c, seed, off);
            *c->value -= off;
        }
        plans++, claims += all.count;
        trial_close(&t);
    }
    print_message("%d plans, each of %d numbers off by one in both directions\n", plans, claims);
    assert_true(plans > 30 && claims > 2000);
}

TEST(test_one_stage_a_rank) { trial_plant(damages, ARRAY_LENGTH(damages), false); }

TEST(test_varied_layouts) { trial_plant(damages, ARRAY_LENGTH(damages), true); }
