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
#include "tests/support/oracle/oracle.h"
#include "tests/support/random_priced.h"
#include "tests/support/spaces.h"

static int problem_count = 400;
static uint64_t first_seed = 1;
static struct {
    int priced, planned, unlike, forged, alike, timed, measured;
    int spaces, without, of_layout[8], by_group, loads;
    int turned, turned_unlike, turned_deep, turned_forged, turned_entered, turned_sets;
} seen;

static int *list_of(struct random *rng, int *count, const int *from, int most, struct arena *arena)
{
    int *to = TAKE(arena, most, int);
    *count = 0;
    for (int i = 0; i < most; i++)
        if (random_chance(rng, 60)) to[(*count)++] = from[i];
    return to;
}

// Measured layers, some for one tensor degree or micro-batch alone, from numbers of their own.
static void draw_times(struct problem *p, struct random own, struct arena *arena)
{
    enum { TIMES = 24 };
    struct costs *c = &p->costs;
    const struct model *m = &p->model;
    if (random_chance(&own, 50)) return;
    c->layer_times = TAKE(arena, TIMES, struct layer_time);
    c->layer_time_count = (int)random_between(&own, 1, TIMES);
    for (int i = 0; i < c->layer_time_count; i++) {
        int64_t group = random_between(&own, 0, p->cluster.group_count - 1);
        double forward = 1e-9 * (double)random_between(&own, 50, 2000);
        c->layer_times[i] =
            (struct layer_time){.run = m->runs[random_between(&own, 0, m->run_count - 1)].name,
                                .gpu = p->cluster.groups[group].gpu,
                                .tensor = random_between(&own, 0, 2),
                                .micro_batch = random_between(&own, 0, 4),
                                .data = random_between(&own, 0, 7) / 5,
                                .context = random_between(&own, 0, 9) / 8,
                                .forward_s = forward,
                                .backward_s = 2 * forward,
                                .selective_s = forward / 4,
                                .full_s = forward,
                                .optimizer_s = 1e-9 * (double)random_between(&own, 0, 500)};
    }
}

static struct measured_bytes draw_bytes(struct random *own)
{
    struct measured_bytes b = {.weight_bytes = random_between(own, 0, 20000),
                               .gradient_bytes = random_between(own, 0, 20000),
                               .optimizer_bytes = random_between(own, 0, 40000),
                               .boundary_bytes = random_between(own, 1, 10000)};
    for (int mode = 0; mode < 3; mode++) {
        b.stash_bytes[mode] = random_between(own, 0, 10000);
        b.working_bytes[mode] = random_between(own, 0, 10000);
    }
    return b;
}

// Of some problems the blocks state their bytes, most of them by degrees, and their times.
static void measure_blocks(struct problem *p, struct random own, struct arena *arena)
{
    enum { ENTRIES = 5 };
    struct costs *c = &p->costs;
    struct model *m = &p->model;
    int times = c->layer_time_count, all = times + m->run_count * p->cluster.group_count;
    if (random_chance(&own, 40)) return;
    struct layer_time *to = TAKE(arena, all, struct layer_time);
    for (int i = 0; i < times; i++) to[i] = c->layer_times[i];
    m->runs = TAKE_COPY(arena, m->runs, m->run_count);
    for (int r = 0; r < m->run_count; r++) {
        struct layer_run *run = &m->runs[r];
        if (run->kind != LAYER_BLOCK) continue;
        struct measured_bytes *entries = TAKE(arena, ENTRIES, struct measured_bytes);
        *run = (struct layer_run){.name = run->name,
                                  .kind = LAYER_MEASURED,
                                  .count = run->count,
                                  .recomputable = run->recomputable,
                                  .measured = draw_bytes(&own)};
        run->measured.by_degrees = entries;
        run->measured.by_degrees_count = (int)random_between(&own, 0, ENTRIES);
        for (int i = 0; i < ENTRIES; i++) {
            entries[i] = draw_bytes(&own);
            int *when[] = {&entries[i].data, &entries[i].tensor, &entries[i].micro_batch,
                           &entries[i].context};
            *when[random_between(&own, 0, 7) % 5 % 4] = (int)random_between(&own, 1, 2);
        }
        for (int g = 0; g < p->cluster.group_count; g++)
            to[times++] = (struct layer_time){.run = run->name,
                                              .gpu = p->cluster.groups[g].gpu,
                                              .forward_s = 1e-6,
                                              .backward_s = 2e-6,
                                              .selective_s = 1e-7,
                                              .full_s = 1e-6};
    }
    c->layer_times = to, c->layer_time_count = times;
}

