// How many micro-batches each stage has in flight. A simulation of its own says which lists can be
// executed, that the last stage needs no second one, that more on the first is never slower, and
// that more on one between may be (so the choice is a search). Random problems with every list:
// each layout is solved by itself, and enumerated; the search finds the best, its certificate is
// accepted and proves that time. No plan is accepted with another list, and no certificate with a
// higher bound. usage: test_in_flight [PROBLEMS] [SEED]
#include "data/kinds/in_flight.h"
#include "formulate/price/price.h"
#include "solve/checker/prices/prices.h"
#include "solve/checker/space/arguments.h"
#include "solve/judge/verify.h"
#include "solve/layouts/bound.h"
#include "tests/support/check.h"
#include "tests/support/forge.h"
#include "tests/support/spaces.h"
#include "tests/support/trials/kind_trials.h"

enum { STAGES = 4, BATCHES = 8, MOST = 5 };

static int problem_count = 60;
static uint64_t first_seed = 1;

// ---- a pipeline of its own: stages that do F1 .. Fd, then B and F in turn; messages take a time

struct line {
    int stages, batches, depth[STAGES];
    int64_t forward[STAGES], backward[STAGES], there[STAGES], back[STAGES];
};

struct done {
    int64_t forward[STAGES][BATCHES], backward[STAGES][BATCHES], free[STAGES];
    int forwards[STAGES], backwards[STAGES];
};

static bool goes_forward(const struct line *l, const struct done *d, int s)
{
    return d->forwards[s] < l->batches && d->forwards[s] - d->backwards[s] < l->depth[s];
}

// One pass of the stage, if what it needs has been sent to it.
static bool step(const struct line *l, struct done *d, int s)
{
    bool forward = goes_forward(l, d, s);
    int n = forward ? d->forwards[s] : d->backwards[s];
    int64_t at = d->free[s], sent = 0;
    if (n == l->batches) return false;
    if (forward && s > 0) {
        if (d->forwards[s - 1] <= n) return false;
        sent = d->forward[s - 1][n] + l->there[s - 1];
    }
    if (!forward && s < l->stages - 1) {
        if (d->backwards[s + 1] <= n) return false;
        sent = d->backward[s + 1][n] + l->back[s];
    }
    if (sent > at) at = sent;
    at += forward ? l->forward[s] : l->backward[s];
    *(forward ? &d->forward[s][n] : &d->backward[s][n]) = d->free[s] = at;
    *(forward ? &d->forwards[s] : &d->backwards[s]) += 1;
    return true;
}

// -1: the stages wait for each other for ever.
static int64_t time_of(const struct line *l)
{
    struct done d = {0};
    bool moved = true;
    while (moved) {
        moved = false;
        for (int s = 0; s < l->stages; s++) moved = step(l, &d, s) || moved;
    }
    for (int s = 0; s < l->stages; s++)
        if (d.backwards[s] < l->batches) return -1;
    return d.free[0];
}

static bool next_of_all(struct line *l)
{
    int s = 0;
    while (s < l->stages && l->depth[s] == MOST) l->depth[s++] = 1;
    if (s == l->stages) return false;
    l->depth[s]++;
    return true;
}

static bool rises(const struct line *l)
{
    for (int s = 1; s < l->stages; s++) {
        int here = l->depth[s] < l->batches ? l->depth[s] : l->batches;
        if (here > l->depth[s - 1]) return true;
    }
    return false;
}

TEST(lists_that_never_rise_are_those_that_end)
{
    int ended = 0, stuck = 0;
    for (int stages = 1; stages <= STAGES; stages++)
        for (int batches = 1; batches <= 6; batches++) {
            struct line l = {.stages = stages, .batches = batches};
            for (int s = 0; s < stages; s++) l.forward[s] = l.backward[s] = l.depth[s] = 1;
            do {
                bool ends = time_of(&l) >= 0;
                if (ends == rises(&l)) fail_msg("%d stages, %d micro-batches", stages, batches);
                *(ends ? &ended : &stuck) += 1;
            } while (next_of_all(&l));
        }
    print_message("%d lists end, %d wait for ever\n", ended, stuck);
    assert_true(ended > 500 && stuck > 500);
}

