// One random plan, judged.
#include "data/kinds/schedules.h"
#include "tests/support/trials/trial.h"

#include "formulate/graph/longest.h"
#include "formulate/price/price.h"
#include "solve/judge/verify.h"
#include "tests/support/check.h"
#include "tests/support/draws/sharding.h"

// Slices of different lengths, if the sequence has room for them.
static void cut_sequence(struct layout *l, int64_t sequence, struct random *rng)
{
    l->slice_count = (int)random_between(rng, 2, sequence < 4 ? sequence : 4);
    int64_t left = sequence;
    for (int i = 0; i < l->slice_count; i++) {
        int behind = l->slice_count - 1 - i;
        l->slices[i] = (int)(behind ? random_between(rng, 1, left - behind) : left);
        left -= l->slices[i];
    }
}

static void vary_stages(struct problem *p, struct random *rng)
{
    struct layout *l = &p->job.layout;
    l->virtual_stages = schedule_kinds[l->schedule].virtual_stages;
    if (!l->virtual_stages) l->virtual_stages = (int)random_between(rng, 2, 3);
    if (l->pipeline * l->virtual_stages > p->model.layer_count)
        l->pipeline = p->model.layer_count / l->virtual_stages;
    if (l->pipeline > 1 && random_chance(rng, 25)) l->pipeline--;
}

void vary_layout(struct problem *p, struct random *rng)
{
    const struct layout before = p->job.layout;
    const struct local_loss loss_before = p->job.local_loss;
    const int options_before = p->job.boundary_option_count,
              tiers_before = p->job.tier_option_count;
    struct layout *l = &p->job.layout;
    struct error unfit = {OK, ""};
    l->schedule = (int)random_between(rng, 0, SCHEDULE_KIND_COUNT - 1);
    if (schedule_kinds[l->schedule].virtual_stages != 1) vary_stages(p, rng);
    if (schedule_kinds[l->schedule].slices && p->job.sequence > 1) {
        cut_sequence(l, p->job.sequence, rng);
        p->job.boundary_option_count = p->job.tier_option_count = 0;
    }
    l->zero = (int)random_between(rng, 0, 3);
    l->barrier = random_chance(rng, 70);
    l->local_loss_every = random_chance(rng, 20) ? (int)random_between(rng, 1, 2) : 0;
    if (l->local_loss_every)
        p->job.local_loss = (struct local_loss){(double)random_between(rng, 0, 300) * 1e-9,
                                                (double)random_between(rng, 0, 300) * 1e-9,
                                                random_between(rng, 0, 50),
                                                {0, 0}};
    struct random own = *rng;
    if (l->local_loss_every && p->model.has_shape && random_chance(&own, 60)) {
        struct local_head *head = &p->job.local_loss.head;
        head->vocabulary = random_between(&own, 1, 400);
        if (problem_check(p, &unfit) != OK) *head = (struct local_head){0, 0};
    }
    if (problem_check(p, &unfit) == OK) {
        own = *rng;
        l->stored_inputs = l->local_loss_every && random_chance(&own, 50);
        if (problem_check(p, &unfit) != OK) l->stored_inputs = false;
        return;
    }
    p->job.layout = before;
    p->job.local_loss = loss_before;
    p->job.boundary_option_count = options_before;
    p->job.tier_option_count = tiers_before;
}

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
    int count = c->stages[stage].count,
        first = count ? (int)random_between(&t->rng, 0, count - 1) : 0,
        layer = next_layer(c, t->chosen, stage);
    for (int i = 0; i < count && t->visits < 20000; i++, t->visits++) {
        const struct choice *x = &c->stages[stage].items[(first + i) % count];
        if (x->first_layer != choices_place(c, layer)) continue;
        if (stage == t->priced.stage_count - 1 && layer + x->layer_count != t->priced.layer_count)
            continue;
        if (stage >= c->rank_count) {
            int other = choices_stage_of(c, choices_rank_of(c, stage), 0);
            if (c->stages[other].items[t->chosen[other]].group != x->group) continue;
        }
        t->chosen[stage] = (first + i) % count;
        if (choose(t, stage + 1)) return true;
    }
    return false;
}

