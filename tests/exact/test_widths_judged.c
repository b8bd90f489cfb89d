// Stages with widths of their own, from random documents: the judge, by code of its own, finds
// every price of the plan's widths, and accepts; one width for all stages gives the uniform
// layout's prices, seat by seat; a plan with another width's prices is refused. And spaces of
// numbers of stages and micro-batches with widths: the answer is the best plan of all layouts by
// enumeration, the judge accepts it.
//
//   test_widths_judged [PROBLEMS] [SEED]      make test runs 400
#include "data/inputs/problem.h"
#include "data/kinds/schedules.h"
#include "formulate/price/price.h"
#include "solve/judge/verify.h"
#include "solve/layout/solve.h"
#include "tests/support/check.h"
#include "tests/support/draws/stage_widths.h"
#include "tests/support/oracle/oracle.h"
#include "tests/support/random_priced.h"
#include "tests/support/spaces.h"
#include "tests/support/trials/space_trials.h"

static int problem_count = 400;
static uint64_t first_seed = 1;
static struct {
    int priced, planned, unlike, forged, alike, timed, measured;
    int spaces, without, of_layout[8], by_group, loads, certified, turned_spaces, space_forged;
    int turned, turned_unlike, turned_deep, turned_forged, turned_entered, turned_sets;
} seen;

static bool draw(struct problem *p, struct priced *priced, struct random *rng, struct arena *arena)
{
    struct random_limits limits = random_limits_small();
    limits.flavour = FLAVOUR_SHAPE;
    *p = (struct problem){0};
    random_problem(p, rng, &limits, arena);
    return random_stage_widths(p, rng, arena) &&
           price_problem(priced, p, arena, &(struct error){0}) == OK;
}

// Each seat's columns are those of the layout in which every stage has its width.
static void compare_uniform(const struct problem *p, const struct priced *priced,
                            struct arena *arena)
{
    struct seat *seats;
    int count = problem_seats(p, &seats, arena);
    assert_int_equal(count, priced->group_count);
    for (int i = 0; i < count; i++) {
        struct problem one = problem_at_seat(p, &seats[i]);
        struct priced own;
        MUST(price_problem(&own, &one, arena, &own_err));
        int g = seats[i].group, n = own.group_count;
        assert_int_equal(priced->micro_batches, own.micro_batches);
        assert_int_equal(!priced->groups[i].excluded, !own.groups[g].excluded);
        for (int r = 0; r < own.run_count; r++) {
            const struct priced_run *a = &priced->runs[r].seats[i], *b = &own.runs[r];
            assert_true(a->weight_bytes == b->weight_bytes &&
                        a->optimizer_bytes == b->optimizer_bytes &&
                        a->stash_bytes[0] == b->stash_bytes[0] &&
                        a->working_bytes[2] == b->working_bytes[2]);
            assert_true(
                a->forward_ns[i] == b->forward_ns[g] && a->backward_ns[i] == b->backward_ns[g] &&
                a->sync_ns[0][i] == b->sync_ns[0][g] && a->optimizer_ns[i] == b->optimizer_ns[g]);
            const struct priced_cut *c = &priced->cuts[a->cut], *d = &own.cuts[b->cut];
            for (int part = 0; part < PART_COUNT; part++)
                assert_true(c->forward_ns[(i * count + i) * PART_COUNT + part] ==
                            d->forward_ns[(g * n + g) * PART_COUNT + part]);
            seen.alike++;
        }
    }
}

static int refusals(const struct problem *p, const struct plan *plan, struct arena *arena,
                    const char **first)
{
    struct verdict v;
    MUST(verify_plan(&v, plan, p, arena, &own_err));
    *first = v.violation_count ? v.violations[0].text : "";
    return v.violation_count;
}

TEST(test_judged)
{
    struct random rng = {first_seed};
    for (int i = 0; i < problem_count; i++) {
        struct problem p;
        struct priced priced;
        struct solve_settings settings;
        struct solve_result r;
        const char *first;
        struct arena_mark mark = arena_set_mark(&own_arena);
        if (draw(&p, &priced, &rng, &own_arena)) {
            seen.priced++;
            seen.timed += p.costs.layer_time_count > 0;
            for (int k = 0, had = 0; k < p.model.run_count; k++)
                if (!had && p.model.runs[k].measured.by_degrees_count) seen.measured += had = 1;
            if (i % 5 == 0) compare_uniform(&p, &priced, &own_arena);
            solve_defaults(&settings);
            settings.progress = 0;
            MUST(solve_run(&r, &priced, &settings, NULL, NULL, &own_arena, &own_err));
            struct plan *plan = &r.plan;
            if (plan->stage_count) {
                if (refusals(&p, plan, &own_arena, &first))
                    fail_msg("problem %d: the judge refuses: %s", i, first);
                seen.planned++;
                struct plan_stage *stage = &plan->stages[plan->stage_count - 1];
                int had = stage->group;
                seen.unlike += had != plan->stages[0].group;
                stage->group = (had + 1) % plan->group_count;
                if (stage->group != had) {
                    if (!refusals(&p, plan, &own_arena, &first))
                        fail_msg("problem %d: another width is accepted", i);
                    seen.forged++;
                }
            }
        }
        arena_reset(&own_arena, mark);
    }
    print_message("%d priced (%d with measured times, %d with bytes by degrees), %d plans accepted "
                  "(%d with unlike stages), %d forged "
                  "ones refused, %d runs of seats as in the uniform layout\n",
                  seen.priced, seen.timed, seen.measured, seen.planned, seen.unlike, seen.forged,
                  seen.alike);
    assert_true(seen.planned > problem_count / 10 && seen.unlike && seen.forged && seen.alike &&
                seen.timed && seen.measured > problem_count / 20);
}