// The walk's lists, in order: those that never rise and end with 1.
TEST(walk_has_every_list_once)
{
    for (int stages = 1; stages <= STAGES; stages++) {
        struct line l = {.stages = stages, .batches = BATCHES};
        unsigned char list[8], before[8] = {0};
        int wanted = 0, found = 0;
        for (int s = 0; s < stages; s++) l.depth[s] = 1;
        do wanted += !rises(&l) && l.depth[stages - 1] == 1;
        while (next_of_all(&l));
        memset(list, 0, sizeof list), memset(list, 1, (size_t)stages);
        do {
            assert_true(in_flight_fits(list, stages, 8) && memcmp(before, list, sizeof list) < 0);
            memcpy(before, list, sizeof list), found++;
        } while (in_flight_next(list, stages, MOST));
        assert_int_equal(found, wanted);
    }
}

static struct line draw_line(struct random *rng)
{
    struct line l = {.stages = (int)random_between(rng, 2, STAGES),
                     .batches = (int)random_between(rng, 1, BATCHES)};
    for (int s = 0; s < l.stages; s++) {
        l.forward[s] = random_between(rng, 1, 9), l.backward[s] = random_between(rng, 1, 9);
        l.there[s] = random_between(rng, 0, 12), l.back[s] = random_between(rng, 0, 12);
    }
    for (int s = l.stages - 1; s >= 0; s--)
        l.depth[s] = (s < l.stages - 1 ? l.depth[s + 1] : 1) + (int)random_between(rng, 0, 3);
    return l;
}

// One more on a stage, where the one before has more: on the first it never takes longer, elsewhere
// it may.
static int64_t one_more(const struct line *l, int s)
{
    struct line more = *l;
    more.depth[s]++;
    return time_of(&more);
}

TEST(last_stage_needs_one_and_the_first_all)
{
    struct random rng = {4711};
    int better = 0, faster = 0, slower = 0;
    for (int i = 0; i < 20000; i++) {
        struct line l = draw_line(&rng), one = l;
        one.depth[l.stages - 1] = 1;
        int64_t takes = time_of(&l), least = time_of(&one);
        assert_true(least >= 0 && least <= takes);
        better += least < takes;
        assert_true(one_more(&one, 0) <= least);
        for (int s = 1; s < l.stages - 1; s++) {
            if (one.depth[s] == one.depth[s - 1]) continue;
            faster += one_more(&one, s)<least, slower += one_more(&one, s)> least;
        }
    }
    print_message("one on the last stage: %d of 20000 take less; one more on one between: %d take "
                  "less, %d longer\n",
                  better, faster, slower);
    assert_true(better > 1000 && faster > 100 && slower > 100);
}

// ---- the program

static bool has_list(const struct layout *l) { return l->in_flight[0] > 0; }

TEST(best_lists_are_found_and_proven)
{
    struct kind_trials x = {
        .what = "with a list in flight", .open = space_trial_of_in_flight, .is_kind = has_list};
    for (int i = 0; i < problem_count; i++) kind_trial(&x, first_seed + (uint64_t)i);
    kind_trials_print(&x);
    assert_true(x.plans > problem_count / 3 && x.chosen > 0 && x.of_kind > problem_count);
}

// The plan with each other list that never rises.
static int forge_plan(struct space_trial *t, uint64_t seed, struct arena *arena)
{
    struct plan plan = t->found.solved.plan;
    const struct layout own = plan.layout;
    struct layout *l = &plan.layout;
    unsigned char list[LISTED_STAGES_MAX] = {0};
    int forged = 0;
    if (!plan.stage_count || own.pipeline < 2) return 0;
    memset(list, 1, (size_t)own.pipeline);
    do {
        struct verdict verdict;
        memcpy(l->in_flight, list, sizeof list);
        in_flight_settle(l->in_flight, l->pipeline, plan.micro_batches);
        MUST(verify_plan(&verdict, &plan, &t->problem, arena, &own_err));
        if (layout_equal(l, &own) && !verdict.accepted)
            fail_msg("seed %llu: the plan itself is refused: %s", (unsigned long long)seed,
                     verdict.violations[0].text);
        forged += !verdict.accepted;
    } while (
        in_flight_next(list, l->pipeline, plan.micro_batches < MOST ? plan.micro_batches : MOST));
    return forged;
}

static bool forged_bound_refused(struct space_trial *t, double more, struct arena *arena)
{
    const char *why;
    struct check_space_result audited;
    cJSON *root = cJSON_Parse(t->certificate.text), *space = get(root, "space");
    set_number(space, "bound_ns", (double)t->alone.best_ns + more);
    drop(space, "chosen"), drop(space, "iteration_ns");
    char *text = cJSON_Print(root);
    struct check_text forged = {"forged.json", text, strlen(text)};
    bool accepted = space_trial_audit(t, &forged, &audited, &why, arena) && audited.proof.accepted;
    free(text), cJSON_Delete(root);
    return !accepted;
}

