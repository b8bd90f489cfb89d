// Stages with widths of their own on named nodes, from random documents: the search against all
// plans on all nodes in all orders, whose programs the test puts together and the oracle replays;
// plans of drawn placements are accepted by the judge, on other nodes they are refused unless they
// take the same; the documents keep them.
//
//   test_named_widths [PROBLEMS] [SEED]      make test runs 300
#include "solve/judge/verify.h"
#include "tests/support/check.h"
#include "tests/support/folder.h"
#include "tests/support/oracle/oracle.h"
#include "tests/support/problems.h"
#include "tests/support/random_priced.h"
#include "tests/support/trials/named_trials.h"

static int problem_count = 300;
static uint64_t first_seed = 1;
static struct {
    int priced, exact, without, unlike, apart, wide, groups, forged, same, drawn;
} seen;

// ---- the judge

static bool is_accepted(const struct problem *p, const struct plan *plan, const char **why)
{
    struct verdict v;
    MUST(verify_plan(&v, plan, p, &own_arena, &own_err));
    *why = v.violation_count ? v.violations[0].text : "";
    return v.accepted;
}

static int64_t time_on(const struct priced *p, const struct plan *plan, const struct standing *at)
{
    struct priced own;
    struct schedule schedule;
    int64_t bytes[NAMED_STAGES];
    struct plan_stage *stages = TAKE_COPY(&own_arena, plan->stages, plan->stage_count);
    if (!named_stand(&own, p, at, &own_arena)) return -1;
    for (int s = 0; s < plan->stage_count; s++) stages[s].group = s;
    priced_schedule(&schedule, &own, &own_arena);
    return oracle_time(&own, &schedule, stages, bytes, &own_arena);
}

// The plan with one replica on another node: refused, or it takes the same there.
static void forge(const struct problem *p, const struct priced *priced, const struct plan *plan,
                  struct random *rng, int i)
{
    struct plan wrong = *plan;
    struct standing at[NAMED_STAGES];
    const char *why;
    int stage = (int)random_between(rng, 0, plan->stage_count - 1);
    wrong.stages = TAKE_COPY(&own_arena, plan->stages, plan->stage_count);
    struct plan_stage *s = &wrong.stages[stage];
    s->nodes = TAKE_COPY(&own_arena, s->nodes, s->node_count);
    int replica = (int)random_between(rng, 0, s->node_count - 1),
        node = (int)random_between(rng, 0, p->cluster.places.node_count - 1);
    s->nodes[replica] = p->cluster.places.nodes[node].name;
    wrong.outcome = OUTCOME_OPEN, wrong.bound_ns = 0, wrong.gap_asked = 0;
    if (!is_accepted(p, &wrong, &why)) {
        seen.forged++;
        return;
    }
    for (int k = 0; k < plan->stage_count; k++) {
        at[k].seat = wrong.stages[k].group;
        for (int r = 0; r < wrong.stages[k].node_count; r++) {
            at[k].node[r] = 0;
            while (strcmp(p->cluster.places.nodes[at[k].node[r]].name, wrong.stages[k].nodes[r]))
                at[k].node[r]++;
        }
    }
    int64_t ns = time_on(priced, &wrong, at);
    if (ns != plan->iteration_ns)
        fail_msg("problem %d: accepted on other nodes, where it takes %lld ns, not %lld", i,
                 (long long)ns, (long long)plan->iteration_ns);
    seen.same++;
}

static void expect_kept(const struct plan *plan, int i)
{
    char folder[FOLDER_SIZE];
    struct plan again;
    assert_int_equal(folder_make(folder), 0);
    const char *path = arena_print(&own_arena, "%s/plan.json", folder);
    MUST(plan_save(plan, path, &own_arena, &own_err));
    MUST(plan_load(&again, path, &own_arena, &own_err));
    for (int s = 0; s < plan->stage_count; s++) {
        assert_int_equal(again.stages[s].node_count, plan->stages[s].node_count);
        for (int k = 0; k < plan->stages[s].node_count; k++)
            if (strcmp(again.stages[s].nodes[k], plan->stages[s].nodes[k]))
                fail_msg("problem %d: stage %d: another node is read than written", i, s);
    }
    folder_remove(folder);
}