bool trial_open(struct trial *t, uint64_t seed, const struct random_limits *limits, bool varied)
{
    struct graph *graph;
    struct schedule_request request;
    *t = (struct trial){.rng = {seed}};
    arena_open(&t->arena, NULL);
    random_problem(&t->problem, &t->rng, limits, &t->arena);
    if (varied) vary_layout(&t->problem, &t->rng);
    if (limits->sharded && !random_sharding(&t->problem, seed, &t->arena)) {
        arena_close(&t->arena);
        return false;
    }
    if (price_problem(&t->priced, &t->problem, &t->arena, &t->err) != OK)
        fail_msg("seed %llu: %s", (unsigned long long)seed, t->err.text);
    request = schedule_request_of(&t->priced);
    if (schedule_build(&t->schedule, &request, &t->arena, &t->err) != OK ||
        choices_build(&t->choices, &t->priced, &t->schedule, &t->arena, &t->err) != OK ||
        graph_compile(&graph, &t->schedule, &t->arena, &t->err) != OK)
        fail_msg("seed %llu: %s", (unsigned long long)seed, t->err.text);
    t->chosen = TAKE(&t->arena, t->priced.stage_count, int);
    int64_t *durations =
        TAKE(&t->arena, symbol_count(t->priced.stage_count, t->priced.slice_count), int64_t);
    if (!choose(t, 0) || !choices_durations(&t->choices, t->chosen, durations)) {
        arena_close(&t->arena);
        return false;
    }
    choices_to_plan(&t->plan, &t->choices, t->chosen, graph_longest(graph, durations, NULL),
                    &t->arena);
    t->plan.bound_ns = t->plan.iteration_ns;
    t->plan.outcome = OUTCOME_OPTIMAL;
    return true;
}

void trial_close(struct trial *t) { arena_close(&t->arena); }

struct verdict trial_judge(struct trial *t)
{
    struct verdict v;
    if (verify_plan(&v, &t->plan, &t->problem, &t->arena, &t->err) != OK)
        fail_msg("%s", t->err.text);
    return v;
}

void trial_expect_accepted(struct trial *t, uint64_t seed)
{
    struct verdict v = trial_judge(t);
    if (!v.accepted)
        fail_msg("seed %llu, %s: %d violations, the first: %s, stage %d: %s",
                 (unsigned long long)seed, schedule_names[t->plan.layout.schedule],
                 v.violation_count, v.violations[0].rule, v.violations[0].stage,
                 v.violations[0].text);
    assert_int_equal(v.replayed_ns, t->plan.iteration_ns);
    assert_true(v.terms_checked > 10);
}

static void check_damage(const struct damage *d, const struct verdict *v, uint64_t seed)
{
    bool found = false;
    if (!d->rule) {
        if (!v->accepted)
            fail_msg("seed %llu, %s: rejected: %s: %s", (unsigned long long)seed, d->name,
                     v->violations[0].rule, v->violations[0].text);
        return;
    }
    for (int i = 0; i < v->violation_count; i++) {
        bool fits = !strcmp(v->violations[i].rule, d->rule);
        found = found || fits;
        if (d->alone && !fits)
            fail_msg("seed %llu, %s: also %s: %s", (unsigned long long)seed, d->name,
                     v->violations[i].rule, v->violations[i].text);
    }
    if (!found || v->accepted)
        fail_msg("seed %llu, %s: not caught as '%s'", (unsigned long long)seed, d->name, d->rule);
}

void trial_plant(const struct damage *damages, size_t count, bool varied)
{
    for (size_t i = 0; i < count; i++) {
        int planted = 0;
        for (uint64_t seed = 1000; seed < 4000 && planted < 20; seed++) {
            struct random_limits limits = random_limits_small();
            struct trial t;
            limits.long_and_close = seed % 4 == 0;
            if (!trial_open(&t, seed, &limits, varied && seed % 3)) continue;
            if (damages[i].plant(&t)) {
                struct verdict v = trial_judge(&t);
                check_damage(&damages[i], &v, seed);
                planted++;
            }
            trial_close(&t);
        }
        if (planted < 5) fail_msg("%s: planted only %d times", damages[i].name, planted);
    }
}