TEST(forged_lists_are_refused)
{
    int plans = 0, bounds = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (uint64_t seed = 1; seed <= 60; seed++, arena_reset(arena, mark)) {
        struct space_trial t;
        space_trial_of_in_flight(&t, seed, 0, arena);
        if (t.found.solved.plan.layout.schedule != t.problem.job.layout.schedule ||
            !t.found.solved.plan.stage_count)
            continue;
        plans += forge_plan(&t, seed, arena);
        if (!forged_bound_refused(&t, 1, arena))
            fail_msg("seed %llu: bound", (unsigned long long)seed);
        bounds++;
    }
    print_message("%d forged lists and %d forged bounds refused\n", plans, bounds);
    assert_true(plans > 40 && bounds > 10);
}

// ---- what planner and checker say of each list, after all others, in either order

struct sounding {
    const struct problem *problem;
    struct spaces_alone alone;
    struct check_layout *of_checker;
    struct layout *of_planner;
    int64_t count;
    struct check_layouts x;
    struct kept_cache kept;
    int64_t asked, without_room, reached;
};

static bool keep_own(void *argument, int64_t number, const struct layout *layout)
{
    struct sounding *s = argument;
    s->of_planner[number] = *layout;
    return true;
}

static bool keep_checked(void *argument, int64_t number, const struct check_layout *layout)
{
    struct sounding *s = argument;
    s->of_checker[number] = *layout;
    return true;
}

static void sound_planner(struct sounding *s, int64_t i, int64_t best_ns)
{
    struct problem one = problem_with_layout(s->problem, &s->of_planner[i]);
    struct priced priced;
    struct layout_sketch sketch;
    const char *why;
    MUST(price_problem(&priced, &one, &own_arena, &own_err));
    if (!layout_sketch(&sketch, &priced, &s->kept, &why)) return;
    for (int r = 0; r < one.job.layout.pipeline && one.job.layout.in_flight[0]; r++) {
        int depth = one.job.layout.in_flight[r], all = priced.micro_batches;
        assert_int_equal(sketch.kept[r].by_turn[0], depth < all ? depth : all);
    }
    if (layout_missing_bytes(&sketch) > 0) {
        if (best_ns) fail_msg("layout %d has a plan, the planner says no room", (int)i);
        return;
    }
    int64_t bound_ns = layout_filling_bound(&sketch, INT64_MAX);
    if (best_ns && (bound_ns > best_ns || layout_average_bound(&sketch) > best_ns))
        fail_msg("layout %d: %lld ns, a plan takes %lld", (int)i, (long long)bound_ns,
                 (long long)best_ns);
}

static void sound_checker(struct sounding *s, int64_t i, int64_t best_ns)
{
    bool holds;
    const char *why;
    MUST(check_fate_holds(&s->x, &s->of_checker[i], FATE_IS_MEMORY, &holds, &why));
    if (holds && best_ns) fail_msg("layout %d has a plan, the checker says no room", (int)i);
    s->without_room += holds;
    if (!best_ns) return;
    s->x.bound_ns = best_ns + 1;
    MUST(check_fate_holds(&s->x, &s->of_checker[i], FATE_IS_BOUND, &holds, &why));
    if (holds)
        fail_msg("layout %d: more than %lld ns, that a plan takes", (int)i, (long long)best_ns);
    s->x.bound_ns = best_ns / 10 * 8;
    MUST(check_fate_holds(&s->x, &s->of_checker[i], FATE_IS_BOUND, &holds, &why));
    s->reached += holds;
    s->asked++;
}

static void sound_all(struct sounding *s, bool backwards)
{
    struct arena scratch;
    struct check_space space;
    struct check_pricer pricer;
    uint64_t work = UINT64_MAX / 2;
    arena_open(&scratch, NULL);
    space_read(&space, s->problem, &own_arena);
    MUST(space_pricer_open(&pricer, s->problem, &own_arena, &own_err));
    s->x =
        (struct check_layouts){.space = &space,
                               .pricer = &pricer,
                               .reader = {"prices", &own_err},
                               .held = {.work = &work, .arena = &own_arena, .scratch = &scratch}};
    s->kept = (struct kept_cache){.arena = &own_arena};
    for (int64_t k = 0; k < s->count; k++) {
        int64_t i = backwards ? s->count - 1 - k : k;
        if (s->alone.refused[i]) continue;
        sound_checker(s, i, s->alone.optimum_ns[i]);
        sound_planner(s, i, s->alone.optimum_ns[i]);
    }
    arena_close(&scratch);
}

