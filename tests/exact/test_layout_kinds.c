// Layouts with two or three kinds of layers (tests/support/draws/kinds.h), every plan of which is
// enumerated and replayed by the oracle: no bound from prices alone, neither the planner's nor the
// largest that the checker accepts, is above the best plan, and none denies that there is one.
// usage: test_layout_kinds [PROBLEMS] [SEED]
#include "data/kinds/schedules.h"
#include "solve/checker/space/arguments.h"
#include "solve/layouts/bound.h"
#include "tests/support/check.h"
#include "tests/support/claims/tables.h"
#include "tests/support/draws/kinds.h"
#include "tests/support/oracle/oracle.h"
#include "tests/support/random_priced.h"

enum { PLANS_MOST = 2500, SHOWN_MOST = 5 };
static int problem_count = 5000, wrong;
static uint64_t first_seed = 1;

struct trial {
    uint64_t seed;
    struct priced p;
    int64_t best_ns; // INT64_MAX: there is no plan
    bool wrong;      // a bound is above it
    struct arena arena;
};

struct tally {
    int plans, none, reached, said_none, sliced, with_others, stored;
    double share;
} planner, checker;

// Of schedules with whole sequences some have stages with losses of their own, whose inputs may be
// stored. From an own state: what else is drawn is drawn as without it.
static void draw_segments(struct priced *p, uint64_t state)
{
    struct layout *l = &p->layout;
    if (!schedule_stores_inputs(l->schedule) || random_less(&state, 2)) return;
    l->local_loss_every = 1 + (int)random_less(&state, 2);
    l->stored_inputs = random_less(&state, 2);
    p->local_forward_ns = (int64_t)random_less(&state, 5);
    p->local_bytes = (int64_t)random_less(&state, 3);
}

// false: too many plans, or a schedule that does not go with these micro-batches.
static bool open_trial(struct trial *t, uint64_t seed)
{
    struct error err = {OK, ""};
    struct schedule schedule;
    struct oracle oracle;
    uint64_t state = seed * 104729 + 7;
    *t = (struct trial){.seed = seed};
    arena_open(&t->arena, NULL);
    // Half of them in slices: there the most depends on what other ranks hold.
    int kind = random_less(&state, 2) ? SCHEDULE_TOKEN_SLICED
                                      : (int)random_less(&state, SCHEDULE_KIND_COUNT);
    random_kinds(&t->p, (int)kind, &state, &t->arena);
    draw_segments(&t->p, state);
    if (schedule_build_priced(&schedule, &t->p, &t->arena, &err) != OK ||
        oracle_size(&t->p, PLANS_MOST, &t->arena) > PLANS_MOST)
        return false;
    CHECK_OK(oracle_answer(&oracle, &t->p, &schedule, &t->arena, &err));
    t->best_ns = oracle.best_ns;
    return true;
}

static void expect_below(struct trial *t, const char *who, int64_t claim_ns)
{
    const struct priced *p = &t->p;
    if (claim_ns <= t->best_ns) return;
    if (!t->wrong && wrong < SHOWN_MOST)
        print_message(
            "problem %llu, %s, %d ranks, %d stages, %d layers, %d micro-batches, %d "
            "slices, %d groups, barrier %d, %s syncs: %s states %lld, the best plan takes "
            "%lld\n",
            (unsigned long long)t->seed, schedule_names[p->layout.schedule], p->rank_count,
            p->stage_count, p->layer_count, p->micro_batches, p->slice_count, p->group_count,
            p->layout.barrier, gradient_sync_names[p->layout.gradient_sync], who,
            (long long)claim_ns, (long long)t->best_ns);
    t->wrong = true;
}

