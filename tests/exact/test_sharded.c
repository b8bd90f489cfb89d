// Layers of a stage in other layouts than its own: sharded further, the first ones, as many as the
// stage chooses, beside those that are recomputed; those with the vocabulary at a tensor degree
// that it chooses, or both (docs/PROOFS.md 4.2, 4.3). Small random problems of every schedule with
// one stage per rank: bytes that fall, passes that rise, syncs that do either, memory tight. The
// plan equals the best of all plans to the nanosecond by enumeration, whichever way it is searched
// for, and each proof is certified; a false one is refused. With sharded prices that are the runs'
// own, and with those alone, the answer is that of the problem without the choice.
//
//   test_sharded [PROBLEMS] [SEED]      make test runs 120
#include "data/kinds/schedules.h"
#include "solve/layout/solve.h"
#include "tests/support/check.h"
#include "tests/support/oracle/oracle.h"
#include "tests/support/random_priced.h"
#include "tests/support/trials/certified.h"
#include "tests/support/trials/check_trials.h"
#include "tests/support/trials/ways.h"

enum { PLANS_MAX = 20000, DEFAULT_PROBLEMS = 120, RUNS_MOST = 8 };

static int problem_count = DEFAULT_PROBLEMS;
static uint64_t first_seed = 1;
static struct {
    int feasible, infeasible, chosen, both, spread, apart, needed, faster, loads, certified;
} seen;

// ---- problems

static void draw_one(struct priced *p, uint64_t *state, struct arena *arena)
{
    int kind;
    do kind = (int)random_less(state, SCHEDULE_KIND_COUNT);
    while (schedule_kinds[kind].virtual_stages != 1);
    random_priced_of(p, kind, state, arena);
    priced_draw_sharded(p, state, arena);
    int what = (int)random_less(state, 4); // 0, 3: sharded layers alone, 1: degrees, 2: both
    if (what == 1) p->sharded_run_count = 0;
    if (what == 1 || what == 2) priced_draw_vocabulary(p, state, arena);
}

static void answer(struct oracle *e, const struct priced *p, struct arena *arena)
{
    struct schedule schedule;
    priced_schedule(&schedule, p, arena);
    MUST(oracle_answer(e, p, &schedule, arena, &own_err));
}

// Draws until the enumeration is small enough; of problems without a plan one in five.
static void draw(struct priced *p, struct oracle *e, uint64_t seed, struct arena *arena)
{
    uint64_t state = seed;
    struct arena_mark mark = arena_set_mark(arena);
    for (;; arena_reset(arena, mark)) {
        draw_one(p, &state, arena);
        if (p->layer_count < p->stage_count || priced_check(p, &own_err) != OK) continue;
        if (oracle_size(p, PLANS_MAX, arena) > PLANS_MAX) continue;
        answer(e, p, arena);
        if (e->plans || random_less(&state, 5) == 0) return;
    }
}

static void note(const struct priced *p, const struct oracle *e)
{
    struct priced without = *p;
    struct oracle own;
    bool chosen = false, both = false, spread = false;
    seen.feasible += e->plans > 0, seen.infeasible += e->plans == 0;
    seen.loads += p->objective == OBJECTIVE_MAX_LOAD;
    if (!e->plans) return;
    for (int s = 0; s < p->stage_count; s++) {
        chosen = chosen || e->best[s].sharded_layers;
        both = both || (e->best[s].sharded_layers && e->best[s].recomputed_layers);
        spread = spread || e->best[s].vocabulary_tensor;
    }
    const struct plan_stage *last = &e->best[p->stage_count - 1];
    seen.spread += spread;
    seen.apart += last->vocabulary_tensor &&
                  last->vocabulary_tensor != e->best[0].vocabulary_tensor;
    without.sharded_run_count = without.vocabulary_run_count = 0;
    answer(&own, &without, &own_arena);
    assert_true(own.best_ns >= e->best_ns);
    seen.chosen += chosen, seen.both += both;
    seen.needed += own.plans == 0, seen.faster += own.plans && own.best_ns > e->best_ns;
}

// ---- enumeration

static void check_way(const struct priced *p, const struct oracle *e, enum way way, uint64_t seed)
{
    struct error err = {OK, ""};
    struct arena_mark mark = arena_set_mark(&own_arena);
    struct solve_result result = way_solve(p, way, seed, 1, &own_arena);
    way_expect(&result, p, e, way, seed);
    struct certified c;
    if (!certify_best(&c, p, &result, e->plans ? e->best_ns : INT64_MAX, &own_arena, &err))
        fail_msg("%s: %s", way_name(p, way, seed, &own_arena), err.text);
    seen.certified++;
    arena_reset(&own_arena, mark);
}

