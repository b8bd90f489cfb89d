// Plans on nodes: the solver against all decisions on all placements, with durations assembled and
// replayed by the oracle; bounds that equal the optimum; the judge's verdict. Likewise with unequal
// numbers of micro-batches per replica, and with a fused embedding sync.
//
//   test_placed [TRIALS] [TESTS]: "*fused": these alone
#include "formulate/price/price.h"
#include "solve/places/placed.h"
#include "solve/layout/solve.h"
#include "solve/judge/verify.h"
#include "tests/support/folder.h"
#include "tests/support/oracle/placements.h"

#include "tests/support/check.h" // last: its macro `fail` hides data/base/status.h's

static int trials = 100;

enum { PLACES = 6 };

struct seen {
    int placed, several, apart, transports, uneven, fused, forged, shapes[PLACES + 1][PLACES + 1];
}; // [pipeline][data]

static void assert_best(const struct problem *problem, const struct plan *plan, int64_t best,
                        int trial, struct arena *arena)
{
    if (plan_value_ns(plan) != best || plan->bound_ns != best)
        fail_msg("trial %d: %lld of %lld, bound %lld", trial, (long long)plan_value_ns(plan),
                 (long long)best, (long long)plan->bound_ns);
    struct verdict verdict;
    MUST(verify_plan(&verdict, plan, problem, arena, &own_err));
    if (!verdict.accepted)
        fail_msg("trial %d: %s: %s", trial, verdict.violations[0].rule, verdict.violations[0].text);
}

// A load that is off.
static void expect_load_is_audited(const struct problem *problem, const struct plan *plan,
                                   struct arena *arena)
{
    struct plan wrong = *plan;
    wrong.outcome = OUTCOME_OPEN;
    wrong.bound_ns = 0;
    for (int off = -1; off <= 1; off++) {
        struct verdict verdict;
        wrong.objective_ns = plan->objective_ns + off;
        if (wrong.objective_ns < 1) continue;
        MUST(verify_plan(&verdict, &wrong, problem, arena, &own_err));
        assert_int_equal(verdict.accepted, off == 0);
        for (int i = 0; i < verdict.violation_count; i++)
            assert_string_equal(verdict.violations[i].rule, "objective");
    }
}

static bool is_accepted(const struct problem *problem, const struct plan *plan, struct arena *arena)
{
    struct verdict verdict;
    MUST(verify_plan(&verdict, plan, problem, arena, &own_err));
    return verdict.accepted;
}

// The plan with the ring of its fused embedding sync left out, and in every other order of two of
// its members: accepted only if that order's slowest link takes the same time.
static int expect_ring_is_audited(const struct problem *problem, const struct priced *priced,
                                  const struct plan *plan, struct arena *arena)
{
    const struct plan_placement *x = plan->placement;
    int members = 2 * x->replica_count, refused = 0;
    struct plan_placement other = *x;
    struct plan wrong = *plan;
    wrong.outcome = OUTCOME_OPEN, wrong.bound_ns = 0, wrong.placement = &other;
    if (!priced->places->embedding_ring_ns) return 0;
    other.embedding_ring = NULL;
    assert_false(is_accepted(problem, &wrong, arena));
    for (int at = 1; at < members; at++) {
        int64_t most = 0;
        bool joined = true;
        other.embedding_ring = TAKE(arena, members, int);
        for (int i = 0; i < members; i++) other.embedding_ring[i] = x->embedding_ring[i];
        other.embedding_ring[0] = x->embedding_ring[at];
        other.embedding_ring[at] = x->embedding_ring[0];
        for (int i = 0; i < members; i++) {
            const int two[] = {other.embedding_ring[i], other.embedding_ring[(i + 1) % members]};
            int ends[2];
            for (int end = 0; end < 2; end++) {
                int rank = two[end] < x->replica_count ? 0 : x->rank_count - 1;
                const char *name = x->nodes[two[end] % x->replica_count * x->rank_count + rank];
                for (int k = 0; k < priced->places->node_count; k++)
                    if (!strcmp(priced->places->nodes[k].name, name)) ends[end] = k;
            }
            int64_t ns =
                priced->places->embedding_ring_ns[ends[0] * priced->places->node_count + ends[1]];
            if (ends[0] == ends[1])
                continue; // of draws with one device group a node: there is none
            joined = joined && ns >= 0;
            most = ns > most ? ns : most;
        }
        bool same = joined && most == plan->embedding_sync_ns;
        if (is_accepted(problem, &wrong, arena) != same)
            fail_msg("a ring of %lld ns beside %lld ns", (long long)most,
                     (long long)plan->embedding_sync_ns);
        refused += !same;
    }
    return refused;
}

