// The least energy within a limit of time: more time never takes more energy; false claims, plans
// and proofs are refused. That the best plans are exact: test_exact_decisions least-energy.
//
//   test_least_energy [PROBLEMS] [SEED]      make test runs 16, make test-exact 500
#include "formulate/price/price.h"
#include "solve/judge/verify.h"
#include "tests/support/check.h"
#include "tests/support/draws/models.h"
#include "tests/support/draws/tiers.h"
#include "tests/support/trials/check_trials.h"
#include "tests/support/trials/exact_trials.h"

static int problem_count = 16;
static uint64_t first_seed = 1;

static const volatile int never = 0;

struct least {
    struct problem problem;
    struct priced priced;
    struct solve_result result;
    struct check_text text, certificate; // of the priced document, and its proof
};

static void solve(struct least *x, double limit_s, struct arena *arena)
{
    struct solve_settings settings;
    solve_defaults(&settings);
    settings.progress = 0, settings.evidence = true;
    x->problem.job.objective = OBJECTIVE_ENERGY;
    x->problem.job.iteration_limit_s = limit_s;
    MUST(price_problem(&x->priced, &x->problem, arena, &own_err));
    MUST(solve_least_energy(&x->result, &x->priced, &settings, NULL, &never, arena, &own_err));
    x->text = check_trial_save(&x->priced, "priced.json", arena);
    struct certificate_request request = {.priced = &x->priced,
                                          .priced_text = x->text,
                                          .plan = &x->result.plan,
                                          .evidence = x->result.evidence};
    struct certificate_result made;
    MUST(certificate_of_energy(&made, &request, arena, &own_err));
    x->certificate = (struct check_text){"certificate.json", made.text, made.size};
}

// Two limits of a problem, the second half as much again.
static bool draw(struct least x[2], struct random *rng, struct arena *arena)
{
    struct random_limits limits = random_limits_small();
    struct solve_result r;
    struct solve_settings settings;
    struct priced priced;
    struct problem *p = &x->problem;
    solve_defaults(&settings);
    settings.progress = 0;
    limits.flavour = (int)random_between(rng, 0, FLAVOUR_COUNT - 1);
    random_problem(p, rng, &limits, arena);
    if (random_chance(rng, 50)) random_frozen(p, rng->state, arena);
    if (!random_tiers(p, rng->state, arena) || !random_energy(p, rng->state, arena)) return false;
    p->job.budget.energy_max_uj = 0;
    MUST(price_problem(&priced, p, arena, &own_err));
    MUST(solve_run(&r, &priced, &settings, NULL, &never, arena, &own_err));
    if (r.plan.outcome != OUTCOME_OPTIMAL || r.plan.iteration_ns < 10) return false;
    x[1].problem = *p;
    for (int i = 0; i < 2; i++)
        solve(&x[i], (double)r.plan.iteration_ns * (1 + i * 0.5) / 1e9, arena);
    return x->result.plan.bound_ns > 1 && x[1].result.plan.bound_ns > 1;
}

static bool accepts(const struct check_text *certificate, const struct check_text *priced,
                    struct arena *arena)
{
    struct check_result audited;
    struct error no = {OK, ""};
    return check_certificate(&audited, certificate, priced, CHECK_WORK_DEFAULT, arena, &no) == OK &&
           audited.accepted;
}

// The text from `begin` on up to `end` replaced by another.
static struct check_text replaced(const struct check_text *text, const char *begin, const char *end,
                                  const char *by, struct arena *arena)
{
    const char *copy = arena_print(arena, "%.*s", (int)text->size, text->text);
    const char *from = strstr(copy, begin);
    assert_non_null(from);
    const char *to = strstr(from + strlen(begin), end);
    assert_non_null(to);
    const char *all = arena_print(arena, "%.*s%s%s", (int)(from - copy), copy, by, to);
    return (struct check_text){text->file, all, strlen(all)};
}

