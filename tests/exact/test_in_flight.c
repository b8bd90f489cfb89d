// How many micro-batches each stage has in flight. A simulation of its own says which lists can be
// executed, that the last stage needs no second one, that more on the first is never slower, and
// that more on one between may be (so the choice is a search). Random problems with every list:
// each layout is solved by itself, and enumerated; the search finds the best, its certificate is
// accepted and proves that time. No plan is accepted with another list, and no certificate with a
// higher bound. usage: test_in_flight [PROBLEMS] [SEED]
#include "data/kinds/in_flight.h"
#include "solve/judge/verify.h"
#include "tests/support/check.h"
#include "tests/support/forge.h"
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

ARGUMENT(problem_count)
ARGUMENT(first_seed)