// ---- replicas that take whole micro-batches in turn

// A stage that recomputes some set of its layers: not with another set, nor with layers that are
// not its own or that are named twice.
static void forge_set(const struct problem *p, struct plan_stage *s, struct plan *plan, int i)
{
    const char *first;
    int *had = s->recomputed, count = s->recomputed_count, behind = s->first_layer + s->layer_count;
    int other[64];
    if (!count || count >= 64) return;
    for (int way = 0; way < 4; way++) {
        for (int k = 0; k < count; k++) other[k] = had[k];
        s->recomputed = other, s->recomputed_count = count;
        if (way == 0) s->recomputed_count--;
        if (way == 1) other[count - 1] = behind;
        if (way == 2) other[count] = had[count - 1], s->recomputed_count++, s->recomputed_layers++;
        if (way == 3) s->recomputed_count = s->recomputed_layers = 0;
        if (!refusals(p, plan, &own_arena, &first))
            fail_msg("in turn, problem %d: another set is accepted (%d)", i, way);
        s->recomputed_layers = count;
    }
    s->recomputed = had, s->recomputed_count = count;
    seen.turned_sets++;
}

// The judge finds every price, memory and load of the plan; not those of one with other replicas.
static void check_turned(const struct problem *p, struct plan *plan, int i)
{
    const char *first;
    int replicas = 0, had = plan->stages[0].group;
    if (refusals(p, plan, &own_arena, &first))
        fail_msg("in turn, problem %d: the judge refuses: %s", i, first);
    for (int s = 0; s < plan->stage_count; s++) {
        replicas += plan->widths[plan->stages[s].group].data;
        seen.turned_unlike += s > 0 && plan->stages[s].group != had;
    }
    seen.turned++, seen.turned_deep += replicas > plan->stage_count;
    plan->objective_ns++;
    if (!refusals(p, plan, &own_arena, &first)) fail_msg("problem %d: any load is accepted", i);
    plan->objective_ns--;
    for (int s = 0; s < plan->stage_count; s++) forge_set(p, &plan->stages[s], plan, i);
    plan->stages[0].memory.activation_bytes++;
    if (!refusals(p, plan, &own_arena, &first)) fail_msg("problem %d: any memory is accepted", i);
    plan->stages[0].memory.activation_bytes--;
    for (int g = 0; g < plan->group_count; g++) {
        if (plan->widths[g].data == plan->widths[had].data) continue;
        plan->stages[0].group = g;
        if (!refusals(p, plan, &own_arena, &first))
            fail_msg("problem %d: other replicas are accepted", i);
        seen.turned_forged++;
    }
}

// Whether a stage of the plan begins with such a layer.
static bool is_entered(const struct priced *p, const struct plan *plan)
{
    bool some = false;
    for (int s = 1; s < plan->stage_count; s++)
        some |= p->runs[priced_run_of(p, plan->stages[s].first_layer)].entry_ns != NULL;
    return some;
}

// Leaves a byte less than the plan needs; false: there is no plan.
static bool check_solved(struct problem *p, int i)
{
    struct priced priced;
    struct solve_settings settings;
    struct solve_result r;
    int64_t left = INT64_MAX;
    solve_defaults(&settings);
    settings.progress = 0;
    if (problem_check(p, &(struct error){0}) != OK ||
        price_problem(&priced, p, &own_arena, &(struct error){0}) != OK)
        return false;
    MUST(solve_run(&r, &priced, &settings, NULL, NULL, &own_arena, &own_err));
    seen.turned_entered += is_entered(&priced, &r.plan);
    for (int s = 0; s < r.plan.stage_count; s++) {
        const struct plan_stage *x = &r.plan.stages[s];
        if (x->memory_limit_bytes - memory_total(&x->memory) < left)
            left = x->memory_limit_bytes - memory_total(&x->memory);
    }
    if (r.plan.stage_count) check_turned(p, &r.plan, i);
    p->job.memory_margin_bytes += left + 1;
    return r.plan.stage_count > 0;
}

