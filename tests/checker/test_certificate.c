// Certificates that solve writes: for random problems of every schedule the file is accepted, and
// what it proves is what enumeration finds. A solver without the best plan's choice has no
// certificate for its then wrong result.
//
//   test_certificate [PROBLEMS] [SEED]      make test runs 240, make test-exact 2,000
#include "solve/boxes/search.h"
#include "tests/support/trials/certified.h"
#include "tests/support/trials/check_trials.h"
#include "tests/support/check.h"

enum { DEFAULT_PROBLEMS = 240 };

static int problem_count = DEFAULT_PROBLEMS;
static uint64_t first_seed = 1;
static struct {
    int64_t plans, infeasible, mended, boxes, bytes, refused, split, ranks, gaps;
} seen;

static void solve_trial(struct solve_result *r, const struct check_trial *t, struct arena *arena)
{
    static const volatile int never = 0;
    struct solve_settings settings;
    solve_defaults(&settings);
    settings.progress = 0;
    settings.evidence = true;
    settings.eliminate = t->seed % 5 != 0; // else there are no records, and all is made anew
    settings.start_search = t->seed % 3 != 0;
    if (solve_run(r, &t->priced, &settings, NULL, &never, arena, &own_err) != OK)
        fail_msg("seed %llu: %s", (unsigned long long)t->seed, own_err.text);
}

static struct certified certify_trial(const struct check_trial *t, const struct solve_result *r,
                                      bool shrink, struct arena *arena)
{
    struct certified c;
    struct error err = {OK, ""};
    if (!certify_solved(&c, &t->priced, &t->text, r, shrink, arena, &err))
        fail_msg("seed %llu: %s", (unsigned long long)t->seed, err.text);
    return c;
}

static void check_one(const struct check_trial *t, bool shrink, struct arena *arena)
{
    struct solve_result solved;
    unsigned long long name = t->seed;
    solve_trial(&solved, t, arena);
    const struct certified c = certify_trial(t, &solved, shrink, arena);
    const struct certificate_result made = c.made;
    const struct check_result audited = c.audited;
    if (!made.text)
        fail_msg("seed %llu: no certificate of %s, bound %lld", name,
                 outcome_names[solved.plan.outcome], (long long)solved.plan.bound_ns);
    if (!audited.accepted) fail_msg("seed %llu: refused: %s", name, audited.reason);
    assert_int_equal(audited.infeasible, t->best_ns == INT64_MAX);
    if (t->best_ns != INT64_MAX && audited.bound_ns != t->best_ns)
        fail_msg("seed %llu: proves %lld ns, the best of all plans takes %lld ns", name,
                 (long long)audited.bound_ns, (long long)t->best_ns);
    if (t->best_ns != INT64_MAX) assert_int_equal(audited.iteration_ns, t->best_ns);
    seen.plans += t->best_ns != INT64_MAX;
    seen.infeasible += t->best_ns == INT64_MAX;
    seen.mended += made.mended > 0;
    seen.split += audited.splits > 0;
    seen.ranks += t->priced.layout.virtual_stages > 1;
    seen.boxes += audited.boxes;
    seen.bytes += (int64_t)made.size;
}

// An interrupted run, here by a gap: the file proves the bound reached by then, and no more than is
// true.
static void check_gap(const struct check_trial *t, struct arena *arena)
{
    static const volatile int never = 0;
    struct solve_result solved;
    struct solve_settings settings;
    solve_defaults(&settings);
    settings.progress = 0;
    settings.evidence = true;
    settings.gap = 0.3;
    if (t->best_ns == INT64_MAX) return;
    if (solve_run(&solved, &t->priced, &settings, NULL, &never, arena, &own_err) != OK)
        fail_msg("seed %llu: %s", (unsigned long long)t->seed, own_err.text);
    const struct certified c = certify_trial(t, &solved, false, arena);
    const struct check_result audited = c.audited;
    if (!c.made.text || !audited.accepted)
        fail_msg("seed %llu: with a gap: %s", (unsigned long long)t->seed,
                 c.made.text ? audited.reason : "no certificate");
    assert_int_equal(audited.iteration_ns, solved.plan.iteration_ns);
    assert_int_equal(audited.bound_ns, solved.plan.bound_ns);
    assert_true(audited.bound_ns <= t->best_ns);
    seen.gaps += audited.bound_ns < t->best_ns;
}

// ---- a wrong solver