TEST(test_enumerated)
{
    for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)problem_count; seed++) {
        struct priced p;
        struct oracle e;
        struct arena_mark mark = arena_set_mark(&own_arena);
        draw(&p, &e, 1000 * seed, &own_arena);
        note(&p, &e);
        check_way(&p, &e, WAY_DEFAULT, seed);
        check_way(&p, &e, WAY_BOXES, seed);
        check_way(&p, &e, seed % 2 ? WAY_TREE_ALONE : WAY_GLPK, seed);
        arena_reset(&own_arena, mark);
    }
    print_message(
        "%d problems with a plan, %d without, %d for the greatest load; sharded layers in "
        "%d best plans, beside recomputed ones in %d, the vocabulary at another degree in %d, at "
        "two in %d; %d have no plan without, %d a longer one; %d proofs certified\n",
        seen.feasible, seen.infeasible, seen.loads, seen.chosen, seen.both, seen.spread, seen.apart,
        seen.needed, seen.faster, seen.certified);
    assert_true(seen.infeasible && seen.loads && seen.both && seen.spread && seen.apart &&
                seen.needed && seen.faster);
}

// ---- the same thing said twice

static int64_t best_of(const struct priced *p)
{
    struct solve_result r = way_solve(p, WAY_BOXES, 0, 1, &own_arena);
    return r.plan.outcome == OUTCOME_INFEASIBLE ? INT64_MAX : r.plan.bound_ns;
}

// Where every layer can be sharded and the runs' own prices are worse, all are.
static void check_all_sharded(struct priced p)
{
    struct priced plain, other;
    if (!p.sharded_run_count) return;
    p.vocabulary_run_count = 0;
    for (int i = 0; i < p.run_count; i++) p.runs[i].recomputable = true;
    plain = other = p;
    plain.sharded_run_count = 0;
    plain.runs = other.sharded_runs = TAKE_COPY(&own_arena, p.runs, p.run_count);
    other.runs = TAKE_COPY(&own_arena, p.runs, p.run_count);
    for (int i = 0; i < p.run_count; i++) other.runs[i].weight_bytes += (int64_t)1 << 40;
    assert_int_equal(best_of(&other), best_of(&plain));
}

// Where no layer with the vocabulary has room at the layout's degree, it has that of the list.
static void check_all_spread(struct priced p)
{
    if (!p.vocabulary_run_count) return;
    struct priced plain = p, other = p;
    p.vocabulary_run_count = other.vocabulary_run_count = priced_next_degree(&p, 0);
    plain.vocabulary_run_count = 0;
    plain.runs = TAKE_COPY(&own_arena, p.runs, p.run_count);
    other.runs = TAKE_COPY(&own_arena, p.runs, p.run_count);
    for (int i = 0; i < p.run_count; i++) {
        const struct priced_run *at = priced_at_vocabulary(&p, i, p.vocabulary_runs->tensor);
        if (at) plain.runs[i] = *at, plain.runs[i].tensor = 0;
        if (at) other.runs[i].weight_bytes += (int64_t)1 << 40;
    }
    assert_int_equal(best_of(&other), best_of(&plain));
}

TEST(test_said_twice)
{
    for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)problem_count; seed++) {
        struct priced p, plain, other;
        struct oracle e;
        struct arena_mark mark = arena_set_mark(&own_arena);
        draw(&p, &e, 1000 * seed + 5, &own_arena);
        plain = other = p;
        plain.sharded_run_count = plain.vocabulary_run_count = 0;
        other.sharded_runs = other.runs; // neither changes anything
        other.vocabulary_runs = TAKE_COPY(&own_arena, p.vocabulary_runs, p.vocabulary_run_count);
        for (int i = 0, run; i < p.vocabulary_run_count; i++) {
            for (run = 0; strcmp(p.runs[run].name, p.vocabulary_runs[i].name);) run++;
            other.vocabulary_runs[i] = p.runs[run];
            other.vocabulary_runs[i].tensor = p.vocabulary_runs[i].tensor;
        }
        int64_t best = best_of(&plain);
        assert_int_equal(best_of(&other), best);
        assert_true(best_of(&p) <= best);
        check_all_spread(p);
        check_all_sharded(p);
        arena_reset(&own_arena, mark);
    }
}

// ---- false claims, with certificates made for them

TEST(test_false_claims)
{
    int refused = 0;
    for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)problem_count; seed++) {
        struct oracle e;
        struct check_trial t = {.seed = seed};
        struct arena_mark mark = arena_set_mark(&own_arena);
        draw(&t.priced, &e, 1000 * seed + 7, &own_arena);
        t.text = check_trial_save(&t.priced, "priced.json", &own_arena);
        t.best = e.best;
        for (int none = 0; none < 2 && e.plans; none++) {
            struct check_text text = check_trial_claim(&t, none, none ? -1 : e.best_ns,
                                                       none ? 0 : e.best_ns + 1, &own_arena);
            if (!text.text) continue; // too many boxes
            check_trial_refused(none ? "no plan" : "a bound above the best", &text, &t.text, "",
                                true, &own_arena);
            refused++;
        }
        arena_reset(&own_arena, mark);
    }
    print_message("%d refused\n", refused);
    assert_true(refused > problem_count / 4);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