static void count(struct tally *y, const struct trial *t, int64_t claim_ns, int others)
{
    bool has_plan = t->best_ns != INT64_MAX;
    *(has_plan ? &y->plans : &y->none) += 1;
    y->said_none += !has_plan && claim_ns == INT64_MAX;
    if (!has_plan || !t->best_ns) return;
    y->reached += claim_ns == t->best_ns;
    y->share += (double)claim_ns / (double)t->best_ns;
    y->sliced += t->p.slice_count > 1;
    y->with_others += others > 0;
    y->stored += t->p.layout.stored_inputs;
}

static void try_planner(struct trial *t)
{
    struct layout_sketch s;
    struct kept_cache kept = {.arena = &t->arena};
    const char *why;
    int64_t claim_ns = INT64_MAX;
    assert_true(layout_sketch(&s, &t->p, &kept, &why));
    if (layout_missing_bytes(&s) == 0) {
        expect_below(t, "planner's mean", layout_average_bound(&s));
        claim_ns = layout_filling_bound(&s, INT64_MAX);
        if (t->best_ns != INT64_MAX)
            expect_below(t, "planner, if asked,", layout_filling_bound(&s, t->best_ns + 1));
    }
    expect_below(t, "planner", claim_ns);
    count(&planner, t, claim_ns, s.others);
}

static bool says_at_least(const struct check_sketch *s, int64_t t_ns)
{
    return check_average_reaches(s, t_ns) || check_filling_reaches(s, t_ns);
}

// Above the truth at distances of all sizes; below it by bisection.
static int64_t largest_claim(const struct check_sketch *s, int64_t best_ns)
{
    int64_t low = 0, high = best_ns == INT64_MAX ? 1 << 30 : best_ns + 1;
    for (int64_t beyond = 0; beyond <= best_ns && best_ns != INT64_MAX; beyond += beyond + 1)
        if (says_at_least(s, best_ns + 1 + beyond)) return best_ns + 1 + beyond;
    if (best_ns == INT64_MAX && says_at_least(s, high)) return INT64_MAX;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (says_at_least(s, middle)) low = middle;
        else high = middle;
    }
    return low;
}

static void try_checker(struct trial *t)
{
    struct check_problem tables;
    struct check_sketch s;
    const struct check_held *held;
    uint64_t work = UINT64_MAX / 2;
    struct arena scratch;
    struct check_held_cache cache = {.work = &work, .arena = &t->arena, .scratch = &scratch};
    tables_of_priced(&tables, &t->p, &t->arena);
    arena_open(&scratch, NULL);
    MUST(check_find_held(&cache, &tables, &held));
    arena_close(&scratch);
    check_sketch_bytes(&s, &tables, held);
    int64_t claim_ns = INT64_MAX;
    if (!check_never_fits(&s)) {
        check_sketch_times(&s);
        claim_ns = largest_claim(&s, t->best_ns);
    }
    expect_below(t, "checker", claim_ns);
    count(&checker, t, claim_ns, s.others);
}

static void say(const char *who, const struct tally *y)
{
    print_message("%s: %d with a plan (%d in slices, %d with counted others, %d with stored "
                  "inputs), %d bounds reached it, mean %.3f; %d without, %d of them said\n",
                  who, y->plans, y->sliced, y->with_others, y->stored, y->reached,
                  y->plans ? y->share / y->plans : 0, y->none, y->said_none);
}

TEST(no_bound_is_above_the_best_plan)
{
    for (int i = 0; i < problem_count; i++) {
        struct trial t;
        if (open_trial(&t, first_seed + (uint64_t)i)) {
            try_planner(&t);
            try_checker(&t);
        }
        wrong += t.wrong;
        arena_close(&t.arena);
    }
    say("planner", &planner), say("checker", &checker);
    if (wrong) fail_msg("%d of %d problems: a bound is above the best plan", wrong, problem_count);
    assert_true(planner.plans > problem_count / 4 && planner.with_others > problem_count / 10);
    assert_true(planner.sliced > problem_count / 10 && planner.none > problem_count / 20);
    assert_true(planner.stored > problem_count / 200);
    assert_true(planner.reached > planner.plans / 20 && checker.reached > checker.plans / 20);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