TEST(test_turned)
{
    enum { TIGHTER = 10 };
    struct random rng = {first_seed ^ UINT64_C(0x7475726e)};
    for (int i = 0; i < problem_count; i++) {
        struct problem p;
        struct priced priced;
        struct arena_mark mark = arena_set_mark(&own_arena);
        bool drawn = draw(&p, &priced, &rng, &own_arena);
        if (drawn) random_turns(&p, i % 2, rng.state, &own_arena);
        for (int k = 0; k < TIGHTER && drawn; k++)
            if (!check_solved(&p, i)) break;
        arena_reset(&own_arena, mark);
    }
    print_message("%d plans in turn (%d unlike stages, %d with several replicas, %d with entries "
                  "of their own), %d stages that recompute some set, %d forged\n",
                  seen.turned, seen.turned_unlike, seen.turned_deep, seen.turned_entered,
                  seen.turned_sets, seen.turned_forged);
    assert_true(seen.turned > problem_count / 40 && seen.turned_unlike && seen.turned_deep &&
                seen.turned_entered && seen.turned_forged);
}

// ---- spaces

enum { SPACE_PLANS_MAX = 4000 };

static void give_axis(struct problem *p, enum space_key key, int first, int count, int factor,
                      struct arena *arena)
{
    struct space_axis *axis = &p->job.space.axes[key];
    axis->kind = AXIS_LIST, axis->count = count;
    axis->values = TAKE(arena, count, int);
    for (int i = 0; i<count; i++, first = factor> 1 ? first * factor : first + 1)
        axis->values[i] = first;
}

struct enumerated {
    const struct problem *problem;
    int64_t best_ns, plans;
    int layouts;
    bool large;
};

static bool enumerate(void *argument, int64_t number, const struct layout *layout)
{
    struct enumerated *x = argument;
    struct problem one = problem_with_layout(x->problem, layout);
    struct priced priced;
    struct schedule schedule;
    struct oracle e;
    (void)number;
    x->layouts++;
    if (problem_check_layout(&one, &(struct error){0}) != OK ||
        price_problem(&priced, &one, &own_arena, &(struct error){0}) != OK)
        return true;
    x->large = oracle_size(&priced, SPACE_PLANS_MAX, &own_arena) > SPACE_PLANS_MAX;
    if (x->large) return false;
    priced_schedule(&schedule, &priced, &own_arena);
    MUST(oracle_answer(&e, &priced, &schedule, &own_arena, &own_err));
    int64_t times = priced.objective == OBJECTIVE_MAX_LOAD ? priced.micro_batches : 1;
    x->plans += e.plans;
    if (e.plans && e.best_ns * times < x->best_ns) x->best_ns = e.best_ns * times;
    return true;
}

// With text in place of what stands first behind `before`; refused for what is given.
static void refuse_space(const struct space_trial *t, const char *before, const char *had,
                         const char *text, const char *what, int i)
{
    struct check_space_result audited;
    const char *why, *at = strstr(t->certificate.text, before);
    if (!at || !(at = strstr(at, had))) fail_msg("space %d: no %s", i, had);
    const char *forged = arena_print(&own_arena, "%.*s%s%s", (int)(at - t->certificate.text),
                                     t->certificate.text, text, at + strlen(had));
    const struct check_text file = {"forged.json", forged, strlen(forged)};
    if (space_trial_audit(t, &file, &audited, &why, &own_arena) && audited.proof.accepted)
        fail_msg("space %d: accepted: %s", i, text);
    if (!strstr(why, what)) fail_msg("space %d: %s: expected \"%s\": %s", i, text, what, why);
    seen.space_forged++;
}

// The certificate proves just the best value of all layouts; another fate of one is refused.
static void certify_space(const struct problem *p, int64_t best_ns, int i)
{
    struct space_trial t = {.problem = *p};
    struct check_space_result audited;
    const char *why;
    space_trial_of_problem(&t, (uint64_t)i, 0, &own_arena);
    if (!t.certificate.text) fail_msg("space %d: no certificate", i);
    if (!space_trial_audit(&t, &t.certificate, &audited, &why, &own_arena) ||
        !audited.proof.accepted)
        fail_msg("space %d: refused: %s", i, why);
    assert_int_equal(audited.proof.infeasible, best_ns == INT64_MAX);
    if (best_ns < INT64_MAX) assert_int_equal(audited.proof.bound_ns, best_ns);
    if (best_ns < INT64_MAX) assert_int_equal(audited.proof.iteration_ns, best_ns);
    seen.certified++, seen.turned_spaces += t.space.in_turn;
    const char *fates = strstr(t.certificate.text, "\"fates\": \"") + strlen("\"fates\": \"");
    const char *proven = *fates == 'p' ? "p" : " p", *end = strchr(fates, '"');
    const char *first = strstr(fates, proven);
    if (!first || first > end) return;
    const char *others[] = {"r", "b", "m", "g"};
    for (int k = 0; k < 4; k++)
        refuse_space(&t, "\"fates\": \"", proven,
                     arena_print(&own_arena, "%s%s", *fates == 'p' ? "" : " ", others[k]), "layout",
                     i);
}