static void save_plan(struct plan *plan, const struct choices *c, const struct box_search_result *r,
                      struct arena *arena)
{
    choices_to_plan(plan, c, r->found, r->best_ns, arena);
    plan->outcome = OUTCOME_OPTIMAL;
    plan->bound_ns = r->bound_ns;
}

static bool is_choice(const struct plan_stage *x, const struct choice *c)
{
    return (c->first_layer < 0 || x->first_layer == c->first_layer) &&
           x->layer_count == c->layer_count && x->group == c->group &&
           x->recompute == c->recompute && x->gradient_option == c->gradient_option &&
           x->boundary_option == c->boundary_option &&
           ((x->recompute != RECOMPUTE_FIRST_LAYERS && x->recompute != RECOMPUTE_SWAP) ||
            (x->recomputed_layers == c->recomputed_layers &&
             x->swapped_layers == c->swapped_layers));
}

// An elimination that takes the best plan's choice away at one stage. true: the solver then
// believes in a bound that is false.
static bool deceive(struct solve_result *solved, const struct check_trial *t, int stage,
                    struct arena *arena)
{
    struct choices choices;
    struct box_search_result r;
    struct box_search_settings settings = {.target_ns = INT64_MAX, .boxes_max = 300};
    *solved = (struct solve_result){.evidence = TAKE(arena, 1, struct solve_evidence)};
    struct solve_evidence *e = solved->evidence;
    e->schedule = &t->schedule;
    MUST(choices_build(&choices, &t->priced, &t->schedule, arena, &own_err));
    MUST(graph_compile(&e->graph, &t->schedule, arena, &own_err));
    graph_keep_paths(e->graph, arena);
    if (choices.stages[stage].count < 2) return false;
    bool **keep = TAKE(arena, t->priced.stage_count, bool *);
    int64_t **amount = TAKE(arena, t->priced.stage_count, int64_t *);
    for (int s = 0; s < t->priced.stage_count; s++) {
        keep[s] = TAKE(arena, choices.stages[s].count, bool);
        amount[s] = TAKE(arena, choices.stages[s].count, int64_t);
        for (int i = 0; i < choices.stages[s].count; i++)
            keep[s][i] = s != stage || !is_choice(&t->best[s], &choices.stages[s].items[i]);
    }
    choices_remove(&choices, keep, amount, REMOVED_BY_BOUND);
    box_search(&r, &choices, e->graph, &settings, arena);
    if (!r.finished || !r.found_better || r.bound_ns <= t->best_ns) return false;
    save_plan(&solved->plan, &choices, &r, arena);
    e->proof = r.proof;
    e->proof_bound_ns = r.bound_ns;
    return true;
}

static void catch_wrong_solver(const struct check_trial *t, struct arena *arena)
{
    struct solve_result solved;
    if (t->best_ns == INT64_MAX ||
        !deceive(&solved, t, (int)(t->seed % (uint64_t)t->priced.stage_count), arena))
        return;
    const struct certified c = certify_trial(t, &solved, false, arena);
    if (c.made.text && c.audited.accepted && c.audited.bound_ns > t->best_ns)
        fail_msg("seed %llu: a wrong solver's bound %lld is accepted, the best plan takes %lld",
                 (unsigned long long)t->seed, (long long)c.audited.bound_ns, (long long)t->best_ns);
    seen.refused++;
}

// ---- all of it

TEST(solve_writes_what_check_accepts)
{
    for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)problem_count; seed++) {
        struct check_trial t;
        struct arena_mark mark = arena_set_mark(arena);
        if (check_trial_draw(&t, seed, arena) && check_trial_enumerate(&t, arena)) {
            check_one(&t, seed % 2 == 0, arena);
            check_gap(&t, arena);
            catch_wrong_solver(&t, arena);
        }
        arena_reset(arena, mark);
    }
    print_message("%lld plans and %lld infeasible problems certified, %lld boxes, %lld bytes; %lld "
                  "split, %lld mended, %lld with several stages a rank; "
                  "%lld wrong solvers caught; %lld bounds with a gap\n",
                  (long long)seen.plans, (long long)seen.infeasible, (long long)seen.boxes,
                  (long long)seen.bytes, (long long)seen.split, (long long)seen.mended,
                  (long long)seen.ranks, (long long)seen.refused, (long long)seen.gaps);
    assert_true(seen.plans >= problem_count / 5 && seen.infeasible >= problem_count / 20 &&
                seen.refused >= problem_count / 10);
    assert_true(seen.mended >= problem_count / 40 && seen.split >= problem_count / 120 &&
                seen.ranks >= problem_count / 20);
    assert_true(seen.gaps >= problem_count / 40);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