static void count(const struct problem *p, const struct plan *plan)
{
    bool unlike = false, apart = false, large = false;
    for (int s = 0; s < plan->stage_count; s++) {
        const struct plan_stage *x = &plan->stages[s];
        unlike = unlike || plan->widths[x->group].data != plan->widths[plan->stages[0].group].data;
        large = large || x->node_count > 2;
        for (int k = 1; k < x->node_count; k++)
            apart = apart || strcmp(x->nodes[k], x->nodes[0]) != 0;
    }
    seen.unlike += unlike, seen.apart += apart, seen.wide += large;
    seen.groups += p->cluster.group_count > 1;
}

static void judge(const struct problem *p, const struct priced *priced, const struct plan *plan,
                  struct random *rng, int i)
{
    const char *why;
    if (!is_accepted(p, plan, &why)) fail_msg("problem %d: the judge refuses: %s", i, why);
    for (int k = 0; k < 3; k++) forge(p, priced, plan, rng, i);
}

static void solve_one(const struct problem *p, const struct priced *priced, struct random *rng,
                      int i)
{
    struct solve_settings settings;
    struct solve_result r = {0};
    struct random own = {rng->state};
    struct named_all x = {
        .p = priced, .best_ns = INT64_MAX, .counts = true, .rng = &own, .arena = &own_arena};
    solve_defaults(&settings);
    settings.progress = 0, settings.threads = 0;
    named_walk(&x);
    if (x.placements && x.placements <= NAMED_PLACEMENTS_MOST) {
        struct plan plan;
        MUST(named_plan(&plan, priced, x.drawn, NULL, &settings, &own_arena, &own_err));
        if (plan.stage_count) {
            plan.outcome = OUTCOME_OPEN, plan.bound_ns = 0;
            judge(p, priced, &plan, &own, i);
            seen.drawn++;
        }
    }
    if (!named_is_small(&x)) return;
    x.counts = false, x.placements = 0;
    named_walk(&x);
    MUST(named_solve(&r, priced, &settings, NULL, &own_arena, &own_err));
    seen.exact++;
    if (x.best_ns == INT64_MAX) {
        if (r.plan.outcome != OUTCOME_INFEASIBLE)
            fail_msg("problem %d: a plan of %lld ns, where there is none", i,
                     (long long)r.plan.iteration_ns);
        seen.without++;
        return;
    }
    if (r.plan.iteration_ns != x.best_ns || r.plan.bound_ns != x.best_ns)
        fail_msg("problem %d: %lld ns, bound %lld, the best of %d placements takes %lld", i,
                 (long long)r.plan.iteration_ns, (long long)r.plan.bound_ns, x.placements,
                 (long long)x.best_ns);
    judge(p, priced, &r.plan, &own, i);
    if (i % 10 == 0) expect_kept(&r.plan, i);
    count(p, &r.plan);
}

TEST(test_all_placements)
{
    struct random rng = {first_seed};
    for (int i = 0; i < problem_count; i++) {
        struct problem p;
        struct priced priced;
        struct arena_mark mark = arena_set_mark(&own_arena);
        if (named_draw(&p, &priced, &rng, &own_arena)) {
            seen.priced++;
            solve_one(&p, &priced, &rng, i);
        }
        arena_reset(&own_arena, mark);
    }
    print_message("%d priced, %d compared with all placements (%d without a plan, %d with unlike "
                  "data degrees, %d with a stage on several nodes, %d of 3 or 4 replicas, %d with "
                  "two groups), %d drawn plans accepted, %d on other nodes refused, %d take the "
                  "same there\n",
                  seen.priced, seen.exact, seen.without, seen.unlike, seen.apart, seen.wide,
                  seen.groups, seen.drawn, seen.forged, seen.same);
    assert_true(seen.exact > problem_count / 8 && seen.unlike && seen.apart && seen.groups &&
                seen.forged > seen.exact);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