// The problem with lists of widths in place of its degrees; false: it has none that fit.
static bool widen(struct problem *p, struct random *rng, struct arena *arena)
{
    static const int degrees[] = {1, 2, 4};
    struct job *j = &p->job;
    struct layout *l = &j->layout;
    struct width_list *lists = TAKE(arena, p->cluster.group_count, struct width_list);
    j->boundary_option_count = j->gradient_option_count = j->offload_percent_count = 0;
    j->recompute[RECOMPUTE_SWAP] = false;
    l->tensor = l->context = l->data = l->expert = 1, l->expert_tensor = 0;
    l->grid_depth = l->grid_rows = 0;
    l->fused_embedding_sync = false;
    l->micro_batch = 1 << random_between(rng, 0, 2);
    j->global_batch = (int64_t)l->micro_batch * random_between(rng, 1, 6);
    j->rule_count = 0;
    for (int g = 0; g < p->cluster.group_count; g++) {
        struct width_list *w = &lists[g];
        w->groups = TAKE(arena, 1, const char *);
        w->groups[0] = p->cluster.groups[g].name, w->group_count = 1;
        p->cluster.groups[g].gpus_per_node = 1 << random_between(rng, 0, 3);
        w->tensor = list_of(rng, &w->tensor_count, degrees, 2, arena);
        w->context = list_of(rng, &w->context_count, degrees, 1, arena);
        w->data = list_of(rng, &w->data_count, degrees, 3, arena);
    }
    j->widths = lists, j->width_list_count = p->cluster.group_count;
    j->stage_degrees = DEGREES_PER_STAGE;
    draw_times(p, (struct random){rng->state ^ UINT64_C(0x74696d6573)}, arena);
    measure_blocks(p, (struct random){rng->state ^ UINT64_C(0x6279746573)}, arena);
    return problem_check(p, &(struct error){0}) == OK;
}

static bool draw(struct problem *p, struct priced *priced, struct random *rng, struct arena *arena)
{
    struct random_limits limits = random_limits_small();
    limits.flavour = FLAVOUR_SHAPE;
    *p = (struct problem){0};
    random_problem(p, rng, &limits, arena);
    return widen(p, rng, arena) && price_problem(priced, p, arena, &(struct error){0}) == OK;
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

// Some measured layers state what a stage that begins with them pays for its input, at each width.
static void state_entries(struct problem *p, struct random own, struct arena *arena)
{
    for (int r = 0; r < p->model.run_count; r++) {
        struct measured_bytes *m = &p->model.runs[r].measured, *entries;
        if (p->model.runs[r].kind != LAYER_MEASURED || random_chance(&own, 30)) continue;
        m->by_degrees = entries = TAKE_COPY(arena, m->by_degrees, m->by_degrees_count);
        m->entry_bytes = random_between(&own, 1, 100000);
        for (int i = 0; i < m->by_degrees_count; i++)
            entries[i].entry_bytes = random_between(&own, 1, 100000);
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
        p.job.replicas = REPLICAS_IN_TURN, p.job.objective = OBJECTIVE_MAX_LOAD;
        p.job.layout.schedule = SCHEDULE_1F1B, p.job.layout.micro_batch = 1;
        p.job.global_batch = 8, p.job.layout.sequence_parallel = true;
        if (i % 2) p.job.recompute_any = p.job.recompute[RECOMPUTE_FULL] = true;
        if (drawn)
            state_entries(&p, (struct random){rng.state ^ UINT64_C(0x656e747279)}, &own_arena);
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
    if (!all.plans) return;
    assert_int_equal(plan_value_ns(plan), plan->bound_ns);
    seen.of_layout[plan->layout.pipeline]++;
    if (refusals(p, plan, &own_arena, &first))
        fail_msg("space %d: the judge refuses: %s", i, first);
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
            if (problem_check(&p, &(struct error){0}) == OK) check_space(&p, i);
        }
        arena_reset(&own_arena, mark);
    }
    print_message("%d spaces (%d without a plan, %d with one width for each node group, %d of "
                  "loads): best with 1, 2, 3 stages %d, %d, %d\n",
                  seen.spaces, seen.without, seen.by_group, seen.loads, seen.of_layout[1],
                  seen.of_layout[2], seen.of_layout[3]);
    assert_true(seen.spaces > problem_count / 20 && seen.without && seen.by_group && seen.loads &&
                seen.of_layout[1] && seen.of_layout[2] && seen.of_layout[3]);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
