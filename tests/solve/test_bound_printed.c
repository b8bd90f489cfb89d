// The bound printed when a gap is requested: the best one proven, not just what the gap requires.
// On random problems of every schedule it is at most the optimum, at least (1 - gap) x time, and
// mostly above that; for boxes alone and the tree alone, again from their records, and with a
// certificate at that very bound.
#include "tests/support/trials/certified.h"
#include "tests/support/trials/check_trials.h"
#include "tests/support/check.h"

enum { PROBLEMS = 160 };
static struct {
    int64_t all, above, open;
} seen[2];

static void solve_to_gap(struct solve_result *r, const struct check_trial *t, bool by_tree,
                         double gap, struct arena *arena)
{
    static const volatile int never = 0;
    struct solve_settings settings;
    solve_defaults(&settings);
    settings.progress = 0;
    settings.gap = gap;
    settings.evidence = settings.recheck = true;
    settings.eliminate = !by_tree;
    if (solve_run(r, &t->priced, &settings, NULL, &never, arena, &own_err) != OK)
        fail_msg("seed %llu: %s", (unsigned long long)t->seed, own_err.text);
}

static void check_bound(const struct check_trial *t, bool by_tree, double gap, struct arena *arena)
{
    struct solve_result r;
    struct error err = {OK, ""};
    struct certified c;
    solve_to_gap(&r, t, by_tree, gap, arena);
    const struct plan *p = &r.plan;
    int64_t edge_ns = p->iteration_ns - (int64_t)(gap * (double)p->iteration_ns);
    assert_true(r.finished && p->outcome == OUTCOME_OPTIMAL);
    if (p->bound_ns > t->best_ns)
        fail_msg("seed %llu: bound %lld, but a plan takes %lld", (unsigned long long)t->seed,
                 (long long)p->bound_ns, (long long)t->best_ns);
    assert_true(p->bound_ns >= edge_ns && p->iteration_ns >= t->best_ns);
    seen[by_tree].all++;
    seen[by_tree].above += p->bound_ns > edge_ns;
    seen[by_tree].open += p->bound_ns < p->iteration_ns;
    if (!certify_solved(&c, &t->priced, &t->text, &r, false, arena, &err))
        fail_msg("seed %llu: %s", (unsigned long long)t->seed, err.text);
    if (!c.made.text || !c.audited.accepted)
        fail_msg("seed %llu: %s", (unsigned long long)t->seed,
                 c.made.text ? c.audited.reason : "no certificate");
    if (!by_tree) assert_int_equal(c.audited.bound_ns, p->bound_ns);
    assert_true(c.audited.bound_ns <= p->bound_ns && c.audited.bound_ns >= edge_ns);
}

TEST(bound_is_the_best_one_proven)
{
    struct arena_mark mark = arena_set_mark(arena);
    for (uint64_t seed = 1; seed <= PROBLEMS; seed++, arena_reset(arena, mark)) {
        struct check_trial t;
        if (check_trial_draw(&t, seed, arena) && check_trial_enumerate(&t, arena) &&
            t.best_ns < INT64_MAX)
            for (int by_tree = 0; by_tree < 2; by_tree++)
                check_bound(&t, by_tree, seed % 2 ? 0.05 : 0.25, arena);
    }
    for (int i = 0; i < 2; i++) {
        print_message("%s: %lld bounds, %lld above the edge, %lld below the plan's time\n",
                      i ? "tree" : "boxes", (long long)seen[i].all, (long long)seen[i].above,
                      (long long)seen[i].open);
        assert_true(seen[i].all >= PROBLEMS / 4 && seen[i].above * 10 >= seen[i].all * 9 &&
                    seen[i].open >= PROBLEMS / 40);
    }
}