static void check_space(struct problem *p, int i)
{
    struct space_limits limits = problem_space_limits(p);
    struct enumerated all = {.problem = p, .best_ns = INT64_MAX};
    struct layouts_result r;
    const char *first;
    space_each(&p->job.space, &limits, enumerate, &all);
    if (all.large) return;
    spaces_search(&r, p, 0, 0, 0, NULL, &own_arena);
    const struct plan *plan = &r.solved.plan;
    assert_int_equal(r.layouts.count, all.layouts);
    if ((plan->stage_count > 0) != (all.plans > 0) ||
        (all.plans && spaces_value(plan) != all.best_ns))
        fail_msg("space %d: found %lld ns, the best is %lld", i, (long long)spaces_value(plan),
                 (long long)all.best_ns);
    assert_true(r.solved.finished);
    seen.spaces++, seen.without += !all.plans;
    seen.loads += p->job.objective == OBJECTIVE_MAX_LOAD;
    seen.by_group += p->job.stage_degrees == DEGREES_PER_GROUP;
    certify_space(p, all.best_ns, i);
    if (!all.plans) return;
    assert_int_equal(plan_value_ns(plan), plan->bound_ns);
    seen.of_layout[plan->layout.pipeline]++;
    if (refusals(p, plan, &own_arena, &first))
        fail_msg("space %d: the judge refuses: %s", i, first);
}

// Of numbers of stages; each one's plans are enumerated by test_turns.
static void certify_turned(struct problem *p, int i)
{
    struct layouts_result r;
    p->job.space = (struct space){.given = true, .fewer_devices = true};
    give_axis(p, SPACE_PIPELINE, 1, 3, 1, &own_arena);
    if (problem_check(p, &(struct error){0}) != OK) return;
    spaces_search(&r, p, 0, 0, 0, NULL, &own_arena);
    const struct plan *plan = &r.solved.plan;
    certify_space(p, plan->stage_count ? spaces_value(plan) : INT64_MAX, i);
}

TEST(test_turned_spaces)
{
    struct random rng = {first_seed ^ UINT64_C(0x7475726e)};
    int before = seen.certified;
    for (int i = 0; i < problem_count; i++) {
        struct problem p;
        struct priced priced;
        struct arena_mark mark = arena_set_mark(&own_arena);
        if (draw(&p, &priced, &rng, &own_arena)) {
            random_turns(&p, i % 2, rng.state, &own_arena);
            certify_turned(&p, i);
        }
        arena_reset(&own_arena, mark);
    }
    print_message("%d spaces in turn certified\n", seen.certified - before);
    assert_true(seen.turned_spaces && seen.turned_spaces == seen.certified - before);
}

TEST(test_spaces)
{
    struct random rng = {first_seed ^ UINT64_C(0x73706163)};
    for (int i = 0; i < problem_count; i++) {
        struct problem p;
        struct priced priced;
        struct arena_mark mark = arena_set_mark(&own_arena);
        if (draw(&p, &priced, &rng, &own_arena)) {
            struct job *j = &p.job;
            if (i % 3 == 0) j->stage_degrees = DEGREES_PER_GROUP;
            if (i % 5 == 0) j->objective = OBJECTIVE_MAX_LOAD;
            j->space = (struct space){.given = true, .fewer_devices = true};
            give_axis(&p, SPACE_PIPELINE, 1, 3, 1, &own_arena);
            give_axis(&p, SPACE_MICRO_BATCH, j->layout.micro_batch, 2, 2, &own_arena);
            if (i % 4 == 1) j->space.axes[SPACE_SCHEDULE].kind = AXIS_ALL;
            if (problem_check(&p, &(struct error){0}) == OK) check_space(&p, i);
        }
        arena_reset(&own_arena, mark);
    }
    print_message(
        "%d spaces (%d without a plan, %d with one width for each node group, %d of "
        "loads): best with 1, 2, 3 stages %d, %d, %d; %d certified, %d forgeries refused\n",
        seen.spaces, seen.without, seen.by_group, seen.loads, seen.of_layout[1], seen.of_layout[2],
        seen.of_layout[3], seen.certified, seen.space_forged);
    assert_true(seen.spaces > problem_count / 20 && seen.without && seen.by_group && seen.loads &&
                seen.of_layout[1] && seen.of_layout[2] && seen.of_layout[3]);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
