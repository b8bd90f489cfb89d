// The largest claim again, for layouts that are drawn differently (tests/support/claims/extreme.h):
// prices from a handful of values, changed one by one towards the largest claim. What the planner
// and the checker state of each from its prices alone, dominance between nearly equal layouts, and
// proofs by mixtures are compared with enumeration.
//
//   test_claims_extreme [LAYOUTS] [SEED]       sets of layouts
#include "data/kinds/schedules.h"
#include "tests/support/claims/climb.h"
#include "tests/support/claims/deep.h"
#include "tests/support/claims/extreme.h"
#include "tests/support/check.h"

enum { DEFAULT_SETS = 100, STEPS = 30, PLANS_MOST = 6000, CHANGES = 6, SHOWN_MOST = 12 };

static int set_count = DEFAULT_SETS;
static uint64_t first_seed = 1;

static struct {
    struct claims claims;
    int64_t judged, layouts, feasible, sets_with[CLAIM_KINDS], by_schedule[SCHEDULE_KIND_COUNT];
    struct violation first[CLAIM_KINDS];
    bool violated[CLAIM_KINDS];
} seen;

static void note(void *argument, const struct violation *v)
{
    (void)argument;
    if (!seen.violated[v->kind]) seen.first[v->kind] = *v;
    seen.violated[v->kind] = true;
}

static void try_set(uint64_t seed)
{
    struct arena arena;
    struct random rng = {seed * 7919};
    struct extreme x;
    struct space_truth t;
    arena_open(&arena, NULL);
    memset(seen.violated, 0, sizeof seen.violated);
    extreme_draw(&x, &rng, &arena);
    extreme_truth(&t, &x, PLANS_MOST, &arena);
    for (int i = 0; i < x.count; i++)
        seen.layouts++, seen.feasible += t.layouts[i].known && t.layouts[i].value_ns != INT64_MAX,
            seen.by_schedule[x.layouts[i].layout.schedule]++;
    double tightness = claims_judge(&seen.claims, &t);
    int64_t before = claims_violations(&seen.claims);
    for (int i = 0; i < STEPS && claims_violations(&seen.claims) == before; i++) {
        struct arena_mark mark = arena_set_mark(&arena);
        struct extreme next;
        struct space_truth own;
        extreme_change(&next, &x, &rng, &arena);
        extreme_truth(&own, &next, PLANS_MOST, &arena);
        double reached = claims_judge(&seen.claims, &own);
        seen.judged++;
        if (reached < tightness && claims_violations(&seen.claims) == before)
            arena_reset(&arena, mark);
        else x = next, t = own, tightness = reached;
    }
    claims_proofs(&seen.claims, &t, seed % 5 ? 0 : CHANGES, &rng);
    for (int kind = 0; kind < CLAIM_KINDS; kind++) {
        if (!seen.violated[kind]) continue;
        if (seen.sets_with[kind]++ < SHOWN_MOST)
            print_message("seed %llu: %s\n", (unsigned long long)seed,
                          violation_text(&seen.first[kind], &t, &arena));
    }
    arena_close(&arena);
}

static void say_figures(struct arena *arena)
{
    const char *text = arena_print(
        arena, "%d sets, %lld judged with their changes, %lld layouts, %lld with a plan;",
        set_count, (long long)(seen.judged + set_count), (long long)seen.layouts,
        (long long)seen.feasible);
    for (int k = 0; k < SCHEDULE_KIND_COUNT; k++)
        text = arena_print(arena, "%s %s %lld,", text, schedule_names[k],
                           (long long)seen.by_schedule[k]);
    for (int kind = 0; kind < CLAIM_KINDS; kind++) {
        const struct claims_seen *s = &seen.claims.seen[kind];
        if (s->tried)
            text = arena_print(arena, "%s %s %lld %lld %.3f %.3f,", text, claim_names[kind],
                               (long long)s->tried, (long long)s->held,
                               s->bounds ? s->ratio_sum / (double)s->bounds : 0, s->ratio_most);
    }
    printf("%s\n", text);
    fflush(stdout);
}

TEST(no_claim_is_above_the_truth)
{
    seen.claims.found = note;
    for (int i = 0; i < set_count; i++) try_set(first_seed + (uint64_t)i);
    for (int kind = 0; kind < CLAIM_KINDS; kind++)
        if (seen.sets_with[kind])
            print_message("%s: above the truth in %lld sets\n", claim_names[kind],
                          (long long)seen.sets_with[kind]);
    say_figures(arena);
    assert_int_equal(claims_violations(&seen.claims), 0);
    assert_true(set_count < DEFAULT_SETS || seen.feasible * 3 > seen.layouts);
}

ARGUMENT(set_count)
ARGUMENT(first_seed)