static void count(struct seen *seen, const struct problem *problem, const struct priced *priced,
                  const struct plan *plan)
{
    const struct plan_placement *x = plan->placement;
    bool uneven = false;
    for (int r = 1; x->micro_batches && r < x->replica_count; r++)
        uneven = uneven || x->micro_batches[r] != x->micro_batches[0];
    seen->placed++;
    seen->shapes[plan->layout.pipeline][plan->layout.data]++;
    seen->several += plan->layout.data > 1;
    seen->apart += problem->cluster.group_count > 1;
    seen->transports += priced->places->transport_count > 1;
    seen->uneven += uneven;
    seen->fused += priced->places->embedding_ring_ns && plan->embedding_sync_ns > 0;
}

// Every other problem is crowded: one or two device groups per node, links equal or very different.
static void draw(struct problem *p, int trial, int asked, struct arena *arena)
{
    struct random rng = {(uint64_t)trial + 1};
    if (asked & PLACED_FUSED && trial % 2) random_crowded_problem(p, &rng, asked, arena);
    else random_placed_problem(p, &rng, asked, arena);
}

static struct seen solve_trials(int asked, enum objective objective, int trial_count,
                                struct arena *arena)
{
    struct seen seen = {0};
    bool uneven = asked & PLACED_UNEVEN;
    struct arena_mark mark = arena_set_mark(arena);
    for (int trial = 0; trial < trial_count; trial++, arena_reset(arena, mark)) {
        struct problem problem;
        struct priced priced;
        struct solve_result result;
        struct solve_settings settings;
        draw(&problem, trial, asked, arena);
        problem.job.objective = objective;
        if (price_problem(&priced, &problem, arena, &own_err) != OK)
            fail_msg("trial %d: %s", trial, own_err.text);
        int64_t best = best_placement(&problem, &priced, uneven ? 150000 : 60000, arena);
        if (best >= 0) {
            solve_defaults(&settings);
            settings.progress = 0;
            if (placed_solve(&result, &priced, &settings, NULL, NULL, arena, &own_err) != OK)
                fail_msg("trial %d: %s", trial, own_err.text);
            if (best < INT64_MAX) {
                assert_best(&problem, &result.plan, best, trial, arena);
                if (!(trial % 2)) // one device group a node
                    seen.forged += expect_ring_is_audited(&problem, &priced, &result.plan, arena);
                if (objective == OBJECTIVE_MAX_LOAD)
                    expect_load_is_audited(&problem, &result.plan, arena);
                count(&seen, &problem, &priced, &result.plan);
            } else if (result.plan.outcome != OUTCOME_INFEASIBLE) {
                fail_msg("trial %d: a plan, %lld ns, where there is none", trial,
                         (long long)result.plan.iteration_ns);
            }
        }
    }
    printf("%d problems with a plan, %d of them with several replicas, %d with several groups, %d "
           "with several transports, %d with unlike micro-batches, %d with a fused embedding sync, "
           "%d of whose rings in another order are refused\n",
           seen.placed, seen.several, seen.apart, seen.transports, seen.uneven, seen.fused,
           seen.forged);
    return seen;
}

TEST(test_all_placements)
{
    struct seen seen = solve_trials(0, OBJECTIVE_ITERATION_TIME, trials, arena);
    assert_true(seen.placed * 6 > trials && seen.several * 12 > trials &&
                seen.apart * 12 > trials && !seen.uneven);
}

TEST(test_all_loads)
{
    struct seen seen = solve_trials(0, OBJECTIVE_MAX_LOAD, trials, arena);
    assert_true(seen.placed * 6 > trials && seen.several * 12 > trials && seen.apart * 12 > trials);
}

