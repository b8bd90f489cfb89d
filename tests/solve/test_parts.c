// A space searched in parts, and with interruptions: whatever the order of the parts, however often
// a search is stopped, and whether or not the parts exchange plans, their joint result is the least
// of all layouts' own best times, and no bound on the way is above it. The proofs of parts join
// into a certificate of the whole. False known bounds are refused if a plan shows that they are
// false.
//
//   test_parts [PROBLEMS] [SEED]
#include "solve/certificate/certificate.h"
#include "tests/support/check.h"
#include "tests/support/trials/space_trials.h"

enum { PARTS_MOST = 5, STOPS_MOST = 200 };

static int problem_count = 40;
static uint64_t first_seed = 1;
static struct {
    int64_t spaces, plans, heard, stops, joined, taken_over, refused;
} seen;

struct trial {
    struct space_trial space;
    struct random rng;
    struct source sources[SPACE_SOURCES];
    struct plan best; // that all parts can hear of; its time a value
    bool shares;
    int rounds_left; // until it is stopped; -1: never
    volatile int stop;
    struct arena *arena;
};

static bool exchange(void *argument, const struct plan *best, struct plan *theirs,
                     struct arena *arena)
{
    struct trial *t = argument;
    (void)arena;
    if (t->rounds_left >= 0 && t->rounds_left-- == 0) t->stop = 1;
    if (!t->shares) return false;
    bool mine = best->stage_count &&
                (!t->best.stage_count || best->iteration_ns < t->best.iteration_ns);
    if (mine) t->best = *best;
    bool better = t->best.stage_count &&
                  (!best->stage_count || t->best.iteration_ns < best->iteration_ns);
    if (better) *theirs = t->best, seen.heard++;
    return better;
}

static enum status search(struct trial *t, struct layouts_result *r, struct layouts_task *task,
                          struct error *err)
{
    struct solve_settings settings;
    solve_defaults(&settings);
    settings.progress = 0;
    task->exchange = exchange, task->argument = t;
    t->stop = 0;
    return layouts_search(r, &t->space.problem, &settings, task, &t->stop, t->arena, err);
}

// What a search left, for the next one to begin with.
static void take_over(struct layouts_task *task, const struct layouts_result *r)
{
    task->known = &r->layouts;
    if (!r->solved.plan.stage_count) return;
    if (task->plan.stage_count && task->plan.iteration_ns <= r->layouts.iteration_ns) return;
    task->plan = r->solved.plan;
    task->plan.iteration_ns = r->layouts.iteration_ns;
}

static void expect_true_bounds(const struct trial *t, const struct layouts_result *r)
{
    const struct spaces_alone *alone = &t->space.alone;
    for (int64_t i = 0; i < r->layouts.count; i++) {
        int64_t own = alone->optimum_ns[i];
        if (!own) continue; // without a plan
        assert_false(layout_fate_has_no_plan(layouts_fate(&r->layouts, i)));
        assert_true(r->layouts.value[i] <= own);
    }
    if (alone->best_ns < INT64_MAX) assert_true(r->layouts.bound_ns <= alone->best_ns);
}

static void expect_whole(const struct trial *t, const struct layouts_result *r)
{
    int64_t best_ns = t->space.alone.best_ns;
    assert_true(r->solved.finished);
    if (best_ns == INT64_MAX) {
        assert_int_equal(r->solved.plan.outcome, OUTCOME_INFEASIBLE);
        return;
    }
    assert_int_equal(r->layouts.iteration_ns, best_ns);
    assert_int_equal(r->layouts.bound_ns, best_ns);
    seen.plans++;
}

// ---- stopped again and again

static void stop_again_and_again(struct trial *t)
{
    struct layouts_task task = {0};
    struct error err = {OK, ""};
    struct layouts_result *r = NULL;
    bool finished = false;
    t->shares = false;
    for (int stops = 0; !finished; stops++) {
        r = TAKE(t->arena, 1, struct layouts_result);
        assert_true(stops < STOPS_MOST);
        t->rounds_left = stops; // at first before the scan
        CHECK_OK(search(t, r, &task, &err));
        expect_true_bounds(t, r);
        finished = r->solved.finished;
        seen.stops += !finished;
        take_over(&task, r);
    }
    expect_whole(t, r);
}

// ---- in parts

static void certify_part(struct trial *t, const struct layouts_result *r,
                         const struct layouts_task *task, struct part_text *text)
{
    struct solve_settings settings;
    solve_defaults(&settings);
    struct certificate_space_result made;
    const struct certificate_space_request request = {.problem = &t->space.problem,
                                                      .found = r,
                                                      .settings = &settings,
                                                      .sources = t->sources,
                                                      .source_count = SPACE_SOURCES,
                                                      .part = task->part};
    MUST(certificate_space_make(&made, &request, t->arena, &own_err));
    assert_non_null(made.text);
    *text = (struct part_text){"part", made.text, made.size};
}