static struct check_text with_number(const struct check_text *text, const char *key, int64_t value,
                                     struct arena *arena)
{
    const char *begin = arena_print(arena, "\"%s\":", key);
    return replaced(text, begin, ",", arena_print(arena, "%s %lld", begin, (long long)value),
                    arena);
}

// The proof as one of another document.
static struct check_text about(const struct check_text *certificate,
                               const struct check_text *priced, struct arena *arena)
{
    char hash[CHECK_HASH];
    check_hash(priced->text, priced->size, hash);
    return replaced(certificate, "\"sha256\":", "}", arena_print(arena, "\"sha256\": \"%s\"", hash),
                    arena);
}

static struct check_text without_plan(const struct check_text *certificate, struct arena *arena)
{
    struct check_text bare = replaced(certificate, "\"objective_ns\":", "\"incumbent\"", "", arena);
    bare = replaced(&bare, "\"incumbent\":", "\n    ],", "@", arena);
    return replaced(&bare, "@", "\"", "", arena);
}

static int forge(const struct least *x, struct arena *arena)
{
    int64_t least = x->result.plan.bound_ns;
    const struct check_text bare = without_plan(&x->certificate, arena);
    assert_true(accepts(&bare, &x->text, arena));
    struct check_text forged[] = {
        with_number(&bare, "bound_ns", least + 1, arena),
        with_number(&bare, "bound_ns", least + least / 1000 + 2, arena),
        with_number(&x->certificate, "objective_ns", least + 1, arena),
        with_number(&x->certificate, "objective_ns", least - 1, arena),
    };
    forged[3] = with_number(&forged[3], "bound_ns", least - 1, arena);
    for (size_t i = 0; i < ARRAY_LENGTH(forged); i++)
        if (accepts(&forged[i], &x->text, arena)) fail_msg("forgery %zu is accepted", i);
    return (int)ARRAY_LENGTH(forged);
}

static bool rejects(const struct least *x, const struct plan *plan, const char *rule,
                    struct arena *arena)
{
    struct verdict v = {0};
    MUST(verify_plan(&v, plan, &x->problem, arena, &own_err));
    for (int i = 0; i < v.violation_count; i++)
        if (!strcmp(v.violations[i].rule, rule)) return true;
    return false;
}

TEST(least_energies_are_held)
{
    struct random rng = {101 + first_seed};
    struct arena_mark mark = arena_set_mark(arena);
    int forged = 0, less = 0;
    for (int found = 0; found < problem_count; arena_reset(arena, mark)) {
        struct least x[2];
        if (!draw(x, &rng, arena)) continue;
        found++;
        const struct plan *plan = &x[0].result.plan, *slow = &x[1].result.plan;
        for (int i = 0; i < 2; i++) {
            assert_int_equal(x[i].result.plan.outcome, OUTCOME_OPTIMAL);
            assert_true(accepts(&x[i].certificate, &x[i].text, arena));
            forged += forge(&x[i], arena);
            struct plan false_plan = x[i].result.plan;
            assert_false(rejects(&x[i], &false_plan, "objective", arena));
            false_plan.objective_ns--;
            assert_true(rejects(&x[i], &false_plan, "objective", arena));
        }
        assert_true(slow->objective_ns <= plan->objective_ns);
        if (slow->objective_ns == plan->objective_ns) continue;
        less++;
        // The slow plan needs less, so it is too slow; and what is proven within the first limit
        // is no longer true within the second.
        assert_true(rejects(&x[0], slow, "limit", arena));
        const struct check_text bare = without_plan(&x[0].certificate, arena),
                                moved[] = {about(&x[1].certificate, &x[0].text, arena),
                                           about(&bare, &x[1].text, arena)};
        for (int i = 0; i < 2; i++)
            if (accepts(&moved[i], &x[i].text, arena))
                fail_msg("the proof of another limit is accepted");
        forged += 2;
    }
    print_message("%d forgeries refused; less energy with more time in %d of %d\n", forged, less,
                  problem_count);
    assert_true(less > problem_count / 5);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