TEST(test_all_uneven)
{
    struct seen seen = solve_trials(PLACED_UNEVEN, OBJECTIVE_ITERATION_TIME, trials, arena);
    for (int pipeline = 1; pipeline <= 3; pipeline++)
        for (int data = 2; data * pipeline <= PLACES; data++)
            if (!seen.shapes[pipeline][data] && trials >= 100)
                fail_msg("no problem with %d stages and %d replicas", pipeline, data);
    assert_true(seen.placed * 8 > trials && seen.several * 8 > trials && seen.apart * 12 > trials &&
                seen.uneven * 20 > trials);
}

// Both documents state the ring, and are read as they were written.
static void expect_ring_is_kept(const struct priced *priced, const struct plan *plan,
                                struct arena *arena)
{
    char folder[FOLDER_SIZE];
    struct priced priced_again;
    struct plan again;
    struct error err = {OK, ""};
    assert_int_equal(folder_make(folder), 0);
    const char *path = arena_print(arena, "%s/document.json", folder);
    size_t nodes = (size_t)priced->places->node_count, members = 2 * (size_t)plan->layout.data;
    CHECK_OK(priced_save(priced, path, arena, &err));
    CHECK_OK(priced_load(&priced_again, path, arena, &err));
    assert_memory_equal(priced_again.places->embedding_ring_ns, priced->places->embedding_ring_ns,
                        nodes * nodes * sizeof(int64_t));
    assert_memory_equal(priced_again.places->embedding_sync_ns, priced->places->embedding_sync_ns,
                        nodes * nodes * sizeof(int64_t));
    CHECK_OK(plan_save(plan, path, arena, &err));
    CHECK_OK(plan_load(&again, path, arena, &err));
    assert_memory_equal(again.placement->embedding_ring, plan->placement->embedding_ring,
                        members * sizeof(int));
    plan->placement->embedding_ring[0] = plan->placement->embedding_ring[1];
    CHECK_OK(plan_save(plan, path, arena, &err));
    CHECK_REFUSED(plan_load(&again, path, arena, &err), "appears twice");
    folder_remove(folder);
}

// The ring in the documents; and by GLPK in place of the tree the plan is the same.
TEST(test_fused_documents)
{
    for (uint64_t seed = 1;; seed++) {
        struct random rng = {seed};
        struct problem problem;
        struct priced priced;
        struct solve_result result;
        struct solve_settings settings;
        random_placed_problem(&problem, &rng, PLACED_FUSED, arena);
        problem.job.objective = OBJECTIVE_ITERATION_TIME;
        CHECK_OK(price_problem(&priced, &problem, arena, &err));
        solve_defaults(&settings);
        settings.progress = 0;
        CHECK_OK(placed_solve(&result, &priced, &settings, NULL, NULL, arena, &err));
        if (!result.plan.stage_count || priced.layout.data < 2) continue;
        expect_ring_is_kept(&priced, &result.plan, arena);
        settings.engine = ENGINE_GLPK;
        int64_t time_ns = result.plan.iteration_ns, bound_ns = result.plan.bound_ns;
        CHECK_OK(placed_solve(&result, &priced, &settings, NULL, NULL, arena, &err));
        assert_int_equal(result.plan.iteration_ns, time_ns);
        assert_int_equal(result.plan.bound_ns, bound_ns);
        return;
    }
}

TEST(test_all_fused)
{
    struct seen seen = solve_trials(PLACED_FUSED, OBJECTIVE_ITERATION_TIME, trials, arena);
    assert_true(seen.forged > 0 && seen.fused * 6 > trials && seen.several * 6 > trials &&
                seen.apart * 12 > trials);
}

TEST(test_all_uneven_fused)
{
    struct seen seen =
        solve_trials(PLACED_FUSED | PLACED_UNEVEN, OBJECTIVE_ITERATION_TIME, trials / 4, arena);
    assert_true(seen.fused * 40 > trials && seen.several * 40 > trials);
}

ARGUMENT(trials)
ARGUMENT(tests_only)