static void expect_joined(struct trial *t, const struct layouts_result *whole,
                          const struct part_text *texts, int count)
{
    struct solve_settings settings;
    solve_defaults(&settings);
    struct certificate_space_result made;
    struct check_space_result audited;
    const char *why;
    const struct certificate_space_request request = {.problem = &t->space.problem,
                                                      .found = whole,
                                                      .settings = &settings,
                                                      .sources = t->sources,
                                                      .source_count = SPACE_SOURCES,
                                                      .parts = texts,
                                                      .part_count = count};
    MUST(certificate_space_make(&made, &request, t->arena, &own_err));
    assert_non_null(made.text);
    const struct check_text text = {"joined", made.text, made.size};
    if (!space_trial_audit(&t->space, &text, &audited, &why, t->arena) || !audited.proof.accepted)
        fail_msg("the joined certificate is refused: %s", why);
    if (whole->solved.plan.stage_count)
        assert_int_equal(audited.proof.bound_ns, t->space.alone.best_ns);
    else assert_true(audited.proof.infeasible);
    seen.joined++;
    seen.taken_over += made.joined;
}

// Some parts are left out of the join: the whole then finds their arguments itself.
static void search_in_parts(struct trial *t, bool certified)
{
    struct layouts_task whole = {0};
    struct layouts_result *all = NULL, *r = TAKE(t->arena, 1, struct layouts_result);
    struct part_text texts[PARTS_MOST];
    int parts = (int)random_between(&t->rng, 1, PARTS_MOST), text_count = 0;
    int first = (int)random_between(&t->rng, 0, parts - 1);
    t->rounds_left = -1, t->shares = random_chance(&t->rng, 50);
    for (int i = 0; i < parts; i++) {
        struct layouts_task task = {.part = {(first + i) % parts, parts}};
        struct layouts_result *part = TAKE(t->arena, 1, struct layouts_result);
        MUST(search(t, part, &task, &own_err));
        assert_true(part->solved.finished);
        expect_true_bounds(t, part);
        if (certified && random_chance(&t->rng, 75))
            certify_part(t, part, &task, &texts[text_count++]);
        if (all) layouts_take(&all->layouts, &part->layouts, t->arena);
        else all = part;
        take_over(&whole, part);
        whole.known = &all->layouts;
    }
    t->shares = false;
    MUST(search(t, r, &whole, &own_err));
    expect_whole(t, r);
    assert_int_equal(r->solved.plan.effort.boxes, 0); // nothing was left to look at
    if (certified) expect_joined(t, r, texts, text_count);
}

// ---- what is false

static void claim_too_much(struct trial *t)
{
    struct layouts_task task = {0};
    struct error err = {OK, ""};
    struct layouts_result first, second;
    t->rounds_left = -1, t->shares = false;
    CHECK_OK(search(t, &first, &task, &err));
    if (!first.solved.plan.stage_count) return;
    take_over(&task, &first);
    first.layouts.value[first.layouts.chosen]++; // one more than its plan takes
    CHECK_REFUSED(search(t, &second, &task, &err), "solve again without it");
    first.layouts.value[first.layouts.chosen]--;
    first.layouts.count--;
    CHECK_REFUSED(search(t, &second, &task, &err), "count: expected this space's");
    seen.refused++;
}

TEST(searches_leave_what_one_finds)
{
    for (int i = 0; i < problem_count; i++) {
        uint64_t seed = first_seed + (uint64_t)i;
        struct arena_mark mark = arena_set_mark(arena);
        struct trial *t = TAKE(arena, 1, struct trial);
        *t = (struct trial){.rng = {seed}, .arena = arena};
        space_trial_open(&t->space, seed, 0, arena);
        space_trial_sources(&t->space, t->sources, arena);
        bool certified = t->space.problem.job.objective == OBJECTIVE_ITERATION_TIME;
        stop_again_and_again(t);
        search_in_parts(t, certified);
        claim_too_much(t);
        seen.spaces++;
        arena_reset(arena, mark);
    }
    print_message("%lld spaces, %lld answers with a plan, %lld stops, %lld plans heard of, %lld "
                  "certificates joined with %lld arguments of parts, %lld false claims refused\n",
                  (long long)seen.spaces, (long long)seen.plans, (long long)seen.stops,
                  (long long)seen.heard, (long long)seen.joined, (long long)seen.taken_over,
                  (long long)seen.refused);
    assert_true(seen.plans && seen.stops && seen.heard && seen.joined && seen.taken_over &&
                seen.refused);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