// Memory in which the best plan of some layout just fits, so that others' lists may not.
static bool tighten(struct problem *p, const struct layout *layout)
{
    struct problem one = problem_with_layout(p, layout);
    struct priced priced;
    struct solve_result r;
    struct solve_settings settings;
    int64_t left = INT64_MAX;
    solve_defaults(&settings);
    settings.progress = 0;
    MUST(price_problem(&priced, &one, &own_arena, &own_err));
    MUST(solve_run(&r, &priced, &settings, NULL, NULL, &own_arena, &own_err));
    for (int s = 0; s < r.plan.stage_count; s++) {
        const struct plan_stage *x = &r.plan.stages[s];
        if (x->memory_limit_bytes - memory_total(&x->memory) < left)
            left = x->memory_limit_bytes - memory_total(&x->memory);
    }
    if (r.plan.stage_count) p->job.memory_margin_bytes += left;
    return problem_check(p, &(struct error){0}) == OK;
}

// Of two stages, with many more in flight than there are stages, over links that take as long as
// several passes.
static void make_deep(struct problem *p, struct random *rng)
{
    struct layout *l = &p->job.layout;
    struct priced priced;
    double passes_ns = 0;
    l->pipeline = 2;
    for (enum space_key key = 0; key < SPACE_KEY_COUNT; key++)
        p->job.space.axes[key].kind = AXIS_FIXED;
    p->job.space.in_flight_max = 20;
    p->job.global_batch = (int64_t)l->micro_batch * l->data * 20;
    if (problem_check(p, &own_err) || price_problem(&priced, p, &own_arena, &own_err)) return;
    for (int r = 0; r < priced.run_count; r++)
        passes_ns += priced.runs[r].count *
                     (double)(priced.runs[r].forward_ns[0] + priced.runs[r].backward_ns[0]);
    double latency_s = passes_ns / 2e9 * (double)random_between(rng, 1, 80) / 10;
    for (int g = 0; g < p->cluster.group_count; g++) {
        struct node_group *of = &p->cluster.groups[g];
        of->intra.latency_s = latency_s;
        for (int k = 0; k < of->nic_count; k++) of->nics[k].link.latency_s = latency_s;
    }
}

TEST(no_list_is_said_to_take_more_than_its_best_plan)
{
    struct random rng = {first_seed * 7919 + 11};
    struct arena_mark mark = arena_set_mark(&own_arena);
    struct sounding s = {.asked = 0};
    int tight = 0, deep = 0;
    for (int i = 0; i < problem_count; i++, arena_reset(&own_arena, mark)) {
        struct problem p;
        spaces_draw_in_flight(&p, &rng, &own_arena);
        struct problem before = p;
        if (i % 3 == 0) make_deep(&p, &rng);
        if (problem_check(&p, &(struct error){0}) != OK) p = before;
        else deep += i % 3 == 0;
        s.problem = &p, s.count = spaces_count(&p);
        if (!s.count) continue;
        s.of_planner = TAKE(&own_arena, s.count, struct layout);
        s.of_checker = TAKE(&own_arena, s.count, struct check_layout);
        struct space_limits limits = problem_space_limits(&p);
        struct check_space space;
        space_read(&space, &p, &own_arena);
        space_each(&p.job.space, &limits, keep_own, &s);
        assert_int_equal(check_space_walk(&space, keep_checked, &s), s.count);
        spaces_solve(&s.alone, &p, &own_arena);
        int64_t from = (int64_t)random_between(&rng, 0, s.count - 1);
        while (from > 0 && (s.alone.refused[from] || !s.alone.optimum_ns[from])) from--;
        before = p;
        if (s.alone.optimum_ns[from] && tighten(&p, &s.of_planner[from])) {
            spaces_solve(&s.alone, &p, &own_arena), tight++;
        } else p = before;
        sound_all(&s, false), sound_all(&s, true);
    }
    print_message("%d spaces tight, %d deep; %lld times asked, %lld without room, of %lld 80 %% "
                  "follows\n",
                  tight, deep, (long long)s.asked, (long long)s.without_room, (long long)s.reached);
    assert_true(tight > problem_count / 4 && deep > problem_count / 10 && s.without_room &&
                s.asked > problem_count && s.reached);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
